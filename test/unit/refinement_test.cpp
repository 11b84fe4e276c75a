// When a value is accurate enough, where to look next, what an error known in advance costs, and whole rounds (formulas.md 6).
// Everything random comes from fixed seeds: these tests cannot fail by chance.

#include "measured.hpp"
#include "privacy/refinement.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include "privacy/accounting.hpp"
#include "reference.hpp"
#include "rounds.hpp"

namespace {

using namespace dp::privacy;
using reference::Case;
using reference::json;
using reference::number;
using Real = boost::multiprecision::cpp_bin_float_100;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_ = std::numeric_limits<double>::quiet_NaN();

Epsilon eps(const char *text) {
    return Epsilon::parse(text).value();
}
Rho rho(const char *text) {
    return Rho::parse(text).value();
}
Delta del(const char *text) {
    return Delta::parse(text).value();
}

Wanted relative(double within, double deviations = 1) {
    Wanted wanted;
    wanted.within = within;
    wanted.deviations = deviations;
    return wanted;
}
Wanted absolute(double error95) {
    Wanted wanted;
    wanted.error95 = error95;
    return wanted;
}

class Bits final : public BitSource {
  public:
    explicit Bits(std::uint64_t seed) : engine_(seed) {}
    result_type operator()() override { return engine_(); }

