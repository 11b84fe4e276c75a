// Covariances, correlations and lines of regression from noisy sums of products (formulas.md 8.10).
#include "measured.hpp"
#include "privacy/joint.hpp"
#include "privacy/joint_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace dp::privacy;

constexpr Aggregate all[] = {Aggregate::covar_pop,  Aggregate::covar_samp,     Aggregate::corr,
                             Aggregate::regr_slope, Aggregate::regr_intercept, Aggregate::regr_r2};
constexpr MeasureKind kinds[] = {MeasureKind::products, MeasureKind::moments};
std::mt19937_64 bits;

double uniform() {
    return static_cast<double>(bits() >> 11) * 0x1p-53;
}

// What a test draws does not depend on which others ran before it in the same process.
class Joint : public testing::Test {
  protected:
    void SetUp() override { bits.seed(11); }
};

struct Row {
    double y, x;
};

// As SQL computes them; 0 where it has NULL.
double direct(Aggregate fn, const std::vector<Row> &rows) {
    const auto n = static_cast<double>(rows.size());
    double my = 0, mx = 0, yy = 0, xx = 0, xy = 0;
    for (const Row &row : rows) {
        my += row.y / n;
        mx += row.x / n;
    }
    for (const Row &row : rows) {
        yy += (row.y - my) * (row.y - my);
        xx += (row.x - mx) * (row.x - mx);
        xy += (row.y - my) * (row.x - mx);
    }
    switch (fn) {
    case Aggregate::covar_pop:
        return n == 0 ? 0 : xy / n;
    case Aggregate::covar_samp:
        return n < 2 ? 0 : xy / (n - 1);
    case Aggregate::corr:
        return xx * yy == 0 ? 0 : xy / std::sqrt(xx * yy);
    case Aggregate::regr_r2:
        return xx * yy == 0 ? 0 : xy * xy / (xx * yy);
    case Aggregate::regr_slope:
        return xx == 0 ? 0 : xy / xx;
    default:
        return xx == 0 ? my : my - xy / xx * mx;
    }
}

struct Sums {
    int128 of[6] = {};
    const int128 *data() const { return of; }
};

Sums exact(MeasureKind kind, const std::vector<Row> &rows, const JointBounds &bounds) {
    Sums sums;
    for (const Row &row : rows) {
        const JointPoint p = *to_joint_point(joint_lattice(bounds), row.y, row.x, joint_one(kind));
        const std::int64_t parts[] = {p.both, p.y_alone, p.x_alone, p.neither, p.y_spread, p.x_spread};
        for (std::size_t i = 0; i < 6; ++i)
            sums.of[i] += parts[i];
    }
    return sums;
}

MeasureNoise noise_of(MeasureKind kind, Mechanism mechanism, double epsilon) {
    Measure measure;
    measure.kind = kind;
    measure.argument = 1;
    return plan_release(mechanism, measured({measure}, {joint_sensitivity(kind)}), false,
                        Epsilon::from_double(epsilon, Rounding::down),
                        mechanism == Mechanism::laplace ? Delta() : Delta::from_double(1e-6, Rounding::down))
        .noise.front();
}

std::vector<Row> correlated(int n, double share) {
    std::vector<Row> rows;
    for (int i = 0; i < n; ++i) {
        const double x = uniform();
        rows.push_back({share * x + (1 - share) * uniform(), x});
    }
    return rows;
}

