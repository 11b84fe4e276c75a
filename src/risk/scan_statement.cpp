#include "risk/scan_statement.hpp"

#include "border/hooks.hpp"
#include "border/permissions.hpp"
#include "catalog/foreign_part.hpp"
#include "query/limits.hpp"
#include "rows/engine.hpp"
#include "rows/foreign_partitions.hpp"
#include "rows/nodes.hpp"

namespace dp::risk {

// ---- making --------------------------------------------------------------------------------------------------------

Query *make_select(RangeTblEntry *entry, Node *where) {
    Query *query = rows::make_aggregation(entry, where);
    query->hasAggs = false;
    return query;
}

void add_group(Query *query, Node *expression) {
    query::check_columns(list_length(query->targetList) + 1);
    rows::group_by(query, list_make1(expression), true);
}

// ---- rows that the scans met -----------------------------------------------------------------------------------------

namespace {
struct Met {
    const List *parts; // oid: where the table's rows are
    List *seen;        // of these
    List *entries;     // range table
    int64 rows;
};
} // namespace

static List *parts_with_rows(Oid table) {
    List *parts = NIL;
    ListCell *cell;
    foreach (cell, find_all_inheritors(table, NoLock, nullptr))
        if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_TABLE)
            parts = lappend_oid(parts, lfirst_oid(cell));
    return parts;
}

// Adds the rows that a scan met: ntuples, which passed its condition, and nfiltered1, which did not. They are those of the leader and,
// when Gather has ended, of all its workers. Each part is scanned once, and to its end: nothing above it stops early or starts again.
static bool add_scan(PlanState *state, Met *met) {
    Oid part = rt_fetch(reinterpret_cast<Scan *>(state->plan)->scanrelid, met->entries)->relid;
    Instrumentation *counted = state->instrument;
    if (!list_member_oid(met->parts, part) || list_member_oid(met->seen, part))
        return false;
    InstrEndLoop(counted);
    if (counted->nloops < 1)
        return false;
    met->seen = lappend_oid(met->seen, part);
    met->rows += static_cast<int64>(counted->ntuples + counted->nfiltered1);
    return true;
}

static bool add_scans(PlanState *state, Met *met);

static bool add_all(PlanState **states, int n, Met *met) {
    for (int i = 0; i < n; i++)
        if (!add_scans(states[i], met))
            return false;
    return true;
}

// The closed list of shapes that tell. Joins may leave a side before its end, a Result with a condition may not begin its
// input, and what is pruned while it runs is not read.
static bool add_scans(PlanState *state, Met *met) {
    if (state == nullptr || state->instrument == nullptr)
        return false;
    check_stack_depth();
    switch (nodeTag(state)) {
    case T_SeqScanState:
        return add_scan(state, met);
    case T_AggState:
    case T_GroupState:
    case T_SortState:
    case T_IncrementalSortState:
    case T_WindowAggState:
    case T_GatherState:
    case T_GatherMergeState:
        return add_scans(outerPlanState(state), met);
    case T_ResultState:
        return castNode(Result, state->plan)->resconstantqual == nullptr && add_scans(outerPlanState(state), met);
    case T_SubqueryScanState:
        return add_scans(castNode(SubqueryScanState, state)->subplan, met);
    case T_AppendState: {
        auto *append = castNode(AppendState, state);
        return append->as_prune_state == nullptr && add_all(append->appendplans, append->as_nplans, met);
    }
    case T_MergeAppendState: {
        auto *append = castNode(MergeAppendState, state);
        return append->ms_prune_state == nullptr && add_all(append->mergeplans, append->ms_nplans, met);
    }
    default:
        return false;
    }
}

static int64 rows_met(QueryDesc *desc, Oid table) {
    Met met = {parts_with_rows(table), NIL, desc->plannedstmt->rtable, 0};
    bool known = add_scans(desc->planstate, &met) && list_length(met.seen) == list_length(met.parts);
    return known ? met.rows : not_known;
}

// ---- running -------------------------------------------------------------------------------------------------------

// A partition may be attached behind the check, with code of anybody's in it. Of class 55P03, since nothing of a row is to
// blame: who asked is not suspended.
static void check_reads_only(const PlannedStmt *plan, const List *checked) {
    if (checked != NIL && !border::reads_only(plan, checked))
        ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                        errmsg("partitions of %s changed while it was asked", get_rel_name(linitial_oid(checked))),
                        errhint("Ask again.")));
}

// Groups the rows of foreign partitions where they are kept, if that can be said there; else they are fetched, for their owner.
static PlannedStmt *plan_of(Query *query, const List *checked) {
    const bool of_table = list_length(query->rtable) == 1 && rt_fetch(1, query->rtable)->rtekind == RTE_RELATION;
    PlannedStmt *plan = nullptr;
    if (of_table && query->hasAggs && catalog::has_foreign_table(checked))
        plan = rows::plan_over_parts(query, checked);
    return plan == nullptr ? rows::plan(query, CURSOR_OPT_PARALLEL_OK) : plan;
}

static int64 execute(Query *query, Oid table, DestReceiver *receiver, const List *checked) {
    PlannedStmt *plan = plan_of(query, checked);
    check_reads_only(plan, checked);
    bool asked = OidIsValid(table);
    QueryDesc *desc = border::run_unhooked(plan, receiver, nullptr, nullptr, asked ? INSTRUMENT_ROWS : 0);
    int64 met = asked ? rows_met(desc, table) : not_known;
    border::end_unhooked(desc);
    return met;
}

// Where the rows are counted each part must be read, whatever the conditions say about it. The setting goes with the
// SettingsScope around the statement.
static void read_all_parts() {
    set_config_option("enable_partition_pruning", "off", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

int64 run_query(Query *query, Oid table, rows::TakeRow take, void *context, const List *checked) {
    MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr statement", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(memory);
    if (OidIsValid(table))
        read_all_parts();
    int64 met = execute(query, table, rows::taker_of(take, context), checked);
    MemoryContextSwitchTo(old);
    MemoryContextDelete(memory);
    return met;
}

Query *expanded(const Query *query) {
    auto *copy = static_cast<Query *>(copyObjectImpl(query));
    AcquireRewriteLocks(copy, true, false);
    return linitial_node(Query, QueryRewrite(copy));
}

void run_again(PlannedStmt *plan, ParamListInfo parameters, rows::TakeRow take, void *context) {
    MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr statement", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(memory);
    border::end_unhooked(border::run_unhooked(plan, rows::taker_of(take, context), parameters));
    MemoryContextSwitchTo(old);
    MemoryContextDelete(memory);
}

void run_counts(Query *query, int64 *counts, const List *checked) {
    const int n = list_length(query->targetList);
    const auto take = [&](const TupleTableSlot *row) {
        for (int i = 0; i < n; i++)
            counts[i] = DatumGetInt64(row->tts_values[i]);
    };
    run_query(query, InvalidOid, take, checked);
}

} // namespace dp::risk
