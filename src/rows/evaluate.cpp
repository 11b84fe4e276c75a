#include "rows/evaluate.hpp"

#include "border/each.hpp"
#include "border/stored_rows.hpp"
#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "rows/guarded_read.hpp"
#include "rows/cell_calls.hpp"
#include "rows/engine.hpp"
#include "rows/from_clause.hpp"
#include "rows/partition_union.hpp"
#include "rows/population.hpp"
#include "rows/nodes.hpp"
#include "rows/pinned.hpp"
#include "rows/quantiles.hpp"
#include "rows/may_read.hpp"
#include "rows/foreign_partitions.hpp"
#include "rows/shard_parts.hpp"
#include "rows/sources.hpp"
#include "rows/run_plan.hpp"
#include "rows/unit_sums.hpp"
#include "rows/units.hpp"

namespace dp::rows {

// ---- building the statement ----------------------------------------------------------------------------------------

static void add_targets(Query *query, const List *expressions) {
    for (auto *one : border::each<Node>(expressions))
        add_target(query, one);
}

static void add_keys(Query *query, const Question *question, Node *among) {
    for (int i = 0; i < question->leaf->nkeys; i++) {
        Node *key = another(question->keys[i]);
        add_target(query, among == nullptr ? key : value_where(another(among), key));
        group_by_last(query, copyObject(question->leaf->keys[i].clause));
    }
}

// The last column where everybody is asked about: how many rows there are, or, with keys, whether those of the group are in
// the answer. Those that are not make a group of their own.
static void add_everybody(Query *query, const Question *question) {
    if (question->leaf->nkeys == 0)
        add_target(query, count_aggregate(nullptr, nullptr));
    else if (question->where != nullptr)
        group_by(query, list_make1(truth_test(another(question->where), IS_TRUE)), true);
}

// SELECT keys, measures [, selection] FROM table WHERE ... GROUP BY keys. Where a selection counts everybody (by_points)
// WHERE leaves nobody out, but is a condition of the measures or of the keys.
static Query *grouped_query(const Question *question, const Selection *selection) {
    bool everybody = selection != nullptr && question->by_points;
    Node *among = everybody ? question->where : nullptr, *of_measures = question->leaf->nkeys == 0 ? among : nullptr;
    // A histogram has room for all its cells: where groups are declared there is none for other keys.
    Node *where = has_quantile(question) ? where_declared(question) : question->where;
    Query *query = select_from_sources(question, everybody ? nullptr : where);
    add_keys(query, question, among);
    add_targets(query, cell_columns(question, of_measures));
    if (selection != nullptr)
        add_targets(query, selection_columns(question, selection, of_measures));
    if (everybody)
        add_everybody(query, question);
    return query;
}

// SELECT count(*) FROM table: n, which takes part in every variance. A row without a unit is nobody's.
static Query *row_count(const Question *question) {
    Query *query = select_from_sources(question, question->units == nullptr ? nullptr : question->units->links);
    add_target(query, count_aggregate(nullptr, nullptr));
    return query;
}

// ---- running it ----------------------------------------------------------------------------------------------------

// Null: it would fetch rows of other servers.
static PlannedStmt *plan_statement(Query *query, const List *checked) {
    return catalog::has_foreign_table(checked) ? plan_over_parts(query, checked) : plan(query, CURSOR_OPT_PARALLEL_OK);
}

// Fetches out-of-line values: nothing that a row was stored as is needed to read it later.
static DestReceiver *into(Tuplestorestate *store) {
    DestReceiver *receiver = CreateDestReceiver(DestTuplestore);
    SetTuplestoreDestReceiverParams(receiver, store, CurrentMemoryContext, true, nullptr, nullptr);
    return receiver;
}

// The rows of a statement to where they are wanted. False: it was not executed.
static bool execute(Query *query, const List *checked, DestReceiver *receiver) {
    PlannedStmt *plan = plan_statement(query, checked);
    return plan != nullptr && run_plan(plan, checked, receiver);
}

// ---- reading the result --------------------------------------------------------------------------------------------

void read_coordinates(const Question *question, const Datum *columns, privacy::int128 *values, int64 *cells) {
    if (is_clipped(question))
        read_unit_sums(question, columns, values, cells);
    else
        read_cells(question, columns, values, cells);
}

static privacy::int128 *declared_sums(const Question *question, Tuplestorestate *store, TupleDesc desc,
                                      const Selection *selection, int64 *cells) {
    auto *values = zeroed<privacy::int128>(question->ngroups * question->ncoordinates);
    border::each_row_in_scratch(store, desc, [&](const TupleTableSlot *slot) {
        int group = declared_group(question, slot->tts_values, slot->tts_isnull);
        if (group >= 0) {
            read_cells(question, slot->tts_values, values + static_cast<int64>(group) * question->ncoordinates,
                       cells + static_cast<int64>(group) * question->ncells);
            if (selection != nullptr)
                add_selection(question, selection, slot->tts_values);
        }
    });
    return values;
}

// In a keeper the charge of what a selection has selected is a transaction of its own: what was read for it outlives that, and
// is ended by discard() alone.
static Sums begin_sums(TupleDesc desc, const Selection *selection) {
    bool selects = selection != nullptr;
    return Sums{nullptr, tuplestore_begin_heap(selects, selects && is_keeper(), work_mem), desc, nullptr};
}

// Holds the sums of an evaluation under way whose store outlives its transaction.
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
    // Nothing that a spilled store wrote is to be counted in pg_stat_database (C18). Not by a setting: those change within a
    // transaction alone, and a keeper discards between two. Closing raises nothing.
    bool counts = pgstat_track_counts;
    pgstat_track_counts = false;
    tuplestore_end(store);
    pgstat_track_counts = counts;
}

