// Totals in rho: every rounding goes to the safe side, the filter accepts what 5.4 says and nothing else, epochs come to what they
// promised (formulas.md 5.3 to 5.6).

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include "reference.hpp"

#include "privacy/candidate_range.hpp"
#include "privacy/epoch.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/risk.hpp"
#include "privacy/charged_steps.hpp"

namespace {

using namespace dp::privacy;
using reference::Case;
using reference::json;
using Real = boost::multiprecision::cpp_bin_float_100;

Epsilon eps(const char *text) {
    return Epsilon::parse(text).value();
}
Delta del(const char *text) {
    return Delta::parse(text).value();
}
Rho rho(const char *text) {
    return Rho::parse(text).value();
}
Rho rho_up(double x) {
    return Rho::from_double(x, Rounding::up);
}
template <int Places> Real real(Decimal<Places> x) {
    return Real(x.text());
}

// ---- Reference cases ----

TEST(Zcdp, RhoOfPure) {
    reference::each("rho_from_pure_eps", [](const Case &c) {
        const double rho = rho_of_pure(Epsilon::parse(reference::text(c.arg("eps"))).value()).value();
        c.field(rho, "rho_tight");
        EXPECT_LE(rho, reference::number(c.expect("rho_bun_steinke")));
    });
}

TEST(Zcdp, Caps) {
    reference::each("rho_cap", [](const Case &c) {
        const Epsilon e = Epsilon::parse(reference::text(c.arg("eps"))).value();
        const Delta d = Delta::parse(reference::text(c.arg("delta"))).value();
        c.field(rho_cap(e, d, Cap::classic).value(), "classic");
        c.field(rho_cap(e, d, Cap::tight).value(), "tight");
    });
    reference::each("eps_from_rho", [](const Case &c) {
        const Delta d = Delta::parse(reference::text(c.arg("delta"))).value();
        c.field(eps_from_rho(rho_up(reference::number(c.arg("rho"))), d).value(), "tight");
    });
}

TEST(Zcdp, BoundsAtAllTimes) {
    reference::each("zcdp_odometer", [](const Case &c) {
        const Rho v = rho_up(reference::number(c.arg("rho_total"))),
                  target = rho_up(reference::number(c.arg("rho_target")));
        const Delta d = Delta::parse(reference::text(c.arg("delta"))).value();
        // Both hold at once where each has half of delta.
        EXPECT_NEAR(eps_anytime(v, d + d, target).value(),
                    std::min(reference::number(c.expect("linear")), reference::number(c.expect("mixture"))), 2e-9);
    });
}

// A Brownian round of l2 sensitivity D and variance t is a charge of D^2/(2t): its ex-post bounds are those of the odometer.
// Each is at least the smaller of the two, and some of each kind are that.
TEST(Zcdp, BrownianBoundsAreTheOdometers) {
    int reached = 0;
    const auto smallest = [&](Rho v, const Case &c, Rho target, double bound, double rounding) {
        const Delta d = Delta::parse(reference::text(c.arg("delta"))).value();
        const double anytime = eps_anytime(v, d + d, target).value();
        EXPECT_LE(anytime, bound + rounding) << c.id();
        reached += anytime >= bound - rounding;
    };
    reference::each("bm_expost_linear", [&](const Case &c) {
        const double d2 = std::pow(reference::number(c.arg("delta2")), 2);
        const Rho v = rho_up(d2 / (2 * reference::number(c.arg("noise_variance"))));
        const Rho target = rho_up(d2 / (2 * reference::number(c.arg("tuned_at_variance"))));
        smallest(v, c, target, reference::number(c.expect("eps")), 2e-9);
        EXPECT_NEAR(v.value(), reference::number(c.expect("rho")), 1e-14);
    });
    EXPECT_GT(std::exchange(reached, 0), 0);
    reference::each("bm_expost_mixture", [&](const Case &c) {
        const double d2 = std::pow(reference::number(c.arg("delta2")), 2);
        const double two_l = -2 * std::log(reference::number(c.arg("delta")));
        const Rho target = rho_up(d2 * reference::number(c.arg("gamma")) * (two_l + std::log(1 + two_l)) / 2);
        const Rho v = rho_up(d2 / (2 * reference::number(c.arg("noise_variance"))));
        smallest(v, c, target, reference::number(c.expect()), 1e-8);
    });
    EXPECT_GT(reached, 0);
}

// ---- Rounding: against 100 digits ----

// Arithmetic of the core alone: sanitizers have seen all of it after a few.
#ifdef __SANITIZE_ADDRESS__
constexpr int epsilons = 5000;
#else
constexpr int epsilons = 100000;
#endif

TEST(Zcdp, ChargesOfPureNoiseAreNeverBelowTheirValue) {
    std::mt19937_64 random(1);
    int below_in_doubles = 0;
    const auto check = [&](std::int64_t units) {
        const Epsilon e = Epsilon::from_units(units);
        const Real exact = real(e) * tanh(real(e) / 2) * Real("1e15");
        const Real charged(rho_of_pure(e).text() + "e15");
        ASSERT_GE(charged, exact) << e.text();
        ASSERT_LT(charged, exact + 2) << e.text();
        below_in_doubles += Real(Rho::from_double(e.value() * std::tanh(0.5 * e.value()), Rounding::up).text() + "e15") < exact;
    };
    for (int i = 0; i < epsilons; ++i) {
        const double scale = std::pow(10, std::uniform_real_distribution<>(0, 11)(random));
        check(std::max<std::int64_t>(1, std::llround(scale)));
    }
    for (std::int64_t units : {1LL, 2LL, 31622776LL, 5862044899LL, 99999999999LL, 100000000000LL})
        check(units);
    EXPECT_GT(below_in_doubles, 0) << "doubles would have done";
    EXPECT_EQ(rho_of_pure(eps("0.000000001")), Rho::from_units(1)); // of 5e-19
    EXPECT_EQ(rho_of_pure(Epsilon()), Rho());
    EXPECT_THROW(rho_of_pure(eps("100.000000001")), std::out_of_range);
    EXPECT_THROW(rho_of_pure(eps("-0.1")), std::out_of_range);
}

TEST(Zcdp, PureChargesGrow) {
    Rho last;
    for (std::int64_t units = 1; units <= 100000000000; units += units / 50 + 1) {
        const Rho now = rho_of_pure(Epsilon::from_units(units));
        ASSERT_GE(now, last);
        last = now;
    }
}

Real conversion(const Real &order, const Real &r, const Real &log_inverse) {
    return (1 + order) * r - log(1 + 1 / order) + (log_inverse - log(1 + order)) / order;
}

// Smallest over the orders, found by a search of its own: a grid in doubles, then golden section in 100 digits.
Real converted(Rho r, Delta d) {
    const Real l = -log(real(d));
    const double r_double = r.value(), l_double = l.convert_to<double>();
    const auto value = [&](double t) {
        const double order = std::exp(t);
        return (1 + order) * r_double - std::log1p(1 / order) + (l_double - std::log1p(order)) / order;
    };
    double best = -36;
    for (double t = -36; t < 48; t += 0.01)
        best = value(t) < value(best) ? t : best;
    Real low = best - 0.05, high = best + 0.05;
    const Real ratio = (sqrt(Real(5)) - 1) / 2;
    for (int i = 0; i < 40; ++i) {
        const Real left = high - ratio * (high - low), right = low + ratio * (high - low);
        const bool falls = conversion(exp(left), real(r), l) > conversion(exp(right), real(r), l);
        (falls ? low : high) = falls ? left : right;
    }
    return conversion(exp((low + high) / 2), real(r), l);
}

struct Pair {
    const char *epsilon, *delta;
};
const Pair pairs[] = {{"1", "5e-7"},    {"0.05", "1e-9"},     {"10", "1e-6"},      {"100", "1e-3"},
                      {"0.001", "0.5"}, {"20000", "1e-30"},   {"99999999", "0.9"}, {"0.000000001", "1e-6"},
                      {"3", "1e-30"},   {"1", "0.999999999"}, {"0.7", "1e-12"}};

TEST(Zcdp, CapsAreNeverAboveTheirValue) {
    for (const Pair &p : pairs) {
        SCOPED_TRACE(std::string(p.epsilon) + ", " + p.delta);
        const Epsilon e = eps(p.epsilon);
        const Delta d = del(p.delta);
        const Rho classic = rho_cap(e, d, Cap::classic), tight = rho_cap(e, d, Cap::tight);
        EXPECT_LE(classic, tight);
        const Real l = -log(real(d)), root = sqrt(l + real(e)) - sqrt(l);
        EXPECT_LE(real(classic), root * root);
        EXPECT_GT(real(classic) + Real("2e-15"), root * root);
        // At the cap some order gives at most epsilon, a little above it none does.
        EXPECT_LE(converted(tight, d), real(e));
        const Rho above = Rho::from_units(tight.units() + tight.units() / 1000000 + 3);
        EXPECT_GT(converted(above, d), real(e));
        // And back: rounded up, and not far.
        EXPECT_LE(eps_from_rho(tight, d), Epsilon::from_units(e.units() + 1));
        EXPECT_GE(real(eps_from_rho(tight, d)), converted(tight, d));
    }
}

TEST(Zcdp, CapsOfNothingAllowNothing) {
    EXPECT_EQ(rho_cap(Epsilon(), del("1e-6"), Cap::tight), Rho());
    EXPECT_EQ(rho_cap(Epsilon(), del("1e-6"), Cap::classic), Rho());
    EXPECT_EQ(rho_cap(eps("0.000000001"), del("1e-30"), Cap::classic), Rho());
    EXPECT_THROW(rho_cap(eps("1"), Delta(), Cap::tight), std::out_of_range);
    EXPECT_THROW(rho_cap(eps("1"), del("-1e-6"), Cap::tight), std::out_of_range);
    EXPECT_EQ(eps_from_rho(Rho(), del("1e-6")), Epsilon());
    EXPECT_EQ(eps_anytime(Rho(), del("1e-6"), rho("0.02")), Epsilon());
    EXPECT_THROW(eps_anytime(rho("0.1"), del("1e-6"), Rho()), std::out_of_range);
}

// The bound at all times is above the one for an end planned in advance, and grows.
TEST(Zcdp, AtAllTimesCostsMore) {
    const Rho target = rho_cap(eps("1"), del("1e-6"), Cap::tight);
    Epsilon last;
    for (std::int64_t units = 1; units < 1000000000000000; units = units * 3 + 1) {
        const Rho v = Rho::from_units(units);
        const Epsilon anytime = eps_anytime(v, del("1e-6"), target);
        EXPECT_GE(anytime, eps_from_rho(v, del("1e-6")));
        EXPECT_GE(anytime, last);
        last = anytime;
    }
}

// ---- The filter ----

BoundSettings zcdp(const char *total, const char *conversion, const char *mechanisms, Cap cap = Cap::tight,
                   const char *pure = "0") {
    BoundSettings bound;
    bound.bound = Bound::zcdp;
    bound.epsilon_total = eps(total);
    bound.delta_conversion = del(conversion);
    bound.delta_total = bound.delta_conversion + del(mechanisms);
    bound.cap = cap;
    bound.epsilon_pure = eps(pure);
    bound.rho_total = rho_cap(*bound.epsilon_total - bound.epsilon_pure, bound.delta_conversion, cap);
    return bound;
}

BoundSettings without_total(const char *conversion, const char *mechanisms) {
    BoundSettings bound = zcdp("1", conversion, mechanisms);
    bound.rho_target = bound.rho_total;
    bound.rho_total = Rho();
    bound.epsilon_total.reset();
    return bound;
}

Cost laplace(const char *epsilon, const char *groups = "0") {
    Cost cost;
    cost.epsilon = eps(epsilon);
    cost.delta = cost.groups = del(groups);
    cost.rho = rho_of_pure(cost.epsilon);
    return cost;
}

Cost gaussian(const char *in_rho, const char *groups = "0") {
    Cost cost;
    cost.epsilon = eps("1");
    cost.delta = del("1e-3"); // its noise's: not charged
    cost.groups = del(groups);
    cost.rho = rho(in_rho);
    cost.pure = false;
    return cost;
}

// Charges what fits.
bool charge(Totals *totals, const Cost &cost, const BoundSettings &bound, Account account = Account::public_account) {
    if (fit(cost, account, bound, *totals, {}, std::nullopt) != Denial::none)
        return false;
    add(&totals->of(account), cost, bound.basis_of(cost.pure));
    return true;
}

BoundSettings bound_of(const Case &c, Cap cap) {
    return zcdp(reference::text(c.arg("eps_global")).c_str(), reference::text(c.arg("delta_conversion")).c_str(),
                reference::text(c.arg("delta_mechanisms")).c_str(), cap);
}

Cost cost_of(const json &step, bool basic_rule) {
    Cost cost = step.contains("eps") ? laplace(reference::text(step.at("eps")).c_str())
                                     : gaussian(reference::text(step.at("rho")).c_str());
    cost.pure = cost.pure && basic_rule;
    if (step.contains("delta"))
        cost.groups = del(reference::text(step.at("delta")).c_str());
    return cost;
}

void check_filter(const Case &c, Cap cap, bool basic_rule) {
    const BoundSettings bound = bound_of(c, cap);
    EXPECT_NEAR(bound.rho_total.value(), reference::number(c.expect("rho_cap")), 1e-7);
    Totals totals;
    const json &steps = c.expect("steps");
    for (std::size_t i = 0; i < steps.size(); ++i) {
        SCOPED_TRACE("step " + std::to_string(i));
        EXPECT_EQ(charge(&totals, cost_of(c.arg("sequence").at(i), basic_rule), bound),
                  steps.at(i).at("accepted").get<bool>());
        EXPECT_NEAR(totals.of_public.rho.value(), reference::number(steps.at(i).at("rho_total")), 1e-13);
        if (steps.at(i).contains("delta_total")) {
            EXPECT_NEAR(totals.of_public.delta.value(), reference::number(steps.at(i).at("delta_total")), 1e-20);
        }
        const double eps_total = basic_rule ? reference::number(steps.at(i).at("eps_total")) : 0;
        if (basic_rule && std::isfinite(eps_total) && !totals.of_public.rho_only) {
            EXPECT_NEAR(totals.of_public.pure.value(), eps_total, 1e-9);
        }
    }
}

TEST(ZcdpFilter, Reference) {
    reference::each("zcdp_filter", [](const Case &c) {
        check_filter(c, cap_from_name(c.arg("cap").get<std::string>()).value(), false);
    });
    reference::each("ledger_basic_or_zcdp", [](const Case &c) { check_filter(c, Cap::classic, true); });
}

TEST(ZcdpFilter, TheLastUnitDecides) {
    const BoundSettings bound = zcdp("1", "5e-7", "5e-7");
    for (int off : {-1, 0, 1}) {
        Totals totals;
        totals.of_public.rho = bound.rho_total - rho("0.001") + Rho::from_units(off);
        totals.of_public.rho_only = true;
        EXPECT_EQ(charge(&totals, gaussian("0.001"), bound), off <= 0) << off;
    }
    for (int off : {-1, 0, 1}) {
        Totals totals;
        totals.of_public.delta = totals.of_public.delta_before = del("0.25"); // of earlier epochs
        totals.of_public.delta = totals.of_public.delta + del("4e-7") + Delta::from_units(off);
        EXPECT_EQ(charge(&totals, laplace("0.01", "1e-7"), bound), off <= 0) << off;
    }
}

// One charge in rho alone ends the basic rule; charges in epsilon alone go on to the total.
TEST(ZcdpFilter, BasicRuleOnlyWhereEveryChargeIsPure) {
    const BoundSettings bound = zcdp("1", "5e-7", "5e-7");
    Totals totals;
    for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(charge(&totals, laplace("0.25"), bound));
    EXPECT_GT(totals.of_public.rho, bound.rho_total);
    EXPECT_FALSE(charge(&totals, laplace("0.000000001"), bound));
    EXPECT_FALSE(charge(&totals, gaussian("0.000000000000001"), bound));
    Totals mixed;
    EXPECT_TRUE(charge(&mixed, gaussian("0.000000000000001"), bound));
    EXPECT_FALSE(charge(&mixed, laplace("0.25"), bound));
    EXPECT_TRUE(charge(&mixed, laplace("0.1"), bound));
}

// Beside a promise about attacks there is no basic rule: of 0.0128 an epsilon of 1 has 20 counts of 0.05 by the basic rule, and 10 by their rho.
TEST(ZcdpFilter, PromisesAboutAttacksAreInRhoAlone) {
    BoundSettings bound = zcdp("1", "1e-6", "0");
    bound.rho_total = rho("0.0128");
    for (const bool promise : {false, true}) {
        bound.rho_alone = promise;
        Totals totals;
        int n = 0;
        while (charge(&totals, laplace("0.05"), bound))
            n++;
        EXPECT_EQ(n, promise ? 10 : 20);
    }
}

// What a total of 1, 3, 10 answers at tau = 0.95, half of 1e-6 or all of it being for the conversion.
TEST(ZcdpFilter, HowManyAnswers) {
    const Epsilon price =
        largest_candidate(paper_candidates(), within_domain_eps_star(0.95, 1, 1, 1), price_slack).value();
    const auto answers = [&](const char *total) {
        const BoundSettings bound = zcdp(total, "1e-6", "0");
        Totals totals;
        int answered = 0;
        while (charge(&totals, laplace(price.text().c_str()), bound))
            ++answered;
        return answered;
    };
    EXPECT_EQ(answers("1"), 20);
    EXPECT_EQ(answers("3"), 148);
    EXPECT_EQ(answers("10"), 1231);
}

TEST(ZcdpFilter, ATotalOfItsOwnForPureNoise) {
    const BoundSettings bound = zcdp("3", "5e-7", "5e-7", Cap::tight, "1");
    EXPECT_EQ(bound.rho_total, rho_cap(eps("2"), del("5e-7"), Cap::tight));
    Totals totals;
    EXPECT_TRUE(charge(&totals, laplace("0.6"), bound));
    EXPECT_FALSE(charge(&totals, laplace("0.400000001"), bound));
    EXPECT_TRUE(charge(&totals, laplace("0.4"), bound));
    EXPECT_EQ(totals.of_public.epsilon, eps("1"));
    EXPECT_EQ(totals.of_public.rho, Rho());
    Cost most = gaussian("0.01");
    most.rho = bound.rho_total;
    EXPECT_TRUE(charge(&totals, most, bound));
    EXPECT_FALSE(charge(&totals, gaussian("0.000000000000001"), bound));
    // No basic rule: pure charges have nothing of the other total.
    Totals spent;
    spent.of_public.epsilon = spent.of_public.epsilon_before = eps("50");
    EXPECT_TRUE(charge(&spent, laplace("1"), bound));
    EXPECT_FALSE(charge(&spent, laplace("0.000000001"), bound));
}

TEST(ZcdpFilter, WithoutATotalOnlyDeltaBinds) {
    const BoundSettings bound = without_total("5e-7", "5e-7");
    Totals totals;
    for (int i = 0; i < 50; ++i)
        EXPECT_TRUE(charge(&totals, gaussian("10"), bound));
    EXPECT_TRUE(charge(&totals, laplace("1", "5e-7"), bound));
    EXPECT_FALSE(charge(&totals, laplace("1", "1e-30"), bound));
    EXPECT_TRUE(charge(&totals, laplace("1"), bound));
}

// Only d_groups is charged: the delta of the noise has fixed its sigma, and rho says the rest.
TEST(ZcdpFilter, TheDeltaOfNoiseIsNotCharged) {
    const BoundSettings bound = zcdp("3", "5e-7", "5e-7");
    Totals totals;
    EXPECT_TRUE(charge(&totals, gaussian("0.001"), bound));
    EXPECT_EQ(totals.of_public.delta, Delta());
    EXPECT_TRUE(charge(&totals, gaussian("0.001", "2e-7"), bound));
    EXPECT_EQ(totals.of_public.delta, del("2e-7"));
    EXPECT_FALSE(charge(&totals, gaussian("0.001", "3.1e-7"), bound));
}

// ---- Shares ----

Denial with_share(const Cost &cost, const BoundSettings &bound, const Spent &role, const char *share) {
    Totals roles;
    roles.of_public = role;
    return fit(cost, Account::public_account, bound, {}, roles, eps(share));
}

TEST(ZcdpFilter, SharesAreTheSameTest) {
    const BoundSettings bound = zcdp("10", "5e-7", "5e-7");
    const Rho cap = rho_cap(eps("0.5"), del("5e-7"), Cap::tight);
    Spent role;
    role.pure = eps("0.4");
    role.rho = rho("9"); // far above the cap
    EXPECT_EQ(with_share(laplace("0.1"), bound, role, "0.5"), Denial::none);
    EXPECT_EQ(with_share(laplace("0.100000001"), bound, role, "0.5"), Denial::role_share);
    EXPECT_EQ(with_share(gaussian("0.000000000000001"), bound, role, "0.5"), Denial::role_share);
    role.rho = cap - rho("0.001");
    EXPECT_EQ(with_share(gaussian("0.001"), bound, role, "0.5"), Denial::none);
    EXPECT_EQ(with_share(gaussian("0.001000000000001"), bound, role, "0.5"), Denial::role_share);
    role.pure = eps("5");
    EXPECT_EQ(with_share(laplace("0.01"), bound, role, "0.5"), Denial::none); // by the cap
    role.rho_only = true;
    role.pure = {};
    role.rho = cap;
    EXPECT_EQ(with_share(laplace("0.000000001"), bound, role, "0.5"), Denial::role_share);
    EXPECT_EQ(with_share(laplace("0.000000001"), bound, {}, "0"), Denial::role_share);
    // An epsilon that the role was charged before counts where charges are in epsilon, and nowhere else.
    role = {};
    role.epsilon = eps("0.5");
    EXPECT_EQ(with_share(laplace("0.5"), bound, role, "0.5"), Denial::none);
    EXPECT_EQ(with_share(laplace("0.1"), zcdp("10", "5e-7", "5e-7", Cap::tight, "1"), role, "0.5"), Denial::role_share);
}

// Who grants a share looks at what the role was charged; a charge that was under way then must not give it the share twice.
TEST(ZcdpFilter, AShareIsOfOneSumAlone) {
    const BoundSettings bound = zcdp("10", "5e-7", "5e-7", Cap::tight, "5");
    Spent role;
    add(&role, laplace("0.1"), Basis::epsilon);
    EXPECT_EQ(with_share(laplace("0.1"), bound, role, "0.5"), Denial::none);
    EXPECT_EQ(with_share(gaussian("0.000000000000001"), bound, role, "0.5"), Denial::role_share);
    role.begin_epoch(); // it is over with the epoch
    EXPECT_EQ(with_share(gaussian("0.000000000000001"), bound, role, "0.5"), Denial::none);
    add(&role, gaussian("0.000000000000001"), Basis::rho);
    EXPECT_EQ(with_share(gaussian("0.001"), bound, role, "0.5"), Denial::none);
    EXPECT_EQ(with_share(laplace("0.1"), bound, role, "0.5"), Denial::role_share);
}

// ---- Steps of rounds ----

Step step_of(const char *epsilon, const char *before) {
    Step step;
    step.is_step = true;
    step.epsilon = eps(epsilon);
    step.before = eps(before);
    step.increment = step.before.units() > 0;
    return step;
}

// The parts of a round in rho are those of the whole: alone, the rho of each would make less.
TEST(Steps, LaplaceStepsComeToTheRhoOfTheWhole) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 500; ++round) {
        Cost sum;
        Rho alone;
        for (int i = 0; i < 8; ++i) {
            Step step;
            step.before = sum.epsilon;
            step.epsilon = Epsilon::from_units(std::uniform_int_distribution<std::int64_t>(1, 300000000)(random));
            const Cost cost = cost_of_step(step, Delta());
            EXPECT_TRUE(cost.pure);
            EXPECT_GT(cost.rho, Rho());
            alone = alone + rho_of_pure(step.epsilon);
            sum.rho = sum.rho + cost.rho;
            sum.epsilon = sum.epsilon + cost.epsilon;
        }
        ASSERT_EQ(sum.rho, rho_of_pure(sum.epsilon));
        ASSERT_LT(alone, sum.rho);
    }
}

