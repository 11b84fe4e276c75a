// What one concrete output says about one record: the output-dependent indicator and the realised privacy loss
// (formulas.md 1.3). Functions of private rows, for the controller alone.
#pragma once

#include <vector>

#include "privacy/mechanism.hpp"

namespace dp::privacy {

// || o - q(x without the record) ||, l1 for Laplace and l2 for Gaussian noise.
double output_rdr(Mechanism mechanism, const std::vector<double> &output, const std::vector<double> &without);

// The logarithm of how much likelier the output is with the record than without it, for continuous noise of these scales.
// Signed: outputs nearer to the answer without the record have a negative loss. The larger the indicator, the larger the
// loss; without the sign that would be false.
double expost_loss_laplace_signed(const std::vector<double> &output, const std::vector<double> &with,
                                  const std::vector<double> &without, double delta1, double eps);
double expost_loss_gaussian_signed(const std::vector<double> &output, const std::vector<double> &with,
                                   const std::vector<double> &without, double sigma);

// The same, coordinate by coordinate: distances are given, the common coordinates of both sides cancel.
// Laplace noise of scale b, Gaussian noise of standard deviation `scale`.
double coordinate_loss(Mechanism mechanism, double output, double with, double without, double scale);

} // namespace dp::privacy
