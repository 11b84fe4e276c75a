// The best attack on what was charged: bounds against the exact trade-off curves of Laplace and Gaussian noise, alone and
// composed (formulas.md 7.4).

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/attack.hpp"
#include "privacy/calibration.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/zcdp.hpp"
#include "privacy/noise.hpp"

namespace {

using namespace dp::privacy;

const std::vector<double> rates = {1e-6, 1e-3, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99};

double normal(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

// Largest true-positive rate between two laws on integers, Neyman and Pearson: outputs by falling likelihood ratio.
class Curve {
  public:
    Curve(const std::vector<double> &present, const std::vector<double> &absent) {
        for (std::size_t i = 0; i < present.size(); ++i)
            outputs_.emplace_back(present[i], absent[i]);
        std::sort(outputs_.begin(), outputs_.end(),
                  [](const auto &a, const auto &b) { return a.first * b.second > b.first * a.second; });
    }
    double tpr(double fpr) const {
        double hits = 0;
        for (const auto &[p, q] : outputs_) {
            if (q >= fpr)
                return hits + p * (q > 0 ? fpr / q : 1);
            hits += p;
            fpr -= q;
        }
        return hits;
    }
    double advantage() const {
        double sum = 0;
        for (const auto &[p, q] : outputs_)
            sum += std::max(0.0, p - q);
        return sum;
    }

  private:
    std::vector<std::pair<double, double>> outputs_;
};

// What noise of this law makes of a count of 1 and of 0.
template <class Law> Curve count_curve(Law law, int reach) {
    std::vector<double> present, absent;
    for (int z = -reach; z <= reach + 1; ++z) {
        present.push_back(law(z - 1));
        absent.push_back(law(z));
    }
    return Curve(present, absent);
}

// Two independent answers.
template <class A, class B> Curve composed(A a, B b, int reach) {
    std::vector<double> present, absent;
    for (int x = -reach; x <= reach + 1; ++x)
        for (int y = -reach; y <= reach + 1; ++y) {
            present.push_back(a(x - 1) * b(y - 1));
            absent.push_back(a(x) * b(y));
        }
    return Curve(present, absent);
}

auto laplace(double epsilon) {
    return [b = 1 / epsilon](double z) { return discrete_laplace_pmf(b, z); };
}
auto gaussian(double sigma) {
    return [sigma](double z) { return discrete_gaussian_pmf(sigma, z); };
}
double rho_of(double sigma) {
    return 1 / (2 * sigma * sigma);
}

TEST(Attack, PureIsExact) {
    for (double epsilon : {0.05, 0.5, 1.0, 3.0}) {
        const Curve exact = count_curve(laplace(epsilon), 2000);
        for (double fpr : rates) {
            const double bound = largest_tpr({epsilon, 0, 0}, fpr);
            EXPECT_NEAR(bound, std::min(std::exp(epsilon) * fpr, 1 - std::exp(-epsilon) * (1 - fpr)), 1e-9);
            EXPECT_GE(bound, exact.tpr(fpr) - 1e-12) << epsilon << " " << fpr;
        }
        // Below its corner the geometric mechanism attains it.
        EXPECT_NEAR(largest_tpr({epsilon, 0, 0}, 0.01), exact.tpr(0.01), 1e-9) << epsilon;
        EXPECT_NEAR(largest_advantage({epsilon, 0, 0}), std::tanh(epsilon / 2), 1e-9);
        EXPECT_NEAR(largest_advantage({epsilon, 0, 0}), exact.advantage(), 1e-9);
    }
}

TEST(Attack, PureAndDelta) {
    const AttackedLoss loss = {1, 0, 0.01};
    EXPECT_NEAR(largest_tpr(loss, 0), 0.01, 1e-9);
    EXPECT_NEAR(largest_tpr(loss, 0.1), 0.01 + 0.1 * std::exp(1.0), 1e-9);
    EXPECT_NEAR(largest_tpr(loss, 0.9), 1 - std::exp(-1.0) * 0.09, 1e-9);
    EXPECT_NEAR(largest_advantage(loss), (std::exp(1.0) - 1 + 0.02) / (std::exp(1.0) + 1), 1e-9);
    // Gaussian noise calibrated at (epsilon, delta) has a curve below that.
    const double sigma = analytic_gaussian_sigma(1, 0.01, 1);
    for (double fpr : rates)
        EXPECT_GE(largest_tpr(loss, fpr), normal(1 / sigma - normal_upper_quantile(fpr)) - 1e-9) << fpr;
}

// Never below the exact curve of the Gaussian of that rho, and not far above it.
TEST(Attack, RhoAgainstGaussian) {
    for (double rho : {1e-8, 1e-4, 0.0174689, 0.5, 3.0, 40.0}) {
        const double mu = std::sqrt(2 * rho);
        for (double fpr : rates) {
            const double exact = normal(mu - normal_upper_quantile(fpr)), bound = largest_tpr({0, rho, 0}, fpr);
            EXPECT_GE(bound, exact - 1e-12) << rho << " " << fpr;
            // Misses likewise: the bound has the shape of the curve, with a factor.
            EXPECT_LE(bound - fpr, 2.0 * (exact - fpr) + 1e-5) << rho << " " << fpr;
        }
        EXPECT_GE(largest_advantage({0, rho, 0}), 2 * normal(mu / 2) - 1 - 1e-12) << rho;
        EXPECT_LE(largest_advantage({0, rho, 0}), std::sqrt(rho / 2) * (1 + 1e-3) + 1e-5) << rho; // Pinsker
    }
}

TEST(Attack, RhoAgainstDiscreteGaussian) {
    for (double sigma : {0.4, 1.0, 3.0}) {
        const Curve exact = count_curve(gaussian(sigma), 60);
        for (double fpr : rates)
            EXPECT_GE(largest_tpr({0, rho_of(sigma), 0}, fpr), exact.tpr(fpr) - 1e-12) << sigma << " " << fpr;
        EXPECT_GE(largest_advantage({0, rho_of(sigma), 0}), exact.advantage() - 1e-12) << sigma;
    }
}

// A pure charge in rho, as zcdp has it.
double pure_rho(double epsilon) {
    return rho_of_pure(Epsilon::from_double(epsilon, Rounding::up)).value();
}

TEST(Attack, RhoOfPure) {
    for (double epsilon : {0.1, 1.0, 2.0}) {
        const Curve exact = count_curve(laplace(epsilon), 800);
        const double rho = pure_rho(epsilon);
        for (double fpr : rates)
            EXPECT_GE(largest_tpr({0, rho, 0}, fpr), exact.tpr(fpr) - 1e-12) << epsilon << " " << fpr;
        EXPECT_GE(largest_advantage({0, rho, 0}), exact.advantage() - 1e-12);
    }
}

TEST(Attack, Composition) {
    for (double epsilon : {0.3, 1.0})
        for (double sigma : {0.7, 2.0}) {
            const Curve exact = composed(laplace(epsilon), gaussian(sigma), 120);
            for (double fpr : rates) {
                EXPECT_GE(largest_tpr({epsilon, rho_of(sigma), 0}, fpr), exact.tpr(fpr) - 1e-9)
                    << epsilon << " " << sigma;
                EXPECT_GE(largest_tpr({0, rho_of(sigma) + pure_rho(epsilon), 0}, fpr), exact.tpr(fpr) - 1e-9);
            }
            EXPECT_GE(largest_advantage({epsilon, rho_of(sigma), 0}), exact.advantage() - 1e-9);
            // Twice the same: composed losses add.
            const Curve twice = composed(gaussian(sigma), gaussian(sigma), 60);
            for (double fpr : rates)
                EXPECT_GE(largest_tpr({0, 2 * rho_of(sigma), 0}, fpr), twice.tpr(fpr) - 1e-12);
        }
}

// With an event of probability delta that gives everything away.
TEST(Attack, DeltaIsAdded) {
    const double sigma = 1.5, delta = 0.02;
    std::vector<double> present = {delta, 0}, absent = {0, delta};
    for (int z = -60; z <= 61; ++z) {
        present.push_back((1 - delta) * discrete_gaussian_pmf(sigma, z - 1));
        absent.push_back((1 - delta) * discrete_gaussian_pmf(sigma, z));
    }
    const Curve exact(present, absent);
    for (double fpr : rates)
        EXPECT_GE(largest_tpr({0, rho_of(sigma), delta}, fpr), exact.tpr(fpr) - 1e-12) << fpr;
    EXPECT_GE(largest_advantage({0, rho_of(sigma), delta}), exact.advantage() - 1e-12);
}

TEST(Attack, Extremes) {
    EXPECT_NEAR(largest_tpr(AttackedLoss{}, 0.3), 0.3, 1e-9);
    EXPECT_EQ(largest_advantage(AttackedLoss{}), 0);
    EXPECT_EQ(largest_tpr({1e9, 0, 0}, 0.001), 1);
    EXPECT_EQ(largest_tpr({0, 1e9, 0}, 0.001), 1);
    EXPECT_EQ(largest_tpr({0, 0, 1}, 0.001), 1);
    EXPECT_EQ(largest_tpr({2, 3, 0}, 1), 1);
    EXPECT_NEAR(largest_tpr({2, 3, 0}, 0), 0, 1e-12); // what never happens to some happens to nobody
    EXPECT_EQ(largest_advantage({1e9, 1, 0}), 1);
    for (double fpr = 0.05; fpr < 1; fpr += 0.05) // rises with the rate, and with every loss
        for (const AttackedLoss &loss :
             {AttackedLoss{0.5, 0, 0}, AttackedLoss{0, 0.1, 0}, AttackedLoss{0.2, 0.1, 1e-3}}) {
            EXPECT_GE(largest_tpr(loss, fpr), largest_tpr(loss, fpr - 0.05));
            EXPECT_GE(largest_tpr({loss.epsilon + 0.1, loss.rho, loss.delta}, fpr), largest_tpr(loss, fpr));
            EXPECT_GE(largest_tpr({loss.epsilon, loss.rho + 0.01, loss.delta}, fpr), largest_tpr(loss, fpr) - 1e-12);
            EXPECT_LE(largest_tpr(loss, fpr) - fpr, largest_advantage(loss) + 1e-12);
        }
    EXPECT_EQ(largest_tpr(std::vector<AttackedLoss>{{3, 0, 0}, {0, 0.01, 0}}, 0.1),
              largest_tpr(AttackedLoss{0, 0.01, 0}, 0.1));
}

// ---- totals that keep a target -------------------------------------------------------------------------------------

// How many counts of 0.05 fit: in epsilon, through that epsilon under zcdp at 1e-6, and in rho.
std::vector<long long> counts(const AttackTarget &target) {
    const Epsilon one = *Epsilon::parse("0.05");
    const auto total = Epsilon::from_double(target_epsilon(target, 0), Rounding::down);
    const auto rho = Rho::from_double(target_rho(target, 0, 0), Rounding::down);
    const auto n = [](auto all, auto each) { return static_cast<long long>(all.units() / each.units()); };
    const long long pure = n(total, one);
    return {pure, std::max(pure, n(rho_cap(total, *Delta::parse("0.000001"), Cap::tight), rho_of_pure(one))), n(rho, rho_of_pure(one))};
}

TEST(AttackTarget, Counts) {
    using Row = std::vector<long long>;
    EXPECT_EQ(counts({0.05, 0, 0}), (Row{2, 2, 4}));
    EXPECT_EQ(counts({0.1, 0, 0}), (Row{4, 4, 16}));
    EXPECT_EQ(counts({0.25, 0, 0}), (Row{10, 10, 102}));
    EXPECT_EQ(counts({0.5, 0, 0}), (Row{21, 23, 439}));
    EXPECT_EQ(counts({0, 0.05, 0.01}), (Row{32, 47, 137}));
    EXPECT_EQ(counts({0, 0.1, 0.01}), (Row{46, 91, 316}));
}

double reached(const AttackTarget &target, const AttackedLoss &loss) {
    return target.advantage > 0 ? largest_advantage(loss) : largest_tpr(loss, target.fpr);
}

// 10^4 targets: never above, and not far below.
TEST(AttackTarget, IsNeverPassed) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    int kept[2] = {};
    for (int i = 0; i < 10000; ++i) {
        const double fpr = std::pow(uniform(random), 4);
        const AttackTarget target = i % 2 == 0 ? AttackTarget{std::pow(uniform(random), 2), 0, 0}
                                               : AttackTarget{0, fpr + (1 - fpr) * std::pow(uniform(random), 2), fpr};
        const double wanted = target.advantage > 0 ? target.advantage : target.tpr;
        const double delta = i % 3 == 0 ? std::pow(uniform(random), 8) : 0, pure = i % 5 == 0 ? 0.3 * uniform(random) : 0;
        const double epsilon = target_epsilon(target, delta), rho = target_rho(target, pure, delta);
        if (epsilon > 0) {
            ++kept[0];
            ASSERT_LE(reached(target, {epsilon, 0, delta}), wanted) << i;
            EXPECT_GT(reached(target, {epsilon + 1e-6, 0, delta}), wanted) << i;
        }
        if (rho > 0) {
            ++kept[1];
            ASSERT_LE(reached(target, {pure, rho, delta}), wanted) << i;
            if (i % 40 < 2) {
                EXPECT_GT(reached(target, {pure, rho * (1 + 1e-6) + 1e-8, delta}), wanted) << i;
            }
        }
    }
    EXPECT_GT(kept[0], 5000);
    EXPECT_GT(kept[1], 5000);
}

TEST(AttackTarget, NothingLeft) {
    EXPECT_LE(target_epsilon({0.1, 0, 0}, 0.1), 0);
    EXPECT_LE(target_epsilon({0, 0.2, 0.1}, 0.1), 0);
    EXPECT_LE(target_epsilon({0, 0.1, 0.1}, 0), 0);
    EXPECT_EQ(target_rho({0.1, 0, 0}, 0, 0.1), 0);
    EXPECT_EQ(target_rho({0, 0.1, 0.1}, 0, 0), 0);
    EXPECT_EQ(target_rho({0.25, 0, 0}, 0.6, 0), 0); // the pure part alone has more
    EXPECT_GT(target_epsilon({0.25, 0, 0}, 1e-6), 0.5108);
    EXPECT_LT(target_epsilon({0.25, 0, 0}, 0.1), 0.4);
}

TEST(Attack, HitRate) {
    // At a small false-positive rate it is the posterior of Theorem 1.
    const double tpr = largest_tpr({1, 0, 0}, 0.001), e = std::exp(1.0);
    EXPECT_NEAR(largest_hit_rate(tpr, 0.001, 0.1), 0.1 * e / (0.1 * e + 0.9), 1e-9);
    EXPECT_EQ(largest_hit_rate(0, 0, 0.5), 0);
    EXPECT_EQ(largest_hit_rate(0.5, 0, 0.5), 1);
    EXPECT_NEAR(largest_hit_rate(0.3, 0.3, 0.2), 0.2, 1e-9);
}

} // namespace
