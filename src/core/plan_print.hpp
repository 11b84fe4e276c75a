// Prints a plan as SQL. The text follows from the plan alone, so two that differ have two texts.
#pragma once

#include "core/query_plan.hpp"

namespace dp::plan {

// Prints a plan: all parentheses, constants with their types, an alias for each source where a name comes twice.
// utf8: its texts are; else only what does not show in ASCII is escaped.
std::string print(const Plan &plan, bool utf8 = true);
// Prints what a measure takes, as it stands there.
std::string print_arguments(const Plan &plan, std::size_t measure, bool utf8 = true);

} // namespace dp::plan
