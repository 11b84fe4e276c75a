// Makes the parts of a report that are about the table whatever is asked: settings, spending, denials, requests, audit.
#include "sql/refusal.hpp"
#include "sql/report.hpp"

namespace dp::sql {

namespace {
constexpr int most_cell = 600, most_code = 2000; // characters
constexpr uint64 most_rows = 1000;               // whoever may create a function can have the audit list it

// Describes a table of the page, and the statement that fills it, all of its columns as text. $1: the protected table.
struct Source {
    const char *id, *title, *lead, *nothing;
    bool as_extension; // reads the extension's own tables; else as the caller, %s being the schema of its functions
    const char *sql;
    const char *columns[10];
    const char *code; // one character a column: c for a statement
};

// Charges are the table's whatever it was called when they were made. Months in UTC, as periods are.
const Source sources[] = {
    {"summary",
     "In five sentences",
     "For a data protection officer: what holds of all tables with data of the same people, under the settings of "
     "today, whatever is asked.",
     "",
     false,
     R"sql(
WITH d AS MATERIALIZED (SELECT * FROM %1$s.dp_domain($1)),
s AS MATERIALIZED (SELECT s.* FROM d, LATERAL %1$s.dp_settings(d.relation) s),
o AS (
  SELECT o.*, o.epsilon_claim::float8 AS claim, dp_rdr.recognised(o.epsilon_claim::float8, 0, o.delta_claim::float8) AS by_epsilon,
         CASE WHEN o.bound = 'zcdp' AND o.epsilon_claim = o.epsilon_total AND NOT EXISTS (SELECT FROM s WHERE s.name = 'epsilon_pure')
         THEN dp_rdr.recognised(0, o.rho_total::float8, o.delta_claim::float8) END AS by_rho
  FROM %1$s.dp_odometer($1) o WHERE o.account = 'public')
SELECT 'whose data', CASE WHEN d.unit IS NULL
    THEN format('Each row of %%s counts as one person: somebody with several rows is protected in one of them alone.', d.relation)
    ELSE format('These are data of %%speople, whom %%s names; what is told from their rows counts together, in %%s.',
                (SELECT format('about %%s ', s.value) FROM %1$s.dp_settings($1) s WHERE s.item = 'people' AND s.name = 'about'), regexp_replace(d.path, '^.* -> ', ''),
                (SELECT string_agg(d.relation::text, ', ' ORDER BY d.relation::text COLLATE "C") FROM d)) END
FROM d WHERE d.relation = $1
UNION ALL
SELECT 'beliefs', CASE WHEN o.claim IS NULL THEN 'Nothing bounds what all answers together tell about a person.'
    ELSE format('Somebody who thought that a person is in these data with a probability of 10 of 100 can come, by all answers that the totals '
                'permit, to any probability from %%s to %%s of 100%%s (epsilon_claim %%s, delta_claim %%s).',
                round((100 / (1 + 9 * exp(least(o.claim, 500))))::numeric, 2), round((100 / (1 + 9 * exp(-least(o.claim, 500))))::numeric, 1),
                CASE WHEN o.delta_claim > 0 THEN format(', but for a probability of %%s', o.delta_claim) END, o.epsilon_claim, o.delta_claim) END FROM o
UNION ALL
SELECT 'recognised', CASE WHEN o.claim IS NULL THEN 'Nothing bounds how many of the people somebody recognises by the answers.'
    ELSE format('Of 100 people in these data, somebody who has all these answers, and who takes 1 of 100 others for one of them, recognises '
                'at most %%s; without any answer it is 1.', trim_scale(ceil(least(o.by_epsilon, coalesce(o.by_rho, o.by_epsilon))::numeric * 10) / 10)) END
  || coalesce((SELECT format(' The total is a promise about the best attack: %%s.', substr(s.value, 9))
               FROM %1$s.dp_settings($1) s WHERE s.item = 'budget' AND s.name = 'profile' AND s.value LIKE 'attack,%%'), '') FROM o
UNION ALL
SELECT 'left', coalesce((
    SELECT concat('Of the totals there is left: ', string_agg(concat(s.name, ' ', s.value), ', ') FILTER (WHERE s.name LIKE '%% left'),
                  '; then no question is answered any more', ', until a new ' || max(s.value) FILTER (WHERE s.name = 'period') || ' begins', '.')
    FROM %1$s.dp_settings($1) s WHERE s.item = 'budget' HAVING bool_or(s.name LIKE '%% left')), 'No total ends the answers.')
  || coalesce((SELECT format(' Cells have it each for themselves%%s: least, %%s, is left in %%s, and most, %%s, in %%s.',
                             CASE WHEN count(c.rho) > 0 THEN ', in rho' END, min(c."left"),
                             (array_agg(c.cells ORDER BY c."left", c.cells COLLATE "C"))[1], max(c."left"), (array_agg(c.cells ORDER BY c."left" DESC, c.cells COLLATE "C"))[1])
               FROM s, LATERAL (
                 SELECT cells, rho, coalesce(rho_left, "left") AS "left" FROM %1$s.dp_cells(CASE s.item WHEN 'partition' THEN $1 END)) c WHERE s.item = 'partition' HAVING count(c."left") > 0), '')
UNION ALL
SELECT 'who reads rows', coalesce('The rows themselves, without noise, are read by ' || (
    SELECT concat(string_agg(format('%%s (%%s)', r.name, r.value), ', ' ORDER BY r.place) FILTER (WHERE r.place <= 10),
                  CASE WHEN count(*) > 10 THEN format(' and %%s others, below', count(*) - 10) END)
    FROM (SELECT s.name, s.value, row_number() OVER (ORDER BY s.name COLLATE "C", s.value COLLATE "C") AS place
          FROM s WHERE s.item = 'reads rows' GROUP BY s.name, s.value) r HAVING count(*) > 0) || '; nothing here protects people from them.',
    'Nobody else reads the rows.'))sql",
     {"about", "what holds"},
     "--"},
    {"losses",
     "What was told of each person",
     "How far all answers so far went, at most (dp_loss): for half of the people, for nine tenths and so on. The last line is what the odometer "
     "has for everybody. A suspicion of one half that a person is in these data, by somebody who knew all else, became at most the number beside. "
     "These numbers follow from the rows, so nobody but the owner may see them. Who sets a total, a tau or a policy because of them breaks the "
     "guarantee.",
     "Nothing can be told.",
     false,
     R"sql(
WITH o AS (SELECT coalesce(epsilon_anytime, epsilon::float8) AS spent FROM %1$s.dp_odometer($1) WHERE account = 'public'),
l AS MATERIALIZED (SELECT l.people, l.epsilon, l.posterior50 FROM %1$s.dp_loss($1) l
                   UNION ALL SELECT NULL, spent, 1 / (1 + exp(-least(spent, 500))) FROM o)
SELECT CASE WHEN people IS NULL THEN 'anybody' WHEN people = 1 THEN 'all' ELSE concat(people * 100, ' %%') END, round(epsilon::numeric, 3)::text,
       round(posterior50::numeric, 3)::text, repeat('=', ceil(40 * epsilon / nullif(max(epsilon) OVER (), 0))::int)
FROM l ORDER BY people NULLS LAST)sql",
     {"people", "epsilon", "suspicion", "up to what anybody was told"},
     "----"},
    {"settings",
     "Settings",
     "All that is set for the tables with data of the same people, what is used of their totals, and who reads their "
     "rows (dp_settings). The calls, run in order, set it up again; long ones are cut here.",
     "Nothing is set.",
     false,
     "SELECT d.relation::text, s.item, s.name, s.value, s.call "
     "FROM %1$s.dp_domain($1) d, LATERAL %1$s.dp_settings(d.relation) s ORDER BY d.relation <> $1",
     {"table", "item", "name", "value", "call"},
     "----c"},
    {"spending",
     "Spending by month and role",
     "What was charged (dp_rdr.spending): the latest 200 lines. Months begin in UTC.",
     "Nothing was charged yet.",
     true,
     R"sql(
SELECT to_char(l.at, 'YYYY-MM'), l.role_name, l.account,
       coalesce(sum(l.row_count) FILTER (WHERE l.kind <> ALL ('{selection,increment,closing,join}'::text[])), 0)::text,
       trim_scale(sum(l.epsilon))::text, trim_scale(sum(l.delta))::text, trim_scale(sum(l.rho))::text
FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON t.domain IN (d.id, d.joined_into)
CROSS JOIN LATERAL dp_rdr.charges(d.id, false) l
WHERE t.relation = $1 AND l.kind NOT IN ('suspension', 'join', 'closing') GROUP BY 1, 2, 3
ORDER BY 1 DESC, l.role_name COLLATE "C", 3 DESC LIMIT 200)sql",
     {"month", "role", "account", "answers", "epsilon", "delta", "rho"},
     "-------"},
    {"denials",
     "Denials",
     "What a bound or a preference refused (dp_rdr.denials), the latest 100. Analysts are told \"query denied\" and no "
     "more.",
     "Nothing was denied.",
     true,
     R"sql(
SELECT to_char(timezone('UTC', d.last), 'YYYY-MM-DD HH24:MI'), d.role_name, d.view, d.query, d.reason, d.account, d.times::text
FROM dp_rdr.denial d JOIN dp_rdr.protected_table t ON t.domain = d.table_id
WHERE t.relation = $1 ORDER BY d.last DESC, d.role_name COLLATE "C", d.query COLLATE "C" LIMIT 100)sql",
     {"last (UTC)", "role", "view", "query", "reason", "account", "times"},
     "---c---"},
    {"requests",
     "Requests that wait",
     "Pending requests, and answers that are held back (dp_requests): the latest 100. dp_report(..., request => ...) "
     "shows what one would mean, and writes down that you have looked.",
     "None waits.",
     true,
     R"sql(
SELECT r.id::text, to_char(timezone('UTC', r.at), 'YYYY-MM-DD HH24:MI'), r.requester::text, regexp_replace(r.purpose, '\s+', ' ', 'g'),
       r.shown,
       trim_scale((r.terms ->> 'epsilon')::numeric)::text, r.state, r.decider,
       to_char(timezone('UTC', r.expires_at), 'YYYY-MM-DD')
FROM dp_rdr.request r JOIN dp_rdr.protected_table t ON t.domain = r.table_id
WHERE t.relation = $1 AND (r.state = 'held' OR r.state = 'pending' AND r.expires_at > clock_timestamp())
ORDER BY r.id DESC LIMIT 100)sql",
     {"request", "asked (UTC)", "requester", "purpose", "query", "epsilon", "state", "decides", "expires"},
     "----c----"},
    {"audit",
     "Audit",
     "What weakens the protection of your tables in this database, and how to mend it (dp_audit).",
     "Nothing was found.",
     false,
     "SELECT severity, object, finding, remedy FROM %s.dp_audit()",
     {"severity", "object", "finding", "remedy"},
     "---c"},
};
} // namespace

