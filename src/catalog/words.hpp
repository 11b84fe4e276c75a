// Spells enums as columns and JSON have them.
#pragma once

#include <optional>
#include <string>

#include "privacy/mechanism.hpp"

#include "catalog/settings.hpp"

namespace dp::catalog {

inline const char *name_of(privacy::Mechanism mechanism) {
    return mechanism == privacy::Mechanism::laplace     ? "laplace"
           : mechanism == privacy::Mechanism::automatic ? "auto"
                                                        : "gaussian";
}

inline std::optional<privacy::Mechanism> mechanism_from_name(const std::string &name) {
    for (privacy::Mechanism mechanism :
         {privacy::Mechanism::laplace, privacy::Mechanism::gaussian, privacy::Mechanism::automatic})
        if (name == name_of(mechanism))
            return mechanism;
    return std::nullopt;
}

inline std::optional<Selection> selection_from_name(const std::string &name) {
    if (name == "profile")
        return Selection::profile;
    if (name == "released")
        return Selection::released;
    if (name == "within_data")
        return Selection::within_data;
    return name == "within_domain" ? std::optional<Selection>(Selection::within_domain) : std::nullopt;
}

} // namespace dp::catalog
