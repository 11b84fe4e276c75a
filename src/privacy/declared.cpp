#include "privacy/declared.hpp"

#include <cmath>

namespace dp::privacy {

constexpr double normal_halfwidth = 1.959963984540054; // 95 %

void check_sensitivity(double sensitivity) {
    // Wide enough for every unit, and units and their multiples stay ordinary doubles.
    if (!(sensitivity >= 1e-300 && sensitivity <= 1e300))
        throw InvalidParameter("sensitivity must be a number greater than 0, between 1e-300 and 1e300");
}

// ---- lattice -------------------------------------------------------------------------------------------------------

double DeclaredLattice::value(int128 point) const {
    return std::ldexp(static_cast<double>(point), exponent);
}

DeclaredLattice declared_lattice(const DeclaredVector &vector) {
    check_sensitivity(vector.sensitivity);
    int exponent;
    const double mantissa = std::frexp(vector.sensitivity, &exponent); // in [1/2, 1)
    const int log2 = mantissa == 0.5 ? exponent - 1 : exponent;        // rounded up
    DeclaredLattice lattice;
    lattice.exponent = log2 - 30;
    // Two roundings move each coordinate's difference by at most one unit.
    lattice.D = static_cast<std::uint64_t>(std::ceil(std::ldexp(vector.sensitivity, -lattice.exponent))) +
                static_cast<std::uint64_t>(vector.coordinates);
    return lattice;
}

int128 declared_point(const DeclaredLattice &lattice, double value) {
    const double units = std::round(std::ldexp(value, -lattice.exponent));
    if (!(std::fabs(units) < std::ldexp(1.0, 100)))
        throw InvalidParameter("the result of the query is too large for the sensitivity that was declared");
    return static_cast<int128>(units);
}

// ---- noise ---------------------------------------------------------------------------------------------------------

// A pair has several coordinates: Gaussian noise for more than one of them goes through zCDP (8.4).
std::vector<Measure> declared_measures(const DeclaredVector &vector) {
    Measure measure;
    measure.kind = vector.changed == 1 ? MeasureKind::count : MeasureKind::pair;
    measure.sensitivity = declared_lattice(vector).D;
    return {measure};
}

ReleasePlan plan_declared(const DeclaredVector &vector, Mechanism mechanism, Epsilon epsilon, Delta delta) {
    return plan_release(mechanism, declared_measures(vector), false, epsilon, delta_charged(mechanism, false, delta));
}

static double sigma_of(const DeclaredVector &vector, Calibration calibration, Epsilon epsilon, Delta delta) {
    if (calibration == Calibration::published)
        return vector.sensitivity * std::sqrt(2 * std::log(1.25 / delta.value())) / epsilon.value();
    const double units = plan_declared(vector, Mechanism::gaussian, epsilon, delta).noise.front().stddev();
    return std::ldexp(units, declared_lattice(vector).exponent);
}

DeclaredNoise declared_noise(const DeclaredVector &vector, Calibration calibration, Mechanism mechanism,
                             Epsilon epsilon, Delta delta) {
    check_sensitivity(vector.sensitivity);
    const double k = static_cast<double>(vector.coordinates);
    if (mechanism == Mechanism::gaussian) {
        const double sigma = sigma_of(vector, calibration, epsilon, delta);
        return {k * sigma * sigma, sigma, normal_halfwidth * sigma};
    }
    const double b = vector.sensitivity / epsilon.value();
    return {k * b, std::sqrt(2.0) * b, b * std::log(20.0)};
}

// ---- Find-epsilon --------------------------------------------------------------------------------------------------

EpsilonChoice find_eps_declared(const PisProfile &profile, const DeclaredVector &vector, Mechanism mechanism,
                                double tau, Delta delta, const std::vector<Epsilon> &candidates) {
    check_tau(tau);
    const double slack = mechanism == Mechanism::laplace ? sound_slack : price_slack;
    for (Epsilon candidate : candidates) {
        const double term = declared_noise(vector, Calibration::sound, mechanism, candidate, delta).term;
        if (rdr_of(profile.min(), mechanism, term) >= tau * rdr_of(profile.max(), mechanism, term) * (1 - slack))
            return {candidate.value(), candidate};
    }
    return {};
}

} // namespace dp::privacy