static picture::Data grid_of(const Source &source) {
    picture::Data grid = {
        {{"id", source.id}, {"title", source.title}, {"lead", source.lead}, {"nothing", source.nothing}}, {}};
    grid.lists["rows"] = {};
    for (int i = 0; source.columns[i] != nullptr; i++)
        grid.lists["columns"].push_back({{{"name", source.columns[i]}}, {}});
    return grid;
}

static void add_cell(std::vector<picture::Data> *cells, const Source &source, int column, const char *value) {
    const bool code = source.code[column] == 'c' && value != nullptr && value[0] != '\0';
    const char *shown = value == nullptr ? "" : page_text(value, source.code[column] == 'c' ? most_code : most_cell);
    border::core([&] {
        cells->push_back({{{"label", source.columns[column]}, {"code", code ? "yes" : ""}, {"value", shown}}, {}});
    });
}

static void add_rows(picture::Data *grid, const Source &source, const border::Spi &spi, uint64 nrows) {
    if (nrows > most_rows)
        border::core([&] {
            grid->texts["lead"] +=
                " The first " + std::to_string(most_rows) + " of " + std::to_string(nrows) + " lines.";
        });
    for (uint64 row = 0; row < Min(nrows, most_rows); row++) {
        std::vector<picture::Data> *cells = border::core([&] {
            auto &rows = grid->lists["rows"];
            rows.emplace_back();
            return &rows.back().lists["cells"];
        });
        for (int column = 0; source.columns[column] != nullptr; column++)
            add_cell(cells, source, column, spi.text(row, column + 1));
    }
}

