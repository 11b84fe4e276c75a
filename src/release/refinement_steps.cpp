#include "release/refinement_steps.hpp"

#include <limits>

#include "border/scope.hpp"
#include "release/accuracy.hpp"
#include "release/accuracy_next.hpp"
#include "release/random.hpp"
#include "release/trace.hpp"
#include "release/identity.hpp"
#include "rows/evaluate.hpp"
#include "rows/public_rows.hpp"

namespace dp::release {

using privacy::int128;

struct Refinement {
    const rows::Question *question;
    Terms terms;
    Noise *noise;
    StrongBits *bits;
    privacy::Epsilon before, paid; // of Laplace steps: before the one that is due; with all that are charged
    bool read, done, increment;    // increment: what is due is not the first step, be it that of a refinement
    int steps;
    privacy::Day period; // of the last charge
    Short how;
    uint64 public_rows; // those that were read; of a refinement first those of the answer that it goes on from
    rows::Sums sums;
    int128 *values; // looked at last: groups times measures, with bits_of() more than the lattice's
};

// ---- the beginning -------------------------------------------------------------------------------------------------

[[noreturn]] static void refuse_finished() {
    refuse_with(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED, "nothing is left to refine",
                "dp_last_release() shows how accurate it is.",
                "The last answer is as accurate as you ask, or as the policy permits. Nothing was charged.");
}

Refinement *begin_refinement(const rows::Question *question, const Terms &terms, const Course &course,
                             const Refinable *refinable) {
    auto *refinement = static_cast<Refinement *>(palloc0(sizeof(Refinement)));
    refinement->question = question;
    refinement->terms = terms;
    refinement->noise = border::context_new<Noise>();
    refinement->bits = border::context_new<StrongBits>();
    refinement->public_rows = refinable != nullptr ? refinable->public_rows : 0;
    bool begun = border::core([&] {
        if (refinable != nullptr)
            return continue_noise(refinement->noise, question, terms, course, *refinable);
        begin_noise(refinement->noise, question, course);
        return true;
    });
    if (!begun)
        refuse_finished();
    return refinement;
}

catalog::Charge step_charge(const Refinement *refinement, const catalog::Charge &base) {
    const Noise &noise = *refinement->noise;
    privacy::Step step;
    step.increment = refinement->increment;
    step.period = refinement->period;
    step.basis = noise.measured ? privacy::Basis::rho : privacy::Basis::epsilon;
    privacy::Epsilon most;
    border::core([&] {
        if (noise.measured) {
            step.rho = noise.plan.rho();
            return;
        }
        step.before = refinement->paid;
        step.epsilon = noise.grid->epsilon(noise.point) - refinement->paid;
        most = noise.grid->epsilon(noise.grid->size() - 1);
    });
    return catalog::as_step(base, step, most);
}

void note_period(Refinement *refinement, privacy::Day period) {
    refinement->period = period;
}

// ---- a step --------------------------------------------------------------------------------------------------------

// Core region. Behind the charge for the point.
static void look_at_path(Refinement *refinement) {
    Noise &noise = *refinement->noise;
    const int m = measures_of(refinement->question);
    if (!noise.path)
        noise.path.emplace(*noise.grid, refinement->question->ngroups, *refinement->bits);
    for (int group = 0; group < refinement->question->ngroups; group++)
        for (int j = 0; j < m; j++) {
            const int64 at = static_cast<int64>(group) * m + j;
            refinement->values[at] = refinement->sums.values[at] + noise.path->noise(noise.point, group, j);
        }
    refinement->paid = noise.grid->epsilon(noise.point);
}

// Core region. Behind the charge for the measurement.
static void measure(Refinement *refinement) {
    Noise &noise = *refinement->noise;
    const rows::Question *question = refinement->question;
    const int m = measures_of(question), groups = question->ngroups;
    std::vector<__int128> measured(static_cast<std::size_t>(groups) * m);
    for (std::size_t at = 0; at < measured.size(); at++)
        measured[at] = refinement->sums.values[at] + privacy::draw(*refinement->bits, noise.plan.noise[at % m]);
    trace::planned(noise.plan);
    noise.mean->add(noise.plan, measured);
    for (int group = 0; group < groups; group++)
        for (int j = 0; j < m; j++)
            refinement->values[static_cast<int64>(group) * m + j] = noise.mean->mean(group, j, mean_bits(question, j));
}

// Looks at what was drawn, and decides on the next step. Core region.
static void decide(Refinement *refinement) {
    const rows::Question *question = refinement->question;
    const auto value = [&](int group, int j) {
        return value_of(*refinement->noise, question, refinement->values, group, j);
    };
    Wants wants = wants_of(*refinement->noise, question, refinement->terms.wanted, question->ngroups, value);
    refinement->done = wants.accurate || !go_on(refinement->noise, question, wants);
    refinement->how = wants.accurate ? Short::not_at_all : Short::ceiling;
    refinement->increment = true;
}

// Looked at before the charge, too: here they have changed meanwhile.
[[noreturn]] static void refuse_other_rows() {
    refuse_with(ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN, "rows of a public table changed while the answer was refined",
                "Ask anew with dp_query().", "What was charged stays, and no answer is released.");
}

// Once: what a round looks at must be the noise of one and the same sums.
static void read_rows(Refinement *refinement, const rows::Paid &paid) {
    if (refinement->read)
        return;
    const uint64 before = refinement->public_rows;
    if (refinement->noise->measured) // else nothing is refined
        refinement->public_rows = rows::hash_of_public_rows(refinement->question);
    if (before != 0 && refinement->public_rows != before)
        refuse_other_rows();
    refinement->sums = rows::evaluate(paid);
    refinement->values = static_cast<int128 *>(MemoryContextAllocHuge(
        CurrentMemoryContext,
        sizeof(int128) * (static_cast<Size>(refinement->question->ngroups) * measures_of(refinement->question) + 1)));
    refinement->read = true;
}

void take_step(Refinement *refinement, const rows::Paid &paid) {
    if (refinement->done)
        elog(ERROR, "a step is taken that is not due");
    read_rows(refinement, paid);
    refinement->steps++;
    border::core([&] {
        if (refinement->noise->measured)
            measure(refinement);
        else
            look_at_path(refinement);
        decide(refinement);
    });
}

bool is_done(const Refinement *refinement) {
    return refinement->done;
}

void stop(Refinement *refinement, Short how) {
    refinement->done = true;
    refinement->how = how;
}

// ---- the answer ----------------------------------------------------------------------------------------------------

// Core region. The noise of a Laplace round has moved on to the point that is due, when that was not paid.
static std::size_t point_paid(const Refinement *refinement) {
    const Noise &noise = *refinement->noise;
    std::size_t point = 0;
    while (noise.grid->epsilon(point) < refinement->paid)
        point++;
    return point;
}

static double *widths_of(const Refinement *refinement) {
    const rows::Question *question = refinement->question;
    const Noise &noise = *refinement->noise;
    return width_of_each(question->leaf, [&](int aggregate) {
        const int j = question->measure_of[aggregate];
        const double width = noise.measured ? noise.mean->halfwidth(j, mean_bits(question, j))
                                            : noise.grid->halfwidth(point_paid(refinement), j);
        return printed_halfwidth(question, aggregate, width * unit_of(question, j));
    });
}

static const char *text_of(const privacy::RunningMean &mean) {
    Size size = 0;
    const auto with_text = [&](auto &&use) { border::core([&] { use(mean.text()); }); };
    with_text([&](const std::string &text) { size = text.size(); });
    auto *copy = static_cast<char *>(palloc(size + 1));
    with_text([&](const std::string &text) { memcpy(copy, text.c_str(), size + 1); });
    return copy;
}

Answer write_refined(const Refinement *refinement) {
    const Noise &noise = *refinement->noise;
    Facts facts = {};
    facts.algorithm = refinement->terms.algorithm;
    facts.mechanism = noise.measured ? privacy::Mechanism::gaussian : privacy::Mechanism::laplace;
    facts.paid.epsilon = refinement->paid;
    facts.noutputs = refinement->question->leaf->noutputs;
    facts.error95 = widths_of(refinement);
    facts.reached = Reached{refinement->terms.wanted.asked(), refinement->steps, refinement->how};
    if (noise.measured) {
        facts.paid.rho = border::core([&] { return noise.mean->rho(); });
        facts.refinable = Refinable{text_of(*noise.mean), noise.asked, versions_hash(refinement->question),
                                    refinement->public_rows};
    }
    return write_values(refinement->question, refinement->terms, facts, refinement->values, noise.measured);
}

const char *mean_of(const rows::Question *question, const privacy::ReleasePlan &plan, const int128 *values) {
    auto *mean = border::context_new<privacy::RunningMean>(question->measures->size(), question->ngroups);
    border::core([&] {
        // One by one: a vector's allocator aligns them by 16 bytes, palloc by 8, and std::copy would know nothing of it.
        std::vector<__int128> measured(question->measures->size() * question->ngroups);
        for (std::size_t at = 0; at < measured.size(); at++)
            measured[at] = values[at];
        mean->add(plan, measured);
    });
    return text_of(*mean);
}

} // namespace dp::release
