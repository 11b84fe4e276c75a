// A sub-SELECT with one row for each unit below an aggregation (formulas.md, 9.12):
//
//   SELECT avg(n) FROM (SELECT patient_id, count(*) AS n FROM visits_dp GROUP BY patient_id) t
//
// Such a level and the one above it are one leaf. What stands below, and its WHERE, are the leaf's sources; what the sub-SELECT
// aggregates are the columns that the leaf's keys, arguments and conditions are made of, Vars of unit_varno. So are columns of which
// one unit has one value: GROUP BY patient_id, sex. They stay what they are, Vars of the sources.
#pragma once

#include "query/aggregate_table.hpp"
#include "query/flatten_subselects.hpp"
#include "query/leaf.hpp"

namespace dp::query {

// ---- of a statement ----

// The query that the only item of FROM stands for, where that groups by the columns of the unit, whatever else it groups by; null: it
// is none such.
struct PerUnitItem {
    int index; // of its entry
    Level level;
};
PerUnitItem find_per_unit(const Level *level);
// Returns the query as it stands in the leaf: over the facades, without parts that do not matter there. `folded` is of the item's level,
// whose columns are the facades' already. names: String *, of its columns, where people look; they become different.
Query *per_unit_leaf(const Query *item, const List *names);
// 0A000: such a leaf, of a statement, names something of a query around it; also where the level above leaves that out.
void refuse_outer(Query *leaf, ParseState *source);

// ---- of a leaf ----

// The sub-SELECT of a leaf's query; null: it has none.
Query *per_unit_query(const Query *query);
// Checks what stands in it beside aggregates. Errors: 0A000 with the part that may not.
void check_per_unit(const Query *below, ParseState *source);
// Fills leaf->per_unit and leaf->counted: the leaf's sources are read. What the sub-SELECT aggregates becomes columns of unit_varno in
// the query; that the columns which it groups by have one value for a unit is for rows::prepare to check. 0A000: it does not group by
// the columns of a unit; an aggregate that has no bounded result, or that depends on the order of rows; the unit's columns named above.
void read_per_unit(Leaf *leaf, Query *query, Query *below, ParseState *source);

} // namespace dp::query