static void add_table(picture::Report *report, const ReportCall &call, const Source &source) {
    picture::Data *grid = border::core([&] {
        auto &grids = &source <= sources + 1 ? report->first : report->tables; // what holds, and what was told
        grids.push_back(grid_of(source));
        return &grids.back();
    });
    Oid types[1] = {REGCLASSOID};
    Datum values[1] = {ObjectIdGetDatum(call.relation)};
    if (source.as_extension) {
        catalog::Visit visit = catalog::Visit::read();
        add_rows(grid, source, visit.spi, visit.run(source.sql, 1, types, values));
        visit.leave();
        return;
    }
    const char *schema = quote_identifier(get_namespace_name(get_func_namespace(call.function)));
    const char *refusal = refusal_of([&] { // an empty table, say, has nobody of whom something was told
        border::SettingsScope settings = border::SettingsScope::enter_for_catalog();
        border::Spi spi = border::Spi::connect();
        add_rows(grid, source, spi, spi.run(psprintf(source.sql, schema), false, 1, types, values));
        spi.finish();
        settings.leave();
    });
    if (refusal != nullptr)
        border::core([&] { grid->texts["nothing"] = refusal; });
}

void add_tables(picture::Report *report, const ReportCall &call) {
    for (const Source &source : sources)
        if (call.losses || strcmp(source.id, "losses") != 0)
            add_table(report, call, source);
}

} // namespace dp::sql
