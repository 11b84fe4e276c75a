// Risk profiles: both theorems, every closed form against the reference and against a search, extremes (formulas.md 7).

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference.hpp"

#include "privacy/disclosure.hpp"

namespace {

using namespace dp::privacy;
using reference::Case;

constexpr double infinite = std::numeric_limits<double>::infinity();

RiskProfile profile(ProfileKind kind, double relative, double absolute = 0, double fixed = 1) {
    RiskProfile made;
    made.kind = kind;
    made.relative = relative;
    made.absolute = absolute;
    made.fixed = fixed;
    return made;
}

double numbered(const Case &c, const char *name) {
    return reference::number(c.arg(name));
}

// ---- Reference cases ----

// Theorem 1: posterior divided by prior.
double relative_risk(double epsilon, Prior prior) {
    return posterior_range(epsilon, prior).most / prior.both();
}

TEST(Disclosure, RelativeRiskBound) {
    reference::each("bayes_relative_risk_bound", [](const Case &c) {
        const Prior prior = {numbered(c, "p"), numbered(c, "q")};
        const double bound = relative_risk(numbered(c, "eps"), prior);
        c.field(bound, "relative");
        c.field(posterior_range(numbered(c, "eps"), prior).most, "absolute");
    });
}

TEST(Disclosure, LargestEpsilon) {
    reference::each("bayes_eps", [](const Case &c) {
        c.near(largest_epsilon({numbered(c, "p"), numbered(c, "q")}, numbered(c, "r_star")));
    });
}

TEST(Disclosure, ClosedForms) {
    reference::each("bayes_profile_eps", [](const Case &c) {
        const ProfileKind kind = profile_kind_from_name(c.arg("profile").get<std::string>()).value();
        const double fixed = reference::optional_number(c.arg("fixed")).value_or(1);
        const Binding binding = binding_of(profile(kind, numbered(c, "r_max"), numbered(c, "a_max"), fixed));
        c.field(binding.epsilon, "eps");
        const GeometricNoise noise = geometric_noise(binding.epsilon);
        c.field(noise.stddev, "geometric_sd");
        c.field(noise.exact, "geometric_p_exact");
    });
}

TEST(Disclosure, GeometricMechanism) {
    reference::each("geometric_mechanism", [](const Case &c) {
        const double epsilon = numbered(c, "eps");
        c.field(std::pow(geometric_noise(epsilon).stddev, 2), "variance");
        c.field(switch_probability(epsilon, 1), "tail_ge_1");
        if (numbered(c, "z") == 0)
            c.field(geometric_noise(epsilon).exact, "pmf");
    });
}

// ---- Closed forms against a scan ----

// One prior is fixed, the other goes over a fine grid.
double scanned(const RiskProfile &profile, bool fixes_q) {
    constexpr int points = 20000;
    double least = infinite;
    for (int i = 0; i <= points; ++i) {
        const double x = std::exp(-14.0 * i / points);
        const Prior prior = fixes_q ? Prior{x, profile.fixed} : Prior{profile.fixed, x};
        least = std::min(least, largest_epsilon(prior, allowed_risk(profile, prior)));
    }
    return least;
}

TEST(Disclosure, AScanFindsTheClosedForms) {
    for (double r : {1.2, 2.0, 3.0})
        for (double a : {0.0, 0.1, 0.25, 0.7})
            for (double f : {0.05, 0.3, 0.7, 1.0})
                for (ProfileKind kind : {ProfileKind::inclusion, ProfileKind::value}) {
                    const RiskProfile of = profile(kind, r, a, f);
                    const double found = scanned(of, kind == ProfileKind::inclusion), epsilon = binding_of(of).epsilon;
                    EXPECT_GE(found, epsilon * (1 - 1e-9)) << name_of(kind) << " " << r << " " << a << " " << f;
                    EXPECT_LE(found, epsilon * 1.002) << name_of(kind) << " " << r << " " << a << " " << f;
                }
}

// No adversary is allowed less than the profile's epsilon gives him: Theorem 1 under it, everywhere.
TEST(Disclosure, NobodyLearnsMore) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> unit(0, 1);
    for (int i = 0; i < 20000; ++i) {
        const double r = 1 + std::exp(8 * unit(random) - 4), a = unit(random) < 0.2 ? 0 : 0.999 * unit(random);
        const double f = unit(random) < 0.3 ? 1 : std::exp(-8 * unit(random));
        const auto kind = static_cast<ProfileKind>(i % 5);
        const RiskProfile made = profile(kind, r, kind == ProfileKind::difference ? a + 1e-4 * (1 - a) : a, f);
        const Binding binding = binding_of(made);
        ASSERT_TRUE(binding.epsilon > 0) << i;
        for (int j = 0; j < 20; ++j) {
            Prior prior = {std::exp(-10 * unit(random)), std::exp(-10 * unit(random))};
            if (j == 0)
                prior = {1, prior.q};
            if (j == 1)
                prior = {prior.p, 1};
            if (kind == ProfileKind::inclusion)
                prior.q = f;
            if (kind == ProfileKind::value)
                prior.p = f;
            const double allowed = allowed_risk(made, prior);
            if (allowed * prior.both() < 1) {
                ASSERT_LE(relative_risk(binding.epsilon, prior), allowed * (1 + 1e-9))
                    << name_of(kind) << " r " << r << " a " << a << " f " << f << " p " << prior.p << " q " << prior.q;
            }
        }
        // And the one who binds is allowed no more than he gets, but in the limit q = 0.
        if (binding.prior.q > 0) {
            ASSERT_NEAR(largest_epsilon(binding.prior, allowed_risk(made, binding.prior)), binding.epsilon,
                        1e-6 * binding.epsilon + 1e-9)
                << name_of(kind) << " r " << r << " a " << a << " f " << f;
        }
    }
}

