#include "release/refine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "border/scope.hpp"
#include "catalog/decimals.hpp"
#include "privacy/laplace_path.hpp"
#include "privacy/running_mean.hpp"
#include "release/accuracy.hpp"
#include "release/random.hpp"
#include "release/trace.hpp"
#include "rows/evaluate.hpp"

namespace dp::release {

using privacy::int128;

namespace {
// What is looked at, the core's half of a round: made, used and destroyed as one object of the memory context.
struct Noise {
    bool measured = false;
    std::optional<privacy::LaplaceGrid> grid; // Laplace: where to look, and
    std::optional<privacy::LaplacePath> path; // what is there, once the rows are read;
    std::size_t point = 0;                    // looked at, or due
    std::optional<privacy::RunningMean> mean; // Gaussian: of what was measured,
    privacy::ReleasePlan plan;                // the noise of the measurement that is due,
    privacy::Rho asked, ceiling;              // that of all of them together, and what it may be
    StrongBits bits;
};
} // namespace

struct Refinement {
    const rows::Question *question;
    Terms terms;
    Noise *noise;
    privacy::Epsilon before, paid; // of Laplace steps: before the one that is due; with all that are charged
    bool read, done, increment;    // increment: what is due is not the first step
    int steps;
    Short how;
    rows::Sums sums;
    int128 *values; // looked at last: groups times measures, with bits_of() more than the lattice's
};

// ---- one look ------------------------------------------------------------------------------------------------------

namespace {
// How accurate the values of a measure are, in lattice units; the same for all groups.
struct Accuracy {
    double stddev, halfwidth, of_error95;
};
} // namespace

static int measures_of(const rows::Question *question) {
    return question->nmeasures;
}

static double unit_of(const rows::Question *question, int measure) {
    return question->bounds[measure] == nullptr ? 1 : question->bounds[measure]->unit();
}

// Core region.
// Binary places beyond the lattice's that values are looked at with: a mean has some, a noisy sum none.
static int bits_of(const Noise &noise, const rows::Question *question, int j) {
    return noise.measured ? mean_bits(question, j) : 0;
}

// Core region.
static Accuracy accuracy_of(const Noise &noise, const rows::Question *question, const privacy::Wanted &wanted, int j) {
    const double error95 = wanted.error95.value_or(0) / unit_of(question, j);
    if (!noise.measured)
        return {noise.grid->stddev(noise.point, j), noise.grid->halfwidth(noise.point, j),
                wanted.error95 ? noise.grid->stddev_for(error95, j) : 0};
    const int bits = bits_of(noise, question, j);
    return {noise.mean->stddev(j), noise.mean->halfwidth(j, bits),
            wanted.error95 ? privacy::RunningMean::stddev_for(error95, bits) : 0};
}

// The values that are looked at, in their own unit. Core region.
static double value_of(const Noise &noise, const rows::Question *question, const int128 *values, int group, int j) {
    const double value = static_cast<double>(values[static_cast<int64>(group) * measures_of(question) + j]);
    return std::ldexp(value * unit_of(question, j), -bits_of(noise, question, j));
}

namespace {
// Of each measure, in lattice units: the standard deviation that its least accurate value wants; infinite: all are accurate.
struct Wants {
    std::vector<double> stddev, wanted;
    bool accurate = true;
};
} // namespace

// Core region. value: of a group and a measure.
template <class Value>
static Wants wants_of(const Noise &noise, const rows::Question *question, const privacy::Wanted &wanted, int groups,
                      Value &&value) {
    const int m = measures_of(question);
    Wants wants = {std::vector<double>(m), std::vector<double>(m, std::numeric_limits<double>::infinity()), true};
    for (int i = 0; i < question->leaf->naggregates; i++) {
        const int j = question->measure_of[i];
        const Accuracy lattice = accuracy_of(noise, question, wanted, j);
        const double unit = unit_of(question, j), sd = lattice.stddev * unit;
        const double halfwidth = printed_halfwidth(question, i, lattice.halfwidth * unit);
        wants.stddev[j] = lattice.stddev;
        for (int group = 0; group < groups; group++) {
            const double y = value(group, j);
            if (privacy::accurate(wanted, y, sd, halfwidth))
                continue;
            wants.accurate = false;
            const double next = privacy::wanted_stddev(wanted, y, sd, lattice.of_error95 * unit) / unit;
            wants.wanted[j] = std::min(wants.wanted[j], next);
        }
    }
    return wants;
}

// ---- where to look next --------------------------------------------------------------------------------------------

// Core region. Plans a measurement that takes what was paid to `target`; false: what is missing is too little for one.
static bool plan_next(Noise *noise, const rows::Question *question, privacy::Rho target) {
    const privacy::Rho missing = target - noise->mean->rho();
    if (missing < privacy::least_rho(question->measures->size()))
        return false;
    noise->plan = privacy::plan_measurement(*question->measures, *question->sensitivities, false, missing, {});
    noise->asked = target;
    return true;
}

// The noise of a measurement is rounded up to the sampler's grid: by less than this, of its standard deviation. Without it a target
// that is known exactly would just be missed.
constexpr double grid_slack = 2e-6;

// Core region. False: the ceiling is reached.
static bool go_on_measuring(Noise *noise, const rows::Question *question, const Wants &wants) {
    if (noise->asked >= noise->ceiling)
        return false;
    const privacy::Rho paid = noise->mean->rho();
    privacy::Rho target = paid;
    for (std::size_t j = 0; j < wants.wanted.size(); j++)
        if (std::isfinite(wants.wanted[j]))
            target = std::max(
                target, privacy::next_rho(paid, noise->ceiling, wants.stddev[j], wants.wanted[j] * (1 - grid_slack)));
    return plan_next(noise, question, target);
}

// Core region. False: the ceiling is reached.
static bool go_on_looking(Noise *noise, const Wants &wants) {
    if (noise->point + 1 >= noise->grid->size())
        return false;
    noise->point = noise->grid->next(noise->point, wants.wanted);
    return true;
}

// Core region.
static bool go_on(Noise *noise, const rows::Question *question, const Wants &wants) {
    return noise->measured ? go_on_measuring(noise, question, wants) : go_on_looking(noise, wants);
}

// ---- the beginning -------------------------------------------------------------------------------------------------

// Core region.
static void begin_noise(Noise *noise, const rows::Question *question, const Course &course) {
    noise->measured = course.measured;
    if (!course.measured) {
        noise->grid.emplace(course.ceiling, *question->sensitivities);
        return;
    }
    noise->ceiling = course.rho_ceiling;
    noise->mean.emplace(question->measures->size(), question->ngroups);
    if (!plan_next(noise, question, privacy::first_rho(noise->ceiling)) && !plan_next(noise, question, noise->ceiling))
        throw privacy::InvalidParameter("the price that is permitted is too small to be split among " +
                                        std::to_string(question->measures->size()) + " measures");
}

// Core region. False: nothing is left.
static bool continue_noise(Noise *noise, const rows::Question *question, const Terms &terms, const Course &course,
                           const Refinable &refinable) {
    noise->measured = true;
    noise->ceiling = course.rho_ceiling;
    noise->asked = refinable.asked;
    noise->mean.emplace(privacy::RunningMean::from_text(refinable.mean));
    if (noise->mean->measures() != question->measures->size() ||
        noise->mean->groups() != static_cast<std::size_t>(question->ngroups))
        throw privacy::InvalidParameter("the last answer was one to another query");
    if (noise->asked >= noise->ceiling)
        return false;
    const privacy::Rho paid = noise->mean->rho();
    if (!terms.wanted.asked())
        return plan_next(noise, question, std::min(noise->ceiling, paid + paid));
    const auto value = [&](int group, int j) {
        const int bits = mean_bits(question, j);
        return std::ldexp(static_cast<double>(noise->mean->mean(group, j, bits)) * unit_of(question, j), -bits);
    };
    const Wants wants = wants_of(*noise, question, terms.wanted, question->ngroups, value);
    return !wants.accurate && go_on_measuring(noise, question, wants);
}

[[noreturn]] static void refuse_finished() {
    ereport(ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("nothing is left to refine"),
             errdetail("The last answer is as accurate as you ask, or as the policy permits. Nothing was charged."),
             errhint("dp_last_release() shows how accurate it is.")));
    pg_unreachable();
}

