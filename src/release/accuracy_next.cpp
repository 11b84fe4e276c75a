#include "release/accuracy_next.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "border/guard.hpp"
#include "release/accuracy.hpp"

namespace dp::release {

using privacy::int128;

// ---- how accurate it is --------------------------------------------------------------------------------------------

// Binary places beyond the lattice's that values are looked at with: a mean has some, a noisy sum none.
static int bits_of(const Noise &noise, const rows::Question *question, int j) {
    return noise.measured ? mean_bits(question, j) : 0;
}

Accuracy accuracy_of(const Noise &noise, const rows::Question *question, const privacy::Wanted &wanted, int j) {
    const double error95 = wanted.error95.value_or(0) / unit_of(question, j);
    if (!noise.measured)
        return {noise.grid->stddev(noise.point, j), noise.grid->halfwidth(noise.point, j),
                wanted.error95 ? noise.grid->stddev_for(error95, j) : 0};
    const int bits = bits_of(noise, question, j);
    return {noise.mean->stddev(j), noise.mean->halfwidth(j, bits),
            wanted.error95 ? privacy::RunningMean::stddev_for(error95, bits) : 0};
}

double value_of(const Noise &noise, const rows::Question *question, const int128 *values, int group, int j) {
    const double value = static_cast<double>(values[static_cast<int64>(group) * measures_of(question) + j]);
    return std::ldexp(value * unit_of(question, j), -bits_of(noise, question, j));
}

Wants wants_of(const Noise &noise, const rows::Question *question, const privacy::Wanted &wanted, int groups,
               const std::function<double(int, int)> &value) {
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

bool plan_next(Noise *noise, const rows::Question *question, privacy::Rho target) {
    const privacy::Rho missing = target - noise->mean->rho();
    if (missing < privacy::least_rho(question->measures->size()))
        return false;
    noise->plan = privacy::plan_measurement(*question->measures, false, missing, {});
    noise->asked = target;
    return true;
}

// The noise of a measurement is rounded up to the sampler's grid: by less than this, of its standard deviation. Without it a target
// that is known exactly would just be missed.
constexpr double grid_slack = 2e-6;

// False: the ceiling is reached.
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

// False: the ceiling is reached.
static bool go_on_looking(Noise *noise, const Wants &wants) {
    if (noise->point + 1 >= noise->grid->size())
        return false;
    noise->point = noise->grid->next(noise->point, wants.wanted);
    return true;
}

bool go_on(Noise *noise, const rows::Question *question, const Wants &wants) {
    return noise->measured ? go_on_measuring(noise, question, wants) : go_on_looking(noise, wants);
}

// ---- the beginning -------------------------------------------------------------------------------------------------

void begin_noise(Noise *noise, const rows::Question *question, const Course &course) {
    noise->measured = course.measured;
    if (!course.measured) {
        noise->grid.emplace(course.ceiling, *question->measures);
        return;
    }
    noise->ceiling = course.rho_ceiling;
    noise->mean.emplace(question->measures->size(), question->ngroups);
    if (!plan_next(noise, question, privacy::first_rho(noise->ceiling)) && !plan_next(noise, question, noise->ceiling))
        throw privacy::InvalidParameter("the price that is permitted is too small to be split among " +
                                        std::to_string(question->measures->size()) + " measures");
}

bool continue_noise(Noise *noise, const rows::Question *question, const Terms &terms, const Course &course,
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

// ---- what it would cost --------------------------------------------------------------------------------------------

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
    });
    foreseen.error95 = width_of_each(question->leaf, [&](int aggregate) {
        const int j = question->measure_of[aggregate];
        const double width = accuracy_of(*noise, question, terms.wanted, j).halfwidth * unit_of(question, j);
        return printed_halfwidth(question, aggregate, width);
    });
    return foreseen;
}

} // namespace dp::release
