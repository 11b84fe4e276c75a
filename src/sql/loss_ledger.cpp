#include "sql/loss_ledger.hpp"

#include <cmath>

#include "border/attempt.hpp"
#include "catalog/parameters.hpp"
#include "privacy/rho_bound.hpp"
#include "rows/engine.hpp"
#include "rows/touched.hpp"
#include "release/identity.hpp"
#include "sql/call_arguments.hpp"
#include "sql/controller.hpp"
#include "sql/statement_leaves.hpp"
#include "sql/ledger_pages.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

using catalog::value_at;
using catalog::Visit;

// ---- the ledger ----------------------------------------------------------------------------------------------------

namespace {
constexpr int most_questions = 10000;

// One row of charged_sql: charges of equal questions.
struct Line {
    const char *query; // null: counts in full for everybody
    const char *declared, *time_zone;
    privacy::Mechanism mechanism;
    query::Limits limits;
    const catalog::Touched *cells; // that were charged; null: all
    privacy::Charged charged;
    int64 charges;
};

// All charges of a table: those whose questions can be asked again as they were, and the others.
struct Ledger {
    List *asked; // risk::AskedQuestion *
    privacy::Charged in_full;
    int64 charges, full;
};
} // namespace

// $1: the table; the dearest questions come first. A selection is paid beside its question, and tells of the rows in another way; a
// signal is about an answer, and a choice of limits about all rows. Cells of an earlier partition are everybody's.
static const char *const charged_sql = R"sql(
WITH entry AS (
  SELECT l.*, l.account = 'public' AS public, l.parameters AS p,
    l.kind IN ('pure', 'selection', 'bound') OR l.kind = 'increment' AND l.basis = 'epsilon' AS pure,
    l.kind IN ('selection', 'bound') OR l.parameters ? 'task' OR NOT l.parameters ? 'declared' AS in_full,
    CASE WHEN c.column_name IS NOT NULL AND (l.parameters -> 'cells' ->> 'partition')::int = c.version
      THEN (l.parameters -> 'cells') - 'names' - CASE WHEN l.parameters -> 'cells' ? 'ranges' THEN 'begun' ELSE '' END END AS cells
  FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON t.domain IN (d.id, d.joined_into)
  JOIN dp_rdr.ledger_row l ON l.table_id = d.id LEFT JOIN dp_rdr.partition c ON c.domain = d.id
  WHERE t.relation::oid = $1 AND l.kind NOT IN ('suspension', 'closing', 'join')),
question AS (
  SELECT CASE WHEN NOT in_full THEN query END AS query, CASE WHEN NOT in_full THEN p ->> 'declared' END AS declared,
    CASE WHEN NOT in_full THEN p ->> 'time_zone' END AS zone, CASE WHEN NOT in_full THEN mechanism END AS mechanism,
    CASE WHEN NOT in_full THEN coalesce(p ->> 'rows_of_unit', p ->> 'max_rows')::int END AS max_rows,
    CASE WHEN NOT in_full THEN (p ->> 'max_groups')::int END AS max_groups,
    CASE WHEN NOT in_full THEN (p ->> 'max_rows_per_group')::int END AS max_rows_per_group, cells,
    sum(epsilon) FILTER (WHERE public AND pure AND basis = 'epsilon') AS epsilon,
    sum(rho) FILTER (WHERE public AND pure AND basis = 'rho') AS rho_of_pure,
    sum(epsilon) FILTER (WHERE public AND pure AND basis = 'rho') AS pure,
    sum(epsilon * epsilon / 2) FILTER (WHERE public AND pure AND basis = 'rho') AS squares,
    sum(rho) FILTER (WHERE public AND NOT pure) AS rho,
    sum(delta_groups) FILTER (WHERE public) AS delta_groups, sum(epsilon) FILTER (WHERE NOT public) AS conditional,
    count(*) FILTER (WHERE public AND kind NOT IN ('selection', 'increment')) AS answers, count(*) AS charges
  FROM entry GROUP BY 1, 2, 3, 4, 5, 6, 7, 8)
SELECT query, declared, zone, mechanism, max_rows, max_groups, max_rows_per_group, charges,
  epsilon::float8, pure::float8, squares::float8, rho_of_pure::float8, rho::float8, delta_groups::float8,
  conditional::float8, answers::float8, translate(cells ->> 'ranges', '[],', '   '), cells IS NOT NULL, (cells ->> 'begun')::bigint
FROM question ORDER BY query IS NULL, coalesce(epsilon, 0) + coalesce(rho, 0) + coalesce(rho_of_pure, 0) DESC, query)sql";

// ranges: the numbers of cells, first and last of each; null: all that had begun.
static const catalog::Touched *read_cells(const char *ranges, int64 begun) {
    auto *cells = static_cast<catalog::Touched *>(palloc0(sizeof(catalog::Touched)));
    char *end;
    for (const char *at = ranges; at != nullptr && cells->n < catalog::most_ranges; at = end) {
        const int64 first = strtoll(at, &end, 10);
        if (end == at)
            break;
        cells->first[cells->n] = first;
        cells->last[cells->n++] = strtoll(end, &end, 10);
    }
    if (ranges == nullptr) {
        cells->n = 1;
        cells->first[0] = PG_INT64_MIN; // whatever the partition begins with
        cells->last[0] = begun;
    }
    return cells;
}

