// Computes what an epsilon tells somebody who already believes something, and which epsilon a risk profile allows (formulas.md 7).
// It holds for a total under pure differential privacy, for one person with one record that is independent of the others.
// (The profiles of leave-one-out in risk.hpp are something else: how the records of one table differ in risk.)
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "privacy/attack.hpp"
#include "privacy/decimal.hpp"

namespace dp::privacy {

// An adversary: p is his probability that the person is in the data, q that the person's value is sensitive if so. What he
// wants to know is both, with the prior p q.
struct Prior {
    double p = 1, q = 1;
    double both() const { return p * q; }
};

// Returns the largest epsilon at which posterior divided by prior stays at or below `allowed`, whatever is answered (Theorem 2).
// Infinite where it cannot exceed that.
double largest_epsilon(Prior prior, double allowed);

struct PosteriorRange {
    double least, most;
};
PosteriorRange posterior_range(double epsilon, Prior prior);

// ---- profiles: the relative risk r*(p, q) that is allowed against each adversary -----------------------------------

enum class ProfileKind { constant, inclusion, value, both, difference, points, attack };
std::optional<ProfileKind> profile_kind_from_name(const std::string &name);
const char *name_of(ProfileKind kind);

struct AllowedRisk {
    Prior prior;
    double relative; // infinite: not considered
};

struct RiskProfile {
    ProfileKind kind = ProfileKind::constant;
    double relative = 1;             // r
    double absolute = 0;             // a
    double fixed = 1;                // q of inclusion, p of value
    std::vector<AllowedRisk> points; // of the kind points: these adversaries and no others
    AttackTarget target;             // of the kind attack
};

// r* of an adversary; of the kind points infinite but for its own.
double allowed_risk(const RiskProfile &profile, Prior prior);

// The adversary against whom least is allowed. q = 0 where the infimum is reached by ever rarer values.
struct Binding {
    double epsilon = std::numeric_limits<double>::infinity(); // nothing constrains
    Prior prior;
};
// Returns the binding adversary, in closed form. relative > 1, 0 <= absolute < 1, 0 < fixed <= 1.
Binding binding_of(const RiskProfile &profile);

// Rounded down to a sum of charges, and first by more than the rounding of doubles. No value: nothing constrains.
std::optional<Epsilon> profile_epsilon(const Binding &binding);

// ---- what an epsilon costs: integers with geometric noise, a count for instance ------------------------------------

struct GeometricNoise {
    double stddev, halfwidth, exact; // exact: the probability of no noise at all
};
GeometricNoise geometric_noise(double epsilon);
// Returns the probability that noise moves a count by at least `distance` towards one side, so that a comparison comes out wrong.
double switch_probability(double epsilon, double distance);

// Returns what one answer can raise a suspicion of one half, that somebody is there, to.
double posterior_of_half(double epsilon);

} // namespace dp::privacy