  private:
    std::mt19937_64 engine_;
};

// ---- Reference cases ----

TEST(Refinement, StopsWhereTheReferenceDoes) {
    reference::each("relative_error_stop_index", [](const Case &c) {
        const Wanted wanted = relative(number(c.arg("r")));
        std::optional<std::size_t> stop;
        for (std::size_t i = 0; i < c.arg("noisy").size() && !stop; ++i)
            if (accurate(wanted, number(c.arg("noisy")[i]), std::sqrt(number(c.arg("variances")[i])), infinity))
                stop = i;
        EXPECT_EQ(stop.has_value(), !c.expect().is_null());
        if (stop) {
            EXPECT_EQ(*stop, c.expect().get<std::size_t>());
        }
    });
}

// Attempts with fresh noise are charged each; measurements that are averaged cost what the last one would.
TEST(Refinement, CostsOfDoubling) {
    reference::each("doubling_cost", [](const Case &c) {
        const auto at = [&](int i) {
            return Rho::from_double(number(c.arg("rho0")) * std::pow(number(c.arg("factor")), i), Rounding::up);
        };
        const std::vector<Measure> measures(1);
        const auto charged = [&](Rho r) { return plan_measurement(measured(measures, {1}), false, r, Delta()).rho(); };
        Rho fresh, averaged;
        const int attempts = c.arg("attempts").get<int>();
        for (int i = 0; i < attempts; ++i) {
            fresh = fresh + charged(at(i));
            averaged = averaged + charged(at(i) - averaged);
        }
        // sigma^2 is a multiple of 2^-20.
        const auto near = [&](Rho got, const char *name) {
            EXPECT_NEAR(got.value() / number(c.expect(name)), 1, 1e-8) << name;
            EXPECT_LE(got.value(), number(c.expect(name)) * (1 + 1e-14)) << name;
        };
        near(charged(at(attempts - 1)), "last_rho");
        near(fresh, "doubling_total");
        near(averaged, "noise_reduction_total");
    });
}

// Increments of rounds and charges of other questions go to one sum.
TEST(Refinement, UnifiedFilter) {
    reference::each("unified_filter", [](const Case &c) {
        BoundSettings bound;
        bound.bound = Bound::zcdp;
        bound.epsilon_total = Epsilon::parse(reference::text(c.arg("eps_global")));
        bound.delta_conversion = bound.delta_total = Delta::parse(reference::text(c.arg("delta_conversion"))).value();
        bound.cap = Cap::classic;
        bound.rho_total = rho_cap(*bound.epsilon_total, bound.delta_conversion, bound.cap);
        c.field(bound.rho_total.value(), "rho_cap");
        Totals totals;
        const auto charge = [&](double amount) {
            Cost cost;
            cost.pure = false;
            cost.rho = Rho::from_double(amount, Rounding::up);
            Spent after = totals.of_public;
            add(&after, cost, Basis::rho);
            Totals with = totals;
            with.of_public = after;
            if (fit(cost, Account::public_account, bound, totals, Totals(), std::nullopt) != Denial::none)
                return false;
            totals = with;
            return true;
        };
        for (std::size_t i = 0; i < c.arg("rounds").size(); ++i) {
            const json &round = c.arg("rounds")[i], &want = c.expect("rounds")[i];
            const Rho before = totals.of_public.rho;
            if (round["type"] == "zcdp") {
                EXPECT_EQ(charge(number(round["rho"])), want["accepted"].get<bool>());
            } else {
                const double d2 = std::pow(number(round["delta2"]), 2);
                int released = -1;
                double paid = 0;
                for (int k = 0; k <= round["stop_at"].get<int>(); ++k) {
                    const double in_all = d2 / (2 * number(round["variances"][static_cast<std::size_t>(k)]));
                    if (!charge(in_all - paid))
                        break;
                    paid = in_all;
                    released = k;
                }
                EXPECT_EQ(released, want["released_up_to"].get<int>());
                EXPECT_EQ(released == round["stop_at"].get<int>(), want["reached_stop"].get<bool>());
            }
            EXPECT_NEAR((totals.of_public.rho - before).value(), number(want["charged"]), 1e-14);
            EXPECT_NEAR(totals.of_public.rho.value(), number(want["rho_total"]), 1e-14);
        }
    });
}

// What a round may come to has to fit before it begins; what it came to is charged.
TEST(Refinement, ExPostFilter) {
    reference::each("expost_filter", [](const Case &c) {
        BoundSettings bound;
        bound.epsilon_total = Epsilon::parse(reference::text(c.arg("eps_global")));
        bound.delta_total = Delta::parse(reference::text(c.arg("delta_global"))).value();
        Totals totals;
        for (std::size_t i = 0; i < c.arg("sequence").size(); ++i) {
            const json &step = c.arg("sequence")[i], &want = c.expect()[i];
            Cost most;
            most.epsilon = Epsilon::parse(reference::text(step["eps_max"])).value();
            most.delta = Delta::parse(reference::text(step["delta"])).value();
            const bool allowed =
                fit(most, Account::public_account, bound, totals, Totals(), std::nullopt) == Denial::none;
            EXPECT_EQ(allowed, want["allowed"].get<bool>());
            Cost realised = most;
            realised.epsilon = Epsilon::parse(reference::text(step["eps_realised"])).value();
            if (allowed)
                add(&totals.of_public, realised, Basis::epsilon);
            EXPECT_EQ(totals.of_public.epsilon, Epsilon::parse(reference::text(want["eps_total"])).value());
            EXPECT_EQ(totals.of_public.delta, Delta::parse(reference::text(want["delta_total"])).value());
        }
    });
}

// ---- The rule ----

// |y| > s, 1 - r < |y|/(|y| + s), |y|/(|y| - s) < 1 + r, in exact arithmetic; numbers that the two sides of a tie could be
// rounded to are left out.
TEST(Refinement, TheRuleIsThePublishedOne) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> r01(0, 1), exponent(-8, 8);
    int within = 0;
    for (int i = 0; i < 100000; ++i) {
        const double r = r01(random), y = std::pow(10, exponent(random)) * (i % 2 == 0 ? 1 : -1);
        const double c = 1 + 9 * r01(random), sd = std::fabs(y) * r / (1 + r) / c * std::exp(r01(random) - 0.5);
        const Real a = abs(Real(y)), s = Real(c) * Real(sd);
        if (abs(s * (1 + Real(r)) / (a * Real(r)) - 1) < 1e-12)
            continue;
        const bool want = a > s && 1 - Real(r) < a / (a + s) && a / (a - s) < 1 + Real(r);
        EXPECT_EQ(accurate(relative(r, c), y, sd, 0), want) << y << " " << sd << " " << r << " " << c;
        within += want;
    }
    EXPECT_GT(within, 30000);
    EXPECT_LT(within, 70000);
}

TEST(Refinement, OneOfTwoSuffices) {
    Wanted both = relative(0.1);
    both.error95 = 30;
    EXPECT_TRUE(accurate(both, 1000, 50, 98)); // 5 %
    EXPECT_TRUE(accurate(both, 3, 15, 30));    // small, and known to 30
    EXPECT_FALSE(accurate(both, 3, 15.5, 30.1));
    EXPECT_FALSE(accurate(relative(0.1), 3, 15, 0));
    EXPECT_FALSE(accurate(absolute(30), 1e9, 1, 31));
    EXPECT_TRUE(accurate(Wanted(), 0, 1e9, 1e9)); // nothing was asked
    // A zero is never known to a fraction of itself, and never wrong by more than nothing.
    EXPECT_FALSE(accurate(relative(0.9), 0, 1e-9, 0));
    EXPECT_TRUE(accurate(absolute(0), 0, 1e-9, 0));
    EXPECT_FALSE(accurate(relative(0.5), 1, infinity, infinity));
    EXPECT_FALSE(accurate(relative(0.5), infinity, infinity, infinity));
}

