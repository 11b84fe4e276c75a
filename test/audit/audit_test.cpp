// The audit of what is shipped: no event may be certified to exceed its claim.
//
// False alarms. Each finding (one claim, one order of two tables) fails by chance with probability 5e-10 at most, for every
// law and every number of draws. There are fewer than 950 here, 300 in rounds_test.cpp, and 400 rates in attack_test.cpp: below one in a
// million for a run. The chi-square test of the undeclared key has that level, too.
//
// What it cannot see. 100,000 draws find a Laplace scale that is wrong by a factor 1.25 from epsilon 0.3 on, and a sigma
// that is half of what it must be; no number of draws n finds a loss beyond ln(n / 39), nor a delta far below 1/n. Events are
// about single coordinates, their sum and their conjunction, on the pairs below. That the noise is right on other pairs
// follows from the scales (see Scales), not from draws. What the server does with rows, and what it sends besides the
// answer, is not in here: test/attacks.
#include "audit.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include "privacy/calibration.hpp"
#include "privacy/cell_sums.hpp"
#include "privacy/row_limit.hpp"
#include "privacy/zcdp.hpp"
#include "reference.hpp"
#include "tables.hpp"

namespace audit {
namespace {

using namespace dp::privacy;

TEST(Reference, AuditBounds) {
    reference::each("audit_bounds", [](const reference::Case &c) {
        const Verdict v = audit_bounds(c.arg("hits"), c.arg("hits_other"), c.arg("n"), {c.arg("eps"), c.arg("delta")},
                                       c.arg("alpha"));
        c.field(v.p_lower, "p_lower");
        c.field(v.p_upper, "p_upper");
        c.field(v.certified_loss, "certified_loss");
        EXPECT_EQ(v.fail, c.expect("fail").get<bool>());
    });
}

// Both edges, and the two bounds mirror each other.
TEST(Bounds, EdgesAndSymmetry) {
    EXPECT_EQ(probability_lower(0, 100, 1e-8), 0);
    EXPECT_EQ(probability_upper(100, 100, 1e-8), 1);
    for (std::uint64_t n : {1, 7, 1000, 1000000})
        for (std::uint64_t hits : {std::uint64_t{0}, std::uint64_t{1}, n / 2, n - 1, n}) {
            EXPECT_NEAR(probability_lower(hits, n, 1e-8), 1 - probability_upper(n - hits, n, 1e-8), 1e-9)
                << hits << "/" << n;
            EXPECT_LE(probability_lower(hits, n, 1e-8), static_cast<double>(hits) / static_cast<double>(n));
        }
}

// ---- Pairs of neighbours ----

struct Neighbours {
    Question question;
    Table x, y;
};

Question three_measures() {
    return {"count(*), sum(a), avg(b)",
            {call(Aggregate::count_star), call(Aggregate::sum, 0), call(Aggregate::avg, 1)},
            {make_bounds("0", "100", true), make_bounds("-3", "1000", false)},
            1,
            false};
}

// Of the first column and the second one.
Question joint(Aggregate fn, const std::string &text) {
    return {text, {call(fn, 0)}, {make_bounds("0", "100", true), make_bounds("20", "60", false)}, 1, false};
}

Question named(Question question, const std::string &name) {
    question.name += name;
    return question;
}

Table both_columns(int n) {
    Table table;
    for (int i = 0; i < n; ++i)
        table.push_back({0, {10.0 * (i % 10), 20 + 4.0 * (i * 7 % 10)}, true});
    return table;
}

// The record at the bound that is farther from 0 moves a sum most, either bound moves one half of the pair by all it can.
std::vector<Neighbours> declared_pairs() {
    const Question low = about(Aggregate::sum, "0", "100"), wide = about(Aggregate::sum, "-3", "1000"),
                   high = about(Aggregate::sum, "20", "60", false), avg = about(Aggregate::avg, "20", "60"),
                   variance = named(about(Aggregate::var_pop, "20", "60"), " (variance)");
    const Question covariance = joint(Aggregate::covar_pop, "covar_pop(a, b)"),
                   correlation = joint(Aggregate::corr, "corr(a, b)");
    const Row both{0, {100, 1000}, true};
    return {
        {named(counting(), ", 0 and 1"), {}, rows(1)},
        {named(counting(), ", 10 and 11"), rows(10), rows(11)},
        {low, rows(10), with(rows(10), {0, {100}, true})},
        {wide, rows(10), with(rows(10), {0, {1000}, true})},
        {high, rows(10, 30), with(rows(10, 30), {0, {60}, true})},
        {named(avg, ", record at the lower bound"), rows(10, 30), with(rows(10, 30), {0, {20}, true})},
        {named(avg, ", record at the upper bound"), rows(10, 30), with(rows(10, 30), {0, {60}, true})},
        {named(avg, ", 0 and 1"), {}, rows(1, 60)},
        // Of a triple a record moves one sum, or all three.
        {named(variance, ", record at the lower bound"), rows(10, 30), with(rows(10, 30), {0, {20}, true})},
        {named(variance, ", record at the upper bound"), rows(10, 30), with(rows(10, 30), {0, {60}, true})},
        {named(variance, ", record in the middle"), rows(10, 30), with(rows(10, 30), {0, {40}, true})},
        {named(variance, ", 0 and 1"), {}, rows(1, 60)},
        // Of products a record moves one sum, or all four; of moments it moves most in the middle.
        {named(covariance, ", record at both bounds"), both_columns(10), with(both_columns(10), {0, {100, 60}, true})},
        {named(covariance, ", record in the middle"), both_columns(10), with(both_columns(10), {0, {50, 40}, true})},
        {named(correlation, ", record in the middle"), both_columns(10), with(both_columns(10), {0, {50, 40}, true})},
        {named(correlation, ", 0 and 1"), {}, {{0, {50, 40}, true}}},
        {named(counting(3), " by declared group"), rows(5), with(rows(5), {2, {1}, true})},
        {three_measures(), {}, {both}}};
}

Policy within_domain(Mechanism mechanism, double claim) {
    Policy policy;
    policy.mechanism = mechanism;
    policy.delta = *Delta::parse("1e-5");
    policy.candidates = {Epsilon::from_double(claim, Rounding::up)};
    return policy;
}

// The claim is spent on the selection and on two candidates, both of which are tested. with_default: and on a third, which
// always passes; without it, nothing selected is a denial.
Policy released(Mechanism mechanism, double claim, bool with_default = false) {
    Policy policy = within_domain(mechanism, claim * 0.6);
    policy.candidates.push_back(Epsilon::from_double(claim * 0.3, Rounding::up));
    if (with_default)
        policy.candidates.push_back(epsilon("0.005"));
    policy.selecting = Selecting::released;
    policy.epsilon_svt = Epsilon::from_double(claim * 0.4, Rounding::down);
    policy.tau_var = mechanism == Mechanism::laplace ? 1e-5 : 1e-9;
    return policy;
}

void expect_kept(const Subject &s) {
    const Report report = run(s);
    print(s.name, report);
    EXPECT_FALSE(report.fail()) << s.name << "\n" << report.text();
}

class Audit : public testing::TestWithParam<std::tuple<Mechanism, double>> {
  protected:
    Mechanism mechanism() const { return std::get<0>(GetParam()); }
    double claim() const { return std::get<1>(GetParam()); }
};

TEST_P(Audit, WithinDomain) {
    const Policy policy = within_domain(mechanism(), claim());
    for (const Neighbours &pair : declared_pairs()) {
        EXPECT_TRUE(Prepared(pair.question, policy).decide().cost.epsilon == policy.candidates.front());
        expect_kept(subject(pair.question, policy, pair.x, pair.y));
    }
}

// Drawn, not noised: by Laplace noise alone, whose scale is that of a count.
TEST_P(Audit, Quantiles) {
    if (mechanism() == Mechanism::gaussian)
        return;
    const Policy policy = within_domain(mechanism(), claim());
    expect_kept(subject(quantile(0.5, "222"), policy, lopsided(), with(lopsided(), {0, {222}, true})));
    expect_kept(subject(quantile(0.5, "4"), policy, rows(3, 2), with(rows(3, 2), {0, {4}, true})));
    expect_kept(subject(quantile(0.9, "9"), policy, rows(20, 3), with(rows(20, 3), {0, {9}, true})));
    for (double q : {0.0, 1.0}) {
        expect_kept(subject(quantile(q, "9"), policy, {}, rows(1, 9)));
        expect_kept(subject(quantile(q, "9"), policy, rows(60, 3), with(rows(60, 3), {0, {9}, true})));
        expect_kept(subject(quantile(q, "9"), policy, rows(60, 3), with(rows(60, 3), {0, {0}, true})));
    }
    Question both = quantile(0.5, "222");
    both.calls.push_back(call(Aggregate::count_star));
    expect_kept(subject(both, policy, lopsided(), with(lopsided(), {0, {222}, true})));
}

// What is drawn in a group that one record opens, or that is there without it.
TEST_P(Audit, QuantilesOfDiscoveredGroups) {
    if (mechanism() == Mechanism::gaussian)
        return;
    Policy policy = within_domain(mechanism(), claim());
    const int m = std::max(1, static_cast<int>(std::lround(10 / claim())));
    policy.delta = delta_for_threshold(claim() / 2, m); // the count has half of epsilon
    Question found = named(quantile(0.5, "9"), ", discovered");
    found.groups = 2;
    found.thresholded = true;
    EXPECT_EQ(Prepared(found, policy).plan(policy.candidates.front()).threshold, m + 1);
    expect_kept(subject(named(found, ", opened"), policy, rows(5, 3), with(rows(5, 3), {1, {9}, true})));
    expect_kept(subject(named(found, ", there"), policy, rows(m, 3), with(rows(m, 3), {0, {9}, true})));
}

// A group that one record opens, and one that is there without it.
TEST_P(Audit, DiscoveredGroups) {
    Policy policy = within_domain(mechanism(), claim());
    const int m = std::max(1, static_cast<int>(std::lround(5 / claim())));
    policy.delta = delta_for_threshold(claim(), m);
    if (mechanism() == Mechanism::laplace) {
        EXPECT_EQ(Prepared(discovered(1), policy).plan(policy.candidates.front()).threshold, m + 1);
    }
    expect_kept(subject(named(discovered(2), ", opened"), policy, rows(5), with(rows(5), {1, {1}, true})));
    expect_kept(subject(named(discovered(1), ", there"), policy, rows(m), rows(m + 1)));
}

// Nobody exposed, then one: the worst pair for the selection. And pairs where the release adds its own loss.
TEST_P(Audit, Released) {
    const Policy policy = released(mechanism(), claim()), with_default = released(mechanism(), claim(), true);
    const Table unexposed(1000, Row{0, {0}, false});
    const Question low = about(Aggregate::sum, "0", "100"), avg = about(Aggregate::avg, "20", "60");
    EXPECT_EQ(tested_candidates(Prepared(counting(), policy).svt_candidates()), 2U);
    EXPECT_EQ(tested_candidates(Prepared(counting(), with_default).svt_candidates()), 2U);
    expect_kept(subject(named(counting(), ", nobody exposed"), policy, unexposed, with(unexposed, {0, {0}, true})));
    expect_kept(
        subject(named(counting(), ", with a default"), with_default, unexposed, with(unexposed, {0, {0}, true})));
    expect_kept(subject(named(counting(), ", 0 and 1"), policy, {}, rows(1)));
    expect_kept(subject(low, policy, unexposed, with(unexposed, {0, {100}, true})));
    expect_kept(subject(avg, with_default, rows(10, 30), with(rows(10, 30), {0, {60}, true})));
}

INSTANTIATE_TEST_SUITE_P(Claims, Audit,
                         testing::Combine(testing::Values(Mechanism::laplace, Mechanism::gaussian),
                                          testing::Values(0.3, 1.0, 3.0)),
                         [](const auto &parameter) {
                             const double epsilon = std::get<1>(parameter.param);
                             return std::string(std::get<0>(parameter.param) == Mechanism::laplace ? "Laplace"
                                                                                                   : "Gaussian") +
                                    (epsilon < 1   ? "Small"
                                     : epsilon < 2 ? "One"
                                                   : "Three");
                         });

// ---- Auto (6.5): Gaussian noise at the price of Laplace noise ----

TEST(Audit, Auto) {
    for (double claim : {1.0, 3.0})
        for (const Neighbours &pair : declared_pairs()) {
            const Policy policy = within_domain(Mechanism::automatic, claim);
            const ReleasePlan plan = Prepared(pair.question, policy).plan(policy.candidates.front());
            EXPECT_TRUE(plan.noise.front().mechanism == Mechanism::gaussian && plan.delta == Delta()) << pair.question.name;
            if (claim == 1)
                expect_kept(subject(pair.question, policy, pair.x, pair.y));
        }
}

// ---- People with several rows (9) ----

// One has 100 rows at the far bound, in one group or in three, or none.
TEST(Audit, PeopleWithSeveralRows) {
    const Question wide = about(Aggregate::sum, "-3", "1000"), avg = about(Aggregate::avg, "20", "60");
    Question three = three_measures();
    three.groups = 3;
    const Table others = together(person(1, 4, 30, 3), person(2, 2, 40, 2));
    const Row both{0, {100, 1000}, true, 9};
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian, Mechanism::automatic})
        for (const Neighbours &pair :
             {Neighbours{of_people(counting(), 5), others, together(others, person(9, 100))},
              Neighbours{of_people(counting(3), 5, 3), others, together(others, person(9, 100, 1, 3))},
              Neighbours{of_people(counting(3), 5, 3), others, together(others, person(9, 1, 1, 1, 2))},
              Neighbours{of_people(wide, 5), {}, person(9, 100, 1000)},
              Neighbours{of_people(avg, 5), others, together(others, person(9, 100, 60))},
              Neighbours{of_people(three, 5, 3), {}, Table(100, both)}})
            expect_kept(subject(pair.question, within_domain(mechanism, 1), pair.x, pair.y));
}

