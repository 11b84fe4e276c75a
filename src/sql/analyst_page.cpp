// Implements dp_about, which shows analysts what they have of a view. All of it follows from declarations, from their own policy and
// from the public account (formulas.md 4.1): nothing is charged, no private row is read, no amount chosen from the data has a part in it.
#include <cmath>

#include "query/grammar.hpp"
#include "rows/unit_checks.hpp"
#include "sql/call_arguments.hpp"
#include "sql/ledger_pages.hpp"
#include "sql/controller.hpp"
#include "sql/explain_page.hpp"
#include "sql/refusal.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

namespace {
struct Page {
    const ResultRows &rows;
    const catalog::Settings *settings;
    const catalog::Policy *policy;

    void put(const char *item, const char *name, const char *value) const { rows.put(item, name, value); }
};
} // namespace

// Reads the columns of the view $1 on the table $2, whose types are $3: name, text, and its quoted name once more if sums of it have a
// price (moments have none), and if no groups are declared. Of groups as many are shown as fit on a line.
static const char *const columns_sql = R"sql(
SELECT a.attname, concat_ws(', ', ($3::text[])[a.attnum],
       'from ' || dp_rdr.bound_text(b.lower, a.atttypid, false) || ' to ' || dp_rdr.bound_text(b.upper, a.atttypid, false), (
         SELECT max(k.head) || string_agg(k.key, ', ' ORDER BY k.i) FILTER (WHERE k.i = 1 OR k.room <= 60)
                || CASE WHEN bool_or(k.i > 1 AND k.room > 60) THEN ', ...' ELSE '' END
         FROM (SELECT x.i, x.key, h.head, octet_length(h.head) + sum(octet_length(x.key) + 2) OVER (ORDER BY x.i) - 4 AS room
               FROM unnest(array_replace(g.groups, NULL, 'NULL')) WITH ORDINALITY x (key, i),
                    LATERAL (SELECT format('%s group%s: ', cardinality(g.groups), CASE cardinality(g.groups) WHEN 1 THEN '' ELSE 's' END)) h (head)) k)),
       CASE WHEN b.lower IS NOT NULL AND t.typcategory <> 'D' THEN quote_ident(a.attname) END,
       CASE WHEN g.groups IS NULL THEN quote_ident(a.attname) END
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN dp_rdr.column_bounds b ON b.relation::oid = $2 AND b.column_name = a.attname
LEFT JOIN dp_rdr.column_groups g ON g.relation::oid = $2 AND g.column_name = a.attname
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)sql";
static const char *const totals_sql = R"sql(
SELECT l.expression, l.total FROM dp_rdr.unit_limit l WHERE l.relation::oid = $1 ORDER BY l.expression COLLATE "C")sql";

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
// Quoted names of columns.
struct Columns {
    List *summed, *ungrouped;
};
} // namespace

static List *with_name(List *names, const char *name) {
    return name == nullptr ? names : lappend(names, const_cast<char *>(name));
}

static Columns put_columns(const Page &page) {
    Columns columns = {};
    const catalog::Typed types = {TEXTARRAYOID, types_of_columns(page.settings->view)};
    catalog::Visit visit = catalog::Visit::read();
    const uint64 rows = run(visit, columns_sql, page.settings->view, page.settings->relation, types);
    MemoryContextSwitchTo(visit.spi.caller); // the lists outlive the visit
    for (uint64 row = 0; row < rows; row++) {
        page.put("column", visit.spi.text(row, 1), visit.spi.text(row, 2));
        columns.summed = with_name(columns.summed, visit.spi.text(row, 3));
        columns.ungrouped = with_name(columns.ungrouped, visit.spi.text(row, 4));
    }
    visit.leave();
    return columns;
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
static void put_totals(const Page &page) {
    List *totals = NIL; // expressions and totals, by turns
    catalog::Visit visit = catalog::Visit::read();
    const uint64 rows = run(visit, totals_sql, page.settings->relation);
    MemoryContextSwitchTo(visit.spi.caller); // the list outlives the visit
    for (uint64 row = 0; row < rows; row++)
        totals = lappend(lappend(totals, visit.spi.text(row, 1)), visit.spi.text(row, 2));
    visit.leave();
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
    if (policy.tau)
        page.put("policy", "tau",
                 psprintf("%s, %s", float8out_internal(*policy.tau),
                          policy.selection == catalog::Selection::within_data ? "within_data" : "within_domain"));
    else if (policy.selection == catalog::Selection::released)
        page.put("policy", "tau_var", float8out_internal(*policy.tau_var));
    page.put("policy", "mechanism",
             policy.mechanism == privacy::Mechanism::laplace ? "laplace"
             : policy.mechanism == privacy::Mechanism::automatic
                 ? "auto"
                 : psprintf("gaussian, delta %s", printed(policy.delta)));
    page.put("policy", "epsilon",
             psprintf("from %s to %s an answer", printed(policy.epsilon_min), printed(policy.epsilon_max)));
    if (policy.share)
        page.put("policy", "share", psprintf("%s%s", printed(*policy.share), policy.profile ? " (risk profile)" : ""));
}

// Returns an interval as it looks in every session.
static const char *interval_text(const Interval *span) {
    const border::SettingsScope settings = border::SettingsScope::enter_for_catalog();
    const char *text =
        DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(const_cast<Interval *>(span))));
    settings.leave();
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

// Estimates a statement of one leaf, as if nobody had asked it. Returns why there is no estimate, or null.
static const char *estimate_alone(const char *text, Verdict *verdict) {
    const query::Request request = plain_request(true);
    release::Earlier charge;
    return refusal_of([&] {
        List *calls = find_leaves(text, &request);
        explain_leaf(static_cast<Call *>(linitial(calls)), NIL, NIL, nullptr, verdict, &charge);
    });
}

// Says how large a group must be of a column without declared or derived groups.
static int64 threshold_of(const Page &page, const List *columns) {
    for (auto *item : border::each<const char>(columns)) {
        Verdict verdict = {};
        auto *name = item;
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

// Puts the price of one answer, or why there is none. Returns the sums that it would meet.
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
    if (settings == nullptr) {
        check_exists(view);
        refuse_state(psprintf("%s is not a restricted view", catalog::qualified_name(view)),
                     "Ask about a view that was made with dp_protect().");
    }
    catalog::Policy *policy = catalog::policy_of(reading, settings, catalog::current_asker());
    const Page page = {rows, settings, policy};
    reading.close();
    const Columns columns = put_columns(page);
    put_unit(page);
    put_totals(page);
    const catalog::Partition *partition = settings->partition;
    if (partition != nullptr && get_attnum(view, partition->column) != InvalidAttrNumber)
        page.put("partition", partition->column,
                 psprintf("%s: each cell has the totals for itself", partition_text(*partition)));
    if (settings->people > 0)
        page.put("people", "about", psprintf(INT64_FORMAT, settings->people));
    put_preference(page);
    put_other_groups(page, columns.ungrouped);
    const privacy::Repeated standing = put_price(page, "count(*)");
    for (auto *column : border::each<const char>(columns.summed)) {
        (void)put_price(page, psprintf("sum(%s)", column));
        (void)put_price(page, psprintf("avg(%s)", column));
    }
    put_left(page);
    put_times(page, standing);
    return Datum(0);
}

} // namespace dp::sql
