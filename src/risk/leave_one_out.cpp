#include "risk/leave_one_out.hpp"

#include <cmath>

#include "border/scope.hpp"
#include "border/spi.hpp"
#include "border/walk.hpp"
#include "rows/shown.hpp"
#include "query/limits.hpp"
#include "rows/sums.hpp"

namespace dp::risk {

// ---- the memo's statement ------------------------------------------------------------------------------------------

namespace {
// SELECT columns, keys, flags, count(*) FROM table WHERE ... GROUP BY columns, keys, flags. Columns: those that the
// sensitivities need (keys, arguments), or all that the query mentions; keys: those that are expressions; flags: "the FILTER
// holds", "the argument of count(x) is there" and "is one of these people".
struct Projection {
    const rows::Question *question;
    PeopleGroups people;
    List *columns;       // int: attribute numbers of the table
    int *key_column;     // per key: position of its value among the outputs (0-based)
    int *filter_column;  // per filter: position of its flag among the outputs (0-based)
    int *present_column; // per measure: position of the flag of count(x), or -1
    int people_column;   // position of the flag of group a, before that of b
    int count_column;    // position of count(*)
    Query *query;
};
} // namespace

static bool collect_columns(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Var)) {
        auto **columns = static_cast<List **>(context);
        *columns = list_append_unique_int(*columns, castNode(Var, node)->varattno);
        return false;
    }
    return border::walk_expression(node, collect_columns, context);
}

static void add_group(Query *query, Node *expression) {
    int number = list_length(query->targetList) + 1;
    query::check_columns(number);
    auto *target = makeTargetEntry(reinterpret_cast<Expr *>(expression), number, psprintf("c%d", number), false);
    auto *clause = makeNode(SortGroupClause);
    get_sort_group_operators(exprType(expression), false, true, false, &clause->sortop, &clause->eqop, nullptr,
                             &clause->hashable);
    clause->tleSortGroupRef = target->ressortgroupref = number;
    query->groupClause = lappend(query->groupClause, clause);
    query->targetList = lappend(query->targetList, target);
}

