#include "release/choose.hpp"

#include <algorithm>
#include <cmath>

#include "border/refuse.hpp"
#include "release/charge.hpp"
#include "risk/exact_risk.hpp"
#include "risk/printed_risk.hpp"
#include "risk/unit_changes.hpp"
#include "rows/guarded_read.hpp"
#include "rows/population.hpp"
#include "rows/quantiles.hpp"

namespace dp::release {

NoiseTerms NoiseTerms::unknown(const Terms &terms) {
    auto *of = static_cast<double *>(palloc(sizeof(double) * terms.candidates->size()));
    std::fill_n(of, terms.candidates->size(), get_float8_nan());
    return NoiseTerms{of};
}

// Core region. One price for every lattice: D = 1, where the noise is smallest.
static double gaussian_term(const rows::Question *question, const Terms &terms, privacy::Epsilon candidate) {
    std::vector<privacy::Measure> measures = *question->measures;
    for (privacy::Measure &measure : measures)
        measure.sensitivity = 1;
    auto plan = privacy::plan_release(terms.mechanism, measures, question->thresholded, candidate, terms.delta);
    double term = 0;
    for (std::size_t j = 0; j < measures.size(); j++)
        term += measures[j].coordinates() * std::pow(plan.noise[j].stddev(), 2);
    return term;
}

// Below sigma = 1 unit the integer noise varies less than its sigma says. The largest candidate up to eps_star whose ratio
// meets tau with the noise that would be drawn; 0 if there is none. Core region.
static double gaussian_eps_star(const rows::Question *question, const Terms &terms, double tau, double eps_star,
                                const NoiseTerms &known) {
    for (std::size_t i = 0; i < terms.candidates->size(); i++) {
        privacy::Epsilon candidate = (*terms.candidates)[i];
        if (candidate.value() > eps_star * (1 + privacy::price_slack))
            continue;
        if (std::isnan(known.of[i]))
            known.of[i] = gaussian_term(question, terms, candidate);
        double low = privacy::rdr_of(0, terms.mechanism, known.of[i]),
               high = privacy::rdr_of(std::sqrt(double(question->nmeasures)), terms.mechanism, known.of[i]);
        if (low >= tau * high * (1 - privacy::price_slack))
            return candidate.value();
    }
    return 0;
}

Permitted from_public_facts(const rows::Question *question, const Terms &terms) {
    return from_public_facts(question, terms, NoiseTerms::unknown(terms));
}

Permitted from_public_facts(const rows::Question *question, const Terms &terms, const NoiseTerms &known) {
    if (terms.algorithm == Algorithm::profile || terms.algorithm == Algorithm::approved)
        return Permitted{privacy::infinite_epsilon, privacy::price_slack};
    return border::core([&] {
        int m = question->nmeasures, k1 = question->ncoordinates;
        if (terms.mechanism != privacy::Mechanism::gaussian)
            return Permitted{privacy::within_domain_eps_star(terms.tau, terms.weight, k1, m), privacy::price_slack};
        const double delta = terms.delta.value() / (question->thresholded ? 2 : 1); // what it is calibrated at (formulas.md, 8.5)
        double eps_star = privacy::within_domain_eps_star_gaussian(terms.tau, terms.weight, k1, m, delta);
        double tau = privacy::weighted_tau(terms.tau, terms.weight);
        return Permitted{gaussian_eps_star(question, terms, tau, eps_star, known), privacy::price_slack};
    });
}

// ---- from the data -------------------------------------------------------------------------------------------------

risk::PeopleGroups people_of(const rows::Question *question, const Terms &terms) {
    if (terms.group_a == nullptr)
        return risk::PeopleGroups{};
    return risk::PeopleGroups{rows::table_condition(question->settings->relation, terms.group_a),
                              rows::table_condition(question->settings->relation, terms.group_b)};
}

// An analyst is denied like for any other reason that was found in the rows: false.
bool check_people(const risk::Memo *memo, const Terms &terms) {
    if (memo->members_a > 0 && memo->members_b > 0 && memo->members_both == 0)
        return true;
    if (terms.grantee != nullptr)
        return false;
    if (memo->members_both > 0)
        refuse_state(psprintf("group_a and group_b overlap: " INT64_FORMAT " records are in both", memo->members_both),
                     "Declare two groups of people of which nobody is in both.");
    refuse_state(psprintf("%s is empty: no record of the table meets its condition",
                          memo->members_a == 0 ? "group_a" : "group_b"),
                 "A group has a median risk only if there is somebody in it.");
    return false;
}

// The ratio of one candidate, from the bound on a risk or from the risks themselves.
static privacy::RdrRange range_at(const rows::Question *question, const Terms &terms, const risk::Memo *memo,
                                  double pis_min, double pis_max, std::size_t i, const NoiseTerms &known) {
    const privacy::ReleasePlan *plan =
        !terms.exact && !std::isnan(known.of[i])
            ? nullptr
            : risk::plan_in_context(question, terms.mechanism, (*terms.candidates)[i], terms.delta);
    if (terms.exact) {
        risk::ExactRisks risks = risk::exact_risks(question, memo, plan);
        return border::core([&] { return risk::range_of(memo, risks, terms.group_a != nullptr); });
    }
    if (plan != nullptr)
        known.of[i] = risk::noise_term(question, memo, plan);
    const double least = known.of[i] * (1 - risk::error_of_noise(question, memo)); // less noise is the safe side
    return {privacy::rdr_of(pis_min, terms.mechanism, least), privacy::rdr_of(pis_max, terms.mechanism, least)};
}

// The first candidate, from the largest on, whose ratio meets tau: no noise has to fall with epsilon for that (formulas.md 2).
Permitted from_risks(const rows::Question *question, const Terms &terms, const risk::Memo *memo, double pis_min,
                     double pis_max, const NoiseTerms &known) {
    double tau = border::core([&] { return privacy::weighted_tau(terms.tau, terms.weight); });
    const bool bound = !terms.exact && terms.mechanism == privacy::Mechanism::laplace;
    const double slack = bound ? privacy::sound_slack : privacy::price_slack;
    if (!terms.exact && tau * pis_max <= pis_min)
        return Permitted{privacy::infinite_epsilon, privacy::price_slack};
    for (std::size_t i = 0; i < terms.candidates->size() && (tau < 1 || terms.exact); i++) {
        CHECK_FOR_INTERRUPTS();
        const privacy::RdrRange range = range_at(question, terms, memo, pis_min, pis_max, i, known);
        if (range.min >= tau * range.max * (1 - slack))
            return Permitted{(*terms.candidates)[i].value(), privacy::price_slack};
    }
    return Permitted{0, privacy::price_slack};
}

static Permitted from_data(const rows::Search &search, const Terms &terms) {
    const rows::Question *question = search.question();
    bool groups = terms.group_a != nullptr;
    risk::Memo *memo =
        risk::leave_one_out(search, terms.mechanism, privacy::Calibration::sound,
                            terms.exact ? risk::Detail::changes : risk::Detail::range, people_of(question, terms));
    if (groups && !check_people(memo, terms))
        return Permitted{0, privacy::price_slack};
    // An empty table has no RDR: the price from public facts stands in (section 2, edge cases).
    if (memo->rows == 0)
        return from_public_facts(question, terms);
    double first = groups ? memo->profile_a->lower_median() : memo->profile->min();
    double second = groups ? memo->profile_b->lower_median() : memo->profile->max();
    return from_risks(question, terms, memo, Min(first, second), Max(first, second), NoiseTerms::unknown(terms));
}

// Refuses a search that would hold a keeper for long: for each group and candidate percentiles take the square of their cells.
static void check_search_time(const rows::Question *question, const Terms &terms) {
    constexpr double most = 1e9; // some seconds
    double cells = 0;
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].kind == privacy::MeasureKind::quantile)
            cells += static_cast<double>(question->grids[j]->cells) * question->grids[j]->cells;
    if (cells * Max(1, question->ngroups) * static_cast<double>(terms.candidates->size()) > most)
        refuse_size("an epsilon for percentiles of so many groups takes too long to find",
                    "Ask about fewer groups, or the controller for fewer candidates or selection => 'within_domain'.");
}

