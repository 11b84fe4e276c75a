// The ends of intervals, dp_low and dp_high: the law of what is drawn, summed exactly, and rounding that goes outwards only.
#include "measured.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/scaled_numbers.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

namespace {

using namespace dp::privacy;
using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

constexpr int128 largest = static_cast<int128>(~uint128{0} >> 1);
constexpr double largest_double = std::numeric_limits<double>::max();

cpp_int whole(int128 n) {
    const uint128 magnitude = n < 0 ? -static_cast<uint128>(n) : static_cast<uint128>(n);
    const cpp_int value =
        (cpp_int(static_cast<std::uint64_t>(magnitude >> 64)) << 64) | static_cast<std::uint64_t>(magnitude);
    return n < 0 ? cpp_int(-value) : value;
}

cpp_rational scaled(int128 n, int exponent) {
    return exponent >= 0 ? cpp_rational(whole(n) << exponent) : cpp_rational(whole(n), cpp_int(1) << -exponent);
}

cpp_rational parsed(const std::string &text) {
    const std::size_t point = text.find('.');
    if (point == std::string::npos)
        return cpp_rational(cpp_int(text));
    std::string digits = text;
    digits.erase(point, 1);
    const bool negative = digits[0] == '-';
    digits.erase(0, digits.find_first_not_of("-0"));
    const cpp_rational magnitude(
        cpp_int(digits.empty() ? "0" : digits),
        boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(text.size() - point - 1)));
    return negative ? cpp_rational(-magnitude) : magnitude;
}

template <class Check> void for_numbers(Check &&check) {
    std::uint64_t state = 88172645463325252u;
    for (int i = 0; i < 3000; ++i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const int128 n =
            static_cast<int128>((static_cast<uint128>(state) << 64 | state * 2654435761u)) >> (state % 128);
        check(n, static_cast<int>(state >> 32) % 90);
    }
    for (int128 n : {int128{0}, int128{1}, int128{-1}, largest, -largest, int128{5}, int128{1} << 53,
                     (int128{1} << 53) + 1, -(int128{1} << 60) - 1})
        for (int exponent : {-200, -128, -127, -64, -3, -1, 0, 1, 62, 63, 64, 100})
            check(n, exponent);
}

TEST(IntervalRounding, GoesOutwardsAndNoFurtherThanOnePlace) {
    for_numbers([](int128 n, int exponent) {
        const cpp_rational exact = scaled(n, exponent);
        const cpp_rational down = parsed(scaled_text(n, exponent, Direction::down)),
                           up = parsed(scaled_text(n, exponent, Direction::up)),
                           nearest = parsed(scaled_text(n, exponent));
        EXPECT_TRUE(down <= exact && exact <= up && down <= nearest && nearest <= up);
        EXPECT_TRUE(up - down <= scaled(1, exponent < 0 ? exponent : 0));
        EXPECT_EQ(down == up, exponent >= 0 || n == 0 || down == exact);
    });
    EXPECT_EQ(scaled_text(-1, -3, Direction::down), "-0.2");
    EXPECT_EQ(scaled_text(-1, -3, Direction::up), "-0.1");
    EXPECT_EQ(scaled_text(1, -3, Direction::down), "0.1");
    EXPECT_EQ(scaled_text(1, -3, Direction::up), "0.2");
}

TEST(IntervalRounding, OfIntegers) {
    const cpp_rational least(cpp_int(std::numeric_limits<std::int64_t>::min())),
        most(cpp_int(std::numeric_limits<std::int64_t>::max()));
    for_numbers([&](int128 n, int exponent) {
        const cpp_rational exact = scaled(n, exponent);
        const cpp_rational down(cpp_int(scaled_integer(n, exponent, Direction::down))),
            up(cpp_int(scaled_integer(n, exponent, Direction::up))), nearest(cpp_int(scaled_integer(n, exponent)));
        EXPECT_TRUE((down <= exact || down == least) && (exact <= up || up == most));
        EXPECT_TRUE(down <= nearest && nearest <= up && up - down <= 1);
        EXPECT_TRUE(exact < least || exact > most || abs(exact - nearest) * 2 <= 1);
    });
    EXPECT_EQ(scaled_integer(-3, -1, Direction::down), -2);
    EXPECT_EQ(scaled_integer(-3, -1, Direction::up), -1);
    EXPECT_EQ(scaled_integer(-3, -1), -2);
    EXPECT_EQ(scaled_integer(largest, 100, Direction::down), std::numeric_limits<std::int64_t>::max());
}

