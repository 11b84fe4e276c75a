#include "privacy/lattice.hpp"
#include "privacy/scaled_numbers.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include "reference.hpp"

namespace {

using dp::privacy::Bounds;
using dp::privacy::int128;
using dp::privacy::InvalidParameter;
using dp::privacy::make_bounds;
using dp::privacy::pair_one;
using reference::Case;
using reference::json;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min(), largest = std::numeric_limits<std::int64_t>::max();

// 2^n as a decimal text, every digit of it.
std::string two_to(int n) {
    using boost::multiprecision::cpp_int;
    if (n >= 0)
        return cpp_int(cpp_int(1) << static_cast<unsigned>(n)).str();
    const std::string digits = cpp_int(pow(cpp_int(5), static_cast<unsigned>(-n))).str();
    return "0." + std::string(static_cast<std::size_t>(-n) - digits.size(), '0') + digits;
}

std::string message_of(const std::string &lower, const std::string &upper) {
    try {
        make_bounds(lower, upper, false);
    } catch (const InvalidParameter &e) {
        return e.what();
    }
    return "no error";
}

// ---- Reference ----

// One value as the aggregate sees it; null contributes nothing.
template <class Point> std::optional<std::int64_t> point_of(const json &value, Point point) {
    return value.is_null() ? std::nullopt : point(value);
}

void check_points(const Case &c, const char *sum_name, const std::vector<std::optional<std::int64_t>> &points) {
    const json &want = c.expect("z");
    ASSERT_EQ(points.size(), want.size());
    int128 sum = 0;
    std::int64_t contributing = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_EQ(points[i].has_value(), !want[i].is_null()) << i;
        if (!points[i])
            continue;
        EXPECT_EQ(*points[i], want[i].get<std::int64_t>()) << i;
        sum += *points[i];
        ++contributing;
    }
    EXPECT_EQ(contributing, c.expect("contributing").get<std::int64_t>());
    EXPECT_EQ(dp::privacy::to_text(sum), c.expect(sum_name).dump());
}

TEST(Reference, LatticeSum) {
    reference::each("lattice_sum", [](const Case &c) {
        const bool integers = c.arg("integer_type");
        const Bounds b = make_bounds(reference::text(c.arg("lower")), reference::text(c.arg("upper")), integers);
        EXPECT_EQ(b.exponent, c.expect("g_log2").get<int>());
        EXPECT_EQ(b.z_lower, c.expect("zL").get<std::int64_t>());
        EXPECT_EQ(b.z_upper, c.expect("zU").get<std::int64_t>());
        EXPECT_EQ(b.sensitivity(), c.expect("Dz").get<std::uint64_t>());
        const auto lattice = sum_lattice(b);
        std::vector<std::optional<std::int64_t>> points;
        for (const json &value : c.arg("values"))
            points.push_back(point_of(value, [&](const json &v) {
                return integers ? to_sum_point_integer(lattice, v.get<std::int64_t>()) : to_sum_point(lattice, reference::number(v));
            }));
        check_points(c, "sum_z", points);
    });
}

TEST(Reference, LatticePair) {
    reference::each("lattice_pair", [](const Case &c) {
        const auto lattice = pair_lattice(make_bounds(reference::text(c.arg("lower")), reference::text(c.arg("upper")), false));
        std::vector<std::optional<std::int64_t>> points;
        std::int64_t s0 = 0;
        for (const json &value : c.arg("values")) {
            points.push_back(point_of(value, [&](const json &v) { return to_pair_point(lattice, reference::number(v)); }));
            s0 += points.back() ? pair_one - *points.back() : 0;
        }
        check_points(c, "S1", points);
        EXPECT_EQ(s0, c.expect("S0").get<std::int64_t>());
    });
}

// ---- Bounds ----

