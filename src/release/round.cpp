#include "release/round.hpp"

#include "border/scope.hpp"
#include "border/attempt.hpp"
#include "catalog/ledger_bytes.hpp"
#include "release/charge.hpp"
#include "release/last.hpp"
#include "release/accuracy_plan.hpp"
#include "release/estimate.hpp"
#include "release/judge.hpp"
#include "release/output.hpp"
#include "release/refinement_steps.hpp"
#include "release/release.hpp"
#include "release/replay.hpp"
#include "release/select.hpp"
#include "release/signal.hpp"
#include "rows/unit_checks.hpp"
#include "rows/engine.hpp"
#include "rows/population.hpp"
#include "rows/selection_sums.hpp"

namespace dp::release {

enum class Stage { price, selection, selected, step, paid_step, paid };

struct Round {
    const Checked *checked;
    const rows::Question *question; // that is charged
    Terms terms;
    // price, or selection and selected, or step: what is charged next; paid_step: a step is to be taken; paid: nothing.
    Stage stage;
    catalog::Charge charge;
    catalog::Entry entry; // of that charge
    Charged paid;
    bool read;
    rows::Sums sums;
    // Of a selection.
    const std::vector<privacy::SvtCandidate> *candidates;
    uint64 tested, first, end, last, selected;
    // Of steps towards an accuracy.
    Refinement *refinement;
    catalog::Charge base; // what each of them is made from
};

static void charge_price(Round *round, const Permitted &permitted) {
    round->stage = Stage::price;
    round->charge = charge_for(round->question, round->terms, permitted);
    round->entry = catalog::entry_for(round->charge);
}

static void charge_step(Round *round) {
    round->charge = step_charge(round->refinement, round->base);
    round->entry = catalog::entry_for(round->charge);
    round->stage = Stage::step;
}

// One Gaussian measurement is charged as a step that no other follows.
static void charge_measurement(Round *round) {
    privacy::Step step;
    step.basis = privacy::Basis::rho;
    std::optional<int64> threshold;
    border::core([&] {
        const auto plan = noise_of(round->question, round->terms, {});
        step.rho = plan.rho();
        threshold = plan.threshold;
    });
    check_can_show(round->question, threshold);
    round->charge = catalog::as_step(charge_for(round->question, round->terms), step, {});
    round->entry = catalog::entry_for(round->charge);
    round->stage = Stage::price;
}

// By accuracy: in steps, or by one charge that is known in advance, which goes the way of any other.
static void begin_course(Round *round, const Permitted &permitted, const Refinable *refinable) {
    Course course = plan_course(round->question, round->terms, permitted, refinable != nullptr);
    if (!course.priced) {
        charge_price(round, permitted); // it is denied, and counted
        return;
    }
    if (!course.in_steps) {
        check_price(round->terms, course);
        round->terms = terms_of_course(round->terms, course);
        if (course.measured)
            charge_measurement(round);
        else
            charge_price(round, permitted);
        return;
    }
    round->refinement = begin_refinement(round->question, round->terms, course, refinable);
    Terms terms = round->terms;
    if (course.measured) { // whatever the policy's noise is
        terms.mechanism = privacy::Mechanism::gaussian;
        terms.rho = course.rho_ceiling;
    }
    round->base = charge_for(round->question, terms);
    charge_step(round);
}

Round *begin(const Checked &checked, const Refinable *refinable) {
    const rows::Question *question = checked.charged;
    const Terms &terms = checked.terms;
    check_policy(question, terms);
    rows::check_nodes(question->settings->relation, question->settings->owner);
    if (question->thresholded && question->settings->people > 0 && !terms.wanted.asked())
        check_can_show(question, terms, price_in_advance(question, terms).epsilon);
    auto *round = static_cast<Round *>(palloc0(sizeof(Round)));
    round->checked = &checked;
    round->question = question;
    round->terms = terms;
    if (is_selected(terms.algorithm)) {
        round->stage = Stage::selection;
        round->candidates = selection_candidates(question, terms);
        round->tested = privacy::tested_candidates(*round->candidates);
        if (round->tested > 0)
            rows::check_selection_measures(question);
        (void)rows::lock_population(question);
        rows::Selection selection = {round->candidates->data(), static_cast<int>(round->tested), nullptr};
        rows::check_remote_parts(question, round->tested > 0 ? &selection : nullptr);
        round->charge = selection_charge(question, terms);
        round->entry = catalog::entry_for_selection(round->charge, terms.epsilon_svt, round->tested);
    } else {
        rows::check_remote_parts(checked.question, nullptr);
        Permitted permitted = choose(checked);
        if (terms.wanted.asked() || refinable != nullptr)
            begin_course(round, permitted, refinable);
        else
            charge_price(round, permitted);
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
    if (round->stage == Stage::step) {
        note_period(round->refinement, verdict.period);
        round->stage = Stage::paid_step;
        return;
    }
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
        first_accepted(round->checked->selection_paid_by(round->entry), round->terms, round->candidates, round->first,
                       round->end, &round->sums);
    round->read = round->selected != round->last;
    if (!round->read)
        rows::discard(&round->sums); // it will be denied
    charge_selected(round);
}

bool must_step(const Round *round) {
    return round->stage == Stage::paid_step;
}

void step(Round *round) {
    if (!must_step(round))
        elog(ERROR, "a step is asked for that was not charged");
    take_step(round->refinement, round->checked->paid_by(round->entry));
    if (is_done(round->refinement))
        round->stage = Stage::paid;
    else
        charge_step(round);
}

void stop_early(Round *round) {
    stop(round->refinement, round->entry.verdict.outcome == catalog::Outcome::denied ? Short::denied : Short::stopped);
    round->stage = Stage::paid;
}

bool is_paid(const Round *round) {
    return round->stage == Stage::paid;
}

void discard(Round *round) {
    rows::discard(&round->sums);
}

static void check_paid(const Round *round, bool of_signal) {
    if (!is_paid(round) || (round->checked->signal != nullptr) != of_signal)
        elog(ERROR, "an answer is asked for that was not charged");
}

Signalled finish_signal(Round *round) {
    check_paid(round, true);
    rows::Sums sums = rows::evaluate(round->checked->paid_by(round->entry));
    return add_noise(round->checked->signal, round->terms, round->paid.epsilon, &sums);
}

Answer finish(Round *round) {
    check_paid(round, false);
    if (round->refinement != nullptr)
        return write_refined(round->refinement);
    rows::Sums now = round->read ? rows::Sums{} : rows::evaluate(round->checked->paid_by(round->entry));
    return write(round->question, round->terms, round->paid, round->read ? &round->sums : &now, nullptr);
}

Answer uncharged(const rows::Question *question, const Terms &terms) {
    if (question->groups_only)
        return list_groups(question, terms);
    if (terms.replay != nullptr && terms.replay->past != nullptr)
        return give_again(question, terms);
    return Answer{};
}

Datum hash_of_charge(const Round *round) {
    StringInfo bytes = makeStringInfo();
    add_identity(bytes, round->question->identity);
    appendBinaryStringInfo(bytes, reinterpret_cast<const char *>(&round->question->looked_up),
                           sizeof round->question->looked_up);
    catalog::encode(round->entry, bytes);
    return sha256_of(*bytes);
}

void continue_charged(Round *round, privacy::Epsilon epsilon, privacy::Day period) {
    catalog::Verdict &verdict = round->entry.verdict;
    verdict.outcome = catalog::Outcome::committed;
    verdict.epsilon = epsilon;
    verdict.period = period;
    charged(round);
}

// ---- the owner's own call: charged by a keeper, read here ------------------------------------------------------------

// Whether the preference leaves a candidate, whatever a bound leaves.
static bool has_candidate(const Round *round) {
    const catalog::Charge &charge = round->charge;
    return round->stage != Stage::price || border::core([&] {
        return privacy::largest_candidate(*charge.candidates, charge.eps_star, charge.slack).has_value();
    });
}

// Commits what is due until the answer is paid. False: a charge was not committed, and is due still.
static bool pay(Round *round) {
    while (!is_paid(round)) {
        // Were this charge denied or cancelled, groups that have spilled are dropped without being counted (C18).
        border::SettingsScope settings = border::SettingsScope::enter();
        const bool committed = catalog::attempt_commit(due(round));
        settings.leave();
        if (!committed)
            return false;
        charged(round);
        if (must_select(round))
            select(round);
    }
    return true;
}

// Says why a leaf has no answer, where others before it were paid and must not be lost.
static void tell_refusal(const Round *round, int leaf) {
    ErrorData *refusal = border::attempt([&] { catalog::refuse(round->entry); });
    RESUME_INTERRUPTS();
    ereport(WARNING, (errmsg("question %d is not answered: %s", leaf, refusal->message),
                      refusal->detail == nullptr ? 0 : errdetail("%s", refusal->detail),
                      errhint("The questions before it are charged and answered.")));
}

static const Checked *checked_of_owner(const rows::Question *question, const Terms &terms) {
    rows::check_delta(question, terms.mechanism, terms.delta);
    return border::context_new<Checked>(rows::OwnRows(question), terms);
}

void answer_all(const rows::Question *const *questions, const Terms *terms, int n, Answer *answers) {
    border::check_stack_room();
    // Up to the last row: spilled groups are read again while the noise is added.
    border::UsageScope usage = border::UsageScope::enter();
    auto **rounds = static_cast<Round **>(palloc(sizeof(Round *) * n));
    for (int i = 0; i < n; i++)
        rounds[i] = begin(*checked_of_owner(questions[i], terms[i]), nullptr);
    for (int i = 0; i < n; i++) // it is denied, and counted, before anything is charged
        if (!has_candidate(rounds[i]) && !pay(rounds[i]))
            catalog::refuse(*due(rounds[i]));
    for (int i = 0; i < n; i++) {
        answers[i] = Answer{};
        if (pay(rounds[i]))
            answers[i] = finish(rounds[i]);
        else if (i > 0)
            tell_refusal(rounds[i], i + 1);
        else
            catalog::refuse(*due(rounds[i]));
    }
    usage.leave();
    for (int i = 0; i < n; i++)
        if (answers[i].rows != nullptr)
            remember(questions[i]->leaf, answers[i].facts, nullptr, nullptr);
}

Answer answer(const rows::Question *question, const Terms &terms) {
    Answer answer;
    if (terms.algorithm == Algorithm::find_from_output) {
        const Checked *checked = checked_of_owner(question, terms);
        border::check_stack_room();
        rows::check_remote_parts(question, nullptr);
        return answer_from_output(*checked);
    }
    answer_all(&question, &terms, 1, &answer);
    return answer;
}

} // namespace dp::release
