// Implements dp_explain: whether a statement would be answered, what its leaves would cost, how accurate the answers would be. Whether
// a bound would deny it now follows from the public account, as if the leaves were charged in order. Another session's charge may
// come in between.
#include <cmath>

#include "sql/explain_page.hpp"

#include "rows/unit_checks.hpp"
#include "sql/call_arguments.hpp"
#include "sql/refusal.hpp"
#include "sql/result_rows.hpp"
#include "sql/told.hpp"

namespace dp::sql {

static const char *selection_reason(const release::Estimate &estimate) {
    return psprintf("epsilon is selected when the query is asked: at most %s, and %s for the selection",
                    printed(estimate.epsilon), printed(estimate.selection));
}

// Returns what an analyst should know about an answer that would be given, or null.
static const char *advice(const Verdict &verdict) {
    if (verdict.used)
        return groups_used_reason;
    if (verdict.estimate.filtered >= 2)
        return psprintf("%d FILTERs share epsilon: if no row meets two, GROUP BY %s costs as much as one",
                        verdict.estimate.filtered,
                        verdict.cases ? "a CASE of them, or a column with declared groups,"
                                      : "a column with declared groups");
    StringInfo text = makeStringInfo();
    for (const char *one : {verdict.beyond, text_of_dates(verdict.style), verdict.narrowed, verdict.lacks_null,
                            verdict.clipped})
        if (one != nullptr)
            appendStringInfo(text, "%s%s", text->len > 0 ? "; " : "", one);
    return text->len > 0 ? text->data : nullptr;
}

static const char *reason_of(const Verdict &verdict) {
    if (verdict.estimate.denied)
        return verdict.estimate.priced || verdict.estimate.note == nullptr ? "query denied" : verdict.estimate.note;
    return verdict.estimate.note != nullptr ? verdict.estimate.note : advice(verdict);
}

// Shows the unit, and how much of one counts: as declared, or as asked for.
static void set_units(const ResultRows &rows, const Verdict &verdict) {
    const rows::Units *units = verdict.units;
    if (units == nullptr)
        return;
    rows.set("unit", rows::unit_text(units->path));
    rows.set("max_rows", units->max_rows);
    rows.set("max_groups", units->max_groups);
    if (verdict.rows_per_group > 0)
        rows.set("max_rows_per_group", verdict.rows_per_group);
}

static void set_number(const ResultRows &rows, const char *column, double number) {
    if (!std::isnan(number))
        rows.set(column, number);
}

static void set_estimate(const ResultRows &rows, const Verdict &verdict, int column) {
    const release::Estimate &estimate = verdict.estimate;
    set_units(rows, verdict);
    if (verdict.cells != nullptr)
        rows.set("cells", verdict.cells);
    if (!verdict.known || estimate.from_data) {
        rows.set("reason", verdict.known ? "depends on the data" : "depends on how the statement is executed");
        return;
    }
    rows.set("accepted", !estimate.denied);
    rows.set("reason", reason_of(verdict));
    rows.set("mechanism", verdict.mechanism);
    if (!estimate.priced)
        return;
    rows.set("delta", estimate.delta);
    if (estimate.selected) {
        rows.set("reason", selection_reason(estimate));
        return;
    }
    if (!estimate.measured)
        rows.set("epsilon", estimate.epsilon);
    rows.set("rho", estimate.rho);
    if (estimate.threshold > 0)
        rows.set("threshold", static_cast<int64>(estimate.threshold));
    set_number(rows, "posterior50", estimate.posterior50);
    set_number(rows, "advantage_max", estimate.advantage);
    if (!verdict.used)
        set_number(rows, "error95", estimate.error95[column]);
}

static void put_leaf(const ResultRows &rows, int number, const Call *call, const char *refusal,
                     const Verdict &verdict) {
    for (int i = 0; i < call->ncolumns; i++) {
        rows.set("leaf", number);
        rows.set("column_name", call->names[i]);
        if (refusal == nullptr)
            set_estimate(rows, verdict, i);
        else {
            rows.set("accepted", false);
            rows.set("reason", refusal);
        }
        rows.put();
    }
}

// Reads the size that every value is taken to have; null: not given.
static const double *magnitude_argument(FunctionCallInfo fcinfo, int argument, double *magnitude) {
    if (PG_ARGISNULL(argument))
        return nullptr;
    *magnitude = PG_GETARG_FLOAT8(argument);
    if (!std::isfinite(*magnitude))
        refuse_value(psprintf("magnitude must be finite, not %s", float8out_internal(*magnitude)),
                     "It is the number that the cost is computed for: magnitude => 1000.");
    return magnitude;
}

DP_CALL(dp_explain) {
    require(fcinfo, 0, "query");
    const char *text = text_argument(fcinfo, 0);
    query::Request request = {};
    require(fcinfo, {9});
    epsilon_argument(fcinfo, 8, &request);
    request.weight = checked_weight(PG_GETARG_FLOAT8(9), "weight");
    request.wanted = wanted_arguments(fcinfo, 1);
    request.limits = asked_limits(fcinfo, 5);
    double magnitude_given;
    const double *magnitude = magnitude_argument(fcinfo, 4, &magnitude_given);
    const ResultRows rows(fcinfo);
    List *calls = NIL;
    const char *refusal = refusal_of([&] { calls = find_leaves(text, &request); });
    if (refusal != nullptr) {
        rows.set("accepted", false);
        rows.set("reason", refusal);
        rows.put();
        return Datum(0);
    }
    List *earlier = NIL, *asked = NIL;
    ListCell *cell;
    foreach (cell, calls) {
        auto *call = static_cast<Call *>(lfirst(cell));
        Verdict verdict = {};
        auto *charge = static_cast<release::Earlier *>(palloc0(sizeof(release::Earlier)));
        refusal = refusal_of([&] { explain_leaf(call, earlier, asked, magnitude, &verdict, charge); });
        put_leaf(rows, foreach_current_index(cell) + 1, call, refusal, verdict);
        if (refusal != nullptr || !verdict.known || verdict.estimate.from_data || verdict.estimate.denied ||
            verdict.uncharged)
            continue;
        earlier = lappend(earlier, charge);
        if (verdict.replayable != Datum{0})
            asked = lappend(asked, DatumGetPointer(verdict.replayable));
    }
    return Datum(0);
}

} // namespace dp::sql
