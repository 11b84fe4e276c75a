// What an analyst has: dp_about and dp_remaining. All of it follows from declarations, from his own policy and from the public account
// (formulas.md 4.1): nothing is charged, no private row is read, and no amount that was chosen from the data has a part in it.
#include <cmath>

#include "border/versions.hpp"
#include "catalog/decimals.hpp"
#include "catalog/facade.hpp"
#include "query/shape.hpp"
#include "rows/asked_units.hpp"
#include "sql/arguments.hpp"
#include "sql/budget.hpp"
#include "sql/explain.hpp"
#include "sql/refusal.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

// ---- how often -----------------------------------------------------------------------------------------------------

namespace {
// How often a statement would be answered. No number: why there is none.
struct Left {
    bool known;
    int64 answers;
    const char *reason;
};

// A leaf that would be charged, and whose sums it moves.
struct Charged {
    release::Earlier charge;
    privacy::Repeated repeated;
    bool once; // asked again it gets the answer that was paid
};

// The leaves of a statement.
struct Round {
    List *charged;    // Charged *
    List *asked;      // keys of those that would be stored
    const char *free; // why the last one that costs nothing does not
};
} // namespace

constexpr char nothing_bounds[] = "nothing bounds it", no_epsilon[] = "no epsilon meets the preference";

static query::Request request_of(bool fresh) {
    query::Request request = {};
    request.weight = 1;
    request.wanted.deviations = 1;
    request.anew = fresh;
    return request;
}

// The leaf goes into *round; a reason: the statement has no price that is the same each time, or none at all.
static Left leaf_left(Call *call, Round *round) {
    Verdict verdict = {};
    auto *charged = static_cast<Charged *>(palloc0(sizeof(Charged)));
    const char *refusal =
        refusal_of([&] { explain_leaf(call, NIL, round->asked, nullptr, &verdict, &charged->charge); });
    if (refusal != nullptr)
        return Left{true, 0, refusal};
    if (!verdict.known)
        return Left{false, 0, "depends on how the statement is executed"};
    const release::Estimate &estimate = verdict.estimate;
    if (verdict.uncharged) {
        round->free = estimate.note;
        return Left{};
    }
    if (estimate.from_data)
        return Left{false, 0, "depends on the data"};
    if (estimate.selects)
        return Left{false, 0, "epsilon is selected when the query is asked"};
    if (!estimate.priced)
        return Left{true, 0, no_epsilon};
    charged->repeated = estimate.standing;
    charged->once = verdict.replayable != Datum{0};
    round->charged = lappend(round->charged, charged);
    if (charged->once)
        round->asked = lappend(round->asked, DatumGetPointer(verdict.replayable));
    return Left{};
}

// Leaves over one table move the same sums, those under one policy on it the same share.
static void number_sums(List *charges) {
    for (int i = 0; i < list_length(charges); i++) {
        auto *charged = static_cast<Charged *>(list_nth(charges, i));
        charged->repeated.table = charged->repeated.grantee = i;
        for (int j = i - 1; j >= 0; j--) {
            auto *other = static_cast<const Charged *>(list_nth(charges, j));
            if (other->charge.relation != charged->charge.relation)
                continue;
            charged->repeated.table = other->repeated.table;
            if (strcmp(other->charge.grantee, charged->charge.grantee) == 0)
                charged->repeated.grantee = other->repeated.grantee;
        }
    }
}

static bool all_are_given_again(const List *charges) {
    ListCell *cell;
    foreach (cell, charges)
        if (!static_cast<const Charged *>(lfirst(cell))->once)
            return false;
    return true;
}

static Left count_rounds(List *charges) {
    number_sums(charges);
    bool bounded = true;
    int64 rounds = 0;
    const char *words = nullptr;
    border::core([&] {
        std::vector<privacy::Repeated> round;
        for (int i = 0; i < list_length(charges); i++) // cannot raise
            round.push_back(static_cast<const Charged *>(list_nth(charges, i))->repeated);
        const privacy::Remaining left = privacy::remaining(round);
        const privacy::Repeated &end = round[left.denied];
        bounded = left.bounded;
        rounds = left.rounds;
        words = privacy::words_for(left.denial, end.bound, end.bound.basis_of(end.cost.pure), end.profile.has_value());
    });
    if (bounded && rounds > 0 && all_are_given_again(charges))
        return Left{false, 0, "the first answer is given again"};
    return bounded ? Left{true, rounds, words} : Left{false, 0, nothing_bounds};
}

