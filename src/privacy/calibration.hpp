// Calibrates noise: Gaussian scales (formulas.md 8.4), zCDP conversions in doubles (5.3) and thresholds of groups (8.5). A total is
// never decided on these numbers: that is in zcdp.hpp.
#pragma once

#include "privacy/exact.hpp"
#include "privacy/noise.hpp"

namespace dp::privacy {

// ---- Gaussian calibration (8.4) ----
double delta_balle_wang(double eps, double sigma, double sensitivity);
double analytic_gaussian_sigma(double eps, double delta, double sensitivity);
// Exact delta of the discrete Gaussian of parameter sigma for an integer sensitivity (lattice units).
double discrete_gaussian_delta(double eps, double sigma, double sensitivity);
// sigma^2 = a/b on the sampler's grid for one coordinate of integer sensitivity D ("gaussian_release_sigma").
GaussianScale gaussian_release_sigma(double eps, double delta, double sensitivity);
// Rounds sigma^2 UP to the sampler's grid. Errors: InvalidParameter for a sigma that no sampler draws.
GaussianScale gaussian_scale_up(double sigma);
// Does the same for sigma^2 = numerator / denominator, exactly.
GaussianScale gaussian_scale_up(const exact::cpp_int &numerator, const exact::cpp_int &denominator);

// ---- zCDP (5.3) in doubles ----
double rho_cap_classic(double eps, double delta);
double rho_cap_tight(double eps, double delta);

// ---- Group thresholds (8.5) ----
std::int64_t partition_threshold_laplace(double eps, double delta, int max_groups); // discrete Laplace
std::int64_t partition_threshold_gaussian(double sigma, double delta, int max_groups);

} // namespace dp::privacy