TEST(Steps, InRhoTheyAreNeverPure) {
    Step step;
    step.basis = Basis::rho;
    step.rho = rho("0.001");
    const Cost cost = cost_of_step(step, del("1e-7"));
    EXPECT_FALSE(cost.pure);
    EXPECT_EQ(cost.epsilon, Epsilon());
    EXPECT_EQ(cost.rho, rho("0.001"));
    EXPECT_EQ(cost.charged(Basis::rho), del("1e-7"));
    Totals totals;
    EXPECT_TRUE(charge(&totals, cost, zcdp("1", "5e-7", "5e-7")));
    EXPECT_TRUE(totals.of_public.rho_only);
    EXPECT_EQ(totals.of_public.pure, Epsilon());
}

TEST(Steps, AlwaysCostSomething) {
    Step step;
    EXPECT_THROW(cost_of_step(step, Delta()), InvalidParameter);
    step.epsilon = Epsilon::from_units(-1);
    step.rho = rho("1");
    EXPECT_THROW(cost_of_step(step, Delta()), InvalidParameter);
    step.basis = Basis::rho;
    EXPECT_NO_THROW(cost_of_step(step, Delta()));
    step.rho = Rho::from_units(-1);
    EXPECT_THROW(cost_of_step(step, Delta()), InvalidParameter);
}

