// Intervals of expressions (formulas.md 8.8): whatever values are taken from the operands, the result lies between the ends, but
// for 2^-50 of the largest operand. Exact arithmetic says what the result is.
#include "privacy/interval.hpp"

#include <cmath>
#include <random>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

namespace {

using namespace dp::privacy;
using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

constexpr double nowhere = Span::nowhere;

cpp_rational exact(double x) {
    int exponent = 0;
    const double mantissa = std::frexp(x, &exponent);
    const cpp_rational m = cpp_int(static_cast<std::int64_t>(std::ldexp(mantissa, 53)));
    exponent -= 53;
    return exponent >= 0 ? cpp_rational(m * (cpp_int(1) << static_cast<unsigned>(exponent)))
                         : cpp_rational(m / (cpp_int(1) << static_cast<unsigned>(-exponent)));
}

// size: of the largest operand.
bool contains(const Span &span, const cpp_rational &x, double size) {
    const cpp_rational hair = exact(std::ldexp(size, -50));
    return (span.low == -nowhere || exact(span.low) <= x + hair) && (span.high == nowhere || x <= exact(span.high) + hair);
}

// The result of an operation is the largest operand that it is told by.
bool contains(const Span &span, const cpp_rational &x) {
    return contains(span, x, std::fabs(x.convert_to<double>()));
}

std::mt19937_64 bits(20260101);

// Of all sizes, often whole, sometimes the same as another.
double number() {
    switch (bits() % 5) {
    case 0:
        return static_cast<double>(static_cast<std::int64_t>(bits() % 21) - 10);
    case 1:
        return static_cast<double>(static_cast<std::int64_t>(bits() % 2000000) - 1000000) / 100;
    case 2:
        return std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits())), static_cast<int>(bits() % 80) - 100);
    case 3:
        return std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits())), static_cast<int>(bits() % 600) - 300);
    default:
        return static_cast<double>(static_cast<std::int64_t>(bits() % 200000)) * 0.07;
    }
}

Span span() {
    const double a = number(), b = number();
    return {std::min(a, b), std::max(a, b), -1};
}

double inside(const Span &of) {
    switch (bits() % 4) {
    case 0:
        return of.low;
    case 1:
        return of.high;
    default: {
        const double share = static_cast<double>(bits() % 1000) / 1000;
        return std::min(std::max(of.low + share * (of.high - of.low), of.low), of.high);
    }
    }
}

TEST(Expression, ArithmeticHoldsEveryResult) {
    for (int i = 0; i < 60000; ++i) {
        const Span a = span(), b = span();
        const double x = inside(a), y = inside(b);
        const double size = std::max(std::fabs(x), std::fabs(y));
        ASSERT_TRUE(contains(plus(a, b), exact(x) + exact(y), size)) << x << " " << y;
        ASSERT_TRUE(contains(minus(a, b), exact(x) - exact(y), size)) << x << " " << y;
        ASSERT_TRUE(contains(times(a, b), exact(x) * exact(y))) << x << " " << y;
        ASSERT_TRUE(contains(negated(a), -exact(x)));
        ASSERT_TRUE(contains(absolute(a), abs(exact(x))));
        ASSERT_TRUE(contains(hull(a, b), exact(x)) && contains(hull(a, b), exact(y)));
        ASSERT_TRUE(contains(sign_of(a), cpp_rational(x > 0 ? 1 : x < 0 ? -1 : 0)));
        if (!b.has_zero()) {
            ASSERT_TRUE(contains(over(a, b), exact(x) / exact(y))) << x << " " << y;
        } else {
            ASSERT_FALSE(over(a, b).bounded());
        }
    }
}

TEST(Expression, EndsAreSharpWhereTheyAreWhole) {
    const Span a{0, 110, 0}, b{-3, 5, 0};
    const Span product = times(a, a);
    EXPECT_EQ(0, product.low);
    EXPECT_EQ(12100, product.high);
    EXPECT_EQ(0, product.decimals);
    EXPECT_EQ(-330, times(a, b).low);
    EXPECT_EQ(550, times(a, b).high);
    EXPECT_EQ(-5, minus(a, b).low);
    EXPECT_EQ(113, minus(a, b).high);
    EXPECT_EQ(0, absolute(b).low);
    EXPECT_EQ(5, absolute(b).high);
}

