// The plan of a leaf (core/query_plan): what is asked, by names instead of oids.
#pragma once

#include <vector>

#include "privacy/mechanism.hpp"

#include "query/leaf.hpp"

namespace dp::plan {
struct Plan;
}

namespace dp::rows {

// Puts the sub-SELECTs of a leaf, with their sources, into the order of their bytes, so that the order of what asks for them does not
// matter. Before anything else knows sources by their numbers.
void order_exists(query::Leaf *leaf, ParamListInfo parameters);

// Makes the plan of a leaf whose constants are folded. order: for each of the plan's measures its place among `measures`; those that no
// aggregate asks for come first. Both live in the current memory context. Under pinned settings.
const plan::Plan *plan_of(const query::Leaf *leaf, const std::vector<privacy::Measure> &measures, const int **order);

// Returns the SQL text of a plan, or of the arguments of a measure; and a text as a constant of such a text, with its escapes.
const char *text_of_plan(const plan::Plan *plan);
const char *text_of_arguments(const plan::Plan *plan, int measure);
const char *quoted_text(const char *text);
// Tells whether two keys of a plan have the same bytes, or two measures but for what is asked of one argument.
bool has_equal_parts(const plan::Plan *plan);
// Whether two plans have the same bytes.
bool is_same_plan(const plan::Plan *a, const plan::Plan *b);
// Returns its bytes without the names of its sources. without: a measure that is left out as well; -1: none.
bytea *bytes_of_plan(const plan::Plan *plan, int without);

} // namespace dp::rows
