#include "rows/evaluate.hpp"

#include "border/permissions.hpp"
#include "border/scope.hpp"
#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "rows/caught.hpp"
#include "rows/engine.hpp"
#include "rows/reader.hpp"
#include "rows/selection_sums.hpp"
#include "rows/shown.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

// ---- building the statement ----------------------------------------------------------------------------------------

static Aggref *make_aggregate(Oid function, Oid result_type, List *arguments, Node *filter) {
    auto *call = makeNode(Aggref);
    call->aggfnoid = function;
    call->aggtype = result_type;
    call->aggtranstype = InvalidOid; // the planner fills it in
    call->aggstar = arguments == NIL;
    call->aggkind = AGGKIND_NORMAL;
    call->aggsplit = AGGSPLIT_SIMPLE;
    call->aggno = call->aggtransno = -1;
    call->location = -1;
    call->aggfilter = reinterpret_cast<Expr *>(filter);
    ListCell *cell;
    foreach (cell, arguments) {
        auto *argument = static_cast<Node *>(lfirst(cell));
        call->aggargtypes = lappend_oid(call->aggargtypes, exprType(argument));
        call->args = lappend(call->args, makeTargetEntry(reinterpret_cast<Expr *>(argument),
                                                         list_length(call->args) + 1, nullptr, false));
    }
    return call;
}

static Node *facts_constant(Datum facts) {
    return reinterpret_cast<Node *>(makeConst(BYTEAOID, -1, InvalidOid, -1, facts, false, false));
}

static Node *count_aggregate(Node *argument, Node *filter) {
    if (argument == nullptr)
        return reinterpret_cast<Node *>(make_aggregate(F_COUNT_, INT8OID, NIL, filter));
    return reinterpret_cast<Node *>(make_aggregate(F_COUNT_ANY, INT8OID, list_make1(argument), filter));
}

// An aggregate of ours: name(column, facts).
static Node *lattice_aggregate(const char *name, Oid result_type, Node *column, Node *facts, Node *filter) {
    Oid types[2] = {ANYOID, BYTEAOID};
    return reinterpret_cast<Node *>(
        make_aggregate(border::internal_function(name, 2, types), result_type, list_make2(column, facts), filter));
}

static Node *lattice_point(const char *name, Node *column, Node *facts) {
    Oid types[2] = {ANYOID, BYTEAOID};
    return reinterpret_cast<Node *>(makeFuncExpr(border::internal_function(name, 2, types), INT8OID,
                                                 list_make2(column, facts), InvalidOid, InvalidOid,
                                                 COERCE_EXPLICIT_CALL));
}

// COALESCE(sum(point), 0)
static Node *sum_of_points(Node *point, Node *filter) {
    auto *zero = makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(int64_to_numeric(0)), false, false);
    auto *choice = makeNode(CoalesceExpr);
    choice->coalescetype = NUMERICOID;
    choice->args = list_make2(make_aggregate(F_SUM_INT8, NUMERICOID, list_make1(point), filter), zero);
    choice->location = -1;
    return reinterpret_cast<Node *>(choice);
}

// The planner may write to the nodes that it is given: none stands in two places.
static Node *another(Node *node) {
    return static_cast<Node *>(copyObject(node));
}

static List *sum_columns(Node *column, const privacy::Bounds *bounds, Node *filter, bool elsewhere) {
    privacy::SumLattice lattice = border::core([&] { return privacy::sum_lattice(*bounds); });
    Node *facts = facts_constant(sum_facts(lattice));
    if (elsewhere)
        return list_make1(sum_of_points(lattice_point("sum_point", column, facts), filter));
    return list_make1(lattice_aggregate("lattice_sum", NUMERICOID, column, facts, filter));
}

