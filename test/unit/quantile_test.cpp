// Percentiles, minimum and maximum by permute-and-flip (formulas.md 8.9).
#include "privacy/quantile_draw.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace dp::privacy;
using detail::native128;
using Histogram = std::vector<std::int64_t>;

std::mt19937_64 bits(11);

MeasureNoise noise_of(double epsilon, int measures = 1, std::uint64_t sensitivity = 1) {
    MeasureNoise noise;
    noise.sensitivity = sensitivity;
    noise.laplace = laplace_scale(uint128{sensitivity} * static_cast<unsigned>(measures),
                                  Epsilon::from_double(epsilon, Rounding::down));
    return noise;
}

// The law of permute-and-flip for coins of probability p. A random order is that of independent times of arrival, uniform on
// [0, 1]; who comes first with heads is taken: p_i times the integral of the product over all others of (1 - p_j t).
double taken_first(const std::vector<double> &p, std::size_t i) {
    constexpr int steps = 200; // Simpson's rule of a polynomial that is smooth where its degree is small
    const int n = p.size() > 8 ? 20 * steps : steps;
    double sum = 0;
    for (int k = 0; k <= n; ++k) {
        double product = k == 0 || k == n ? 1 : k % 2 == 1 ? 4 : 2;
        for (std::size_t j = 0; j < p.size(); ++j)
            product *= j == i ? 1 : 1 - p[j] * k / n;
        sum += product;
    }
    return sum / (3 * n);
}

std::vector<double> law(const std::vector<double> &p) {
    std::vector<double> result;
    for (std::size_t i = 0; i < p.size(); ++i)
        result.push_back(p[i] * taken_first(p, i));
    return result;
}

std::vector<double> coins(const std::vector<native128> &gaps, std::int64_t fraction, const MeasureNoise &noise) {
    std::vector<double> p;
    for (native128 gap : gaps)
        p.push_back(
            std::exp(-static_cast<double>(gap) / static_cast<double>(utility_range(fraction)) / noise.laplace.value()));
    return p;
}

std::vector<double> law_of(const Histogram &counts, std::int64_t fraction, const MeasureNoise &noise) {
    const int cells = static_cast<int>(counts.size());
    return law(coins(utility_gaps(counts.data(), cells, fraction, rank_margin(cells, noise)), fraction, noise));
}

// All histograms of so many cells with at most so many rows each.
std::vector<Histogram> histograms(int cells, std::int64_t most) {
    std::vector<Histogram> all = {{}};
    for (int i = 0; i < cells; ++i) {
        std::vector<Histogram> longer;
        for (const Histogram &h : all)
            for (std::int64_t n = 0; n <= most; ++n) {
                longer.push_back(h);
                longer.back().push_back(n);
            }
        all = longer;
    }
    return all;
}

double largest_loss(const std::vector<double> &a, const std::vector<double> &b) {
    double loss = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        loss = std::max(loss, std::fabs(std::log(a[i] / b[i])));
    return loss;
}

const std::int64_t fractions[] = {0, 1, 100000000, 250000000, 500000000, 900000000, 999999999, fraction_one};

TEST(Quantile, NoNeighbourTellsMoreThanEpsilon) {
    for (std::int64_t fraction : fractions) {
        double worst = 0;
        for (double epsilon : {0.3, 2.0}) {
            const MeasureNoise noise = noise_of(epsilon);
            for (const Histogram &counts : histograms(4, 3))
                for (std::size_t cell = 0; cell < counts.size(); ++cell) {
                    Histogram more = counts;
                    ++more[cell];
                    const double loss = largest_loss(law_of(counts, fraction, noise), law_of(more, fraction, noise));
                    EXPECT_LE(loss, epsilon * (1 + 1e-6)) << fraction;
                    worst = std::max(worst, loss / epsilon);
                }
        }
        EXPECT_GT(worst, 0.49) << fraction;
    }
}

// Empty cells on both sides of the one that holds the median: somebody more above takes those below half a row further away,
// and brings all of those above, which are many, half a row nearer. Then nearly all of epsilon is told.
TEST(Quantile, TheFactorIsNeeded) {
    const MeasureNoise noise = noise_of(1);
    Histogram counts = {90, 0, 2};
    counts.resize(200);
    counts.push_back(90);
    Histogram more = counts;
    ++more.back();
    const double loss = largest_loss(law_of(counts, 500000000, noise), law_of(more, 500000000, noise));
    EXPECT_LE(loss, 1 + 1e-6);
    EXPECT_GT(loss, 0.95);
}