static Node *make_flag_of_filter(Node *filter) {
    auto *test = makeNode(BooleanTest);
    test->arg = reinterpret_cast<Expr *>(copyObject(filter));
    test->booltesttype = IS_TRUE;
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

static Node *make_flag_of_presence(Var *column) {
    auto *test = makeNode(NullTest);
    test->arg = reinterpret_cast<Expr *>(column);
    test->nulltesttype = IS_NOT_NULL;
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

static void choose_columns(Projection *projection, bool keep_records) {
    const rows::Question *question = projection->question;
    for (int i = 0; i < question->leaf->nkeys; i++)
        if (question->key_columns[i] != InvalidAttrNumber)
            projection->columns = list_append_unique_int(projection->columns, question->key_columns[i]);
        else if (keep_records)
            collect_columns(question->keys[i], &projection->columns);
    for (int j = 0; j < question->nmeasures; j++)
        if (question->bounds[j] != nullptr)
            projection->columns = list_append_unique_int(
                projection->columns, question->argument_columns[(*question->measures)[j].calls.front()]);
    if (!keep_records)
        return;
    for (int i = 0; i < question->leaf->naggregates; i++)
        if (question->argument_columns[i] > 0)
            projection->columns = list_append_unique_int(projection->columns, question->argument_columns[i]);
    collect_columns(question->where, &projection->columns);
    collect_columns(reinterpret_cast<Node *>(question->filters), &projection->columns);
}

static bool groupable(const rows::Question *question, AttrNumber attno) {
    TypeCacheEntry *type =
        lookup_type_cache(get_atttype(question->settings->relation, attno), TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
    return OidIsValid(type->eq_opr) && OidIsValid(type->lt_opr);
}

static int position_of(const Projection *projection, AttrNumber column) {
    ListCell *cell;
    foreach (cell, projection->columns)
        if (lfirst_int(cell) == column)
            return foreach_current_index(cell);
    elog(ERROR, "a column of the leaf is missing in its projection");
}

static void add_keys(Projection *projection) {
    const rows::Question *question = projection->question;
    projection->key_column = static_cast<int *>(palloc0(sizeof(int) * (question->leaf->nkeys + 1)));
    for (int k = 0; k < question->leaf->nkeys; k++)
        if (question->key_columns[k] != InvalidAttrNumber)
            projection->key_column[k] = position_of(projection, question->key_columns[k]);
        else {
            projection->key_column[k] = list_length(projection->query->targetList);
            add_group(projection->query, static_cast<Node *>(copyObject(question->keys[k])));
        }
}

static void add_flags(Projection *projection) {
    const rows::Question *question = projection->question;
    Query *query = projection->query;
    projection->filter_column = static_cast<int *>(palloc0(sizeof(int) * (list_length(question->filters) + 1)));
    ListCell *cell;
    foreach (cell, question->filters) {
        projection->filter_column[foreach_current_index(cell)] = list_length(query->targetList);
        add_group(query, make_flag_of_filter(static_cast<Node *>(lfirst(cell))));
    }
    projection->present_column = static_cast<int *>(palloc0(sizeof(int) * (question->nmeasures + 1)));
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        projection->present_column[j] = -1;
        if (measure.argument < 0 || question->bounds[j] != nullptr)
            continue;
        projection->present_column[j] = list_length(query->targetList);
        add_group(query, make_flag_of_presence(
                             rows::table_column(question, question->argument_columns[measure.calls.front()])));
    }
    projection->people_column = list_length(query->targetList);
    if (projection->people.a != nullptr) {
        add_group(query, make_flag_of_filter(projection->people.a));
        add_group(query, make_flag_of_filter(projection->people.b));
    }
}

static Query *base_query(const rows::Question *question, Node *where) {
    auto *query = makeNode(Query);
    query->commandType = CMD_SELECT;
    query->canSetTag = true;
    query->rtable = list_make1(rows::table_entry(question));
    auto *ref = makeNode(RangeTblRef);
    ref->rtindex = 1;
    query->jointree = makeFromExpr(list_make1(ref), static_cast<Node *>(copyObject(where)));
    return query;
}

// count(*), of the rows that meet a condition if there is one.
static void add_row_count(Query *query, Node *condition = nullptr) {
    auto *call = makeNode(Aggref);
    call->aggfnoid = F_COUNT_;
    call->aggtype = INT8OID;
    call->aggstar = true;
    call->aggfilter = reinterpret_cast<Expr *>(copyObject(condition));
    call->aggkind = AGGKIND_NORMAL;
    call->aggno = call->aggtransno = -1;
    call->location = -1;
    int number = list_length(query->targetList) + 1;
    query->targetList = lappend(
        query->targetList, makeTargetEntry(reinterpret_cast<Expr *>(call), number, psprintf("c%d", number), false));
    query->hasAggs = true;
}

static Projection project(const rows::Question *question, bool keep_records, const PeopleGroups &people) {
    Projection projection = {};
    projection.question = question;
    projection.people = people;
    choose_columns(&projection, keep_records);
    projection.query = base_query(question, question->where);
    ListCell *cell;
    List *kept = NIL;
    foreach (cell, projection.columns)
        if (groupable(question, lfirst_int(cell))) {
            kept = lappend_int(kept, lfirst_int(cell));
            add_group(projection.query, reinterpret_cast<Node *>(rows::table_column(question, lfirst_int(cell))));
        }
    projection.columns = kept;
    add_keys(&projection);
    add_flags(&projection);
    projection.count_column = list_length(projection.query->targetList);
    add_row_count(projection.query);
    return projection;
}

// ---- one record ----------------------------------------------------------------------------------------------------

namespace {
// How the argument of a SUM or AVG is read from a record of the memo.
struct Argument {
    int position;
    rows::ValueKind kind;
    privacy::SumLattice lattice;
};

struct Work {
    const rows::Question *question;
    Projection *projection;
    privacy::Mechanism mechanism;
    privacy::Calibration calibration;
    Memo *memo;
    Argument *arguments; // per measure
    NullableDatum *keys; // nrecords x nkeys
};
} // namespace

static Contribution contribution_of(const Work *work, const Datum *values, const bool *nulls, int j) {
    const rows::Question *question = work->question;
    const Argument &argument = work->arguments[j];
    const privacy::Measure &measure = (*question->measures)[j];
    if (measure.filter >= 0 && !DatumGetBool(values[work->projection->filter_column[measure.filter]]))
        return Contribution{};
    if (work->projection->present_column[j] >= 0 && !DatumGetBool(values[work->projection->present_column[j]]))
        return Contribution{};
    const privacy::Bounds *bounds = question->bounds[j];
    if (bounds == nullptr)
        return Contribution{true, 0, 0};
    Datum datum = values[argument.position];
    double value = nulls[argument.position] ? get_float8_nan() : rows::double_value(argument.kind, datum);
    if (std::isnan(value))
        return Contribution{};
    // As the aggregates of the internal statement read it: a value that is not NaN has a point.
    int64 point;
    if (measure.kind == privacy::MeasureKind::pair)
        point = *privacy::to_pair_point(privacy::pair_lattice(*bounds), value);
    else if (rows::is_integer(argument.kind) && argument.lattice.scale == 1)
        point = privacy::to_sum_point_integer(argument.lattice, rows::integer_value(argument.kind, datum));
    else
        point = *privacy::to_sum_point(argument.lattice, value);
    return Contribution{true, Min(Max(value, bounds->low), bounds->high), point};
}

static void read_arguments(Work *work) {
    const rows::Question *question = work->question;
    work->arguments = static_cast<Argument *>(palloc0(sizeof(Argument) * (question->nmeasures + 1)));
    for (int j = 0; j < question->nmeasures; j++) {
        if (question->bounds[j] == nullptr)
            continue;
        AttrNumber column = question->argument_columns[(*question->measures)[j].calls.front()];
        privacy::SumLattice lattice = border::core([&] { return privacy::sum_lattice(*question->bounds[j]); });
        work->arguments[j] = Argument{position_of(work->projection, column),
                                      rows::value_kind(get_atttype(question->settings->relation, column)), lattice};
    }
}

// ---- groups of the records -----------------------------------------------------------------------------------------

namespace {
struct KeyOrder {
    const Work *work;
    FmgrInfo **compare; // per key
};
} // namespace

static int compare_records(const void *a, const void *b, void *context) {
    auto *order = static_cast<const KeyOrder *>(context);
    const query::Leaf *leaf = order->work->question->leaf;
    const NullableDatum *x = order->work->keys + *static_cast<const int64 *>(a) * leaf->nkeys;
    const NullableDatum *y = order->work->keys + *static_cast<const int64 *>(b) * leaf->nkeys;
    for (int k = 0; k < leaf->nkeys; k++) {
        int result;
        if (x[k].isnull || y[k].isnull)
            result = static_cast<int>(x[k].isnull) - static_cast<int>(y[k].isnull);
        else
            result =
                DatumGetInt32(FunctionCall2Coll(order->compare[k], leaf->keys[k].collation, x[k].value, y[k].value));
        if (result != 0)
            return result;
    }
    return 0;
}

// The groups of the result: records with equal keys, by the equality that GROUP BY uses (1.0 and 1.00 are one group).
static void group_by_equality(Work *work) {
    const query::Leaf *leaf = work->question->leaf;
    int64 n = work->memo->nrecords;
    KeyOrder order = {work, static_cast<FmgrInfo **>(palloc0(sizeof(FmgrInfo *) * leaf->nkeys))};
    for (int k = 0; k < leaf->nkeys; k++)
        order.compare[k] = &lookup_type_cache(leaf->keys[k].type, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
    auto *sorted = static_cast<int64 *>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int64) * (n + 1)));
    for (int64 i = 0; i < n; i++)
        sorted[i] = i;
    qsort_arg(sorted, n, sizeof(int64), compare_records, &order);
    for (int64 i = 0; i < n; i++) {
        if (i == 0 || compare_records(&sorted[i - 1], &sorted[i], &order) != 0)
            work->memo->ngroups++;
        work->memo->group_of[sorted[i]] = work->memo->ngroups - 1;
    }
    pfree(sorted);
}