// fresh: each time a new draw, also under a policy with a replay.
static Left answers_left(const char *text, bool fresh) {
    const query::Request request = request_of(fresh);
    List *calls = NIL;
    Round round = {};
    const char *refusal = refusal_of([&] { calls = find_leaves(text, &request); });
    if (refusal != nullptr)
        return Left{true, 0, refusal};
    Left unpriced = {};
    ListCell *cell;
    foreach (cell, calls) {
        Left left = leaf_left(static_cast<Call *>(lfirst(cell)), &round);
        if (left.known) // it is not answered at all
            return left;
        if (left.reason != nullptr)
            unpriced = left;
    }
    if (unpriced.reason != nullptr)
        return unpriced;
    if (round.charged == NIL)
        return Left{false, 0, round.free == nullptr ? "nothing is charged" : round.free};
    return count_rounds(round.charged);
}

DP_CALL(dp_remaining) {
    require(fcinfo, 0, "query");
    TupleDesc desc;
    if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "dp_remaining returns a row");
    Left left = answers_left(text_argument(fcinfo, 0), false);
    Datum values[2] = {Int64GetDatum(left.answers), CStringGetTextDatum(left.reason)};
    bool nulls[2] = {!left.known, false};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

// ---- all on one page -----------------------------------------------------------------------------------------------

namespace {
struct Page {
    const ResultRows &rows;
    const catalog::Settings *settings;
    const catalog::Policy *policy;

    void put(const char *item, const char *name, const char *value) const { rows.put({item, name, value}); }
};
} // namespace

template <int Places> static const char *printed(privacy::Decimal<Places> value) {
    return catalog::numeric_text(catalog::to_numeric(value));
}

// Statements on the catalog: $1 is the view, $2 its table, $3 the types of the view's columns. Of groups as many are shown as fit on a line.
static const char *const columns_sql = R"sql(
SELECT 'column', a.attname, concat_ws(', ', ($3::text[])[a.attnum],
       'from ' || dp_rdr.bound_text(b.lower, a.atttypid, false) || ' to ' || dp_rdr.bound_text(b.upper, a.atttypid, false), (
         SELECT max(k.head) || string_agg(k.key, ', ' ORDER BY k.i) FILTER (WHERE k.i = 1 OR k.room <= 60)
                || CASE WHEN bool_or(k.i > 1 AND k.room > 60) THEN ', ...' ELSE '' END
         FROM (SELECT x.i, x.key, h.head, octet_length(h.head) + sum(octet_length(x.key) + 2) OVER (ORDER BY x.i) - 4 AS room
               FROM unnest(array_replace(g.groups, NULL, 'NULL')) WITH ORDINALITY x (key, i),
                    LATERAL (SELECT format('%s group%s: ', cardinality(g.groups), CASE cardinality(g.groups) WHEN 1 THEN '' ELSE 's' END)) h (head)) k))
FROM pg_attribute a LEFT JOIN dp_rdr.column_bounds b ON b.relation::oid = $2 AND b.column_name = a.attname
LEFT JOIN dp_rdr.column_groups g ON g.relation::oid = $2 AND g.column_name = a.attname
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)sql";
static const char *const totals_sql = R"sql(
SELECT l.expression, l.total::text FROM dp_rdr.unit_limit l WHERE l.relation::oid = $2 ORDER BY l.expression COLLATE "C")sql";
static const char *const summed_sql = R"sql( -- columns whose sums have a price: not moments
SELECT quote_ident(a.attname) FROM dp_rdr.column_bounds b JOIN pg_attribute a ON a.attname = b.column_name
JOIN pg_type t ON t.oid = a.atttypid AND t.typcategory <> 'D'
WHERE b.relation::oid = $2 AND a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)sql";
static const char *const ungrouped_sql = R"sql(
SELECT quote_ident(a.attname) FROM pg_attribute a WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped AND NOT EXISTS (
  SELECT FROM dp_rdr.column_groups g WHERE g.relation::oid = $2 AND g.column_name = a.attname) ORDER BY a.attnum)sql";

// Returns the types of the view's columns, by number, as the caller writes them.
static Datum types_of_columns(Oid view) {
    Relation relation = table_open(view, AccessShareLock);
    TupleDesc columns = RelationGetDescr(relation);
    auto *types = static_cast<Datum *>(palloc(sizeof(Datum) * columns->natts));
    for (int i = 0; i < columns->natts; i++) {
        const FormData_pg_attribute *column = TupleDescAttr(columns, i);
        types[i] = CStringGetTextDatum(
            column->attisdropped ? "" : format_type_with_typemod(column->atttypid, column->atttypmod));
    }
    ArrayType *array = construct_array(types, columns->natts, TEXTOID, -1, false, TYPALIGN_INT);
    table_close(relation, AccessShareLock);
    return PointerGetDatum(array);
}

