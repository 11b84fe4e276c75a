// Privacy domains: the tables with data of the same people, which share one odometer, and how a row of each finds the unit
// (person) that it belongs to (formulas.md, 9). Backend region.
#pragma once

#include "catalog/access.hpp"
#include "catalog/unit_path.hpp"

namespace dp::catalog {

// The path of a protected table; null where a row is a unit. Appends the versions of all catalog rows that it rests on.
UnitPath *read_unit_path(const Reading &reading, Oid relation, StringInfo versions);

// The tables of the path that must be read to find the unit (the relation itself excluded), nearest first: NIL if direct.
List *hidden_ancestors(const UnitPath *path);

// With all tables of the path locked: that they are still what they were declared to be, by their columns' types, owners and
// keys; sets keyed. Returns the ancestors and their parts, locked and checked like the table itself (check_protectable).
// Errors: 55000, naming the table and the remedy.
List *check_unit_path(UnitPath *path);

// A type that a unit may have: of built-in equality, with one text for each value and nothing of a user's in it.
bool is_unit_type(Oid type);
// 0A000 for a column of another type, or whose collation takes different texts for equal.
void check_unit_column(Oid relation, AttrNumber column);

// Whether the columns cover a unique, immediate, valid index without predicate or expressions, of default operator classes,
// that the active snapshot (the latest, if none is) can see as such, on a table without inheritance children, whose rows escape
// it. For a unit of one row, and for steps, equal values are in one row then. The caller holds a lock on the table. 55000 where only an
// index does whose collation has another version than the recorded one (collation.hpp).
bool covers_key(Oid relation, int ncolumns, const AttrNumber *columns);

} // namespace dp::catalog