TEST(Refinement, WantedStandardDeviation) {
    EXPECT_DOUBLE_EQ(wanted_stddev(relative(0.25), -100, 50, 7), 200 * 0.2);
    EXPECT_DOUBLE_EQ(wanted_stddev(relative(0.25, 2), 100, 50, 7), 20);
    EXPECT_DOUBLE_EQ(wanted_stddev(absolute(5), 100, 50, 7), 7);
    Wanted both = relative(0.25);
    both.error95 = 5;
    EXPECT_DOUBLE_EQ(wanted_stddev(both, 100, 50, 60), 60);
    EXPECT_DOUBLE_EQ(wanted_stddev(both, 100, 50, 0), 40);
    EXPECT_DOUBLE_EQ(wanted_stddev(absolute(0), 100, 50, -1), 0);
}

TEST(Refinement, WhereToLookNext) {
    const Rho ceiling = rho("0.02");
    EXPECT_EQ(first_rho(ceiling), rho("0.000001"));
    EXPECT_EQ(first_rho(rho("0.0000003")), rho("0.0000003"));
    EXPECT_EQ(next_rho(rho("0.000001"), ceiling, 10, 5), rho("0.000004"));
    EXPECT_EQ(next_rho(rho("0.000001"), ceiling, 10, 9.9), rho("0.000001189207116")); // 2^(1/4), up
    EXPECT_EQ(next_rho(rho("0.000001"), ceiling, 1, 1e9), rho("0.000001189207116"));
    EXPECT_EQ(next_rho(rho("0.01"), ceiling, 10, 5), ceiling);
    EXPECT_EQ(next_rho(ceiling, ceiling, 10, 5), ceiling);
    for (double wanted : {0.0, -1.0, 1e-300, nan_}) // never, or beyond all numbers
        EXPECT_EQ(next_rho(rho("0.000001"), ceiling, 10, wanted), ceiling) << wanted;
    EXPECT_EQ(next_rho(rho("0.000001"), ceiling, 0, 0), ceiling);
    // What rounding has left of a ceiling is no step.
    EXPECT_EQ(next_rho(rho("0.01999"), ceiling, 10, 5), rho("0.01999"));
    EXPECT_EQ(next_rho(rho("0.01997"), ceiling, 10, 5), ceiling);
    EXPECT_EQ(next_rho(rho("0.03"), ceiling, 10, 5), rho("0.03")); // a ceiling that has come down
    // It grows by a unit at least, so that rounds end.
    for (std::int64_t units : {1, 2, 3, 1000, 1000000000})
        EXPECT_GT(next_rho(Rho::from_units(units), ceiling, 1, 1e300), Rho::from_units(units));
}

// ---- An error that is known in advance ----

LeafNoise leaf(const std::vector<MeasureKind> &kinds, const std::vector<std::uint64_t> &sensitivities) {
    LeafNoise result;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        Measure measure;
        measure.kind = kinds[i];
        measure.argument = kinds[i] == MeasureKind::count ? -1 : static_cast<int>(i);
        measure.sensitivity = sensitivities[i];
        result.measures.push_back(measure);
    }
    return result;
}

Suffices at_most(double halfwidth) {
    return [=](const ReleasePlan &plan) {
        for (const MeasureNoise &noise : plan.noise)
            if (noise.halfwidth(0.05) > halfwidth)
                return false;
        return true;
    };
}

