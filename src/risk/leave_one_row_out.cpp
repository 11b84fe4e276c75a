#include "risk/leave_one_row_out.hpp"

#include <cmath>

#include "border/permissions.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/foreign_part.hpp"
#include "privacy/triple.hpp"
#include "risk/memory.hpp"
#include "risk/printed_risk.hpp"
#include "risk/scan_statement.hpp"
#include "risk/unit_changes.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/reader.hpp"
#include "rows/visible_groups.hpp"
#include "rows/sums.hpp"
#include "rows/units.hpp"

namespace dp::risk {

// ---- the memo's statement ------------------------------------------------------------------------------------------

namespace {
// SELECT columns, keys, flags, count(*) FROM table WHERE ... GROUP BY columns, keys, flags. Columns: those that the
// sensitivities need (keys, arguments), or all that the query mentions; keys: those that are expressions; flags: "the FILTER
// holds", "the argument of count(x) is there" and "is one of these people".
struct Projection {
    const rows::Question *question;
    PeopleGroups people;
    List *columns;        // int: attribute numbers of the table
    int *key_column;      // per key: position of its value among the outputs (0-based)
    int *filter_column;   // per filter: position of its flag among the outputs (0-based)
    int *argument_column; // per measure that is summed: position of its value among the outputs (0-based)
    int *present_column;  // per measure: position of the flag of count(x), or -1
    int people_column;    // position of the flag of group a, before that of b
    int count_column;     // position of count(*)
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

// The column that a measure sums; 0: it sums an expression, or counts.
static AttrNumber summed_column(const rows::Question *question, int j) {
    return question->bounds[j] == nullptr ? InvalidAttrNumber
                                          : question->argument_columns[(*question->measures)[j].calls.front()];
}

static void choose_columns(Projection *projection, bool keep_records) {
    const rows::Question *question = projection->question;
    for (int i = 0; i < question->leaf->nkeys; i++)
        if (question->key_columns[i] != InvalidAttrNumber)
            projection->columns = list_append_unique_int(projection->columns, question->key_columns[i]);
        else if (keep_records)
            collect_columns(question->keys[i], &projection->columns);
    for (int j = 0; j < question->nmeasures; j++) {
        AttrNumber column = summed_column(question, j);
        if (column != InvalidAttrNumber)
            projection->columns = list_append_unique_int(projection->columns, column);
    }
    if (!keep_records)
        return;
    for (int i = 0; i < question->leaf->naggregates; i++)
        if (question->argument_columns[i] > 0)
            projection->columns = list_append_unique_int(projection->columns, question->argument_columns[i]);
    for (int i = 0; i < list_length(question->leaf->arguments); i++)
        collect_columns(question->expressions[i].node, &projection->columns);
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

// Values of columns are there already; those of an expression come once, however many measures sum them.
static void add_arguments(Projection *projection) {
    const rows::Question *question = projection->question;
    auto *computed = static_cast<int *>(palloc0(sizeof(int) * (list_length(question->leaf->arguments) + 1)));
    projection->argument_column = static_cast<int *>(palloc0(sizeof(int) * (question->nmeasures + 1)));
    for (int j = 0; j < question->nmeasures; j++) {
        if (question->bounds[j] == nullptr)
            continue;
        AttrNumber column = summed_column(question, j);
        if (column != InvalidAttrNumber) {
            projection->argument_column[j] = position_of(projection, column);
            continue;
        }
        int call = (*question->measures)[j].calls.front();
        int *place = &computed[question->leaf->aggregates[call].argument]; // 1-based
        if (*place == 0) {
            add_group(projection->query, rows::argument_node(question, call));
            *place = list_length(projection->query->targetList);
        }
        projection->argument_column[j] = *place - 1;
    }
}

static void add_flags(Projection *projection) {
    const rows::Question *question = projection->question;
    Query *query = projection->query;
    projection->filter_column = static_cast<int *>(palloc0(sizeof(int) * (list_length(question->filters) + 1)));
    ListCell *cell;
    foreach (cell, question->filters) {
        projection->filter_column[foreach_current_index(cell)] = list_length(query->targetList);
        add_group(query, is_true(rows::another(static_cast<Node *>(lfirst(cell)))));
    }
    projection->present_column = static_cast<int *>(palloc0(sizeof(int) * (question->nmeasures + 1)));
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        projection->present_column[j] = -1;
        if (measure.argument < 0 || question->bounds[j] != nullptr)
            continue;
        projection->present_column[j] = list_length(query->targetList);
        add_group(query, rows::null_test(rows::argument_node(question, measure.calls.front()), IS_NOT_NULL));
    }
    projection->people_column = list_length(query->targetList);
    if (projection->people.a != nullptr) {
        add_group(query, is_true(rows::another(projection->people.a)));
        add_group(query, is_true(rows::another(projection->people.b)));
    }
}

// Where a unit has one row at most its rows alone are people: the links, which are a part of the question's WHERE, say which.
static Node *all_people(const rows::Question *question) {
    return question->units == nullptr ? nullptr : question->units->links;
}

static Query *base_query(const rows::Question *question, Node *where) {
    return make_select(rows::table_entry(question), rows::another(where));
}

// Adds count(*), of the rows that meet a condition if there is one.
static void add_row_count(Query *query, Node *condition = nullptr) {
    rows::add_target(query, reinterpret_cast<Node *>(
                                rows::make_aggregate(F_COUNT_, INT8OID, NIL, rows::another(condition))));
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
    add_arguments(&projection);
    add_flags(&projection);
    projection.count_column = list_length(projection.query->targetList);
    add_row_count(projection.query);
    return projection;
}

// Group by group, NULL last: in the order in which groups are shown.
static void order_by_keys(Projection *projection) {
    Query *query = projection->query;
    for (int k = 0; k < projection->question->leaf->nkeys; k++) {
        auto *target = list_nth_node(TargetEntry, query->targetList, projection->key_column[k]);
        SortGroupClause *clause = get_sortgroupref_clause(target->ressortgroupref, query->groupClause);
        query->sortClause = list_append_unique(query->sortClause, clause);
    }
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
    Argument *arguments;         // per measure
    bool keep;                   // records, groups and contributions: there is a second look at each
    Contribution *contributions; // of the record that is read
    // The group of the last record, where equality tells groups apart: the statement brings them group by group.
    MemoryContext key_context;
    NullableDatum *key; // per key
    FmgrInfo **compare; // per key
    int64 inside;       // individuals
    privacy::PisProfile *profile, *profile_a, *profile_b;
    int64 inside_a, inside_b;
    uint64 kept_when_checked; // values of the profiles
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
    // The aggregates of the internal statement read it so: a value that is not NaN has a point.
    int64 point;
    if (measure.kind == privacy::MeasureKind::pair)
        point = *privacy::to_pair_point(privacy::pair_lattice(*bounds), value);
    else if (measure.kind == privacy::MeasureKind::triple)
        point = privacy::to_triple_point(privacy::pair_lattice(*bounds), value)->squares;
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
        Oid type = exprType(rows::argument_node(question, (*question->measures)[j].calls.front()));
        privacy::SumLattice lattice = border::core([&] { return privacy::sum_lattice(*question->bounds[j]); });
        work->arguments[j] = Argument{work->projection->argument_column[j], rows::value_kind(type), lattice};
    }
}

// ---- groups of the records -----------------------------------------------------------------------------------------

static bool by_equality(const Work *work) {
    return work->question->leaf->nkeys > 0 &&
           !(work->calibration == privacy::Calibration::sound && !work->question->thresholded);
}

// Groups of the result: records with equal keys, by the equality that GROUP BY uses (1.0 and 1.00 are one group).
static void prepare_groups(Work *work) {
    const query::Leaf *leaf = work->question->leaf;
    if (!by_equality(work)) {
        work->memo->ngroups = leaf->nkeys == 0 ? 1 : work->question->ngroups;
        return;
    }
    work->key_context = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr group", ALLOCSET_SMALL_SIZES);
    work->key = static_cast<NullableDatum *>(palloc0(sizeof(NullableDatum) * leaf->nkeys));
    work->compare = static_cast<FmgrInfo **>(palloc0(sizeof(FmgrInfo *) * leaf->nkeys));
    for (int k = 0; k < leaf->nkeys; k++)
        work->compare[k] = &lookup_type_cache(leaf->keys[k].type, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
}

static bool is_same_group(const Work *work, const Datum *values, const bool *nulls) {
    const query::Leaf *leaf = work->question->leaf;
    for (int k = 0; k < leaf->nkeys; k++) {
        int at = work->projection->key_column[k];
        if (nulls[at] != work->key[k].isnull)
            return false;
        if (!nulls[at] && DatumGetInt32(FunctionCall2Coll(work->compare[k], leaf->keys[k].collation, values[at],
                                                          work->key[k].value)) != 0)
            return false;
    }
    return true;
}

static void remember_group(Work *work, const Datum *values, const bool *nulls) {
    const query::Leaf *leaf = work->question->leaf;
    MemoryContextReset(work->key_context);
    MemoryContext old = MemoryContextSwitchTo(work->key_context);
    for (int k = 0; k < leaf->nkeys; k++) {
        int at = work->projection->key_column[k];
        TypeCacheEntry *type = lookup_type_cache(leaf->keys[k].type, 0);
        work->key[k].isnull = nulls[at];
        work->key[k].value = nulls[at] ? Datum(0) : datumCopy(values[at], type->typbyval, type->typlen);
    }
    MemoryContextSwitchTo(old);
}

// The declared groups: what is released has no others, and a record with another key (-1) changes nothing.
static int declared_group(const Work *work, const Datum *values, const bool *nulls) {
    const rows::Question *question = work->question;
    int64 place = 0;
    for (int k = 0; k < question->leaf->nkeys && place >= 0; k++) {
        int column = work->projection->key_column[k];
        int at = question->domains[k].find(values[column], nulls[column]);
        place = at < 0 ? -1 : place * question->domains[k].count + at;
    }
    return place < 0 ? -1 : rows::group_at_place(question, place);
}

static int group_of(Work *work, const Datum *values, const bool *nulls) {
    if (!by_equality(work))
        return declared_group(work, values, nulls);
    if (work->memo->ngroups == 0 || !is_same_group(work, values, nulls)) {
        remember_group(work, values, nulls);
        work->memo->ngroups++;
    }
    return work->memo->ngroups - 1;
}

static void make_room_for_groups(Work *work, int64 n) {
    while (work->memo->states.count() < n)
        work->memo->states.append();
}

static void add_position(privacy::GroupState *state, long double position, int64 individuals) {
    state->positions += position * individuals;
    state->squares += position * position * individuals;
}

static void add_to_group(Work *work, int group, const Contribution *contributions, int64 individuals) {
    int m = work->question->nmeasures;
    if (group < 0)
        return;
    make_room_for_groups(work, static_cast<int64>(group) + 1);
    privacy::GroupState *states = work->memo->states.change(group);
    for (int j = 0; j < m; j++) {
        privacy::GroupState &state = states[j];
        state.rows += individuals;
        if (contributions[j].there) {
            state.values += individuals;
            state.sum += static_cast<long double>(contributions[j].value) * individuals;
            if ((*work->question->measures)[j].kind == privacy::MeasureKind::triple)
                add_position(&state, privacy::position_of(*work->question->bounds[j], contributions[j].value),
                             individuals);
        }
    }
}

// ---- sensitivities -------------------------------------------------------------------------------------------------

// `sound`: of the vector that is released, scaled so that every measure has sensitivity 1. (Of a pair, what it prints.)
static double sound_part(const rows::Question *question, const Contribution &contribution, int j) {
    if (!contribution.there)
        return 0;
    return (*question->measures)[j].kind == privacy::MeasureKind::sum
               ? std::fabs(static_cast<double>(contribution.point)) / static_cast<double>((*question->sensitivities)[j])
               : 1;
}

double published_pis(const rows::Question *question, const Memo *memo, int64 record, int aggregate) {
    int j = question->measure_of[aggregate];
    const Contribution &contribution = memo->contributions.at(record)[j];
    privacy::Aggregate fn = question->leaf->aggregates[aggregate].fn;
    switch (fn) {
    case privacy::Aggregate::count_star:
    case privacy::Aggregate::count:
    case privacy::Aggregate::count_units: // of units that have one row
        return privacy::leave_one_out_count(contribution.there);
    case privacy::Aggregate::sum:
        return privacy::leave_one_out_sum(contribution.there, contribution.value);
    case privacy::Aggregate::avg: {
        const privacy::Bounds &bounds = *question->bounds[j];
        return privacy::leave_one_out_avg(memo->states.at(memo->records.at(record)->group)[j], contribution.there,
                                          contribution.value, bounds.low + (bounds.high - bounds.low) / 2);
    }
    default: {
        const privacy::Bounds &bounds = *question->bounds[j];
        const privacy::GroupState &state = memo->states.at(memo->records.at(record)->group)[j];
        return privacy::spread_unit(fn, bounds) *
               privacy::leave_one_out_spread(fn, state, contribution.there,
                                             privacy::position_of(bounds, contribution.value));
    }
    }
    return 0;
}

static double norm(privacy::Mechanism mechanism, double so_far, double part) {
    return mechanism == privacy::Mechanism::laplace ? so_far + part : std::hypot(so_far, part);
}

// Whether it prints what is computed from several sums.
static bool has_parts(const rows::Question *question, int j) {
    return (*question->measures)[j].has_parts();
}

// Returns the PIS of a record that is in a group. i: its number, where something depends on its group's states.
static double pis_of(const Work *work, const Contribution *contributions, int64 i) {
    const rows::Question *question = work->question;
    double pis = 0;
    if (work->calibration == privacy::Calibration::sound)
        for (int j = 0; j < question->nmeasures; j++)
            pis = norm(work->mechanism, pis,
                       has_parts(question, j) ? printed_part(question, work->memo, work->mechanism, i, j)
                                              : sound_part(question, contributions[j], j));
    else
        for (int a = 0; a < question->leaf->naggregates; a++)
            pis = norm(work->mechanism, pis, published_pis(question, work->memo, i, a));
    return pis;
}

static int64 smallest_average(const Work *work) {
    const rows::Question *question = work->question;
    int64 smallest = 0;
    if (!prints_pairs(question))
        return 0;
    for (int64 group = 0; group < work->memo->ngroups; group++) {
        const privacy::GroupState *states = work->memo->states.at(group);
        for (int j = 0; j < question->nmeasures; j++)
            if (has_parts(question, j) && states[j].values > 0 && (smallest == 0 || states[j].values < smallest))
                smallest = states[j].values;
    }
    return smallest;
}

// Core region.
static void add_to_profiles(Work *work, double pis, int64 individuals, bool in_a, bool in_b) {
    work->profile->add(pis, individuals);
    if (in_a) {
        work->profile_a->add(pis, individuals);
        work->inside_a += individuals;
    }
    if (in_b) {
        work->profile_b->add(pis, individuals);
        work->inside_b += individuals;
    }
}

// After each record. Different values are kept for Gaussian noise, and of groups of people.
static void check_profiles(Work *work) {
    constexpr uint64 at_times = 65536;
    uint64 kept = work->profile->kept() + work->profile_a->kept() + work->profile_b->kept();
    if (kept < work->kept_when_checked + at_times)
        return;
    work->kept_when_checked = kept;
    check_memory(32.0 * static_cast<double>(kept), psprintf(UINT64_FORMAT " different risks", kept),
                 work->profile->kept() > 0 ? "use Laplace noise" : nullptr);
}

static void look_again(Work *work) {
    Memo *memo = work->memo;
    for (int64 i = 0; i < memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        Record *record = memo->records.change(i);
        if (record->group >= 0)
            record->pis = pis_of(work, memo->contributions.at(i), i);
        border::core([&] { add_to_profiles(work, record->pis, record->individuals, record->in_a, record->in_b); });
        check_profiles(work);
    }
}

static void finish(Work *work) {
    Memo *memo = work->memo;
    make_room_for_groups(work, memo->ngroups);
    if (work->keep)
        look_again(work);
    border::core([&] {
        work->profile->add(0, memo->outside);
        work->profile_a->add(0, memo->members_a - work->inside_a);
        work->profile_b->add(0, memo->members_b - work->inside_b);
    });
    memo->profile = work->profile;
    memo->profile_a = work->profile_a;
    memo->profile_b = work->profile_b;
    memo->groups_present = memo->ngroups;
    memo->smallest_group = smallest_average(work);
    memo->averages =
        work->calibration == privacy::Calibration::sound ? averages_of_groups(work->question, memo) : nullptr;
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

static void read_record(Work *work, const Datum *values, const bool *nulls) {
    Memo *memo = work->memo;
    const rows::Question *question = work->question;
    int64 individuals = DatumGetInt64(values[work->projection->count_column]);
    if (individuals == 0) // without columns to group by there is one row even if there are no records
        return;
    bool people = work->projection->people.a != nullptr;
    bool in_a = people && DatumGetBool(values[work->projection->people_column]);
    bool in_b = people && DatumGetBool(values[work->projection->people_column + 1]);
    int group = group_of(work, values, nulls);
    Contribution *contributions = work->keep ? memo->contributions.append() : work->contributions;
    for (int j = 0; j < question->nmeasures; j++)
        contributions[j] = contribution_of(work, values, nulls, j);
    add_to_group(work, group, contributions, individuals);
    work->inside += individuals;
    if (!work->keep) {
        double pis = group < 0 ? 0 : pis_of(work, contributions, -1);
        border::core([&] { add_to_profiles(work, pis, individuals, in_a, in_b); });
        check_profiles(work);
        return;
    }
    *memo->records.append() = Record{individuals, 0, group, in_a, in_b};
    memo->nrecords++;
    if (memo->kept != nullptr)
        tuplestore_putvalues(memo->kept, memo->desc, const_cast<Datum *>(values), const_cast<bool *>(nulls));
}

static void take_record(void *reader, Datum *values, bool *nulls) {
    read_record(static_cast<Work *>(reader), values, nulls);
}

// How many rows the table has follows from the statement where its scans tell; otherwise another one counts them.
static int64 read_records(Work *work) {
    const rows::Question *question = work->question;
    // Other nodes would count by running the statement under EXPLAIN ANALYZE, and would keep its plan.
    bool asked = question->where != nullptr && work->projection->people.a == nullptr && question->units == nullptr &&
                 !catalog::is_known_to_citus(question->settings->relation);
    return run_query(static_cast<Query *>(copyObject(work->projection->query)),
                     asked ? question->settings->relation : InvalidOid, take_record, work, question->checked);
}

// Everybody, and the members of people's groups, whether or not the query's WHERE accepts them.
static void count_people(Work *work, int64 met) {
    Memo *memo = work->memo;
    const PeopleGroups &people = work->projection->people;
    memo->rows = met == not_known ? work->inside : met;
    if (work->question->where == nullptr ? people.a == nullptr : met != not_known)
        return;
    Query *query = base_query(work->question, all_people(work->question));
    add_row_count(query);
    if (people.a != nullptr) {
        add_row_count(query, people.a);
        add_row_count(query, people.b);
        add_row_count(query, reinterpret_cast<Node *>(makeBoolExpr(AND_EXPR, list_make2(people.a, people.b), -1)));
    }
    int64 counts[4] = {};
    run_counts(query, counts, work->question->checked);
    // Units without a row here count as well. On other nodes rows may have gone since those were read.
    int64 everybody = work->question->units == nullptr ? counts[0] : count_units(work->question);
    memo->rows = Max(everybody, work->inside);
    memo->members_a = counts[1];
    memo->members_b = counts[2];
    memo->members_both = counts[3];
}

static void prepare_work(Work *work, Detail detail) {
    Memo *memo = work->memo;
    int m = work->question->nmeasures;
    // An average's moves, and all of the published ones, depend on their group: known when all records have been read.
    work->keep = detail >= Detail::changes || work->calibration == privacy::Calibration::published ||
                 prints_pairs(work->question);
    work->contributions = static_cast<Contribution *>(palloc0(sizeof(Contribution) * (work->question->nmeasures + 1)));
    using Keep = privacy::PisProfile::Keep;
    // With Laplace noise every RDR is its PIS and a constant: one variance serves all candidates.
    bool values =
        (detail == Detail::profile || detail == Detail::changes) && work->mechanism != privacy::Mechanism::laplace;
    work->profile = border::context_new<privacy::PisProfile>(values ? Keep::values : Keep::range);
    work->profile_a = border::context_new<privacy::PisProfile>();
    work->profile_b = border::context_new<privacy::PisProfile>();
    if (detail == Detail::records)
        memo->kept = tuplestore_begin_heap(false, false, work_mem);
    memo->records = border::Spill<Record>::make(1, share_of_memory());
    memo->contributions = border::Spill<Contribution>::make(m, share_of_memory());
    memo->states = border::Spill<privacy::GroupState>::make(m, share_of_memory());
    memo->excess = border::Spill<double>::make(1, share_of_memory());
    memo->by_group = by_equality(work);
    prepare_groups(work);
}

static void run(Work *work) {
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(work->question->settings->owner);
    border::PathScope path = border::PathScope::enter(); // an analyst comes here, too, under within_data
    rows::pin_nodes(work->question->settings->relation);
    PushActiveSnapshot(GetActiveSnapshot());
    count_people(work, read_records(work));
    work->memo->outside = work->memo->rows - work->inside;
    finish(work);
    PopActiveSnapshot();
    path.leave();
    role.leave();
    settings.leave();
}

Memo *leave_one_out(const rows::Uncharged &right, privacy::Mechanism mechanism, privacy::Calibration calibration,
                    Detail detail, const PeopleGroups &people) {
    const rows::Question *question = right.question();
    rows::check_reader(question);
    check_units(question, Wanted{calibration, detail == Detail::changes, people.a != nullptr, false});
    if (rows::is_clipped(question))
        return leave_one_unit_out(right, mechanism, detail);
    Projection projection = project(question, detail == Detail::records, people);
    auto *memo = static_cast<Memo *>(palloc0(sizeof(Memo)));
    memo->desc = describe(&projection);
    Work work = {};
    work.question = question;
    work.projection = &projection;
    work.mechanism = mechanism;
    work.calibration = calibration;
    work.memo = memo;
    if (by_equality(&work))
        order_by_keys(&projection);
    read_arguments(&work);
    prepare_work(&work, detail);
    run(&work);
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
