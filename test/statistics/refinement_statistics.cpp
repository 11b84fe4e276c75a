// How often answers by accuracy are as accurate as was asked, and how often their intervals hold (formulas.md 6.1), on bits
// from the operating system.
//
// False alarms. Each frequency is of 8,000 independent rounds and may differ by 0.04 from what it is: by Hoeffding's bound it
// does so with probability below 2 e^(-2 * 8000 * 0.04^2) = 1.6e-11 where the number given is right, and below 2e-8 where that
// is wrong by 0.006. There are 24.
#include <cmath>

#include <gtest/gtest.h>

#include "../unit/rounds.hpp"
#include "system_bits.hpp"

namespace {

using namespace rounds;

constexpr int runs = 8000;
constexpr double tolerance = 0.04;

struct Expected {
    std::int64_t exact;
    double within, deviations;
    double accurate, covered; // how often
};

struct Frequencies {
    double accurate = 0, covered = 0;
    void add(const Seen &seen, const Expected &e) {
        const double distance = std::fabs(seen.values[0] - static_cast<double>(e.exact));
        accurate += distance <= e.within * static_cast<double>(e.exact);
        covered += distance <= seen.halfwidths[0];
    }
    void expect(const Expected &e) const {
        EXPECT_NEAR(accurate / runs, e.accurate, tolerance)
            << e.exact << " within " << e.within << ", " << e.deviations;
        EXPECT_NEAR(covered / runs, e.covered, tolerance) << e.exact << " within " << e.within << ", " << e.deviations;
    }
};

Wanted wanted(const Expected &e) {
    Wanted result;
    result.within = e.within;
    result.deviations = e.deviations;
    return result;
}

TEST(Refinement, GaussianRoundsAreAsAccurateAsStated) {
    SystemBits bits;
    const Rho ceiling = *Rho::parse("10");
    for (const Expected &e : {Expected{300, 0.1, 1, 0.760, 0.953}, Expected{3000, 0.05, 1, 0.731, 0.949},
                              Expected{300, 0.3, 1, 0.777, 0.937}, Expected{300, 0.1, 2, 0.977, 0.954},
                              Expected{3000, 0.05, 2, 0.971, 0.952}, Expected{300, 0.3, 2, 0.977, 0.949}}) {
        Frequencies frequencies;
        for (int i = 0; i < runs; ++i) {
            GaussianRound round(count(e.exact), wanted(e), ceiling);
            EXPECT_TRUE(run(round, bits, ceiling));
            frequencies.add(round.seen(), e);
        }
        frequencies.expect(e);
    }
}

TEST(Refinement, LaplaceRoundsAreAsAccurateAsStated) {
    SystemBits bits;
    const Epsilon ceiling = *Epsilon::parse("3");
    const LaplaceGrid grid(ceiling, measured({1}));
    for (const Expected &e : {Expected{300, 0.1, 1, 0.798, 0.949}, Expected{3000, 0.05, 1, 0.787, 0.949},
                              Expected{300, 0.3, 1, 0.797, 0.921}, Expected{300, 0.1, 2, 0.959, 0.947},
                              Expected{3000, 0.05, 2, 0.956, 0.951}, Expected{300, 0.3, 2, 0.963, 0.948}}) {
        Frequencies frequencies;
        for (int i = 0; i < runs; ++i) {
            LaplaceRound round(count(e.exact), wanted(e), grid);
            EXPECT_TRUE(run(round, bits, ceiling));
            frequencies.add(round.seen(), e);
        }
        frequencies.expect(e);
    }
}

} // namespace
