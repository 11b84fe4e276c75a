// Prints a plan as SQL. The text follows from the plan alone, so two that differ have two texts.
#pragma once

#include "core/query_plan.hpp"

namespace dp::plan {

// Prints a plan that check() accepts: all parentheses, constants with their types, an alias for each source where a name comes twice.
// Characters that do not show, or change how others do, are printed as U&'\202E', in names too. Texts are UTF-8.
std::string print(const Plan &plan);

// Quotes a name, or a text, that way.
std::string quoted_name(std::string_view name);
std::string quoted_text(std::string_view text);

} // namespace dp::plan
