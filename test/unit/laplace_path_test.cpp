// Grid and path of Laplace rounds: exact laws by enumeration, and what is drawn against them with fixed seeds (formulas.md 6.4).

#include "measured.hpp"
#include "privacy/laplace_path.hpp"

#include <cmath>
#include <map>
#include <random>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include "privacy/zcdp.hpp"
#include "reference.hpp"

namespace {

using namespace dp::privacy;
using reference::Case;
using reference::number;
using Real = boost::multiprecision::cpp_bin_float_100;

Epsilon eps(const char *text) {
    return Epsilon::parse(text).value();
}
Real real(uint128 x) {
    return Real(boost::multiprecision::cpp_int(static_cast<unsigned __int128>(x)));
}
double keep_of(const LaplaceGrid &grid, std::size_t point, std::size_t measure = 0) {
    return std::ldexp(static_cast<double>(grid.keep(point, measure)), -63);
}
const std::vector<const char *> ceilings{"100", "37.123456789", "10", "3", "1", "0.3", "0.05", "0.002"};

// ---- Reference cases ----

// Half of an epsilon is eight points below it: noise stays as it is over all of them with the product of their probabilities.
TEST(LaplacePath, KeepProbability) {
    reference::each("laplace_noise_reduction_keep_probability", [](const Case &c) {
        const Epsilon high = Epsilon::parse(reference::text(c.arg("eps_high"))).value();
        const auto keep = [&](std::uint64_t d) {
            const LaplaceGrid grid(high, measured({d}));
            EXPECT_NEAR(grid.epsilon(grid.size() - 9).value(), reference::number(c.arg("eps_low")), 1e-9);
            double product = 1;
            for (std::size_t i = 2; i <= 9; ++i)
                product *= keep_of(grid, grid.size() - i);
            return product;
        };
        EXPECT_NEAR(keep(1), reference::number(c.expect("p_keep_discrete")), 1e-8);
        EXPECT_NEAR(keep(1ULL << 40U), reference::number(c.expect("p_keep_continuous")), 1e-8); // units so small
    });
}

// ---- The grid ----

TEST(LaplaceGrid, FallsByPowersOfTheEighthRoot) {
    for (const char *text : ceilings) {
        const Epsilon ceiling = eps(text);
        const LaplaceGrid grid(ceiling, measured({1}));
        EXPECT_EQ(grid.epsilon(grid.size() - 1), ceiling);
        for (std::size_t n = 0; n <= grid.size(); ++n) {
            const Real exact = Real(ceiling.text()) * 1000000000 * exp(-log(Real(2)) * static_cast<double>(n) / 8);
            // Where the power is rational the product may be an integer, and must not be rounded below it.
            const Real down = floor(exact + Real("1e-60"));
            if (n == grid.size()) {
                EXPECT_LE(down, 1414213) << text;
            } else {
                EXPECT_EQ(Real(static_cast<std::int64_t>(grid.epsilon(grid.size() - 1 - n).units())), down) << text;
                EXPECT_TRUE(n == 0 || down > 1414213) << text;
            }
        }
    }
    EXPECT_EQ(LaplaceGrid(eps("1"), measured({1})).size(), 76U);
    EXPECT_EQ(LaplaceGrid(eps("100"), measured({1})).size(), 129U);
}

// What is too small to be divided is a plain answer: nothing is held back, nothing is kept.
TEST(LaplaceGrid, OfOnePointIsAPlainAnswer) {
    for (const char *text : {"0.000000001", "0.001", "0.001414213", "0.001414214", "0.0015"}) {
        const LaplaceGrid grid(eps(text), measured({1, 100}));
        ASSERT_EQ(grid.size(), 1U) << text;
        const std::vector<Measure> measures(2);
        const ReleasePlan plan =
            plan_release(Mechanism::laplace, measured(measures, {1, 100}), false, eps(text), Delta());
        for (std::size_t j : {0U, 1U}) {
            EXPECT_TRUE(grid.noise(0, j).laplace.t == plan.noise[j].laplace.t);
            EXPECT_TRUE(grid.noise(0, j).laplace.s == plan.noise[j].laplace.s);
        }
        EXPECT_EQ(grid.next(0, {1, 1}), 0U);
    }
    EXPECT_GT(LaplaceGrid(eps("0.0016"), measured({1})).size(), 1U);
}

TEST(LaplaceGrid, RefusesWhatIsOutOfRange) {
    EXPECT_THROW(LaplaceGrid(Epsilon(), measured({1})), InvalidParameter);
    EXPECT_THROW(LaplaceGrid(eps("100.000000001"), measured({1})), InvalidParameter);
    EXPECT_THROW(LaplaceGrid(eps("1"), measured({0})), InvalidParameter);
    EXPECT_THROW(LaplaceGrid(eps("1"), measured({1, (1ULL << 50U) + 1})), InvalidParameter);
    EXPECT_THROW(LaplaceGrid(eps("1"), measured({})), InvalidParameter);
}

// Scales are m D/(epsilon - 10^-9) in lowest terms.
TEST(LaplaceGrid, HoldsBackAUnit) {
    const std::vector<std::uint64_t> sensitivities{1, 7, 1ULL << 50U, 7};
    for (const char *text : ceilings) {
        const LaplaceGrid grid(eps(text), measured(sensitivities));
        if (grid.size() == 1)
            continue;
        for (std::size_t i = 0; i < grid.size(); ++i)
            for (std::size_t j = 0; j < sensitivities.size(); ++j) {
                const LaplaceScale &scale = grid.noise(i, j).laplace;
                const Real want = Real(sensitivities[j]) * 4 * 1000000000 /
                                  Real(static_cast<std::int64_t>(grid.epsilon(i).units()) - 1);
                EXPECT_LT(abs(real(scale.t) / real(scale.s) / want - 1), Real("1e-80")) << text;
                EXPECT_EQ(grid.noise(i, j).sensitivity, sensitivities[j]);
            }
    }
}

TEST(LaplaceGrid, FindsTheNextLook) {
    const LaplaceGrid grid(eps("1"), measured({1, 10}));
    const double infinity = std::numeric_limits<double>::infinity();
    for (std::size_t point : {0U, 20U, 74U, 75U})
        for (double wanted : {1e9, 500.0, 30.0, 3.0, 2.9, 0.1, 0.0, -1.0}) {
            const std::size_t next = grid.next(point, {wanted, infinity});
            EXPECT_TRUE(next > point || next == 75);
            EXPECT_TRUE(grid.stddev(next, 0) <= wanted || next == 75);
            EXPECT_TRUE(next <= point + 1 || grid.stddev(next - 1, 0) > wanted);
            EXPECT_EQ(next, grid.next(point, {infinity, 10.02 * wanted})) << wanted; // whichever wants more
        }
    for (double h : {0.0, 5.0, 60.0, 1000.0, 1e9}) {
        const double sd = grid.stddev_for(h, 0);
        std::size_t first = 0;
        while (first < grid.size() && grid.halfwidth(first, 0) > h)
            ++first;
        EXPECT_EQ(sd, first < grid.size() ? grid.stddev(first, 0) : 0) << h;
    }
}

// ---- Laws ----

// phi_i = phi_(i+1) (p + (1-p) phi_i)... of characteristic functions: from noise of one point comes that of the point before.
TEST(LaplacePath, EachStepLeadsToTheLawOfThePoint) {
    const auto transform = [](const LaplaceScale &scale, const Real &theta) {
        const Real a = real(scale.s) / real(scale.t);
        return (cosh(a) - 1) / (cosh(a) - cos(theta));
    };
    for (const char *text : ceilings) {
        const LaplaceGrid grid(eps(text), measured({1, 1ULL << 50U}));
        for (std::size_t j : {0U, 1U})
            for (std::size_t i = 0; i + 1 < grid.size(); i += 1 + j)
                for (const char *theta : {"1e-12", "0.001", "0.3", "1", "3.1"}) {
                    const Real wide = transform(grid.noise(i, j).laplace, Real(theta)),
                               narrow = transform(grid.noise(i + 1, j).laplace, Real(theta));
                    const Real p = ldexp(Real(grid.keep(i, j)), -63);
                    EXPECT_LT(abs(narrow * (p + (1 - p) * wide) / wide - 1), Real("1e-15")) << text << " " << i;
                }
    }
}

// The law of every point by adding up all paths, where noise is narrow enough for it.
TEST(LaplacePath, MarginalsByEnumeration) {
    for (const char *text : {"100", "37.123456789", "10"}) {
        const LaplaceGrid grid(eps(text), measured({1}));
        constexpr int width = 400;
        const auto law = [&](std::size_t i) {
            std::vector<double> mass;
            for (int z = -width; z <= width; ++z)
                mass.push_back(discrete_laplace_pmf(grid.noise(i, 0).laplace.value(), z));
            return mass;
        };
        std::vector<double> mass = law(grid.size() - 1);
        for (std::size_t i = grid.size() - 1; i-- > 0 && grid.noise(i, 0).laplace.value() < 12;) {
            const double keep = keep_of(grid, i);
            const std::vector<double> added = law(i);
            std::vector<double> next;
            for (int z = -width; z <= width; ++z) {
                double sum = 0;
                for (int y = std::max(-width, z - width); y <= std::min(width, z + width); ++y)
                    sum += mass[static_cast<std::size_t>(y + width)] * added[static_cast<std::size_t>(z - y + width)];
                next.push_back(keep * mass[static_cast<std::size_t>(z + width)] + (1 - keep) * sum);
            }
            mass = next;
            for (int z = -40; z <= 40; ++z)
                ASSERT_NEAR(mass[static_cast<std::size_t>(z + width)], added[static_cast<std::size_t>(z + width)],
                            1e-12)
                    << text << " point " << i << " at " << z;
        }
    }
}

// Together the roundings of all keep probabilities change the probability of a path by a factor within e^(+-2^-48); the unit of
// epsilon that is held back pays twice that for 2^17 coordinates.
TEST(LaplacePath, RoundingsArePaidFor) {
    Real worst = 0;
    const auto change = [](const LaplaceGrid &grid, std::size_t j) {
        Real sum = 0;
        for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
            const auto half = [&](std::size_t k) {
                const LaplaceScale &scale = grid.noise(k, j).laplace;
                return Real(sinh(real(scale.s) / (2 * real(scale.t))));
            };
            const Real ratio = half(i) / half(i + 1), p = ratio * ratio, drawn = ldexp(Real(grid.keep(i, j)), -63);
            EXPECT_LE(abs(drawn - p), ldexp(Real(1), -64) * (1 + Real("1e-20")));
            sum += std::max(Real(abs(log(drawn / p))), Real(abs(log((1 - drawn) / (1 - p)))));
        }
        return sum;
    };
    for (const char *text : {"100", "99.999999999", "97.3", "92", "60", "10", "1", "0.05"})
        worst = std::max({worst, change(LaplaceGrid(eps(text), measured({1})), 0),
                          change(LaplaceGrid(eps(text), measured({1, 3, 1ULL << 50U})), 2)});
    EXPECT_LT(worst, ldexp(Real(1), -48));
    EXPECT_LT(2 * ldexp(Real(1), -48 + 17), Real("1e-9"));
}

