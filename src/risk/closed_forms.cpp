#include "risk/closed_forms.hpp"

#include <cmath>

#include "border/spi.hpp"
#include "query/limits.hpp"
#include "risk/memory.hpp"
#include "risk/scan_statement.hpp"
#include "rows/nodes.hpp"

namespace dp::risk {

// ---- which queries -------------------------------------------------------------------------------------------------

static bool has_order(Node *key) {
    return OidIsValid(lookup_type_cache(exprType(key), TYPECACHE_CMP_PROC)->cmp_proc);
}

static bool is_plain(const query::General *general) {
    const Query *query = general->query;
    return general->facade != 0 && query->groupingSets == NIL && query->havingQual == nullptr &&
           query->distinctClause == NIL && query->limitCount == nullptr && query->limitOffset == nullptr &&
           !query->hasWindowFuncs && !query->hasTargetSRFs;
}

ClosedForms *find_closed_forms(const GeneralQuestion *question) {
    const Query *query = question->general->query;
    if (!is_plain(question->general))
        return nullptr;
    auto *forms = static_cast<ClosedForms *>(palloc0(sizeof(ClosedForms)));
    forms->alone = question->general->one_level;
    forms->aggregates =
        static_cast<BareAggregate *>(palloc0(sizeof(BareAggregate) * (list_length(query->targetList) + 1)));
    ListCell *cell;
    foreach (cell, query->groupClause) {
        Node *key = get_sortgroupclause_expr(lfirst_node(SortGroupClause, cell), query->targetList);
        if (!has_order(key) || contain_subplans(key))
            return nullptr;
        forms->keys = lappend(forms->keys, key);
    }
    foreach (cell, query->targetList) {
        auto *target = lfirst_node(TargetEntry, cell);
        auto *expression = reinterpret_cast<Node *>(target->expr);
        if (target->resjunk || list_member(forms->keys, expression))
            continue;
        if (!find_bare_aggregate(question, expression, &forms->aggregates[forms->naggregates++]) ||
            contain_subplans(expression))
            return nullptr;
    }
    return forms;
}

bool at_most_once(const GeneralQuestion *question) {
    if (list_length(question->general->query->rtable) == 1)
        return true;
    int64 multiplied = 0;
    as_owner(question->settings->owner, [&] {
        run_query(expanded(multiplied_query(question)), InvalidOid, [&](const TupleTableSlot *) { multiplied++; });
    });
    return multiplied == 0;
}

double largest_change(const ClosedForms *forms, privacy::Mechanism mechanism, privacy::Calibration calibration,
                      int64 rows) {
    if (!forms->alone)
        return get_float8_nan();
    double change = 0;
    for (int a = 0; a < forms->naggregates; a++) {
        const BareAggregate &aggregate = forms->aggregates[a];
        bool counts =
            aggregate.call.fn == privacy::Aggregate::count || aggregate.call.fn == privacy::Aggregate::count_values;
        if (!counts && aggregate.bounds == nullptr)
            return get_float8_nan();
        double low = counts ? 0 : aggregate.bounds->low, high = counts ? 0 : aggregate.bounds->high;
        double one = calibration == privacy::Calibration::published && aggregate.call.fn == privacy::Aggregate::avg
                         ? (high - low) / static_cast<double>(Max(rows, int64{1}))
                         : privacy::worst_difference(aggregate.call, low, high);
        change = mechanism == privacy::Mechanism::laplace ? change + one : std::hypot(change, one);
    }
    return change;
}

// ---- the statement's columns ---------------------------------------------------------------------------------------

namespace {
struct Input {
    int value;   // extra: the argument, or "it is there" for a count; -1: count(*)
    int filter;  // extra: "the FILTER holds"; or -1
    int rank;    // column: the rank of the argument among those of the group, where equal ones count once; or -1
    rows::ValueKind kind; // of a number
};

// Holds what a record brings to one aggregate.
struct Brought {
    double value;
    bool there;
};

// The records come group by group. What a group's records bring stays until the next group begins.
struct Work {
    const ClosedForms *forms;
    privacy::Mechanism mechanism;
    RecordsQuery records;
    Memo *memo;
    List *extras;
    Input *inputs;       // per aggregate
    int group_column;    // the number of the record's group; -1: there are no keys
    int64 group_number;  // of the group that is read
    MemoryContext group; // of its values
    bool holds_groups;              // some aggregate needs all values of a group at once
    int64 first;                    // record of the group
    int64 group_records;            // so many so far
    border::Spill<Brought> brought; // per record of the group, for each aggregate
    int64 ngroups;
};
} // namespace

// Returns whether a record moves the aggregate by an amount that depends on no other record.
static bool moves_alone(const BareAggregate &aggregate) {
    return aggregate.call.fn == privacy::Aggregate::count || aggregate.call.fn == privacy::Aggregate::sum;
}

static int add_extra(Work *work, Node *expression) {
    ListCell *cell;
    foreach (cell, work->extras)
        if (equal(lfirst(cell), expression))
            return foreach_current_index(cell);
    work->extras = lappend(work->extras, expression);
    return list_length(work->extras) - 1;
}

static Input add_input(Work *work, const BareAggregate &aggregate) {
    Input input = {-1, -1, -1, rows::ValueKind::int4};
    if (aggregate.filter != nullptr)
        input.filter = add_extra(work, rows::truth_test(rows::another(aggregate.filter), IS_TRUE));
    if (aggregate.argument == nullptr)
        return input;
    if (aggregate.call.fn == privacy::Aggregate::count) {
        input.value = add_extra(work, rows::null_test(aggregate.argument, IS_NOT_NULL));
        return input;
    }
    input.value = add_extra(work, aggregate.argument);
    if (aggregate.call.fn != privacy::Aggregate::count_values)
        input.kind = rows::value_kind(exprType(aggregate.argument));
    return input;
}

// ---- groups, and different values ----

static SortGroupClause *clause_of(const Work *work, int extra) {
    const Query *query = work->records.query;
    auto *target = list_nth_node(TargetEntry, query->targetList, work->records.first_extra + extra);
    return get_sortgroupref_clause(target->ressortgroupref, query->groupClause);
}

// Adds dense_rank() OVER (PARTITION BY ... ORDER BY ...), and returns its column.
static int add_rank(Query *query, List *partition, List *order) {
    auto *window = makeNode(WindowClause);
    window->partitionClause = static_cast<List *>(copyObject(partition));
    window->orderClause = static_cast<List *>(copyObject(order));
    window->frameOptions = FRAMEOPTION_DEFAULTS;
    window->winref = list_length(query->windowClause) + 1;
    query->windowClause = lappend(query->windowClause, window);
    query->hasWindowFuncs = true;
    auto *rank = makeNode(WindowFunc);
    rank->winfnoid = F_DENSE_RANK_;
    rank->wintype = INT8OID;
    rank->winref = window->winref;
    rank->location = -1;
    query::check_columns(list_length(query->targetList) + 1);
    rows::add_target(query, reinterpret_cast<Node *>(rank));
    return list_length(query->targetList) - 1;
}

static void plan_columns(Work *work, const GeneralQuestion *question, bool keep_records) {
    const ClosedForms *forms = work->forms;
    List *places = NIL, *keys = NIL;
    ListCell *cell;
    foreach (cell, forms->keys)
        places = lappend_int(places, add_extra(work, static_cast<Node *>(lfirst(cell))));
    work->inputs = static_cast<Input *>(palloc0(sizeof(Input) * (forms->naggregates + 1)));
    for (int a = 0; a < forms->naggregates; a++) {
        work->inputs[a] = add_input(work, forms->aggregates[a]);
        work->holds_groups = work->holds_groups || !moves_alone(forms->aggregates[a]);
    }
    work->records = joined_records_query(question, keep_records, work->extras);
    foreach (cell, places)
        keys = list_append_unique(keys, clause_of(work, lfirst_int(cell)));
    work->group_column = -1;
    if (keys != NIL) { // group by group
        work->group_column = add_rank(work->records.query, NIL, keys);
        work->records.query->sortClause = static_cast<List *>(copyObject(keys));
    }
    for (int a = 0; a < forms->naggregates; a++)
        if (forms->aggregates[a].call.fn == privacy::Aggregate::count_values)
            work->inputs[a].rank = add_rank(work->records.query, keys, list_make1(clause_of(work, work->inputs[a].value)));
}

// ---- reading -------------------------------------------------------------------------------------------------------

// Values of one aggregate after the other.
static void check_room(const Work *work) {
    const int64 n = work->group_records;
    if (work->holds_groups && n >= 64 && (n & (n - 1)) == 0)
        check_memory(36.0 * static_cast<double>(n), psprintf("a group of more than " INT64_FORMAT " records", n), nullptr);
}

static void take_value(const Work *work, Brought *brought, int a, const Datum *values, const bool *nulls) {
    const Input &input = work->inputs[a];
    const Datum *extras = values + work->records.first_extra;
    bool counts = work->forms->aggregates[a].call.fn == privacy::Aggregate::count;
    brought->there = input.filter < 0 || DatumGetBool(extras[input.filter]);
    if (input.value < 0 || !brought->there)
        return;
    brought->there = counts ? DatumGetBool(extras[input.value]) : !nulls[work->records.first_extra + input.value];
    if (counts || !brought->there)
        return;
    brought->value = input.rank >= 0 ? static_cast<double>(DatumGetInt64(values[input.rank]))
                                     : rows::double_value(input.kind, extras[input.value]);
}

static void finish_group(Work *work);

static void take_record(void *reader, int64 i, const Datum *values, const bool *nulls) {
    auto *work = static_cast<Work *>(reader);
    const int64 group = work->group_column < 0 ? 0 : DatumGetInt64(values[work->group_column]);
    if (work->group_records > 0 && group != work->group_number) {
        finish_group(work);
        work->first = i;
    }
    work->group_number = group;
    work->group_records++;
    check_room(work);
    Brought *brought = work->brought.append();
    for (int a = 0; a < work->forms->naggregates; a++)
        take_value(work, &brought[a], a, values, nulls);
}

// ---- sensitivities -------------------------------------------------------------------------------------------------

static void add_difference(Work *work, int64 i, double part) {
    double &pis = work->memo->records.change(work->first + i)->pis;
    pis = work->mechanism == privacy::Mechanism::laplace ? pis + part : std::hypot(pis, part);
}

// Counts and sums: what one record moves them by depends on no other.
static bool add_own_differences(Work *work, int64 n, int a) {
    privacy::Aggregate fn = work->forms->aggregates[a].call.fn;
    if (!moves_alone(work->forms->aggregates[a]))
        return false;
    for (int64 i = 0; i < n; i++) {
        const Brought brought = work->brought.at(i)[a];
        if (brought.there)
            add_difference(work, i, fn == privacy::Aggregate::count ? 1 : std::fabs(brought.value));
    }
    return true;
}

// Adds what each of the n records of the group moves one aggregate by.
static void add_differences(Work *work, int64 n, int a) {
    const BareAggregate &aggregate = work->forms->aggregates[a];
    if (add_own_differences(work, n, a))
        return;
    MemoryContext old = MemoryContextSwitchTo(work->group);
    auto *values = border::context_new<privacy::ValueSet>();
    int64 there = 0;
    for (int64 i = 0; i < n; i++)
        there += work->brought.at(i)[a].there ? 1 : 0;
    border::core([&] { values->reserve(there); });
    for (int64 i = 0; i < n; i++) {
        const Brought brought = work->brought.at(i)[a];
        if (!brought.there)
            continue;
        int64 individuals = work->memo->records.at(work->first + i)->individuals;
        border::core([&] { values->add(brought.value, individuals); });
    }
    border::core([&] { values->finish(); });
    auto *without = border::context_new<privacy::LeaveOneOut>(aggregate.call, *values, aggregate.z());
    for (int64 i = 0; i < n; i++) {
        const Brought brought = work->brought.at(i)[a];
        if (!brought.there)
            continue;
        double part = border::core([&] { return without->difference(values->find(brought.value)); });
        add_difference(work, i, part);
    }
    MemoryContextSwitchTo(old);
    MemoryContextReset(work->group);
}

static void finish_group(Work *work) {
    CHECK_FOR_INTERRUPTS();
    int64 n = work->group_records;
    for (int a = 0; a < work->forms->naggregates; a++)
        add_differences(work, n, a);
    work->ngroups++;
    work->group_records = 0;
    border::empty_spill(work->brought.bytes);
}

static void read_groups(const GeneralQuestion *question, Work *work, bool keep_records) {
    border::Spi spi = border::Spi::connect();
    work->group = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr group", ALLOCSET_DEFAULT_SIZES);
    work->brought = border::Spill<Brought>::make(work->forms->naggregates, share_of_memory());
    work->memo = begin_memo(&work->records, spi, keep_records);
    read_memo(question, &work->records, work->memo, take_record, work);
    if (work->group_records > 0)
        finish_group(work);
    if (work->forms->keys == NIL)
        work->ngroups = 1; // also of no rows at all
    work->memo->groups_present = work->ngroups;
    profile_memo(spi, work->mechanism, work->memo);
    spi.finish();
}

GeneralRisk closed_forms_risk(const GeneralQuestion *question, const ClosedForms *forms, privacy::Mechanism mechanism,
                              bool keep_records) {
    Work work = {};
    work.forms = forms;
    work.mechanism = mechanism;
    plan_columns(&work, question, keep_records);
    as_owner(question->settings->owner, [&] { read_groups(question, &work, keep_records); });
    int64 coordinates = work.ngroups * forms->naggregates;
    // A join may give somebody who is not there several rows, in several groups.
    return GeneralRisk{work.memo, coordinates, forms->alone ? forms->naggregates : coordinates};
}

} // namespace dp::risk