// Whatever a row holds, its four products are not negative and are `one` together, and the other two are a quarter at most: D is
// the change of the vector in l1, reached where both values are in the middle.
TEST_F(Joint, NoRowAddsMoreThanTheSensitivity) {
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<Bounds> bounds{
        make_bounds("0", "1", false), make_bounds("-3", "1000", true), make_bounds("-1e300", "1e300", false),
        make_bounds("1", "1.00000000000000000001", false), make_bounds("0", "1e-270", false)};
    std::uint64_t largest[2] = {};
    for (const Bounds &y : bounds)
        for (const Bounds &x : bounds) {
            std::vector<Row> rows{{infinity, -infinity}, {-infinity, infinity}, {1e308, -1e308}, {5e-324, -0.0}};
            rows.push_back({0.5 * y.low + 0.5 * y.high, 0.5 * x.low + 0.5 * x.high});
            for (int i = 0; i < 1000; ++i)
                rows.push_back(
                    {y.low + (y.high - y.low) * (3 * uniform() - 1), x.low + (x.high - x.low) * (3 * uniform() - 1)});
            for (const Row &row : rows)
                for (const MeasureKind kind : kinds) {
                    const std::int64_t one = joint_one(kind);
                    const auto p = to_joint_point(joint_lattice({y, x}), row.y, row.x, one);
                    ASSERT_TRUE(p);
                    ASSERT_GE(std::min({p->both, p->y_alone, p->x_alone, p->neither, p->y_spread, p->x_spread}), 0);
                    ASSERT_EQ(one, p->both + p->y_alone + p->x_alone + p->neither);
                    const std::int64_t norm = kind == MeasureKind::moments ? one + p->y_spread + p->x_spread : one;
                    ASSERT_LE(static_cast<std::uint64_t>(norm), joint_sensitivity(kind));
                    largest[kind == MeasureKind::moments] =
                        std::max(largest[kind == MeasureKind::moments], static_cast<std::uint64_t>(norm));
                }
            EXPECT_FALSE(to_joint_point(joint_lattice({y, x}), nan, x.low, pair_one));
            EXPECT_FALSE(to_joint_point(joint_lattice({y, x}), y.low, nan, pair_one));
            EXPECT_EQ(pair_one, to_joint_point(joint_lattice({y, x}), infinity, infinity, pair_one)->both);
            EXPECT_EQ(pair_one, to_joint_point(joint_lattice({y, x}), -infinity, -infinity, pair_one)->neither);
            EXPECT_EQ(pair_one, to_joint_point(joint_lattice({y, x}), infinity, -infinity, pair_one)->y_alone);
        }
    EXPECT_EQ(joint_sensitivity(MeasureKind::products), largest[0]);
    EXPECT_EQ(joint_sensitivity(MeasureKind::moments), largest[1]);
    EXPECT_LE(joint_sensitivity(MeasureKind::moments) << 20, largest_sensitivity);
}

// What is divided by a variance is off by what rounding to the lattice is of it: two rows may be close to each other. A share of the box.
double least_variance(const std::vector<Row> &rows, const Bounds &y, const Bounds &x) {
    std::vector<Row> twice_y = rows, twice_x = rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        twice_y[i].x = rows[i].y;
        twice_x[i].y = rows[i].x;
    }
    return std::min(direct(Aggregate::covar_pop, twice_y) / std::pow(y.high - y.low, 2),
                    direct(Aggregate::covar_pop, twice_x) / std::pow(x.high - x.low, 2));
}

TEST_F(Joint, WithoutNoiseTheNumbersAreThoseOfTheRows) {
    const Bounds y = make_bounds("-50", "150", false), x = make_bounds("1000", "3000", true);
    for (int n : {2, 3, 10, 1000})
        for (double share : {-1.0, -0.4, 0.0, 0.3, 0.9}) {
            std::vector<Row> rows = correlated(n, share);
            for (Row &row : rows)
                row = {50 + 45 * row.y, 1000 + 2000 * row.x};
            const double near = 1e-4 * std::max(1.0, 3e-2 / least_variance(rows, y, x));
            for (Aggregate fn : all)
                for (const MeasureKind kind : kinds) {
                    if (kind == MeasureKind::products && divides_by_variance(fn))
                        continue;
                    const double truth = direct(fn, rows),
                                 unit = fn == Aggregate::covar_pop || fn == Aggregate::covar_samp ? 4e5
                                        : fn == Aggregate::regr_intercept                         ? 100
                                                                                                  : 1;
                    EXPECT_NEAR(truth, joint_number(fn, joint_sums(kind, exact(kind, rows, {y, x}).data()), {y, x}),
                                near * unit)
                        << n << " " << share << " " << static_cast<int>(fn);
                }
        }
}

// Of nothing, of one row, and where a variance is 0 that is divided by.
TEST_F(Joint, NothingIsNotANumberThatCannotBe) {
    const Bounds y = make_bounds("-1e300", "1e300", false), x = make_bounds("0", "1", false);
    const std::vector<Row> of_none, of_one{{3, 0.25}}, flat{{1, 0.5}, {2, 0.5}, {3, 0.5}};
    for (const auto &rows : {of_none, of_one, flat})
        for (Aggregate fn : all) {
            const double number = joint_number(
                fn, joint_sums(MeasureKind::moments, exact(MeasureKind::moments, rows, {y, x}).data()), {y, x});
            EXPECT_TRUE(std::isfinite(number));
            if (fn != Aggregate::regr_intercept) {
                EXPECT_EQ(0, number);
            }
        }
    // Noise without a row, and far larger than what is there.
    for (int i = 0; i < 2000; ++i) {
        int128 noisy[6];
        for (int128 &sum : noisy)
            sum = static_cast<int128>((uniform() - 0.5) * std::pow(2.0, 20 + 60 * uniform()));
        for (Aggregate fn : all) {
            const JointSums sums = joint_sums(MeasureKind::moments, noisy);
            const double number = joint_number(fn, sums, {y, x});
            const Interval interval =
                joint_interval(fn, sums, {y, x}, noise_of(MeasureKind::moments, Mechanism::laplace, 0.1));
            ASSERT_TRUE(std::isfinite(number) && std::isfinite(interval.lower) && std::isfinite(interval.upper));
            ASSERT_LE(interval.lower, number);
            ASSERT_LE(number, interval.upper);
            if (fn == Aggregate::corr) {
                ASSERT_LE(std::fabs(number), 1);
            }
        }
    }
}