TEST(Expression, WholeNumbersAreCutTowardsZero) {
    for (int i = 0; i < 4000; ++i) {
        const auto whole = [] { return static_cast<double>(static_cast<std::int64_t>(bits() % 41) - 20); };
        double ends[4] = {whole(), whole(), whole(), whole()};
        const Span a{std::min(ends[0], ends[1]), std::max(ends[0], ends[1]), 0};
        const Span b{std::min(ends[2], ends[3]), std::max(ends[2], ends[3]), 0};
        for (int x = static_cast<int>(a.low); x <= a.high; x += 3)
            for (int y = static_cast<int>(b.low); y <= b.high; ++y)
                if (y != 0) {
                    ASSERT_TRUE(contains(whole_over(a, b), cpp_rational(x / y)))
                        << x << "/" << y << " in " << a.low << ".." << a.high << " over " << b.low << ".." << b.high;
                    ASSERT_TRUE(contains(modulo(a, b), cpp_rational(x % y)));
                }
    }
    EXPECT_EQ(11, whole_over({0, 110, 0}, {10, 10, 0}).high);
    EXPECT_EQ(9, modulo({0, nowhere, 0}, {10, 10, 0}).high);
}

// To the nearest, down, up, towards zero: one of these is what a rounding does.
TEST(Expression, RoundingGoesNoFurther) {
    for (int i = 0; i < 30000; ++i) {
        const Span a = span();
        const double x = inside(a);
        if (std::fabs(x) > 1e12)
            continue;
        ASSERT_TRUE(contains(floor_of(a), cpp_rational(exact(std::floor(x)))));
        ASSERT_TRUE(contains(ceiling_of(a), cpp_rational(exact(std::ceil(x)))));
        for (int places : {-2, 0, 1, 3}) {
            const double unit = std::pow(10.0, std::abs(places));
            const double scaled = places > 0 ? x * unit : x / unit;
            for (double multiple : {std::round(scaled), std::nearbyint(scaled)}) {
                const cpp_rational rounded_value = places > 0 ? cpp_rational(exact(multiple) / exact(unit))
                                                              : cpp_rational(exact(multiple) * exact(unit));
                ASSERT_TRUE(contains(rounded(a, places), rounded_value)) << x << " to " << places;
            }
            const double cut = std::trunc(scaled);
            const cpp_rational value =
                places > 0 ? cpp_rational(exact(cut) / exact(unit)) : cpp_rational(exact(cut) * exact(unit));
            ASSERT_TRUE(contains(truncated(a, places), value)) << x << " to " << places;
        }
    }
}

TEST(Expression, InfiniteEndsStay) {
    const Span all, half{0, nowhere, 0}, one{1, 1, 0}, zero{0, 0, 0};
    EXPECT_FALSE(plus(all, one).bounded());
    EXPECT_FALSE(times(half, one).bounded());
    EXPECT_EQ(0, times(half, zero).high);
    EXPECT_EQ(0, times(half, {0, 5, 0}).low);
    EXPECT_EQ(nowhere, times(half, {0, 5, 0}).high);
    EXPECT_EQ(0, over(one, {2, nowhere, 0}).low);
    EXPECT_EQ(0.5, over(one, {2, nowhere, 0}).high);
    const Span large{1e300, 1e300, -1};
    EXPECT_EQ(nowhere, times(large, large).high);
    EXPECT_FALSE(bounds_of_span(times(large, large), false));
    EXPECT_FALSE(bounds_of_span(all, false));
}