// The same with a limit of the rows in each group, which Gaussian noise follows: all in one group, or in as many as there are.
TEST(Audit, PeopleWithRowsInEachGroup) {
    Question sum = about(Aggregate::sum, "-3", "1000"), avg = about(Aggregate::avg, "20", "60"),
             three = three_measures();
    sum.groups = avg.groups = three.groups = 6;
    const Table others = together(person(1, 4, 30, 3), person(2, 2, 40, 2));
    Table everywhere;
    for (int i = 0; i < 96; ++i)
        everywhere.push_back(Row{i % 6, {100, 1000}, true, 9});
    for (const Neighbours &pair :
         {Neighbours{of_people(counting(6), 6, 6, 1), others, together(others, person(9, 100))},
          Neighbours{of_people(counting(6), 6, 6, 1), others, together(others, person(9, 6, 1, 6))},
          Neighbours{of_people(counting(6), 6, 6, 2), {}, person(9, 100, 1, 6)},
          Neighbours{of_people(sum, 6, 6, 2), {}, person(9, 100, 1000)},
          Neighbours{of_people(sum, 6, 6, 1), others, together(others, person(9, 6, 1000, 6))},
          Neighbours{of_people(avg, 6, 6, 1), others, together(others, person(9, 100, 60))},
          Neighbours{of_people(avg, 6, 6, 1), others, together(others, person(9, 60, 20, 6))},
          Neighbours{of_people(three, 6, 6, 3), {}, everywhere}})
        expect_kept(subject(pair.question, within_domain(Mechanism::gaussian, 1), pair.x, pair.y));
    // Of auto C is R: a person in one group, and in all.
    for (const Table &more : {person(9, 100), person(9, 100, 1, 6)})
        expect_kept(subject(of_people(counting(6), 6, 6), within_domain(Mechanism::automatic, 1), others,
                            together(others, more)));
}

