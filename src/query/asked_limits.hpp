// Reads the parts of a query that are about units, people with several rows (formulas.md, 9): it counts them by count(DISTINCT unit),
// and may say how many of their rows and groups it wants.
#pragma once

#include "catalog/domain.hpp"
#include "query/leaf.hpp"

namespace dp::query {

// 22023 unless all are within 1 .. catalog::max_declared_rows where they are given, and none is more than max_rows.
void check_limits(const Limits &limits);
// Defines the settings dp_rdr.max_rows and dp_rdr.max_groups, for statements that pass no limits.
void define_limit_settings();
// Returns the limits with those of the settings where none was passed. Of groups no more than a max_rows that was passed.
Limits or_as_set(Limits limits);
// One of them as an argument: 22023 for 0 and below, which stands for "not given" elsewhere.
int checked_limit(int value, const char *name);

// The columns of x in count(DISTINCT x), as column_number: a column, or a row of columns; NIL: it is anything else.
List *counted_columns(const Aggref *call);
// Whether these columns, all of one facade, are those of its table that hold the values of its units.
bool are_unit(const catalog::UnitPath *path, Oid view, const List *columns);
// Tells whether the columns are a unit by the catalog of now. For the place of an error in the text: rows::prepare checks the answer.
bool count_units_now(Oid view, const List *columns);

// Whether it is declared whose rows those of a view are, by the catalog of now.
bool has_unit_now(Oid view);
// The columns of a facade, int, by the catalog of now, whose rows with equal values are of one unit: those that hold its values, or
// those of a step to the parent; NIL: there are none, or not all of them are its.
struct UnitColumns {
    List *columns;
    bool direct; // they hold the unit's values
    int of_unit; // how many columns a unit has
};
UnitColumns unit_columns_now(Oid view);

// "count(DISTINCT a)" or "count(DISTINCT (a, b))" of a table whose rows hold their units' values; null: they do not. source: empty, or an
// alias with a dot.
const char *count_of_units(const catalog::UnitPath *path, const char *source);
// Returns count_of_units() of a view by the catalog of now; null too where rows are units.
const char *count_of_units_now(Oid view, const char *source);
// Returns what stands before the columns of a source in the statement: its alias with a dot where several are joined, else nothing.
const char *alias_of(const Leaf *leaf, const Source &source);

// Returns columns of a source, int, as column_number.
List *numbers_of(const Source &source, const List *columns);
// Whether these columns are those of the unit of a sub-SELECT with rows of units.
bool are_unit_of_people(const Source &source, const List *columns);

// Whether it is a column of a table, of which something may be declared; not one that a sub-SELECT computes.
bool is_table_column(const Leaf *leaf, Node *node);
// Returns the column that an argument is, seen through relabelings; null: it is an expression.
Var *argument_column(const Leaf *leaf, Node *argument);

} // namespace dp::query