// Theorem 2 inverts Theorem 1.
TEST(Disclosure, TheoremsInvertEachOther) {
    for (double epsilon : {1e-6, 0.01, 0.5, 1.0, 4.0, 12.0})
        for (double p : {1e-6, 0.01, 0.5, 0.999, 1.0})
            for (double q : {1e-6, 0.01, 0.5, 0.999}) {
                const double bound = relative_risk(epsilon, {p, q});
                const double largest = largest_epsilon({p, q}, bound);
                EXPECT_LE(largest, epsilon * (1 + 1e-9)) << p << " " << q;
                EXPECT_NEAR(largest, epsilon, 1e-7 + 2e-3 * epsilon) << p << " " << q;
            }
}

TEST(Disclosure, Extremes) {
    EXPECT_EQ(largest_epsilon({1, 1}, 1.5), infinite);
    EXPECT_EQ(largest_epsilon({1, 1}, 0.5), 0);
    EXPECT_EQ(largest_epsilon({0.5, 1}, infinite), infinite);
    EXPECT_EQ(largest_epsilon({0.5, 1}, 1), 0);
    EXPECT_EQ(largest_epsilon({0.5, 1}, 0), 0);
    EXPECT_EQ(largest_epsilon({0.5, 1}, -1), 0);
    EXPECT_EQ(largest_epsilon({0.5, 0.5}, std::nan("")), 0);
    EXPECT_NEAR(binding_of(profile(ProfileKind::inclusion, 1e300, 0.5)).epsilon, std::log(2e300), 1e-6);
    EXPECT_NEAR(binding_of(profile(ProfileKind::inclusion, 2, 1 - 1e-12)).epsilon, std::log(1e12), 1e-3);
    EXPECT_NEAR(binding_of(profile(ProfileKind::inclusion, 1 + 1e-9, 0)).epsilon, 1e-9, 1e-15);
    const PosteriorRange all = posterior_range(infinite, {0.1, 0.5});
    EXPECT_EQ(all.least, 0);
    EXPECT_EQ(all.most, 1);
    EXPECT_EQ(posterior_range(0, {0.1, 0.5}).most, 0.05);
    EXPECT_EQ(posterior_range(3, {1, 1}).least, 1);
    EXPECT_EQ(posterior_of_half(0), 0.5);
    EXPECT_NEAR(posterior_of_half(std::log(3.0)), 0.75, 1e-15);
    EXPECT_EQ(switch_probability(1, 0), switch_probability(1, 1));
    EXPECT_LT(switch_probability(1, 2), switch_probability(1, 1));
    // Sums up the probability (1-u)/(1+u) u^|z| of integer noise z that reaches the distance.
    for (double epsilon : {0.1, 1.0, 3.0})
        for (double distance : {0.25, 1.0, 1.99, 2.0, 2.5, 7.01, 12.0}) {
            const double u = std::exp(-epsilon);
            double sum = 0;
            for (int z = 600; z >= 1; --z)
                sum += z >= distance ? (1 - u) / (1 + u) * std::pow(u, z) : 0;
            EXPECT_NEAR(switch_probability(epsilon, distance), sum, 1e-12) << epsilon << ' ' << distance;
        }
}

// Never above what is allowed, however the digits fall; exactly nine of them.
TEST(Disclosure, EpsilonIsRoundedDown) {
    const auto epsilon = [](double x) { return profile_epsilon({x, {}}); };
    EXPECT_EQ(epsilon(0.5)->text(), "0.499999999");
    EXPECT_EQ(epsilon(std::nextafter(0.5, 1))->text(), "0.499999999");
    EXPECT_EQ(epsilon(0.5000000001)->text(), "0.5");
    EXPECT_EQ(epsilon(9e-10)->text(), "0");
    EXPECT_FALSE(epsilon(infinite).has_value());
    for (double r : {1.5, 2.0, 3.0, 7.0})
        EXPECT_LE(epsilon(std::log(r))->value(), std::log(r));
}

TEST(Disclosure, Points) {
    RiskProfile made;
    made.kind = ProfileKind::points;
    EXPECT_EQ(binding_of(made).epsilon, infinite);
    made.points = {{{0.4, 1}, 3}, {{0.1, 1}, 3}, {{0.5, 1}, 1.5}, {{0.9, 1}, infinite}};
    EXPECT_NEAR(binding_of(made).epsilon, std::log(3.0), 1e-12);
    EXPECT_EQ(binding_of(made).prior.p, 0.5);
    EXPECT_EQ(allowed_risk(made, {0.5, 1}), 1.5);
    EXPECT_EQ(allowed_risk(made, {0.5, 0.5}), infinite);
}

} // namespace
