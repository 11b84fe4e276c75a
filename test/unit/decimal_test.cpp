#include "privacy/decimal.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "privacy/exact.hpp"

namespace {

using dp::privacy::Delta;
using dp::privacy::Epsilon;
using dp::privacy::int128;
using dp::privacy::Rho;
using dp::privacy::Rounding;

std::string parsed(const char *text, Rounding rounding = Rounding::down) {
    const auto e = Epsilon::parse(text, rounding);
    return e ? e->text() : "none";
}

template <class Number> long units(Number x) { return static_cast<long>(x.units()); }

TEST(Decimal, TenTimesATenthIsOne) {
    Epsilon sum;
    for (int i = 0; i < 10; ++i)
        sum = sum + *Epsilon::parse("0.1");
    EXPECT_EQ(sum, *Epsilon::parse("1"));
    EXPECT_EQ(units(sum), 1000000000);
    EXPECT_EQ(sum.text(), "1");
}

TEST(Decimal, ReadsWhatNumericAndUsersWrite) {
    EXPECT_EQ(parsed("0"), "0");
    EXPECT_EQ(parsed("-0"), "0");
    EXPECT_EQ(parsed("0.000"), "0");
    EXPECT_EQ(parsed("12"), "12");
    EXPECT_EQ(parsed("0012.50"), "12.5");
    EXPECT_EQ(parsed("-0.05"), "-0.05");
    EXPECT_EQ(parsed("+3."), "3");
    EXPECT_EQ(parsed(".25"), "0.25");
    EXPECT_EQ(parsed("1e-6"), "0.000001");
    EXPECT_EQ(parsed("1.5E+3"), "1500");
    EXPECT_EQ(parsed("0.00000012e4"), "0.0012");
    EXPECT_EQ(parsed("99999999.999999999"), "99999999.999999999");
    EXPECT_EQ(parsed("0e999999999999999999999"), "0");
}

TEST(Decimal, RefusesEverythingElse) {
    for (const char *text : {"", ".", "-", "+", "e5", "1e", "1e+", "1e1.5", "NaN", "nan", "Infinity", "-Infinity", "inf", " 1", "1 ",
                             "1.2.3", "--1", "0x10", "1,5", "1_000", "100000000", "-100000000", "1e8", "1e400",
                             "1e99999999999999999999"})
        EXPECT_EQ(parsed(text), "none") << text;
    EXPECT_EQ(Epsilon::parse(std::string_view("1\0", 2)), std::nullopt);
}

// What was added up may be larger than anything that is given, as what is printed of it is read again.
TEST(Decimal, ReadsSumsThatHaveGrown) {
    const Epsilon large = *Epsilon::parse("99999999") + *Epsilon::parse("99999999.5");
    EXPECT_EQ(Epsilon::parse(large.text()), std::nullopt);
    EXPECT_EQ(Epsilon::parse_sum(large.text()), large);
    EXPECT_EQ(Rho::parse_sum("123456789012.000000000000001")->text(), "123456789012.000000000000001");
    EXPECT_EQ(Delta::parse_sum("100000000"), std::nullopt); // 30 places leave no room
    EXPECT_EQ(Epsilon::parse_sum("1e27"), std::nullopt);
    EXPECT_EQ(Epsilon::parse_sum("NaN"), std::nullopt);
}

TEST(Decimal, RoundsTowardsZeroOrAway) {
    EXPECT_EQ(parsed("0.1234567899"), "0.123456789");
    EXPECT_EQ(parsed("0.1234567899", Rounding::up), "0.12345679");
    EXPECT_EQ(parsed("0.1234567890000", Rounding::up), "0.123456789");
    EXPECT_EQ(parsed("-0.1234567891"), "-0.123456789");
    EXPECT_EQ(parsed("-0.1234567891", Rounding::up), "-0.12345679");
    EXPECT_EQ(parsed("1e-10"), "0");
    EXPECT_EQ(parsed("1e-10", Rounding::up), "0.000000001");
    EXPECT_EQ(parsed("1e-999999", Rounding::up), "0.000000001");
    EXPECT_EQ(parsed("99999999.9999999999", Rounding::up), "100000000");
}

TEST(Decimal, ComparesAndSubtracts) {
    const Epsilon a = *Epsilon::parse("0.3"), b = *Epsilon::parse("0.2");
    EXPECT_TRUE(b < a && b <= a && a > b && a >= b && a != b && !(a == b) && a <= a && a >= a);
    EXPECT_EQ((a - b).text(), "0.1");
    EXPECT_EQ((b - a).text(), "-0.1");
}

TEST(Decimal, ThirtyPlacesHoldTheirWholeRange) {
    EXPECT_EQ(Delta::parse("99999999.999999999999999999999999999999")->text(), "99999999.999999999999999999999999999999");
    EXPECT_EQ(Delta::parse("-99999999.999999999999999999999999999999")->text(), "-99999999.999999999999999999999999999999");
    EXPECT_EQ(units(*Delta::parse("1e-30")), 1);
    EXPECT_EQ(Delta::parse("1e-30")->text(), "0.000000000000000000000000000001");
    EXPECT_EQ(Delta::parse("1e-30")->value(), 1e-30);
}

TEST(Decimal, FromDoubleRoundsTheExactValue) {
    // The double 0.1 is a little more than a tenth, the double 0.3 a little less than three tenths.
    EXPECT_EQ(Epsilon::from_double(0.1, Rounding::down).text(), "0.1");
    EXPECT_EQ(Epsilon::from_double(0.1, Rounding::up).text(), "0.100000001");
    EXPECT_EQ(Epsilon::from_double(0.3, Rounding::down).text(), "0.299999999");
    EXPECT_EQ(Epsilon::from_double(0.3, Rounding::up).text(), "0.3");
    EXPECT_EQ(Epsilon::from_double(-0.3, Rounding::up).text(), "-0.3");
    EXPECT_EQ(Epsilon::from_double(0.25, Rounding::up).text(), "0.25");
    EXPECT_EQ(Epsilon::from_double(-0.0, Rounding::up).text(), "0");
    EXPECT_EQ(units(Epsilon::from_double(5e-324, Rounding::up)), 1);
    EXPECT_EQ(units(Epsilon::from_double(5e-324, Rounding::down)), 0);
    EXPECT_EQ(Delta::from_double(1, Rounding::down).text(), "1");
    EXPECT_EQ(Delta::from_double(1e-9, Rounding::down).text(), "0.000000001000000000000000062281");
    EXPECT_EQ(Rho::from_double(99999999, Rounding::up).text(), "99999999");
    for (double x : {1e8, -1e8, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THROW(Epsilon::from_double(x, Rounding::up), std::out_of_range) << x;
}

TEST(Decimal, ValueIsTheNearestDouble) {
    EXPECT_EQ(Epsilon::parse("0.1")->value(), 0.1);
    EXPECT_EQ(Epsilon::parse("-0.3")->value(), -0.3);
    EXPECT_EQ(Epsilon::parse("10")->value(), 10.0);
    EXPECT_EQ(Epsilon().value(), 0.0);
    EXPECT_EQ(Delta::parse("1e-5")->value(), 1e-5);
    EXPECT_EQ(Delta::parse("0.000000123456789123456789")->value(), 0.000000123456789123456789);
    EXPECT_EQ(Rho::parse("0.462117157260009")->value(), 0.462117157260009);
    std::mt19937_64 random(1);
    for (int i = 0; i < 1000; ++i) {
        const double x = std::ldexp(static_cast<double>(random() >> 11), -70); // below 2^-17: exact to 30 places or nearly
        const double back = Delta::from_double(x, Rounding::down).value();
        EXPECT_LE(std::fabs(back - x), 1e-30 + 1e-16 * x);
        EXPECT_LE(back, x);
    }
}

TEST(Decimal, TextOfExtremeIntegers) {
    constexpr int128 largest = static_cast<int128>(~static_cast<dp::privacy::uint128>(0) >> 1);
    EXPECT_EQ(dp::privacy::to_text(0), "0");
    EXPECT_EQ(dp::privacy::to_text(-7), "-7");
    EXPECT_EQ(dp::privacy::to_text(largest), "170141183460469231731687303715884105727");
    EXPECT_EQ(dp::privacy::to_text(-largest - 1), "-170141183460469231731687303715884105728");
}

double nearest(const char *text) {
    return Delta::parse(text).value().value();
}

TEST(Decimal, ValueBesideTheMiddle) {
    EXPECT_EQ(nearest("0.1"), 0.1);
    EXPECT_EQ(nearest("-0.333333333333333333333333333333"), -1.0 / 3);
    EXPECT_EQ(nearest("1.000000000000000111022302462515"), 1.0);             // below 1 + 2^-53
    EXPECT_EQ(nearest("1.000000000000000111022302462516"), 1.0 + 0x1p-52);   // above it
    EXPECT_EQ(nearest("0.000000000000000000000000000001"), 1e-30);
    EXPECT_EQ(nearest("0"), 0.0);
}

} // namespace
