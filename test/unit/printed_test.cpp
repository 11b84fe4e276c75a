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

// The search for the least error rests on it (formulas.md 1.2b): each part lies below its chords, with much noise and near the
// bounds as well, where parts are far larger than their difference.
TEST(Printed, PartsAreConvex) {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> uniform;
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (const char *epsilon : {"0.000001", "0.00001", "0.0001", "0.01", "0.3", "1", "20"}) {
            const MeasureNoise noise = noise_of(mechanism, epsilon);
            const double scale =
                mechanism == Mechanism::laplace ? noise.laplace.value() / one : noise.gaussian.sigma() / one;
            for (int i = 0; i < 300; ++i) {
                const double count = std::ceil(scale * std::exp(11 * uniform(random) - 7)), near = i % 3;
                double p[3];
                for (double &x : p)
                    x = (i % 2 ? 1 : -1) *
                        (near == 0 ? 2 * uniform(random) - 1 : 1 - std::exp(-near * 8 * uniform(random)));
                std::sort(p, p + 3);
                if (p[1] - p[0] < 1e-9 || p[2] - p[1] < 1e-9)
                    continue;
                PrintedAverage::Parts parts[3];
                for (int j = 0; j < 3; ++j)
                    parts[j] = PrintedAverage(noise, {count, p[j] * count}).parts();
                const double t = (p[1] - p[0]) / (p[2] - p[0]), largest = std::max(parts[0].uncut, parts[2].uncut);
                for (double PrintedAverage::Parts::*part :
                     {&PrintedAverage::Parts::uncut, &PrintedAverage::Parts::cut, &PrintedAverage::Parts::above,
                      &PrintedAverage::Parts::below})
                    EXPECT_LE(parts[1].*part, (1 - t) * parts[0].*part + t * parts[2].*part +
                                                  1e-11 * (largest + parts[0].*part + parts[2].*part))
                        << epsilon << " " << count << " " << p[0] << " " << p[1] << " " << p[2];
                const double error = printed_error(Aggregate::avg, noise, bounds("-1", "1"), {count, p[1] * count});
                EXPECT_NEAR(parts[1].uncut - parts[1].cut - 2 * (1 - p[1]) * parts[1].above -
                                2 * (1 + p[1]) * parts[1].below,
                            error, 1e-11 * (parts[1].uncut + parts[1].above + parts[1].below))
                    << epsilon << " " << count << " " << p[1];
            }
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

// What a search that leaves out groups rests on: of one count all averages are integrated at the same points, so that the parts
// are convex but for rounding, and their sum is the error that is computed.
struct Shown {
    double difference, size;
    double parts[4];
};
Shown shown(const MeasureNoise &noise, double count, double position) {
    const PairTotals t{count, std::min(std::max(count * position, -count), count)};
    const PrintedAverage average(noise, t);
    const PrintedAverage::Parts p = average.parts();
    const double sum = p.uncut - p.cut - 2 * ((count - t.difference) / count) * p.above -
                       2 * ((count + t.difference) / count) * p.below;
    const double size = p.uncut + 4 * (p.above + p.below);
    const double allowed = PrintedAverage::imprecision(Mechanism::gaussian) / 10;
    EXPECT_NEAR(sum, average.square(), allowed * size) << count << " " << position;
    return {t.difference, size, {p.uncut, p.cut, p.above, p.below}};
}

TEST(Printed, PartsAreConvexButForRounding) {
    const double allowed = PrintedAverage::imprecision(Mechanism::gaussian) / 10;
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const char *epsilon : {"50", "1", "0.1", "0.001", "0.00001"})
        for (double count : {1.0, 2.0, 20.0, 500.0, 3000.0, 100000.0, 1e8}) {
            const MeasureNoise noise = noise_of(Mechanism::gaussian, epsilon);
            for (int i = 0; i < 60; ++i) {
                const double middle = i % 3 == 0 ? 1 - std::pow(10, -8 * std::fabs(uniform(random))) : uniform(random);
                const double half = (1 - std::fabs(middle)) * std::pow(10, -6 * std::fabs(uniform(random)));
                const Shown a = shown(noise, count, middle - half), b = shown(noise, count, middle),
                            c = shown(noise, count, middle + half);
                if (!(a.difference < b.difference && b.difference < c.difference))
                    continue;
                const double left = (c.difference - b.difference) / (c.difference - a.difference);
                for (int part = 0; part < 4; ++part)
                    EXPECT_LE(b.parts[part],
                              left * a.parts[part] + (1 - left) * c.parts[part] + allowed * (a.size + c.size))
                        << epsilon << " " << count << " " << middle << " " << part;
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