// ---- What is drawn ----

class Bits final : public BitSource {
  public:
    explicit Bits(std::uint64_t seed) : engine_(seed) {}
    result_type operator()() override {
        ++drawn_;
        return engine_();
    }
    long drawn() const { return drawn_; }

  private:
    std::mt19937_64 engine_;
    long drawn_ = 0;
};

// How often noise stays as it is, and how wide it is at each point, within what 20,000 paths can tell. Fixed seed.
TEST(LaplacePath, FollowsItsLaw) {
    const LaplaceGrid grid(eps("3"), measured({1, 5}));
    constexpr std::size_t paths = 20000;
    Bits bits(21);
    const LaplacePath path(grid, paths, bits);
    for (std::size_t j : {0U, 1U})
        for (std::size_t i = 0; i < grid.size(); ++i) {
            double kept = 0, squares = 0, together = 0;
            for (std::size_t g = 0; g < paths; ++g) {
                const auto z = static_cast<double>(path.noise(i, g, j));
                squares += z * z;
                if (i + 1 < grid.size()) {
                    const auto next = static_cast<double>(path.noise(i + 1, g, j));
                    kept += z == next;
                    together += z * next;
                }
            }
            const double variance = std::pow(grid.stddev(i, j), 2), n = paths;
            EXPECT_NEAR(squares / n / variance, 1, 6 * std::sqrt(5.5 / n)) << i;
            if (i + 1 == grid.size())
                continue;
            const double zero = discrete_laplace_pmf(grid.noise(i, j).laplace.value(), 0);
            const double stays = keep_of(grid, i, j) + (1 - keep_of(grid, i, j)) * zero;
            EXPECT_NEAR(kept / n, stays, 6 * std::sqrt(stays * (1 - stays) / n)) << i;
            // What the wider noise has in common with the narrower one is all of the latter.
            const double narrow = std::pow(grid.stddev(i + 1, j), 2);
            EXPECT_NEAR(together / n / narrow, 1, 6 * std::sqrt(12 / n)) << i;
        }
}