static List *pair_columns(Node *column, const privacy::Bounds *bounds, Node *filter, bool elsewhere) {
    privacy::PairLattice lattice = border::core([&] { return privacy::pair_lattice(*bounds); });
    Node *facts = facts_constant(pair_facts(lattice));
    if (elsewhere) {
        Node *point = lattice_point("pair_point", column, facts);
        return list_make2(sum_of_points(point, filter), count_aggregate(another(point), another(filter)));
    }
    return list_make2(lattice_aggregate("lattice_pair", NUMERICOID, column, facts, filter),
                      lattice_aggregate("lattice_rows", INT8OID, another(column), another(facts), another(filter)));
}

// As many columns as the measure has coordinates: a count, a sum, or the pair's sum and count.
static List *measure_columns(const Question *question, int j, bool elsewhere) {
    const privacy::Measure &measure = (*question->measures)[j];
    auto *filter =
        measure.filter < 0 ? nullptr : static_cast<Node *>(copyObject(list_nth(question->filters, measure.filter)));
    if (measure.argument < 0)
        return list_make1(count_aggregate(nullptr, filter));
    auto *column = reinterpret_cast<Node *>(table_column(question, question->argument_columns[measure.calls.front()]));
    switch (measure.kind) {
    case privacy::MeasureKind::count:
        return list_make1(count_aggregate(column, filter));
    case privacy::MeasureKind::sum:
        return sum_columns(column, question->bounds[j], filter, elsewhere);
    case privacy::MeasureKind::pair:
        return pair_columns(column, question->bounds[j], filter, elsewhere);
    }
    pg_unreachable();
}

// CASE WHEN the filter holds THEN the argument END: NULL where the row does not contribute to the measure.
static Node *contribution(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    Node *value =
        measure.argument < 0
            ? makeBoolConst(true, false)
            : reinterpret_cast<Node *>(table_column(question, question->argument_columns[measure.calls.front()]));
    if (measure.filter < 0)
        return value;
    auto *when = makeNode(CaseWhen);
    when->expr = reinterpret_cast<Expr *>(copyObject(list_nth(question->filters, measure.filter)));
    when->result = reinterpret_cast<Expr *>(value);
    when->location = -1;
    auto *choice = makeNode(CaseExpr);
    choice->casetype = exprType(value);
    choice->casecollid = exprCollation(value);
    choice->args = list_make1(when);
    choice->defresult =
        reinterpret_cast<Expr *>(makeNullConst(choice->casetype, exprTypmod(value), choice->casecollid));
    choice->location = -1;
    return reinterpret_cast<Node *>(choice);
}

static Aggref *selection_aggregate(const Question *question, const Selection *selection) {
    Datum facts = selection_facts(question, selection->tested, selection->ntested);
    List *arguments = list_make1(facts_constant(facts));
    for (int j = 0; j < question->nmeasures; j++)
        arguments = lappend(arguments, contribution(question, j));
    Oid types[2] = {BYTEAOID, ANYOID};
    return make_aggregate(border::internal_function("selection_sums", 2, types), BYTEAOID, arguments, nullptr);
}

static void add_target(Query *query, Node *expression) {
    int number = list_length(query->targetList) + 1;
    query->targetList = lappend(query->targetList, makeTargetEntry(reinterpret_cast<Expr *>(expression), number,
                                                                   psprintf("c%d", number), false));
}

static Query *make_query(RangeTblEntry *entry, Node *where) {
    auto *query = makeNode(Query);
    query->commandType = CMD_SELECT;
    query->canSetTag = true;
    query->hasAggs = true;
    query->rtable = list_make1(entry);
    border::set_permission(query, entry, 0); // the facade's was checked; the statement runs as the table's owner
    auto *ref = makeNode(RangeTblRef);
    ref->rtindex = 1;
    query->jointree = makeFromExpr(list_make1(ref), where);
    return query;
}

