// Arguments and results of total replacements (query/total.hpp). Each replacement has the value of the
// built-in where that has one, and NULL where it would raise an error, and for a few NULL a little earlier, where the table of total
// functions says so. All are strict and cost O(row). The symbol of one is dp_total_ and the built-in's own.
#pragma once

#include <cerrno>
#include <cmath>

#include "border/guard.hpp"
#include "border/versions.hpp"

#define DP_TOTAL(name, ...)                                                                                            \
    DP_FUNCTION(dp_total_##name) {                                                                                     \
        return __VA_ARGS__;                                                                                            \
    }

namespace dp::sql {

template <class T> T argument(FunctionCallInfo fcinfo, int i) {
    if constexpr (std::is_same_v<T, float4>)
        return PG_GETARG_FLOAT4(i);
    else if constexpr (std::is_same_v<T, float8>)
        return PG_GETARG_FLOAT8(i);
    else
        return static_cast<T>(PG_GETARG_DATUM(i)); // an integer
}

template <class T> Datum datum(T value) {
    if constexpr (std::is_same_v<T, float4>)
        return Float4GetDatum(value);
    else if constexpr (std::is_same_v<T, float8>)
        return Float8GetDatum(value);
    else if constexpr (std::is_same_v<T, Numeric>)
        return NumericGetDatum(value);
    else
        return static_cast<Datum>(value);
}

inline Datum null(FunctionCallInfo fcinfo) {
    PG_RETURN_NULL();
}

// NULL where the type is too small.
template <class To, class From> Datum narrowed(FunctionCallInfo fcinfo, From value) {
    To result;
    return __builtin_add_overflow(value, 0, &result) ? null(fcinfo) : datum(result);
}

// Reads digits to the nearest float, as the server does. text: a number or a special word.
template <class T> Datum float_of_text(FunctionCallInfo fcinfo, const char *text) {
    errno = 0;
    T value;
    if constexpr (std::is_same_v<T, float4>)
        value = strtof(text, nullptr);
    else
        value = strtod(text, nullptr);
    if (errno == ERANGE && (value == 0 || std::isinf(value)))
        return null(fcinfo);
    return datum(value);
}

constexpr Size short_number = 128; // bytes: four digits in two

Numeric numeric_of(const char *text);
// Return the number, or null if it is so large, so small or so long that an operation would overflow, or take long. NaN and infinities
// are small. Nothing long is fetched.
Numeric handy(FunctionCallInfo fcinfo, Numeric value);
Numeric handy_numeric(FunctionCallInfo fcinfo, int i);
// Calls a built-in with the arguments of its replacement, if they are safe.
Datum guarded(FunctionCallInfo fcinfo, bool safe, PGFunction function);
// Returns the argument without white space around it; null when it is too long for any value.
char *trimmed(FunctionCallInfo fcinfo);

} // namespace dp::sql
