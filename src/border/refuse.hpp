// Raises refusals: a message that names the thing and its value, a hint that names the remedy, and a detail.
#pragma once

#include "border/postgres.hpp"

namespace dp {

// Raises an error with this SQLSTATE. Null leaves hint or detail out.
[[noreturn]] void refuse_with(int sqlstate, const char *message, const char *hint = nullptr,
                              const char *detail = nullptr);
// Raises 22023: a value, or a combination of values.
[[noreturn]] void refuse_value(const char *message, const char *hint = nullptr, const char *detail = nullptr);
// Raises 55000: settings, or a state.
[[noreturn]] void refuse_state(const char *message, const char *hint = nullptr, const char *detail = nullptr);
// Raises 0A000: a form that is not supported.
[[noreturn]] void refuse_form(const char *message, const char *hint = nullptr, const char *detail = nullptr);
// Raises 42501: rights.
[[noreturn]] void refuse_right(const char *message, const char *hint = nullptr, const char *detail = nullptr);
// Raises 54000: a size.
[[noreturn]] void refuse_size(const char *message, const char *hint = nullptr, const char *detail = nullptr);

} // namespace dp
