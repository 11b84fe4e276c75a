// Privacy domains: the tables with data of the same people, which share one odometer, and how a row of each finds the unit
// (person) that it belongs to (formulas.md, 9). Backend region.
#pragma once

#include "catalog/access.hpp"

namespace dp::catalog {

constexpr int max_unit_columns = 4;
constexpr int max_unit_steps = 8;          // tables on a path
constexpr int max_declared_rows = 1 << 20; // of one unit

// How rows of a protected table find their unit: by columns that hold its values, or by one step to a table that does.
struct UnitPath {
    Oid relation;
    int ncolumns;
    AttrNumber *columns; // of the relation: the unit's values, or what refers to parent_key; 0: gone, or another's name
    bool direct;         // the columns hold the unit's values: no other table has to be read
    UnitPath *parent;    // null if direct, or when the parent is protected no more
    AttrNumber *parent_key; // of the parent, as many as columns; they cover a key of it. Null if direct
    bool keyed;             // direct, and the columns cover a key: one row of each unit (set by check_unit_path)
    int max_rows;           // declared: rows of one unit; 0: not declared
    int max_groups;         // declared: groups of one unit in an answer; 0: as max_rows
    int max_rows_per_group; // declared: rows of one unit in a group of an answer; 0: not declared
    // Says what it was declared to be.
    const char **names;     // of the columns
    Oid parent_relation;    // also of a direct step; InvalidOid: the columns are the unit by declaration
    const char **key_names; // of parent_key
    pg_uuid_t domain;
    int ntypes;
    const Oid *types; // of the unit's columns in all tables of the domain
    Oid unit_table;   // of the domain; InvalidOid: there is none any more
    List *tables;     // of the domain, also those that are gone; of the first step alone
};

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