TEST(Steps, AreChargedOnTheBasisOfTheBound) {
    BoundSettings bound;
    bound.epsilon_total = eps("1");
    const auto takes = [&] { return std::pair(takes_steps(bound, Basis::epsilon), takes_steps(bound, Basis::rho)); };
    for (Bound in_epsilon : {Bound::filter, Bound::none}) {
        bound.bound = in_epsilon;
        EXPECT_EQ(takes(), std::pair(true, false));
    }
    bound.bound = Bound::dynamic;
    EXPECT_EQ(takes(), std::pair(false, false));
    bound = zcdp("3", "5e-7", "5e-7");
    EXPECT_EQ(takes(), std::pair(false, true));
    bound = zcdp("3", "5e-7", "5e-7", Cap::tight, "1");
    EXPECT_EQ(takes(), std::pair(true, true));
    EXPECT_TRUE(takes_steps(without_total("5e-7", "5e-7"), Basis::rho));
}

// A round is paid to the last unit of a total, and no further.
TEST(Steps, FillATotal) {
    BoundSettings bound;
    bound.epsilon_total = eps("0.1");
    Totals totals;
    EXPECT_TRUE(charge(&totals, cost_of_step(step_of("0.06", "0"), Delta()), bound));
    EXPECT_FALSE(charge(&totals, cost_of_step(step_of("0.040000001", "0.06"), Delta()), bound));
    EXPECT_TRUE(charge(&totals, cost_of_step(step_of("0.04", "0.06"), Delta()), bound));
    EXPECT_EQ(totals.of_public.epsilon, eps("0.1"));
}

