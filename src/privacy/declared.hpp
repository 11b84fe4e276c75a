// Vectors of numbers whose largest change is declared and not derived: general queries (formulas.md 2.1).
#pragma once

#include <cstdint>

#include "privacy/risk.hpp"

namespace dp::privacy {

struct DeclaredVector {
    double sensitivity = 1;       // largest l1 (Laplace) or l2 (Gaussian) change that one individual can make, > 0
    std::int64_t coordinates = 1; // k
    std::int64_t changed = 1;     // how many of them one individual can change
};

// Errors: InvalidParameter unless within 1e-300 .. 1e300.
void check_sensitivity(double sensitivity);

// Describes the noise of one epsilon, in the query's own unit.
struct DeclaredNoise {
    double term = 0; // of risk_row: k b, or k sigma^2
    double stddev = 0;
    double error95 = 0;
};
// sound: b = sensitivity / eps; sigma of the law that plan_declared draws from. published: classic sigma.
DeclaredNoise declared_noise(const DeclaredVector &vector, Calibration calibration, Mechanism mechanism,
                             Epsilon epsilon, Delta delta);

// The integers that are released: unit g = 2^exponent with 2^29 < sensitivity / g <= 2^30.
struct DeclaredLattice {
    int exponent = 0;
    std::uint64_t D = 1; // sensitivity in units, with what the rounding of every coordinate may add
    double value(int128 point) const;
};
DeclaredLattice declared_lattice(const DeclaredVector &vector);
// Nearest point. Errors: InvalidParameter for what is not finite or beyond 2^100 units: the sensitivity is far too small.
int128 declared_point(const DeclaredLattice &lattice, double value);

// The one measure that a charge of such a release names; its plan is the noise of every coordinate.
std::vector<Measure> declared_measures(const DeclaredVector &vector);
ReleasePlan plan_declared(const DeclaredVector &vector, Mechanism mechanism, Epsilon epsilon, Delta delta);

// Find-epsilon for the noise of plan_declared. eps_star: for Gaussian noise the candidate that was chosen, or 0.
EpsilonChoice find_eps_declared(const PisProfile &profile, const DeclaredVector &vector, Mechanism mechanism,
                                double tau, Delta delta, const std::vector<Epsilon> &candidates);

} // namespace dp::privacy
