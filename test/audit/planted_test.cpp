// Mistakes planted in front of the shipped core: the audit must find each of them at 100,000 draws and claim 1.
//
// expected: what 100,000 draws certify, printed beside what this run certified. The two may differ by what chance does to
// the hits of rare events; that a mistake stays unfound has a probability below 1e-9 for each.
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "../unit/find_eps.hpp"
#include "privacy/calibration.hpp"
#include "privacy/interval.hpp"
#include "tables.hpp"

namespace audit {
namespace {

using namespace dp::privacy;

Policy claim_one() {
    Policy policy;
    policy.candidates = {epsilon("1")};
    return policy;
}

void expect_found(Subject s, const char *mistake, double expected, double tolerance) {
    const Report report = run(s);
    const Finding &worst = report.worst();
    std::printf("%-42s certified loss %5.2f, expected %5.2f, claim %4.2f\n", mistake, worst.certified_loss(), expected,
                worst.event.statistic->claim.epsilon);
    EXPECT_TRUE(report.fail()) << mistake << "\n" << report.text();
    if (draws() == 100000) {
        EXPECT_NEAR(worst.certified_loss(), expected, tolerance) << mistake << "\n" << report.text();
    }
}

TEST(Planted, ScaleHalved) {
    Tampering tampering;
    tampering.plan = [](ReleasePlan &plan) { plan.noise[0].laplace.s *= 2; };
    expect_found(subject(counting(), claim_one(), {}, rows(1), tampering), "noise scale halved", 1.93, 0.1);
}

// The claim (1, 1e-5) leaves room for it; the rho in the ledger does not.
TEST(Planted, GaussianScaleHalved) {
    Tampering tampering;
    tampering.plan = [](ReleasePlan &plan) {
        GaussianScale &scale = plan.noise[0].gaussian;
        scale.a = words(wide(scale.a) / 4);
    };
    Policy policy = claim_one();
    policy.mechanism = Mechanism::gaussian;
    policy.delta = *Delta::parse("1e-5");
    expect_found(subject(counting(), policy, {}, rows(1), tampering), "gaussian sigma halved", 0.89, 0.45);
}

// Four times the rho that the price of Laplace noise comes to.
TEST(Planted, AutoWithHalfItsSigma) {
    Policy policy = claim_one();
    policy.mechanism = Mechanism::automatic;
    Tampering tampering;
    tampering.plan = [](ReleasePlan &plan) {
        GaussianScale &scale = plan.noise[0].gaussian;
        scale.a = words(wide(scale.a) / 4);
    };
    expect_found(subject(counting(), policy, {}, rows(1), tampering), "auto: sigma halved", 4.2, 1);
}

void expect_seen(const Subject &s, const char *mistake) {
    const Report report = run(s);
    print(mistake, report);
    EXPECT_TRUE(report.fail()) << mistake << "\n" << report.text();
}

// Noise for one row where five of one person count; and what one who has a hundred brings, as it is.
TEST(Planted, SensitivityOfARow) {
    Tampering tampering;
    tampering.plan = [](ReleasePlan &plan) { plan.noise[0].laplace = laplace_scale(1, plan.epsilon); };
    expect_seen(subject(of_people(counting(), 5), claim_one(), {}, person(1, 100), tampering), "noise for one row");
    tampering.plan = [](ReleasePlan &plan) { plan.noise[0].laplace = laplace_scale(5, plan.epsilon); };
    expect_seen(subject(of_people(counting(), 100), claim_one(), {}, person(1, 100), tampering), "nothing is clipped");
}

// The root of the rows in all and in each group, where the sum of what a person brings is limited: all of it is in one group.
TEST(Planted, RootOfSummedRows) {
    Policy policy = claim_one();
    policy.mechanism = Mechanism::gaussian;
    policy.delta = *Delta::parse("1e-5");
    const Prepared spread(of_people(counting(25), 25, 25, 1), policy);
    Tampering tampering;
    tampering.plan = [&](ReleasePlan &plan) { plan.noise[0].gaussian = spread.plan(plan.epsilon).noise[0].gaussian; };
    expect_seen(subject(of_people(counting(25), 25, 25), policy, {}, person(1, 100), tampering), "root of summed rows");
}

// As if a person could open one group.
TEST(Planted, ThresholdOfOneGroup) {
    Policy policy = claim_one();
    policy.delta = delta_for_threshold(1, 5);
    Tampering tampering;
    tampering.plan = [](ReleasePlan &plan) {
        plan.threshold = partition_threshold_laplace(plan.epsilon.value(), plan.delta_groups.value(), 1);
        plan.noise[0].laplace = laplace_scale(static_cast<unsigned>(plan.shares), plan.epsilon);
    };
    const Table some = person(1, 1);
    expect_seen(
        subject(of_people(discovered(4), 3, 3), policy, some, together(some, person(20, 3, 1, 3, 1)), tampering),
        "threshold of one group");
}

TEST(Planted, BoundsFromTheData) {
    Tampering tampering;
    tampering.question = [](const Question &, const Table &table) {
        double largest = 1;
        for (const Row &row : table)
            largest = std::max(largest, row.values[0]);
        return about(Aggregate::sum, "0", std::to_string(static_cast<int>(largest)));
    };
    expect_found(
        subject(about(Aggregate::sum, "0", "100"), claim_one(), with(rows(10), {0, {100}, true}), rows(10), tampering),
        "bounds from the data", 8.3, 1);
}

// The interval of an expression taken from what the rows hold, in place of what is declared of its columns.
TEST(Planted, SpanOfAnExpressionFromTheData) {
    Tampering tampering;
    tampering.question = [](const Question &question, const Table &table) {
        double largest = 1;
        for (const Row &row : table)
            largest = std::max(largest, row.values[0]);
        Question seen = question;
        seen.bounds = {*bounds_of_span(times({0, largest, 0}, {0, largest, 0}), true)};
        return seen;
    };
    Question square = about(Aggregate::sum, "0", "1");
    square.name = "sum(a * a)";
    square.bounds = {*bounds_of_span(times({0, 10, 0}, {0, 10, 0}), true)};
    expect_found(subject(square, claim_one(), with(rows(10), {0, {100}, true}), rows(10), tampering),
                 "span of an expression from the data", 8.3, 1.2);
}

// The coins of a utility that moves in one direction, which that of a percentile does not.
TEST(Planted, QuantileOfHalfItsRange) {
    Tampering tampering;
    tampering.plan = [](ReleasePlan &plan) { plan.noise[0].laplace.s *= 2; };
    expect_found(subject(quantile(0.5, "222"), claim_one(), with(lopsided(), {0, {222}, true}), lopsided(), tampering),
                 "a percentile with half the range", 1.6, 0.2);
}

// A maximum looked for at the very end of the rows: the rank that somebody far out takes with him.
TEST(Planted, MaximumTold) {
    Tampering tampering;
    tampering.plan = [](ReleasePlan &plan) { plan.noise[0].laplace.s *= 100; };
    expect_found(subject(quantile(1, "9"), claim_one(), with(rows(60, 3), {0, {9}, true}), rows(60, 3), tampering),
                 "a maximum that is told", 8.4, 1);
}

// A third sum of a triple without noise.
TEST(Planted, TripleWithOneSumExact) {
    Tampering tampering;
    int drawn = 0;
    tampering.sampler = [drawn](BitSource &bits, const MeasureNoise &noise) mutable {
        return ++drawn % 3 == 0 ? std::int64_t{0} : static_cast<std::int64_t>(draw(bits, noise));
    };
    expect_found(subject(about(Aggregate::var_pop, "20", "60"), claim_one(), rows(10, 30),
                         with(rows(10, 30), {0, {20}, true}), tampering),
                 "a sum of a triple without noise", 8.4, 0.3);
}

// The last sum of six.
TEST(Planted, MomentsWithOneSumExact) {
    Tampering tampering;
    int drawn = 0;
    tampering.sampler = [drawn](BitSource &bits, const MeasureNoise &noise) mutable {
        return ++drawn % 6 == 0 ? std::int64_t{0} : static_cast<std::int64_t>(draw(bits, noise));
    };
    const Question correlation{"corr(a, b)",
                               {call(Aggregate::corr, 0)},
                               {make_bounds("0", "1", false), make_bounds("0", "1", false)},
                               1,
                               false};
    const Table few{{0, {0, 1}, true}, {0, {1, 0}, true}};
    expect_found(subject(correlation, claim_one(), few, with(few, {0, {0.5, 0.5}, true}), tampering),
                 "a sum of moments without noise", 8.4, 0.3);
}

// Each measure alone keeps its claim; together they do not.
TEST(Planted, EachMeasureWithTheFullEpsilon) {
    AggregateCall first = call(Aggregate::count_star), second = first;
    second.filter = 1;
    const Question question{"count(*), count(*) FILTER", {first, second}, {}, 1, false};
    Tampering tampering;
    tampering.plan = [](ReleasePlan &plan) {
        for (MeasureNoise &noise : plan.noise)
            noise.laplace.t /= static_cast<unsigned>(plan.shares);
    };
    const Subject s = subject(question, claim_one(), {}, rows(1), tampering);
    expect_found(s, "two measures, each with the full epsilon", 1.94, 0.12);
    Subject margins = s;
    margins.statistics.resize(0);
    for (const Statistic &statistic : s.statistics)
        if (statistic.name == "o0" || statistic.name == "o1")
            margins.statistics.push_back(statistic);
    EXPECT_FALSE(run(margins).fail());
}

// The sampler of 8.1 without "if B = 1 and Y = 0 continue".
TEST(Planted, NegativeZeroKept) {
    Tampering tampering;
    tampering.sampler = [](BitSource &bits, const MeasureNoise &noise) {
        const auto t = static_cast<std::uint64_t>(noise.laplace.t), s = static_cast<std::uint64_t>(noise.laplace.s);
        for (;;) {
            const std::uint64_t u = detail::uniform_below(bits, t);
            if (!detail::exponential_up_to_one(bits, u, t))
                continue;
            std::uint64_t v = 0;
            while (detail::exponential_one(bits))
                ++v;
            const auto y = static_cast<std::int64_t>((u + t * v) / s);
            return detail::uniform_to(bits, 1) == 1 ? -y : y;
        }
    };
    expect_found(subject(counting(), claim_one(), {}, rows(1), tampering), "sampler keeps the negative zero", 1.64,
                 0.12);
}

TEST(Planted, ThresholdTooLowByOne) {
    Policy policy = claim_one();
    policy.delta = delta_for_threshold(1, 5);
    EXPECT_NEAR(policy.delta.value(), 0.00517, 5e-6);
    Tampering tampering;
    tampering.plan = [](ReleasePlan &plan) { --*plan.threshold; };
    const Table x = rows(5), y = with(x, {1, {1}, true});
    expect_found(subject(discovered(2), policy, x, y, tampering), "threshold too low by one", 3.33, 0.35);
    EXPECT_FALSE(run(subject(discovered(2), policy, x, y)).fail());
}

// Algorithm 1: epsilon follows from the risks of the rows.
TEST(Planted, EpsilonFromTheData) {
    Tampering tampering;
    tampering.epsilon = [](const Table &table) {
        PisProfile profile;
        for (const Row &row : table)
            profile.add(row.matches ? 1 : 0, 1);
        return *find_eps_sound(profile.min(), profile.max(), {{1, 1}}, 0.95, {epsilon("1"), epsilon("0.05")}).chosen;
    };
    const Table x(10, Row{0, {1}, false});
    expect_found(subject(counting(), claim_one(), x, with(x, {0, {1}, true}), tampering),
                 "epsilon from the data (Algorithm 1)", 7.5, 1.2);
}

// ---- Selections ----

// Noise for an eighth of the sensitivity.
TEST(Planted, SelectionWithTooLittleNoise) {
    Policy policy = claim_one();
    policy.selecting = Selecting::released;
    policy.epsilon_svt = epsilon("1");
    policy.tau_var = 1e-5;
    Tampering tampering;
    tampering.candidate = [](SvtCandidate &candidate) { candidate.sensitivity /= 8; };
    const Table x(1000, Row{0, {0}, false});
    expect_found(subject(counting(), policy, x, with(x, {0, {0}, true}), tampering),
                 "selection with an eighth of the noise", 1.8, 0.6);
}

// The published query: the variance of RDRs divided by their maximum, with noise for a sensitivity of 1/n. Sum in [0, 1000],
// epsilon 10, half the records 0 and half 100; one more record of 1000 moves the maximum, and with it all others.
Draw published_selection(const std::vector<double> &values) {
    constexpr double b = 100, tau_var = 0.03;
    double largest = 0;
    for (double v : values)
        largest = std::max(largest, v + b);
    double sum = 0, squares = 0;
    for (double v : values) {
        sum += (v + b) / largest;
        squares += (v + b) / largest * ((v + b) / largest);
    }
    const double n = static_cast<double>(values.size());
    SvtCandidate candidate;
    candidate.sensitivity = int128{1} << 40; // 1, of n times the variance
    const auto margin = static_cast<int128>(std::ldexp(-(squares - sum * sum / n - n * tau_var), 40));
    const SvtSplit split = svt_split(epsilon("1"));
    return [=](BitSource &bits, Outcome &outcome) {
        const int128 threshold = discrete_laplace(bits, svt_threshold_scale(split));
        const int128 noise = discrete_laplace(bits, svt_comparison_scale(split, candidate));
        outcome.selected = svt_accepts(candidate, margin, noise, threshold) ? 0 : -1;
    };
}

TEST(Planted, PublishedSelection) {
    std::vector<double> values(1000, 0);
    std::fill(values.begin() + 500, values.end(), 100);
    std::vector<double> more = values;
    more.push_back(1000);
    const Subject s{"published selection",
                    {published_selection(more), {}},
                    {published_selection(values), {}},
                    {},
                    {selection(1, {1, 0})}};
    expect_found(s, "selection by the published query", 8, 1.2);
}

} // namespace
} // namespace audit