// The rows of a unit: any nonnegative vector of l1 norm D at most.
TEST(Quantile, SensitivityScales) {
    constexpr int units = 3;
    const double epsilon = 0.8;
    const MeasureNoise noise = noise_of(epsilon, 1, units);
    for (std::int64_t fraction : fractions)
        for (const Histogram &counts : histograms(3, 2))
            for (const Histogram &change : histograms(3, units)) {
                if (std::accumulate(change.begin(), change.end(), std::int64_t{0}) > units)
                    continue;
                Histogram more = counts;
                for (std::size_t i = 0; i < more.size(); ++i)
                    more[i] += change[i];
                EXPECT_LE(largest_loss(law_of(counts, fraction, noise), law_of(more, fraction, noise)),
                          epsilon * (1 + 1e-6));
            }
}

// With half of the range that the utility has, more is told than epsilon.
TEST(Quantile, HalfTheRangeWouldNotDo) {
    const double epsilon = 1;
    const MeasureNoise half = noise_of(2 * epsilon);
    for (std::int64_t fraction : {std::int64_t{500000000}, std::int64_t{900000000}}) {
        double worst = 0;
        for (const Histogram &counts : histograms(4, 6))
            for (std::size_t cell = 0; cell < counts.size(); ++cell) {
                Histogram more = counts;
                ++more[cell];
                worst = std::max(worst, largest_loss(law_of(counts, fraction, half), law_of(more, fraction, half)));
            }
        EXPECT_GT(worst, 1.2 * epsilon) << fraction;
    }
    EXPECT_EQ(utility_range(500000000), fraction_one);
    EXPECT_EQ(utility_range(900000000), 1800000000);
    EXPECT_EQ(utility_range(0), 2 * fraction_one);
}

TEST(Quantile, DrawsFollowTheLaw) {
    const MeasureNoise noise = noise_of(0.7, 2);
    for (const Histogram &counts :
         {Histogram{0, 3, 1, 0, 5}, Histogram{0, 0, 0}, Histogram{9}, Histogram{4, 0, 0, 4, 1, 2}})
        for (std::int64_t fraction :
             {std::int64_t{0}, std::int64_t{500000000}, std::int64_t{900000000}, fraction_one}) {
            constexpr int draws = 40000;
            std::vector<int> hits(counts.size());
            for (int i = 0; i < draws; ++i)
                ++hits[static_cast<std::size_t>(
                    draw_cell(bits, counts.data(), static_cast<int>(counts.size()), fraction, noise))];
            const std::vector<double> expected = law_of(counts, fraction, noise);
            EXPECT_NEAR(std::accumulate(expected.begin(), expected.end(), 0.0), 1, 1e-7);
            for (std::size_t i = 0; i < counts.size(); ++i) // six deviations
                EXPECT_NEAR(hits[i], draws * expected[i],
                            6 * std::sqrt(draws * expected[i] * (1 - expected[i])) + 1e-9);
        }
}

// As good as the exponential mechanism, with the same factor, or better, on each histogram.
TEST(Quantile, NoWorseThanTheExponentialMechanism) {
    const MeasureNoise noise = noise_of(0.5);
    double all = 0, naive = 0;
    for (const Histogram &counts : histograms(5, 3))
        for (std::int64_t fraction : fractions) {
            const int cells = static_cast<int>(counts.size());
            const std::vector<native128> gaps = utility_gaps(counts.data(), cells, fraction, rank_margin(cells, noise));
            const std::vector<double> p = coins(gaps, fraction, noise), mine = law(p);
            const double sum = std::accumulate(p.begin(), p.end(), 0.0);
            double error = 0, exponential = 0;
            for (std::size_t i = 0; i < p.size(); ++i) {
                error += mine[i] * static_cast<double>(gaps[i]) / fraction_one;
                exponential += p[i] / sum * static_cast<double>(gaps[i]) / fraction_one;
            }
            EXPECT_LE(error, exponential + 1e-7);
            all += error;
            naive += exponential;
        }
    EXPECT_LT(all, 0.9 * naive);
}

