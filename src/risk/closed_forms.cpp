#include "risk/closed_forms.hpp"

#include <cmath>

#include "border/scope.hpp"
#include "border/spi.hpp"
#include "risk/room.hpp"

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
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    PushActiveSnapshot(GetActiveSnapshot());
    border::Spi spi = border::Spi::connect();
    bool once = spi.run(deparse_internal(multiplied_query(question)), true) == 0;
    spi.finish();
    PopActiveSnapshot();
    role.leave();
    settings.leave();
    return once;
}

double largest_change(const ClosedForms *forms, privacy::Mechanism mechanism, privacy::Calibration calibration,
                      int64 rows) {
    if (!forms->alone)
        return get_float8_nan();
    double change = 0;
    for (int a = 0; a < forms->naggregates; a++) {
        const BareAggregate &aggregate = forms->aggregates[a];
        bool counts =
            aggregate.call.fn == privacy::Statistic::count || aggregate.call.fn == privacy::Statistic::count_distinct;
        if (!counts && aggregate.bounds == nullptr)
            return get_float8_nan();
        double low = counts ? 0 : aggregate.bounds->low, high = counts ? 0 : aggregate.bounds->high;
        double one = calibration == privacy::Calibration::published && aggregate.call.fn == privacy::Statistic::avg
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
};

struct Work {
    const ClosedForms *forms;
    privacy::Mechanism mechanism;
    RecordsQuery records;
    Memo *memo;
    List *extras;
    Input *inputs; // per aggregate
    int nordered;
    Ordered *ordered; // the keys, then others
    MemoryContext context;
    int64 room;              // for so many records
    NullableDatum *compared; // nrecords x nordered
    bool *there;             // nrecords x naggregates: the record brings a value
    double *values;          // the same
    int64 *order;            // records by group
    int64 ngroups;
};
} // namespace

static int add_extra(Work *work, Node *expression) {
    ListCell *cell;
    foreach (cell, work->extras)
        if (equal(lfirst(cell), expression))
            return foreach_current_index(cell);
    work->extras = lappend(work->extras, expression);
    return list_length(work->extras) - 1;
}

