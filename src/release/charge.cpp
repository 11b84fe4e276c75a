#include "release/charge.hpp"

#include "release/charge_parameters.hpp"
#include "rows/touched.hpp"
#include "rows/unit_checks.hpp"

namespace dp::release {

static const char *name_of(Algorithm algorithm) {
    static const char *const names[] = {"within_domain", "profile",          "released",         "within_data",
                                        "find_epsilon",  "find_and_release", "find_from_output", "approved"};
    static_assert(std::size(names) == static_cast<int>(Algorithm::approved) + 1);
    return names[static_cast<int>(algorithm)];
}

privacy::Delta delta_of(const rows::Question *question, const Terms &terms) {
    if (terms.rho.units() > 0)
        return question->thresholded ? terms.delta : privacy::Delta();
    return privacy::delta_charged(terms.mechanism, question->thresholded, terms.delta);
}

privacy::ReleasePlan noise_of(const rows::Question *question, const Terms &terms, privacy::Epsilon epsilon) {
    const privacy::Delta delta = delta_of(question, terms);
    if (terms.rho.units() > 0)
        return privacy::plan_measurement(*question->measures, question->thresholded, terms.rho, delta);
    return privacy::plan_release(terms.mechanism, *question->measures, question->thresholded, epsilon, delta);
}

const privacy::ReleasePlan *plan_of(const rows::Question *question, const Terms &terms, privacy::Epsilon epsilon) {
    auto *plan = border::context_new<privacy::ReleasePlan>();
    border::core([&] { *plan = noise_of(question, terms, epsilon); });
    return plan;
}

// Groups that nobody declared appear by a threshold: the zCDP of the row holds but for an event of probability delta_groups
// (formulas.md 5.3, 8.5).
static const char *guarantee_of(const Terms &terms, bool thresholded) {
    if (terms.sighted)
        return "none: decided in sight of the rows";
    switch (terms.algorithm) {
    case Algorithm::within_domain:
    case Algorithm::profile:
    case Algorithm::approved:
        return thresholded ? "(epsilon, delta); rho but for an event of probability delta_groups" : "(epsilon, delta)";
    case Algorithm::released:
    case Algorithm::find_and_release:
        return thresholded ? "ex-post; rho but for an event of probability delta_groups" : "ex-post";
    default:
        return "none: epsilon chosen from the data";
    }
}

// How delta is split does not depend on epsilon, which is chosen later, under the odometer's lock.
static void split_delta(const rows::Question *question, const Terms &terms, catalog::Charge *charge) {
    border::core([&] {
        const auto plan = noise_of(question, terms, terms.candidates->front());
        charge->delta = plan.delta;
        charge->delta_noise = plan.delta_noise;
        charge->delta_groups = plan.delta_groups;
    });
}

catalog::Charge charge_for(const rows::Question *question, const Terms &terms, const Permitted &permitted) {
    if (terms.mechanism == privacy::Mechanism::laplace && rows::is_spread(question)) // 9.14: its l1 norm is not bounded
        elog(ERROR, "what is clipped for Gaussian noise was to get Laplace noise");
    catalog::Charge charge = {};
    charge.settings = question->settings;
    charge.asker = question->asker;
    charge.query = question->text;
    charge.grantee = terms.grantee;
    charge.grantee_oid = terms.grantee_oid;
    charge.algorithm = name_of(terms.algorithm);
    charge.guarantee = guarantee_of(terms, question->thresholded);
    charge.kind = terms.mechanism == privacy::Mechanism::laplace ? "pure" : "gaussian";
    charge.mechanism = terms.mechanism;
    charge.account = is_public(terms) ? privacy::Account::public_account : privacy::Account::conditional;
    charge.candidates = terms.candidates;
    charge.caps = terms.caps;
    charge.eps_star = permitted.eps_star;
    charge.slack = permitted.slack;
    split_delta(question, terms, &charge);
    charge.measures = question->measures;
    charge.thresholded = question->thresholded;
    charge.touched = is_public(terms) ? rows::charged_cells(question) : nullptr; // nothing rests on the conditional account
    charge.parameters = describe_charge(question, terms);
    return charge;
}

void set_limits(const rows::Question *question, const Terms &terms, privacy::Delta delta, privacy::Limits *limits) {
    limits->candidates = *terms.candidates;
    static_cast<privacy::Caps &>(*limits) = terms.caps;
    limits->delta = delta;
    limits->groups = privacy::delta_of_groups(terms.mechanism, question->thresholded, delta);
    limits->pure = terms.mechanism == privacy::Mechanism::laplace;
    limits->measures = std::max<std::size_t>(question->measures->size(), 1);
    limits->rho_of = [question, &terms, delta](privacy::Epsilon epsilon) {
        return privacy::plan_release(terms.mechanism, *question->measures, question->thresholded, epsilon, delta).rho();
    };
}

void set_request(const rows::Question *question, const Terms &terms, const Permitted &permitted, privacy::Delta delta,
                 privacy::ChargeRequest *request) {
    set_limits(question, terms, delta, request);
    request->eps_star = permitted.eps_star;
    request->slack = permitted.slack;
}

} // namespace dp::release
