// The way from a row of a protected table to the unit whose it is.
#pragma once

#include "border/postgres.hpp"

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

} // namespace dp::catalog
