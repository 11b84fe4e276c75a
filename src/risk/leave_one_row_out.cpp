#include "risk/leave_one_row_out.hpp"

#include "border/permissions.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/foreign_part.hpp"
#include "privacy/joint.hpp"
#include "query/aggregate_table.hpp"
#include "risk/memory.hpp"
#include "risk/people_read.hpp"
#include "risk/scan_statement.hpp"
#include "risk/unit_changes.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/cell_calls.hpp"
#include "rows/counted_values.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/may_read.hpp"
#include "rows/sums.hpp"
#include "rows/units.hpp"

namespace dp::risk {

// ---- the memo's statement ------------------------------------------------------------------------------------------

namespace {
// SELECT columns, keys, values, flags, count(*) FROM table WHERE ... GROUP BY all but the last. Columns: those that are shown, all that the
// query mentions; keys: those that are expressions; values: what a row brings to the measures, NULL where it brings nothing; flags: "is
// one of these people".
struct Projection {
    const rows::Question *question;
    PeopleGroups people;
    List *columns;      // int: attribute numbers of the table
    int *key_column;    // per key: position of its value among the outputs (0-based)
    int *value_column;  // per measure: position of its value, of y before x, of the cell or of the digest; -1: all bring the same
    int people_column;  // position of the flag of group a, before that of b
    int count_column;   // position of count(*)
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

static void choose_columns(Projection *projection, bool keep_records) {
    const rows::Question *question = projection->question;
    for (int i = 0; i < question->leaf->nkeys; i++)
        if (question->key_columns[i] != InvalidAttrNumber)
            projection->columns = list_append_unique_int(projection->columns, question->key_columns[i]);
        else if (keep_records)
            collect_columns(question->keys[i], &projection->columns);
    if (!keep_records)
        return;
    for (int i = 0; i < question->leaf->naggregates; i++)
        if (question->arguments[i] != nullptr)
            projection->columns = list_append_unique_int(projection->columns, rows::argument_column(question, i));
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

// Lists what is read of a measure: y and x of two columns, the cell of a quantile, the digest of a counted value, else the value; NULL
// where the row brings nothing. NIL: each row brings the same.
static List *read_of_measure(const rows::Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    Node *filter = measure.filter < 0 ? nullptr : static_cast<Node *>(list_nth(question->filters, measure.filter));
    Node *argument = measure.argument < 0 ? nullptr : rows::argument_node(question, measure.calls.front());
    if (measure.kind == privacy::MeasureKind::count && !measure.of_values) {
        Node *there = argument == nullptr ? nullptr : rows::null_test(argument, IS_NOT_NULL);
        there = there == nullptr && filter == nullptr ? nullptr : rows::both(filter, there);
        return there == nullptr ? NIL : list_make1(rows::value_where(there, makeBoolConst(true, false)));
    }
    List *values = measure.of_values                                   ? list_make1(rows::value_digest(argument))
                   : measure.kind == privacy::MeasureKind::quantile ? list_make1(rows::cell_of_row(question, j))
                   : privacy::is_joint(measure.kind)                 ? query::joint_parts(argument)
                                                                     : list_make1(argument);
    ListCell *cell;
    if (filter != nullptr)
        foreach (cell, values)
            lfirst(cell) = rows::value_where(rows::another(filter), static_cast<Node *>(lfirst(cell)));
    return values;
}

// Values of columns that are shown are there already; others come once, however many measures read them.
static void add_values(Projection *projection) {
    const rows::Question *question = projection->question;
    List *read = NIL, *places = NIL;
    projection->value_column = static_cast<int *>(palloc0(sizeof(int) * (question->nmeasures + 1)));
    for (int j = 0; j < question->nmeasures; j++) {
        List *values = read_of_measure(question, j);
        auto *first = values == NIL ? nullptr : static_cast<Node *>(linitial(values));
        int *at = &projection->value_column[j];
        *at = values == NIL ? -1 : list_length(projection->query->targetList);
        if (list_length(values) == 1 && IsA(first, Var) &&
            list_member_int(projection->columns, castNode(Var, first)->varattno))
            *at = position_of(projection, castNode(Var, first)->varattno);
        ListCell *cell, *place;
        forboth(cell, read, place, places)
            if (equal(lfirst(cell), values))
                *at = lfirst_int(place);
        if (*at < list_length(projection->query->targetList))
            continue;
        read = lappend(read, values);
        places = lappend_int(places, *at);
        foreach (cell, values)
            add_group(projection->query, static_cast<Node *>(lfirst(cell)));
    }
}

static void add_people(Projection *projection) {
    projection->people_column = list_length(projection->query->targetList);
    if (projection->people.a == nullptr)
        return;
    add_group(projection->query, rows::truth_test(rows::another(projection->people.a), IS_TRUE));
    add_group(projection->query, rows::truth_test(rows::another(projection->people.b), IS_TRUE));
}

// Where a unit has one row at most its rows alone are people: the links, which are a part of the question's WHERE, say which.
static Node *all_people(const rows::Question *question) {
    return question->units == nullptr ? nullptr : question->units->links;
}

static Query *base_query(const rows::Question *question, Node *where) {
    return make_select(rows::table_entry(question),
                       make_and_qual(rows::another(where), rows::another(question->in_touched)));
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
    add_values(&projection);
    add_people(&projection);
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
struct Work {
    const rows::Question *question;
    Projection *projection;
    PeopleRead people;
    const rows::CellSite *site;  // adds values as the aggregates of the internal statement do
    privacy::int128 *change;     // of the record that is read
    privacy::CellCount *cells;
    // The group of the last record, where equality tells groups apart: the statement brings them group by group.
    MemoryContext key_context;
    NullableDatum *key; // per key
    FmgrInfo **compare; // per key
};
} // namespace

// Fills work->change and work->cells; returns how many cells there are.
static int read_change(Work *work, const Datum *values, const bool *nulls) {
    const rows::Question *question = work->question;
    int ncells = 0, first = 0, first_cell = 0;
    memset(work->change, 0, sizeof(privacy::int128) * question->ncoordinates);
    for (int j = 0; j < question->nmeasures; first += (*question->measures)[j++].coordinates()) {
        const privacy::Measure &measure = (*question->measures)[j];
        const rows::MeasureSite &site = work->site->measures[j];
        const int at = work->projection->value_column[j];
        const bool missing = at >= 0 && (nulls[at] || (privacy::is_joint(measure.kind) && nulls[at + 1]));
        if (measure.kind == privacy::MeasureKind::quantile) {
            if (!missing && DatumGetInt32(values[at]) >= 0)
                work->cells[ncells++] = {first_cell + DatumGetInt32(values[at]), 1};
            first_cell += question->grids[j]->cells;
        } else if (!missing && privacy::is_joint(measure.kind)) {
            Point both = {DatumGetFloat8(values[at]), DatumGetFloat8(values[at + 1])};
            (void)site.add(site, PointPGetDatum(&both), work->change + first);
        } else if (!missing && !measure.of_values)
            (void)site.add(site, at < 0 ? BoolGetDatum(true) : values[at], work->change + first);
    }
    return ncells;
}

// ---- groups of the records -----------------------------------------------------------------------------------------

static bool by_equality(const Work *work) {
    return work->question->leaf->nkeys > 0 &&
           !(work->people.calibration == privacy::Calibration::sound && !work->question->thresholded);
}

// Groups of the result: records with equal keys, by the equality that GROUP BY uses (1.0 and 1.00 are one group).
static void prepare_groups(Work *work) {
    const query::Leaf *leaf = work->question->leaf;
    if (!by_equality(work)) {
        work->people.memo->ngroups = leaf->nkeys == 0 ? 1 : work->question->ngroups;
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
    auto *keys = static_cast<Datum *>(palloc(sizeof(Datum) * work->question->leaf->nkeys));
    auto *key_nulls = static_cast<bool *>(palloc(work->question->leaf->nkeys));
    const query::Leaf *leaf = work->question->leaf;
    MemoryContextReset(work->key_context);
    MemoryContext old = MemoryContextSwitchTo(work->key_context);
    for (int k = 0; k < leaf->nkeys; k++) {
        int at = work->projection->key_column[k];
        TypeCacheEntry *type = lookup_type_cache(leaf->keys[k].type, 0);
        work->key[k].isnull = nulls[at];
        work->key[k].value = nulls[at] ? Datum(0) : datumCopy(values[at], type->typbyval, type->typlen);
        keys[k] = work->key[k].value;
        key_nulls[k] = nulls[at];
    }
    MemoryContextSwitchTo(old);
    keep_group_keys(work->people.memo, work->people.memo->ngroups, keys, key_nulls);
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
    Memo *memo = work->people.memo;
    if (memo->ngroups == 0 || !is_same_group(work, values, nulls)) {
        remember_group(work, values, nulls);
        memo->ngroups++;
    }
    return memo->ngroups - 1;
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

// Adds the values of the record that are counted once each.
static void add_counted(Work *work, int group, const Datum *values, const bool *nulls, int64 individuals) {
    const rows::Question *question = work->question;
    for (int j = 0, first = 0; j < question->nmeasures; first += (*question->measures)[j++].coordinates()) {
        const int at = work->projection->value_column[j];
        if ((*question->measures)[j].of_values && !nulls[at])
            add_value(&work->people, group, first, DatumGetPointer(values[at]), individuals);
    }
}

static void take_record(Work *work, Datum *values, bool *nulls) {
    const Projection *projection = work->projection;
    Memo *memo = work->people.memo;
    int64 individuals = DatumGetInt64(values[projection->count_column]);
    if (individuals == 0) // without columns to group by there is one row even if there are no records
        return;
    bool people = projection->people.a != nullptr;
    bool in_a = people && DatumGetBool(values[projection->people_column]);
    bool in_b = people && DatumGetBool(values[projection->people_column + 1]);
    if (int group = group_of(work, values, nulls); group >= 0) {
        const int ncells = read_change(work, values, nulls);
        add_part(&work->people, group, work->change, work->cells, ncells, individuals);
        add_counted(work, group, values, nulls, individuals);
    }
    end_person(&work->people, individuals, in_a, in_b);
    if (memo->kept != nullptr)
        tuplestore_putvalues(memo->kept, memo->desc, values, nulls);
}

// How many rows the table has follows from the statement where its scans tell; otherwise another one counts them.
static int64 read_records(Work *work) {
    const rows::Question *question = work->question;
    // Other nodes would count by running the statement under EXPLAIN ANALYZE, and would keep its plan.
    bool asked = question->where != nullptr && work->projection->people.a == nullptr && question->units == nullptr &&
                 !catalog::is_known_to_citus(question->settings->relation);
    return run_query(static_cast<Query *>(copyObject(work->projection->query)),
                     asked ? question->settings->relation : InvalidOid,
                     [work](const TupleTableSlot *row) { take_record(work, row->tts_values, row->tts_isnull); }, question->checked);
}

// Everybody, and the members of people's groups, whether or not the query's WHERE accepts them.
static void count_people(Work *work, int64 met) {
    Memo *memo = work->people.memo;
    const PeopleGroups &people = work->projection->people;
    memo->rows = met == not_known ? work->people.inside : met;
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
    memo->rows = Max(everybody, work->people.inside);
    memo->members_a = counts[1];
    memo->members_b = counts[2];
    memo->members_both = counts[3];
}

Memo *leave_one_out(const rows::Uncharged &right, privacy::Mechanism mechanism, privacy::Calibration calibration,
                    Detail detail, const PeopleGroups &people) {
    const rows::Question *question = right.question();
    rows::check_reader(question);
    check_units(question, Wanted{calibration, people.a != nullptr});
    if (rows::is_clipped(question))
        return leave_one_unit_out(right, mechanism, detail);
    Projection projection = project(question, detail >= Detail::records, people);
    auto *memo = static_cast<Memo *>(palloc0(sizeof(Memo)));
    memo->desc = describe(&projection);
    Work work = {};
    work.question = question;
    work.projection = &projection;
    work.people = begin_people(question, mechanism, calibration, memo, detail, share_of_memory());
    if (by_equality(&work))
        order_by_keys(&projection);
    memo->by_group = by_equality(&work);
    work.site = rows::site_of(question);
    work.change = static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * (question->ncoordinates + 1)));
    work.cells = static_cast<privacy::CellCount *>(palloc0(sizeof(privacy::CellCount) * (question->nmeasures + 1)));
    prepare_groups(&work);
    as_reader(question, [&] {
        count_people(&work, read_records(&work));
        memo->outside = memo->rows - work.people.inside;
        finish_people(&work.people);
    });
    return memo;
}

} // namespace dp::risk
