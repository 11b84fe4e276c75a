// Says where the values of an expression lie, by where those of its columns do (formulas.md, 8.8): arithmetic of intervals in
// doubles. The result becomes the bounds of a sum. Values are clamped to these on the lattice, whatever the expression gives: an
// interval that is wrong costs accuracy, never privacy.
#pragma once

#include <limits>
#include <optional>

#include "privacy/lattice.hpp"

namespace dp::privacy {

// Infinite ends: not bounded there. decimals: every value is a multiple of 10^-decimals (0: whole numbers); -1: nobody knows.
struct Span {
    static constexpr double nowhere = std::numeric_limits<double>::infinity();
    double low = -nowhere, high = nowhere;
    int decimals = -1;

    bool bounded() const { return low > -nowhere && high < nowhere; }
    bool has_zero() const { return low <= 0 && high >= 0; }
};

// Reads a decimal number; nothing for what is none.
std::optional<Span> span_of_number(const std::string &text);
// Returns the span of a column with declared bounds; decimals: those of its type.
Span span_of_bounds(const Bounds &bounds, int decimals);

// Plain arithmetic of doubles: none of these throws.
Span plus(const Span &a, const Span &b);
Span minus(const Span &a, const Span &b);
Span times(const Span &a, const Span &b);
Span over(const Span &a, const Span &b);       // unbounded where b has zero
Span whole_over(const Span &a, const Span &b); // of integers: cut towards zero; no divisor is zero
Span modulo(const Span &a, const Span &b);     // has the sign of a
Span negated(const Span &a);
Span absolute(const Span &a);
Span sign_of(const Span &a);
Span floor_of(const Span &a);
Span ceiling_of(const Span &a);
// To the nearest multiple of 10^-places; a half goes either way.
Span rounded(const Span &a, int places);
// Towards zero to a multiple of 10^-places.
Span truncated(const Span &a, int places);
// Both.
Span hull(const Span &a, const Span &b);
// Values rounded to a floating-point type, of single or double precision.
Span as_float(const Span &a, bool single);
// Values rounded to so many significant digits, as a cast to numeric does.
Span as_decimal(const Span &a, int digits);

// Returns the bounds that sum and avg clamp to. Their ends differ, and are multiples of what the values are multiples of. Nothing
// where the span is not bounded, or beyond 2^1000. integer_type: of the values.
std::optional<Bounds> bounds_of_span(const Span &span, bool integer_type);

} // namespace dp::privacy