// How many rows of one person shall count, chosen from how many they have (9.10): one with few, with many, and beside nobody. The same of
// sizes, in parts of the largest one: of those a row is 16.
TEST(Audit, RowLimits) {
    const auto choice = [](const std::vector<std::int64_t> &people, double claim, bool sizes = false) {
        UnitRows rows = sizes ? UnitRows(1 << 14, 100) : UnitRows(1 << 14);
        for (std::int64_t n : people)
            rows.add(sizes ? 100 * n : n);
        const Epsilon charged = Epsilon::from_double(claim, Rounding::down);
        return [rows, charged](BitSource &bits, Outcome &outcome) {
            const int limit = choose_row_limit(bits, charged, 3, rows);
            for (outcome.selected = 0; rows.limit(static_cast<std::size_t>(outcome.selected)) < limit;)
                ++outcome.selected;
        };
    };
    const std::vector<std::int64_t> few(20, 1), many(20, 6);
    for (double claim : {1.0, 3.0})
        for (const auto &[name, people, more] :
             {std::tuple("nobody, one", std::vector<std::int64_t>{}, std::int64_t{1}),
              std::tuple("nobody, many", std::vector<std::int64_t>{}, std::int64_t{1} << 20),
              std::tuple("few, many", few, std::int64_t{1} << 20), std::tuple("few, one", few, std::int64_t{1}),
              std::tuple("many, one", many, std::int64_t{1}), std::tuple("many, many", many, std::int64_t{100})}) {
            auto others = people;
            others.push_back(more);
            expect_kept({std::string("limit of rows: ") + name,
                         {choice(people, claim), {}},
                         {choice(others, claim), {}},
                         {},
                         {selection(static_cast<int>(compared_limits(1 << 14).size()) + 1, {claim, 0})}});
        }
    auto more = many;
    more.push_back(100);
    expect_kept({"limit of sizes: many, many",
                 {choice(many, 1, true), {}},
                 {choice(more, 1, true), {}},
                 {},
                 {selection(static_cast<int>(compared_limits(1 << 14).size()) + 1, {1, 0})}});
}

