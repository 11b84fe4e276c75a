// Answers by accuracy: when a noisy value is accurate enough, how much less noise to look at next, and what an
// accuracy known in
// advance costs (formulas.md 6.1, 6.2, 6.6). What is looked at: laplace_path.hpp and running_mean.hpp.
//
// Values, standard deviations and half-widths are in one unit, the value's own. All of it is arithmetic on what was
// paid for.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "privacy/mechanism.hpp"

namespace dp::privacy {

// Holds the accuracy that an analyst asks of every value: a relative error, an error in the value's own unit, or one of the two.
struct Wanted {
    std::optional<double> within;  // relative: of this or less,
    std::optional<double> error95; // half-width of the 95 % interval: this or less
    double deviations = 1;         // how many standard deviations `within` has to hold at
    bool asked() const { return within || error95; }
};

// Whether a noisy value has what was asked for; one of the two suffices. Always true where nothing was.
bool accurate(const Wanted &wanted, double value, double sd, double halfwidth);
// The standard deviation at which a value that is not yet accurate is expected to be. of_error95: the one whose
// half-width, as
// reported, is error95; 0 if there is none. Of several values the least counts.
double wanted_stddev(const Wanted &wanted, double value, double sd, double of_error95);

// ---- Gaussian rounds: totals of rho, from the first measurement on ----
Rho first_rho(Rho ceiling);
// After a look at rho: where to look next; rho itself where less than a thousandth of it is left below the ceiling:
// there is no
// further look. Of several measures the largest counts.
Rho next_rho(Rho rho, Rho ceiling, double sd, double wanted);

// ---- error95 alone: one charge, known in advance ----
// Whether the noise of a plan is small enough, for all values.
using Suffices = std::function<bool(const ReleasePlan &)>;
// Holds the arguments of plan_release() for the noise of a leaf.
struct LeafNoise {
    std::vector<Measure> measures;
    bool thresholded = false;
};
// The smallest epsilon from `least` on whose noise suffices, by bisection; none if that of `most` does not.
std::optional<Epsilon> epsilon_for_error(Mechanism mechanism, const LeafNoise &leaf, Delta delta, Epsilon least,
                                         Epsilon most, const Suffices &suffices);
// The smallest rho that may be asked of plan_measurement, likewise; what is charged is the plan's own rho, at most
// that.
std::optional<Rho> rho_for_error(const LeafNoise &leaf, Delta delta, Rho least, Rho most, const Suffices &suffices);

} // namespace dp::privacy
