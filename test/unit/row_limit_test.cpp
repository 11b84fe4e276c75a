// How many rows of one unit shall count, chosen from the rows (formulas.md, 9.10): what is compared by enumeration, the law of the choice
// computed exactly for neighbours, and what it comes to without noise to speak of.
#include "privacy/row_limit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/lattice.hpp"
#include "privacy/noise_impl.hpp"

namespace {

using namespace dp::privacy;

Epsilon epsilon(const char *text) {
    return *Epsilon::parse(text);
}

UnitRows of(const std::vector<std::int64_t> &units, int most = 1 << 14) {
    UnitRows rows(most);
    for (std::int64_t n : units)
        rows.add(n);
    return rows;
}

// ---- What is compared ----

TEST(RowLimit, LimitsRiseByAThirdOrAHalf) {
    EXPECT_EQ(compared_limits(13), (std::vector<int>{1, 2, 3, 4, 6, 8, 12}));
    EXPECT_EQ(compared_limits(12), (std::vector<int>{1, 2, 3, 4, 6, 8}));
    EXPECT_TRUE(compared_limits(1).empty());
    for (int most : {2, 3, 100, 1 << 14, 1 << 20}) {
        const auto limits = compared_limits(most);
        for (std::size_t k = 0; k < limits.size(); ++k)
            EXPECT_LT(limits[k], k + 1 < limits.size() ? limits[k + 1] : most);
    }
}

std::vector<std::vector<std::int64_t>> made_up_units() {
    std::mt19937_64 random(20261123);
    std::vector<std::vector<std::int64_t>> all = {{}, {1}, {2}, {1, 2, 3, 4, 5}, {1 << 19, (1 << 19) + 1}, {0, -5}};
    for (int i = 0; i < 300; ++i) {
        std::vector<std::int64_t> units(random() % 12);
        for (std::int64_t &n : units)
            n = 1 + static_cast<std::int64_t>(random() % (std::uint64_t{1} << (random() % 24)));
        all.push_back(units);
    }
    return all;
}

TEST(RowLimit, UnitsAboveEachLimitAreThoseOfTheDefinition) {
    for (const auto &units : made_up_units())
        for (int most : {1, 7, 1 << 14, 1 << 20}) {
            const UnitRows rows = of(units, most);
            for (std::size_t k = 0; k < rows.size(); ++k)
                EXPECT_EQ(rows.above(k),
                          std::count_if(units.begin(), units.end(), [&](std::int64_t n) { return n > rows.limit(k); }));
        }
}

// One unit more, of any number of rows: no number falls, and none rises by more than 1.
TEST(RowLimit, OneUnitMovesAllTheSameWay) {
    bool some = false, all = true;
    for (const auto &units : made_up_units())
        for (std::int64_t more : {1, 2, 3, 4, 1000, 1 << 19, 1 << 20, 1 << 30}) {
            auto others = units;
            others.push_back(more);
            const UnitRows before = of(units), after = of(others);
            for (std::size_t k = 0; k < before.size(); ++k) {
                const std::int64_t moved = after.above(k) - before.above(k);
                EXPECT_TRUE(moved == 0 || moved == 1);
                some |= moved == 1;
                all &= moved == 1;
            }
        }
    EXPECT_TRUE(some && !all);
}

TEST(RowLimit, ThresholdIsTheLargerOfTwo) {
    EXPECT_EQ(limit_threshold(epsilon("0.1"), 39.9), 40);
    EXPECT_EQ(limit_threshold(epsilon("0.1"), 41.9), 41);
    EXPECT_EQ(limit_threshold(epsilon("100"), 0), 0);
    EXPECT_THROW((void)limit_threshold(epsilon("0.000000001"), 39), InvalidParameter);
}

CountTerms terms(double tau, Mechanism mechanism, bool in_rho) {
    return {tau, mechanism, {epsilon("1"), epsilon("0.1"), epsilon("0.05"), epsilon("0.04")}, epsilon("10"), *Delta::parse("1e-6"), in_rho};
}

// The half-width is that of the noise which a policy draws: auto is Gaussian where the bound adds up rho, and the price is a candidate.
TEST(RowLimit, NoiseOfACountIsThatWhichIsDrawn) {
    EXPECT_EQ(error95_of_count(terms(0.95, Mechanism::laplace, true), 1), 60);
    EXPECT_EQ(error95_of_count(terms(0.95, Mechanism::automatic, false), 1), 60);
    EXPECT_EQ(error95_of_count(terms(0.95, Mechanism::automatic, true), 1), 39);
    EXPECT_EQ(error95_of_count(terms(0.9, Mechanism::automatic, true), 1), 20);
    EXPECT_EQ(error95_of_count(terms(0.95, Mechanism::gaussian, false), 1), 8);
    EXPECT_EQ(error95_of_count(terms(0, Mechanism::laplace, false), 1), 3);
    CountTerms capped = terms(0, Mechanism::laplace, false);
    capped.epsilon_max = epsilon("0.5");
    EXPECT_EQ(error95_of_count(capped, 1), 30);
    EXPECT_THROW((void)error95_of_count(terms(0.99, Mechanism::laplace, false), 1), InvalidParameter);
    EXPECT_THROW((void)error95_of_count(terms(1, Mechanism::laplace, false), 1), InvalidParameter);
    EXPECT_FALSE(noise_of_count(terms(1, Mechanism::automatic, true), 1));
}

// Of sizes a limit is in sixteenths of the largest one.
TEST(RowLimit, SizesAreComparedInPartsOfTheLargest) {
    const int128 sizes[] = {0, 1, 5, 80, 81, 100, 160, 161, int128{1} << 90};
    for (std::uint64_t largest : {std::uint64_t{1}, std::uint64_t{80}, std::uint64_t{1} << 50}) {
        UnitRows rows(1 << 24, largest);
        for (int128 size : sizes)
            rows.add(size);
        for (std::size_t k = 0; k < rows.size(); ++k)
            EXPECT_EQ(rows.above(k), std::count_if(std::begin(sizes), std::end(sizes), [&](int128 size) {
                          return 16 * size > int128{rows.limit(k)} * largest;
                      }));
    }
}

// ---- The choice ----

TEST(RowLimit, WithoutNoiseItIsTheFirstThatFewExceed) {
    std::mt19937_64 bits(7);
    std::vector<std::int64_t> people;
    for (std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 100})
        people.insert(people.end(), 1000, n);
    const auto choose = [&](std::int64_t threshold, int most) {
        return choose_row_limit(bits, epsilon("100"), threshold, of(people, most));
    };
    EXPECT_EQ(choose(9500, 1 << 14), 1);
    EXPECT_EQ(choose(5500, 1 << 14), 6);
    EXPECT_EQ(choose(1500, 1 << 14), 12);
    EXPECT_EQ(choose(500, 1 << 14), 128);
    EXPECT_EQ(choose(500, 100), 100);
    EXPECT_EQ(choose(500, 1), 1);
}