// ---- Selections ----

TEST(ZcdpFilter, CandidatesAreCutByWhatFitsBesideTheSelection) {
    const BoundSettings bound = zcdp("1", "5e-7", "5e-7");
    SelectionRequest request;
    request.candidates = {eps("1"), eps("0.9"), eps("0.8"), eps("0.1")};
    request.tested = 4;
    request.epsilon_svt = eps("0.1");
    SelectionRange range = cut_candidates(request, bound, {}, {}); // by the basic rule
    EXPECT_EQ(range.denial, Denial::none);
    EXPECT_EQ(range.first, 1u);
    EXPECT_EQ(range.charged, eps("0.1"));
    request.pure = false; // Gaussian: the selection is pure, the release is not
    const Rho left = bound.rho_total - rho_of_pure(eps("0.1"));
    request.rho_of = [&](Epsilon e) { return e == eps("0.8") ? left : left + Rho::from_units(1); };
    request.candidates.pop_back();
    request.tested = 3;
    range = cut_candidates(request, bound, {}, {});
    EXPECT_EQ(range.first, 2u);
    request.rho_of = [&](Epsilon) { return left + Rho::from_units(1); };
    EXPECT_EQ(cut_candidates(request, bound, {}, {}).denial, Denial::no_candidate);
    request.groups = del("5.1e-7");
    EXPECT_EQ(cut_candidates(request, bound, {}, {}).denial, Denial::delta_total);
}