Refinement *begin_refinement(const rows::Question *question, const Terms &terms, const Course &course,
                             const Refinable *refinable) {
    auto *refinement = static_cast<Refinement *>(palloc0(sizeof(Refinement)));
    refinement->question = question;
    refinement->terms = terms;
    refinement->noise = border::context_new<Noise>();
    refinement->increment = refinable != nullptr;
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

// ---- a step --------------------------------------------------------------------------------------------------------

// Core region. Behind the charge for the point.
static void look_at_path(Refinement *refinement) {
    Noise &noise = *refinement->noise;
    const int m = measures_of(refinement->question);
    if (!noise.path)
        noise.path.emplace(*noise.grid, refinement->question->ngroups, noise.bits);
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
        measured[at] = refinement->sums.values[at] + privacy::draw(noise.bits, noise.plan.noise[at % m]);
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

// Once: what a round looks at must be the noise of one and the same sums.
static void read_rows(Refinement *refinement) {
    if (refinement->read)
        return;
    refinement->sums = rows::evaluate(refinement->question, nullptr);
    refinement->values = static_cast<int128 *>(MemoryContextAllocHuge(
        CurrentMemoryContext,
        sizeof(int128) * (static_cast<Size>(refinement->question->ngroups) * measures_of(refinement->question) + 1)));
    refinement->read = true;
}

void take_step(Refinement *refinement) {
    if (refinement->done)
        elog(ERROR, "a step is taken that is not due");
    read_rows(refinement);
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

static double *halfwidths(const Refinement *refinement) {
    const rows::Question *question = refinement->question;
    const Noise &noise = *refinement->noise;
    auto *error95 = static_cast<double *>(palloc(sizeof(double) * (question->leaf->noutputs + 1)));
    border::core([&] {
        for (int i = 0; i < question->leaf->noutputs; i++) {
            const query::Output &output = question->leaf->outputs[i];
            error95[i] = std::numeric_limits<double>::quiet_NaN();
            if (output.is_key)
                continue;
            const int j = question->measure_of[output.index];
            const double width = noise.measured ? noise.mean->halfwidth(j, mean_bits(question, j))
                                                : noise.grid->halfwidth(point_paid(refinement), j);
            error95[i] = printed_halfwidth(question, output.index, width * unit_of(question, j));
        }
    });
    return error95;
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
    facts.error95 = halfwidths(refinement);
    facts.reached = Reached{refinement->terms.wanted.asked(), refinement->steps, refinement->how};
    if (noise.measured) {
        facts.paid.rho = border::core([&] { return noise.mean->rho(); });
        facts.refinable = Refinable{text_of(*noise.mean), noise.asked, versions_hash(*refinement->question->settings)};
    }
    return write_values(refinement->question, refinement->terms, facts, refinement->values, noise.measured);
}

const char *mean_of(const rows::Question *question, const privacy::ReleasePlan &plan, const int128 *values) {
    auto *mean = border::context_new<privacy::RunningMean>(question->measures->size(), question->ngroups);
    border::core([&] {
        const std::size_t n = question->measures->size() * question->ngroups;
        mean->add(plan, std::vector<__int128>(values, values + n));
    });
    return text_of(*mean);
}

// ---- dp_explain ----------------------------------------------------------------------------------------------------

// The noise of a round at its end: where every value is `magnitude`, or, without one, at the ceiling. Core region.
// Whether it is accurate there.
static bool run_to_end(Noise *noise, const rows::Question *question, const privacy::Wanted &wanted,
                       const double *magnitude) {
    const std::vector<__int128> nothing(question->measures->size() * noise->mean.has_value());
    for (;;) {
        if (noise->measured)
            noise->mean->add(noise->plan, nothing);
        if (magnitude == nullptr) {
            if (noise->measured ? !(noise->asked < noise->ceiling && plan_next(noise, question, noise->ceiling))
                                : noise->point + 1 == noise->grid->size())
                return false;
            noise->point = noise->measured ? 0 : noise->grid->size() - 1;
            continue;
        }
        const Wants wants = wants_of(*noise, question, wanted, 1, [&](int, int) { return *magnitude; });
        if (wants.accurate || !go_on(noise, question, wants))
            return wants.accurate;
    }
}

Foreseen foresee_round(const rows::Question *question, const Terms &terms, const Course &course,
                       const double *magnitude) {
    auto *noise = border::context_new<Noise>();
    Foreseen foreseen = {};
    foreseen.error95 = static_cast<double *>(palloc(sizeof(double) * (question->leaf->noutputs + 1)));
    border::core([&] {
        begin_noise(noise, question, course);
        if (course.measured) {
            noise->mean.emplace(question->measures->size(), 1); // of one group, as all are alike
            foreseen.first_rho = noise->plan.rho();
        } else
            foreseen.first = noise->grid->epsilon(0);
        foreseen.reached = run_to_end(noise, question, terms.wanted, magnitude);
        if (course.measured)
            foreseen.rho = noise->mean->rho();
        else
            foreseen.epsilon = noise->grid->epsilon(noise->point);
        for (int i = 0; i < question->leaf->noutputs; i++) {
            const query::Output &output = question->leaf->outputs[i];
            foreseen.error95[i] = std::numeric_limits<double>::quiet_NaN();
            if (output.is_key)
                continue;
            const int j = question->measure_of[output.index];
            const double width = accuracy_of(*noise, question, terms.wanted, j).halfwidth * unit_of(question, j);
            foreseen.error95[i] = printed_halfwidth(question, output.index, width);
        }
    });
    return foreseen;
}

} // namespace dp::release