// One person opens three groups, or one beside two that are there without him.
TEST(Audit, GroupsThatAPersonOpens) {
    const Question question = of_people(discovered(4), 3, 3);
    const Table some = together(person(1, 1), person(2, 1));
    Table old = some;
    for (int unit = 3; unit < 9; ++unit)
        old = together(old, person(unit, 2, 1, 2, 1));
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian, Mechanism::automatic}) {
        Policy policy = within_domain(mechanism, 1);
        policy.delta = delta_for_threshold(1, 5);
        expect_kept(subject(named(question, ", three opened"), policy, some, together(some, person(20, 3, 1, 3, 1))));
        expect_kept(subject(named(question, ", one opened"), policy, old, together(old, person(20, 3, 1, 3, 1))));
        expect_kept(subject(named(question, ", 100 rows"), policy, some, together(some, person(20, 100, 1, 4, 0))));
        // One number for rows and people is private whether or not people have one row in each group.
        Question shared = named(question, ", one number");
        shared.one_in_group = true;
        EXPECT_EQ(Prepared(shared, policy).measures().size(), 1U);
        expect_kept(subject(shared, policy, some, together(some, person(20, 100, 1, 4, 0))));
        if (mechanism == Mechanism::laplace)
            continue;
        const Question spread = of_people(discovered(4), 3, 3, 1);
        expect_kept(subject(named(spread, ", three opened"), policy, some, together(some, person(20, 3, 1, 3, 1))));
        expect_kept(subject(named(spread, ", 100 rows"), policy, old, together(old, person(20, 100, 1, 4, 0))));
    }
}

