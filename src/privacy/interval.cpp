#include "privacy/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "privacy/exact.hpp"

namespace dp::privacy {

namespace {

constexpr double nowhere = Span::nowhere;
constexpr double largest_end = 0x1p1000, smallest_magnitude = 0x1p-900;
constexpr double exact_limit = 0x1p53;     // whole numbers below it are doubles
constexpr double residue_limit = 0x1p-900; // below it the rest of a product may not be a double
constexpr int most_decimals = 300;

double down(double x) {
    return std::nextafter(x, -nowhere);
}
double up(double x) {
    return std::nextafter(x, nowhere);
}

// Bounds an exact result, given the nearest double and the sign of the rounding error.
struct Ends {
    double low, high;
};
Ends ends_of(double value, double rest) {
    if (std::isinf(value)) // too large for a double, or an end that was infinite
        return value > 0 ? Ends{std::numeric_limits<double>::max(), value}
                         : Ends{value, -std::numeric_limits<double>::max()};
    return {rest < 0 ? down(value) : value, rest > 0 ? up(value) : value};
}

// Knuth's two-sum: the rest is exact.
Ends add(double a, double b) {
    if (std::isinf(a) || std::isinf(b))
        return {a + b, a + b};
    const double s = a + b, of_b = s - a;
    return std::isinf(s) ? ends_of(s, 0) : ends_of(s, (a - (s - of_b)) + (b - of_b));
}

Ends multiply(double a, double b) {
    if (a == 0 || b == 0) // also where the other one is infinite: no value is
        return {0, 0};
    const double p = a * b;
    if (std::isinf(a) || std::isinf(b))
        return {p, p};
    if (std::fabs(p) < residue_limit)
        return {down(p), up(p)};
    return std::isinf(p) ? ends_of(p, 0) : ends_of(p, std::fma(a, b, -p));
}

Ends divide(double a, double b) {
    if (a == 0 || std::isinf(b)) // of an end that no value reaches
        return {0, 0};
    const double q = a / b;
    if (std::isinf(a))
        return {q, q};
    if (std::fabs(q) < residue_limit || std::fabs(a) < residue_limit)
        return {down(q), up(q)};
    if (std::isinf(q))
        return ends_of(q, 0);
    const double rest = std::fma(-q, b, a); // a - q b, exact
    return ends_of(q, rest == 0 ? 0 : (rest > 0) == (b > 0) ? 1.0 : -1.0);
}

template <class Operation> Span extremes(const Span &a, const Span &b, Operation operation) {
    Span result{nowhere, -nowhere, -1};
    for (double x : {a.low, a.high})
        for (double y : {b.low, b.high}) {
            const Ends ends = operation(x, y);
            result.low = std::min(result.low, ends.low);
            result.high = std::max(result.high, ends.high);
        }
    return result;
}

int of_both(int a, int b) {
    return a < 0 || b < 0 ? -1 : std::max(a, b);
}

double power_of_ten(int n) {
    return std::pow(10.0, n); // exact up to 10^22; where it is not, the ends are moved outwards
}

// A multiple of 10^-places that is not above x: the largest, but for what rounding may cost.
double floor_to(double x, int places) {
    if (std::isinf(x))
        return x;
    if (places == 0)
        return std::floor(x);
    const double unit = power_of_ten(std::abs(places));
    const double scaled = places > 0 ? multiply(x, unit).low : divide(x, unit).low;
    if (!(std::fabs(scaled) < exact_limit)) // as many digits as a double has, or more
        return x;
    const double multiple = std::floor(scaled);
    return places > 0 ? divide(multiple, unit).low : multiply(multiple, unit).low;
}
double ceiling_to(double x, int places) {
    return -floor_to(-x, places);
}

exact::Ratio ratio_of(double x) {
    int exponent = 0;
    const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
    exponent -= 53;
    exact::Ratio ratio;
    ratio.numerator = exact::cpp_int(mantissa) << std::max(exponent, 0);
    ratio.denominator <<= std::max(-exponent, 0);
    return ratio;
}

std::optional<exact::Ratio> ratio_of(const std::string &text) {
    const std::optional<exact::Scanned> scanned = exact::scan(text);
    if (!scanned || std::labs(scanned->exponent) > 20000 || scanned->digits.size() > 20000)
        return std::nullopt;
    return exact::ratio_of(*scanned);
}

// The nearest double, or its neighbour that lies outwards.
Ends ends_of_number(const std::string &text) {
    const std::optional<exact::Ratio> number = ratio_of(text);
    if (!number)
        return {-nowhere, nowhere};
    const double nearest = exact::nearest_double(*number);
    if (std::isinf(nearest))
        return ends_of(nearest, 0);
    const exact::Ratio shown = ratio_of(nearest);
    return {*number < shown ? down(nearest) : nearest, shown < *number ? up(nearest) : nearest};
}

int decimals_of_number(const std::string &text) {
    const std::optional<exact::Scanned> scanned = exact::scan(text);
    if (!scanned || scanned->digits.empty())
        return 0;
    const auto last = static_cast<long>(scanned->digits.find_last_not_of('0'));
    const long behind = -(scanned->exponent + static_cast<long>(scanned->digits.size()) - 1 - last);
    return behind > most_decimals ? -1 : static_cast<int>(std::max(0L, behind));
}

// Without an exponent and trailing zeros.
std::string text_of(double x, int decimals) {
    const int digits = x == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::fabs(x)))) + 1; // before the point
    int places = std::max(0, 17 - digits);
    if (decimals >= 0 && digits + decimals <= 15) // as many as it has
        places = decimals;
    char text[1500];
    std::snprintf(text, sizeof text, "%.*f", places, x);
    if (std::strchr(text, '.') != nullptr) {
        std::size_t length = std::strlen(text);
        while (text[length - 1] == '0')
            --length;
        text[text[length - 1] == '.' ? length - 1 : length] = '\0';
    }
    return std::strcmp(text, "-0") == 0 ? "0" : text;
}

