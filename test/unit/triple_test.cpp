// Variances from three noisy sums (formulas.md 8.6, 8.7, 1.2a).
#include "measured.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/triple.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/printed.hpp"
#include "privacy/printed_numbers.hpp"
#include "privacy/risk.hpp"

namespace {

using namespace dp::privacy;

constexpr Aggregate spreads[] = {Aggregate::var_pop, Aggregate::var_samp, Aggregate::stddev_pop,
                                 Aggregate::stddev_samp};
std::mt19937_64 bits(7);

double uniform() {
    return static_cast<double>(bits() >> 11) * 0x1p-53;
}

double direct(Aggregate fn, const std::vector<double> &values) {
    const bool sample = fn == Aggregate::var_samp || fn == Aggregate::stddev_samp;
    const auto n = static_cast<double>(values.size());
    if (n < (sample ? 2 : 1))
        return 0;
    double mean = 0, squares = 0;
    for (double v : values)
        mean += v / n;
    for (double v : values)
        squares += (v - mean) * (v - mean);
    const double variance = squares / (sample ? n - 1 : n);
    return fn == Aggregate::stddev_pop || fn == Aggregate::stddev_samp ? std::sqrt(variance) : variance;
}

Triple exact(const std::vector<double> &values, const Bounds &bounds) {
    Triple triple;
    for (double v : values) {
        const TriplePoint point = *to_triple_point(pair_lattice(bounds), v);
        triple.squares += point.squares;
        triple.rest += point.rest;
        triple.middle += pair_one - point.squares - point.rest;
    }
    return triple;
}

MeasureNoise noise_of(Mechanism mechanism, double epsilon) {
    Measure measure;
    measure.kind = MeasureKind::triple;
    measure.argument = 1;
    return plan_release(mechanism, measured({measure}, {static_cast<std::uint64_t>(pair_one)}), false,
                        Epsilon::from_double(epsilon, Rounding::down),
                        mechanism == Mechanism::laplace ? Delta() : Delta::from_double(1e-6, Rounding::down))
        .noise.front();
}

// Whatever a row holds, it adds three numbers that are not negative and are 2^30 together: the change of the vector in l1.
TEST(Triple, EveryValueAddsExactlyOne) {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const Bounds &bounds :
         {make_bounds("0", "1", false), make_bounds("-3", "1000", true), make_bounds("-1e300", "1e300", false),
          make_bounds("1", "1.00000000000000000001", false), make_bounds("0", "1e-270", false)}) {
        const PairLattice lattice = pair_lattice(bounds);
        std::vector<double> values{bounds.low, bounds.high, infinity, -infinity, 0, -0.0, 1e308, -1e308, 5e-324};
        for (int i = 0; i < 5000; ++i)
            values.push_back(bounds.low + (bounds.high - bounds.low) * (3 * uniform() - 1));
        for (double v : values) {
            const std::optional<TriplePoint> point = to_triple_point(lattice, v);
            ASSERT_TRUE(point);
            ASSERT_GE(point->squares, 0);
            ASSERT_GE(point->rest, 0);
            ASSERT_GE(pair_one - point->squares - point->rest, 0);
        }
        EXPECT_FALSE(to_triple_point(lattice, std::numeric_limits<double>::quiet_NaN()));
        EXPECT_EQ(0, to_triple_point(lattice, -infinity)->squares);
        EXPECT_EQ(0, to_triple_point(lattice, infinity)->rest);
    }
}

TEST(Triple, WithoutNoiseItIsTheVariance) {
    const Bounds bounds = make_bounds("-3", "110", true);
    for (int i = 0; i < 400; ++i) {
        std::vector<double> values(bits() % 40);
        for (double &v : values)
            v = std::floor(-3 + 114 * uniform());
        const Triple triple = exact(values, bounds);
        for (Aggregate fn : spreads)
            if (values.size() != 1) {
                EXPECT_NEAR(direct(fn, values), spread_of(fn, triple, bounds), 2e-3);
            }
        const Halves halves = halves_of(triple);
        const PairRelease pair = release_pair(halves.s1, halves.s0, bounds);
        double sum = 0;
        for (double v : values)
            sum += v;
        EXPECT_EQ(static_cast<int128>(values.size()), pair.count);
        EXPECT_NEAR(sum, pair.sum, 1e-4);
    }
}

