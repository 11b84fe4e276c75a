// How often the 95 % intervals that dp_low and dp_high show hold the truth: many draws of each kind of measure, through the
// shipped plan, noise and post-processing. `sql/interval_coverage.sql` asks the same of the server.
//
// False alarms. n draws cover binomially. By Chernoff's bound the share is off its mean by more than `margin` with probability at
// most 2 exp(-n KL), KL = KL(0.945 || 0.95) = 2.6e-4: 1e-11 for n = 100000. Averages cover more, and are asked for 0.96 at the least:
// at 0.98, less than any has, KL(0.96 || 0.98) = 8.1e-3, and 20000 draws fail with probability below 1e-70. The binary asks 50
// questions: it fails by chance with probability below 1e-9.
#include "../unit/measured.hpp"
#include "privacy/contribution.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/scaled_numbers.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include "system_bits.hpp"

namespace {

using namespace dp::privacy;

constexpr int draws = 100000;
constexpr int draws_of_averages = 20000;
constexpr double margin = 0.005;

ReleasePlan plan_of(Mechanism mechanism, Aggregate fn, std::uint64_t sensitivity, const char *epsilon) {
    const std::vector<AggregateCall> calls = {{fn, fn == Aggregate::count_star ? -1 : 1, -1}};
    return plan_release(mechanism, measured(leaf_measures(calls, false), {sensitivity}), false,
                        *Epsilon::parse(epsilon),
                        mechanism == Mechanism::gaussian ? *Delta::parse("0.000001") : Delta());
}

const char *name_of(Mechanism mechanism) {
    return mechanism == Mechanism::laplace ? "laplace" : "gaussian";
}

template <class Covers> double share(Covers &&covers, int n = draws) {
    int held = 0;
    for (int i = 0; i < n; ++i)
        held += covers();
    return static_cast<double>(held) / n;
}

// `exact`: what the law says; the half-width of an integer covers more than it must.
void expect_about(double measured, double exact, const std::string &what) {
    std::printf("%-40s %.4f (%.4f)\n", what.c_str(), measured, exact);
    EXPECT_GE(exact, 0.95 - 1e-6) << what;
    EXPECT_NEAR(measured, exact, margin) << what;
}

double law(const MeasureNoise &noise) {
    const double h = noise.halfwidth(0.05);
    if (noise.mechanism == Mechanism::gaussian)
        return 1 - 2 * discrete_gaussian_tail(noise.gaussian.sigma(), h + 1);
    const double u = std::exp(-1 / noise.laplace.value());
    return 1 - 2 * std::pow(u, h + 1) / (1 + u);
}

TEST(IntervalCoverage, CountsAndSums) {
    SystemBits bits;
    const Bounds bounds = make_bounds("-3", "99.5", false);
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (const char *epsilon : {"0.05", "0.8"}) {
            const MeasureNoise count = plan_of(mechanism, Aggregate::count_star, 1, epsilon).noise[0];
            const double h = measure_halfwidth(count, Measure(), nullptr);
            expect_about(share([&] {
                             const int128 noisy = 1000 + draw(bits, count);
                             return moved_down(noisy, h) <= 1000 && 1000 <= moved_up(noisy, h);
                         }),
                         law(count), std::string("count ") + name_of(mechanism) + " " + epsilon);
            const MeasureNoise sum = plan_of(mechanism, Aggregate::sum, bounds.sensitivity(), epsilon).noise[0];
            const double width = std::ldexp(measure_halfwidth(sum, Measure(), &bounds), -bounds.exponent);
            const std::int64_t truth = std::int64_t{1} << 40; // as a bigint
            const int128 exact = static_cast<int128>(truth) << -bounds.exponent;
            expect_about(share([&] {
                             const int128 noisy = exact + draw(bits, sum);
                             return scaled_integer(moved_down(noisy, width), bounds.exponent, Direction::down) <=
                                        truth &&
                                    truth <= scaled_integer(moved_up(noisy, width), bounds.exponent, Direction::up);
                         }),
                         law(sum), std::string("sum ") + name_of(mechanism) + " " + epsilon);
        }
}

// Of people with up to 20 rows each, on the lattice of counts whose units may be in several groups. What is counted is no whole
// number where somebody was clipped.
TEST(IntervalCoverage, CountsOfAGrain) {
    SystemBits bits;
    Measure counted;
    counted.grain = fine_grain;
    const int exponent = unit_exponent(counted, nullptr);
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (const std::int64_t part : {std::int64_t{0}, static_cast<std::int64_t>(fine_grain) / 3}) {
            const MeasureNoise noise =
                plan_of(mechanism, Aggregate::count_star, 20 * fine_grain, "0.8").noise[0];
            const double h = measure_halfwidth(noise, counted, nullptr);
            const int128 exact = 1000 * static_cast<int128>(fine_grain) + part;
            expect_about(share([&] {
                             const int128 noisy = exact + draw(bits, noise);
                             const double units = std::ldexp(h, -exponent);
                             return moved_down(noisy, units) <= exact && exact <= moved_up(noisy, units);
                         }),
                         law(noise), std::string("count of a grain ") + name_of(mechanism));
        }
}

struct Pair {
    int128 s1, s0;
};

Pair pair_of(int n, double position) {
    const auto s1 = static_cast<int128>(n * position * static_cast<double>(pair_one));
    return {s1, static_cast<int128>(n) * pair_one - s1};
}

TEST(IntervalCoverage, CountAndSumOfAPair) {
    SystemBits bits;
    const Bounds bounds = make_bounds("-3", "99.5", false);
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
        const MeasureNoise noise =
            plan_of(mechanism, Aggregate::avg, static_cast<std::uint64_t>(pair_one), "0.1").noise[0];
        const Pair exact = pair_of(500, 0.25);
        const double count_width = pair_count_halfwidth(noise), sum_width = pair_sum_halfwidth(noise, bounds);
        const double truth = release_pair(exact.s1, exact.s0, bounds).sum;
        int counts = 0, sums = 0;
        for (int i = 0; i < draws; ++i) {
            const PairRelease noisy = release_pair(exact.s1 + draw(bits, noise), exact.s0 + draw(bits, noise), bounds);
            counts += moved_down(noisy.count, count_width) <= 500 && 500 <= moved_up(noisy.count, count_width);
            sums += noisy.sum - sum_width <= truth && truth <= noisy.sum + sum_width;
        }
        expect_about(static_cast<double>(counts) / draws, 0.95, std::string("count of a pair ") + name_of(mechanism));
        expect_about(static_cast<double>(sums) / draws, 0.95, std::string("sum of a pair ") + name_of(mechanism));
    }
}

