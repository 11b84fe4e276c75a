#include "release/select.hpp"

#include "privacy/joint.hpp"

#include "border/refuse.hpp"
#include "release/charge.hpp"
#include "release/random.hpp"
#include "release/trace.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/counted_values.hpp"
#include "rows/engine.hpp"
#include "rows/selection_sums.hpp"
#include "rows/texts.hpp"

namespace dp::release {

[[noreturn]] static void refuse_selection(const char *what, const char *why, const char *instead = "") {
    refuse_form(psprintf("epsilon cannot be selected by tau_var for %s", what),
                psprintf("%ssk under a policy with tau.", *instead == '\0' ? "A" : psprintf("%s, or a", instead)), why);
}

// A record's part in a pair has always the same size, whatever its value: the variance that tau_var limits would say nothing
// about it.
static void check_selectable(const rows::Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    if (measure.kind == privacy::MeasureKind::quantile)
        refuse_selection("min, max and percentiles",
                         "How far a row moves a percentile depends on the others, so a selection has no bound.");
    const bool triple = measure.kind == privacy::MeasureKind::triple;
    if (triple || privacy::is_joint(measure.kind))
        refuse_selection(triple ? "variances and standard deviations" : "covariances, correlations and lines of regression",
                         psprintf("They are computed from %s sums that every record changes by the same amount together: their "
                                  "variance is no measure of risk.", triple ? "three" : "several"));
    if (!measure.has_parts())
        return;
    const char *column = rows::argument_text(question, measure.calls.front());
    refuse_selection(psprintf("avg(%s), nor for count(%s) and sum(%s) together", column, column, column),
                     "They are computed from a pair of sums that every record changes by the same amount: their variance is no "
                     "measure of risk.",
                     psprintf("Ask for count(%s) and sum(%s) in two statements", column, column));
}

void check_selectable(const rows::Question *question) {
    if (rows::is_clipped(question) && rows::is_elsewhere(question))
        refuse_selection("people with several rows that other servers keep",
                         "A selection adds up one term of each person, and those servers add up what several bring.");
    if (rows::is_clipped(question) && question->touched != nullptr)
        refuse_selection("people with several rows in cells with totals of their own",
                         "The variance is that among all people, and those of other cells are not charged.");
    if (rows::counts_values(question))
        rows::refuse_values("a selection of epsilon by tau_var", "Ask under a policy with tau.");
    for (int j = 0; j < question->nmeasures; j++)
        check_selectable(question, j);
}

const std::vector<privacy::SvtCandidate> *selection_candidates(const rows::Question *question, const Terms &terms) {
    check_selectable(question);
    auto *candidates = border::context_new<std::vector<privacy::SvtCandidate>>();
    privacy::Delta delta = delta_of(question, terms);
    border::core([&] {
        *candidates = privacy::svt_candidates(terms.mechanism, *question->measures, question->thresholded,
                                              *terms.candidates, delta, terms.tau_var);
    });
    return candidates;
}

// A selection is charged as one: eps_svt-DP by itself, without a look at what it will release.
catalog::Charge selection_charge(const rows::Question *question, const Terms &terms) {
    catalog::Charge charge = charge_for(question, terms);
    charge.kind = "selection";
    if (!terms.sighted)
        charge.guarantee = "(epsilon, delta)";
    return charge;
}

uint64 first_accepted(const rows::PaidSelection &paid, const Terms &terms,
                      const std::vector<privacy::SvtCandidate> *candidates, uint64 first, uint64 end,
                      rows::Sums *sums) {
    auto *selection_sums =
        static_cast<privacy::SelectionSums *>(palloc0(sizeof(privacy::SelectionSums) * (end - first)));
    rows::Selection selection = {candidates->data() + first, static_cast<int>(end - first), selection_sums};
    *sums = rows::evaluate(paid, selection);
    return border::core([&] {
        StrongBits bits;
        const std::vector<privacy::SvtCandidate> tested(selection.tested, selection.tested + selection.ntested);
        const std::vector<privacy::SelectionSums> of_each(selection_sums, selection_sums + selection.ntested);
        auto accepted = privacy::svt_select(bits, terms.epsilon_svt, tested, of_each);
        trace::selected(tested, of_each, accepted);
        return accepted ? first + *accepted : end;
    });
}

catalog::Charge selected_charge(const rows::Question *question, const Terms &terms, privacy::Epsilon selection,
                                uint64 first, const privacy::Epsilon *selected) {
    auto *chosen = border::context_new<std::vector<privacy::Epsilon>>();
    if (selected != nullptr)
        border::core([&] { chosen->push_back(*selected); });
    catalog::Charge charge = charge_for(question, terms, {privacy::infinite_epsilon, privacy::price_slack});
    charge.candidates = chosen;
    charge.selection = selection;
    charge.worst = selection + (*terms.candidates)[first];
    return charge;
}

} // namespace dp::release
