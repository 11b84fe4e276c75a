#include "release/accuracy_plan.hpp"

#include <algorithm>
#include <cmath>

#include "privacy/triple.hpp"

#include "catalog/decimals.hpp"
#include "release/accuracy.hpp"
#include "release/charge.hpp"
#include "query/grammar.hpp"
#include "release/fields.hpp"
#include "rows/quantiles.hpp"

namespace dp::release {

// ---- what has no accuracy ------------------------------------------------------------------------------------------

static bool has_interval(const rows::Question *question) {
    const query::Output *outputs = question->leaf->outputs;
    return std::any_of(outputs, outputs + question->leaf->noutputs,
                       [](const query::Output &output) { return output.part != query::Part::value; });
}

static const char ranges[] =
    "Count over ranges: count(*) FILTER (WHERE x < 10), or GROUP BY width_bucket(x, 0, 100, 10).";

void check_mechanism(const rows::Question *question, const Terms &terms) {
    if (rows::has_quantile(question) && terms.mechanism == privacy::Mechanism::gaussian)
        refuse_form("min, max and percentiles are not supported with Gaussian noise", ranges,
                    "They are drawn from a histogram, at a price in epsilon: no noise is added to them.");
}

// They are drawn for a share of epsilon, whatever the rows are. How far a row moves them depends on the others.
static void check_quantiles(const rows::Question *question, const Terms &terms) {
    if (!rows::has_quantile(question))
        return;
    check_mechanism(question, terms);
    if (is_selected(terms.algorithm))
        refuse_form("min, max and percentiles are not supported where epsilon is selected by tau_var", ranges,
                    "How far a row moves a percentile depends on the others, so a selection has no bound.");
    if (terms.algorithm == Algorithm::find_from_output)
        refuse_form("min, max and percentiles are not supported with the indicator \"output\"",
                    "Use the indicator 'expected'.", "They are drawn from a histogram: no noise is added to them.");
    if (terms.wanted.asked())
        refuse_form("within and error95 are not supported for min, max and percentiles",
                    "Leave them out: dp_explain() tells the rank.",
                    "How far they are off depends on where the rows lie; known is how far their rank is off.");
}

void check_policy(const rows::Question *question, const Terms &terms) {
    check_quantiles(question, terms);
    // The width of an interval is that of the noise.
    if (terms.algorithm == Algorithm::within_data && has_interval(question))
        refuse_form("dp_low and dp_high are not supported under within_data",
                    "Leave them out, or ask the controller for another preference.",
                    "Its epsilon is chosen from the data, and how wide an interval is would show it.");
    if (terms.sighted && has_interval(question))
        refuse_form("dp_low and dp_high do not go with a decision in sight of the rows",
                    "Decide with basis => 'public', or reject the request: it can be made again without them.",
                    "How wide an interval is would show the epsilon that was decided on.");
    if (!terms.wanted.asked())
        return;
    if (terms.algorithm == Algorithm::within_data)
        refuse_form("within and error95 are not supported under within_data",
                    "Leave them out, or ask the controller for another preference.",
                    "Its epsilon is chosen from the data, whatever accuracy is asked for.");
    if (is_selected(terms.algorithm))
        refuse_form("within and error95 are not supported where epsilon is selected",
                    "Ask with epsilon => 0.05 or the like, or ask the controller for a policy with tau.",
                    "The policy has a tau_var: its epsilon is selected when the query is asked.");
}

template <class Test> static bool has_aggregate(const rows::Question *question, Test &&test) {
    const query::Aggregate *aggregates = question->leaf->aggregates;
    return std::any_of(aggregates, aggregates + question->leaf->naggregates,
                       [&](const query::Aggregate &aggregate) { return test(aggregate.fn); });
}

static bool has_pair(const rows::Question *question) {
    return std::any_of(question->measures->begin(), question->measures->end(),
                       [](const privacy::Measure &measure) { return measure.has_parts(); });
}

static void check_query(const rows::Question *question, bool in_steps) {
    if (has_aggregate(question, [](privacy::Aggregate fn) { return fn == privacy::Aggregate::avg; }))
        refuse_form("within and error95 are not supported for avg",
                    "Ask for sum(x) and for count(*) FILTER (WHERE x IS NOT NULL), and divide.",
                    "How accurate an average is depends on how many rows there are.");
    if (has_aggregate(question, privacy::is_spread))
        refuse_form("within and error95 are not supported for variances and standard deviations",
                    "Ask for sum(x), sum(x * x) and count(*) FILTER (WHERE x IS NOT NULL), and compute.",
                    "How accurate they are depends on how many rows there are.");
    if (query::asks_joint(question->leaf))
        refuse_form("within and error95 are not supported for covariances, correlations and lines of regression",
                    "Leave them out: dp_low and dp_high tell how far off the answer is.",
                    "How accurate they are depends on how many rows there are.");
    if (!in_steps)
        return;
    if (has_pair(question))
        refuse_form("within is not supported for count and sum of one column together",
                    "Ask for count(*) FILTER (WHERE x IS NOT NULL) in place of count(x), or in two queries, or with "
                    "error95 alone.",
                    "They are released together, as a pair.");
    if (question->thresholded)
        refuse_form("within is not supported for groups that are not declared",
                    "Ask the controller to declare the groups with dp_set_groups(), or ask with error95 alone.",
                    "Whether a group appears is decided once, by a threshold.");
}

static void check_bound(const Terms &terms, bool measured) {
    const char *alone = "Ask with error95 alone, which is one charge, or with epsilon.";
    if (terms.bound->bound == privacy::Bound::dynamic)
        refuse_form("within is not supported under the bound \"dynamic\"", alone,
                    "There each charge must be above all that were made before.");
    if (terms.mechanism == privacy::Mechanism::gaussian && !measured)
        refuse_form("within is not supported for Gaussian noise that is charged in epsilon",
                    "Ask with error95 alone, or ask the controller for the mechanism laplace, or the bound zcdp.",
                    psprintf("The policy's mechanism is gaussian, and the bound of the table is \"%s\".",
                             privacy::name_of(terms.bound->bound)));
}

// ---- prices --------------------------------------------------------------------------------------------------------

// Sets the ceiling that tau and the analyst permit, as for any answer. Core region.
static void set_ceiling(const rows::Question *question, const Terms &terms, const Permitted &permitted,
                        privacy::Delta delta, Course *course) {
    privacy::ChargeRequest request;
    set_request(question, terms, permitted, delta, &request);
    std::optional<privacy::Epsilon> chosen = privacy::choose(request);
    course->priced = chosen.has_value();
    if (!chosen)
        return;
    course->ceiling = *chosen;
    if (course->measured)
        course->rho_ceiling = request.rho(*chosen);
}

static privacy::LeafNoise noise_of(const rows::Question *question) {
    return privacy::LeafNoise{*question->measures, question->thresholded};
}

// Core region.
static bool suffices(const rows::Question *question, double error95, const privacy::ReleasePlan &plan) {
    for (int i = 0; i < question->leaf->naggregates; i++)
        if (!(halfwidth(question, plan, i) <= error95))
            return false;
    return true;
}

constexpr int128 largest_price = 100; // of epsilon, and of rho about the same

// To find a price the noise is planned some sixty times. Nobody pays for that where the price is refused, so with more
// measures than these the ceiling is tried first, and what does not suffice there has no price.
constexpr std::size_t most_measures_priced = 32;

// Core region. suffices_there: at the ceiling.
template <class Suffices> static bool is_refused_unpriced(const rows::Question *question, Suffices &&suffices_there) {
    return question->measures->size() > most_measures_priced && !suffices_there();
}

static void find_epsilon(const rows::Question *question, const Terms &terms, privacy::Delta delta, Course *course) {
    const auto most = privacy::Epsilon::from_units(largest_price * 1000000000);
    const privacy::LeafNoise noise = noise_of(question);
    course->dearer = course->unpriced = is_refused_unpriced(question, [&] {
        return suffices(
            question, *terms.wanted.error95,
            privacy::plan_release(terms.mechanism, noise.measures, noise.thresholded, course->ceiling, delta));
    });
    if (course->unpriced)
        return;
    auto least = std::min(terms.epsilon_min, course->ceiling);
    auto price =
        privacy::epsilon_for_error(terms.mechanism, noise, delta, least, most, [&](const privacy::ReleasePlan &plan) {
            return suffices(question, *terms.wanted.error95, plan);
        });
    course->unreachable = !price;
    course->epsilon = price.value_or(most);
    course->dearer = course->epsilon > course->ceiling;
}

static void find_rho(const rows::Question *question, const Terms &terms, privacy::Delta delta, Course *course) {
    const auto most = privacy::Rho::from_units(largest_price * 1000000000000000);
    const privacy::LeafNoise noise = noise_of(question);
    const privacy::Delta threshold = question->thresholded ? terms.delta : privacy::Delta();
    course->dearer = course->unpriced = is_refused_unpriced(question, [&] {
        return course->rho_ceiling >= privacy::least_rho(noise.measures.size()) &&
               suffices(question, *terms.wanted.error95,
                        privacy::plan_measurement(noise.measures, noise.thresholded, course->rho_ceiling, threshold));
    });
    if (course->unpriced)
        return;
    privacy::Limits limits;
    set_limits(question, terms, delta, &limits);
    auto least = std::min(limits.rho(std::min(terms.epsilon_min, course->ceiling)), course->rho_ceiling);
    auto price = privacy::rho_for_error(noise, threshold, least, most, [&](const privacy::ReleasePlan &plan) {
        return suffices(question, *terms.wanted.error95, plan);
    });
    course->unreachable = !price;
    course->rho = price.value_or(most);
    course->dearer = course->rho > course->rho_ceiling;
}

static bool measures_under(const Terms &terms) {
    return terms.bound->bound == privacy::Bound::zcdp &&
           !(terms.mechanism == privacy::Mechanism::laplace && terms.bound->splits_pure());
}

bool is_measured(const Terms &terms) {
    return terms.wanted.asked() && terms.bound != nullptr && measures_under(terms);
}

Course plan_course(const rows::Question *question, const Terms &terms, const Permitted &permitted, bool refines) {
    if (terms.bound == nullptr)
        catalog::refuse_changing(*question->settings);
    Course course = {};
    course.in_steps = refines || terms.wanted.within.has_value();
    course.measured = measures_under(terms);
    check_query(question, course.in_steps);
    if (course.in_steps)
        check_bound(terms, course.measured);
    privacy::Delta delta = delta_of(question, terms);
    border::core([&] {
        set_ceiling(question, terms, permitted, delta, &course);
        if (!course.priced || course.in_steps)
            return;
        if (course.measured)
            find_rho(question, terms, delta, &course);
        else
            find_epsilon(question, terms, delta, &course);
    });
    return course;
}

const char *both_prices(const Course &course) {
    const char *unit = course.measured ? "rho" : "epsilon";
    const char *most = course.measured ? decimal_text(course.rho_ceiling) : decimal_text(course.ceiling);
    if (course.unpriced)
        return psprintf("At most %s %s is permitted, which is not enough for it.", unit, most);
    if (course.unreachable)
        return psprintf("No %s is enough for it; at most %s is permitted.", unit, most);
    return psprintf("It would cost %s %s; at most %s is permitted.", unit,
                    course.measured ? decimal_text(course.rho) : decimal_text(course.epsilon), most);
}

void check_price(const Terms &terms, const Course &course) {
    if (!course.dearer)
        return;
    refuse_with(
        ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
        psprintf("error95 => %s is more accurate than the policy permits", float8out_internal(*terms.wanted.error95)),
        "Ask for a larger error95: dp_explain() shows that of the most accurate answer.", both_prices(course));
}

Terms terms_of_course(const Terms &terms, const Course &course) {
    Terms one = terms;
    if (course.measured) {
        one.rho = course.rho;
        one.mechanism = privacy::Mechanism::gaussian;
        return one;
    }
    one.caps.requested = course.epsilon;
    return one;
}

} // namespace dp::release
