#include "privacy/risk_output.hpp"

#include <cmath>

namespace dp::privacy {

double coordinate_loss(Mechanism mechanism, double output, double with, double without, double scale) {
    if (mechanism == Mechanism::laplace)
        return (std::fabs(output - without) - std::fabs(output - with)) / scale;
    // (a^2 - b^2) / (2 sigma^2) as a product: no square leaves the range, no digits cancel.
    return (with - without) / scale * ((output - without) / scale + (output - with) / scale) / 2;
}

} // namespace dp::privacy
