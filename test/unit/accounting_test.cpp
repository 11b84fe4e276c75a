// Accounts and bounds: exact decimals, the order of denials, and that nobody who reads the public account learns anything
// from the other (formulas.md 5.1, 5.2).

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference.hpp"

#include "privacy/accounting.hpp"
#include "privacy/candidate_range.hpp"
#include "privacy/risk.hpp"

namespace {

using namespace dp::privacy;
using reference::Case;
using reference::json;

Epsilon eps(const char *text) {
    return Epsilon::parse(text).value();
}
Delta del(const char *text) {
    return Delta::parse(text).value();
}
Epsilon decimal(const json &j) {
    return Epsilon::parse(reference::text(j)).value();
}
Delta decimal_delta(const json &j) {
    return Delta::parse(reference::text(j)).value();
}

std::vector<Epsilon> candidates_of(const Case &c) {
    std::vector<Epsilon> candidates;
    for (const json &j : reference::list(c.arg("candidates")))
        candidates.push_back(decimal(j));
    return candidates;
}

ChargeRequest request_for(double eps_star, Account account = Account::public_account) {
    ChargeRequest request;
    request.account = account;
    request.eps_star = eps_star;
    request.candidates = paper_candidates();
    return request;
}

BoundSettings bound_of(Bound bound, std::optional<Epsilon> total, Delta delta_total) {
    BoundSettings settings;
    settings.bound = bound;
    settings.epsilon_total = total;
    settings.delta_total = delta_total;
    return settings;
}
BoundSettings filter(const char *total, const char *delta_total = "0") {
    return bound_of(Bound::filter, eps(total), del(delta_total));
}
BoundSettings dynamic() {
    return bound_of(Bound::dynamic, std::nullopt, {});
}
BoundSettings unbounded() {
    return bound_of(Bound::none, std::nullopt, {});
}

Totals consumed(const char *public_epsilon, const char *conditional_epsilon = "0") {
    Totals totals;
    totals.of_public.epsilon = eps(public_epsilon);
    totals.of_conditional.epsilon = eps(conditional_epsilon);
    return totals;
}

// A table with its bound: asks, and charges what is granted, to the table and to the role.
class Table {
  public:
    explicit Table(BoundSettings bound) : bound_(bound) {}
    Decision ask(const ChargeRequest &request, const std::string &role = "analyst") {
        const Decision decision = decide(request, bound_, totals_, roles_[role]);
        if (decision.denial == Denial::none)
            for (Totals *totals : {&totals_, &roles_[role]})
                add(&totals->of(request.account), decision.cost, bound_.basis_of(request.pure));
        return decision;
    }
    // Cuts the candidates of a selection and charges it.
    SelectionRange cut(const SelectionRequest &request, const std::string &role = "analyst") {
        const SelectionRange range = cut_candidates(request, bound_, totals_, roles_[role]);
        if (range.denial == Denial::none)
            for (Totals *totals : {&totals_, &roles_[role]})
                add(&totals->of_public, cost_of_selection(range.charged), bound_.basis_of(true));
        return range;
    }
    Totals &totals() { return totals_; }