TEST(Quantile, RankErrorHolds) {
    for (std::int64_t fraction : {std::int64_t{500000000}, std::int64_t{900000000}, std::int64_t{0}, fraction_one}) {
        const MeasureNoise noise = noise_of(0.4);
        constexpr int cells = 64, draws = 4000;
        Histogram counts(cells);
        for (std::int64_t &n : counts)
            n = static_cast<std::int64_t>(bits() % 40);
        const std::vector<native128> gaps = utility_gaps(counts.data(), cells, fraction, rank_margin(cells, noise));
        const double bound = rank_error95(cells, fraction, noise) * fraction_one;
        int off = 0;
        for (int i = 0; i < draws; ++i)
            off += static_cast<double>(
                       gaps[static_cast<std::size_t>(draw_cell(bits, counts.data(), cells, fraction, noise))]) >= bound
                       ? 1
                       : 0;
        EXPECT_LE(off, draws * 0.05 + 6 * std::sqrt(draws * 0.05));
    }
}

Bounds bounds_of(const char *lower, const char *upper, bool integer = false) {
    return make_bounds(lower, upper, integer);
}

TEST(Quantile, GridOfIntegers) {
    const Grid ages = grid_of(bounds_of("0", "120", true), 0);
    EXPECT_EQ(ages.cells, 121);
    for (int age = 0; age <= 120; ++age) {
        EXPECT_EQ(cell_of_point(ages, age), age);
        EXPECT_EQ(point_of_cell(ages, Aggregate::max, age), age);
        EXPECT_EQ(point_of_cell(ages, Aggregate::min, age), age);
        EXPECT_EQ(number_of_cell(ages, Aggregate::percentile_cont, age), age);
    }
    EXPECT_EQ(cell_of_point(ages, -5), 0);
    EXPECT_EQ(cell_of_point(ages, INT64_MAX), 120);
    EXPECT_EQ(cell_of_point(ages, INT64_MIN), 0);
    const Grid wide = grid_of(bounds_of("-9000000000000000000", "9000000000000000000", true), 0);
    EXPECT_EQ(wide.first, -9000000000000000000);
    EXPECT_EQ(wide.last, 9000000000000000000);
}

// Each point is in the cell whose edges hold it, whatever the bounds; and the edges of all cells are all points once.
TEST(Quantile, EdgesHoldTheirPoints) {
    const Bounds all[] = {
        bounds_of("0", "20000", true),    bounds_of("-7", "1023", true),
        bounds_of("-1000", "1025", true), bounds_of("-9000000000000000000", "9000000000000000000", true),
        bounds_of("0.2", "0.8", true),    bounds_of("5", "6", true)};
    for (const Bounds &bounds : all) {
        const Grid grid = grid_of(bounds, 0);
        ASSERT_TRUE(grid.of_points);
        EXPECT_EQ(point_of_cell(grid, Aggregate::min, 0), grid.first);
        EXPECT_EQ(point_of_cell(grid, Aggregate::max, grid.cells - 1), grid.last);
        for (int i = 0; i < grid.cells; ++i) {
            const std::int64_t low = point_of_cell(grid, Aggregate::min, i),
                               high = point_of_cell(grid, Aggregate::max, i);
            EXPECT_LE(low, high);
            EXPECT_EQ(cell_of_point(grid, low), i);
            EXPECT_EQ(cell_of_point(grid, high), i);
            if (i + 1 < grid.cells) {
                EXPECT_EQ(point_of_cell(grid, Aggregate::min, i + 1), high + 1);
            }
        }
    }
}

TEST(Quantile, GridOfDecimals) {
    const Grid prices = grid_of(bounds_of("0.1", "9.95"), 2);
    EXPECT_TRUE(prices.of_points);
    EXPECT_EQ(prices.first, 10);
    EXPECT_EQ(prices.last, 995);
    EXPECT_EQ(prices.cells, 986);
    for (int cents = 10; cents <= 995; ++cents)
        EXPECT_EQ(point_of_cell(prices, Aggregate::max, *cell_of_number(prices, cents / 100.0)), cents);
    EXPECT_FALSE(grid_of(bounds_of("0", "1e300"), 2).of_points);
}