// The price found suffices, a unit less does not.
TEST(Refinement, TheSmallestEpsilonForAnError) {
    const LeafNoise count = leaf({MeasureKind::count}, {1}),
                    two = leaf({MeasureKind::count, MeasureKind::sum}, {1, 100});
    for (double h : {0.0, 1.0, 2.0, 29.0, 30.0, 59.0, 60.0, 1000.0, 1e6})
        for (const LeafNoise &l : {count, two})
            for (const auto &[mechanism, delta] :
                 {std::pair(Mechanism::laplace, Delta()), std::pair(Mechanism::gaussian, del("1e-6"))}) {
                const auto good = [&](Epsilon e) {
                    return at_most(h)(plan_release(mechanism, l.measures, false, e, delta));
                };
                const std::optional<Epsilon> e =
                    epsilon_for_error(mechanism, l, delta, Epsilon(), eps("100"), at_most(h));
                if (!e) { // a sum moves by 100 and shall be right to 0 or 1: not at 100
                    EXPECT_FALSE(good(eps("100"))) << h;
                    continue;
                }
                EXPECT_TRUE(good(*e)) << h;
                if (*e > Epsilon::from_units(1)) {
                    EXPECT_FALSE(good(*e - Epsilon::from_units(1))) << h << " " << e->text();
                }
            }
    // One unit less, and the half-width of a count is 61 (8.7).
    EXPECT_EQ(epsilon_for_error(Mechanism::laplace, count, Delta(), Epsilon(), eps("100"), at_most(60)),
              eps("0.049511172"));
    EXPECT_EQ(epsilon_for_error(Mechanism::laplace, count, Delta(), eps("0.1"), eps("100"), at_most(60)), eps("0.1"));
    EXPECT_EQ(epsilon_for_error(Mechanism::laplace, count, Delta(), Epsilon(), eps("0.04"), at_most(60)), std::nullopt);
    EXPECT_EQ(epsilon_for_error(Mechanism::laplace, count, Delta(), eps("2"), eps("1"), at_most(60)), std::nullopt);
    EXPECT_EQ(epsilon_for_error(Mechanism::laplace, count, Delta(), Epsilon(), eps("100"), at_most(1e300)),
              Epsilon::from_units(1));
}

TEST(Refinement, TheSmallestRhoForAnError) {
    LeafNoise discovered = leaf({MeasureKind::count}, {1});
    discovered.measures[0].argument = discovered.measures[0].filter = -1;
    discovered.thresholded = true;
    for (double h : {0.0, 1.0, 30.0, 60.0, 1000.0, 1e7})
        for (const LeafNoise &l : {leaf({MeasureKind::count}, {1}),
                                   leaf({MeasureKind::sum, MeasureKind::pair}, {7, 1U << 30U}), discovered}) {
            const Suffices good = at_most(l.measures.size() > 1 ? h * 1e9 : h);
            const Delta delta = l.thresholded ? del("1e-6") : Delta();
            const std::optional<Rho> r = rho_for_error(l, delta, Rho(), rho("1000"), good);
            ASSERT_TRUE(r.has_value() || h == 0) << h;
            if (!r)
                continue;
            const auto plan = [&](Rho x) { return plan_measurement(l.measures, l.thresholded, x, delta); };
            EXPECT_TRUE(good(plan(*r))) << h;
            EXPECT_LE(plan(*r).rho(), *r);
            if (*r > least_rho(l.measures.size())) {
                EXPECT_FALSE(good(plan(*r - Rho::from_units(1)))) << h << " " << r->text();
            }
            EXPECT_EQ(plan(*r).threshold.has_value(), l.thresholded);
            EXPECT_EQ(plan(*r).delta, delta);
        }
    EXPECT_EQ(rho_for_error(leaf({MeasureKind::count}, {1}), Delta(), Rho(), rho("0.0001"), at_most(30)), std::nullopt);
}

// ---- Gaussian noise of the price of Laplace noise ----

// V(v), the variance of the discrete Gaussian law of parameter v, and 2 sinh(a) V(1/(2a)) >= 1, V(v)/v grows: what makes noise
// of rho <= epsilon meet a tau that Laplace noise of epsilon meets (6.5).
TEST(Refinement, GaussianNoiseOfTheSamePriceMeetsTheSameTau) {
    const auto variance = [](double v) {
        long double weight = 1, moment = 0;
        for (long z = 1; z < 40 * std::sqrt(v) + 20; ++z) {
            const long double w = 2 * std::exp(-static_cast<long double>(z) * z / (2 * static_cast<long double>(v)));
            weight += w;
            moment += w * z * z;
        }
        return moment / weight;
    };
    long double last = 0;
    for (double a = 50; a >= 1e-6; a /= 1.01) {
        const double v = 1 / (2 * a);
        const long double share = variance(v) / v;
        EXPECT_GE(2 * std::sinh(static_cast<long double>(a)) * variance(v), 1 - 1e-15L) << a;
        EXPECT_GE(share, last - 1e-15L) << v;
        EXPECT_LE(share, 1 + 1e-15L);
        last = share;
    }
    for (std::int64_t units : {1LL, 1000LL, 50000000LL, 1000000000LL, 7300000000LL, 30000000000LL})
        EXPECT_LE(rho_of_pure(Epsilon::from_units(units)).units(), int128{units} * 1000000);
}