// ---- Sequences under a total in rho ----

// What a client asks who is out for one record: counts with either noise, cheaper or dearer ones by what it has learned so far,
// until none is paid any more. Its best statistic is the log likelihood ratio itself.
class Sequence {
  public:
    Sequence(const BoundSettings &bound, double overdraft) : bound_(bound), overdraft_(overdraft) {
        for (const char *price : {"0.9", "0.4", "0.15"})
            for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
                Policy policy;
                policy.mechanism = mechanism;
                policy.delta = *Delta::parse("0.001");
                policy.candidates = {epsilon(price)};
                offers_.push_back(offer(Prepared(counting(), policy), policy));
            }
    }
    double draw(BitSource &bits, int exact) const {
        Totals totals;
        double loss = 0;
        for (std::size_t i = first_; i < offers_.size();) {
            const Offer &offer = offers_[i];
            Cost cost = offer.cost;
            cost.rho = Rho::from_double(cost.rho.value() / overdraft_, Rounding::up);
            const Basis basis = bound_.basis_of(cost.pure);
            if (fit(cost, Account::public_account, bound_, totals, {}, std::nullopt) != Denial::none) {
                ++i; // the next cheaper one
                continue;
            }
            add(&totals.of_public, cost, basis);
            loss += offer.loss(
                static_cast<double>(exact + static_cast<std::int64_t>(dp::privacy::draw(bits, offer.noise))));
            if (loss < 0)
                i = i | 1; // of what it does not believe any more it asks Gaussian counts
        }
        return loss;
    }
    // Asks about the cells of each step together, of which the unit is in cell 1; a step without it, twice. It asks on in what has told most so
    // far. tested: the first cells of a step, with whose sums a charge is compared.
    using Steps = std::vector<std::vector<std::size_t>>;
    double draw_in_cells(BitSource &bits, int exact, const Steps &steps, std::size_t tested) const {
        CellSums sums[6];
        double loss = 0;
        for (const std::vector<std::size_t> &step : steps) {
            const bool with_unit = step.back() == 1;
            int asked = 0;
            for (std::size_t i = first_; i < offers_.size() && (with_unit || asked < 2);) {
                const Offer &offer = offers_[i];
                const Refusal refusal = refusal_of_table(offer.cost, bound_);
                bool refused = false;
                for (std::size_t at = 0; at < std::min(tested, step.size()); at++)
                    refused = refused || refusal.refuses(sums[step[at]]);
                if (refused) {
                    ++i;
                    continue;
                }
                ++asked;
                for (std::size_t cell : step)
                    sums[cell] = sums[cell] + added_by(offer.cost, bound_.basis_of(offer.cost.pure));
                const auto noise = static_cast<double>(static_cast<std::int64_t>(dp::privacy::draw(bits, offer.noise)));
                loss += with_unit ? offer.loss(exact + noise) : 0;
                if (loss < 0)
                    i = i | 1;
            }
        }
        return loss;
    }
    std::size_t first_ = 0;

  private:
    struct Offer {
        Cost cost;
        MeasureNoise noise;
        // ln of the ratio of the probabilities of a value at 1 and at 0
        double loss(double value) const {
            if (noise.mechanism == Mechanism::laplace)
                return (std::fabs(value) - std::fabs(value - 1)) / noise.laplace.value();
            return (2 * value - 1) / (2 * noise.gaussian.sigma() * noise.gaussian.sigma());
        }
    };
    BoundSettings bound_;
    double overdraft_;
    std::vector<Offer> offers_;

    static Offer offer(const Prepared &prepared, const Policy &policy) {
        const ReleasePlan plan = prepared.plan(policy.candidates.front());
        Cost cost;
        cost.epsilon = policy.candidates.front();
        cost.rho = plan.rho();
        cost.pure = policy.mechanism == Mechanism::laplace;
        return {cost, plan.noise.front()};
    }
};

