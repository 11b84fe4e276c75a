// One look of a round: how accurate is what was looked at, and where to look next (formulas.md 6.3 to 6.5). All of it follows from
// what was looked at and from public facts: no row is read, and nothing is drawn. What is called here belongs in core regions.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "privacy/laplace_path.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/running_mean.hpp"
#include "release/ask.hpp"
#include "release/accuracy_plan.hpp"

namespace dp::release {

// What is looked at, the core's half of a round: made, used and destroyed as one object of the memory context. What draws it is not
// part of it.
struct Noise {
    bool measured = false;
    std::optional<privacy::LaplaceGrid> grid; // Laplace: where to look, and
    std::optional<privacy::LaplacePath> path; // what is there, once the rows are read;
    std::size_t point = 0;                    // looked at, or due
    std::optional<privacy::RunningMean> mean; // Gaussian: of what was measured,
    privacy::ReleasePlan plan;                // the noise of the measurement that is due,
    privacy::Rho asked, ceiling;              // that of all of them together, and what it may be
};

inline int measures_of(const rows::Question *question) {
    return question->nmeasures;
}

inline double unit_of(const rows::Question *question, int measure) {
    return privacy::unit_of((*question->measures)[measure], question->bounds[measure]);
}

// How accurate the values of a measure are, in lattice units; the same for all groups.
struct Accuracy {
    double stddev, halfwidth, of_error95;
};
Accuracy accuracy_of(const Noise &noise, const rows::Question *question, const privacy::Wanted &wanted, int j);

// The values that are looked at, in their own unit.
double value_of(const Noise &noise, const rows::Question *question, const privacy::int128 *values, int group, int j);

// Of each measure, in lattice units: the standard deviation that its least accurate value wants; infinite: all are accurate.
struct Wants {
    std::vector<double> stddev, wanted;
    bool accurate = true;
};
// value: of a group and a measure.
Wants wants_of(const Noise &noise, const rows::Question *question, const privacy::Wanted &wanted, int groups,
               const std::function<double(int, int)> &value);

// Plans a measurement that takes what was paid to `target`; false: what is missing is too little for one.
bool plan_next(Noise *noise, const rows::Question *question, privacy::Rho target);
// False: the ceiling is reached.
bool go_on(Noise *noise, const rows::Question *question, const Wants &wants);

void begin_noise(Noise *noise, const rows::Question *question, const Course &course);
// False: nothing is left.
bool continue_noise(Noise *noise, const rows::Question *question, const Terms &terms, const Course &course,
                    const Refinable &refinable);

// Holds what a round would come to if every value were `magnitude`. Core region.
struct Foreseen {
    privacy::Epsilon epsilon;
    privacy::Rho rho;
    privacy::Epsilon first; // of the first step
    privacy::Rho first_rho;
    bool reached;    // with a magnitude: as accurate as asked for
    double *error95; // of each output of the leaf; NaN: a key
};
Foreseen foresee_round(const rows::Question *question, const Terms &terms, const Course &course,
                       const double *magnitude);

} // namespace dp::release
