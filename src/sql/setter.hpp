// Steps of setters: statements with parameters, options of a row of the catalog by one table, and reports that statements return.
#pragma once

#include "sql/controller.hpp"

namespace dp::sql {

// Runs one that changes what is declared of a table, whose declarations it locks first. Returns the number of its rows.
template <class... T> uint64 change(Oid relation, const char *sql, const T &...values) {
    catalog::Visit visit = catalog::Visit::write();
    lock_declarations(visit, relation);
    const uint64 n = run(visit, sql, values...);
    visit.leave();
    return n;
}

// ---- options -------------------------------------------------------------------------------------------------------

// Describes an option of a setter: an argument, and the column of its name that keeps it.
struct Option {
    const char *name;
    Oid type;
    const char *initial = nullptr;                          // in a new row, in SQL; null: NULL
    bool (*takes_away)(Datum value) = nullptr;              // null: no value does
    void (*check)(Datum value, const char *name) = nullptr; // raises 22023 for values that are none
    const char *const *words = nullptr;                     // all that there are; null ends them
};

// Describes the parameters of a setter's statements, $1 and so on: keys of the row, then options that are arguments, then columns
// that follow from them.
struct Options {
    const Option *list;
    int nkeys, narguments, n;
};

constexpr int most_options = 24;

// Holds a row as it is to be stored.
struct Row {
    const Options *options;
    Datum values[most_options];
    char nulls[most_options + 1]; // as SPI wants them
    bool has(int option) const { return nulls[option] == ' '; }
    const char *text_of(int option) const { return has(option) ? TextDatumGetCString(values[option]) : nullptr; }
    bool is(int option, const char *word) const { return has(option) && strcmp(text_of(option), word) == 0; }
    void set(int option, Datum value) {
        values[option] = value;
        nulls[option] = ' ';
    }
    void clear(int option) {
        values[option] = Datum{0};
        nulls[option] = 'n';
    }
};

// Copies a value, detoasted.
Datum copy_of(Datum value, Oid type);
// Reads the row of these keys; from: what follows FROM, where the row is `p`, and the keys are $1 and so on. It outlives the visit.
Row read_row(const catalog::Visit &visit, const Options &options, std::initializer_list<Oid> keys, const char *from);
// Replaces what is set by what is passed: NULL keeps it.
void merge_arguments(FunctionCallInfo fcinfo, Row *row);
// 22023 for a value that is none.
void check_values(const Row &row);
// Raises the first rule that the row breaks, as 22023. rules: rows of VALUES, each whether it is broken, message, detail and hint; the
// row is `p`.
void check_rules(const Row &row, const char *rules);
// Runs a statement with the row as its parameters.
uint64 run_with_row(const catalog::Visit &visit, const char *sql, Row *row);
// List the columns: "name, ...", "$1, ...", and those behind the keys as "name = $3, ...".
const char *column_names(const Options &options);
const char *parameters(const Options &options);
const char *assignments(const Options &options);

// Adapts a check that returns what it has read.
template <auto Check> void checks(Datum value, const char *name) {
    (void)Check(value, name);
}

} // namespace dp::sql