BoundSettings total_in_rho(const char *total, const char *pure) {
    BoundSettings bound;
    bound.bound = Bound::zcdp;
    bound.epsilon_total = epsilon(total);
    bound.delta_total = bound.delta_conversion = *Delta::parse("0.001");
    bound.epsilon_pure = epsilon(pure);
    bound.rho_total = rho_cap(*bound.epsilon_total - bound.epsilon_pure, bound.delta_conversion, Cap::tight);
    return bound;
}

// Claims: what the totals promise; and where the basic rule lets nothing pass beyond the cap, what that comes to at larger deltas, of
// which draws see more.
// steps: over cells, of which so many are tested.
Subject sequences(const BoundSettings &bound, double overdraft, std::size_t first, const Sequence::Steps &steps = {},
                  std::size_t tested = 2) {
    Sequence sequence(bound, overdraft);
    sequence.first_ = first;
    const auto side = [=](int exact) {
        return Side{[=](BitSource &bits, Outcome &outcome) {
                        outcome.values = {steps.empty() ? sequence.draw(bits, exact)
                                                        : sequence.draw_in_cells(bits, exact, steps, tested)};
                    },
                    {static_cast<double>(exact)}};
    };
    Subject s{"sequences under a total of " + bound.epsilon_total->text() + ", for pure noise " +
                  bound.epsilon_pure.text() + (first == 0 ? ", Laplace first" : ", Gaussian first"),
              side(1),
              side(0),
              {1},
              {}};
    for (double delta : {0.001, 0.01, 0.05}) {
        const double of_rho = delta == 0.001 ? (*bound.epsilon_total - bound.epsilon_pure).value()
                                             : eps_from_rho(bound.rho_total, Delta::from_double(delta, Rounding::down)).value();
        const Claim claim{of_rho + bound.epsilon_pure.value(), delta};
        if (delta == 0.001 || bound.splits_pure())
            s.statistics.push_back({"loss", [](const Outcome &o) { return o.values[0]; }, {0}, claim});
    }
    return s;
}