static Line line_at(const Visit &visit, uint64 row) {
    Line line = {};
    line.query = visit.spi.text(row, 1);
    line.declared = visit.spi.text(row, 2);
    line.time_zone = visit.spi.text(row, 3);
    const char *mechanism = visit.spi.text(row, 4);
    line.mechanism = mechanism != nullptr && strcmp(mechanism, "gaussian") == 0 ? privacy::Mechanism::gaussian
                                                                                : privacy::Mechanism::laplace;
    line.limits = {value_at<int32>(row, 5), value_at<int32>(row, 6), value_at<int32>(row, 7), true};
    line.charges = value_at<int64>(row, 8);
    for (int part = 0; part < privacy::loss_parts; part++)
        line.charged.of[part] = value_at<double>(row, 9 + part);
    constexpr int next = 9 + privacy::loss_parts;
    if (value_at<bool>(row, next + 1))
        line.cells = read_cells(visit.spi.text(row, next), value_at<int64>(row, next + 2));
    return line;
}

// Lists Line *, under the snapshot that rows are read under.
static List *read_lines(Oid relation) {
    const catalog::Reading reading{GetActiveSnapshot()};
    Visit visit = Visit::read(reading);
    const uint64 rows = run(visit, charged_sql, relation);
    List *lines = NIL;
    for (uint64 row = 0; row < rows; row++) {
        MemoryContext old = MemoryContextSwitchTo(visit.spi.caller);
        auto *line = static_cast<Line *>(palloc(sizeof(Line)));
        *line = line_at(visit, row);
        lines = lappend(lines, line);
        MemoryContextSwitchTo(old);
    }
    visit.leave();
    return lines;
}

// ---- questions -----------------------------------------------------------------------------------------------------

static bool owns_all(const rows::Question *question) {
    for (int i = 0; i < question->nsources; i++)
        if (question->sources[i].settings != nullptr &&
            question->sources[i].settings->owner != question->settings->owner)
            return false;
    return true;
}

// Whether it is the question that was charged, and about the same people, whose parts can be told apart.
static bool is_charged(const rows::Question *question, const Line &line, const rows::Question *people) {
    const bool rows = people->units == nullptr;
    return strcmp(release::hash_of_declarations(question), line.declared) == 0 && owns_all(question) &&
           !rows::adds_up_rows_elsewhere(question) &&
           question->settings->owner == people->settings->owner && (question->units == nullptr) == rows &&
           (!rows || question->settings->relation == people->settings->relation);
}

// Keeps a question to the people whose cells were charged: whatever it touches now.
static void keep_to_charged(const Line &line, rows::Question *question) {
    const catalog::Partition *partition = question->settings->partition;
    if (line.cells == nullptr || partition == nullptr)
        return rows::keep_to_cells(nullptr, question);
    catalog::Touched cells = *line.cells;
    cells.others = partition->others();
    cells.begun = partition->period ? PG_INT64_MAX : partition->last;
    cells.first[0] = Max(cells.first[0], cells.others);
    rows::keep_to_cells(&cells, question);
}

static const rows::Question *question_of(const Line &line, const query::Limits &limits, const rows::Question *people) {
    release::Ask ask = {};
    ask.asker = catalog::current_asker();
    ask.leaf = line.query;
    ask.limits = limits;
    ask.parameters = makeParamList(0);
    rows::Question *question = controllers_question(ask, line.mechanism);
    if (!is_charged(question, line, people))
        return nullptr;
    keep_to_charged(line, question);
    return question;
}

// Asks as its text says, and with the limits that it was charged under, which its asker may have passed. Null: what was asked cannot be
// read any more.
static const rows::Question *read_again(const Line &line, const rows::Question *people) {
    const char *here = GetConfigOption("TimeZone", false, false);
    const rows::Question *question = nullptr;
    for (int with_limits = 0; question == nullptr && with_limits < 2; with_limits++) {
        ErrorData *error = border::attempt([&] {
            border::TimeZoneScope zone =
                border::TimeZoneScope::enter(line.time_zone != nullptr ? line.time_zone : here);
            question = question_of(line, with_limits == 1 ? line.limits : query::Limits{}, people);
            zone.leave();
        });
        if (question == nullptr)
            elog(DEBUG1, "\"%s\" is not asked again: %s", line.query, error == nullptr ? "it is another question now" : error->message);
        if (error == nullptr)
            continue;
        RESUME_INTERRUPTS();
        const int category = ERRCODE_TO_CATEGORY(error->sqlerrcode);
        if (category == ERRCODE_INSUFFICIENT_RESOURCES || category == ERRCODE_OPERATOR_INTERVENTION)
            ReThrowError(error);
    }
    return question;
}

// Returns a question that tells everything of everybody in the cells of a line; null: those are all, or people have several rows.
static const rows::Question *everything_of(const Line &line, const rows::Question *people) {
    auto *question = static_cast<rows::Question *>(palloc(sizeof(rows::Question)));
    *question = *people;
    question->where = nullptr; // of a view
    keep_to_charged(line, question);
    return people->units == nullptr && question->in_touched != nullptr ? question : nullptr;
}