TEST(RowLimit, ItSaysWhatItHasCompared) {
    std::mt19937_64 bits(9);
    std::vector<std::int64_t> compared;
    EXPECT_EQ(choose_row_limit(bits, epsilon("100"), 500, of(std::vector<std::int64_t>(5000, 3)), &compared), 3);
    EXPECT_EQ(compared, (std::vector<std::int64_t>{-4500, -4500, 500}));
}

// ---- Its law ----

// P(Z >= z) of discrete Laplace noise of scale b.
double tail(double z, double b) {
    const double u = std::exp(-1 / b);
    return z > 0 ? std::pow(u, z) / (1 + u) : 1 - std::pow(u, 1 - z) / (1 + u);
}

// By number of the limit, with what is accepted nowhere at the end; over the values of the threshold's noise.
std::vector<double> law(Epsilon eps, std::int64_t threshold, const UnitRows &rows) {
    const double b = limit_noise(eps).value();
    std::vector<double> result(rows.size() + 1, 0);
    const int reach = static_cast<int>(40 * b) + 2;
    for (int r = -reach; r <= reach; ++r) {
        double left = tail(r, b) - tail(r + 1, b);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const double accepted = tail(r - static_cast<double>(threshold - rows.above(k)), b);
            result[k] += left * accepted;
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
             std::vector<std::vector<std::int64_t>>{{}, {1}, {5, 5, 5, 5}, {2, 2, 2}, {1, 2, 4, 8}, {1 << 20}})
            for (std::int64_t threshold : {0, 2, 6})
                for (std::int64_t more : {1, 2, 3, 1 << 19}) {
                    auto others = units;
                    others.push_back(more);
                    const auto p = law(epsilon(e), threshold, of(units)), q = law(epsilon(e), threshold, of(others));
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

// The sampled choice follows that law: 7 standard deviations are no chance of 1e-10.
TEST(RowLimit, ChoicesFollowTheLaw) {
    std::mt19937_64 bits(11);
    const UnitRows rows = of({1, 1, 2, 2, 3, 5, 9, 17, 33});
    const auto expected = law(epsilon("1"), 3, rows);
    constexpr int n = 200000;
    std::map<int, int> seen;
    for (int i = 0; i < n; ++i)
        ++seen[choose_row_limit(bits, epsilon("1"), 3, rows)];
    for (std::size_t k = 0; k < expected.size(); ++k)
        EXPECT_NEAR(seen[rows.limit(k)] / double{n}, expected[k], 7 * std::sqrt(expected[k] / n) + 1e-4) << k;
}

// ---- What it is good for ----

// 3,000 people, a tenth of whom has ten times as many rows as the others, epsilon 0.1, a count of people right to 39. The loss of a
// count is what clipping takes and what noise adds. In 95 of 100 runs it is at most 2.4 times the least that any limit has. Of 1,000
// runs 50 may be worse, and 100 are no chance of 1e-9 if they are.
TEST(RowLimit, LossIsNearTheLeast) {
    std::mt19937_64 random(13);
    std::vector<std::int64_t> people;
    std::geometric_distribution<std::int64_t> few(0.4), many(0.04);
    for (int i = 0; i < 3000; ++i)
        people.push_back(1 + (i % 10 == 0 ? many(random) : few(random)));
    constexpr double h = 39;
    const auto loss = [&](int limit) {
        double left_out = 0;
        for (std::int64_t n : people)
            left_out += static_cast<double>(std::max<std::int64_t>(0, n - limit));
        return left_out + h * limit;
    };
    double least = loss(1);
    for (int limit = 2; limit < 1000; ++limit)
        least = std::min(least, loss(limit));
    const UnitRows rows = of(people);
    int worse = 0;
    for (int i = 0; i < 1000; ++i)
        worse += loss(choose_row_limit(random, epsilon("0.1"), limit_threshold(epsilon("0.1"), h), rows)) > 2.4 * least;
    EXPECT_LT(worse, 100);
}

} // namespace