// Coordinates have noise of their own, and a path says the same whenever it is asked.
TEST(LaplacePath, CoordinatesAreIndependent) {
    const LaplaceGrid grid(eps("0.1"), measured({1, 1}));
    Bits bits(22);
    const LaplacePath path(grid, 500, bits);
    const std::size_t last = grid.size() - 1;
    std::map<long, int> seen;
    double product = 0, squares = 0;
    for (std::size_t g = 0; g < 500; ++g) {
        const auto a = static_cast<double>(path.noise(last, g, 0)), b = static_cast<double>(path.noise(last, g, 1));
        product += a * b;
        squares += a * a;
        EXPECT_EQ(path.noise(last, g, 0), path.noise(last, g, 0));
        ++seen[static_cast<long>(a)];
    }
    EXPECT_GT(seen.size(), 50U);
    EXPECT_LT(std::fabs(product / squares), 0.3);
    EXPECT_THROW(path.noise(grid.size(), 0, 0), std::out_of_range);
}

// The same bits give the same path, and how many are drawn has nothing to do with sums.
TEST(LaplacePath, AtTheEdges) {
    for (const char *text : {"100", "0.000000001", "0.0016"})
        for (std::uint64_t d : {std::uint64_t{1}, std::uint64_t{1} << 50U}) {
            const LaplaceGrid grid(eps(text), measured({d}));
            Bits one(23), two(23);
            const LaplacePath a(grid, 3, one), b(grid, 3, two);
            EXPECT_EQ(one.drawn(), two.drawn());
            for (std::size_t i = 0; i < grid.size(); ++i)
                for (std::size_t g = 0; g < 3; ++g) {
                    EXPECT_EQ(a.noise(i, g, 0), b.noise(i, g, 0));
                    EXPECT_LT(std::fabs(static_cast<double>(a.noise(i, g, 0))), 60 * (grid.stddev(i, 0) + 1));
                }
        }
    const LaplaceGrid grid(eps("1"), measured({1}));
    Bits bits(24);
    EXPECT_NO_THROW(LaplacePath(grid, 0, bits));
    EXPECT_EQ(bits.drawn(), 0);
}

} // namespace