TEST(Bounds, KeepTheDeclaredTextAndItsNearestDoubles) {
    const Bounds b = make_bounds("-0.1", "0.30000000000000000001", false);
    EXPECT_EQ(b.lower, "-0.1");
    EXPECT_EQ(b.upper, "0.30000000000000000001");
    EXPECT_EQ(b.low, -0.1);
    EXPECT_EQ(b.high, 0.3);
    EXPECT_FALSE(b.integer_type);
    EXPECT_EQ(b.exponent, -31); // 0.3 <= 2^-1
    EXPECT_EQ(b.exponent, -31);
}

TEST(Bounds, TheUnitIsOneForIntegersUpTo2To40) {
    EXPECT_EQ(make_bounds("0", two_to(40), true).exponent, 0);
    EXPECT_EQ(make_bounds("-" + two_to(40), "5", true).sensitivity(), std::uint64_t{1} << 40);
    EXPECT_EQ(make_bounds("0", "1099511627777", true).exponent, 11);
    EXPECT_EQ(make_bounds("0", "100", false).exponent, -23);
    EXPECT_EQ(make_bounds("0.0", "100.000", true).exponent, 0);
    EXPECT_EQ(make_bounds("0.5", "100", true).exponent, -23);
    EXPECT_EQ(make_bounds("0", "1e3", true).exponent, 0);
}

// ceil(log2 M) of the exact decimal: one unit in the thousandth place decides.
TEST(Bounds, TheUnitComesFromTheExactDecimal) {
    EXPECT_EQ(make_bounds("0", "1", false).exponent, -30);
    EXPECT_EQ(make_bounds("0", "1." + std::string(998, '0') + "1", false).exponent, -29);
    EXPECT_EQ(make_bounds("0", "0." + std::string(999, '9'), false).exponent, -30);
    EXPECT_EQ(make_bounds("0", "0.5", false).exponent, -31);
    EXPECT_EQ(make_bounds("0", "1e300", false).exponent, 997 - 30);
}

TEST(Bounds, RoundHalfAwayFromZero) {
    // M = 2^31: unit 2.
    const Bounds b = make_bounds("-2147483647", "2147483648", false);
    EXPECT_EQ(b.exponent, 1);
    EXPECT_EQ(b.z_lower, -1073741824);
    EXPECT_EQ(b.z_upper, 1073741824);
    EXPECT_EQ(make_bounds("1", "2147483648", false).z_lower, 1);
    EXPECT_EQ(make_bounds("-1", "2147483648", false).z_lower, -1);
    EXPECT_EQ(make_bounds("0.9999999999999999999999999999999999", "2147483648", false).z_lower, 0);
}

TEST(Bounds, LimitsOfTheirMagnitude) {
    EXPECT_EQ(make_bounds("0", two_to(1000), false).exponent, 970);
    EXPECT_EQ(make_bounds("-" + two_to(1000), two_to(1000), false).z_lower, -(std::int64_t{1} << 30));
    EXPECT_EQ(make_bounds("0", two_to(-900), false).z_upper, std::int64_t{1} << 30);
    EXPECT_EQ(make_bounds("0", two_to(-900), false).exponent, -930);
    EXPECT_EQ(make_bounds("-" + two_to(-900), "0", false).sensitivity(), std::uint64_t{1} << 30);
    EXPECT_NE(message_of("0", two_to(1000) + ".1").find("too large: at most 2^1000"), std::string::npos);
    EXPECT_NE(message_of("-1e302", "0").find("too large: at most 2^1000"), std::string::npos);
    EXPECT_NE(message_of("0", "1e999999999").find("upper bound 1e999999999 is too large"), std::string::npos);
    EXPECT_NE(message_of("0", "1e-271").find("too small: one of them must be at least 2^-900"), std::string::npos);
    EXPECT_NE(message_of("1e-999999999", "1").find("lower bound 1e-999999999 has too many decimals"), std::string::npos);
    EXPECT_EQ(make_bounds("1e-16383", "1", false).z_lower, 0);
    EXPECT_EQ(make_bounds("1e-16383", "1", false).low, 0);
}