Permitted choose(const Checked &checked) {
    const Terms &terms = checked.terms;
    if (is_public(terms.algorithm))
        return from_public_facts(checked.charged, terms);
    const rows::Search search = checked.search();
    const rows::Question *question = checked.question;
    risk::check_units(question,
                      {privacy::Calibration::sound, terms.group_a != nullptr}); // not as a failure
    (void)rows::lock_population(question); // nor is what is missing in the table of people
    if (terms.grantee == nullptr) // the controller may see what his rows do
        return from_data(search, terms);
    check_search_time(question, terms);
    Permitted permitted = {};
    rows::caught(question, [&] { permitted = from_data(search, terms); });
    return permitted;
}

// ---- the noise -----------------------------------------------------------------------------------------------------

// Tells by what tau and the asker permit, whatever was spent; false where he will be denied.
static bool prefers_gaussian(const rows::Question *question, const Terms &terms) {
    const Permitted permitted = from_public_facts(question, terms);
    return border::core([&] {
        privacy::ChargeRequest request;
        set_request(question, terms, permitted, {}, &request);
        const std::optional<privacy::Epsilon> epsilon = privacy::choose(request);
        return epsilon && privacy::prefers_gaussian(*question->measures, *epsilon);
    });
}

privacy::Mechanism chosen_mechanism(const catalog::Reading &reading, const rows::Question *question, const Terms &terms,
                                    bool refines) {
    using privacy::Mechanism;
    if (terms.mechanism != Mechanism::automatic)
        return terms.mechanism;
    if (terms.algorithm == Algorithm::within_data || terms.sighted)
        refuse_value("mechanism auto does not go with an epsilon that follows from the rows",
                     "Grant mechanism => 'laplace' or 'gaussian'; of a request decide with basis => 'public'.",
                     "Which noise is drawn would show it.");
    const catalog::Terms *now = catalog::read_terms(reading, question->settings->view, InvalidOid, InvalidOid);
    if (now == nullptr || now->bound.basis_of(false) != privacy::Basis::rho || now->bound.splits_pure() ||
        is_selected(terms.algorithm) || terms.algorithm == Algorithm::profile || terms.caps.profile ||
        rows::has_quantile(question) || question->groups_only)
        return Mechanism::laplace;
    return refines || terms.wanted.asked() || prefers_gaussian(question, terms) ? Mechanism::automatic
                                                                                : Mechanism::laplace;
}

} // namespace dp::release
