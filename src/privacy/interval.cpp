#include "privacy/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "privacy/exact.hpp"

namespace dp::privacy {

namespace {

constexpr double nowhere = Span::nowhere;
constexpr double largest_end = 0x1p1000, smallest_magnitude = 0x1p-900;
constexpr double distinct_multiples = 0x1p51; // in units of 10^-d: below it doubles tell the multiples apart
constexpr double slack = 0x1p-52; // relative: a product that is rounded past a multiple is moved back over it
constexpr double hair = 0x1p-50;  // relative to the largest operand: more than what a sum is wrong by
constexpr int most_decimals = 300, exact_powers = 22;

double power_of_ten(int n) {
    return std::pow(10.0, n);
}

int of_both(int a, int b) {
    return a < 0 || b < 0 ? -1 : std::max(a, b);
}

bool has_distinct_multiples(double end, int decimals) {
    return decimals >= 0 && decimals <= exact_powers && std::fabs(end) * power_of_ten(decimals) < distinct_multiples;
}

// Moves an end to the multiple of 10^-decimals that arithmetic in doubles has missed by less than half of one.
double snapped(double end, int decimals) {
    const double unit = power_of_ten(decimals);
    return has_distinct_multiples(end, decimals) ? std::nearbyint(end * unit) / unit : end;
}

Span snapped(const Span &a) {
    return {snapped(a.low, a.decimals), snapped(a.high, a.decimals), a.decimals};
}

// A difference of large numbers may be all rounding: the sum is moved by that. direction: -1 or 1.
double sum(double a, double b, int decimals, double direction) {
    const double end = a + b;
    if (std::isinf(end) || (end - a == b && end - b == a) || has_distinct_multiples(end, decimals))
        return snapped(end, decimals);
    return end + direction * hair * std::max(std::fabs(a), std::fabs(b));
}

double product(double a, double b) {
    return a == 0 || b == 0 ? 0 : a * b; // also where the other one is infinite: no value is
}

double quotient(double a, double b) {
    return a == 0 || std::isinf(b) ? 0 : a / b; // of an end that no value reaches
}

// Results beyond all doubles bound nothing.
template <class Operation> Span extremes(const Span &a, const Span &b, Operation operation, int decimals) {
    const auto [low, high] = std::minmax(
        {operation(a.low, b.low), operation(a.low, b.high), operation(a.high, b.low), operation(a.high, b.high)});
    return low == nowhere || high == -nowhere ? Span{} : snapped({low, high, decimals});
}

// Values rounded by a monotone function, which is also applied to the ends.
template <class Rounding> Span at_ends(const Span &a, Rounding rounding) {
    return {std::min(a.low, rounding(a.low)), std::max(a.high, rounding(a.high)), a.decimals == 0 ? 0 : -1};
}

// Ends in units of 10^-places become whole. They may be rounded past the multiple that they are.
template <class Low, class High> Span to_places(const Span &a, int places, Low low, High high) {
    if (a.decimals >= 0 && a.decimals <= places)
        return a;
    const double unit = power_of_ten(places);
    const auto scaled = [&](double end, double direction) {
        return end * unit + direction * std::fabs(end * unit) * slack;
    };
    return snapped({low(scaled(a.low, -1)) / unit, high(scaled(a.high, 1)) / unit, std::max(0, places)});
}

// 0 for a whole number; -1 where there are too many.
int decimals_of(const exact::Scanned &number) {
    const std::size_t last = number.digits.find_last_not_of('0');
    if (last == std::string::npos)
        return 0;
    const long behind = -(number.exponent + static_cast<long>(number.digits.size() - 1 - last));
    return behind > most_decimals ? -1 : static_cast<int>(std::max(0L, behind));
}

// Returns the shortest text that is this number and has no exponent.
std::string text_of(double x) {
    char text[1500];
    int places = 0;
    do
        std::snprintf(text, sizeof text, "%.*f", places, x + 0.0); // never -0
    while (std::strtod(text, nullptr) != x && ++places < most_decimals);
    return text;
}

// Values that are multiples of 10^-decimals lie between multiples of it.
Span tightened(const Span &a) {
    if (!has_distinct_multiples(a.low, a.decimals) || !has_distinct_multiples(a.high, a.decimals))
        return a;
    const double unit = power_of_ten(a.decimals), low = a.low * unit, high = a.high * unit;
    const double first = std::ceil(low - std::fabs(low) * slack), last = std::floor(high + std::fabs(high) * slack);
    if (first > last) // no value lies there
        return {std::floor(low) / unit, std::ceil(high) / unit, a.decimals};
    return {first / unit, last / unit, a.decimals};
}

} // namespace

std::optional<Span> span_of_number(const std::string &text) {
    const std::optional<exact::Scanned> scanned = exact::scan(text);
    if (!scanned)
        return std::nullopt;
    const double value = std::strtod(text.c_str(), nullptr);
    if (std::isinf(value)) // beyond all doubles
        return Span{value > 0 ? largest_end : -nowhere, value > 0 ? nowhere : -largest_end, -1};
    return Span{value, value, decimals_of(*scanned)};
}

Span span_of_bounds(const Bounds &bounds, int decimals) {
    return tightened({bounds.low, bounds.high, decimals});
}

Span plus(const Span &a, const Span &b) {
    const int decimals = of_both(a.decimals, b.decimals);
    return {sum(a.low, b.low, decimals, -1), sum(a.high, b.high, decimals, 1), decimals};
}

Span minus(const Span &a, const Span &b) {
    return plus(a, negated(b));
}

Span times(const Span &a, const Span &b) {
    const bool known = a.decimals >= 0 && b.decimals >= 0 && a.decimals + b.decimals <= most_decimals;
    return extremes(a, b, product, known ? a.decimals + b.decimals : -1);
}

Span over(const Span &a, const Span &b) {
    return b.has_zero() ? Span{} : extremes(a, b, quotient, -1);
}

Span whole_over(const Span &a, const Span &b) {
    if (!b.has_zero())
        return truncated(over(a, b), 0);
    // a divisor of size 1 at least
    const double most = std::max(std::fabs(a.low), std::fabs(a.high));
    if (b.low == 0)
        return {std::min(a.low, 0.0), std::max(a.high, 0.0), 0};
    if (b.high == 0)
        return {std::min(-a.high, 0.0), std::max(-a.low, 0.0), 0};
    return {-most, most, 0};
}

Span modulo(const Span &a, const Span &b) {
    const int decimals = of_both(a.decimals, b.decimals);
    const double most = std::max(std::fabs(b.low), std::fabs(b.high));
    const double divisor = decimals == 0 ? std::max(0.0, most - 1) : most;
    return {std::max(std::min(a.low, 0.0), -divisor), std::min(std::max(a.high, 0.0), divisor), decimals};
}

Span negated(const Span &a) {
    return {-a.high, -a.low, a.decimals};
}

Span absolute(const Span &a) {
    if (a.low >= 0)
        return a;
    return a.high <= 0 ? negated(a) : Span{0, std::max(-a.low, a.high), a.decimals};
}

Span sign_of(const Span &a) {
    return {a.low > 0 ? 1.0 : a.low == 0 ? 0.0 : -1.0, a.high < 0 ? -1.0 : a.high == 0 ? 0.0 : 1.0, 0};
}

Span floor_of(const Span &a) {
    return {std::floor(a.low), std::floor(a.high), 0};
}

Span ceiling_of(const Span &a) {
    return {std::ceil(a.low), std::ceil(a.high), 0};
}

Span rounded(const Span &a, int places) {
    return to_places(
        a, places, [](double x) { return std::ceil(x - 0.5); }, [](double x) { return std::floor(x + 0.5); });
}

Span truncated(const Span &a, int places) {
    const auto cut = [](double x) { return std::trunc(x); };
    return to_places(a, places, cut, cut);
}

Span hull(const Span &a, const Span &b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), of_both(a.decimals, b.decimals)};
}