// SELECT keys, measures [, selection_sums] FROM table WHERE ... GROUP BY keys
static Query *grouped_query(const Question *question, const Selection *selection) {
    Query *query = make_query(table_entry(question), static_cast<Node *>(copyObject(question->where)));
    for (int i = 0; i < question->leaf->nkeys; i++) {
        add_target(query, static_cast<Node *>(copyObject(question->keys[i])));
        auto *clause = copyObject(question->leaf->keys[i].clause);
        clause->tleSortGroupRef = i + 1;
        llast_node(TargetEntry, query->targetList)->ressortgroupref = i + 1;
        query->groupClause = lappend(query->groupClause, clause);
    }
    bool elsewhere = is_on_other_nodes(question->settings->relation);
    for (int j = 0; j < question->nmeasures; j++) {
        ListCell *cell;
        foreach (cell, measure_columns(question, j, elsewhere))
            add_target(query, static_cast<Node *>(lfirst(cell)));
    }
    if (selection != nullptr)
        add_target(query, reinterpret_cast<Node *>(selection_aggregate(question, selection)));
    return query;
}

// SELECT count(*) FROM table: n, which takes part in every variance.
static Query *row_count(const Question *question) {
    Query *query = make_query(table_entry(question), nullptr);
    add_target(query, count_aggregate(nullptr, nullptr));
    return query;
}

static TupleDesc describe(const Query *grouped) {
    TupleDesc desc = CreateTemplateTupleDesc(list_length(grouped->targetList));
    ListCell *cell;
    foreach (cell, grouped->targetList) {
        auto *target = lfirst_node(TargetEntry, cell);
        auto *expression = reinterpret_cast<Node *>(target->expr);
        TupleDescInitEntry(desc, target->resno, target->resname, exprType(expression), exprTypmod(expression), 0);
        TupleDescInitEntryCollation(desc, target->resno, exprCollation(expression));
    }
    return BlessTupleDesc(desc);
}

// ---- running it ----------------------------------------------------------------------------------------------------

// A partition may be attached after the check: a plan over other relations than those that were checked is not run.
static bool reads_only(const PlannedStmt *plan, const List *checked) {
    ListCell *cell;
    foreach (cell, plan->relationOids)
        if (!list_member_oid(checked, lfirst_oid(cell)))
            return false;
    return true;
}

// What a value of a row was stored as must not be needed to read it later: out-of-line values are fetched.
static DestReceiver *into(Tuplestorestate *store) {
    DestReceiver *receiver = CreateDestReceiver(DestTuplestore);
    SetTuplestoreDestReceiverParams(receiver, store, CurrentMemoryContext, true, nullptr, nullptr);
    return receiver;
}

// The rows of a statement into a store. False: it was not executed. The executor is called past the hooks of other
// extensions: the number of rows, and what auto_explain shows of the nodes below, are private (K6, C08).
static bool execute(Query *query, const List *checked, Tuplestorestate *store) {
    // No text: nothing of the caller's in the log.
    PlannedStmt *plan = pg_plan_query(query, "(dp_rdr)", CURSOR_OPT_PARALLEL_OK, nullptr);
    if (!reads_only(plan, checked))
        return false;
    border::forget_empty_permissions(plan);
    DestReceiver *receiver = into(store);
    QueryDesc *desc =
        CreateQueryDesc(plan, "(dp_rdr)", GetActiveSnapshot(), InvalidSnapshot, receiver, nullptr, nullptr, 0);
    standard_ExecutorStart(desc, 0);
    border::run_plan_unhooked(desc);
    standard_ExecutorFinish(desc);
    standard_ExecutorEnd(desc);
    FreeQueryDesc(desc);
    receiver->rDestroy(receiver);
    return true;
}

// ---- reading the result --------------------------------------------------------------------------------------------

void read_coordinates(const Question *question, const Datum *columns, privacy::int128 *values) {
    const Datum *column = columns + question->leaf->nkeys;
    for (int j = 0; j < question->nmeasures; j++, column++) {
        switch ((*question->measures)[j].kind) {
        case privacy::MeasureKind::count:
            *values++ = DatumGetInt64(*column);
            break;
        case privacy::MeasureKind::sum:
            *values++ = sum_of(*column);
            break;
        case privacy::MeasureKind::pair: {
            privacy::int128 s1 = sum_of(*column++);
            *values++ = s1;
            *values++ = DatumGetInt64(*column) * privacy::int128(privacy::pair_one) - s1;
            break;
        }
        }
    }
}

