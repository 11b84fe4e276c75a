// Gaussian measurements and their mean: what a measurement is charged, exact weights, rounding, intervals, the state in words
// (formulas.md 6.3). Seeds are fixed.

#include "measured.hpp"
#include "privacy/calibration.hpp"
#include "privacy/running_mean.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "privacy/exact.hpp"
#include "privacy/noise_impl.hpp"
#include "privacy/zcdp.hpp"
#include "reference.hpp"

namespace {

using namespace dp::privacy;
using boost::multiprecision::cpp_int;
using reference::Case;
using reference::number;

// Fractions, not reduced.
struct Rational {
    cpp_int n = 0, d = 1; // d > 0
    Rational() = default;
    Rational(cpp_int numerator, cpp_int denominator = 1) : n(std::move(numerator)), d(std::move(denominator)) {}
    Rational(int x) : n(x) {}
    Rational operator+(const Rational &o) const { return {n * o.d + o.n * d, d * o.d}; }
    Rational operator-(const Rational &o) const { return {n * o.d - o.n * d, d * o.d}; }
    Rational operator*(const Rational &o) const { return {n * o.n, d * o.d}; }
    Rational operator/(const Rational &o) const { return {n * o.d, d * o.n}; } // o > 0
    bool operator<=(const Rational &o) const { return n * o.d <= o.n * d; }
    bool operator>(const Rational &o) const { return !(*this <= o); }
    Rational magnitude() const { return {abs(n), d}; }
    double value() const { return boost::multiprecision::cpp_rational(n, d).convert_to<double>(); }
};

Rho rho(const char *text) {
    return Rho::parse(text).value();
}
ReleasePlan measurement(Rho r, const std::vector<std::uint64_t> &sensitivities = {1}) {
    return plan_measurement(measured(std::vector<Measure>(sensitivities.size()), sensitivities), false, r, Delta());
}
// Noise of a variance that is a multiple of 2^-20.
ReleasePlan of_variance(double variance) {
    ReleasePlan plan = measurement(rho("0.01"));
    plan.noise[0].gaussian.b = 1U << 20U;
    plan.noise[0].gaussian.a = static_cast<std::uint64_t>(std::llround(std::ldexp(variance, 20)));
    return plan;
}
Rational weight_of(const GaussianScale &scale) {
    return Rational(cpp_int(scale.b), cpp_int(wide(scale.a)));
}
// What a measurement weighs in a mean: at most 1/sigma^2.
Rational rounded_weight(const GaussianScale &scale) {
    const Rational weight((cpp_int(scale.b) << 288) / cpp_int(wide(scale.a)), cpp_int(1) << 288), exact = weight_of(scale);
    EXPECT_TRUE(weight <= exact);
    EXPECT_TRUE((exact - weight) * Rational(cpp_int(1) << 90) <= exact);
    return weight;
}
Rational rational(int128 x) {
    return Rational(cpp_int(static_cast<__int128>(x)));
}

// ---- Reference cases: means are the Brownian mechanism ----

constexpr int fine = 40; // binary places in which coefficients are read off

// By which factor each measurement enters each mean, in measurements of the given variances.
std::vector<std::vector<double>> coefficients(const std::vector<double> &variances) {
    std::vector<std::vector<double>> result(variances.size(), std::vector<double>(variances.size()));
    for (std::size_t j = 0; j < variances.size(); ++j) {
        RunningMean mean(1, 1);
        for (std::size_t i = 0; i < variances.size(); ++i) {
            mean.add(of_variance(variances[i]), {i == j ? __int128{1} << 40 : 0});
            result[i][j] = std::ldexp(static_cast<double>(mean.mean(0, 0, fine)), -fine - 40);
        }
    }
    return result;
}

// Variances of measurements whose means have the variances t.
std::vector<double> measured_variances(const std::vector<double> &times) {
    std::vector<double> result;
    double precision = 0;
    for (double t : times) {
        result.push_back(1 / (1 / t - precision));
        precision = 1 / t;
    }
    return result;
}

TEST(RunningMean, CovarianceIsBrownian) {
    reference::each("bm_covariance", [](const Case &c) {
        const std::vector<double> variances = measured_variances(c.arg("times").get<std::vector<double>>());
        const auto a = coefficients(variances);
        for (std::size_t i = 0; i < variances.size(); ++i)
            for (std::size_t k = 0; k < variances.size(); ++k) {
                double covariance = 0;
                for (std::size_t j = 0; j < variances.size(); ++j)
                    covariance += a[i][j] * a[k][j] * variances[j];
                EXPECT_NEAR(covariance, number(c.expect()[i][k]), 1e-5); // variances are rounded to 2^-20
            }
    });
}

TEST(RunningMean, NextMeanIsABridge) {
    reference::each("bm_bridge", [](const Case &c) {
        const std::vector<double> variances = measured_variances({number(c.arg("t_from")), number(c.arg("t_to"))});
        RunningMean mean(1, 1);
        mean.add(of_variance(variances[0]), {static_cast<__int128>(number(c.arg("value_at_from")))});
        mean.add(of_variance(variances[1]), {0});
        EXPECT_NEAR(std::ldexp(static_cast<double>(mean.mean(0, 0, fine)), -fine), number(c.expect("mean")), 1e-5);
        const double by = coefficients(variances)[1][1];
        EXPECT_NEAR(by * by * variances[1], number(c.expect("variance")), 1e-5);
        EXPECT_NEAR(std::pow(mean.stddev(0), 2), number(c.arg("t_to")), 1e-5);
    });
}

// ---- What a measurement costs ----

// sum of D^2/(2 sigma^2) <= what is charged <= what was allowed; sigma is the smallest of its grid that keeps to it.
TEST(Measurement, ChargesTheNoiseThatIsDrawn) {
    std::mt19937_64 random(31);
    const Rational unit(1, cpp_int(1000000000000000));
    const auto allowed = [&](std::size_t m, int i) {
        const double units = i % 10 == 0 ? 0 : std::exp(std::log(1e17) * (random() % 100000) / 100000);
        return least_rho(m) + Rho::from_units(static_cast<int128>(units));
    };
    for (int i = 0; i < 3000; ++i) {
        std::vector<std::uint64_t> sensitivities;
        for (std::size_t j = 0; j <= random() % 4; ++j)
            sensitivities.push_back(1 + random() % (std::uint64_t{1} << (random() % 41)));
        const std::size_t m = sensitivities.size();
        const Rho most = allowed(m, i);
        const ReleasePlan plan = measurement(most, sensitivities);
        Rational exact = 0;
        for (std::size_t j = 0; j < m; ++j) {
            const Rational d2 = Rational(cpp_int(sensitivities[j]) * sensitivities[j]);
            const GaussianScale &scale = plan.noise[j].gaussian;
            exact = exact + d2 * weight_of(scale) / 2;
            const Rational share = (rational(most.units()) - static_cast<int>(m)) * unit / static_cast<int>(m);
            EXPECT_TRUE(d2 * weight_of(scale) / 2 <= share);
            if (wide(scale.a) > 1) {
                EXPECT_TRUE(d2 * Rational(cpp_int(scale.b), cpp_int(wide(scale.a)) - 1) / 2 > share);
            }
            EXPECT_EQ(scale.b, scale.sigma() >= 1000 ? 1U : 1U << 20U);
            EXPECT_EQ(plan.noise[j].mechanism, Mechanism::gaussian);
        }
        EXPECT_TRUE(exact <= rational(plan.rho().units()) * unit);
        EXPECT_TRUE(exact + unit * static_cast<int>(m) > rational(plan.rho().units()) * unit);
        EXPECT_LE(plan.rho(), most);
    }
}

TEST(Measurement, RefusesWhatCannotBeSplit) {
    EXPECT_THROW(measurement(Rho()), InvalidParameter);
    EXPECT_THROW(measurement(Rho::from_units(1)), InvalidParameter);
    EXPECT_THROW(measurement(Rho::from_units(-5)), InvalidParameter);
    EXPECT_THROW(measurement(Rho::from_units(3), {1, 1, 1}), InvalidParameter);
    EXPECT_NO_THROW(measurement(least_rho(3), {1, 1, 1U << 30U}));
    EXPECT_THROW(measurement(rho("1"), {}), InvalidParameter);
    EXPECT_THROW(measurement(rho("1"), {(1ULL << 50U) + 1}), InvalidParameter);
    Measure records;
    EXPECT_THROW(plan_measurement(measured({records}, {1}), true, rho("1"), Delta()), InvalidParameter);
    const ReleasePlan plan = plan_measurement(measured({records}, {1}), true, rho("1"), Delta::parse("1e-6").value());
    EXPECT_EQ(plan.threshold, partition_threshold_gaussian(plan.noise[0].gaussian.sigma(), 1e-6, 1));
    EXPECT_EQ(plan.delta, Delta::parse("1e-6").value());
    EXPECT_EQ(plan.delta_noise, Delta());
}

// ---- The mean ----

// Against rationals: weights, charges, rounding to each lattice, half away from zero.
TEST(RunningMean, IsExact) {
    std::mt19937_64 random(32);
    for (int i = 0; i < 60; ++i) {
        const std::vector<std::uint64_t> sensitivities{1, std::uint64_t{1} << (random() % 41)};
        RunningMean mean(2, 3);
        EXPECT_TRUE(mean.empty());
        std::vector<Rational> weights(2), sums(6);
        Rho charged;
        for (int step = 0; step < 1 + i % 12; ++step) {
            const ReleasePlan plan =
                measurement(Rho::from_units(3 + static_cast<int128>(random() % 4000000000000ULL)), sensitivities);
            std::vector<__int128> measured;
            for (std::size_t k = 0; k < 6; ++k) {
                const auto z = static_cast<__int128>(static_cast<std::int64_t>(random())) * (i % 3 == 0 ? 1 << 30 : 1);
                measured.push_back(k == 0 ? 0 : z >> (random() % 60));
                sums[k] = sums[k] + rounded_weight(plan.noise[k % 2].gaussian) * rational(measured[k]);
            }
            for (std::size_t j = 0; j < 2; ++j)
                weights[j] = weights[j] + rounded_weight(plan.noise[j].gaussian);
            mean.add(plan, measured);
            charged = charged + plan.rho();
        }
        EXPECT_EQ(mean.rho(), charged);
        for (std::size_t k = 0; k < 6; ++k)
            for (int bits : {0, 1, bits_of_real_mean}) {
                const Rational exact = sums[k] / weights[k % 2] * (1 << bits);
                const Rational distance = (rational(mean.mean(k / 2, k % 2, bits)) - exact).magnitude();
                EXPECT_TRUE(distance <= Rational(1, 2));
            }
        for (std::size_t j = 0; j < 2; ++j)
            EXPECT_NEAR(mean.stddev(j) * std::sqrt(weights[j].value()), 1, 1e-14);
    }
}

TEST(RunningMean, RoundsHalfAwayFromZero) {
    for (const auto &[a, b, want] : std::vector<std::tuple<int, int, int>>{
             {1, 2, 2}, {-1, -2, -2}, {0, 1, 1}, {0, -1, -1}, {3, 3, 3}, {-7, -7, -7}, {0, 0, 0}}) {
        RunningMean mean(1, 1);
        mean.add(of_variance(9), {a});
        mean.add(of_variance(9), {b}); // of equal weight
        EXPECT_EQ(mean.mean(0, 0, 0), want);
        EXPECT_EQ(mean.mean(0, 0, 1), a + b);
    }
}

TEST(RunningMean, AtTheEdges) {
    const __int128 largest = static_cast<__int128>(~static_cast<unsigned __int128>(0) >> 1);
    for (const __int128 value : {largest, -largest, static_cast<__int128>(1) << 40, __int128{0}, __int128{-1}}) {
        RunningMean mean(1, 1);
        mean.add(measurement(rho("0.000001")), {value});
        mean.add(measurement(least_rho(1)), {value});
        EXPECT_EQ(static_cast<__int128>(mean.mean(0, 0, 0)), value);
    }
    RunningMean mean(1, 1);
    mean.add(measurement(rho("0.000001")), {-largest});
    EXPECT_EQ(static_cast<__int128>(mean.mean(0, 0, bits_of_real_mean)), -largest); // saturates
    EXPECT_THROW(RunningMean(1, 1).mean(0, 0, 0), std::logic_error);
    EXPECT_THROW(mean.add(measurement(rho("1"), {1, 1}), {1, 1}), std::logic_error);
    EXPECT_THROW(mean.add(measurement(rho("1")), {1, 1}), std::logic_error);
    EXPECT_NO_THROW(RunningMean(2, 0).add(measurement(rho("1"), {1, 1}), {}));
}

// ---- Intervals ----

// A mean of integers is published as one: the half-width is one, too, and covers 95 % whatever the noise.
TEST(RunningMean, HalfwidthsOfOneMeasurementCover) {
    for (double sd = 0.05; sd < 60; sd *= 1.03) {
        RunningMean mean(1, 1);
        mean.add(of_variance(sd * sd), {0});
        const double h = mean.halfwidth(0, 0), sigma = of_variance(sd * sd).noise[0].gaussian.sigma();
        EXPECT_EQ(h, std::floor(1.9599639845400545 * sigma + 0.5));
        EXPECT_GE(1 - 2 * discrete_gaussian_tail(sigma, h + 1), 0.949) << sd;
        EXPECT_NEAR(mean.halfwidth(0, 20), 1.9599639845400545 * sigma + std::ldexp(0.5, -20), 1e-12);
    }
}

// Two measurements, by enumeration.
TEST(RunningMean, HalfwidthsOfTwoMeasurementsCover) {
    for (double v : {0.1, 0.5, 1.0, 3.0, 20.0})
        for (double w : {0.1, 0.4, 1.5, 4.0, 30.0}) {
            const ReleasePlan first = of_variance(v), second = of_variance(w);
            const double s = first.noise[0].gaussian.sigma(), t = second.noise[0].gaussian.sigma();
            double covered = 0, beyond = 0;
            for (int y = -50; y <= 50; ++y)
                for (int z = -50; z <= 50; ++z) {
                    const double mass = discrete_gaussian_pmf(s, y) * discrete_gaussian_pmf(t, z);
                    if (mass < 1e-9)
                        continue;
                    RunningMean mean(1, 1);
                    mean.add(first, {y});
                    mean.add(second, {z});
                    (std::fabs(static_cast<double>(mean.mean(0, 0, 0))) <= mean.halfwidth(0, 0) ? covered : beyond) +=
                        mass;
                }
            EXPECT_GE(covered, 0.945) << v << " " << w;
            EXPECT_NEAR(covered + beyond, 1, 1e-4);
        }
}

// The standard deviation that an error asks for has it as its half-width, and a larger one has not.
TEST(RunningMean, StddevForAnError) {
    for (int bits : {0, bits_of_real_mean})
        for (double h : {0.0, 0.4, 1.0, 5.7, 30.0, 1e6}) {
            const double sd = RunningMean::stddev_for(h, bits);
            const auto width = [&](double x) {
                const double exact = 1.9599639845400545 * x + std::ldexp(0.5, -bits);
                return bits == 0 ? std::floor(exact) : exact;
            };
            if (sd > 0) {
                EXPECT_LE(width(sd), h) << bits;
            }
            EXPECT_GT(width(sd * (1 + 1e-9) + 1e-9), h) << bits;
        }
    EXPECT_EQ(RunningMean::stddev_for(0, bits_of_real_mean), 0);
}

// ---- The state ----

TEST(RunningMean, ComesBackFromItsText) {
    RunningMean mean(2, 2);
    for (const char *r : {"0.000001", "0.0003", "0.01", "3"}) {
        EXPECT_EQ(RunningMean::from_text(mean.text()).text(), mean.text());
        mean.add(measurement(rho(r), {1, 1ULL << 50U}), {10, -20, 0, static_cast<__int128>(1) << 100});
        const RunningMean back = RunningMean::from_text(mean.text());
        EXPECT_EQ(back.rho(), mean.rho());
        for (std::size_t g : {0U, 1U})
            for (std::size_t j : {0U, 1U}) {
                EXPECT_EQ(back.mean(g, j, 7), mean.mean(g, j, 7));
                EXPECT_EQ(back.stddev(j), mean.stddev(j));
            }
    }
    RunningMean back = RunningMean::from_text(mean.text());
    back.add(measurement(rho("1"), {1, 1ULL << 50U}), {1, 2, 3, 4});
    mean.add(measurement(rho("1"), {1, 1ULL << 50U}), {1, 2, 3, 4});
    EXPECT_EQ(back.text(), mean.text());
}

TEST(RunningMean, RefusesWhatIsNoState) {
    RunningMean mean(1, 1);
    mean.add(of_variance(9), {5});
    const std::string good = mean.text();
    EXPECT_NO_THROW(RunningMean::from_text(good));
    for (std::size_t n = 0; n < good.size(); ++n)
        if (const std::string cut = good.substr(0, n); cut.empty() || cut.back() == ' ' || n < 4) {
            EXPECT_THROW(RunningMean::from_text(cut), InvalidParameter) << cut;
        }
    for (const char *bad :
         {"", "1", "1 1 5 0 0", "1 1 5 -1 0", "1 1 -5 1 0", "0 1 0 1 0", "1 0 5 1", "1 1 5 1", "1 1 5 1 0 0",
          "1 1 5 1 x", "1 1 5 1 0x10", "1 1 5 1 --1", "1 1 5 1 -", "1 1 5 1 +1", "1 1 5 1.5 1",
          "99999999999999999999 1 5 1 0", "9223372036854775807 9223372036854775807 5 1 0", "4 4 5 1 0", "-1 -1 5 1 0"})
        EXPECT_THROW(RunningMean::from_text(bad), InvalidParameter) << bad;
    EXPECT_THROW(RunningMean::from_text("1 1 5 1 " + std::string(201, '7')), InvalidParameter);
    EXPECT_EQ(RunningMean::from_text("1 1 5 0001 -0010").mean(0, 0, 0), -10); // decimal, whatever stands in front
}

// However many measurements there are, the numbers stay short: a state of 10,000 of them is below two megabytes.
TEST(RunningMean, DoesNotGrow) {
    RunningMean mean(1, 1);
    for (int i = 0; i < 200; ++i)
        mean.add(measurement(Rho::from_units(3 + i * 7919)), {static_cast<__int128>(1) << 60});
    EXPECT_LE(mean.text().size(), 300U);
}

} // namespace
