// The risk of a unit with several rows (formulas.md 9.6).
#include "find_eps.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "privacy/risk.hpp"
#include "reference.hpp"

namespace {

using namespace dp::privacy;

// 4: the price is that of rows, with the coordinates of one group, however many groups a unit may be in: some unit is at the far
// bound of all measures in them, another one is in none. Noise of D = kappa and more is wide enough for tau.
TEST(UnitRisk, PriceOfOneGroupIsEnough) {
    for (double tau : {0.5, 0.9, 0.95, 0.99})
        for (int m : {1, 2, 5})
            for (std::uint64_t D : {1, 5, 20, 1 << 20, 1 << 30}) {
                const double eps = within_domain_eps_star(tau, 1, m, m);
                const std::vector<NoiseMeasure> measures(static_cast<std::size_t>(m), {1, static_cast<double>(D)});
                const double noise = rdr_noise_term(eps, measures);
                EXPECT_GE(noise / (m + noise), tau * (1 - 1e-12)) << tau << " " << m << " " << D;
            }
    // Of kappa = 5 groups in the place of one, the papers' S 9: the people of one group would have this ratio.
    const double wrong = std::asinh(5 * 0.05 / 0.95), noise = 1 / std::sinh(wrong);
    EXPECT_LT(noise / (1 + noise), 0.8);
}

} // namespace
