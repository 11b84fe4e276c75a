// Find-epsilon for counts and sums in closed form (formulas.md 2): what a search has to come to. Searches try the candidates themselves.
#pragma once

#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "privacy/risk.hpp"

namespace dp::privacy {

struct NoiseMeasure {
    double k = 1; // coordinates of the measure in the released vector
    double D = 1; // sensitivity in lattice units
};

// N(eps) = sum_j k_j / (D_j sinh(eps / (m D_j))).
inline double rdr_noise_term(double eps, const std::vector<NoiseMeasure> &measures) {
    const double m = static_cast<double>(measures.size());
    double noise = 0;
    // sinh overflows to infinity, then the term is 0: no noise is left. For a tiny eps/D, sinh(x) = x to the last digit.
    for (const NoiseMeasure &measure : measures)
        noise += measure.k / (measure.D * std::sinh(eps / (m * measure.D)));
    return noise;
}

// The largest eps with N(eps) (1-tau) >= missing when the D_j differ. N falls strictly; it lies between the noise terms of
// D = 1 and of D without end, whose closed forms are the bracket.
inline double sound_eps_star_by_bisection(double missing, double k, const std::vector<NoiseMeasure> &measures,
                                          double tau) {
    const double m = static_cast<double>(measures.size());
    double low = m * std::asinh(k * (1 - tau) / missing);
    double high = k * m * (1 - tau) / missing;
    if (!std::isfinite(high)) // a requirement below every positive number of use: far above any candidate
        return low;
    while (low < high) {
        // The bracket may span hundreds of powers of ten: halve its logarithm.
        const double middle = std::sqrt(low) * std::sqrt(high);
        if (middle <= low || middle >= high)
            break;
        (rdr_noise_term(middle, measures) * (1 - tau) >= missing ? low : high) = middle;
    }
    return low;
}

inline double sound_eps_star(double missing, const std::vector<NoiseMeasure> &measures, double tau) {
    const double m = static_cast<double>(measures.size());
    const double D = measures.front().D;
    double k = 0;
    bool one_lattice = true;
    for (const NoiseMeasure &measure : measures) {
        k += measure.k;
        one_lattice = one_lattice && measure.D == D;
    }
    return one_lattice ? m * D * std::asinh(k * (1 - tau) / (D * missing))
                       : sound_eps_star_by_bisection(missing, k, measures, tau);
}

inline EpsilonChoice find_eps_sound(double pis_min, double pis_max, const std::vector<NoiseMeasure> &measures, double tau,
                             const std::vector<Epsilon> &candidates) {
    check_tau(tau);
    if (measures.empty())
        throw std::logic_error("a query without a measure has no epsilon");
    const double missing = tau * pis_max - pis_min;
    const double star = missing <= 0 ? infinite_epsilon : tau == 1 ? 0 : sound_eps_star(missing, measures, tau);
    return {star, largest_candidate(candidates, star, sound_slack)};
}

// Find-epsilon for Gaussian noise with sigma in closed form.
struct GaussianChoice {
    double sigma_star = 0; // the noise that the preference requires: 0 none, infinite_epsilon no noise is enough
    EpsilonChoice classic, analytic;
};
inline GaussianChoice find_eps_gaussian(double pis_min, double pis_max, double k, double delta2, double tau, double delta,
                                 const std::vector<Epsilon> &candidates) {
    check_tau(tau);
    if (!(delta > 0 && delta <= 1))
        throw InvalidParameter("delta must be greater than 0 and at most 1");
    const double missing = tau * pis_max - pis_min;
    GaussianChoice choice;
    double classic, analytic;
    if (missing <= 0 || tau == 1) { // both ends of tau, and equal risks
        choice.sigma_star = missing <= 0 ? 0 : infinite_epsilon;
        classic = analytic = missing <= 0 ? infinite_epsilon : 0;
    } else {
        // Differences of squares as products: exact where they nearly vanish, and no square leaves the range of double.
        choice.sigma_star = std::sqrt(missing / (k * (1 - tau))) * std::sqrt((tau * pis_max + pis_min) / (1 + tau));
        classic = delta2 * std::sqrt(2 * std::log(1.25 / delta)) / choice.sigma_star;
        analytic = analytic_eps_star(choice.sigma_star, delta2, delta);
    }
    choice.classic = {classic, largest_candidate(candidates, classic, price_slack)};
    choice.analytic = {analytic, largest_candidate(candidates, analytic, price_slack)};
    return choice;
}

} // namespace dp::privacy