static void read_groups(const Question *question, const Selection *selection, Sums *sums) {
    if (!question->thresholded) {
        sums->cells = zeroed<int64>(question->ngroups * question->ncells + 1);
        sums->values = declared_sums(question, sums->store, sums->desc, selection, sums->cells);
    } else if (selection !=
               nullptr) { // the points of the rows in all groups of the data; it is read once more afterwards
        border::each_row_in_scratch(sums->store, sums->desc,
                       [&](const TupleTableSlot *slot) { add_selection(question, selection, slot->tts_values); });
        tuplestore_rescan(sums->store);
    }
}

// Counts the people: rows of cells that are charged, where these are a person each; those with a row, where other servers keep some.
static bool count_rows(const Question *question, const List *checked, int64 *rows) {
    if (question->units != nullptr && question->touched == nullptr && !question->remote)
        return count_units(question, checked, rows);
    PlannedStmt *plan = plan_statement(row_count(question), checked);
    return plan != nullptr && for_each_row(plan, checked, [rows](const TupleTableSlot *row) {
               *rows += DatumGetInt64(row->tts_values[0]);
           });
}

// Where each node answers for its rows at a moment of its own the statement itself has how many there are, so that they are in all of its
// numbers or in none. A column may tell who is in the answer: the others are only counted.
static bool run_and_count(const Question *question, Query *grouped, const List *checked, const Sums *sums, int64 *rows) {
    const int last = sums->desc->natts - 1, nkeys = question->leaf->nkeys;
    const int count = nkeys == 0 ? last : nkeys + number_of_cell_columns(question);
    const int mark = nkeys == 0 || question->where == nullptr ? -1 : last;
    PlannedStmt *plan = plan_statement(grouped, checked);
    DestReceiver *store = into(sums->store);
    store->rStartup(store, CMD_SELECT, sums->desc);
    const bool executed = plan != nullptr && for_each_row(plan, checked, [&](TupleTableSlot *row) {
                              *rows += DatumGetInt64(row->tts_values[count]);
                              if (mark < 0 || DatumGetBool(row->tts_values[mark]))
                                  store->receiveSlot(row, store);
                          });
    store->rShutdown(store);
    store->rDestroy(store);
    return executed;
}

// Elsewhere one snapshot serves two statements.
static bool run_selection(const Question *question, Query *grouped, const List *checked, const Sums *sums, int64 *rows) {
    return question->by_points
               ? run_and_count(question, grouped, checked, sums, rows)
               : count_rows(question, checked, rows) && execute(grouped, checked, into(sums->store));
}