TEST(IntervalRounding, OfDoubles) {
    for_numbers([](int128 n, int exponent) {
        const cpp_rational exact = scaled(n, exponent);
        const double down = scaled_double(n, exponent, Direction::down), up = scaled_double(n, exponent, Direction::up),
                     nearest = scaled_double(n, exponent);
        EXPECT_TRUE(cpp_rational(down) <= exact && exact <= cpp_rational(up));
        EXPECT_TRUE(down <= nearest && nearest <= up && (up == down || up == std::nextafter(down, largest_double)));
    });
}

TEST(IntervalRounding, MovesByNoLessAndSaturates) {
    EXPECT_TRUE(moved_up(5, 2.25) == 8 && moved_down(5, 2.25) == 2);
    EXPECT_TRUE(moved_up(5, 0) == 5 && moved_down(-5, 3) == -8);
    EXPECT_TRUE(moved_up(largest - 1, 3) == largest && moved_down(-largest, 3) == -largest &&
                moved_down(-largest - 1, 1) == -largest);
    EXPECT_TRUE(moved_up(0, 1e300) == largest && moved_down(0, std::numeric_limits<double>::infinity()) == -largest);
}

// ---- Laws: P(the truth lies in the interval), summed over what can be drawn ----

std::vector<Measure> pair_measure() {
    return leaf_measures({{Aggregate::avg, 1, -1}}, false);
}

// P(-h <= Z <= h) of the noise of a count or a sum.
double covered(const MeasureNoise &noise, double h) {
    if (noise.mechanism == Mechanism::gaussian)
        return 1 - 2 * discrete_gaussian_tail(noise.gaussian.sigma(), h + 1);
    const double u = std::exp(-1 / noise.laplace.value());
    return 1 - 2 * std::pow(u, h + 1) / (1 + u);
}

TEST(IntervalLaw, CountsAndSumsAreCoveredByTheSmallestWholeNumber) {
    const std::vector<Measure> count = leaf_measures({{Aggregate::count_star, -1, -1}}, false);
    for (const char *epsilon : {"0.001", "0.05", "0.3", "1", "5"})
        for (std::uint64_t sensitivity : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{1} << 30})
            for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
                const Delta delta = mechanism == Mechanism::gaussian ? *Delta::parse("0.000001") : Delta();
                const MeasureNoise noise =
                    plan_release(mechanism, measured(count, {sensitivity}), false, *Epsilon::parse(epsilon), delta)
                        .noise[0];
                const double h = noise.halfwidth(0.05);
                EXPECT_GE(covered(noise, h), 0.95 - 1e-6) << epsilon;
                // Beyond, Gaussian half-widths are those of the normal law, and one more.
                if (h > 0 && noise.stddev() < 1000) {
                    EXPECT_LT(covered(noise, h - 1), 0.95) << epsilon;
                }
            }
}

// The average of n people at position w between the bounds, over a grid of both noises: P(not covered) is at most that of one
// half beyond its own half-width.
TEST(IntervalLaw, AveragesAreCovered) {
    const Bounds bounds = make_bounds("20", "60", false);
    const ReleasePlan plan =
        plan_release(Mechanism::laplace, measured(pair_measure(), {static_cast<std::uint64_t>(pair_one)}), false,
                     *Epsilon::parse("1"), Delta());
    const MeasureNoise &noise = plan.noise[0];
    const double h = noise.halfwidth(0.025);
    for (int n : {1, 2, 5, 30})
        for (double w : {0.0, 0.3, 1.0}) {
            const double truth = 20 + 40 * w;
            const int128 s1 = static_cast<int128>(n * w * static_cast<double>(pair_one)),
                         s0 = static_cast<int128>(n) * pair_one - s1;
            for (double a = -1; a <= 1; a += 0.125)
                for (double b = -1; b <= 1; b += 0.125) {
                    const Interval i = pair_avg_interval(s1 + static_cast<int128>(a * h),
                                                         s0 + static_cast<int128>(b * h), bounds, noise);
                    EXPECT_LE(i.lower, truth + 1e-6) << n << " " << w << " " << a << " " << b;
                    EXPECT_GE(i.upper, truth - 1e-6) << n << " " << w << " " << a << " " << b;
                }
        }
}

TEST(IntervalLaw, CutAveragesAreTheBounds) {
    for (const char *lower : {"0.1", "-0.7", "20"}) {
        const Bounds bounds = make_bounds(lower, "50", false);
        EXPECT_EQ(release_pair(0, pair_one * 1000, bounds).avg, bounds.low);
        EXPECT_EQ(release_pair(pair_one * 1000, 0, bounds).avg, bounds.high);
    }
}

} // namespace
