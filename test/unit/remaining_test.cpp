// How often the same charges could be made: the count of privacy::remaining() against charges made one by one (formulas.md 5.2).
#include <random>

#include <gtest/gtest.h>

#include "privacy/mechanism.hpp"
#include "privacy/remaining.hpp"

namespace dp::privacy {
namespace {

Cost pure(const char *epsilon) {
    Cost cost;
    cost.epsilon = *Epsilon::parse(epsilon);
    cost.rho = rho_of_pure(cost.epsilon);
    return cost;
}

Cost gaussian(const char *epsilon, const char *delta, const char *groups, const char *rho) {
    Cost cost;
    cost.epsilon = *Epsilon::parse(epsilon);
    cost.delta = *Delta::parse(delta);
    cost.groups = *Delta::parse(groups);
    cost.rho = *Rho::parse(rho);
    cost.pure = false;
    return cost;
}

BoundSettings bounded(Bound bound, const char *epsilon, const char *delta) {
    BoundSettings settings;
    settings.bound = bound;
    if (epsilon != nullptr)
        settings.epsilon_total = *Epsilon::parse(epsilon);
    settings.delta_total = *Delta::parse(delta);
    return settings;
}

BoundSettings in_rho(const char *epsilon, const char *delta, const char *p) {
    BoundSettings settings = bounded(Bound::zcdp, epsilon, delta);
    settings.delta_conversion = default_conversion(settings.delta_total);
    settings.epsilon_pure = *Epsilon::parse(p);
    settings.rho_total =
        rho_cap(*settings.epsilon_total - settings.epsilon_pure, settings.delta_conversion, settings.cap);
    return settings;
}

// Charges the round again and again; stops at `most`.
Remaining one_by_one(std::vector<Repeated> round, std::int64_t most) {
    Remaining result;
    for (; result.rounds < most; result.rounds++)
        for (std::size_t i = 0; i < round.size(); i++) {
            const Repeated &charge = round[i];
            ChargeRequest request;
            request.candidates = {charge.cost.epsilon};
            request.eps_star = 1e9;
            request.share = charge.share;
            request.profile = charge.profile;
            request.delta = charge.cost.delta;
            request.groups = charge.cost.groups;
            request.pure = charge.cost.pure;
            request.rho_of = [&](Epsilon) { return charge.cost.rho; };
            const Decision decision = decide(request, charge.bound, charge.totals, charge.role);
            result.denial = decision.denial;
            result.denied = i;
            if (decision.denial != Denial::none)
                return result;
            const Basis basis = charge.bound.basis_of(charge.cost.pure);
            const int table = charge.table, grantee = charge.grantee;
            for (Repeated &other : round) {
                if (other.table == table)
                    add(&other.totals.of_public, decision.cost, basis);
                if (other.table == table && other.grantee == grantee)
                    add(&other.role.of_public, decision.cost, basis);
            }
        }
    result.bounded = false;
    return result;
}

void expect_same(const std::vector<Repeated> &round) {
    const Remaining counted = remaining(round), charged = one_by_one(round, 5000);
    ASSERT_TRUE(charged.bounded);
    EXPECT_TRUE(counted.bounded);
    EXPECT_EQ(counted.rounds, charged.rounds);
    EXPECT_EQ(counted.denial, charged.denial);
    EXPECT_EQ(counted.denied, charged.denied);
}

Repeated charge_of(const Cost &cost, const BoundSettings &bound) {
    Repeated charge;
    charge.cost = cost;
    charge.bound = bound;
    return charge;
}

TEST(Remaining, EveryBound) {
    expect_same({charge_of(pure("0.05"), bounded(Bound::filter, "1", "0"))});
    expect_same({charge_of(pure("0.3"), bounded(Bound::filter, "0.2", "0"))});
    expect_same({charge_of(gaussian("0.1", "1e-7", "0", "0.001"), bounded(Bound::filter, "100", "1e-6"))});
    expect_same({charge_of(pure("0.5"), bounded(Bound::dynamic, nullptr, "0"))});
    expect_same({charge_of(pure("0.05"), in_rho("1", "1e-6", "0"))});
    expect_same({charge_of(pure("0.05"), in_rho("1", "1e-6", "0.3"))});
    expect_same({charge_of(gaussian("0.5", "1e-7", "0", "0.00123"), in_rho("1", "1e-6", "0"))});
    expect_same({charge_of(gaussian("0.5", "1e-7", "1e-8", "0.000001"), in_rho("1", "1e-6", "0"))});
}

TEST(Remaining, SharesProfilesAndPeriods) {
    Repeated charge = charge_of(pure("0.05"), bounded(Bound::filter, "1", "0"));
    charge.share = *Epsilon::parse("0.31");
    expect_same({charge});
    charge.profile = *Epsilon::parse("0.17");
    expect_same({charge});
    charge = charge_of(pure("0.05"), in_rho("3", "1e-6", "0"));
    charge.share = *Epsilon::parse("0.9");
    expect_same({charge});
    charge = charge_of(pure("0.05"), bounded(Bound::filter, "0.5", "0"));
    charge.bound.period = Period{PeriodKind::month, 0};
    charge.bound.epsilon_lifetime = *Epsilon::parse("0.7");
    charge.totals.of_public.epsilon = *Epsilon::parse("0.4");
    charge.totals.of_public.period.kind = charge.role.of_public.period.kind = PeriodKind::month;
    expect_same({charge});
    charge.bound.epsilon_lifetime = *Epsilon::parse("100");
    charge.share = *Epsilon::parse("0.22");
    expect_same({charge});
}

// Leaves of one statement: over two tables, and under two policies on one.
TEST(Remaining, RoundsOfSeveral) {
    Repeated first = charge_of(pure("0.05"), bounded(Bound::filter, "1", "0")), second = first, other = first;
    second.cost = pure("0.13");
    second.grantee = 1;
    second.share = *Epsilon::parse("0.6");
    other.table = other.grantee = 2;
    other.totals.of_public.epsilon = *Epsilon::parse("0.81");
    expect_same({first, second});
    expect_same({second, first, first});
    expect_same({first, other, second});
    second.share.reset();
    expect_same({first, second, first});
    // The larger one behind the smaller is above what is spent.
    Repeated small = charge_of(pure("0.2"), bounded(Bound::dynamic, "9", "0")), large = small;
    large.cost = pure("0.7");
    expect_same({small, large});
    expect_same({large, small});
}

TEST(Remaining, AtRandom) {
    std::mt19937 random(7);
    const auto up_to = [&](int n) { return std::uniform_int_distribution<int>(1, n)(random); };
    for (int i = 0; i < 300; i++) {
        const int kind = up_to(4);
        const std::string total = "0." + std::to_string(up_to(9)) + std::to_string(up_to(9));
        const BoundSettings bound = kind == 1   ? in_rho(total.c_str(), "1e-6", "0")
                                    : kind == 2 ? in_rho(total.c_str(), "1e-6", "0.05")
                                                : bounded(Bound::filter, total.c_str(), "1e-6");
        std::vector<Repeated> round;
        for (int leaves = up_to(3); leaves > 0; leaves--) {
            const std::string epsilon = "0.0" + std::to_string(up_to(99));
            const std::string rho = "0.000" + std::to_string(up_to(99));
            Repeated charge =
                charge_of(up_to(2) == 1 ? pure(epsilon.c_str())
                                        : gaussian(epsilon.c_str(), "1e-8", up_to(2) == 1 ? "0" : "1e-9", rho.c_str()),
                          bound);
            charge.grantee = up_to(2);
            charge.totals.of_public.epsilon = Epsilon::from_units(3);
            round.push_back(charge);
        }
        expect_same(round);
    }
}

// What the conditional account has spent moves nothing.
TEST(Remaining, PublicFactsAlone) {
    Repeated charge = charge_of(pure("0.05"), bounded(Bound::filter, "1", "0"));
    charge.share = *Epsilon::parse("0.5");
    const Remaining without = remaining({charge});
    charge.totals.of_conditional.epsilon = charge.role.of_conditional.epsilon = *Epsilon::parse("0.9");
    EXPECT_EQ(remaining({charge}).rounds, without.rounds);
    charge.bound = in_rho("1", "1e-6", "0");
    const Remaining in_rho_without = remaining({charge});
    charge.totals.of_conditional.rho = *Rho::parse("0.01");
    charge.totals.of_conditional.rho_only = true;
    EXPECT_EQ(remaining({charge}).rounds, in_rho_without.rounds);
}

TEST(Remaining, WithoutEnd) {
    EXPECT_FALSE(remaining({charge_of(pure("0.05"), bounded(Bound::none, nullptr, "0"))}).bounded);
    EXPECT_FALSE(
        remaining({charge_of(gaussian("100", "0.999", "0.5", "5"), bounded(Bound::none, nullptr, "0"))}).bounded);
    // The least there is, of the most.
    Repeated charge = charge_of(pure("0.000000001"), bounded(Bound::filter, "99999999", "0"));
    EXPECT_EQ(remaining({charge}).rounds, 99999999000000000);
}

} // namespace
} // namespace dp::privacy