TEST(Audit, SequencesUnderATotalInRho) {
    for (const char *total : {"1", "3"})
        for (const char *pure : {"0", "0.5"})
            for (std::size_t first : {std::size_t{0}, std::size_t{1}})
                expect_kept(sequences(total_in_rho(total, pure), 1, first));
}

// Each charge at a sixth of its rho: the totals are kept, and promise too much.
TEST(Audit, SequencesThatAreChargedTooLittleAreSeen) {
    const Subject s = sequences(total_in_rho("1", "0"), 6, 1);
    const Report report = run(s);
    print("sequences charged a sixth", report);
    EXPECT_TRUE(report.fail()) << report.text();
}

// The unit is in the cell of two that is drained last.
TEST(Audit, SequencesOverTwoCells) {
    for (const char *pure : {"0", "0.5"})
        for (std::size_t first : {std::size_t{0}, std::size_t{1}})
            expect_kept(sequences(total_in_rho("1", pure), 1, first, {{0}, {0, 1}, {1}}));
}

// What touches two is compared with the sums of one alone: with each other cell the unit's pays once more.
TEST(Audit, SequencesTestedInOneCellAreSeen) {
    const Subject s = sequences(total_in_rho("1", "0"), 1, 1, {{1}, {0, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}, 1);
    const Report report = run(s);
    print("two cells, one of them tested", report);
    EXPECT_TRUE(report.fail()) << report.text();
}

// A record whose key nobody declared must leave no trace.
TEST(Audit, UndeclaredKeyIsInvisible) {
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
        const Subject s = subject(named(counting(3), ", undeclared key"), within_domain(mechanism, 1), rows(5),
                                  with(rows(5), {3, {1}, true}));
        EXPECT_GT(indistinguishable_p(s), alpha) << s.name;
        const Subject seen = subject(counting(4), within_domain(mechanism, 1), rows(5), with(rows(5), {3, {1}, true}));
        EXPECT_LT(indistinguishable_p(seen), alpha) << seen.name; // the test would see it
    }
}

// ---- Scales: exact, for every pair, where draws can only bound ----

using boost::multiprecision::cpp_int;

// t/s = D m / epsilon in lowest terms.
bool is_laplace_scale(const LaplaceScale &scale, std::uint64_t sensitivity, std::size_t shares, Epsilon eps) {
    const cpp_int t = static_cast<unsigned __int128>(scale.t), s = static_cast<unsigned __int128>(scale.s);
    const cpp_int want = cpp_int(sensitivity) * shares * 1000000000;
    return t * cpp_int(static_cast<__int128>(eps.units())) == want * s && gcd(t, s) == 1;
}