TEST(Bounds, MessagesNameTheValueAndWhatIsAllowed) {
    EXPECT_EQ(message_of("5", "3"), "lower bound 5 must be less than upper bound 3");
    EXPECT_EQ(message_of("3", "3.000"), "lower bound 3 must be less than upper bound 3.000");
    EXPECT_EQ(message_of("NaN", "3"), "lower bound must be a finite number, not \"NaN\"");
    EXPECT_EQ(message_of("0", "Infinity"), "upper bound must be a finite number, not \"Infinity\"");
    EXPECT_EQ(message_of("-Infinity", "0"), "lower bound must be a finite number, not \"-Infinity\"");
    EXPECT_EQ(message_of("", "1"), "lower bound must be a finite number, not \"\"");
    EXPECT_EQ(message_of("0", "0"), "lower bound 0 must be less than upper bound 0");
    EXPECT_LT(message_of("0", std::string(100000, '9')).size(), 150U); // no message of the size of the number
}

// ---- Points ----

// The library's rounding, which a row does not wait for.
std::int64_t rounded(double x) {
    const double limit = std::ldexp(1, 62);
    return x >= limit ? std::int64_t{1} << 62 : x <= -limit ? -(std::int64_t{1} << 62) : static_cast<std::int64_t>(std::round(x));
}

TEST(Points, AreRoundedAsTheLibraryDoes) {
    for (const double x : {0.0, -0.0, 0.5, 1.5, 2.5, 4503599627370495.5, 4503599627370496.0, 4503599627370497.0, 1e300, infinity}) {
        for (const double y : {std::nextafter(x, -infinity), x, std::nextafter(x, infinity)}) {
            EXPECT_EQ(dp::privacy::to_integer(y), rounded(y)) << y;
            EXPECT_EQ(dp::privacy::to_integer(-y), rounded(-y)) << -y;
        }
    }
    std::mt19937_64 bits(7);
    for (int i = 0; i < 1000000; ++i) {
        double x;
        const std::uint64_t word = bits();
        std::memcpy(&x, &word, sizeof x);
        if (!std::isnan(x)) {
            ASSERT_EQ(dp::privacy::to_integer(x), rounded(x)) << x;
        }
        const double half = static_cast<double>(static_cast<std::int64_t>(word) >> (word % 60)) / 2;
        ASSERT_EQ(dp::privacy::to_integer(half), rounded(half)) << half;
    }
}

// Every value of a smallint between several bounds.
TEST(Points, OfAPairForEveryValue) {
    const char *const bounds[][2] = {{"-32768", "32767"}, {"0", "99"}, {"-20", "100"}, {"1", "3"}, {"-0.1", "0.3"}, {"17", "99999"}};
    for (const auto &pair : bounds) {
        const Bounds b = make_bounds(pair[0], pair[1], true);
        const auto lattice = pair_lattice(b);
        for (int v = -32768; v <= 32767; ++v) {
            const double scaled = std::round((v - b.low) / (b.high - b.low) * std::ldexp(1, 30));
            const double want = std::min(std::max(scaled, 0.0), std::ldexp(1, 30));
            ASSERT_EQ(to_pair_point(lattice, v).value(), static_cast<std::int64_t>(want)) << v;
        }
    }
}

TEST(SumPoint, IsClampedWhateverTheValue) {
    const auto lattice = sum_lattice(make_bounds("-3", "1000", true));
    EXPECT_EQ(to_sum_point_integer(lattice, smallest), -3);
    EXPECT_EQ(to_sum_point_integer(lattice, largest), 1000);
    EXPECT_EQ(to_sum_point(lattice, infinity), 1000);
    EXPECT_EQ(to_sum_point(lattice, -infinity), -3);
    EXPECT_EQ(to_sum_point(lattice, std::numeric_limits<double>::max()), 1000);
    EXPECT_EQ(to_sum_point(lattice, not_a_number), std::nullopt);
    EXPECT_EQ(to_sum_point(lattice, -not_a_number), std::nullopt);
    EXPECT_EQ(to_sum_point(lattice, 0.5), 1);
    EXPECT_EQ(to_sum_point(lattice, -0.5), -1);
    EXPECT_EQ(to_sum_point(lattice, 0.49999999999999994), 0); // adding a half first would make it 1
    EXPECT_EQ(to_sum_point(lattice, -0.0), 0);
}