// Number of the declared group; -1: somebody's key that nobody declared, or that WHERE excludes, which changes nothing.
static int group_index(const Question *question, const Datum *keys, const bool *nulls) {
    int index = 0;
    for (int i = 0; i < question->leaf->nkeys; i++) {
        int at = question->domains[i].find(keys[i], nulls[i]);
        if (at < 0)
            return -1;
        index = index * question->domains[i].count + at;
    }
    return group_at_place(question, index);
}

static void add_to_selection(const Question *question, const Selection *selection, const TupleTableSlot *slot) {
    int column = question->leaf->nkeys + question->ncoordinates;
    if (selection == nullptr || slot->tts_isnull[column]) // the one group of no rows
        return;
    add_selection_sums(slot->tts_values[column], selection->sums,
                       selection_width(selection->tested->mechanism, selection->ntested));
}

static privacy::int128 *declared_sums(const Question *question, Tuplestorestate *store, TupleDesc desc,
                                      const Selection *selection) {
    auto *values =
        static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * question->ngroups * question->ncoordinates));
    // The data may have any number of groups that nobody declared, and comparing keys may copy them.
    MemoryContext per_group = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr group", ALLOCSET_DEFAULT_SIZES);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
    while (tuplestore_gettupleslot(store, true, false, slot)) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        MemoryContext old = MemoryContextSwitchTo(per_group);
        int group = group_index(question, slot->tts_values, slot->tts_isnull);
        if (group >= 0) {
            read_coordinates(question, slot->tts_values, values + static_cast<int64>(group) * question->ncoordinates);
            add_to_selection(question, selection, slot);
        }
        MemoryContextSwitchTo(old);
        MemoryContextReset(per_group);
    }
    ExecDropSingleTupleTableSlot(slot);
    MemoryContextDelete(per_group);
    return values;
}

// The points of the rows in all groups of the data; the store is read once more afterwards.
static void add_all_groups(const Question *question, const Selection *selection, Tuplestorestate *store,
                           TupleDesc desc) {
    MemoryContext per_group = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr group", ALLOCSET_DEFAULT_SIZES);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
    while (tuplestore_gettupleslot(store, true, false, slot)) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        MemoryContext old = MemoryContextSwitchTo(per_group);
        add_to_selection(question, selection, slot);
        MemoryContextSwitchTo(old);
        MemoryContextReset(per_group);
    }
    ExecDropSingleTupleTableSlot(slot);
    MemoryContextDelete(per_group);
    tuplestore_rescan(store);
}

// Everybody else has PIS 0: rows that the query rejects, and those whose key nobody declared.
static void add_the_others(const Selection *selection, int64 rows) {
    int width = selection_width(selection->tested->mechanism, selection->ntested);
    for (int j = 0; j < selection->ntested; j++) {
        privacy::SelectionSums *sums = &selection->sums[j];
        if (j >= width)
            *sums = selection->sums[0]; // complete by now
        else {
            privacy::int128 least = selection->tested[j].least, others = rows - sums->n;
            sums->s1 += others * least;
            sums->s2 += others * least * least;
            sums->n = rows;
        }
    }
}

static int64 only_count(Tuplestorestate *store, TupleDesc desc) {
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
    bool isnull = true;
    int64 count = 0;
    if (tuplestore_gettupleslot(store, true, false, slot))
        count = DatumGetInt64(slot_getattr(slot, 1, &isnull));
    ExecDropSingleTupleTableSlot(slot);
    if (isnull)
        elog(ERROR, "the internal statement returned no row count");
    return count;
}

// In a keeper the charge of what a selection has selected is a transaction of its own: what was read for it outlives that, and
// is ended by discard() alone.
static Sums begin_sums(const Query *grouped, const Selection *selection) {
    bool selects = selection != nullptr;
    return Sums{nullptr, tuplestore_begin_heap(selects, selects && is_keeper(), work_mem), describe(grouped)};
}

