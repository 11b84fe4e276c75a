// Finds values of enumerations by the names that SQL has for them.
#pragma once

#include <optional>
#include <string>

namespace dp::privacy {

// Returns the value, up to `last`, whose name_of() is `name`.
template <class Enum> std::optional<Enum> value_named(const std::string &name, Enum last) {
    for (int i = 0; i <= static_cast<int>(last); ++i)
        if (name == name_of(static_cast<Enum>(i)))
            return static_cast<Enum>(i);
    return std::nullopt;
}

} // namespace dp::privacy