static Node *is_true(Node *condition) {
    auto *test = makeNode(BooleanTest);
    test->arg = reinterpret_cast<Expr *>(condition);
    test->booltesttype = IS_TRUE;
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

static Node *is_present(Node *argument) {
    auto *test = makeNode(NullTest);
    test->arg = reinterpret_cast<Expr *>(argument);
    test->nulltesttype = IS_NOT_NULL;
    test->argisrow = false; // count(row) counts rows whatever is in them
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

static int add_ordered(Work *work, int position) {
    Ordered *ordered = &work->ordered[work->nordered];
    ordered->position = position;
    get_typlenbyval(exprType(static_cast<Node *>(list_nth(work->extras, position))), &ordered->length,
                    &ordered->by_value);
    return work->nordered++;
}

static Input add_input(Work *work, const BareAggregate &aggregate) {
    Input input = {-1, -1, true, -1, rows::ValueKind::int4};
    if (aggregate.filter != nullptr)
        input.filter = add_extra(work, is_true(aggregate.filter));
    if (aggregate.argument == nullptr)
        return input;
    if (aggregate.call.fn == privacy::Statistic::count) {
        input.value = add_extra(work, is_present(aggregate.argument));
        return input;
    }
    input.value = add_extra(work, aggregate.argument);
    input.number = aggregate.call.fn != privacy::Statistic::count_distinct;
    if (input.number)
        input.kind = rows::value_kind(exprType(aggregate.argument));
    else
        input.ordered = add_ordered(work, input.value);
    return input;
}

static void plan_columns(Work *work, const GeneralQuestion *question, bool keep_records) {
    const ClosedForms *forms = work->forms;
    work->ordered =
        static_cast<Ordered *>(palloc0(sizeof(Ordered) * (list_length(forms->keys) + forms->naggregates + 1)));
    ListCell *cell;
    foreach (cell, forms->keys)
        add_ordered(work, add_extra(work, static_cast<Node *>(lfirst(cell))));
    work->inputs = static_cast<Input *>(palloc0(sizeof(Input) * (forms->naggregates + 1)));
    for (int a = 0; a < forms->naggregates; a++)
        work->inputs[a] = add_input(work, forms->aggregates[a]);
    work->records = joined_records_query(question, keep_records, work->extras);
}

// ---- reading -------------------------------------------------------------------------------------------------------

static void make_room(Work *work, int64 n) {
    int64 before = work->room, room = Max(before * 2, int64{64});
    if (n <= before)
        return;
    work->compared = grown(work->context, work->compared, before * work->nordered, room * work->nordered);
    work->there = grown(work->context, work->there, before * work->forms->naggregates, room * work->forms->naggregates);
    work->values =
        grown(work->context, work->values, before * work->forms->naggregates, room * work->forms->naggregates);
    work->room = room;
}

static void copy_compared(Work *work, int64 i, const Datum *extras, const bool *nulls) {
    MemoryContext old = MemoryContextSwitchTo(work->context);
    for (int k = 0; k < work->nordered; k++) {
        const Ordered &ordered = work->ordered[k];
        bool null = nulls[ordered.position];
        Datum value = null ? Datum(0) : datumCopy(extras[ordered.position], ordered.by_value, ordered.length);
        work->compared[i * work->nordered + k] = NullableDatum{value, null};
    }
    MemoryContextSwitchTo(old);
}

static void take_record(void *reader, int64 i, const Datum *values, const bool *nulls) {
    auto *work = static_cast<Work *>(reader);
    const ClosedForms *forms = work->forms;
    values += work->records.first_extra;
    nulls += work->records.first_extra;
    make_room(work, i + 1);
    copy_compared(work, i, values, nulls);
    for (int a = 0; a < forms->naggregates; a++) {
        const Input &input = work->inputs[a];
        int64 at = i * forms->naggregates + a;
        bool counts = forms->aggregates[a].call.fn == privacy::Statistic::count;
        work->values[at] = 0;
        work->there[at] = input.filter < 0 || DatumGetBool(values[input.filter]);
        if (input.value < 0 || !work->there[at])
            continue;
        work->there[at] = counts ? DatumGetBool(values[input.value]) : !nulls[input.value];
        if (!counts && input.number && work->there[at])
            work->values[at] = rows::double_value(input.kind, values[input.value]);
    }
}

// ---- order ---------------------------------------------------------------------------------------------------------

namespace {
struct Comparison {
    int n; // the first so many of `values`
    FmgrInfo **compare;
    Oid *collations;
    const NullableDatum *values; // `stride` per record
    int stride;
};
} // namespace

static int compare_records(const void *a, const void *b, void *context) {
    CHECK_FOR_INTERRUPTS(); // a sort of millions of records has no other place for it
    auto *by = static_cast<Comparison *>(context);
    const NullableDatum *x = by->values + *static_cast<const int64 *>(a) * by->stride;
    const NullableDatum *y = by->values + *static_cast<const int64 *>(b) * by->stride;
    for (int k = 0; k < by->n; k++) {
        int result = x[k].isnull || y[k].isnull
                         ? static_cast<int>(x[k].isnull) - static_cast<int>(y[k].isnull)
                         : DatumGetInt32(FunctionCall2Coll(by->compare[k], by->collations[k], x[k].value, y[k].value));
        if (result != 0)
            return result;
    }
    return 0;
}

static FmgrInfo *comparison_of(Oid type) {
    return &lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
}

static int64 *sorted_records(int64 n, Comparison *by) {
    auto *order = static_cast<int64 *>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int64) * (n + 1)));
    for (int64 i = 0; i < n; i++)
        order[i] = i;
    qsort_arg(order, n, sizeof(int64), compare_records, by);
    return order;
}