// Of an evaluation under way whose store outlives its transaction.
static Sums unfinished;

void discard_unfinished() {
    discard(&unfinished);
}

void discard(Sums *sums) {
    Tuplestorestate *store = sums->store;
    if (store == nullptr)
        return;
    sums->store = nullptr;
    if (unfinished.store == store)
        unfinished.store = nullptr;
    // What a spilled store wrote is not to be counted in pg_stat_database (C18). Not by a setting: those change within a
    // transaction alone, and a keeper discards between two. Closing raises nothing.
    bool counts = pgstat_track_counts;
    pgstat_track_counts = false;
    tuplestore_end(store);
    pgstat_track_counts = counts;
}

static void read_groups(const Question *question, const Selection *selection, Sums *sums) {
    if (!question->thresholded)
        sums->values = declared_sums(question, sums->store, sums->desc, selection);
    else if (selection != nullptr)
        add_all_groups(question, selection, sums->store, sums->desc);
}

// What the owner's rights are needed for. False: something was not executed.
static bool run_as_owner(const Question *question, Query *grouped, const List *checked, const Sums *sums,
                         Tuplestorestate *count) {
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    border::PathScope path = border::PathScope::enter();
    PushActiveSnapshot(GetActiveSnapshot());
    bool executed =
        (count == nullptr || execute(row_count(question), checked, count)) && execute(grouped, checked, sums->store);
    PopActiveSnapshot();
    path.leave();
    role.leave();
    return executed;
}

// From the statement to exact sums, caught as a whole. False: nothing was read.
static bool read_rows(const Question *question, const Selection *selection, Query *grouped, const List *checked,
                      Sums *sums) {
    Tuplestorestate *count = selection == nullptr ? nullptr : tuplestore_begin_heap(false, false, work_mem);
    TupleDesc count_desc = selection == nullptr ? nullptr : describe(row_count(question));
    if (!run_as_owner(question, grouped, checked, sums, count))
        return false;
    read_groups(question, selection, sums);
    if (selection != nullptr) {
        add_the_others(selection, only_count(count, count_desc));
        tuplestore_end(count);
    }
    if (!question->thresholded)
        discard(sums);
    return true;
}

// Where long values lie is locked before, whatever the rows hold: the lock that fetching one takes would show in pg_locks
// while it lasts, and might have to wait.
static void lock_long_values(const List *checked) {
    ListCell *cell;
    foreach (cell, checked) {
        Relation table = table_open(lfirst_oid(cell), AccessShareLock);
        Oid toast = table->rd_rel->reltoastrelid;
        table_close(table, NoLock);
        if (!OidIsValid(toast))
            continue;
        Relation values = table_open(toast, AccessShareLock);
        ListCell *index;
        foreach (index, RelationGetIndexList(values))
            LockRelationOid(lfirst_oid(index), AccessShareLock);
        table_close(values, NoLock);
    }
}

// What was checked when the question was resolved, once more: the charge took its time.
static const List *check_table(const Question *question) {
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    const List *checked = catalog::check_protectable(question->settings->relation);
    lock_long_values(checked);
    role.leave();
    settings.leave();
    return checked;
}

Sums evaluate(const Question *question, const Selection *selection) {
    check_reader(question);
    Query *grouped = grouped_query(question, selection);
    Sums sums = begin_sums(grouped, selection); // outlives the subtransaction of `caught`
    if (selection != nullptr && is_keeper())
        unfinished = sums;
    const List *checked = check_table(question);
    bool read = false;
    caught(question, [&] { read = read_rows(question, selection, grouped, checked, &sums); });
    if (!read)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("partitions of %s changed while it was asked", question->settings->relation_name),
                        errhint("Its charge stays. Ask again.")));
    unfinished.store = nullptr;
    return sums;
}

} // namespace dp::rows
