// Exact expectations, groups of people, concrete outputs (formulas.md 1.2, 1.3, 2).

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <boost/math/special_functions/hypergeometric_1F1.hpp>
#include <gtest/gtest.h>

#include "find_eps.hpp"
#include "reference.hpp"

#include "privacy/risk_exact.hpp"

namespace {

using namespace dp::privacy;
using reference::Case;
using reference::json;

double num(const Case &c, const char *name) {
    return reference::number(c.arg(name));
}

std::vector<double> vec(const Case &c, const char *name) {
    return c.arg(name).get<std::vector<double>>();
}

std::vector<Epsilon> candidates_of(const Case &c) {
    std::vector<Epsilon> candidates;
    for (const json &j : reference::list(c.arg("candidates")))
        candidates.push_back(Epsilon::parse(reference::text(j)).value());
    return candidates;
}

void same(const std::optional<Epsilon> &got, const json &want) {
    EXPECT_EQ(got ? got->text() : "none",
              want.is_null() ? "none" : Epsilon::parse(reference::text(want)).value().text());
}

double random_in(std::mt19937_64 &random, double low, double high) {
    return std::uniform_real_distribution<>(low, high)(random);
}
int random_int(std::mt19937_64 &random, int low, int high) {
    return std::uniform_int_distribution<>(low, high)(random);
}

// ---- Exact expectations ----

double laplace_rdr(const std::vector<double> &difference, double b, NoiseFamily family = NoiseFamily::laplace) {
    const ExactRdr rdr({{family, b, 1, static_cast<double>(difference.size())}},
                       std::vector<int>(difference.size(), 0), 0);
    return rdr.of(difference.data());
}

TEST(ExactRdr, LaplaceReference) {
    reference::each("rdr_laplace_exact", [](const Case &c) { c.near(laplace_rdr(vec(c, "diff"), num(c, "b"))); });
}

TEST(ExactRdr, GaussianReference) {
    reference::each("rdr_gaussian_exact_k1",
                    [](const Case &c) { c.near(rdr_gaussian_exact_k1(num(c, "diff"), num(c, "sigma"))); });
}

// The definition: a sum over the law. Both sides of the change of method at sigma = 10.
TEST(ExactRdr, DiscreteGaussianOnOneCoordinate) {
    for (double sigma : {0.25, 0.8, 1.0, 3.3, 9.999, 10.0, 10.5, 40.0})
        for (double d : {0.0, 1.0, 2.0, 7.0, 31.0, 500.0}) {
            double expectation = 0;
            for (double z = -800; z <= 800; ++z)
                expectation += std::fabs(d + z) * discrete_gaussian_pmf(sigma, z);
            EXPECT_NEAR(discrete_gaussian_mean_abs(d, sigma) / expectation, 1, 1e-10) << sigma << " " << d;
            EXPECT_EQ(discrete_gaussian_mean_abs(-d, sigma), discrete_gaussian_mean_abs(d, sigma));
        }
}

// The integer law is not the continuous one: at sigma = 1 the mean of |Z| differs by 9 %.
TEST(ExactRdr, DiscreteGaussianIsNotTheContinuousLaw) {
    EXPECT_NEAR(discrete_gaussian_mean_abs(0, 1), 0.7275820, 1e-6);
    EXPECT_NEAR(rdr_gaussian_exact_k1(0, 1), 0.7978846, 1e-6);
}

// All scaled variances equal: E||d + sigma Z|| is the mean of a noncentral chi variable,
// sigma sqrt(2) Gamma((k+1)/2)/Gamma(k/2) 1F1(-1/2; k/2; -|d|^2/(2 sigma^2)).
double noncentral_chi_mean(double distance, int k, double sigma) {
    const double x = distance * distance / (2 * sigma * sigma);
    return sigma * std::sqrt(2.0) * std::exp(std::lgamma(0.5 * (k + 1)) - std::lgamma(0.5 * k)) *
           boost::math::hypergeometric_1F1(-0.5, 0.5 * k, -x);
}

TEST(ExactRdr, SeveralCoordinatesAreANoncentralChi) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 300; ++round) {
        const int k1 = random_int(random, 1, 3), k = k1 * random_int(random, k1 == 1 ? 2 : 1, 40);
        const double unit = std::pow(2, random_int(random, 0, 40)), sigma = std::pow(10, random_in(random, -1.5, 3));
        std::vector<double> change;
        double square = 0;
        for (int c = 0; c < k1; ++c) {
            change.push_back(random_in(random, -1, 1) * unit);
            square += std::pow(change.back() / unit, 2);
        }
        const ExactRdr rdr({{NoiseFamily::gaussian, sigma * unit, unit, double(k)}}, std::vector<int>(k1, 0), square);
        const double expected = noncentral_chi_mean(std::sqrt(square), k, sigma),
                     zero = noncentral_chi_mean(0, k, sigma);
        EXPECT_NEAR(rdr.of(change.data()) / expected, 1, 1e-9) << round;
        EXPECT_NEAR(rdr.noise() / zero, 1, 1e-9) << round;
        const std::vector<double> none(k1, 0);
        EXPECT_EQ(rdr.excess(none.data()), 0);
        EXPECT_LE(rdr.excess(change.data()), std::sqrt(square)); // the triangle inequality
    }
}