static Ledger read_ledger(Oid relation, const rows::Question *people) {
    Ledger ledger = {};
    ListCell *cell;
    foreach (cell, read_lines(relation)) {
        CHECK_FOR_INTERRUPTS();
        const auto *line = static_cast<const Line *>(lfirst(cell));
        ledger.charges += line->charges;
        const bool may = line->query != nullptr && list_length(ledger.asked) < most_questions;
        const rows::Question *question = may ? read_again(*line, people) : nullptr;
        if (question == nullptr) {
            ledger.full += line->charges;
            question = everything_of(*line, people);
        }
        if (question == nullptr) {
            privacy::add(&ledger.in_full, line->charged);
            continue;
        }
        auto *asked = static_cast<risk::AskedQuestion *>(palloc(sizeof(risk::AskedQuestion)));
        *asked = {question, line->mechanism, line->charged};
        ledger.asked = lappend(ledger.asked, asked);
    }
    return ledger;
}

static void tell_full(const Ledger &ledger, const char *table, bool cells) {
    if (ledger.full == 0)
        return;
    ereport(NOTICE,
            (errmsg(INT64_FORMAT " of " INT64_FORMAT " charges of %s count in full for everybody%s", ledger.full,
                    ledger.charges, table, cells ? " in their cells" : ""),
             errdetail("These are selections of epsilon and of limits, signals, general queries, questions under "
                       "earlier declarations or to tables of others, those that cannot be read any more, and those "
                       "whose rows other servers add up.")));
}

// ---- people --------------------------------------------------------------------------------------------------------

static const char *a_view_of(const ProtectedTable &table) {
    Visit visit = Visit::read();
    const bool found = run(visit, "SELECT view FROM dp_rdr.restricted_view WHERE relation::oid = $1 ORDER BY view LIMIT 1",
                           table.relation) > 0;
    const Oid view = found ? value_at<Oid>(0, 1) : InvalidOid;
    visit.leave();
    if (!found)
        refuse_state(psprintf("%s has no restricted view", table.name), "Make one with dp_protect(relation, view).");
    return catalog::qualified_name(view);
}

static void read_terms(const Budget &budget, LossTable *table) {
    const privacy::BoundSettings &bound = budget.bound;
    const privacy::Spent &spent = budget.odometer.totals.of_public;
    const bool zcdp = bound.bound == privacy::Bound::zcdp;
    if (!table->given)
        table->delta = zcdp ? bound.delta_conversion : privacy::Delta::from_double(1e-6, privacy::Rounding::down);
    if (table->delta.units() <= 0)
        refuse_value("delta must be above 0");
    table->total = bound.epsilon_total ? bound.epsilon_total->value() : 0;
    border::core([&] {
        const privacy::Rho target =
            !zcdp ? privacy::rho_cap(privacy::Epsilon::from_units(1000000000), table->delta, privacy::Cap::tight)
            : budget.odometer.claim.charged ? budget.odometer.claim.target
                                            : privacy::anytime_target(bound);
        table->terms = {table->delta.value(), target.value()};
        table->odometer = {
            (zcdp ? privacy::shown_anytime(spent, bound, budget.odometer.claim) : spent.epsilon).value(),
            (zcdp ? privacy::shown(spent, bound).delta : spent.delta).value()};
    });
}

// To nine decimals, as many as an epsilon has. Sums of doubles are off by far less than what is taken off before.
static double rounded_up(double epsilon) {
    constexpr double places = 1e9;
    return epsilon > 0 && epsilon < 1e6 ? std::ceil(epsilon * places - 1e-3) / places : epsilon;
}

privacy::LossBound bound_of_person(const LossTable &table, const privacy::PersonLoss &part, privacy::PersonLoss *loss) {
    *loss = table.in_full;
    privacy::add(loss, part);
    privacy::LossBound bound = privacy::bound_of_loss(*loss, table.terms);
    bound.epsilon = rounded_up(bound.epsilon);
    loss->of[privacy::loss_conditional] = rounded_up(loss->of[privacy::loss_conditional]);
    return table.odometer.epsilon <= bound.epsilon && table.odometer.delta <= bound.delta ? table.odometer : bound;
}

LossQuestions read_losses_of(const ProtectedTable &table, LossTable *terms) {
    Budget budget;
    if (!read_budget(table.relation, &budget))
        refuse_state(psprintf("%s has no odometer", table.name), "dp_protect() on the table rebuilds its totals.");
    read_terms(budget, terms);
    const rows::Question *people = controllers_question(psprintf("SELECT count(*) FROM %s", a_view_of(table)),
                                                        privacy::Mechanism::laplace);
    const Ledger ledger = read_ledger(table.relation, people);
    privacy::add_charged(&terms->in_full, ledger.in_full, privacy::Share{1, 1}, 1);
    tell_full(ledger, table.name, people->settings->partition != nullptr);
    return {people, ledger.asked, ledger.charges};
}

} // namespace dp::sql
