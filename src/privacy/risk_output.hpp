// Computes the privacy loss that one concrete output has realised for one record (formulas.md 1.3). It depends on private rows: for
// the controller alone.
#pragma once

#include "privacy/mechanism.hpp"

namespace dp::privacy {

// Returns by how much likelier, as a logarithm, one coordinate's output is with the record than without it. The sum over the
// coordinates is the loss of the whole output. It is signed: outputs nearer to the answer without the record have a negative loss.
// Without the sign it would not grow with the indicator.
// Laplace noise of scale b, Gaussian noise of standard deviation `scale`.
double coordinate_loss(Mechanism mechanism, double output, double with, double without, double scale);

} // namespace dp::privacy