// Does some work with the owner's rights.
template <class Work> static void as_owner(const Question *question, Work &&work) {
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    border::PathScope path = border::PathScope::enter();
    pin_nodes(question->settings->relation);
    PushActiveSnapshot(GetActiveSnapshot());
    work();
    PopActiveSnapshot();
    path.leave();
    role.leave();
}

// From the statement, of rows or units, to exact sums, caught as a whole. False: nothing was read.
static bool read_rows(const MayRead &right, const Selection *selection, Query *grouped, const List *checked, Sums *sums) {
    const Question *question = right.question();
    int64 people = 0; // for a selection
    bool executed = false;
    as_owner(question, [&] {
        if (grouped == nullptr)
            executed = sum_units(right, checked, selection, sums) &&
                       (selection == nullptr || count_rows(question, checked, &people));
        else
            executed = selection == nullptr ? execute(grouped, checked, into(sums->store))
                                            : run_selection(question, grouped, checked, sums, &people);
    });
    if (!executed)
        return false;
    if (grouped != nullptr)
        read_groups(question, selection, sums);
    if (selection != nullptr)
        add_the_others(selection, people);
    if (!question->thresholded)
        discard(sums);
    return true;
}

// Checks the tables once more, as when the question was resolved.
static const List *check_tables(const Question *question) {
    return pinned_as(question->settings->owner, [question] {
        const List *checked = check_sources(question);
        // Fetching a long value would lock its table when a row has one; and what came behind the charge is locked in order.
        (void)lock_opened(checked);
        return checked;
    });
}

// A foreign partition that is attached behind the charge was not asked whether its server is there and fits.
static bool all_were_asked(const Question *question, const List *checked) {
    for (Oid oid : border::each_oid(checked))
        if (catalog::is_foreign_table(oid) && !list_member_oid(question->checked, oid))
            return false;
    return true;
}

// Nothing was read: a keeper looks again at what is there now, by this SQLSTATE.
[[noreturn]] static void refuse_changed(const Question *question) {
    ereport(ERROR, (errcode(is_keeper() ? ERRCODE_T_R_SERIALIZATION_FAILURE : ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("partitions of %s changed while it was asked", question->settings->relation_name),
                    errhint("Its charge stays. Ask again.")));
    pg_unreachable();
}

static Sums evaluate(const MayRead &right, const Selection *selection) {
    const Question *question = right.question();
    check_reader(question);
    const List *checked = check_tables(question);
    const bool units = is_clipped(question);
    Query *grouped = units ? nullptr : grouped_query(question, selection);
    Sums sums = {}; // outlives the subtransaction of `caught`
    if (!units || question->thresholded)
        sums = begin_sums(units ? describe_unit_sums(question) : BlessTupleDesc(ExecTypeFromTL(grouped->targetList)), selection);
    if (selection != nullptr && is_keeper())
        unfinished = sums;
    bool read = all_were_asked(question, checked);
    if (read)
        caught(question, [&] { read = read_rows(right, selection, grouped, checked, &sums); });
    if (!read)
        refuse_changed(question);
    unfinished.store = nullptr;
    return sums;
}

Sums evaluate(const Paid &paid) {
    return evaluate(paid, nullptr);
}

Sums evaluate(const OwnRows &own) {
    return evaluate(own, nullptr);
}

Sums evaluate(const PaidSelection &paid, const Selection &selection) {
    return evaluate(paid, &selection);
}

void count_rows_of_units(const Paid &paid, privacy::UnitRows *rows) {
    const Question *question = paid.question();
    check_reader(question);
    const List *checked = check_tables(question);
    bool read = false;
    caught(question, [&] { as_owner(question, [&] { read = for_each_row_count(paid, checked, rows); }); });
    if (!read)
        refuse_changed(question);
}

void check_remote_parts(const Question *question, const Selection *selection) {
    if (is_clipped(question) && question->by_points)
        return check_pushed_down(question, statement_of_parts);
    if (question->remote)
        check_remote_parts(question, grouped_query(question, selection));
}

} // namespace dp::rows