namespace {
// Texts that the page takes from the catalog.
struct Declared {
    List *totals;    // expressions and their totals, by turns
    List *summed;    // columns whose sums have a price, quoted
    List *ungrouped; // columns without declared groups, quoted
};
} // namespace

static List *texts_of(const catalog::Visit &visit, const char *sql, Oid *types, Datum *values, int columns = 1) {
    List *texts = NIL;
    const uint64 rows = visit.run(sql, 3, types, values);
    for (uint64 row = 0; row < rows; row++)
        for (int column = 1; column <= columns; column++)
            texts = lappend(texts, visit.spi.text(row, column));
    return texts;
}

static Declared put_columns(const Page &page) {
    Oid types[3] = {OIDOID, OIDOID, TEXTARRAYOID};
    Datum values[3] = {ObjectIdGetDatum(page.settings->view), ObjectIdGetDatum(page.settings->relation),
                       types_of_columns(page.settings->view)};
    catalog::Visit visit = catalog::Visit::read();
    page.rows.put_all(visit, columns_sql, 3, types, values);
    const Declared declared = {texts_of(visit, totals_sql, types, values, 2), texts_of(visit, summed_sql, types, values),
                               texts_of(visit, ungrouped_sql, types, values)};
    visit.leave();
    return declared;
}

static void put_unit(const Page &page) {
    const catalog::UnitPath *unit = page.settings->unit;
    if (unit == nullptr)
        return;
    page.put("unit", rows::unit_text(unit),
             unit->keyed          ? "one row"
             : unit->max_rows > 0 ? psprintf("max_rows %d", unit->max_rows)
                                  : "max_rows is not declared");
}

// Leaves out expressions over columns that the view does not show.
static void put_totals(const Page &page, const List *totals) {
    for (int i = 0; i < list_length(totals); i += 2) {
        auto *expression = static_cast<const char *>(list_nth(totals, i));
        if (refusal_of([&] { (void)query::check_table_expression(expression, page.settings->view); }) == nullptr)
            page.put("total", psprintf("sum(%s)", expression),
                     psprintf("sizes of a unit count up to %s", static_cast<const char *>(list_nth(totals, i + 1))));
    }
}

static void put_preference(const Page &page) {
    const catalog::Policy &policy = *page.policy;
    page.put("policy", "role", policy.grantee_name);
    if (policy.has_tau)
        page.put("policy", "tau",
                 psprintf("%s, %s", float8out_internal(policy.tau),
                          policy.selection == catalog::Selection::within_data ? "within_data" : "within_domain"));
    else if (policy.selection == catalog::Selection::released)
        page.put("policy", "tau_var", float8out_internal(policy.tau_var));
    page.put("policy", "mechanism",
             policy.mechanism == privacy::Mechanism::laplace     ? "laplace"
             : policy.mechanism == privacy::Mechanism::automatic ? "auto"
                                                                 : psprintf("gaussian, delta %s", printed(policy.delta)));
    page.put("policy", "epsilon",
             psprintf("from %s to %s an answer", printed(policy.epsilon_min), printed(policy.epsilon_max)));
    if (policy.has_share)
        page.put("policy", "share",
                 psprintf("%s%s", printed(policy.share), policy.has_profile ? " (risk profile)" : ""));
}

// An interval as every session reads it.
static const char *interval_text(const Interval *span) {
    int style = IntervalStyle;
    IntervalStyle = INTSTYLE_POSTGRES;
    const char *text =
        DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(const_cast<Interval *>(span))));
    IntervalStyle = style;
    return text;
}

static void put_times(const Page &page, const privacy::Repeated &standing) {
    const char *end = end_of_period(standing.bound, standing.totals.of_public);
    if (end != nullptr)
        page.put("period", privacy::name_of(standing.bound.period->kind),
                 psprintf("totals begin anew on %s (UTC)", end));
    if (page.policy->replay != nullptr)
        page.put("replay", interval_text(page.policy->replay), "so long the same question gets the same answer, free");
}

static const char *error_text(double error95) {
    return std::isnan(error95) ? "error95 depends on the answer" : psprintf("error95 %.4g", error95);
}