// While no sum is off by more than h, the interval holds what there is without noise, however few values and however much noise.
TEST(Triple, IntervalsHoldWhileTheNoiseIsSmallEnough) {
    const Bounds bounds = make_bounds("-3", "110", true);
    for (double epsilon : {0.05, 1.0, 30.0}) {
        const MeasureNoise noise = noise_of(Mechanism::laplace, epsilon);
        const double h = noise.halfwidth(0.05 / 3);
        for (int i = 0; i < 20000; ++i) {
            std::vector<double> values(1 + bits() % (i % 3 == 0 ? 3 : 60));
            for (double &v : values)
                v = bits() % 4 == 0 ? 110 : bits() % 4 == 0 ? -3 : -3 + 113 * uniform();
            const Triple truth = exact(values, bounds);
            const auto off = [&] {
                return static_cast<int128>(std::trunc(h * (bits() % 3 == 0 ? 1 : 2 * uniform() - 1)));
            };
            const Triple noisy{truth.squares + off(), truth.middle + (bits() % 2 == 0 ? off() : -off()),
                               truth.rest - off()};
            for (Aggregate fn : spreads) {
                const bool sample = fn == Aggregate::var_samp || fn == Aggregate::stddev_samp;
                const double number = spread_of(fn, noisy, bounds), there = spread_of(fn, truth, bounds);
                const Interval interval = spread_interval(fn, noisy, bounds, noise);
                ASSERT_LE(interval.lower, number * (1 + 1e-12) + 1e-9);
                ASSERT_GE(interval.upper, number * (1 - 1e-12) - 1e-9);
                if (sample && values.size() < 2)
                    continue;
                ASSERT_LE(interval.lower, there * (1 + 1e-9) + 1e-6) << values.size();
                ASSERT_GE(interval.upper, there * (1 - 1e-9) - 1e-6) << values.size();
            }
            const Interval average = triple_avg_interval(noisy, bounds, noise);
            double mean = 0;
            for (double v : values)
                mean += v / static_cast<double>(values.size());
            ASSERT_LE(average.lower, mean + 1e-5);
            ASSERT_GE(average.upper, mean - 1e-5);
            const Halves halves = halves_of(noisy), before = halves_of(truth);
            const PairRelease pair = release_pair(halves.s1, halves.s0, bounds),
                              without = release_pair(before.s1, before.s0, bounds);
            ASSERT_LE(std::fabs(static_cast<double>(pair.count - without.count)), part_halfwidth(MeasureKind::triple, Aggregate::count, noise, bounds) + 1e-9);
            ASSERT_LE(std::fabs(pair.sum - without.sum), part_halfwidth(MeasureKind::triple, Aggregate::sum, noise, bounds) * (1 + 1e-9) + 1e-3);
        }
    }
}

// Nothing that is drawn makes it fail, or leaves the range that a variance can have.
TEST(Triple, AnyIntegersHaveAnAnswer) {
    const int128 largest = static_cast<int128>(~uint128{0} >> 1);
    const int128 numbers[] = {0, 1, -1, pair_one, -pair_one, largest, -largest, int128{1} << 100, -(int128{1} << 100)};
    for (const Bounds &bounds : {make_bounds("0", "1", false), make_bounds("-1e300", "1e300", false)})
        for (int128 a : numbers)
            for (int128 b : numbers)
                for (int128 c : numbers)
                    for (Aggregate fn : spreads) {
                        const double value = spread_of(fn, {a, b, c}, bounds);
                        ASSERT_TRUE(value >= 0 && std::isfinite(value));
                        const Interval interval =
                            spread_interval(fn, {a, b, c}, bounds, noise_of(Mechanism::laplace, 1));
                        ASSERT_TRUE(interval.lower >= 0 && std::isfinite(interval.upper));
                        const Halves halves = halves_of({a, b, c});
                        ASSERT_TRUE(std::isfinite(release_pair(halves.s1, halves.s0, bounds).avg));
                    }
}

