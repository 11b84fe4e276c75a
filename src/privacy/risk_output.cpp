#include "privacy/risk_output.hpp"

#include <cmath>

namespace dp::privacy {

double output_rdr(Mechanism mechanism, const std::vector<double> &output, const std::vector<double> &without) {
    double distance = 0;
    for (std::size_t c = 0; c < output.size(); ++c) {
        const double d = output[c] - without[c];
        distance = mechanism == Mechanism::laplace ? distance + std::fabs(d) : std::hypot(distance, d);
    }
    return distance;
}

double coordinate_loss(Mechanism mechanism, double output, double with, double without, double scale) {
    if (mechanism == Mechanism::laplace)
        return (std::fabs(output - without) - std::fabs(output - with)) / scale;
    // (a^2 - b^2) / (2 sigma^2) as a product: no square leaves the range, no digits cancel.
    return (with - without) / scale * ((output - without) / scale + (output - with) / scale) / 2;
}

static double loss(Mechanism mechanism, const std::vector<double> &output, const std::vector<double> &with,
                   const std::vector<double> &without, double scale) {
    double sum = 0;
    for (std::size_t c = 0; c < output.size(); ++c)
        sum += coordinate_loss(mechanism, output[c], with[c], without[c], scale);
    return sum;
}

double expost_loss_laplace_signed(const std::vector<double> &output, const std::vector<double> &with,
                                  const std::vector<double> &without, double delta1, double eps) {
    return loss(Mechanism::laplace, output, with, without, delta1 / eps);
}

double expost_loss_gaussian_signed(const std::vector<double> &output, const std::vector<double> &with,
                                   const std::vector<double> &without, double sigma) {
    return loss(Mechanism::gaussian, output, with, without, sigma);
}

} // namespace dp::privacy