  private:
    BoundSettings bound_;
    Totals totals_;
    std::map<std::string, Totals> roles_;
};

// ---- Reference cases ----

TEST(Accounting, DynamicBound) {
    reference::each("dynamic_bound", [](const Case &c) {
        Table table(dynamic());
        const json &stars = c.arg("eps_star_per_query");
        for (std::size_t i = 0; i < stars.size(); ++i) {
            ChargeRequest request = request_for(reference::number(stars.at(i)));
            request.candidates = candidates_of(c);
            const Decision decision = table.ask(request);
            const json &chosen = c.expect("chosen").at(i);
            ASSERT_EQ(decision.denial == Denial::none, !chosen.is_null()) << i;
            if (!chosen.is_null()) {
                EXPECT_EQ(decision.cost.epsilon, decimal(chosen)) << i;
            }
        }
        EXPECT_EQ(table.totals().of_public.epsilon, decimal(c.expect("eps_c")));
    });
}

ChargeRequest request_of(const json &j, const std::vector<Epsilon> &candidates) {
    ChargeRequest request = request_for(reference::number(j.at("eps_star")));
    const bool from_data = j.at("kind") == "within_data";
    request.account = from_data ? Account::conditional : Account::public_account;
    request.slack = from_data ? sound_slack : price_slack;
    request.candidates = candidates;
    request.epsilon_max = j.contains("epsilon_max") ? decimal(j.at("epsilon_max")) : eps("1"); // a policy's default
    if (j.contains("requested"))
        request.requested = decimal(j.at("requested"));
    if (j.contains("delta"))
        request.delta = decimal_delta(j.at("delta"));
    if (j.contains("role_total"))
        request.share = decimal(j.at("role_total"));
    return request;
}

// A sparse vector round without candidates that always pass; the data accept everything up to eps_selected. Its outcome.
const char *check_selection(Table &table, const json &asked, const std::vector<Epsilon> &candidates,
                            const json &epsilon_expected) {
    SelectionRequest request;
    request.candidates = candidates;
    request.tested = candidates.size();
    request.epsilon_svt = decimal(asked.at("epsilon_svt"));
    request.epsilon_max = asked.contains("epsilon_max") ? decimal(asked.at("epsilon_max")) : eps("1");
    const SelectionRange range = table.cut(request);
    if (range.denial != Denial::none)
        return "denied";
    const Epsilon selected = decimal(asked.at("eps_selected"));
    ChargeRequest release = request_for(infinite_epsilon);
    release.candidates.clear();
    for (std::size_t j = range.first; j < range.last && release.candidates.empty(); ++j)
        if (candidates[j] <= selected)
            release.candidates.push_back(candidates[j]);
    const Decision decision = table.ask(release);
    if (decision.denial != Denial::none)
        return "nothing selected";
    EXPECT_EQ(decision.cost.epsilon, decimal(epsilon_expected));
    return "answered";
}

void check_step(const Case &c, Table &table, const json &asked, const json &expected) {
    if (asked.at("kind") == "released") {
        EXPECT_EQ(check_selection(table, asked, candidates_of(c), expected.at("epsilon")),
                  expected.at("outcome").get<std::string>());
        EXPECT_EQ(table.totals().of_public.epsilon, decimal(expected.at("public")));
        return;
    }
    const Decision decision = table.ask(request_of(asked, candidates_of(c)), asked.value("role", "analyst"));
    ASSERT_EQ(decision.denial == Denial::none ? "answered" : "denied", expected.at("outcome").get<std::string>());
    if (!expected.at("epsilon").is_null()) {
        EXPECT_EQ(decision.cost.epsilon, decimal(expected.at("epsilon")));
    }
    EXPECT_EQ(table.totals().of_public.epsilon, decimal(expected.at("public")));
    EXPECT_EQ(table.totals().of_conditional.epsilon, decimal(expected.at("conditional")));
    EXPECT_EQ(table.totals().of_public.delta, decimal_delta(expected.at("delta_public")));
}

TEST(Accounting, Decisions) {
    int decided = 0, released = 0;
    reference::each("account_decisions", [&](const Case &c) {
        BoundSettings bound;
        bound.bound = bound_from_name(c.arg("bound").get<std::string>()).value();
        if (!c.arg("epsilon_total").is_null())
            bound.epsilon_total = decimal(c.arg("epsilon_total"));
        bound.delta_total = decimal_delta(c.arg("delta_total"));
        Table table(bound);
        const json &requests = c.arg("requests");
        ASSERT_EQ(requests.size(), c.expect().size());
        for (std::size_t i = 0; i < requests.size(); ++i) {
            SCOPED_TRACE("request " + std::to_string(i));
            ++(requests.at(i).at("kind") == "released" ? released : decided);
            check_step(c, table, requests.at(i), c.expect().at(i));
        }
    });
    EXPECT_GE(decided, 66);
    EXPECT_GE(released, 8);
}

// Charges of other selections (`released`) count as well: the two requests that follow such charges in the reference case
// 5.account_decisions.a13.
TEST(Accounting, ChargesOfOtherSelectionsCount) {
    EXPECT_EQ(decide(request_for(0.0526), dynamic(), consumed("0.15"), {}).denial, Denial::dynamic_bound);
    ChargeRequest request = request_for(0.5);
    request.epsilon_max = eps("1");
    const Decision decision = decide(request, dynamic(), consumed("0.25"), {});
    EXPECT_EQ(decision.denial, Denial::none);
    EXPECT_EQ(decision.cost.epsilon, eps("0.5"));
}

// ---- What is left to select from ----

SelectionRequest selection_of(std::vector<Epsilon> candidates, std::size_t tested, const char *epsilon_svt) {
    SelectionRequest request;
    request.candidates = std::move(candidates);
    request.tested = tested;
    request.epsilon_svt = eps(epsilon_svt);
    return request;
}

void expect_range(const SelectionRange &range, std::size_t first, std::size_t last, const char *charged) {
    EXPECT_EQ(range.denial, Denial::none);
    EXPECT_EQ(range.first, first);
    EXPECT_EQ(range.last, last);
    EXPECT_EQ(range.charged, eps(charged));
}

TEST(Accounting, CandidatesAreCutBeforeTheSelection) {
    const std::vector<Epsilon> candidates = {eps("5"), eps("1"), eps("0.5"), eps("0.1")};
    SelectionRequest request = selection_of(candidates, 4, "0.2");
    expect_range(cut_candidates(request, unbounded(), {}, {}), 0, 4, "0.2");
    // The total must hold both charges, to the last unit; so must the role's share.
    expect_range(cut_candidates(request, filter("1.2"), {}, {}), 1, 4, "0.2");
    expect_range(cut_candidates(request, filter("1.199999999"), {}, {}), 2, 4, "0.2");
    expect_range(cut_candidates(request, filter("3"), consumed("2.7"), {}), 3, 4, "0.2");
    EXPECT_EQ(cut_candidates(request, filter("3"), consumed("2.700000001"), {}).denial, Denial::no_candidate);
    request.share = eps("0.7");
    expect_range(cut_candidates(request, unbounded(), consumed("90"), {}), 2, 4, "0.2");
    expect_range(cut_candidates(request, unbounded(), {}, consumed("0.4")), 3, 4, "0.2");
    request.share.reset();
    request.epsilon_max = eps("1");
    request.requested = eps("0.7");
    expect_range(cut_candidates(request, unbounded(), {}, {}), 2, 4, "0.2");
    request.requested = eps("0.01");
    EXPECT_EQ(cut_candidates(request, unbounded(), {}, {}).denial, Denial::no_candidate);
}

TEST(Accounting, UnderDynamicSmallCandidatesAreCut) {
    const SelectionRequest request = selection_of({eps("5"), eps("1"), eps("0.5"), eps("0.1")}, 4, "0.2");
    expect_range(cut_candidates(request, dynamic(), {}, {}), 0, 3, "0.2"); // 0.1 is no more than the selection itself
    expect_range(cut_candidates(request, dynamic(), consumed("0.199999999"), {}), 0, 3, "0.2");
    // The selection is a charge like others: it must be above what is consumed.
    const SelectionRange denied = cut_candidates(request, dynamic(), consumed("0.2"), {});
    EXPECT_EQ(denied.denial, Denial::no_candidate);
    EXPECT_EQ(denied.cause, Denial::dynamic_bound);
    EXPECT_EQ(cut_candidates(request, dynamic(), consumed("5"), {}).denial, Denial::no_candidate);
    // So must the release, its own selection included.
    ChargeRequest release = request_for(infinite_epsilon);
    release.candidates = {eps("0.5")};
    EXPECT_EQ(decide(release, dynamic(), consumed("0.499999999"), {}).denial, Denial::none);
    EXPECT_EQ(decide(release, dynamic(), consumed("0.5"), {}).denial, Denial::dynamic_bound);
}

// One that compares nothing costs nothing, and does not stand in the way.
TEST(Accounting, UnderDynamicAFreeSelectionIsNone) {
    const SelectionRequest request = selection_of({eps("5"), eps("1"), eps("0.5"), eps("0.1")}, 0, "0.2");
    expect_range(cut_candidates(request, dynamic(), consumed("0.3"), {}), 0, 3, "0");
}

// Asks for amounts of one's own, none below the smallest candidate: that gets two answers more than the candidates themselves.
TEST(Accounting, DynamicEndsAfterFifteenAnswersOfAnyAmount) {
    Totals totals;
    int answers = 0;
    for (;;) {
        ChargeRequest request = request_for(infinite_epsilon);
        request.candidates = {eps("10")};
        request.requested = std::max(eps("0.001"), totals.of_public.epsilon + eps("0.000000001"));
        const Decision decision = decide(request, dynamic(), totals, {});
        if (decision.denial != Denial::none)
            break;
        totals.of_public.epsilon = totals.of_public.epsilon + decision.cost.epsilon;
        if (decision.cost.epsilon < *request.requested || ++answers > 99)
            break;
    }
    EXPECT_EQ(answers, 15);
}

// Whatever selections, failed or not, and plain queries are asked in turn: each charge is above the sum before it, so the whole stays
// below twice the largest charge. The sums are kept here.
TEST(Accounting, UnderDynamicTheWholeIsBelowTwiceTheLargestCharge) {
    std::mt19937_64 random(17);
    const std::vector<Epsilon> candidates = {eps("9"), eps("4"), eps("1.5"), eps("0.7"), eps("0.2"), eps("0.06"), eps("0.01")};
    for (int run = 0; run < 2000; ++run) {
        Totals totals;
        Epsilon sum, largest;
        const auto charge = [&](Epsilon epsilon) {
            EXPECT_GT(epsilon, sum);
            sum = sum + epsilon;
            largest = std::max(largest, epsilon);
            totals.of_public.epsilon = sum;
        };
        for (int i = 0; i < 30; ++i) {
            SelectionRequest request = selection_of(candidates, random() % 8, "0.1");
            request.epsilon_svt = candidates[random() % candidates.size()];
            request.epsilon_max = candidates[random() % candidates.size()];
            const SelectionRange range = cut_candidates(request, dynamic(), totals, {});
            if (range.denial != Denial::none)
                continue;
            if (range.charged.units() > 0)
                charge(range.charged);
            const std::size_t selected = range.first + random() % (range.last - range.first + 1);
            if (selected == range.last)
                continue; // none was
            ChargeRequest release = request_for(infinite_epsilon);
            release.candidates = {candidates[selected]};
            const Decision decision = decide(release, dynamic(), totals, {});
            EXPECT_EQ(decision.denial, Denial::none);
            charge(decision.cost.epsilon);
        }
        EXPECT_LT(sum, largest + largest);
    }
}

TEST(Accounting, NothingTestedIsNothingCharged) {
    const std::vector<Epsilon> candidates = {eps("5"), eps("1"), eps("0.5"), eps("0.1")};
    expect_range(cut_candidates(selection_of(candidates, 0, "0.2"), filter("5"), {}, {}), 0, 4, "0");
    expect_range(cut_candidates(selection_of(candidates, 2, "0.2"), filter("0.5"), {}, {}), 2, 4, "0");
    // 1 would have to be tested, and does not fit beside the selection: 0.5 passes anyhow.
    expect_range(cut_candidates(selection_of(candidates, 2, "0.2"), filter("1"), {}, {}), 2, 4, "0");
    // It is the conditional account's charges that must not show.
    expect_range(cut_candidates(selection_of(candidates, 2, "0.2"), filter("1.2"), consumed("0", "99"), {}), 1, 4,
                 "0.2");
}

TEST(Accounting, TheDeltaOfTheReleaseMustFitBeforeTheSelection) {
    SelectionRequest request = selection_of({eps("1")}, 1, "0.1");
    request.delta = del("1e-6");
    EXPECT_EQ(cut_candidates(request, filter("9", "1e-7"), {}, {}).denial, Denial::delta_total);
    EXPECT_EQ(cut_candidates(request, filter("9", "1e-6"), {}, {}).denial, Denial::none);
    EXPECT_EQ(cut_candidates(request, unbounded(), {}, {}).denial, Denial::none);
}

// ---- Exact decimals ----

TEST(Accounting, TenTimesOneTenthIsOne) {
    Table table(filter("1"));
    ChargeRequest request = request_for(0.1);
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(table.ask(request).denial, Denial::none) << i;
    EXPECT_EQ(table.totals().of_public.epsilon, eps("1"));
    EXPECT_EQ(table.totals().of_public.epsilon.text(), "1");
    EXPECT_EQ(table.ask(request).denial, Denial::epsilon_total);
}

TEST(Accounting, TheLastUnitDecides) {
    const ChargeRequest request = request_for(0.1);
    EXPECT_EQ(decide(request, filter("1"), consumed("0.9"), {}).denial, Denial::none);
    EXPECT_EQ(decide(request, filter("1"), consumed("0.900000001"), {}).denial, Denial::epsilon_total);
    ChargeRequest least = request;
    least.requested = Epsilon::from_units(1);
    EXPECT_EQ(decide(least, filter("1"), consumed("0.999999999"), {}).cost.epsilon, Epsilon::from_units(1));
    EXPECT_EQ(decide(least, filter("1"), consumed("1"), {}).denial, Denial::epsilon_total);
    ChargeRequest gaussian = request;
    gaussian.delta = Delta::from_units(1);
    Totals totals;
    EXPECT_EQ(decide(gaussian, filter("1", "1e-30"), totals, {}).denial, Denial::none);
    totals.of_public.delta = Delta::from_units(1);
    EXPECT_EQ(decide(gaussian, filter("1", "1e-30"), totals, {}).denial, Denial::delta_total);
}

TEST(Accounting, TheSlackIsOnEpsStarOnly) {
    EXPECT_EQ(decide(request_for(0.1 * (1 - 1e-13)), filter("1"), {}, {}).cost.epsilon, eps("0.1"));
    EXPECT_EQ(decide(request_for(0.1 * (1 - 1e-9)), filter("1"), {}, {}).cost.epsilon, eps("0.09"));
    ChargeRequest sound = request_for(0.1 * (1 - 1e-9));
    sound.slack = sound_slack;
    EXPECT_EQ(decide(sound, filter("1"), {}, {}).cost.epsilon, eps("0.1"));
    ChargeRequest capped = request_for(infinite_epsilon);
    capped.slack = sound_slack;
    capped.epsilon_max = eps("0.099999999"); // 1e-8 below a candidate: the cap is exact
    EXPECT_EQ(decide(capped, filter("1"), {}, {}).cost.epsilon, eps("0.09"));
}

TEST(Accounting, TwentyCountsAtTheDefaults) {
    Table table(filter("1"));
    const ChargeRequest request = request_for(within_domain_eps_star(0.95, 1, 1, 1));
    int answered = 0;
    while (table.ask(request).denial == Denial::none)
        ++answered;
    EXPECT_EQ(answered, 20);
    EXPECT_EQ(table.totals().of_public.epsilon, eps("1"));
}

// ---- Steps of a decision ----

TEST(Accounting, NoCandidate) {
    for (double eps_star : {0.0, 0.0005, -1.0, std::nan("")})
        EXPECT_EQ(decide(request_for(eps_star), unbounded(), {}, {}).denial, Denial::no_candidate) << eps_star;
    EXPECT_EQ(decide(request_for(infinite_epsilon), unbounded(), {}, {}).cost.epsilon, eps("10"));
    ChargeRequest request = request_for(infinite_epsilon);
    request.epsilon_max = eps("0.0005");
    EXPECT_EQ(decide(request, unbounded(), {}, {}).denial, Denial::no_candidate);
    request.epsilon_max = eps("1");
    EXPECT_EQ(decide(request, unbounded(), {}, {}).cost.epsilon, eps("1"));
    request.candidates.clear();
    EXPECT_EQ(decide(request, unbounded(), {}, {}).denial, Denial::no_candidate);
    request.candidates = {eps("-1"), eps("0")}; // would give budget back
    EXPECT_EQ(decide(request, unbounded(), {}, {}).denial, Denial::no_candidate);
}

TEST(Accounting, AskingForLess) {
    ChargeRequest request = request_for(0.8814);
    request.requested = eps("0.123456789"); // no candidate
    EXPECT_EQ(decide(request, filter("1"), {}, {}).cost.epsilon, eps("0.123456789"));
    request.requested = eps("0.000000001"); // below the smallest candidate
    EXPECT_EQ(decide(request, filter("1"), {}, {}).cost.epsilon, eps("0.000000001"));
    request.requested = eps("50"); // more is not less
    EXPECT_EQ(decide(request, filter("1"), {}, {}).cost.epsilon, eps("0.8"));
    request.requested = eps("0"); // what a request below 10^-9 is rounded to
    EXPECT_THROW(decide(request, filter("1"), {}, {}), InvalidParameter);
    request.requested = eps("-0.1");
    EXPECT_THROW(decide(request, filter("1"), {}, {}), InvalidParameter);
    // Less does not help where tau permits nothing at all: the preference comes first.
    request = request_for(0.0005);
    request.requested = eps("0.0001");
    EXPECT_EQ(decide(request, filter("1"), {}, {}).denial, Denial::no_candidate);
    request = request_for(1);
    request.delta = del("-1e-9");
    EXPECT_THROW(decide(request, filter("1"), {}, {}), InvalidParameter);
}

TEST(Accounting, AskingForLessUnderDynamic) {
    ChargeRequest request = request_for(0.8814);
    request.requested = eps("0.3");
    EXPECT_EQ(decide(request, dynamic(), consumed("0.3"), {}).denial, Denial::dynamic_bound);
    EXPECT_EQ(decide(request, dynamic(), consumed("0.299999999"), {}).cost.epsilon, eps("0.3"));
    request.requested = eps("0.300000001"); // no candidate, but above what is consumed
    EXPECT_EQ(decide(request, dynamic(), consumed("0.3"), {}).cost.epsilon, eps("0.300000001"));
    EXPECT_EQ(decide(request_for(0.8814), dynamic(), consumed("0.8"), {}).denial, Denial::dynamic_bound);
    EXPECT_EQ(decide(request_for(0.0005), dynamic(), consumed("0.8"), {}).denial, Denial::no_candidate);
}

// Everything is wrong with the request; what is reported is the first rule in the order of 5.2.
TEST(Accounting, TheOrderOfDenials) {
    ChargeRequest request = request_for(0);
    request.delta = del("1e-6");
    request.share = eps("0.1");
    BoundSettings bound = bound_of(Bound::dynamic, eps("0.5"), {});
    Totals totals = consumed("0.4"), role = consumed("0.1");
    EXPECT_EQ(decide(request, bound, totals, role).denial, Denial::no_candidate);
    request.eps_star = 0.3;
    EXPECT_EQ(decide(request, bound, totals, role).denial, Denial::dynamic_bound);
    request.eps_star = 0.8;
    EXPECT_EQ(decide(request, bound, totals, role).denial, Denial::epsilon_total);
    bound.epsilon_total = std::nullopt;
    EXPECT_EQ(decide(request, bound, totals, role).denial, Denial::role_share);
    request.share = eps("0.9");
    EXPECT_EQ(decide(request, bound, totals, role).denial, Denial::delta_total);
    bound.delta_total = del("1e-6");
    EXPECT_EQ(decide(request, bound, totals, role).denial, Denial::none);
    EXPECT_EQ(decide(request, bound, totals, role).cost.epsilon, eps("0.8"));
}

TEST(Accounting, DeltaTotalBindsUnderEveryBoundButNone) {
    ChargeRequest request = request_for(1);
    request.delta = del("4e-7");
    for (Bound bound : {Bound::filter, Bound::dynamic, Bound::none}) {
        const BoundSettings settings = bound_of(bound, eps("100"), del("1e-6"));
        Totals totals;
        totals.of_public.delta = del("6e-7");
        EXPECT_EQ(decide(request, settings, totals, {}).denial, Denial::none) << name_of(bound);
        totals.of_public.delta = del("6.000000001e-7");
        EXPECT_EQ(decide(request, settings, totals, {}).denial,
                  bound == Bound::none ? Denial::none : Denial::delta_total)
            << name_of(bound);
        // A pure release charges no delta and is answered even where delta is used up.
        ChargeRequest pure = request_for(1);
        totals.of_public.delta = del("1e-6");
        EXPECT_EQ(decide(pure, settings, totals, {}).denial, Denial::none) << name_of(bound);
    }
}

TEST(Accounting, AFilterWithoutATotalAllowsNothing) {
    const BoundSettings incomplete = bound_of(Bound::filter, std::nullopt, del("1"));
    EXPECT_EQ(decide(request_for(1), incomplete, {}, {}).denial, Denial::epsilon_total);
}

// Any table that counts only still respects a role's share.
TEST(Accounting, SharesBindUnderEveryBound) {
    ChargeRequest request = request_for(0.3);
    request.share = eps("0.5");
    for (const BoundSettings &bound : {filter("1"), dynamic(), unbounded()}) {
        EXPECT_EQ(decide(request, bound, {}, consumed("0.2")).denial, Denial::none) << name_of(bound.bound);
        EXPECT_EQ(decide(request, bound, {}, consumed("0.200000001")).denial, Denial::role_share)
            << name_of(bound.bound);
    }
}

// A charge that was under way when a risk profile was granted: the profile holds for nothing that comes after it.
TEST(Accounting, AShareOfAProfileIsOfPureEpsilonAlone) {
    ChargeRequest request = request_for(0.1);
    request.share = eps("5");
    request.profile = eps("5");
    const auto denial = [&](const Totals &role) { return decide(request, filter("9", "1"), {}, role).denial; };
    EXPECT_EQ(denial(consumed("1")), Denial::none);
    EXPECT_EQ(denial(consumed("1", "0.000000001")), Denial::role_share); // an epsilon from the data
    Totals with_delta = consumed("1"), with_rho = consumed("1"), in_rho = consumed("1");
    with_delta.of_public.delta = del("1e-30");
    EXPECT_EQ(denial(with_delta), Denial::role_share);
    with_rho.of_public.rho = rho_of_pure(eps("0.001"));
    EXPECT_EQ(denial(with_rho), Denial::role_share);
    in_rho.of_conditional.rho_only = true;
    EXPECT_EQ(denial(in_rho), Denial::role_share);
    request.profile.reset();
    EXPECT_EQ(denial(with_delta), Denial::none);
    // What is asked for counts as what was charged does; a selection has no candidates left.
    request.profile = eps("5");
    request.delta = del("1e-6");
    EXPECT_EQ(denial({}), Denial::role_share);
    SelectionRequest selection;
    selection.candidates = request.candidates;
    selection.share = request.share;
    selection.profile = eps("5");
    selection.tested = 1;
    selection.epsilon_svt = eps("0.1");
    EXPECT_EQ(cut_candidates(selection, filter("9"), {}, consumed("1")).denial, Denial::none);
    EXPECT_NE(cut_candidates(selection, filter("9"), {}, consumed("1", "1")).denial, Denial::none);
    // Under zcdp pure charges need a sum of their own.
    BoundSettings zcdp = bound_of(Bound::zcdp, eps("9"), del("1e-6"));
    zcdp.delta_conversion = del("5e-7");
    zcdp.rho_total = rho_cap(eps("8"), zcdp.delta_conversion, zcdp.cap);
    request.delta = {};
    EXPECT_EQ(decide(request, zcdp, {}, {}).denial, Denial::role_share);
    zcdp.epsilon_pure = eps("1");
    EXPECT_EQ(decide(request, zcdp, {}, {}).denial, Denial::none);
}

// ---- Facts about `dynamic` that a controller should know ----

TEST(Accounting, DynamicAnswersEqualQueriesOnce) {
    Table table(dynamic());
    EXPECT_EQ(table.ask(request_for(0.0526), "first").denial, Denial::none);
    EXPECT_EQ(table.ask(request_for(0.0526), "second").denial, Denial::dynamic_bound);
}

TEST(Accounting, DynamicEndsAfterThirteenAnswers) {
    Table table(dynamic());
    std::string answers;
    for (Epsilon candidate : std::vector<Epsilon>(paper_candidates().rbegin(), paper_candidates().rend())) {
        const Decision decision = table.ask(request_for(candidate.value()));
        if (decision.denial == Denial::none)
            answers += " " + decision.cost.epsilon.text();
    }
    EXPECT_EQ(answers, " 0.001 0.002 0.004 0.008 0.02 0.04 0.08 0.2 0.4 0.8 2 4 8");
    EXPECT_LT(table.totals().of_public.epsilon, eps("20"));
}

// ---- Two accounts ----

// dp_find_epsilon charges 10 on x and 0.05 on a neighbour. In one shared sum the next analyst would see the difference.
TEST(Accounting, AChargeChosenFromTheDataMovesNobody) {
    for (const BoundSettings &bound : {filter("1"), dynamic(), unbounded()}) {
        const Decision on_x = decide(request_for(0.8814), bound, consumed("0", "10"), consumed("0", "10"));
        const Decision on_x1 = decide(request_for(0.8814), bound, consumed("0", "0.05"), consumed("0", "0.05"));
        EXPECT_EQ(on_x.denial, Denial::none);
        EXPECT_EQ(on_x.cost.epsilon, on_x1.cost.epsilon);
    }
    // The leak that the second account prevents: the same request against the sum.
    const ChargeRequest shared = request_for(0.8814, Account::conditional);
    EXPECT_EQ(decide(shared, filter("1"), consumed("0", "10"), {}).denial, Denial::epsilon_total);
    EXPECT_EQ(decide(shared, filter("1"), consumed("0", "0.05"), {}).denial, Denial::none);
}

TEST(Accounting, ConditionalDecisionsReadBothAccounts) {
    EXPECT_EQ(decide(request_for(0.3, Account::conditional), filter("1"), consumed("0.4", "0.3"), {}).denial,
              Denial::none);
    EXPECT_EQ(decide(request_for(0.3, Account::conditional), filter("1"), consumed("0.4", "0.300000001"), {}).denial,
              Denial::epsilon_total);
    ChargeRequest request = request_for(0.1, Account::conditional);
    request.share = eps("0.5");
    EXPECT_EQ(decide(request, filter("1"), {}, consumed("0.2", "0.2")).denial, Denial::none);
    EXPECT_EQ(decide(request, filter("1"), {}, consumed("0.3", "0.2")).denial, Denial::role_share);
    request.share = std::nullopt;
    request.delta = del("1e-6");
    Totals totals;
    totals.of_public.delta = totals.of_conditional.delta = del("1e-6");
    EXPECT_EQ(decide(request, filter("1", "3e-6"), totals, {}).denial, Denial::none);
    EXPECT_EQ(decide(request, filter("1", "2e-6"), totals, {}).denial, Denial::delta_total);
}

// ---- Random sequences against a model ----

int random_int(std::mt19937_64 &random, int low, int high) {
    return std::uniform_int_distribution<>(low, high)(random);
}

// An amount of epsilon in units of 10^-9: near the candidates, or anything.
std::int64_t random_units(std::mt19937_64 &random) {
    static const std::int64_t steps[] = {1, 1'000'000, 10'000'000, 50'000'000, 100'000'000, 1'000'000'000};
    return std::max<std::int64_t>(1, steps[random_int(random, 0, 5)] * random_int(random, 1, 12) +
                                         random_int(random, -1, 1));
}

std::optional<Epsilon> maybe_epsilon(std::mt19937_64 &random, int one_in) {
    if (random_int(random, 1, one_in) != 1)
        return std::nullopt;
    return Epsilon::from_units(random_units(random));
}

ChargeRequest random_request(std::mt19937_64 &random) {
    ChargeRequest request = request_for(0);
    const int star = random_int(random, 0, 19);
    request.eps_star = star == 0 ? 0 : star == 1 ? infinite_epsilon : random_units(random) / 1e9;
    request.account = random_int(random, 0, 2) == 0 ? Account::conditional : Account::public_account;
    if (random_int(random, 0, 3) == 0)
        request.candidates = {eps("3"), eps("0.5"), eps("0.000000002")};
    request.epsilon_max = maybe_epsilon(random, 2);
    request.requested = maybe_epsilon(random, 4);
    request.share = maybe_epsilon(random, 4);
    if (random_int(random, 0, 2) == 0)
        request.delta = Delta::from_units(random_int(random, 0, 5));
    return request;
}

BoundSettings random_bound(std::mt19937_64 &random) {
    BoundSettings bound;
    bound.bound = static_cast<Bound>(random_int(random, 0, 2));
    if (bound.bound == Bound::filter)
        bound.epsilon_total = Epsilon::from_units(random_units(random) * 3);
    else if (bound.bound == Bound::dynamic)
        bound.epsilon_total = maybe_epsilon(random, 2);
    bound.delta_total = Delta::from_units(random_int(random, 0, 20));
    return bound;
}

// The text of 5.2 word by word, on a list of past charges and 64-bit units, with candidates tried one by one.
class Model {
  public:
    struct Past {
        Account account;
        int role;
        std::int64_t epsilon, delta;
    };
    // 0: denied
    std::int64_t decide(const ChargeRequest &request, const BoundSettings &bound, int role) const {
        const auto units = [](auto decimal) { return static_cast<std::int64_t>(decimal.units()); };
        std::int64_t total = 0, delta = 0, of_role = 0;
        for (const Past &past : past_) {
            if (past.account == Account::conditional && request.account == Account::public_account)
                continue;
            total += past.epsilon;
            delta += past.delta;
            of_role += past.role == role ? past.epsilon : 0;
        }
        std::int64_t e = 0;
        for (Epsilon candidate : request.candidates) {
            const std::int64_t c = units(candidate);
            const bool counts = bound.bound != Bound::dynamic || c > total;
            const bool permitted = request.eps_star == infinite_epsilon || c <= std::llround(request.eps_star * 1e9);
            if (counts && permitted && (!request.epsilon_max || c <= units(*request.epsilon_max)))
                e = std::max(e, c);
        }
        if (e == 0)
            return 0;
        if (request.requested && units(*request.requested) < e)
            e = units(*request.requested);
        const bool denied = (bound.bound == Bound::dynamic && e <= total) ||
                            (bound.epsilon_total && total + e > units(*bound.epsilon_total)) ||
                            (request.share && of_role + e > units(*request.share)) ||
                            (bound.bound != Bound::none && delta + units(request.delta) > units(bound.delta_total));
        return denied ? 0 : e;
    }
    void charge(const ChargeRequest &request, int role, std::int64_t e) {
        past_.push_back({request.account, role, e, static_cast<std::int64_t>(request.delta.units())});
    }

  private:
    std::vector<Past> past_;
};

TEST(Accounting, RandomSequencesAgreeWithAModelInIntegers) {
    std::mt19937_64 random(8);
    int answered = 0, denied = 0;
    for (int sequence = 0; sequence < 3000; ++sequence) {
        const BoundSettings bound = random_bound(random);
        Table table(bound);
        Model model;
        for (int step = 0; step < 30; ++step) {
            const ChargeRequest request = random_request(random);
            const int role = random_int(random, 0, 2);
            const std::int64_t expected = model.decide(request, bound, role);
            const Decision decision = table.ask(request, std::to_string(role));
            ASSERT_EQ(decision.denial == Denial::none, expected != 0) << sequence << "/" << step;
            ++(expected != 0 ? answered : denied);
            if (expected == 0)
                continue;
            ASSERT_EQ(decision.cost.epsilon, Epsilon::from_units(expected)) << sequence << "/" << step;
            model.charge(request, role, expected);
        }
        if (bound.bound == Bound::filter) {
            EXPECT_LE(table.totals().of_public.epsilon, *bound.epsilon_total);
            EXPECT_LE(table.totals().of_conditional.epsilon, *bound.epsilon_total);
        }
    }
    EXPECT_GT(answered, 10000);
    EXPECT_GT(denied, 10000);
}

// Two runs with the same public requests; one of them has charges of the other kind in between. Every public decision, its
// reason included, is the same: nothing that an analyst of a DP mode sees depends on the conditional account.
TEST(Accounting, PublicDecisionsDoNotDependOnTheConditionalAccount) {
    std::mt19937_64 random(9);
    for (int sequence = 0; sequence < 2000; ++sequence) {
        const BoundSettings bound = random_bound(random);
        Table plain(bound), mixed(bound);
        for (int step = 0; step < 20; ++step) {
            ChargeRequest request = random_request(random);
            if (request.account == Account::conditional) {
                mixed.ask(request);
                continue;
            }
            const Decision one = plain.ask(request), other = mixed.ask(request);
            ASSERT_EQ(one.denial, other.denial);
            ASSERT_EQ(one.cost.epsilon, other.cost.epsilon);
        }
        EXPECT_EQ(plain.totals().of_public.epsilon, mixed.totals().of_public.epsilon);
    }
}

// ---- Names ----

TEST(Accounting, Names) {
    for (Bound bound : {Bound::filter, Bound::dynamic, Bound::none, Bound::zcdp})
        EXPECT_EQ(bound_from_name(name_of(bound)), bound);
    EXPECT_EQ(bound_from_name("Filter"), std::nullopt);
    EXPECT_EQ(bound_from_name(""), std::nullopt);
    EXPECT_STREQ(name_of(Account::public_account), "public");
    EXPECT_STREQ(name_of(Account::conditional), "conditional");
    EXPECT_STREQ(name_of(Basis::epsilon), "epsilon");
    EXPECT_STREQ(name_of(Basis::rho), "rho");
}

} // namespace