// The closed form of one coordinate is met by the integral, which does not know it: two measures, one of next to no noise.
TEST(ExactRdr, OneCoordinateIsTheLimitOfTwo) {
    for (double d : {0.0, 0.3, 1.0, 4.0}) {
        const ExactRdr rdr({{NoiseFamily::gaussian, 2, 1, 1}, {NoiseFamily::gaussian, 1e-9, 1, 1}}, {0}, d * d);
        EXPECT_NEAR(rdr.of(&d), rdr_gaussian_exact_k1(d, 2), 1e-9) << d;
    }
}

// Different laws and scales at once, against a sum over the lattice points of both measures.
TEST(ExactRdr, IntegerNoiseOfSeveralMeasures) {
    for (double sigma : {0.4, 0.9, 2.5})
        for (double other : {1.5, 6.0}) {
            const std::vector<CoordinateNoise> noise = {{NoiseFamily::discrete_gaussian, sigma, 1, 1},
                                                        {NoiseFamily::discrete_gaussian, other, 3, 1}};
            for (double d : {0.0, 1.0})
                for (double e : {0.0, 2.0, 3.0}) {
                    double expectation = 0;
                    for (int y = -30; y <= 30; ++y)
                        for (int z = -60; z <= 60; ++z)
                            expectation += discrete_gaussian_pmf(sigma, y) * discrete_gaussian_pmf(other, z) *
                                           std::hypot(d + y, (e + z) / 3);
                    const double change[] = {d, e};
                    EXPECT_NEAR(ExactRdr(noise, {0, 1}, d * d + e * e / 9).of(change), expectation, 1e-8 * expectation);
                }
        }
}

// Laplace noise: scaled measures, against the sum over each coordinate's law.
TEST(ExactRdr, DiscreteLaplaceOfSeveralMeasures) {
    const std::vector<CoordinateNoise> noise = {{NoiseFamily::discrete_laplace, 0.7, 1, 3},
                                                {NoiseFamily::discrete_laplace, 5, 4, 2}};
    const ExactRdr rdr(noise, {0, 1, 1}, 0);
    const double change[] = {1, -3, 2};
    const double expected = laplace_rdr({1, 0, 0}, 0.7, NoiseFamily::discrete_laplace) +
                            laplace_rdr({-3, 2}, 5, NoiseFamily::discrete_laplace) / 4;
    EXPECT_NEAR(rdr.of(change), expected, 1e-12);
    EXPECT_NEAR(rdr.noise(), 3 / std::sinh(1 / 0.7) + 2 / std::sinh(0.2) / 4, 1e-12);
}

