// Refusals, and statements over the extension's own tables, with parameters.
#pragma once

#include <initializer_list>

#include "catalog/settings.hpp"

namespace dp::sql {

// ---- refusals ------------------------------------------------------------------------------------------------------

// Raises an error with its remedy; detail: null for none.
[[noreturn]] void refuse_as(int sqlstate, const char *message, const char *detail, const char *hint);
// Raise it with 22023, 55000 and 0A000.
[[noreturn]] void refuse_value(const char *message, const char *hint, const char *detail = nullptr);
[[noreturn]] void refuse_state(const char *message, const char *hint, const char *detail = nullptr);
[[noreturn]] void refuse_form(const char *message, const char *hint, const char *detail = nullptr);

// ---- statements ----------------------------------------------------------------------------------------------------

// Holds a parameter of a statement.
struct Parameter {
    Oid type;
    Datum value;
    bool isnull = false;
    Parameter(Oid oid) : type(OIDOID), value(ObjectIdGetDatum(oid)) {}
    Parameter(int number) : type(INT4OID), value(Int32GetDatum(number)) {}
    Parameter(int64 number) : type(INT8OID), value(Int64GetDatum(number)) {}
    Parameter(bool flag) : type(BOOLOID), value(BoolGetDatum(flag)) {}
    Parameter(const char *text) // null for NULL
        : type(TEXTOID), value(text == nullptr ? Datum{0} : CStringGetTextDatum(text)), isnull(text == nullptr) {}
    Parameter(Oid of, Datum datum, bool null = false) : type(of), value(datum), isnull(null) {}
};
using Parameters = std::initializer_list<Parameter>;

// Runs a statement over the extension's own tables. Returns the number of its rows.
uint64 run(const catalog::Visit &visit, const char *sql, Parameters parameters);
// Return values of the last result, by row from 0 and column from 1; false and 0 for NULL.
bool flag_at(uint64 row, int column);
Oid oid_at(uint64 row, int column);

// ---- reports -------------------------------------------------------------------------------------------------------

// Runs a statement whose rows begin with sqlstate, message, detail and hint, and raises the first, unless it has no sqlstate.
void refuse_first(const catalog::Visit &visit, const char *sql, Parameters parameters);

// Holds messages that are kept until a visit is over, under whose settings none is sent.
struct Reports {
    uint64 n;
    char **texts; // four of each
};
// Returns the rows of a statement: severity ('warning' or 'notice'), message, detail and hint.
Reports reports_of(const catalog::Visit &visit, const char *sql, Parameters parameters);
void tell(const Reports &reports);

} // namespace dp::sql
