// Names, texts, types and constants of a plan as SQL.
#pragma once

#include "core/query_plan.hpp"

namespace dp::plan {

struct Words {
    bool utf8; // texts are; else characters beyond ASCII are unknown, and stay

    // Quotes a name, or a text. Characters that do not show, or change how others do, become U&'\202E'.
    std::string quoted_name(std::string_view name) const;
    std::string quoted_text(std::string_view text) const;

    // Prints a name behind its schema.
    std::string printed(const Name &name) const;
    std::string printed(const Type &type) const;
    // Prints a number whose spelling tells its type, or a text with its type behind it. is_key: of a key, where a number by itself
    // would be the place of a column.
    std::string printed_constant(const Node &node, bool is_key) const;
};

} // namespace dp::plan
