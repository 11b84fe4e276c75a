#include "risk/closed_forms.hpp"

#include <cmath>

#include "border/scope.hpp"
#include "border/spi.hpp"
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

static void count_row(void *rows, Datum *, bool *) {
    ++*static_cast<int64 *>(rows);
}

bool at_most_once(const GeneralQuestion *question) {
    if (list_length(question->general->query->rtable) == 1)
        return true;
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    PushActiveSnapshot(GetActiveSnapshot());
    int64 multiplied = 0;
    run_text(deparse_internal(multiplied_query(question)), InvalidOid, count_row, &multiplied);
    PopActiveSnapshot();
    role.leave();
    settings.leave();
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
    int value;   // position of the argument, or of "it is there" for a count; -1: count(*)
    int filter;  // position of "the FILTER holds", or -1
    bool number; // the argument is read as a number; otherwise its rank counts
    int ordered; // then its place among the ordered values
    rows::ValueKind kind;
};

// A value that is compared as PostgreSQL does: a key, or what count(DISTINCT) counts.
struct Ordered {
    int position; // of the extra
    int16 length;
    bool by_value;
    FmgrInfo *compare;
    Oid collation;
    bool comes_in_order;   // within its group
    NullableDatum last;    // of a key, and of what comes in order
    double rank;           // of `last`
    NullableDatum *values; // otherwise: per record of the group
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
    Input *inputs; // per aggregate
    int nkeys, nordered;
    Ordered *ordered;               // the keys, then others
    MemoryContext context;          // of the arrays
    MemoryContext group;            // of copies of values
    MemoryContext lasts;            // of `last`
    int64 room;                     // for so many records of a group
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

// Equal values get equal numbers. The first that is no key comes in order, so that none of its values is kept.
static int add_ordered(Work *work, int position, Oid collation) {
    for (int k = work->nkeys; k < work->nordered; k++)
        if (work->ordered[k].position == position && work->ordered[k].collation == collation)
            return k;
    auto *value = static_cast<Node *>(list_nth(work->extras, position));
    Ordered *ordered = &work->ordered[work->nordered];
    ordered->position = position;
    ordered->collation = collation;
    ordered->compare = &lookup_type_cache(exprType(value), TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
    ordered->comes_in_order = work->nordered <= work->nkeys && collation == exprCollation(value);
    get_typlenbyval(exprType(value), &ordered->length, &ordered->by_value);
    return work->nordered++;
}

static Input add_input(Work *work, const BareAggregate &aggregate) {
    Input input = {-1, -1, true, -1, rows::ValueKind::int4};
    if (aggregate.filter != nullptr)
        input.filter = add_extra(work, is_true(aggregate.filter));
    if (aggregate.argument == nullptr)
        return input;
    if (aggregate.call.fn == privacy::Aggregate::count) {
        input.value = add_extra(work, rows::null_test(aggregate.argument, IS_NOT_NULL));
        return input;
    }
    input.value = add_extra(work, aggregate.argument);
    input.number = aggregate.call.fn != privacy::Aggregate::count_values;
    if (input.number)
        input.kind = rows::value_kind(exprType(aggregate.argument));
    else
        input.ordered = add_ordered(work, input.value, aggregate.collation);
    return input;
}

// Group by group, and what the first count(DISTINCT) counts in order.
static void order_records(Work *work) {
    Query *query = work->records.query;
    for (int k = 0; k < work->nordered; k++) {
        const Ordered &ordered = work->ordered[k];
        if (k >= work->nkeys && !ordered.comes_in_order)
            continue;
        auto *target = list_nth_node(TargetEntry, query->targetList, work->records.first_extra + ordered.position);
        SortGroupClause *clause = get_sortgroupref_clause(target->ressortgroupref, query->groupClause);
        query->sortClause = list_append_unique(query->sortClause, clause);
    }
}

static void plan_columns(Work *work, const GeneralQuestion *question, bool keep_records) {
    const ClosedForms *forms = work->forms;
    work->ordered =
        static_cast<Ordered *>(palloc0(sizeof(Ordered) * (list_length(forms->keys) + forms->naggregates + 1)));
    ListCell *cell;
    foreach (cell, forms->keys) {
        auto *key = static_cast<Node *>(lfirst(cell));
        work->nkeys = work->nordered; // no key is compared with another
        add_ordered(work, add_extra(work, key), exprCollation(key));
    }
    work->nkeys = work->nordered;
    work->inputs = static_cast<Input *>(palloc0(sizeof(Input) * (forms->naggregates + 1)));
    for (int a = 0; a < forms->naggregates; a++) {
        work->inputs[a] = add_input(work, forms->aggregates[a]);
        work->holds_groups = work->holds_groups || !moves_alone(forms->aggregates[a]);
    }
    work->records = joined_records_query(question, keep_records, work->extras);
    order_records(work);
}

// Enlarges an array to n elements, zeroed from the old end on.
template <class T> static T *grown(MemoryContext context, T *old, int64 before, int64 n) {
    auto *place = static_cast<T *>(old == nullptr ? MemoryContextAllocHuge(context, sizeof(T) * (n + 1))
                                                  : repalloc_huge(old, sizeof(T) * (n + 1)));
    memset(static_cast<void *>(place + before), 0, sizeof(T) * (n + 1 - before));
    return place;
}

// ---- reading -------------------------------------------------------------------------------------------------------

static void make_room(Work *work, int64 n) {
    int64 before = work->room, room = Max(before * 2, int64{64});
    if (n <= before)
        return;
    // Values, their order and ranks of one aggregate after the other, and copies of what is counted.
    if (work->holds_groups)
        check_memory(36.0 * static_cast<double>(before) +
                         static_cast<double>(MemoryContextMemAllocated(work->group, false)),
                     psprintf("a group of more than " INT64_FORMAT " records", before), nullptr);
    for (int k = work->nkeys; k < work->nordered; k++)
        if (!work->ordered[k].comes_in_order)
            work->ordered[k].values = grown(work->context, work->ordered[k].values, before, room);
    work->room = room;
}

static NullableDatum copy_of(const Ordered *ordered, MemoryContext context, Datum value, bool null) {
    MemoryContext old = MemoryContextSwitchTo(context);
    Datum copy = null ? Datum(0) : datumCopy(value, ordered->by_value, ordered->length);
    MemoryContextSwitchTo(old);
    return NullableDatum{copy, null};
}

static int compare_values(const Ordered *ordered, NullableDatum a, NullableDatum b) {
    return a.isnull || b.isnull
               ? static_cast<int>(a.isnull) - static_cast<int>(b.isnull)
               : DatumGetInt32(FunctionCall2Coll(ordered->compare, ordered->collation, a.value, b.value));
}

static void remember(Work *work, const Datum *extras, const bool *nulls) {
    MemoryContextReset(work->lasts);
    for (int k = 0; k < work->nordered; k++) {
        Ordered *ordered = &work->ordered[k];
        if (k < work->nkeys || ordered->comes_in_order)
            ordered->last = copy_of(ordered, work->lasts, extras[ordered->position], nulls[ordered->position]);
    }
}

static bool is_as_before(const Ordered *ordered, const Datum *extras, const bool *nulls) {
    NullableDatum value = {extras[ordered->position], nulls[ordered->position]};
    return compare_values(ordered, ordered->last, value) == 0;
}

static void take_ordered(Work *work, int64 i, const Datum *extras, const bool *nulls) {
    bool changed = i == work->first;
    for (int k = work->nkeys; k < work->nordered; k++) {
        Ordered *ordered = &work->ordered[k];
        if (!ordered->comes_in_order)
            ordered->values[i - work->first] =
                copy_of(ordered, work->group, extras[ordered->position], nulls[ordered->position]);
        else if (i > work->first && !is_as_before(ordered, extras, nulls)) {
            ordered->rank++;
            changed = true;
        }
    }
    if (changed)
        remember(work, extras, nulls);
}

static void take_value(const Work *work, Brought *brought, int a, const Datum *extras, const bool *nulls) {
    const Input &input = work->inputs[a];
    bool counts = work->forms->aggregates[a].call.fn == privacy::Aggregate::count;
    brought->there = input.filter < 0 || DatumGetBool(extras[input.filter]);
    if (input.value < 0 || !brought->there)
        return;
    brought->there = counts ? DatumGetBool(extras[input.value]) : !nulls[input.value];
    if (counts || !brought->there)
        return;
    brought->value =
        input.number ? rows::double_value(input.kind, extras[input.value]) : work->ordered[input.ordered].rank;
}

static void finish_group(Work *work);

static void take_record(void *reader, int64 i, const Datum *values, const bool *nulls) {
    auto *work = static_cast<Work *>(reader);
    const Datum *extras = values + work->records.first_extra;
    nulls += work->records.first_extra;
    for (int k = 0; k < work->nkeys && work->group_records > 0; k++)
        if (!is_as_before(&work->ordered[k], extras, nulls)) {
            finish_group(work);
            work->first = i;
        }
    make_room(work, ++work->group_records);
    take_ordered(work, i, extras, nulls);
    Brought *brought = work->brought.append();
    for (int a = 0; a < work->forms->naggregates; a++)
        take_value(work, &brought[a], a, extras, nulls);
}

// ---- ranks ---------------------------------------------------------------------------------------------------------

static int compare_records(const void *a, const void *b, void *context) {
    CHECK_FOR_INTERRUPTS(); // a sort of millions of records has no other place for it
    auto *ordered = static_cast<const Ordered *>(context);
    return compare_values(ordered, ordered->values[*static_cast<const int64 *>(a)],
                          ordered->values[*static_cast<const int64 *>(b)]);
}

// count(DISTINCT x) of any type: equal values of a group get equal ranks, and ranks are numbers.
static void rank_values(Work *work, int64 n, int a) {
    Ordered *ordered = &work->ordered[work->inputs[a].ordered];
    auto *order = static_cast<int64 *>(MemoryContextAllocHuge(work->group, sizeof(int64) * (n + 1)));
    for (int64 i = 0; i < n; i++)
        order[i] = i;
    qsort_arg(order, n, sizeof(int64), compare_records, ordered);
    auto *ranks = static_cast<double *>(MemoryContextAllocHuge(work->group, sizeof(double) * (n + 1)));
    double rank = 0;
    for (int64 i = 0; i < n; i++) {
        if (i > 0 && compare_records(&order[i - 1], &order[i], ordered) != 0)
            rank++;
        ranks[order[i]] = rank;
    }
    for (int64 i = 0; i < n; i++)
        work->brought.change(i)[a].value = ranks[i];
    pfree(order);
    pfree(ranks);
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
        if (work->inputs[a].value >= 0 && !work->inputs[a].number &&
            !work->ordered[work->inputs[a].ordered].comes_in_order)
            rank_values(work, n, a);
    for (int a = 0; a < work->forms->naggregates; a++)
        add_differences(work, n, a);
    work->ngroups++;
    work->group_records = 0;
    border::empty_spill(work->brought.bytes);
}

GeneralRisk closed_forms_risk(const GeneralQuestion *question, const ClosedForms *forms, privacy::Mechanism mechanism,
                              bool keep_records) {
    Work work = {};
    work.forms = forms;
    work.mechanism = mechanism;
    plan_columns(&work, question, keep_records);
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    PushActiveSnapshot(GetActiveSnapshot());
    border::Spi spi = border::Spi::connect();
    work.context = CurrentMemoryContext;
    work.group = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr group", ALLOCSET_DEFAULT_SIZES);
    work.lasts = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr group", ALLOCSET_SMALL_SIZES);
    work.brought = border::Spill<Brought>::make(forms->naggregates, share_of_memory());
    work.memo = begin_memo(&work.records, spi, keep_records);
    read_memo(question, &work.records, work.memo, take_record, &work);
    if (work.group_records > 0)
        finish_group(&work);
    if (forms->keys == NIL)
        work.ngroups = 1; // also of no rows at all
    work.memo->groups_present = work.ngroups;
    profile_memo(spi, mechanism, work.memo);
    spi.finish();
    PopActiveSnapshot();
    role.leave();
    settings.leave();
    int64 coordinates = work.ngroups * forms->naggregates;
    // A join may give somebody who is not there several rows, in several groups.
    return GeneralRisk{work.memo, coordinates, forms->alone ? forms->naggregates : coordinates};
}

} // namespace dp::risk