// The bound is a bound, on each record; and with p_min = 0 a preference that the bound meets is met by the expectation.
TEST(ExactRdr, TheBoundIsTheSafeSide) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 500; ++round) {
        const double eps = std::pow(10, random_in(random, -3, 1)), D = std::pow(2, random_int(random, 0, 20));
        const int k = random_int(random, 1, 9);
        const ExactRdr rdr({{NoiseFamily::discrete_laplace, D / eps, D, double(k)}}, {0}, 0);
        const double bound = rdr_noise_term(eps, {{double(k), D}});
        EXPECT_NEAR(rdr.noise() / bound, 1, 1e-12);
        const double change = std::floor(random_in(random, 0, D + 1)), pis = change / D;
        EXPECT_LE(rdr.of(&change), (pis + bound) * (1 + 1e-12));
        EXPECT_GE(rdr.of(&change), bound * (1 - 1e-12));
        if (pis + bound > 0) {
            EXPECT_GE(rdr.noise() / rdr.of(&change), bound / (pis + bound) * (1 - 1e-12));
        }
    }
}

TEST(Median, IsTheLowerOne) {
    PisProfile profile;
    profile.add(3, 2);
    EXPECT_EQ(profile.lower_median(), 3);
    profile.add(1, 2); // 1 1 3 3
    EXPECT_EQ(profile.lower_median(), 1);
    profile.add(7, 1); // 1 1 3 3 7
    EXPECT_EQ(profile.lower_median(), 3);
    EXPECT_THROW(PisProfile().lower_median(), std::logic_error);
}

// ---- Find-epsilon ----

// Two records, each of which changes one coordinate of k.
RdrRange range_at(double pis_min, double pis_max, double k, double b) {
    const ExactRdr rdr({{NoiseFamily::laplace, b, 1, k}}, {0}, 0);
    return {rdr.of(&pis_min), rdr.of(&pis_max)};
}

// What a choice tests: each candidate, as the ratio may rise and fall with epsilon.
std::optional<Epsilon> largest_that_meets(double pis_min, double pis_max, double k, double delta1, double tau,
                                          const std::vector<Epsilon> &candidates) {
    std::optional<Epsilon> largest;
    for (Epsilon candidate : candidates)
        if (range_at(pis_min, pis_max, k, delta1 / candidate.value()).meets(tau) && (!largest || candidate > *largest))
            largest = candidate;
    return largest;
}

TEST(FindEpsExact, Reference) {
    reference::each("find_eps_laplace_exact_rdr", [](const Case &c) {
        const double pis_min = num(c, "pis_min"), pis_max = num(c, "pis_max"), k = num(c, "k"),
                     delta1 = num(c, "delta1");
        const std::optional<Epsilon> chosen =
            largest_that_meets(pis_min, pis_max, k, delta1, num(c, "tau"), candidates_of(c));
        same(chosen, c.expect("chosen"));
        if (chosen) {
            const RdrRange range = range_at(pis_min, pis_max, k, delta1 / chosen->value());
            c.field(range.min / range.max, "ratio_at_chosen");
        }
    });
}

// With p_min > 0 the ratio falls and rises again: the largest passing candidate is not where a bisection would end.
TEST(FindEpsExact, TheRatioIsNotMonotone) {
    const std::vector<Epsilon> candidates = {Epsilon::parse("100").value(), Epsilon::parse("3").value(),
                                             Epsilon::parse("0.1").value()};
    const double low = 0.6, high = 1;
    const auto ratio = [&](double eps) {
        return laplace_rdr({low}, 1 / eps) / laplace_rdr({high}, 1 / eps);
    };
    double least = 1;
    for (double eps = 0.1; eps < 100; eps *= 1.01)
        least = std::min(least, ratio(eps));
    EXPECT_LT(least, ratio(0.1) - 1e-3);
    EXPECT_LT(least, 0.6 + 1e-3);
    const double between = ratio(100) - 1e-9;
    const std::optional<Epsilon> chosen = largest_that_meets(low, high, 1, 1, between, candidates);
    ASSERT_TRUE(chosen);
    for (Epsilon candidate : candidates)
        if (candidate > *chosen) {
            EXPECT_LT(ratio(candidate.value()), between);
        }
}