// ---- Random sequences ----

Cost random_cost(std::mt19937_64 &random) {
    const auto up_to = [&](std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(1, n)(random); };
    Cost cost;
    cost.pure = up_to(3) != 1;
    cost.epsilon = Epsilon::from_units(up_to(up_to(2) == 1 ? 100000000 : 900000000));
    cost.rho = cost.pure ? rho_of_pure(cost.epsilon) : Rho::from_units(up_to(3000000000000));
    cost.groups = up_to(4) == 1 ? Delta::from_units(up_to(5)) : Delta();
    cost.delta = cost.groups;
    return cost;
}

BoundSettings random_bound(std::mt19937_64 &random) {
    static const char *const totals[] = {"0.5", "1", "3", "10"};
    const int which = std::uniform_int_distribution<>(0, 3)(random);
    BoundSettings bound = zcdp(totals[which], "1e-6", "0", which % 2 == 0 ? Cap::tight : Cap::classic,
                               std::uniform_int_distribution<>(0, 2)(random) == 0 ? "0.3" : "0");
    bound.delta_total = bound.delta_conversion + Delta::from_units(20);
    return bound;
}

// Accounts that were accepted keep one of the two promises; without requests of the conditional kind, every public decision is the
// same.
TEST(ZcdpFilter, RandomSequences) {
    std::mt19937_64 random(2);
    int accepted = 0, denied = 0;
    for (int sequence = 0; sequence < 10000; ++sequence) {
        const BoundSettings bound = random_bound(random);
        Totals plain, mixed;
        for (int step = 0; step < 12; ++step) {
            const Cost cost = random_cost(random);
            if (std::uniform_int_distribution<>(0, 2)(random) == 0) {
                charge(&mixed, cost, bound, Account::conditional);
                continue;
            }
            const bool one = charge(&plain, cost, bound), other = charge(&mixed, cost, bound);
            ASSERT_EQ(one, other);
            ++(one ? accepted : denied);
            const Spent &spent = plain.of_public;
            ASSERT_LE(spent.delta_of_epoch(), bound.delta_mechanisms());
            if (bound.splits_pure()) {
                ASSERT_LE(spent.rho, bound.rho_total);
                ASSERT_LE(spent.epsilon, bound.epsilon_pure);
            } else
                ASSERT_TRUE(spent.rho <= bound.rho_total || (!spent.rho_only && spent.pure <= *bound.epsilon_total));
        }
    }
    EXPECT_GT(accepted, 20000);
    EXPECT_GT(denied, 20000);
}

