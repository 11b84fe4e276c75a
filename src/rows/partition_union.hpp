// An internal statement over a table whose partitions are kept by several servers: one aggregation for each leaf, computed where
// the leaf is, and one over their results. Rows do not travel (architecture.md, 3.6).
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

// SELECT keys, aggregates FROM table WHERE ... GROUP BY keys becomes
// SELECT keys, sums FROM (SELECT keys, aggregates FROM leaf WHERE ... GROUP BY keys UNION ALL ...) GROUP BY keys.
// `parts`: the table and all its parts. Leaves whose bounds WHERE refutes are left out.
Query *over_leaves(const Query *query, const List *parts);

// Returns SELECT ... UNION ALL SELECT ...; of one query that.
Query *union_all(List *queries);

// The statement of one leaf.
Query *over_leaf(const Query *query, Oid leaf);
// The leaves that over_leaves() reads: oids.
List *leaves_to_read(const Query *query, const List *parts);

} // namespace dp::rows