// Values that are multiples of 10^-decimals lie between multiples of it.
Span tightened(const Span &a) {
    constexpr int exact_powers = 22;
    if (a.decimals < 0 || a.decimals > exact_powers || !a.bounded())
        return a;
    const double unit = power_of_ten(a.decimals), low = a.low * unit, high = a.high * unit;
    if (!(std::fabs(low) < exact_limit / 4 && std::fabs(high) < exact_limit / 4))
        return a;
    // The product may be rounded past the multiple that it is.
    const double hair = a.decimals == 0 ? 0 : 0x1p-51;
    const double first = std::ceil(low - std::fabs(low) * hair), last = std::floor(high + std::fabs(high) * hair);
    if (first > last) // no value lies there
        return {std::floor(low) / unit, std::ceil(high) / unit, a.decimals};
    return {first / unit, last / unit, a.decimals};
}

} // namespace

std::optional<Span> span_of_number(const std::string &text) {
    if (!exact::scan(text))
        return std::nullopt;
    const Ends ends = ends_of_number(text);
    return Span{ends.low, ends.high, decimals_of_number(text)};
}

Span span_of_bounds(const Bounds &bounds, int decimals) {
    return tightened({ends_of_number(bounds.lower).low, ends_of_number(bounds.upper).high, decimals});
}

Span plus(const Span &a, const Span &b) {
    return {add(a.low, b.low).low, add(a.high, b.high).high, of_both(a.decimals, b.decimals)};
}

Span minus(const Span &a, const Span &b) {
    return plus(a, negated(b));
}

Span times(const Span &a, const Span &b) {
    Span product = extremes(a, b, multiply);
    product.decimals =
        a.decimals < 0 || b.decimals < 0 || a.decimals + b.decimals > most_decimals ? -1 : a.decimals + b.decimals;
    return product;
}

Span over(const Span &a, const Span &b) {
    return b.has_zero() ? Span{} : extremes(a, b, divide);
}

