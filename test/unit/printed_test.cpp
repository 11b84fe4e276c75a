// The numbers that a pair prints (formulas.md 1.2a) against draws of the mechanism itself and against a double sum.
#include "measured.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/printed.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace {

using namespace dp::privacy;

constexpr double one = static_cast<double>(pair_one);

Bounds bounds(const char *low, const char *high) {
    Bounds made;
    made.lower = low;
    made.upper = high;
    made.low = std::stod(low);
    made.high = std::stod(high);
    return made;
}

Measure pair_measure() {
    Measure measure;
    measure.kind = MeasureKind::pair;
    measure.argument = 0;
    measure.calls = {0};
    return measure;
}

MeasureNoise noise_of(Mechanism mechanism, const char *epsilon) {
    return plan_release(mechanism, measured({pair_measure()}, {std::uint64_t{1} << 30}), false,
                        Epsilon::parse(epsilon).value(),
                        mechanism == Mechanism::laplace ? Delta() : Delta::parse("0.000001").value())
        .noise.front();
}

#ifdef __SANITIZE_ADDRESS__
constexpr int draws = 10000;
#else
constexpr int draws = 100000;
#endif

// Continuous draws, 2^30 units being as good as continuous; what is printed comes from release_pair().
struct Sample {
    double mean = 0, error = 0; // of the mean
};
template <class Function>
Sample sample(const MeasureNoise &noise, const PairTotals &totals, const Bounds &b, Function f) {
    std::mt19937_64 random(7);
    std::exponential_distribution<double> exponential;
    std::normal_distribution<double> normal;
    const auto draw = [&] {
        return noise.mechanism == Mechanism::laplace
                   ? noise.laplace.value() * (exponential(random) - exponential(random))
                   : noise.gaussian.sigma() * normal(random);
    };
    constexpr int n = draws;
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
        const double s1 = 0.5 * (totals.count + totals.difference) * one + draw();
        const double s0 = 0.5 * (totals.count - totals.difference) * one + draw();
        const double x =
            f(release_pair(static_cast<int128>(std::llround(s1)), static_cast<int128>(std::llround(s0)), b));
        sum += x;
        squares += x * x;
    }
    const double mean = sum / n;
    return {mean, std::sqrt(std::max(0.0, squares / n - mean * mean) / n)};
}

const PairTotals totals[] = {{0, 0}, {1, 1}, {1, -0.3}, {2, 0}, {7, -7}, {12, 4}, {40, 39.5}, {1000, -970}, {1e6, 3e5}};

TEST(Printed, AverageAgainstDraws) {
    const Bounds unit = bounds("-1", "1");
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (const char *epsilon : {"0.01", "0.3", "1", "10", "100"})
            for (const PairTotals &t : totals) {
                const MeasureNoise noise = noise_of(mechanism, epsilon);
                const PrintedAverage average(noise, t);
                const double p = t.count > 0 ? t.difference / t.count : 0;
                for (double at :
                     {p, std::max(-1.0, p - 2 * average.spread()), std::min(1.0, p + 0.7 * average.spread())}) {
                    const Sample drawn =
                        sample(noise, t, unit, [&](const PairRelease &r) { return std::fabs(r.avg - at); });
                    EXPECT_NEAR(average.distance(at - p), drawn.mean, 5 * drawn.error + 1e-9)
                        << epsilon << " " << t.count << " " << t.difference << " " << at;
                }
                if (mechanism == Mechanism::laplace)
                    continue;
                const Sample drawn =
                    sample(noise, t, unit, [&](const PairRelease &r) { return (r.avg - p) * (r.avg - p); });
                EXPECT_NEAR(average.square(), drawn.mean, 5 * drawn.error + 1e-15) << epsilon << " " << t.count;
            }
}

// The quadrature itself: a midpoint sum over both draws.
TEST(Printed, AverageAgainstADoubleSum) {
    const MeasureNoise noise = noise_of(Mechanism::laplace, "1");
    for (const PairTotals &t : {PairTotals{0, 0}, PairTotals{3, 1}, PairTotals{5, -5}}) {
        const double p = t.count > 0 ? t.difference / t.count : 0;
        constexpr int half = 3000;
        constexpr double h = 0.01;
        std::vector<double> weight;
        for (int i = -half; i < half; ++i)
            weight.push_back(0.5 * h * std::exp(-std::fabs((i + 0.5) * h)));
        double sum = 0;
        for (int i = 0; i < 2 * half; ++i)
            for (int j = 0; j < 2 * half; ++j) {
                const double z1 = (i - half + 0.5) * h, z0 = (j - half + 0.5) * h;
                const double x = (t.difference + z1 - z0) / std::max(1.0, t.count + z1 + z0);
                sum += weight[i] * weight[j] * std::fabs(std::min(std::max(x, -1.0), 1.0) - p);
            }
        EXPECT_NEAR(PrintedAverage(noise, t).distance(0), sum, 1e-5);
    }
}

