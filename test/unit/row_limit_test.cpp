// How many rows of one unit shall count, chosen from the rows (formulas.md, 9.10): the margins by enumeration, the law of the choice
// computed exactly for neighbours, and what it comes to without noise to speak of.
#include "privacy/row_limit.hpp"

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include "privacy/lattice.hpp"
#include "privacy/noise_impl.hpp"

namespace {

using namespace dp::privacy;
using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

Share share(const char *text) {
    return *Share::parse(text);
}

Epsilon epsilon(const char *text) {
    return *Epsilon::parse(text);
}

UnitRows of(const std::vector<std::int64_t> &units) {
    UnitRows rows;
    for (std::int64_t n : units)
        rows.add(n);
    return rows;
}

const char *const shares[] = {"0", "0.000000001", "0.333333333", "0.5", "0.99", "0.999999999", "1"};

// ---- Margins ----

// By the definition, in rationals.
std::int64_t margin_by_definition(const std::vector<std::int64_t> &units, Share s, int k) {
    std::int64_t within = 0;
    for (std::int64_t n : units)
        within += n <= std::int64_t{1} << k ? 1 : 0;
    const cpp_rational x =
        cpp_rational(within) - cpp_rational(cpp_int(static_cast<__int128>(s.units())), 1000000000) * units.size();
    cpp_int low = numerator(x) / denominator(x); // towards zero
    if (cpp_rational(low) > x)
        low -= 1;
    return low.convert_to<std::int64_t>();
}

std::vector<std::vector<std::int64_t>> made_up_units() {
    std::mt19937_64 random(20261123);
    std::vector<std::vector<std::int64_t>> all = {
        {}, {1}, {2}, {1, 2, 3, 4, 5}, {1 << 19, (1 << 19) + 1}, {1 << 20, 1 << 30}};
    for (int i = 0; i < 300; ++i) {
        std::vector<std::int64_t> units(random() % 12);
        for (std::int64_t &n : units)
            n = 1 + static_cast<std::int64_t>(random() % (std::uint64_t{1} << (random() % 24)));
        all.push_back(units);
    }
    return all;
}

TEST(RowLimit, MarginsAreThoseOfTheDefinition) {
    for (const auto &units : made_up_units())
        for (const char *s : shares)
            for (int k = 0; k < compared_limits; ++k)
                EXPECT_EQ(static_cast<std::int64_t>(row_limit_margin(of(units), share(s), k)),
                          margin_by_definition(units, share(s), k));
}

// One unit more, of any number of rows: each margin moves by at most 1.
TEST(RowLimit, OneUnitMovesEachMarginByOneAtMost) {
    std::map<int, int> moves;
    for (const auto &units : made_up_units())
        for (const char *s : shares)
            for (std::int64_t more : {1, 2, 3, 4, 1000, 1 << 19, 1 << 20, 1 << 30}) {
                auto others = units;
                others.push_back(more);
                for (int k = 0; k < compared_limits; ++k) {
                    const int128 moved =
                        row_limit_margin(of(others), share(s), k) - row_limit_margin(of(units), share(s), k);
                    EXPECT_LE(moved, 1);
                    EXPECT_GE(moved, -1);
                    ++moves[static_cast<int>(moved)];
                }
            }
    EXPECT_EQ(moves.size(), 3U); // all of -1, 0 and 1 happen
}

TEST(RowLimit, UnitsAreInOneClassEach) {
    const UnitRows rows = of({1, 1, 2, 3, 4, 5, 1 << 19, (1 << 19) + 1, std::int64_t{1} << 40});
    EXPECT_EQ(rows.units(), 9);
    EXPECT_EQ(rows.within(0), 2);
    EXPECT_EQ(rows.within(1), 3);
    EXPECT_EQ(rows.within(2), 5);
    EXPECT_EQ(rows.within(3), 6);
    EXPECT_EQ(rows.within(19), 7);
    EXPECT_EQ(of({0, -5}).units(), 0); // nobody
}

// ---- The choice ----

TEST(RowLimit, WithoutNoiseItIsTheFirstThatSuffices) {
    std::mt19937_64 bits(7);
    const auto choose = [&](const std::vector<std::int64_t> &units, const char *s) {
        std::vector<std::int64_t> many;
        for (int i = 0; i < 1000; ++i)
            many.insert(many.end(), units.begin(), units.end());
        return choose_row_limit(bits, epsilon("100"), share(s), of(many));
    };
    EXPECT_EQ(choose({1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, "0.75"), 8);
    EXPECT_EQ(choose({1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, "0.85"), 16);
    EXPECT_EQ(choose({1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, "0.95"), 128);
    EXPECT_EQ(choose({1 << 20, 1 << 30}, "0.5"), 1 << 20); // none of those that are compared
    EXPECT_EQ(choose({1 << 19, 1 << 30}, "0.4"), 1 << 19);
}

TEST(RowLimit, ItSaysWhatItHasCompared) {
    std::mt19937_64 bits(9);
    const UnitRows rows = of(std::vector<std::int64_t>(5000, 4));
    std::vector<std::int64_t> compared;
    EXPECT_EQ(choose_row_limit(bits, epsilon("100"), share("0.9"), rows, &compared), 4);
    ASSERT_EQ(compared.size(), 3U);
    EXPECT_EQ(compared[0], -4500);
    EXPECT_EQ(compared[2], 500);
}

TEST(RowLimit, ArgumentsAreChecked) {
    EXPECT_NO_THROW(check_row_limit(epsilon("0.1"), share("0")));
    EXPECT_NO_THROW(check_row_limit(epsilon("100"), share("1")));
    EXPECT_THROW(check_row_limit(epsilon("0.1"), share("1.000000001")), InvalidParameter);
    EXPECT_THROW(check_row_limit(epsilon("0.1"), share("-0.000000001")), InvalidParameter);
    EXPECT_THROW(check_row_limit(epsilon("0.000000002"), share("0.5")), InvalidParameter);
}

// ---- Its law ----

// P(Z >= z) of discrete Laplace noise of scale b.
double tail(double z, double b) {
    const double u = std::exp(-1 / b);
    return z > 0 ? std::pow(u, z) / (1 + u) : 1 - std::pow(u, 1 - z) / (1 + u);
}

// By number of the limit, with what is accepted nowhere at the end. A comparison sees of the noisy threshold r / 2^20 the next
// integer c alone.
std::vector<double> law(Epsilon eps, Share s, const UnitRows &rows) {
    const SvtSplit split = svt_split(eps);
    const double b1 = svt_threshold_scale(split).value(), b2 = svt_comparison_scale(split, {}).value();
    std::vector<double> result(compared_limits + 1, 0);
    const int reach = static_cast<int>(40 * b1 / 0x1p20) + 2;
    for (int c = -reach; c <= reach; ++c) {
        double left = tail((c - 1) * 0x1p20 + 1, b1) - tail(c * 0x1p20 + 1, b1);
        for (int k = 0; k < compared_limits; ++k) {
            const double accepted = tail(c - static_cast<double>(row_limit_margin(rows, s, k)), b2);
            result[static_cast<std::size_t>(k)] += left * accepted;
            left *= 1 - accepted;
        }
        result.back() += left;
    }
    return result;
}

TEST(RowLimit, TheLawOfNeighboursDiffersByTheChargeAtMost) {
    double closest = 0;
    for (const char *e : {"0.1", "1", "3"})
        for (const auto &units :
             std::vector<std::vector<std::int64_t>>{{}, {1}, {1, 1, 1, 1}, {2, 2, 2}, {1, 2, 4, 8}, {1 << 20}})
            for (const char *s : {"0", "0.5", "0.99", "1"})
                for (std::int64_t more : {1, 2, 1 << 19, 1 << 21}) {
                    auto others = units;
                    others.push_back(more);
                    const auto p = law(epsilon(e), share(s), of(units)), q = law(epsilon(e), share(s), of(others));
                    const double bound = epsilon(e).value();
                    for (std::size_t k = 0; k < p.size(); ++k) {
                        const double loss = std::fabs(std::log(p[k] / q[k]));
                        if (p[k] > 1e-6 && q[k] > 1e-6) {
                            EXPECT_LE(loss, bound * (1 + 1e-6) + 1e-7) << k;
                            closest = std::max(closest, loss / bound);
                        }
                    }
                }
    EXPECT_GT(closest, 0.5); // it is no empty promise
}

// The sampled choice follows that law.
TEST(RowLimit, ChoicesFollowTheLaw) {
    std::mt19937_64 bits(11);
    const UnitRows rows = of({1, 1, 2, 2, 3, 5, 9, 17, 33});
    const auto expected = law(epsilon("1"), share("0.7"), rows);
    constexpr int n = 200000;
    std::vector<int> seen(expected.size(), 0);
    for (int i = 0; i < n; ++i)
        ++seen[static_cast<std::size_t>(std::log2(choose_row_limit(bits, epsilon("1"), share("0.7"), rows)))];
    for (std::size_t k = 0; k < seen.size(); ++k)
        EXPECT_NEAR(seen[k] / double{n}, expected[k], 7 * std::sqrt(expected[k] / n) + 1e-4) << k;
}

} // namespace