// Wider than need be: both halves at 97.5 %, and cut to the bounds.
TEST(IntervalCoverage, Averages) {
    SystemBits bits;
    const Bounds bounds = make_bounds("20", "60", false);
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (const char *epsilon : {"0.1", "1"})
            for (int n : {1, 20, 5000})
                for (double position : {0.0, 0.5, 0.9}) {
                    const MeasureNoise noise =
                        plan_of(mechanism, Aggregate::avg, static_cast<std::uint64_t>(pair_one), epsilon).noise[0];
                    const Pair exact = pair_of(n, position);
                    const double truth = release_pair(exact.s1, exact.s0, bounds).avg,
                                 slack = 1e-7; // 2^-30 of the range, rounded
                    const double measured = share(
                        [&] {
                            const Interval i = pair_avg_interval(exact.s1 + draw(bits, noise),
                                                                 exact.s0 + draw(bits, noise), bounds, noise);
                            return i.lower <= truth + slack && truth <= i.upper + slack;
                        },
                        draws_of_averages);
                    std::printf("average %-8s epsilon %-4s of %5d at %.1f   %.4f\n", name_of(mechanism), epsilon, n,
                                position, measured);
                    EXPECT_GE(measured, 0.96) << epsilon << " " << n << " " << position;
                }
}

} // namespace