TEST(SumPoint, IntegersBeyondDoublesAreExact) {
    const auto lattice = sum_lattice(make_bounds("-" + two_to(40), two_to(40), true));
    EXPECT_EQ(to_sum_point_integer(lattice, (std::int64_t{1} << 40) - 1), (std::int64_t{1} << 40) - 1);
    EXPECT_EQ(to_sum_point_integer(lattice, smallest), -(std::int64_t{1} << 40));
    const auto coarse = sum_lattice(make_bounds("-9223372036854775808", "9223372036854775807", true));
    EXPECT_EQ(coarse.scale, std::ldexp(1, -33));
    EXPECT_EQ(to_sum_point_integer(coarse, smallest), -(std::int64_t{1} << 30));
    EXPECT_EQ(to_sum_point_integer(coarse, largest), std::int64_t{1} << 30);
    EXPECT_EQ(to_sum_point_integer(coarse, std::int64_t{1} << 33), 1);
    EXPECT_EQ(to_sum_point_integer(coarse, (std::int64_t{1} << 32) - 1), 0);
}

TEST(SumPoint, ExtremeUnits) {
    const auto big = sum_lattice(make_bounds("-" + two_to(1000), two_to(1000), false));
    EXPECT_EQ(to_sum_point(big, std::ldexp(1, 1000)), std::int64_t{1} << 30);
    EXPECT_EQ(to_sum_point(big, std::ldexp(-3, 970)), -3);
    EXPECT_EQ(to_sum_point(big, 1), 0);
    const auto small = sum_lattice(make_bounds("-" + two_to(-900), two_to(-901), false));
    EXPECT_EQ(to_sum_point(small, std::ldexp(-1, -900)), -(std::int64_t{1} << 30));
    EXPECT_EQ(to_sum_point(small, std::ldexp(5, -930)), 5);
    EXPECT_EQ(to_sum_point(small, 1e300), std::int64_t{1} << 29); // overflows to infinity on the way
    EXPECT_EQ(to_sum_point(small, -1e300), -(std::int64_t{1} << 30));
    EXPECT_EQ(to_sum_point(small, 5e-324), 0);
}

TEST(PairPoint, StaysBetweenTheBounds) {
    const auto lattice = pair_lattice(make_bounds("20", "60", false));
    EXPECT_EQ(to_pair_point(lattice, 20), 0);
    EXPECT_EQ(to_pair_point(lattice, 60), pair_one);
    EXPECT_EQ(to_pair_point(lattice, 40), pair_one / 2);
    EXPECT_EQ(to_pair_point(lattice, infinity), pair_one);
    EXPECT_EQ(to_pair_point(lattice, -infinity), 0);
    EXPECT_EQ(to_pair_point(lattice, not_a_number), std::nullopt);
    const auto wide = pair_lattice(make_bounds("-" + two_to(1000), two_to(1000), false));
    EXPECT_EQ(to_pair_point(wide, std::numeric_limits<double>::max()), pair_one);
    EXPECT_EQ(to_pair_point(wide, -std::numeric_limits<double>::max()), 0);
    EXPECT_EQ(to_pair_point(wide, 0), pair_one / 2);
    // Bounds that no double can tell apart: still a point between 0 and 1.
    const auto narrow = pair_lattice(make_bounds("1", "1.00000000000000000000000001", false));
    for (double v : {0.0, 1.0, 2.0, infinity, -infinity}) {
        const auto z = to_pair_point(narrow, v);
        ASSERT_TRUE(z.has_value());
        EXPECT_TRUE(0 <= *z && *z <= pair_one);
    }
}