TEST(Triple, OneMeasureOfThreeCoordinates) {
    const std::vector<Measure> measures = leaf_measures(
        {{Aggregate::count, 1, -1}, {Aggregate::stddev_samp, 1, -1}, {Aggregate::avg, 1, -1}, {Aggregate::sum, 2, -1}},
        false);
    ASSERT_EQ(2U, measures.size());
    EXPECT_EQ(MeasureKind::triple, measures[0].kind);
    EXPECT_EQ(3, measures[0].coordinates());
    EXPECT_EQ(4, coordinates_of_one_group(measures));
    // Several coordinates change: calibrated by zCDP, as a pair.
    Measure pair;
    pair.kind = MeasureKind::pair;
    const MeasureNoise of_pair =
        plan_release(Mechanism::gaussian, measured({pair}, {static_cast<std::uint64_t>(pair_one)}), false,
                     Epsilon::from_double(1, Rounding::down), Delta::from_double(1e-6, Rounding::down))
            .noise.front();
    EXPECT_EQ(of_pair.gaussian.sigma(), noise_of(Mechanism::gaussian, 1).gaussian.sigma());
}

// ---- for the controller --------------------------------------------------------------------------------------------

double laplace() {
    const double u = uniform() - 0.5;
    return (u < 0 ? 1 : -1) * std::log(1 - 2 * std::fabs(u));
}

TEST(Triple, ErrorsAreTheMeanOfManyDraws) {
    const Bounds bounds = make_bounds("0", "100", false);
    struct Moments { // of positions between the bounds
        double count, sum, squares;
    };
    const Moments groups[] = {{100, 0, 60}, {100, 90, 85}, {1, 1, 1}, {3000, -900, 700}, {5, 0, 5}, {0, 0, 0}};
    for (const Moments &group : groups)
        for (double epsilon : {0.05, 1.0})
            for (Aggregate fn :
                 {Aggregate::var_pop, Aggregate::stddev_samp, Aggregate::avg, Aggregate::sum, Aggregate::count}) {
                const MeasureNoise noise = noise_of(Mechanism::laplace, epsilon);
                const double scale = noise.laplace.value();
                const double n = group.count * pair_one, t = group.sum * pair_one, q = group.squares * pair_one;
                const Triple exact{static_cast<int128>((n + 2 * t + q) / 4), static_cast<int128>((n - q) / 2),
                                   static_cast<int128>((n - 2 * t + q) / 4)};
                const auto printed = [&](const Triple &triple) {
                    const Halves halves = halves_of(triple);
                    const PairRelease pair = release_pair(halves.s1, halves.s0, bounds);
                    switch (fn) {
                    case Aggregate::sum:
                        return pair.sum / 100;
                    case Aggregate::avg:
                        return pair.avg / 50;
                    case Aggregate::count:
                        return static_cast<double>(pair.count);
                    default:
                        return spread_of(fn, triple, bounds) / spread_unit(fn, bounds) / largest_spread_change(fn);
                    }
                };
                const __int128 sums[] = {exact.squares, exact.middle, exact.rest};
                const double truth = printed(exact);
                double sum = 0;
                constexpr int draws = 60000;
                for (int i = 0; i < draws; ++i)
                    sum += std::fabs(printed({exact.squares + static_cast<int128>(scale * laplace()),
                                              exact.middle + static_cast<int128>(scale * laplace()),
                                              exact.rest + static_cast<int128>(scale * laplace())}) -
                                     truth);
                EXPECT_NEAR(1, error_of_number({fn, MeasureKind::triple, &bounds, nullptr}, noise, sums) / (sum / draws), 0.03)
                    << static_cast<int>(fn) << " n " << group.count << " t " << group.sum << " epsilon " << epsilon;
            }
}

} // namespace