TEST(Quantile, GridOfReals) {
    const Grid grid = grid_of(bounds_of("0", "1024"), -1);
    EXPECT_EQ(grid.cells, most_cells);
    EXPECT_FALSE(cell_of_number(grid, std::nan("")).has_value());
    EXPECT_EQ(*cell_of_number(grid, -HUGE_VAL), 0);
    EXPECT_EQ(*cell_of_number(grid, HUGE_VAL), 1023);
    EXPECT_EQ(*cell_of_number(grid, 0), 0);
    for (int i = 1; i <= 1024; ++i) { // up to the upper edge, which is printed
        EXPECT_EQ(*cell_of_number(grid, i), i - 1);
        EXPECT_EQ(*cell_of_number(grid, i - 0.5), i - 1);
        EXPECT_EQ(number_of_cell(grid, Aggregate::max, i - 1), i);
        EXPECT_EQ(number_of_cell(grid, Aggregate::min, i - 1), i - 1);
        EXPECT_EQ(number_of_cell(grid, Aggregate::percentile_cont, i - 1), i - 0.5);
    }
    const Grid wide = grid_of(bounds_of("-1e300", "1e300"), -1);
    for (double v : {-1e308, -1e300, -1.0, 0.0, 1e299, 1e308}) {
        const int cell = *cell_of_number(wide, v);
        EXPECT_TRUE(cell >= 0 && cell < wide.cells);
        EXPECT_TRUE(std::isfinite(number_of_cell(wide, Aggregate::percentile_cont, cell)));
    }
    Grid widest = grid; // further apart than the largest double
    widest.low = -1.7e308;
    widest.high = 1.7e308;
    EXPECT_EQ(*cell_of_number(widest, -1.7e308), 0);
    EXPECT_EQ(*cell_of_number(widest, 1e305), 512);
    EXPECT_EQ(*cell_of_number(widest, 1.7e308), 1023);
}

TEST(Quantile, MeasuresAreDistinctCalls) {
    std::vector<AggregateCall> calls = {{Aggregate::percentile_cont, 1, -1, 500000000},
                                        {Aggregate::percentile_disc, 1, -1, 500000000}, // the same cell, printed twice
                                        {Aggregate::percentile_cont, 1, -1, 900000000},
                                        {Aggregate::max, 1, -1, fraction_one},
                                        {Aggregate::max, 1, 0, fraction_one},
                                        {Aggregate::count, 1, -1, -1},
                                        {Aggregate::sum, 1, -1, -1}};
    const std::vector<Measure> measures = leaf_measures(calls, false);
    ASSERT_EQ(measures.size(), 5U);
    for (int j = 0; j < 4; ++j) {
        EXPECT_EQ(measures[static_cast<std::size_t>(j)].kind, MeasureKind::quantile);
        EXPECT_EQ(measures[static_cast<std::size_t>(j)].coordinates(), 1);
    }
    EXPECT_EQ(measures[0].calls, (std::vector<int>{0, 1}));
    EXPECT_EQ(measures[4].kind, MeasureKind::pair);
    EXPECT_EQ(coordinates_of_one_group(measures), 6);
}

TEST(Quantile, FractionsAreRounded) {
    EXPECT_EQ(fraction_of(0.5), 500000000);
    EXPECT_EQ(fraction_of(1.0 / 3), 333333333);
    EXPECT_EQ(fraction_of(1e-12), 0);
    EXPECT_EQ(fraction_of(1), fraction_one);
    EXPECT_THROW(fraction_of(-1e-9), InvalidParameter);
    EXPECT_THROW(fraction_of(1.5), InvalidParameter);
    EXPECT_THROW(fraction_of(std::nan("")), InvalidParameter);
}

// The largest numbers that can come: nothing overflows, and the best cell is taken.
TEST(Quantile, Extremes) {
    MeasureNoise noise = noise_of(100, 1);
    Histogram counts(3, std::int64_t{1} << 58);
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(draw_cell(bits, counts.data(), 3, 500000000, noise), 1);
    noise = noise_of(1e-9, 1 << 16, std::uint64_t{1} << 20);
    int hits[3] = {};
    for (int i = 0; i < 3000; ++i)
        ++hits[draw_cell(bits, counts.data(), 3, fraction_one, noise)];
    for (int n : hits)
        EXPECT_GE(n, 0);
}

} // namespace
