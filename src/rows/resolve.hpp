// Makes a question of a checked leaf.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Locks the table, checks that the view is a facade whose columns have not changed, reads bounds and groups.
// Errors: 55000 (not a restricted view, changed columns, no bounds declared ...), 54000 (too many groups).
// Everything is read under the one snapshot of `reading`. The leaf's constants are folded in place.
Question *prepare(const catalog::Reading &reading, query::Leaf *leaf, ParamListInfo parameters);
// Resolves a sub-SELECT with rows of units that is a source of a question. place: its, within the outermost one.
Question *prepare_people(const catalog::Reading &reading, query::Leaf *leaf, ParamListInfo parameters, const char *place);

} // namespace dp::rows