// ---- Epochs ----

TEST(Epoch, EndsAtWhatItPromised) {
    Odometer odometer;
    odometer.totals.of_public.epsilon = odometer.totals.of_public.epsilon_before = eps("0.2");
    const BoundSettings one = zcdp("1", "5e-7", "5e-7"), three = zcdp("3", "1e-7", "9e-7");
    EXPECT_FALSE(closing(odometer, Account::public_account)); // nothing was charged
    odometer.claim.raise(three);
    odometer.claim.raise(one);
    add(&odometer.totals.of_public, gaussian("0.01", "3e-7"), Basis::rho);
    // Each of total, delta' and delta'' by itself: the sum of the deltas is above either delta_total.
    const Loss end = closing(odometer, Account::public_account).value();
    EXPECT_EQ(end.epsilon, eps("3"));
    EXPECT_EQ(end.delta, del("11e-7"));
    enter_epoch(&odometer, 7);
    EXPECT_EQ(odometer.epoch, 7);
    EXPECT_EQ(odometer.totals.of_public.epsilon, eps("3.2"));
    EXPECT_EQ(odometer.totals.of_public.delta, del("14e-7"));
    EXPECT_EQ(odometer.totals.of_public.epsilon_of_epoch(), Epsilon());
    EXPECT_EQ(odometer.totals.of_public.rho, Rho());
    EXPECT_FALSE(odometer.totals.of_public.rho_only);
    EXPECT_FALSE(odometer.claim.charged);
    enter_epoch(&odometer, 7); // once
    EXPECT_EQ(odometer.totals.of_public.epsilon, eps("3.2"));
    odometer.claim.raise(one);
    enter_epoch(&odometer, 6); // never back
    EXPECT_EQ(odometer.epoch, 7);
    EXPECT_TRUE(odometer.claim.charged);
}