Span as_float(const Span &a, bool single) {
    return at_ends(a, [single](double x) {
        const bool fits = std::fabs(x) <= std::numeric_limits<float>::max();
        return single && fits ? static_cast<double>(static_cast<float>(x)) : x;
    });
}

Span as_decimal(const Span &a, int digits) {
    return at_ends(a, [digits](double x) {
        char text[40];
        std::snprintf(text, sizeof text, "%.*g", digits, x);
        return std::strtod(text, nullptr);
    });
}

std::optional<Bounds> bounds_of_span(const Span &span, bool integer_type) {
    if (!(span.low >= -largest_end && span.high <= largest_end))
        return std::nullopt;
    Span kept = tightened(integer_type ? Span{span.low, span.high, 0} : span);
    if (kept.low == kept.high) { // D is that of the value, and no other is far from it
        const double size = std::fabs(kept.low),
                     next = kept.decimals >= 0 ? std::max(power_of_ten(-kept.decimals), size * hair) : size / 1024;
        (kept.low > 0 ? kept.low : kept.high) += kept.low > 0 ? -next : next;
    } else if (!(kept.low < kept.high))
        kept = {std::min(kept.low, 0.0), std::max(kept.high, 0.0), kept.decimals};
    if (std::max(std::fabs(kept.low), std::fabs(kept.high)) < smallest_magnitude)
        kept = {0, 1, 0};
    return make_bounds(text_of(kept.low), text_of(kept.high), integer_type || kept.decimals == 0);
}

} // namespace dp::privacy