// 95 % of them hold what the rows have, at least, whatever the noise.
TEST_F(Joint, IntervalsHoldTheTruth) {
    const Bounds y = make_bounds("0", "1", false), x = make_bounds("0", "1", false);
    for (int n : {20, 400, 5000})
        for (double share : {0.0, 0.5, 0.95}) {
            const std::vector<Row> rows = correlated(n, share);
            for (const Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
                const MeasureNoise noise = noise_of(MeasureKind::moments, mechanism, 0.5);
                const Sums sums = exact(MeasureKind::moments, rows, {y, x});
                std::vector<int> held(std::size(all));
                constexpr int draws = 1000;
                for (int i = 0; i < draws; ++i) {
                    int128 noisy[6];
                    for (std::size_t k = 0; k < 6; ++k)
                        noisy[k] = sums.of[k] + draw(bits, noise);
                    for (std::size_t f = 0; f < std::size(all); ++f) {
                        const Interval interval =
                            joint_interval(all[f], joint_sums(MeasureKind::moments, noisy), {y, x}, noise);
                        const double truth = direct(all[f], rows);
                        held[f] += interval.lower <= truth && truth <= interval.upper;
                    }
                }
                for (int h : held)
                    EXPECT_GE(h, 0.93 * draws) << n << " " << share;
            }
        }
}

// A covariance of n rows is off by less than what a count is, divided by n.
TEST_F(Joint, NoiseIsThatOfOneCount) {
    const Bounds unit = make_bounds("0", "1", false);
    const std::vector<Row> rows = correlated(10000, 0.5);
    const Sums sums = exact(MeasureKind::products, rows, {unit, unit});
    const MeasureNoise noise = noise_of(MeasureKind::products, Mechanism::laplace, 1);
    const double truth =
        joint_number(Aggregate::covar_pop, joint_sums(MeasureKind::products, sums.data()), {unit, unit});
    double squares = 0;
    constexpr int draws = 2000;
    for (int i = 0; i < draws; ++i) {
        int128 noisy[4];
        for (std::size_t k = 0; k < 4; ++k)
            noisy[k] = sums.of[k] + draw(bits, noise);
        const double error =
            joint_number(Aggregate::covar_pop, joint_sums(MeasureKind::products, noisy), {unit, unit}) - truth;
        squares += error * error / draws;
    }
    EXPECT_LT(std::sqrt(squares) * static_cast<double>(rows.size()), std::sqrt(2.0));
    EXPECT_GT(std::sqrt(squares) * static_cast<double>(rows.size()), 0.5);
}

TEST_F(Joint, NothingElseIsReadOffTheirSums) {
    const Bounds unit = make_bounds("0", "1", false);
    const int128 sums[6] = {};
    EXPECT_THROW(joint_number(Aggregate::count, joint_sums(MeasureKind::moments, sums), {unit, unit}),
                 std::logic_error);
    EXPECT_THROW(leaf_measures({{Aggregate::corr, 7, -1, -1}, {Aggregate::count, 7, -1, -1}}, false), std::logic_error);
}

TEST_F(Joint, WhatIsAskedForDecidesTheMeasure) {
    const auto measured = [](const std::vector<Aggregate> &fns) {
        std::vector<AggregateCall> calls;
        for (Aggregate fn : fns)
            calls.push_back({fn, 7, -1, -1});
        return leaf_measures(calls, false);
    };
    EXPECT_EQ(MeasureKind::products, measured({Aggregate::covar_pop, Aggregate::covar_samp}).front().kind);
    EXPECT_EQ(4, coordinates_of_one_group(measured({Aggregate::covar_samp})));
    const auto mixed = measured({Aggregate::covar_pop, Aggregate::corr, Aggregate::regr_intercept});
    EXPECT_EQ(1U, mixed.size());
    EXPECT_EQ(MeasureKind::moments, mixed.front().kind);
    EXPECT_EQ(6, coordinates_of_one_group(mixed));
}

} // namespace