static void sort_by_group(Work *work, Comparison *by) {
    List *keys = work->forms->keys;
    by->n = list_length(keys);
    by->values = work->compared;
    by->stride = work->nordered;
    by->compare = static_cast<FmgrInfo **>(palloc0(sizeof(FmgrInfo *) * (by->n + 1)));
    by->collations = static_cast<Oid *>(palloc0(sizeof(Oid) * (by->n + 1)));
    ListCell *cell;
    foreach (cell, keys) {
        auto *key = static_cast<Node *>(lfirst(cell));
        by->compare[foreach_current_index(cell)] = comparison_of(exprType(key));
        by->collations[foreach_current_index(cell)] = exprCollation(key);
    }
    work->order = sorted_records(work->memo->nrecords, by);
}

// count(DISTINCT x) of any type: equal values get equal ranks, and ranks are numbers.
static void rank_values(Work *work, int a) {
    int64 n = work->memo->nrecords;
    FmgrInfo *compare = comparison_of(exprType(work->forms->aggregates[a].argument));
    Oid collation = work->forms->aggregates[a].collation;
    Comparison by = {1, &compare, &collation, work->compared + work->inputs[a].ordered, work->nordered};
    const int64 *order = sorted_records(n, &by);
    double rank = 0;
    for (int64 i = 0; i < n; i++) {
        if (i > 0 && compare_records(&order[i - 1], &order[i], &by) != 0)
            rank++;
        work->values[order[i] * work->forms->naggregates + a] = rank;
    }
}

// ---- sensitivities -------------------------------------------------------------------------------------------------

// Core region. What the records from..to of the order, one group, move one aggregate by.
static void add_differences(Work *work, int64 from, int64 to, int a) {
    const BareAggregate &aggregate = work->forms->aggregates[a];
    int naggregates = work->forms->naggregates;
    privacy::ValueSet values;
    for (int64 i = from; i < to; i++)
        if (work->there[work->order[i] * naggregates + a])
            values.add(work->values[work->order[i] * naggregates + a], work->memo->records[work->order[i]].individuals);
    values.finish();
    const privacy::LeaveOneOut without(aggregate.call, values, aggregate.z());
    for (int64 i = from; i < to; i++) {
        int64 at = work->order[i] * naggregates + a;
        if (!work->there[at])
            continue;
        double part = without.difference(values.find(work->values[at]));
        double &pis = work->memo->records[work->order[i]].pis;
        pis = work->mechanism == privacy::Mechanism::laplace ? pis + part : std::hypot(pis, part);
    }
}

static void find_differences(Work *work) {
    Comparison by = {};
    sort_by_group(work, &by);
    for (int a = 0; a < work->forms->naggregates; a++)
        if (work->inputs[a].value >= 0 && !work->inputs[a].number)
            rank_values(work, a);
    for (int64 from = 0, to; from < work->memo->nrecords; from = to) {
        CHECK_FOR_INTERRUPTS();
        for (to = from + 1; to < work->memo->nrecords; to++)
            if (compare_records(&work->order[from], &work->order[to], &by) != 0)
                break;
        border::core([&] {
            for (int a = 0; a < work->forms->naggregates; a++)
                add_differences(work, from, to, a);
        });
        work->ngroups++;
    }
    if (work->forms->keys == NIL)
        work->ngroups = 1; // also of no rows at all
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
    work.memo = read_memo(&work.records, spi, keep_records, take_record, &work);
    find_differences(&work);
    work.memo->groups_present = work.ngroups;
    count_others(question, &work.records, spi, work.memo);
    profile_memo(spi, work.memo);
    spi.finish();
    PopActiveSnapshot();
    role.leave();
    settings.leave();
    int64 coordinates = work.ngroups * forms->naggregates;
    // A join may give somebody who is not there several rows, in several groups.
    return GeneralRisk{work.memo, coordinates, forms->alone ? forms->naggregates : coordinates};
}

} // namespace dp::risk