static const char *price_text(const release::Estimate &estimate) {
    if (estimate.selects)
        return psprintf("at most epsilon %s", printed(estimate.epsilon + estimate.selection));
    const bool in_rho = estimate.standing.bound.basis_of(estimate.cost.pure) == privacy::Basis::rho;
    const char *epsilon = psprintf("epsilon %s%s%s", printed(estimate.epsilon), in_rho ? ", rho " : "",
                                   in_rho ? printed(estimate.rho) : "");
    return psprintf("%s%s%s, %s", epsilon, estimate.delta.units() > 0 ? ", delta " : "",
                    estimate.delta.units() > 0 ? printed(estimate.delta) : "", error_text(estimate.error95[0]));
}

// The estimate of a statement of one leaf, as if nobody had asked it; or why there is none.
static const char *estimate_alone(const char *text, Verdict *verdict) {
    const query::Request request = request_of(true);
    release::Earlier charge;
    return refusal_of([&] {
        List *calls = find_leaves(text, &request);
        explain_leaf(static_cast<Call *>(linitial(calls)), NIL, NIL, nullptr, verdict, &charge);
    });
}

// Says how large a group must be of a column without declared or derived groups.
static int64 threshold_of(const Page &page, const List *columns) {
    ListCell *cell;
    foreach (cell, columns) {
        Verdict verdict = {};
        auto *name = static_cast<const char *>(lfirst(cell));
        const char *refusal = estimate_alone(
            psprintf("SELECT %s, count(*) FROM %s GROUP BY %s", name, page.settings->view_name, name), &verdict);
        if (refusal == nullptr && verdict.estimate.threshold > 0)
            return verdict.estimate.threshold;
    }
    return 0;
}

static void put_other_groups(const Page &page, const List *columns) {
    const char *value = "refused: GROUP BY what is declared, or follows from that";
    if (page.policy->delta.units() > 0) {
        const int64 threshold = threshold_of(page, columns);
        value = threshold > 0
                    ? psprintf("appear from about " INT64_FORMAT " %s on (delta %s)", threshold,
                               page.settings->unit == nullptr || page.settings->unit->keyed ? "rows" : "people",
                               printed(page.policy->delta))
                    : psprintf("appear when they are large enough (delta %s)", printed(page.policy->delta));
    }
    page.put("policy", "other groups", value);
}

// What one answer would cost, or why there is none; returns what it would meet.
static privacy::Repeated put_price(const Page &page, const char *aggregate) {
    Verdict verdict = {};
    const char *value = estimate_alone(psprintf("SELECT %s FROM %s", aggregate, page.settings->view_name), &verdict);
    if (value == nullptr && verdict.estimate.from_data)
        value = "depends on the data";
    else if (value == nullptr)
        value = verdict.estimate.priced ? price_text(verdict.estimate) : no_epsilon;
    page.put("price", aggregate, value);
    return verdict.estimate.standing;
}

static void put_left(const Page &page) {
    Left left = answers_left(psprintf("SELECT count(*) FROM %s", page.settings->view_name), true);
    page.put("answers left", "count(*)",
             left.known ? psprintf(INT64_FORMAT ": %s", left.answers, left.reason) : left.reason);
}

DP_CALL(dp_about) {
    require(fcinfo, 0, "view");
    Oid view = PG_GETARG_OID(0);
    const ResultRows rows(fcinfo);
    catalog::check_can_ask();
    catalog::Reading reading = catalog::Reading::open();
    catalog::Settings *settings = catalog::read_settings(reading, view);
    if (settings == nullptr && get_rel_name(view) == nullptr)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", view)));
    if (settings == nullptr)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s is not a restricted view", catalog::qualified_name(view)),
                        errhint("Ask about a view that was made with dp_protect().")));
    catalog::Policy *policy = catalog::policy_of(reading, settings, catalog::current_asker());
    const Page page = {rows, settings, policy};
    reading.close();
    const Declared declared = put_columns(page);
    put_unit(page);
    put_totals(page, declared.totals);
    if (settings->people > 0)
        page.put("people", "about", psprintf(INT64_FORMAT, settings->people));
    put_preference(page);
    put_other_groups(page, declared.ungrouped);
    const privacy::Repeated standing = put_price(page, "count(*)");
    ListCell *cell;
    foreach (cell, declared.summed) {
        auto *column = static_cast<const char *>(lfirst(cell));
        (void)put_price(page, psprintf("sum(%s)", column));
        (void)put_price(page, psprintf("avg(%s)", column));
    }
    put_left(page);
    put_times(page, standing);
    return Datum(0);
}

} // namespace dp::sql
