// Sub-SELECTs with rows of units, as sources of a leaf (formulas.md, 9.12):
//
//   SELECT avg(n) FROM (SELECT patient_id, count(*) AS n FROM visits_dp GROUP BY patient_id) t
//
// Each is a leaf of its own, whose keys are its columns, and has no measures. Above it, it is a table of the domain.
#pragma once

#include "query/flatten_subselects.hpp"
#include "query/from.hpp"

namespace dp::query {

// 0A000: such a leaf, of a statement, names something of a query around it; also where the level above leaves that out.
void refuse_outer(Query *leaf, ParseState *source);

} // namespace dp::query