TEST(FindEpsGroups, Reference) {
    reference::each("find_eps_groups_laplace", [](const Case &c) {
        PisProfile a, b;
        for (double pis : vec(c, "pis_group_a"))
            a.add(pis, 1);
        for (double pis : vec(c, "pis_group_b"))
            b.add(pis, 1);
        c.field(a.lower_median(), "median_a");
        c.field(b.lower_median(), "median_b");
        const double unit = num(c, "delta1"), least = std::min(a.lower_median(), b.lower_median()),
                     most = std::max(a.lower_median(), b.lower_median());
        const EpsilonChoice choice = find_eps_sound(least / unit, most / unit, {{num(c, "k"), std::ldexp(1.0, 50)}},
                                                    num(c, "tau"), candidates_of(c));
        c.field(choice.eps_star, "eps_star");
        same(choice.chosen, c.expect("chosen"));
    });
}

// ---- Concrete outputs ----

double loss(Mechanism mechanism, const std::vector<double> &output, const std::vector<double> &with,
            const std::vector<double> &without, double scale) {
    double sum = 0;
    for (std::size_t c = 0; c < output.size(); ++c)
        sum += coordinate_loss(mechanism, output[c], with[c], without[c], scale);
    return sum;
}

TEST(Output, LossReference) {
    reference::each("expost_loss_laplace_signed", [](const Case &c) {
        c.near(loss(Mechanism::laplace, vec(c, "o"), vec(c, "q"), vec(c, "q_minus"), num(c, "delta1") / num(c, "eps")));
    });
    reference::each("expost_loss_gaussian_signed", [](const Case &c) {
        c.near(loss(Mechanism::gaussian, vec(c, "o"), vec(c, "q"), vec(c, "q_minus"), num(c, "sigma")));
    });
}

// From the densities themselves.
TEST(Output, LossIsALogarithmOfDensities) {
    std::mt19937_64 random(4);
    for (int round = 0; round < 500; ++round) {
        const double o = random_in(random, -9, 9), with = random_in(random, -3, 3), without = random_in(random, -3, 3),
                     scale = random_in(random, 0.2, 5);
        const auto laplace = [&](double at) { return std::exp(-std::fabs(o - at) / scale); };
        const auto gaussian = [&](double at) { return -(o - at) * (o - at) / (2 * scale * scale); };
        EXPECT_NEAR(coordinate_loss(Mechanism::laplace, o, with, without, scale),
                    std::log(laplace(with) / laplace(without)), 1e-9);
        EXPECT_NEAR(coordinate_loss(Mechanism::gaussian, o, with, without, scale), gaussian(with) - gaussian(without),
                    1e-9);
    }
}

// What the papers say of |loss| holds for the signed one: it is increasing in the indicator.
TEST(Output, TheLossFollowsTheIndicator) {
    std::mt19937_64 random(5);
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (int round = 0; round < 1000; ++round) {
            const int k = random_int(random, 1, 3);
            std::vector<double> o, q, a, b;
            for (int c = 0; c < k; ++c) {
                o.push_back(random_in(random, -5, 5));
                q.push_back(random_in(random, -5, 5));
                a.push_back(q.back() + random_in(random, -1, 1));
                b.push_back(q.back() + random_in(random, -1, 1));
            }
            const auto indicator = [&](const std::vector<double> &without) {
                double distance = 0;
                for (std::size_t c = 0; c < o.size(); ++c) {
                    const double d = o[c] - without[c];
                    distance = mechanism == Mechanism::laplace ? distance + std::fabs(d) : std::hypot(distance, d);
                }
                return distance;
            };
            if (indicator(a) > indicator(b) + 1e-9) {
                EXPECT_GT(loss(mechanism, o, q, a, 2), loss(mechanism, o, q, b, 2)) << round;
            }
        }
}

} // namespace