TEST(Epoch, OfPureChargesEndsAtTheirSum) {
    Odometer odometer;
    odometer.claim.raise(zcdp("3", "5e-7", "5e-7"));
    add(&odometer.totals.of_public, laplace("0.25"), Basis::rho);
    EXPECT_EQ(closing(odometer, Account::public_account)->epsilon, eps("0.25"));
    EXPECT_EQ(closing(odometer, Account::public_account)->delta, del("1e-6"));
    for (int i = 0; i < 20; ++i) // more than the total: the cap has let them pass
        add(&odometer.totals.of_public, laplace("0.25"), Basis::rho);
    EXPECT_EQ(closing(odometer, Account::public_account)->epsilon, eps("3"));
}

TEST(Epoch, WithATotalForPureNoise) {
    Odometer odometer;
    const BoundSettings bound = zcdp("3", "5e-7", "5e-7", Cap::tight, "1");
    odometer.claim.raise(bound);
    add(&odometer.totals.of_public, laplace("0.75", "1e-7"), bound.basis_of(true));
    EXPECT_EQ(closing(odometer, Account::public_account)->epsilon, Epsilon()); // nothing in rho
    add(&odometer.totals.of_public, gaussian("0.01"), bound.basis_of(false));
    EXPECT_EQ(closing(odometer, Account::public_account)->epsilon, eps("2.25"));
    EXPECT_EQ(closing(odometer, Account::public_account)->delta, del("9e-7"));
    enter_epoch(&odometer, 1);
    EXPECT_EQ(odometer.totals.of_public.epsilon, eps("3"));
    EXPECT_EQ(odometer.totals.of_public.delta, del("1e-6"));
}