// Far from the clamp and the 1 that divides: (1-p) Z1 - (1+p) Z0 over the count (formulas.md 1.2a).
TEST(Printed, ManyValues) {
    for (double p : {-1.0, -0.978, 0.0, 0.5}) {
        const double n = 1e8, a = 1 + std::fabs(p), b = 1 - std::fabs(p);
        const double expected = (a * a + a * b + b * b) / (a + b) / n;
        // At p = -1 half of it is cut off.
        EXPECT_NEAR(PrintedAverage(noise_of(Mechanism::laplace, "1"), {n, p * n}).distance(0),
                    std::fabs(p) == 1 ? expected / 2 : expected, 1e-6 * expected)
            << p;
    }
}

TEST(Printed, FallsWithEpsilon) {
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (const PairTotals &t : totals) {
            double last = 3;
            for (const char *epsilon : {"0.001", "0.01", "0.1", "0.5", "1", "2", "5", "10", "50", "100"}) {
                const double error = printed_error(Aggregate::avg, noise_of(mechanism, epsilon), bounds("0", "10"), t);
                EXPECT_LE(error, last * (1 + 1e-7)) << epsilon << " " << t.count << " " << t.difference;
                last = error;
            }
        }
}

TEST(Printed, CountsAndSumsAgainstDraws) {
    const PairTotals t{9, 2};
    for (const Bounds &b : {bounds("-3", "7"), bounds("-5", "5"), bounds("0", "4")}) {
        const double sum = 0.5 * (t.count + t.difference) * b.high + 0.5 * (t.count - t.difference) * b.low;
        const double largest = largest_printed_change(Aggregate::sum, b);
        for (const char *epsilon : {"0.1", "1", "4"}) {
            const MeasureNoise laplace = noise_of(Mechanism::laplace, epsilon);
            for (double d : {0.0, 1.0}) {
                const Sample count = sample(laplace, t, b, [&](const PairRelease &r) {
                    return std::fabs(static_cast<double>(r.count) - 9 + d);
                });
                EXPECT_NEAR(printed_distance(Aggregate::count, laplace, b, d), count.mean, 5 * count.error);
                const Sample total = sample(
                    laplace, t, b, [&](const PairRelease &r) { return std::fabs(r.sum - sum + 3 * d) / largest; });
                EXPECT_NEAR(printed_distance(Aggregate::sum, laplace, b, 3 * d), total.mean, 5 * total.error);
            }
            const MeasureNoise normal = noise_of(Mechanism::gaussian, epsilon);
            const Sample count = sample(
                normal, t, b, [&](const PairRelease &r) { return std::pow(static_cast<double>(r.count) - 9, 2); });
            EXPECT_NEAR(printed_error(Aggregate::count, normal, b, t), count.mean, 5 * count.error);
            const Sample total =
                sample(normal, t, b, [&](const PairRelease &r) { return std::pow((r.sum - sum) / largest, 2); });
            EXPECT_NEAR(printed_error(Aggregate::sum, normal, b, t), total.mean, 5 * total.error);
        }
    }
}

TEST(Printed, TableOfDistances) {
    const MeasureNoise noise = noise_of(Mechanism::laplace, "1");
    for (const PairTotals &t : {PairTotals{3000, -2900}, PairTotals{20, 0}, PairTotals{2, 2}}) {
        const PrintedAverage average(noise, t);
        const double p = t.difference / t.count;
        const AverageDistances table(average, -1 - p, 1 - p, 1000000);
        for (double at : {-0.99, -0.5, p - 0.001, p, std::min(1.0, p + 0.0004), 0.7}) {
            const double exact = average.distance(at - p);
            EXPECT_NEAR(table(at - p), exact, 1e-5 * exact) << t.count << " " << at;
        }
    }
}

} // namespace
