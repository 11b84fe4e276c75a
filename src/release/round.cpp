#include "release/round.hpp"

#include "border/scope.hpp"
#include "border/attempt.hpp"
#include "release/last.hpp"
#include "release/output.hpp"
#include "release/select.hpp"
#include "rows/selection_sums.hpp"

namespace dp::release {

enum class Stage { price, selection, selected, paid };

struct Round {
    const rows::Question *question;
    Terms terms;
    Stage stage; // price, or selection and selected: what is charged next; paid: nothing
    catalog::Charge charge;
    catalog::Entry entry; // of that charge
    Paid paid;
    bool read;
    rows::Sums sums;
    // Of a selection.
    const std::vector<privacy::SvtCandidate> *candidates;
    uint64 tested, first, end, last, selected;
};

Round *begin(const rows::Question *question, const Terms &terms) {
    auto *round = static_cast<Round *>(palloc0(sizeof(Round)));
    round->question = question;
    round->terms = terms;
    if (is_selected(terms.algorithm)) {
        round->stage = Stage::selection;
        round->candidates = selection_candidates(question, terms);
        round->tested = privacy::tested_candidates(*round->candidates);
        if (round->tested > 0)
            rows::check_selection_measures(question);
        round->charge = selection_charge(question, terms);
        round->entry = catalog::entry_for_selection(round->charge, terms.epsilon_svt, round->tested);
    } else {
        round->stage = Stage::price;
        round->charge = charge_for(question, terms);
        Permitted permitted = choose(question, terms);
        round->charge.eps_star = permitted.eps_star;
        round->charge.slack = permitted.slack;
        round->entry = catalog::entry_for(round->charge);
    }
    return round;
}

catalog::Entry *due(Round *round) {
    return &round->entry;
}

// A selection ends with the charge of what it selected. A bound that another charge has reached meanwhile may deny it; so
// does the lack of a candidate, which counts as a denial.
static void charge_selected(Round *round) {
    round->charge =
        selected_charge(round->question, round->terms, round->paid.selection, round->first,
                        round->selected < round->last ? &(*round->terms.candidates)[round->selected] : nullptr);
    round->entry = catalog::entry_for(round->charge);
    round->stage = Stage::selected;
}

void charged(Round *round) {
    const catalog::Verdict &verdict = round->entry.verdict;
    if (round->stage != Stage::selection) {
        round->paid.epsilon = verdict.epsilon;
        round->stage = Stage::paid;
        return;
    }
    round->paid.selection = verdict.epsilon;
    round->first = round->selected = verdict.first;
    round->last = verdict.last;
    round->end = Min(round->tested, verdict.last);
    // Nothing to test: the first candidate left passes on every table, and no private row is read for the choice.
    if (round->first >= round->end)
        charge_selected(round);
}

bool must_select(const Round *round) {
    return round->stage == Stage::selection;
}

void select(Round *round) {
    // None of those that are tested: the next one, if it is left, passes on every table.
    round->selected =
        first_accepted(round->question, round->terms, round->candidates, round->first, round->end, &round->sums);
    round->read = round->selected != round->last;
    if (!round->read)
        rows::discard(&round->sums); // it will be denied
    charge_selected(round);
}

bool is_paid(const Round *round) {
    return round->stage == Stage::paid;
}

void discard(Round *round) {
    rows::discard(&round->sums);
}

Answer finish(Round *round) {
    if (!is_paid(round))
        elog(ERROR, "an answer is asked for that was not charged");
    rows::Sums now = round->read ? rows::Sums{} : rows::evaluate(round->question, nullptr);
    return write(round->question, round->terms, round->paid, round->read ? &round->sums : &now, nullptr);
}

void continue_charged(Round *round, privacy::Epsilon epsilon) {
    round->paid.epsilon = epsilon;
    round->stage = Stage::paid;
}

// The owner's own call: charged by a keeper, read here.
Answer answer(const rows::Question *question, const Terms &terms) {
    rows::check_delta(question, terms.mechanism, terms.delta);
    border::check_stack_room();
    if (terms.algorithm == Algorithm::find_from_output)
        return answer_from_output(question, terms);
    // Up to the last row: spilled groups are read again while the noise is added.
    border::UsageScope usage = border::UsageScope::enter();
    Round *round = begin(question, terms);
    while (!is_paid(round)) {
        // Were this charge denied or cancelled, groups that have spilled are dropped without being counted (C18).
        border::SettingsScope settings = border::SettingsScope::enter();
        catalog::commit(due(round));
        settings.leave();
        charged(round);
        if (must_select(round))
            select(round);
    }
    Answer answer = finish(round);
    usage.leave();
    remember(question->leaf, answer.facts);
    return answer;
}

} // namespace dp::release
