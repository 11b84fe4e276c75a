#include "privacy/noise_points.hpp"

#include <algorithm>
#include <cmath>

#include "privacy/numbers.hpp"

namespace dp::privacy {

namespace {

double laplace_quantile(double u) {
    return u < 0.5 ? std::log(2 * u) : -std::log(2 * (1 - u));
}

double normal_quantile(double u) {
    return u < 0.5 ? -normal_upper_quantile(u) : u > 0.5 ? normal_upper_quantile(1 - u) : 0;
}

std::vector<NoisePoint> points_of(double (*quantile)(double), int step_of_points) {
    constexpr int n = 1021, generator = 306;
    constexpr NoisePoint shift{0, 0.37, 0.71, 0.17, 0.53, 0.89};
    std::vector<NoisePoint> points;
    for (int i = 0; i < n; i += step_of_points) {
        NoisePoint point{}, mirror{};
        long step = 1;
        for (std::size_t k = 0; k < point.size(); ++k, step = step * generator % n) {
            const double u = std::fmod((static_cast<double>(i * step % n) + 0.5) / n + shift[k], 1.0);
            point[k] = quantile(std::clamp<double>(u, 1e-7, 1 - 1e-7));
            mirror[k] = -point[k];
        }
        points.push_back(point);
        points.push_back(mirror);
    }
    return points;
}

} // namespace

const std::vector<NoisePoint> &noise_points(Mechanism mechanism, bool rough) {
    static const std::vector<NoisePoint> of_laplace = points_of(laplace_quantile, 1), of_gaussian = points_of(normal_quantile, 1),
                                         rough_laplace = points_of(laplace_quantile, 4),
                                         rough_gaussian = points_of(normal_quantile, 4);
    if (mechanism == Mechanism::laplace)
        return rough ? rough_laplace : of_laplace;
    return rough ? rough_gaussian : of_gaussian;
}

double scale_of_noise(const MeasureNoise &noise) {
    return noise.mechanism == Mechanism::laplace ? noise.laplace.value() : noise.gaussian.sigma();
}

Distance distance_of(std::vector<double> &errors) {
    Distance distance;
    const auto n = static_cast<double>(errors.size());
    for (double error : errors) {
        distance.mean += std::fabs(error) / n;
        distance.square += error * error / n;
    }
    std::sort(errors.begin(), errors.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    if (!errors.empty())
        distance.within95 = std::fabs(errors[static_cast<std::size_t>(std::ceil(0.95 * n)) - 1]);
    return distance;
}

} // namespace dp::privacy