GaussianScale gaussian_scale_of(const Prepared &prepared, std::size_t j, Epsilon eps) {
    const auto &measures = prepared.measures();
    const double delta = prepared.policy().delta.value(), d = static_cast<double>(measures[j].sensitivity);
    if (measures.size() == 1 && !measures[0].has_parts())
        return gaussian_release_sigma(eps.value(), delta, d);
    return gaussian_scale_up(
        d * (std::sqrt(static_cast<double>(measures.size()) / (2 * rho_cap_tight(eps.value(), delta))) * (1 + 1e-12)));
}

std::vector<std::uint64_t> sensitivities_of(const Neighbours &pair) {
    std::vector<std::uint64_t> result;
    const Prepared prepared(pair.question, within_domain(Mechanism::laplace, 1));
    const std::vector<std::int64_t> x = prepared.sums(pair.x), y = prepared.sums(pair.y);
    std::size_t at = 0;
    for (const Measure &m :
         prepared.measures()) { // the pairs are chosen so that the record moves each measure by all of D
        std::int64_t change = 0;
        for (std::size_t g = 0; g < static_cast<std::size_t>(pair.question.groups); ++g)
            for (std::size_t c = 0; c < static_cast<std::size_t>(m.coordinates()); ++c) {
                const std::int64_t d =
                    x[g * prepared.group_coordinates() + at + c] - y[g * prepared.group_coordinates() + at + c];
                change += d < 0 ? -d : d;
            }
        result.push_back(static_cast<std::uint64_t>(change));
        at += static_cast<std::size_t>(m.coordinates());
    }
    return result;
}

TEST(Scales, AreTheFormulaAndMatchWhatTheRecordMoves) {
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (double claim : {0.3, 1.0, 3.0})
            for (const Neighbours &pair : declared_pairs()) {
                const Policy policy = within_domain(mechanism, claim);
                const Prepared prepared(pair.question, policy);
                const Epsilon eps = prepared.decide().cost.epsilon;
                const ReleasePlan plan = prepared.plan(eps);
                const std::vector<std::uint64_t> moved = sensitivities_of(pair);
                for (std::size_t j = 0; j < plan.noise.size(); ++j) {
                    EXPECT_EQ(prepared.measures()[j].sensitivity, moved[j]) << pair.question.name;
                    if (mechanism == Mechanism::laplace) {
                        EXPECT_TRUE(is_laplace_scale(plan.noise[j].laplace, prepared.measures()[j].sensitivity,
                                                     plan.noise.size(), eps))
                            << pair.question.name;
                    } else {
                        const GaussianScale want = gaussian_scale_of(prepared, j, eps);
                        EXPECT_TRUE(plan.noise[j].gaussian.a == want.a && plan.noise[j].gaussian.b == want.b)
                            << pair.question.name;
                    }
                }
            }
}

// What reaches the sampler, recorded draw by draw, is the same on both tables.
TEST(Scales, AreEqualOnNeighbours) {
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (const Neighbours &pair : declared_pairs()) {
            using Seen = std::vector<cpp_int>; // t, s, a, b
            Seen seen;
            Tampering recording;
            recording.sampler = [&seen](BitSource &, const MeasureNoise &noise) {
                for (auto n :
                     {static_cast<unsigned __int128>(noise.laplace.t), static_cast<unsigned __int128>(noise.laplace.s)})
                    seen.emplace_back(n);
                seen.emplace_back(wide(noise.gaussian.a));
                seen.emplace_back(noise.gaussian.b);
                return std::int64_t{0};
            };
            const Subject s = subject(pair.question, within_domain(mechanism, 1), pair.x, pair.y, recording);
            class NoBits final : public BitSource {
                result_type operator()() override { return 0; }
            } bits;
            Outcome outcome;
            s.x.draw(bits, outcome);
            const Seen x = std::move(seen);
            seen.clear();
            s.y.draw(bits, outcome);
            EXPECT_EQ(x.size(), 4 * s.scale.size());
            EXPECT_TRUE(x == seen) << s.name;
        }
}

} // namespace
} // namespace audit