TEST(Epoch, WithoutATotalEndsAtTheBoundForAllTimes) {
    Odometer odometer;
    const BoundSettings bound = without_total("5e-7", "5e-7");
    odometer.claim.raise(bound);
    add(&odometer.totals.of_public, gaussian("0.2", "2e-7"), Basis::rho);
    const Loss end = closing(odometer, Account::public_account).value();
    EXPECT_EQ(end.epsilon, eps_anytime(rho("0.2"), del("5e-7"), bound.rho_target));
    EXPECT_GT(end.epsilon, eps_from_rho(rho("0.2"), del("5e-7")));
    EXPECT_EQ(end.delta, del("5e-7"));
    EXPECT_EQ(shown_anytime(odometer.totals.of_public, bound, odometer.claim), end.epsilon);
}

// Nothing that an analyst of a DP mode notices follows from the other account: neither its charges nor its claim.
TEST(Epoch, TheConditionalAccountEndsForItself) {
    Odometer odometer;
    odometer.conditional_conversion = del("5e-7");
    add(&odometer.totals.of_conditional, gaussian("0.2"), Basis::rho);
    EXPECT_FALSE(closing(odometer, Account::public_account));
    EXPECT_EQ(closing(odometer, Account::conditional)->epsilon, eps_from_rho(rho("0.2"), del("5e-7")));
    EXPECT_EQ(closing(odometer, Account::conditional)->delta, del("5e-7"));
    enter_epoch(&odometer, 1);
    EXPECT_EQ(odometer.totals.of_public.epsilon, Epsilon());
    EXPECT_GT(odometer.totals.of_conditional.epsilon, Epsilon());
}

TEST(Epoch, Shown) {
    const BoundSettings bound = zcdp("3", "5e-7", "5e-7");
    Spent spent;
    spent.epsilon = spent.epsilon_before = eps("0.5");
    spent.delta = spent.delta_before = del("1e-7");
    EXPECT_EQ(shown(spent, bound).epsilon, eps("0.5"));
    EXPECT_EQ(shown(spent, bound).delta, del("1e-7"));
    add(&spent, laplace("0.25", "2e-7"), Basis::rho);
    EXPECT_EQ(shown(spent, bound).epsilon, eps("0.75")); // the pure sum
    EXPECT_EQ(shown(spent, bound).delta, del("8e-7"));
    add(&spent, gaussian("0.01"), Basis::rho);
    EXPECT_EQ(shown(spent, bound).epsilon, eps("0.5") + eps_from_rho(spent.rho, del("5e-7")));
    EXPECT_GT(shown_anytime(spent, bound, Claim()), shown(spent, bound).epsilon);
}

// What holds at all times is computed from what was fixed at the first charge: a total that is moved later, to nothing or from
// nothing, does not move it. The delta' is that in force, which is shown beside it: not the largest that there was.
TEST(Epoch, WhatHoldsAtAllTimesIsFixedAtTheFirstCharge) {
    BoundSettings bound = zcdp("3", "5e-7", "5e-7");
    Odometer odometer;
    odometer.claim.raise(bound);
    add(&odometer.totals.of_public, gaussian("0.01"), Basis::rho);
    const Epsilon first = shown_anytime(odometer.totals.of_public, bound, odometer.claim);
    EXPECT_EQ(first, eps_anytime(rho("0.01"), del("5e-7"), bound.rho_total));
    bound.epsilon_total = Epsilon();
    bound.rho_total = Rho();
    EXPECT_EQ(shown_anytime(odometer.totals.of_public, bound, odometer.claim), first);
    EXPECT_GT(shown_anytime(odometer.totals.of_public, bound, Claim()), Epsilon()); // the other account has no claim
    // From nothing: the first charge was free of rho's cap by the basic rule.
    BoundSettings tiny = bound;
    odometer.claim = Claim();
    odometer.claim.raise(tiny);
    EXPECT_GT(odometer.claim.target, Rho());
    const Rho target = odometer.claim.target;
    odometer.claim.raise(zcdp("3", "9e-7", "1e-7"));
    EXPECT_EQ(odometer.claim.target, target);
    EXPECT_EQ(shown_anytime(odometer.totals.of_public, tiny, odometer.claim),
              eps_anytime(rho("0.01"), del("5e-7"), target));
    EXPECT_GT(shown_anytime(odometer.totals.of_public, zcdp("3", "1e-12", "1e-12"), odometer.claim),
              shown_anytime(odometer.totals.of_public, tiny, odometer.claim));
}

TEST(Zcdp, Names) {
    for (Cap cap : {Cap::tight, Cap::classic})
        EXPECT_EQ(cap_from_name(name_of(cap)), cap);
    EXPECT_EQ(cap_from_name("Tight"), std::nullopt);
    EXPECT_EQ(default_conversion(Delta::from_units(3)), Delta::from_units(1));
}

} // namespace