// ---- Whole rounds ----

// The noise of a round never costs more than its ceiling, and the steps add up.
TEST(Rounds, StayBelowTheirCeiling) {
    Bits bits(11);
    std::mt19937_64 random(12);
    const std::vector<std::uint64_t> sensitivities{1, 3, 1ULL << 50U};
    for (int i = 0; i < 400; ++i) {
        rounds::Sums sums;
        sums.sensitivities.assign(sensitivities.begin(), sensitivities.begin() + 1 + i % 3);
        for (std::size_t k = 0; k < sums.sensitivities.size() * (1 + i % 2); ++k)
            sums.exact.push_back(std::vector<std::int64_t>{0, 20, -20, 1000, -(1LL << 50), 1LL << 62}[random() % 6]);
        Wanted wanted = i % 4 == 0 ? absolute(30) : relative(0.05 + 0.9 * (i % 7) / 7, 1 + i % 3);
        const Rho ceiling =
            Rho::from_units(static_cast<int128>(std::exp(std::log(1e17) * (random() % 1000) / 1000)) + 4);
        rounds::GaussianRound gaussian(sums, wanted, ceiling);
        const bool reached = rounds::run(gaussian, bits, rho("1000"));
        EXPECT_LE(gaussian.paid(), ceiling);
        EXPECT_TRUE(reached || (ceiling - gaussian.paid()).value() <= gaussian.paid().value() / 1000 + 1e-14);
        EXPECT_EQ(reached, rounds::all_accurate(wanted, gaussian.seen()));

        const Epsilon most =
            Epsilon::from_units(1 + static_cast<int128>(std::exp(std::log(1e11) * (random() % 1000) / 1001)));
        rounds::LaplaceRound laplace(sums, wanted, most);
        Epsilon steps;
        for (;;) {
            const Epsilon increment = laplace.finished() ? Epsilon() : laplace.increment();
            if (!laplace.step(bits, eps("1000")))
                break;
            EXPECT_GT(increment, Epsilon());
            steps = steps + increment;
            EXPECT_EQ(steps, laplace.paid());
        }
        EXPECT_EQ(laplace.paid(), laplace.grid().epsilon(laplace.point()));
        EXPECT_TRUE(laplace.reached() || laplace.paid() == most);
        EXPECT_LE(laplace.paid(), most);
    }
}

// A round that nobody pays for ends with what was paid.
TEST(Rounds, EndWhereNobodyPays) {
    Bits bits(13);
    rounds::GaussianRound gaussian(rounds::count(20), relative(0.01), rho("1"));
    EXPECT_FALSE(rounds::run(gaussian, bits, rho("0.001")));
    EXPECT_GT(gaussian.paid(), Rho());
    EXPECT_LE(gaussian.paid(), rho("0.001"));
    rounds::GaussianRound nothing(rounds::count(20), relative(0.01), rho("1"));
    EXPECT_FALSE(rounds::run(nothing, bits, rho("0.0000001")));
    EXPECT_EQ(nothing.steps(), 0);
    rounds::LaplaceRound laplace(rounds::count(20), relative(0.01), eps("1"));
    EXPECT_FALSE(rounds::run(laplace, bits, eps("0.2")));
    EXPECT_GT(laplace.paid(), Epsilon());
    EXPECT_LE(laplace.paid(), eps("0.2"));
}

// Looking costs few charges: about nine for a count that needs a hundredth of the ceiling.
TEST(Rounds, TakeFewSteps) {
    Bits bits(14);
    double gaussian = 0, laplace = 0;
    constexpr int runs = 300;
    for (int i = 0; i < runs; ++i) {
        rounds::GaussianRound g(rounds::count(700), relative(0.1), rho("1"));
        EXPECT_TRUE(rounds::run(g, bits, rho("1")));
        gaussian += g.steps();
        rounds::LaplaceRound l(rounds::count(700), relative(0.1), eps("1"));
        EXPECT_TRUE(rounds::run(l, bits, eps("1")));
        laplace += l.steps();
    }
    EXPECT_LT(gaussian / runs, 10);
    EXPECT_LT(laplace / runs, 10);
}

} // namespace
