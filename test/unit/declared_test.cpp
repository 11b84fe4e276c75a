// Noise for a declared sensitivity: the lattice, the noise of dp_risk, the epsilon that tau permits.
#include "privacy/calibration.hpp"
#include "privacy/declared.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

using namespace dp::privacy;

namespace {

Epsilon eps(const char *text) { return *Epsilon::parse(text); }
Delta delta(const char *text) { return *Delta::parse(text); }

TEST(Declared, TheUnitIsAThirtiethPowerBelowTheSensitivity) {
    for (double x : {1.0, 1.5, 2.0, 3.0, 98.0, 1e-300, 1e300, 0.1, 0x1p-7, 1e6})
        for (std::int64_t k : {1, 7, 100000}) {
            const DeclaredLattice lattice = declared_lattice({x, k, k});
            const double units = std::ldexp(x, -lattice.exponent);
            EXPECT_GT(units, 0x1p29);
            EXPECT_LE(units, 0x1p30);
            EXPECT_GE(static_cast<double>(lattice.D), units + static_cast<double>(k));
            EXPECT_LT(static_cast<double>(lattice.D), units + static_cast<double>(k) + 1);
        }
}

TEST(Declared, SensitivitiesOutOfRange) {
    for (double x : {0.0, -1.0, std::nan(""), infinite_epsilon, 1e-301, 1e301})
        EXPECT_THROW(check_sensitivity(x), InvalidParameter) << x;
}

// Whatever two vectors that differ by at most the sensitivity round to, the integers differ by at most D.
TEST(Declared, RoundingStaysWithinTheSensitivity) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int round = 0; round < 2000; ++round) {
        const double x = std::exp(20 * uniform(random));
        const std::int64_t k = 1 + round % 5;
        const DeclaredLattice lattice = declared_lattice({x, k, k});
        std::vector<double> change;
        double norm = 0;
        for (int i = 0; i < k; ++i)
            change.push_back(uniform(random)), norm += std::fabs(change.back());
        int128 moved = 0;
        for (double c : change) {
            const double here = 3 * x * uniform(random), there = here + c / norm * x * (1 - 1e-12);
            const int128 difference = declared_point(lattice, here) - declared_point(lattice, there);
            moved += difference < 0 ? -difference : difference;
        }
        EXPECT_LE(static_cast<double>(moved), static_cast<double>(lattice.D));
    }
}

TEST(Declared, PointsAreNearest) {
    const DeclaredLattice lattice = declared_lattice({98, 1, 1});
    EXPECT_EQ(lattice.exponent, 7 - 30);
    EXPECT_EQ(lattice.value(declared_point(lattice, 40)), 40);
    EXPECT_EQ(lattice.value(declared_point(lattice, -40.5)), -40.5);
    EXPECT_NEAR(lattice.value(declared_point(lattice, 0.1)), 0.1, 0x1p-24);
    for (double v : {1e40, -1e40, std::nan(""), infinite_epsilon})
        EXPECT_THROW(declared_point(lattice, v), InvalidParameter);
}

TEST(Declared, LaplaceNoise) {
    for (Calibration calibration : {Calibration::sound, Calibration::published}) {
        const DeclaredNoise noise = declared_noise({98, 3, 3}, calibration, Mechanism::laplace, eps("0.5"), Delta());
        EXPECT_DOUBLE_EQ(noise.term, 3 * 196);
        EXPECT_DOUBLE_EQ(noise.stddev, std::sqrt(2.0) * 196);
        EXPECT_DOUBLE_EQ(noise.error95, std::log(20.0) * 196);
    }
    const ReleasePlan plan = plan_declared({98, 3, 3}, Mechanism::laplace, eps("0.5"), Delta());
    EXPECT_NEAR(std::ldexp(plan.noise.front().stddev(), declared_lattice({98, 3, 3}).exponent), std::sqrt(2.0) * 196, 1e-5);
    EXPECT_EQ(plan.delta, Delta());
}

// One coordinate: the analytic sigma. Several: what zCDP needs, which is more.
TEST(Declared, GaussianNoise) {
    const double analytic = analytic_gaussian_sigma(0.5, 1e-6, 98);
    const DeclaredNoise one = declared_noise({98, 1, 1}, Calibration::sound, Mechanism::gaussian, eps("0.5"), delta("1e-6"));
    EXPECT_NEAR(one.stddev / analytic, 1, 1e-5); // the sampler's scale is rounded up
    EXPECT_DOUBLE_EQ(one.term, one.stddev * one.stddev);
    // Seven groups of which one individual changes one.
    const DeclaredNoise groups = declared_noise({98, 7, 1}, Calibration::sound, Mechanism::gaussian, eps("0.5"), delta("1e-6"));
    EXPECT_NEAR(groups.stddev / analytic, 1, 1e-5);
    EXPECT_DOUBLE_EQ(groups.term, 7 * groups.stddev * groups.stddev);
    const DeclaredNoise three = declared_noise({98, 3, 3}, Calibration::sound, Mechanism::gaussian, eps("0.5"), delta("1e-6"));
    EXPECT_GT(three.stddev, analytic);
    EXPECT_NEAR(three.stddev / (98 / std::sqrt(2 * rho_cap_tight(0.5, 1e-6))), 1, 1e-6);
    const DeclaredNoise classic = declared_noise({98, 1, 1}, Calibration::published, Mechanism::gaussian, eps("0.5"), delta("1e-6"));
    EXPECT_DOUBLE_EQ(classic.stddev, 98 * std::sqrt(2 * std::log(1.25e6)) / 0.5);
}

PisProfile profile_of(double low, double high) {
    PisProfile profile;
    profile.add(low, 10);
    profile.add(high, 1);
    return profile;
}

// The chosen epsilon meets tau by dp_risk's own row, and the next larger candidate does not.
TEST(Declared, FindEpsilonAgreesWithTheRiskTable) {
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (double tau : {0.95, 0.75, 0.5, 0.25})
            for (std::int64_t k : {1, 4}) {
                const DeclaredVector vector = {98, k, k};
                const PisProfile profile = profile_of(2, 60);
                const auto &candidates = paper_candidates();
                const auto ratio = [&](Epsilon e) {
                    return risk_row(profile, mechanism, e,
                                    declared_noise(vector, Calibration::sound, mechanism, e, delta("1e-6")).term)
                        .ratio;
                };
                const EpsilonChoice choice = find_eps_declared(profile, vector, mechanism, tau, delta("1e-6"), candidates);
                ASSERT_TRUE(choice.chosen);
                EXPECT_GE(ratio(*choice.chosen), tau - 1e-8);
                for (Epsilon candidate : candidates)
                    if (candidate > *choice.chosen) {
                        EXPECT_LT(ratio(candidate), tau + 1e-8);
                    }
            }
}

TEST(Declared, FindEpsilonAtTheEdges) {
    const auto &candidates = paper_candidates();
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
        EXPECT_EQ(find_eps_declared(profile_of(5, 5), {98, 1, 1}, mechanism, 1, delta("1e-6"), candidates).chosen, eps("10"));
        EXPECT_EQ(find_eps_declared(profile_of(0, 5), {98, 1, 1}, mechanism, 0, delta("1e-6"), candidates).chosen, eps("10"));
        EXPECT_FALSE(find_eps_declared(profile_of(0, 5), {98, 1, 1}, mechanism, 1, delta("1e-6"), candidates).chosen);
    }
}

} // namespace
