// Adds up what units bring where Citus keeps them, all rows of a unit in one shard: clipped there, before anything travels.
//
//   SELECT (r).part, sum((r).amount)
//   FROM (SELECT dp_rdr.parts(spec, brought) AS r FROM (SELECT dp_rdr.cells(..) AS brought, unit.. FROM .. GROUP BY unit..) person) p
//   GROUP BY 1
//
// A part names a group, a coordinate, and a value where values are counted. Its sum over units is one row of a shard. Citus runs all
// of it inside each shard but the last sum.
#pragma once

#include "rows/unit_contribution.hpp"

namespace dp::rows {

// Returns the statement above over one that has a row for each unit, whose first column is what it brings.
Query *over_parts(const Question *question, Query *units);
// Reads one row of it: what all units of a shard bring of one part, clipped.
UnitContribution read_part(const Question *question, const Datum *columns);

// Before the charge, where Citus keeps the rows: plans the statement. 0A000 where it would not run inside the shards; then rows of people
// would travel.
void check_pushed_down(const Question *question, Query *(*statement)(const Question *question));
// Says whether Citus runs a statement inside the shards, with no result in between that it writes to files.
bool is_pushed_down(const PlannedStmt *plan);

} // namespace dp::rows
