// Work under the settings of the internal statement, and as its role: the same text means the same there.
#pragma once

#include <type_traits>

#include "border/scope.hpp"

namespace dp::rows {

template <class Scope, class Work> auto within(const Scope &scope, Work &&work) {
    if constexpr (std::is_void_v<decltype(work())>) {
        work();
        scope.leave();
    } else {
        auto result = work();
        scope.leave();
        return result;
    }
}

template <class Work> auto pinned(Work &&work) {
    return within(border::SettingsScope::enter(), work);
}

template <class Work> auto pinned_as(Oid role, Work &&work) {
    return pinned([&] { return within(border::RoleScope::enter(role), work); });
}

} // namespace dp::rows
