// Attacks that are played: whoever knows everything but whether one person is there, and decides by the exact likelihood ratio of
// all answers together, the best test there is. Its rates, as far as draws certify them, must stay below what dp_attack_risk
// promises (formulas.md 7.4); and come near where the bound is exact, or the attack would be a weak one.
//
// A rate is certified with probability 1 - alpha; fewer than 400 are: a false alarm is less likely than one in a million.
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "../unit/measured.hpp"
#include "audit.hpp"
#include "bounds.hpp"

#include "privacy/attack.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/zcdp.hpp"

namespace audit {
namespace {

using namespace dp::privacy;

class Bits final : public BitSource {
  public:
    explicit Bits(unsigned seed) : random_(seed) {}
    result_type operator()() override { return random_(); }

  private:
    std::mt19937_64 random_;
};

// The shipped plan of a count.
ReleasePlan count_plan(Mechanism mechanism, const char *epsilon, const char *delta) {
    return plan_release(mechanism, measured(leaf_measures({{Aggregate::count_star, -1, -1}}, false), {1}), false,
                        *Epsilon::parse(epsilon), *Delta::parse(delta));
}

// ln of what the answer y says for a count of 1 against one of 0.
double evidence(const MeasureNoise &noise, double y) {
    if (noise.mechanism == Mechanism::laplace)
        return (std::fabs(y) - std::fabs(y - 1)) / noise.laplace.value();
    const double sigma = noise.gaussian.sigma();
    return (2 * y - 1) / (2 * sigma * sigma);
}

// One answer each; what is asked next may depend on what came.
using Game = std::function<double(Bits &, int count)>;

struct Contest {
    const char *name;
    Game game; // the evidence of a whole transcript
    std::vector<AttackedLoss> losses;
};

double answer(Bits &bits, int count, const ReleasePlan &plan) {
    return evidence(plan.noise[0], static_cast<double>(count + draw(bits, plan.noise[0])));
}

double pure_rho(double epsilon) {
    return rho_of_pure(Epsilon::from_double(epsilon, Rounding::up)).value();
}

std::vector<Contest> contests() {
    const ReleasePlan one = count_plan(Mechanism::laplace, "1", "0"), half = count_plan(Mechanism::laplace, "0.5", "0"),
                      small = count_plan(Mechanism::laplace, "0.1", "0"),
                      gauss = count_plan(Mechanism::gaussian, "1", "1e-3"),
                      coarse = count_plan(Mechanism::gaussian, "4", "1e-2");
    const double rho = gauss.rho().value(), pure = pure_rho(0.1);
    return {
        {"one Laplace answer", [=](Bits &b, int n) { return answer(b, n, one); }, {{1, 0, 0}}},
        {"three Laplace answers",
         [=](Bits &b, int n) { return answer(b, n, half) + answer(b, n, half) + answer(b, n, half); },
         {{1.5, 0, 0}, {0, 3 * pure_rho(0.5), 0}}},
        {"twenty small ones",
         [=](Bits &b, int n) {
             double sum = 0;
             for (int i = 0; i < 20; ++i)
                 sum += answer(b, n, small);
             return sum;
         },
         {{2, 0, 0}, {0, 20 * pure, 0}}},
        {"one Gaussian answer", [=](Bits &b, int n) { return answer(b, n, gauss); }, {{1, 0, 1e-3}, {0, rho, 0}}},
        {"a coarse one", [=](Bits &b, int n) { return answer(b, n, coarse); }, {{0, coarse.rho().value(), 0}}},
        {"both kinds",
         [=](Bits &b, int n) { return answer(b, n, one) + answer(b, n, gauss); },
         {{2, 0, 1e-3}, {1, rho, 0}, {0, rho + pure_rho(1), 0}}},
        // The second question is paid with what the first one left: four answers of 0.1, or one Gaussian one instead of it all.
        {"chosen by what came",
         [=](Bits &b, int n) {
             const double first = answer(b, n, half);
             double sum = first;
             for (int i = 0; i < (first > 0 ? 5 : 1); ++i)
                 sum += answer(b, n, small);
             return sum;
         },
         {{1, 0, 0}, {0, pure_rho(0.5) + 5 * pure, 0}}}};
}

TEST(Attack, NoneBeatsTheBound) {
    const std::uint64_t n = draws();
    Bits bits(20261122);
    for (const Contest &contest : contests()) {
        SCOPED_TRACE(contest.name);
        const std::vector<double> thresholds = {-1.2, -0.6, -0.2, 0, 0.2, 0.45, 0.6, 0.95, 1.2, 1.45, 1.9};
        std::vector<std::uint64_t> hits(thresholds.size()), alarms(thresholds.size());
        for (std::uint64_t i = 0; i < n; ++i)
            for (int count : {0, 1}) {
                const double found = contest.game(bits, count);
                for (std::size_t t = 0; t < thresholds.size(); ++t)
                    (count == 1 ? hits : alarms)[t] += found >= thresholds[t] - 1e-9 ? 1 : 0;
            }
        double best = 0;
        for (std::size_t t = 0; t < thresholds.size(); ++t) {
            const double least = probability_lower(hits[t], n, alpha), most = probability_upper(alarms[t], n, alpha);
            EXPECT_LE(least, largest_tpr(contest.losses, most)) << "threshold " << thresholds[t];
            best = std::max(best,
                            (static_cast<double>(hits[t]) - static_cast<double>(alarms[t])) / static_cast<double>(n));
        }
        EXPECT_LE(best - 0.02, largest_advantage(contest.losses));
        EXPECT_GE(best, 0.4 * largest_advantage(contest.losses)) << "the attack is a weak one";
    }
}

// A bound of half the charge would be beaten by this very attack.
TEST(Attack, HalfTheChargeIsBeaten) {
    const std::uint64_t n = draws();
    Bits bits(7);
    const ReleasePlan one = count_plan(Mechanism::laplace, "1", "0");
    std::uint64_t hits = 0, alarms = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        hits += answer(bits, 1, one) > 0 ? 1 : 0;
        alarms += answer(bits, 0, one) > 0 ? 1 : 0;
    }
    EXPECT_GT(probability_lower(hits, n, alpha),
              largest_tpr(AttackedLoss{0.5, 0, 0}, probability_upper(alarms, n, alpha)));
}

} // namespace
} // namespace audit