Span whole_over(const Span &a, const Span &b) {
    Span quotient;
    if (!b.has_zero())
        quotient = truncated(extremes(a, b, divide), 0);
    else { // a divisor of size 1 at least
        const double most = std::max(std::fabs(a.low), std::fabs(a.high));
        quotient = {b.low == 0 ? std::min(a.low, 0.0) : -most, b.low == 0 ? std::max(a.high, 0.0) : most, 0};
        if (b.low < 0 && b.high == 0)
            quotient = {std::min(-a.high, 0.0), std::max(-a.low, 0.0), 0};
    }
    quotient.decimals = 0;
    return quotient;
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
    if (a.decimals >= 0 && a.decimals <= places)
        return a;
    if (places > 0)
        return {floor_to(a.low, places), ceiling_to(a.high, places), places};
    // Halves go either way: away from 0, or to the even one.
    const double unit = std::pow(10.0, -places), low = a.low / unit, high = a.high / unit;
    return {std::min(std::round(low), std::nearbyint(low)) * unit,
            std::max(std::round(high), std::nearbyint(high)) * unit, 0};
}

Span truncated(const Span &a, int places) {
    if (a.decimals >= 0 && a.decimals <= places)
        return a;
    if (places <= 0) {
        const double unit = std::pow(10.0, -places);
        return {std::trunc(a.low / unit) * unit, std::trunc(a.high / unit) * unit, 0};
    }
    return {a.low < 0 ? floor_to(a.low, places) : std::max(0.0, floor_to(a.low, places)),
            a.high > 0 ? ceiling_to(a.high, places) : std::min(0.0, ceiling_to(a.high, places)), std::max(0, places)};
}

Span hull(const Span &a, const Span &b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), of_both(a.decimals, b.decimals)};
}

// Rounding is monotone, and the ends are doubles themselves.
Span as_float(const Span &a, bool single) {
    Span span{a.low, a.high, a.decimals == 0 ? 0 : -1};
    if (single && a.bounded()) {
        constexpr double largest = std::numeric_limits<float>::max(), below = 0x1p-23;
        const auto is_float = [](double x) {
            return std::fabs(x) <= largest && static_cast<double>(static_cast<float>(x)) == x;
        };
        if (!is_float(a.low))
            span.low -= std::fabs(a.low) * below + 0x1p-149;
        if (!is_float(a.high))
            span.high += std::fabs(a.high) * below + 0x1p-149;
    }
    return span;
}

Span as_decimal(const Span &a, int digits) {
    Span span{a.low, a.high, a.decimals == 0 ? 0 : -1};
    const double hair = std::pow(10.0, 1 - digits);
    const auto stays = [&](double x) {
        char text[400];
        std::snprintf(text, sizeof text, "%.*g", digits, x);
        return std::strtod(text, nullptr) == x;
    };
    if (!stays(a.low))
        span.low -= std::fabs(a.low) * hair;
    if (!stays(a.high))
        span.high += std::fabs(a.high) * hair;
    return span;
}

std::optional<Bounds> bounds_of_span(const Span &span, bool integer_type) {
    if (!(span.low >= -largest_end && span.high <= largest_end))
        return std::nullopt;
    Span kept = integer_type ? Span{span.low, span.high, 0} : span;
    kept = tightened(kept);
    if (kept.low == kept.high) { // D is that of the value, and no other is far from it
        const double next = kept.decimals >= 0 ? std::pow(10.0, -kept.decimals) : std::fabs(kept.low) / 1024;
        (kept.low > 0 ? kept.low : kept.high) += kept.low > 0 ? -next : next;
    } else if (!(kept.low < kept.high))
        kept = {std::min(kept.low, 0.0), std::max(kept.high, 0.0), kept.decimals};
    if (std::max(std::fabs(kept.low), std::fabs(kept.high)) < smallest_magnitude)
        kept = {0, 1, 0};
    const std::string lower = text_of(kept.low, kept.decimals);
    std::string upper = text_of(kept.high, kept.decimals);
    if (lower == upper) // more digits than are printed
        upper = text_of(kept.high + std::max(1.0, std::fabs(kept.high) * 0x1p-40), kept.decimals);
    return make_bounds(lower, upper, integer_type || kept.decimals == 0);
}

} // namespace dp::privacy