// The declared groups: what is released has no others, and a record with another key changes nothing.
static void group_by_declaration(Work *work) {
    const rows::Question *question = work->question;
    int nkeys = question->leaf->nkeys;
    work->memo->ngroups = question->ngroups;
    for (int64 i = 0; i < work->memo->nrecords; i++) {
        int group = 0;
        for (int k = 0; k < nkeys && group >= 0; k++) {
            NullableDatum key = work->keys[i * nkeys + k];
            int at = question->domains[k].find(key.value, key.isnull);
            group = at < 0 ? -1 : group * question->domains[k].count + at;
        }
        work->memo->group_of[i] = group < 0 ? -1 : rows::group_at_place(question, group);
    }
}

static void assign_groups(Work *work) {
    const rows::Question *question = work->question;
    if (question->leaf->nkeys == 0)
        work->memo->ngroups = 1; // and group_of is all zero
    else if (work->calibration == privacy::Calibration::sound && !question->thresholded)
        group_by_declaration(work);
    else
        group_by_equality(work);
}

// Zeroed, however many there are.
template <class T> static T *allocate(MemoryContext context, int64 n) {
    return static_cast<T *>(
        MemoryContextAllocExtended(context, sizeof(T) * (n + 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
}

static void add_up_groups(Work *work, MemoryContext context) {
    int m = work->question->nmeasures;
    work->memo->states = allocate<privacy::GroupState>(context, static_cast<int64>(work->memo->ngroups) * m);
    for (int64 i = 0; i < work->memo->nrecords; i++) {
        if (work->memo->group_of[i] < 0)
            continue;
        int64 individuals = work->memo->records[i].individuals;
        for (int j = 0; j < m; j++) {
            privacy::GroupState &state = work->memo->states[static_cast<int64>(work->memo->group_of[i]) * m + j];
            const Contribution &contribution = work->memo->contributions[i * m + j];
            state.rows += individuals;
            if (contribution.there) {
                state.values += individuals;
                state.sum += static_cast<long double>(contribution.value) * individuals;
            }
        }
    }
}

static void read_record(Work *work, int64 i, HeapTuple tuple, TupleDesc desc, Datum *values, bool *nulls) {
    const rows::Question *question = work->question;
    // By-reference values point into the tuple, which lives as long as SPI's result.
    heap_deform_tuple(tuple, desc, values, nulls);
    work->memo->records[i].individuals = DatumGetInt64(values[work->projection->count_column]);
    for (int k = 0; k < question->leaf->nkeys; k++) {
        int at = work->projection->key_column[k];
        work->keys[i * question->leaf->nkeys + k] = NullableDatum{values[at], nulls[at]};
    }
    for (int j = 0; j < question->nmeasures; j++)
        work->memo->contributions[i * question->nmeasures + j] = contribution_of(work, values, nulls, j);
    if (work->projection->people.a != nullptr) {
        work->memo->in_a[i] = DatumGetBool(values[work->projection->people_column]);
        work->memo->in_b[i] = DatumGetBool(values[work->projection->people_column + 1]);
    }
}

static void keep_record(Work *work, int64 i, const Datum *values, const bool *nulls, MemoryContext context) {
    Record *record = &work->memo->records[i];
    int n = work->memo->desc->natts;
    MemoryContext old = MemoryContextSwitchTo(context);
    record->columns = static_cast<Datum *>(palloc0(sizeof(Datum) * Max(n, 1)));
    record->nulls = static_cast<bool *>(palloc0(sizeof(bool) * Max(n, 1)));
    for (int c = 0; c < n; c++) {
        Form_pg_attribute column = TupleDescAttr(work->memo->desc, c);
        record->nulls[c] = nulls[c];
        if (!nulls[c])
            record->columns[c] = datumCopy(values[c], column->attbyval, column->attlen);
    }
    MemoryContextSwitchTo(old);
}

// ---- sensitivities -------------------------------------------------------------------------------------------------

// `sound`: of the vector that is released, scaled so that every measure has sensitivity 1.
static double sound_part(const rows::Question *question, const Contribution &contribution, int j) {
    if (!contribution.there)
        return 0;
    return (*question->measures)[j].kind == privacy::MeasureKind::sum
               ? std::fabs(static_cast<double>(contribution.point)) / static_cast<double>((*question->sensitivities)[j])
               : 1;
}

double published_pis(const rows::Question *question, const Memo *memo, int64 record, int aggregate) {
    int j = question->measure_of[aggregate];
    const Contribution &contribution = memo->contributions[record * question->nmeasures + j];
    switch (question->leaf->aggregates[aggregate].fn) {
    case privacy::Aggregate::count_star:
    case privacy::Aggregate::count:
        return privacy::leave_one_out_count(contribution.there);
    case privacy::Aggregate::sum:
        return privacy::leave_one_out_sum(contribution.there, contribution.value);
    case privacy::Aggregate::avg: {
        const privacy::Bounds &bounds = *question->bounds[j];
        return privacy::leave_one_out_avg(
            memo->states[static_cast<int64>(memo->group_of[record]) * question->nmeasures + j], contribution.there,
            contribution.value, bounds.low + (bounds.high - bounds.low) / 2);
    }
    }
    return 0;
}

static double norm(privacy::Mechanism mechanism, double so_far, double part) {
    return mechanism == privacy::Mechanism::laplace ? so_far + part : std::hypot(so_far, part);
}

static double pis_of(const Work *work, int64 i) {
    const rows::Question *question = work->question;
    if (work->memo->group_of[i] < 0)
        return 0;
    const Contribution *contributions = work->memo->contributions + i * question->nmeasures;
    double pis = 0;
    if (work->calibration == privacy::Calibration::sound)
        for (int j = 0; j < question->nmeasures; j++)
            pis = norm(work->mechanism, pis, sound_part(question, contributions[j], j));
    else
        for (int a = 0; a < question->leaf->naggregates; a++)
            pis = norm(work->mechanism, pis, published_pis(question, work->memo, i, a));
    return pis;
}

static int64 smallest_average(const Work *work) {
    const rows::Question *question = work->question;
    int64 smallest = 0;
    for (int64 g = 0; g < static_cast<int64>(work->memo->ngroups) * question->nmeasures; g++) {
        const privacy::GroupState &state = work->memo->states[g];
        if ((*question->measures)[g % question->nmeasures].kind == privacy::MeasureKind::pair && state.values > 0 &&
            (smallest == 0 || state.values < smallest))
            smallest = state.values;
    }
    return smallest;
}

// A profile that lives as long as the memo.
static privacy::PisProfile *new_profile(MemoryContext context) {
    MemoryContext old = MemoryContextSwitchTo(context);
    auto *profile = border::context_new<privacy::PisProfile>();
    MemoryContextSwitchTo(old);
    return profile;
}

static void finish(Work *work, MemoryContext context) {
    Memo *memo = work->memo;
    auto *profile = new_profile(context), *a = new_profile(context), *b = new_profile(context);
    border::core([&] {
        int64 outside_a = memo->members_a, outside_b = memo->members_b;
        for (int64 i = 0; i < memo->nrecords; i++) {
            const Record &record = memo->records[i];
            memo->records[i].pis = pis_of(work, i);
            profile->add(record.pis, record.individuals);
            if (memo->in_a[i]) {
                a->add(record.pis, record.individuals);
                outside_a -= record.individuals;
            }
            if (memo->in_b[i]) {
                b->add(record.pis, record.individuals);
                outside_b -= record.individuals;
            }
        }
        profile->add(0, memo->outside);
        a->add(0, outside_a);
        b->add(0, outside_b);
    });
    memo->profile = profile;
    memo->profile_a = a;
    memo->profile_b = b;
    memo->groups_present = memo->ngroups;
    memo->smallest_group = smallest_average(work);
}

// ---- reading -------------------------------------------------------------------------------------------------------

static TupleDesc describe(const Projection *projection) {
    TupleDesc desc = CreateTemplateTupleDesc(list_length(projection->columns));
    ListCell *cell;
    foreach (cell, projection->columns) {
        Var *column = rows::table_column(projection->question, lfirst_int(cell));
        TupleDescInitEntry(desc, foreach_current_index(cell) + 1,
                           get_attname(projection->question->settings->relation, lfirst_int(cell), false),
                           column->vartype, column->vartypmod, 0);
        TupleDescInitEntryCollation(desc, foreach_current_index(cell) + 1, column->varcollid);
    }
    return BlessTupleDesc(desc);
}

static void read_records(Work *work, const border::Spi &spi, bool keep_records) {
    Memo *memo = work->memo;
    memo->nrecords = SPI_processed;
    // Without columns to group by there is one row even if there are no records.
    bool isnull;
    if (memo->nrecords == 1 && DatumGetInt64(border::Spi::value(0, work->projection->count_column + 1, &isnull)) == 0)
        memo->nrecords = 0;
    const rows::Question *question = work->question;
    memo->records = allocate<Record>(spi.caller, memo->nrecords);
    memo->group_of = allocate<int>(spi.caller, memo->nrecords);
    memo->contributions = allocate<Contribution>(spi.caller, memo->nrecords * question->nmeasures);
    memo->in_a = allocate<bool>(spi.caller, memo->nrecords);
    memo->in_b = allocate<bool>(spi.caller, memo->nrecords);
    // Needed until SPI_finish only, like the tuples that the keys point into.
    work->keys = allocate<NullableDatum>(CurrentMemoryContext, memo->nrecords * question->leaf->nkeys);
    TupleDesc desc = SPI_tuptable->tupdesc;
    auto *values = static_cast<Datum *>(palloc0(sizeof(Datum) * desc->natts));
    auto *nulls = static_cast<bool *>(palloc0(sizeof(bool) * desc->natts));
    MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr record", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(scratch);
    for (int64 i = 0; i < memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        read_record(work, i, SPI_tuptable->vals[i], desc, values, nulls);
        if (keep_records)
            keep_record(work, i, values, nulls, spi.caller);
        MemoryContextReset(scratch);
    }
    MemoryContextSwitchTo(old);
    assign_groups(work);
    add_up_groups(work, spi.caller);
}

// Everybody, and the members of people's groups, whether or not the query's WHERE accepts them.
static void count_people(Work *work, const border::Spi &spi, int64 inside) {
    Memo *memo = work->memo;
    const PeopleGroups &people = work->projection->people;
    memo->rows = inside;
    if (work->question->where == nullptr && people.a == nullptr)
        return;
    Query *query = base_query(work->question, nullptr);
    add_row_count(query);
    if (people.a != nullptr) {
        add_row_count(query, people.a);
        add_row_count(query, people.b);
        add_row_count(query, reinterpret_cast<Node *>(makeBoolExpr(AND_EXPR, list_make2(people.a, people.b), -1)));
    }
    spi.run(pg_get_querydef(query, false), true);
    int64 *counts[4] = {&memo->rows, &memo->members_a, &memo->members_b, &memo->members_both};
    for (int i = 0; i < list_length(query->targetList); i++) {
        bool isnull;
        *counts[i] = DatumGetInt64(border::Spi::value(0, i + 1, &isnull));
    }
}

static void run(Work *work, bool keep_records) {
    const rows::Question *question = work->question;
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    PushActiveSnapshot(GetActiveSnapshot());
    border::Spi spi = border::Spi::connect();
    spi.run(pg_get_querydef(static_cast<Query *>(copyObject(work->projection->query)), false), true);
    read_records(work, spi, keep_records);
    int64 inside = 0;
    for (int64 i = 0; i < work->memo->nrecords; i++)
        inside += work->memo->records[i].individuals;
    count_people(work, spi, inside);
    work->memo->outside = work->memo->rows - inside;
    finish(work, spi.caller);
    spi.finish();
    PopActiveSnapshot();
    role.leave();
    settings.leave();
}

Memo *leave_one_out(const rows::Question *question, privacy::Mechanism mechanism, privacy::Calibration calibration,
                    bool keep_records, const PeopleGroups &people) {
    Projection projection = project(question, keep_records, people);
    auto *memo = static_cast<Memo *>(palloc0(sizeof(Memo)));
    memo->desc = describe(&projection);
    Work work = {};
    work.question = question;
    work.projection = &projection;
    work.mechanism = mechanism;
    work.calibration = calibration;
    work.memo = memo;
    read_arguments(&work);
    run(&work, keep_records);
    return memo;
}

std::vector<privacy::NoiseMeasure> noise_measures(const rows::Question *question) {
    std::vector<privacy::NoiseMeasure> measures;
    int groups = question->thresholded ? 1 : question->ngroups; // k = k1 when groups are discovered (section 2)
    for (int j = 0; j < question->nmeasures; j++)
        measures.push_back({static_cast<double>((*question->measures)[j].coordinates()) * groups,
                            static_cast<double>((*question->sensitivities)[j])});
    return measures;
}

} // namespace dp::risk