TEST(Expression, NumbersOfTexts) {
    const Span tenth = *span_of_number("0.1");
    EXPECT_EQ(0.1, tenth.low);
    EXPECT_EQ(0.1, tenth.high);
    EXPECT_EQ(1, tenth.decimals);
    EXPECT_EQ(0, span_of_number("1.00")->decimals);
    EXPECT_EQ(2, span_of_number("10.25")->decimals);
    EXPECT_EQ(0, span_of_number("1e20")->decimals);
    EXPECT_EQ(7, span_of_number("1.5e-6")->decimals);
    EXPECT_EQ(0, span_of_number("0")->high);
    EXPECT_FALSE(span_of_number("NaN"));
    EXPECT_EQ(nowhere, span_of_number("1e400")->high);
}

// What becomes of a span: sum and avg clamp to it.
TEST(Expression, BoundsDiffer) {
    const auto texts = [](const Span &span, bool integer) {
        const Bounds bounds = *bounds_of_span(span, integer);
        return bounds.lower + ".." + bounds.upper;
    };
    EXPECT_EQ("0..1", texts({1, 1, 0}, true));
    EXPECT_EQ("-3..-2", texts({-3, -3, 0}, true));
    EXPECT_EQ("2.4..2.5", texts({2.5, 2.5, 1}, false));
    EXPECT_EQ("0..1", texts({0, 0, 0}, true));
    EXPECT_EQ("0..1", texts({0, 1e-300, -1}, false));
    EXPECT_EQ("0..7", texts(times(*span_of_number("0.07"), {0, 100, 0}), false));
    EXPECT_EQ("0..12100", texts({0, 12100, 0}, true));
    EXPECT_EQ("-2..3", texts({-2.5, 3.5, -1}, true));
    EXPECT_EQ("0.3..0.9", texts(plus(*span_of_number("0.1"), {0.2, 0.8, 1}), false));
    // Here a sum of doubles is wrong by more than a digit, and still tells what the sum of decimals is.
    EXPECT_EQ("0..2200000000.3", texts(plus({0, 1200000000.1, 6}, {0, 1000000000.2, 6}), false));
    for (int i = 0; i < 20000; ++i) {
        const Span a = span();
        const std::optional<Bounds> bounds = bounds_of_span(a, i % 2 == 0);
        if (!bounds)
            continue;
        ASSERT_LT(bounds->low, bounds->high);
        ASSERT_GE(bounds->sensitivity(), 1U);
        ASSERT_EQ(bounds->lower.find('e'), std::string::npos);
        if (i % 2 != 0 && a.low < a.high && std::max(-a.low, a.high) > 1e-250) {
            ASSERT_LE(bounds->low, a.low + std::fabs(a.low) * 1e-14 + 1e-250);
            ASSERT_GE(bounds->high, a.high - std::fabs(a.high) * 1e-14 - 1e-250);
        }
    }
}

// Multiples of 10^-d that lie between the ends lie between the bounds that come of it.
TEST(Expression, TighteningKeepsMultiples) {
    for (int i = 0; i < 40000; ++i) {
        const int decimals = static_cast<int>(bits() % 7);
        const auto first = static_cast<std::int64_t>(bits() % 2000000000) - 1000000000;
        const auto last = first + static_cast<std::int64_t>(bits() % 100000) + 1;
        const cpp_int power = pow(cpp_int(10), static_cast<unsigned>(decimals));
        const auto text = [&](std::int64_t n) {
            const std::string digits = cpp_int(n < 0 ? -n : n).str();
            const std::string padded =
                std::string(digits.size() <= static_cast<std::size_t>(decimals) ? decimals + 1 - digits.size() : 0,
                            '0') +
                digits;
            return (n < 0 ? "-" : "") + padded.substr(0, padded.size() - decimals) + (decimals > 0 ? "." : "") +
                   padded.substr(padded.size() - decimals);
        };
        Span span = hull(*span_of_number(text(first)), *span_of_number(text(last)));
        span.decimals = decimals;
        const std::optional<Bounds> bounds = bounds_of_span(span, false);
        ASSERT_TRUE(bounds);
        // Exact: the same numbers.
        ASSERT_EQ(span_of_number(bounds->lower)->low, span_of_number(text(first))->low)
            << bounds->lower << " " << text(first);
        ASSERT_EQ(span_of_number(bounds->upper)->high, span_of_number(text(last))->high)
            << bounds->upper << " " << text(last);
    }
}

} // namespace