// The sensitivity: no value whatever leaves [zL, zU], and Dz bounds both ends.
TEST(Points, PropertyOnRandomBoundsAndValues) {
    std::mt19937_64 random(4);
    const auto any_double = [&] {
        double v = 0;
        const std::uint64_t bits = random();
        static_assert(sizeof v == sizeof bits);
        std::memcpy(&v, &bits, sizeof v);
        return v;
    };
    for (int i = 0; i < 3000; ++i) {
        const int exponent = static_cast<int>(random() % 1800) - 870;
        const std::int64_t a = static_cast<std::int64_t>(random() % 2000001) - 1000000;
        const std::int64_t width = 1 + static_cast<std::int64_t>(random() % 1000000);
        const Bounds b = make_bounds(dp::privacy::scaled_text(a, exponent), dp::privacy::scaled_text(a + width, exponent), random() % 2);
        EXPECT_LE(b.sensitivity(), std::uint64_t{1} << (b.exponent == 0 ? 40 : 30));
        for (int j = 0; j < 20; ++j) {
            const double v = j % 2 ? any_double() : std::ldexp(static_cast<double>(a), exponent) * (1 + 1e-3 * j);
            const auto z = to_sum_point(sum_lattice(b), v), w = to_pair_point(pair_lattice(b), v);
            ASSERT_EQ(z.has_value(), !std::isnan(v));
            ASSERT_EQ(w.has_value(), !std::isnan(v));
            if (!z)
                continue;
            EXPECT_TRUE(b.z_lower <= *z && *z <= b.z_upper);
            EXPECT_TRUE(0 <= *w && *w <= pair_one);
            EXPECT_LE(static_cast<std::uint64_t>(std::abs(*z)), b.sensitivity());
        }
    }
}

// ---- Text of a sum ----

TEST(ScaledText, RoundsToTheFirstPlaceNotCoarserThanTheUnit) {
    EXPECT_EQ(dp::privacy::scaled_text(5, 0), "5");
    EXPECT_EQ(dp::privacy::scaled_text(-5, 3), "-40");
    EXPECT_EQ(dp::privacy::scaled_text(0, 3), "0");
    EXPECT_EQ(dp::privacy::scaled_text(1, -1), "0.5");
    EXPECT_EQ(dp::privacy::scaled_text(3, -2), "0.8");
    EXPECT_EQ(dp::privacy::scaled_text(1, -2), "0.3");
    EXPECT_EQ(dp::privacy::scaled_text(1, -3), "0.1"); // 0.125: tenths are finer than eighths
    EXPECT_EQ(dp::privacy::scaled_text(-2, -3), "-0.3");
    EXPECT_EQ(dp::privacy::scaled_text(2, -3), "0.3");
    EXPECT_EQ(dp::privacy::scaled_text(0, -23), "0.0000000");
    EXPECT_EQ(dp::privacy::scaled_text(-25 * (1 << 23), -23), "-25.0000000");
    EXPECT_EQ(dp::privacy::scaled_text(1, -10), "0.0010");
}

TEST(ScaledText, Extremes) {
    constexpr int128 top = static_cast<int128>(~static_cast<dp::privacy::uint128>(0) >> 1);
    EXPECT_EQ(dp::privacy::scaled_text(-top - 1, 0), "-170141183460469231731687303715884105728");
    EXPECT_EQ(dp::privacy::scaled_text(-top - 1, -127), "-1." + std::string(39, '0'));
    EXPECT_EQ(dp::privacy::scaled_text(top, 970).size(), 331U);
    EXPECT_EQ(dp::privacy::scaled_text(1, -930).size(), 282U);
    EXPECT_NEAR(std::stod(dp::privacy::scaled_text(1 << 30, -930)) / std::ldexp(1, -900), 1, 1e-9);
}

} // namespace
