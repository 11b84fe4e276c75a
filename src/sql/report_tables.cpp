// The parts of a report that are about the table whatever is asked: audit.
#include "border/scope.hpp"
#include "catalog/access.hpp"
#include "sql/report.hpp"

namespace dp::sql {

namespace {
constexpr int most_cell = 600; // characters

// A table of the page and the statement that fills it, all of its columns as text. $1: the protected table.
struct Source {
    const char *id, *title, *lead, *nothing;
    bool
        as_extension; // reads the extension's own tables; else with the caller's rights, %s being the schema of its functions
    const char *sql;
    const char *columns[8];
    const char *code; // one character a column: c for a statement
};
const Source sources[] = {
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

static void begin_table(picture::Table *table, const Source &source) {
    table->id = source.id;
    table->title = source.title;
    table->lead = source.lead;
    table->nothing = source.nothing;
    for (int i = 0; source.columns[i] != nullptr; i++) {
        table->columns.push_back(source.columns[i]);
        table->code.push_back(source.code[i] == 'c');
    }
}

static void add_rows(picture::Table *table, const border::Spi &spi, uint64 nrows, int ncolumns) {
    for (uint64 row = 0; row < nrows; row++) {
        border::core([&] { table->rows.emplace_back(); });
        for (int column = 1; column <= ncolumns; column++) {
            char *value = spi.text(row, column);
            const char *shown = value == nullptr ? "" : page_text(value, most_cell);
            border::core([&] { table->rows.back().push_back(shown); });
        }
    }
}

static void add_table(picture::Report *report, const ReportCall &call, const Source &source) {
    picture::Table *table = border::core([&] {
        report->tables.emplace_back();
        begin_table(&report->tables.back(), source);
        return &report->tables.back();
    });
    int ncolumns = static_cast<int>(table->columns.size());
    Oid types[1] = {REGCLASSOID};
    Datum values[1] = {ObjectIdGetDatum(call.relation)};
    if (source.as_extension) {
        catalog::Visit visit = catalog::Visit::read();
        add_rows(table, visit.spi, visit.run(source.sql, 1, types, values), ncolumns);
        visit.leave();
        return;
    }
    const char *schema = quote_identifier(get_namespace_name(get_func_namespace(call.function)));
    border::SettingsScope settings = border::SettingsScope::enter_for_catalog();
    border::Spi spi = border::Spi::connect();
    add_rows(table, spi, spi.run(psprintf(source.sql, schema), false, 1, types, values), ncolumns);
    spi.finish();
    settings.leave();
}

void add_tables(picture::Report *report, const ReportCall &call) {
    for (const Source &source : sources)
        add_table(report, call, source);
}

} // namespace dp::sql
