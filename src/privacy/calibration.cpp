#include "privacy/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/quadrature/gauss.hpp>

#include "privacy/lattice.hpp"
#include "privacy/numbers.hpp"
#include "privacy/renyi.hpp"
#include "privacy/wide.hpp"

namespace dp::privacy {

namespace {

constexpr double wide_from = 1000; // sigma in lattice units: from here on the lattice does not matter
constexpr std::uint32_t fine_grid =
    1U << 20; // sigma^2 is a multiple of 2^-20 below `wide_from`, an integer from there on

// ln Phi(y), also where Phi(y) underflows.
double log_normal_cdf(double y) {
    if (y >= -20)
        return std::log(normal_above(-y));
    const double r = 1 / (y * y);
    return -0.5 * y * y - std::log(-y * std::sqrt(2 * pi)) + std::log1p(r * (-1 + r * (3 + r * (-15 + r * 105))));
}

double delta_per_group(double delta, int max_groups) {
    return -std::expm1(std::log1p(-delta) / max_groups);
}

exact::cpp_int ceil_shift(const exact::cpp_int &n, int shift) {
    if (shift >= 0)
        return n << static_cast<unsigned>(shift);
    const exact::cpp_int divisor = exact::cpp_int(1) << static_cast<unsigned>(-shift);
    return (n + divisor - 1) / divisor;
}

} // namespace

// Computes delta_balle_wang() as an integral of a positive function, for noise so wide that the two terms of the formula nearly
// cancel (formulas.md 8.4): of phi(alpha + s) (1 - e^(-cs)) over s > 0, c = sensitivity / sigma, alpha = eps/c - c/2.
static double delta_balle_wang_wide(double eps, double c) {
    const double alpha = eps / c - 0.5 * c, width = 1 / std::max(1.0, alpha);
    const auto density = [&](double s) {
        const double x = alpha + s;
        return -std::expm1(-c * s) * std::exp(-0.5 * x * x) / std::sqrt(2 * pi);
    };
    double sum = 0, from = 0;
    for (double to : {0.5, 1.5, 3.0, 5.0, 8.0, 12.0, 18.0, 26.0, 38.0}) {
        sum += boost::math::quadrature::gauss<double, 15>::integrate(density, from * width, to * width);
        from = to;
    }
    return sum;
}

double delta_balle_wang(double eps, double sigma, double sensitivity) {
    if (sensitivity < 1e-3 * sigma)
        return delta_balle_wang_wide(eps, sensitivity / sigma);
    const double a = sensitivity / (2 * sigma), b = eps * sigma / sensitivity;
    return normal_above(b - a) - std::exp(eps + log_normal_cdf(-a - b));
}

// Bisection in ln(sigma / sensitivity); the upper end satisfies delta. The range covers epsilon from 10^-9 to 100 at
// any delta that a Delta can hold.
double analytic_gaussian_sigma(double eps, double delta, double sensitivity) {
    const auto too_little = [&](double log_sigma) { return !(delta_balle_wang(eps, std::exp(log_sigma), 1) <= delta); };
    return sensitivity * std::exp(halved(std::log(1e-6), std::log(1e12), 200, too_little).high);
}

double discrete_gaussian_delta(double eps, double sigma, double sensitivity) {
    // Outputs at the edge itself have loss exactly eps and cancel: it does not matter on which side rounding puts them.
    const double middle = eps * sigma * sigma / sensitivity;
    const double near = discrete_gaussian_tail(sigma, std::floor(middle - 0.5 * sensitivity) + 1);
    const double far = discrete_gaussian_tail(sigma, std::floor(middle + 0.5 * sensitivity) + 1);
    return far > 0 ? near - std::exp(eps + std::log(far)) : near;
}

GaussianScale gaussian_scale_up(double sigma) {
    if (!(sigma > 0 && sigma < 0x1p99))
        throw InvalidParameter("the standard deviation of the noise is out of range");
    int exponent = 0;
    const exact::cpp_int mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(sigma, &exponent), 53));
    GaussianScale scale;
    scale.b = sigma >= wide_from ? 1 : fine_grid;
    scale.a = words(uint256(ceil_shift(mantissa * mantissa * scale.b, 2 * (exponent - 53))));
    return scale;
}

GaussianScale gaussian_scale_up(const exact::cpp_int &numerator, const exact::cpp_int &denominator) {
    if (numerator <= 0 || denominator <= 0 || numerator >= denominator << 198)
        throw InvalidParameter("the standard deviation of the noise is out of range");
    constexpr unsigned wide_squared = 1000000;
    GaussianScale scale;
    scale.b = numerator >= denominator * wide_squared ? 1 : fine_grid;
    scale.a = words(uint256((numerator * scale.b + denominator - 1) / denominator));
    return scale;
}

GaussianScale gaussian_release_sigma(double eps, double delta, double sensitivity) {
    const double continuous = analytic_gaussian_sigma(eps, delta, sensitivity);
    if (continuous >= wide_from)
        return gaussian_scale_up(analytic_gaussian_sigma(eps, delta * (1 - 1e-4), sensitivity));
    GaussianScale scale = gaussian_scale_up(continuous);
    // Both tails are known to 1e-12, and differ by a thousandth of themselves or more.
    while (discrete_gaussian_delta(eps, scale.sigma(), sensitivity) > delta * (1 - 1e-8))
        scale.a = words((wide(scale.a) * 1002001 + 999999) / 1000000);
    return scale;
}

double rho_cap_classic(double eps, double delta) {
    const double l = std::log(1 / delta);
    const double root = eps / (std::sqrt(l + eps) + std::sqrt(l)); // sqrt(l + eps) - sqrt(l) without cancellation
    return root * root;
}

double rho_cap_tight(double eps, double delta) {
    const double l = std::log(1 / delta);
    const double order = best_order([&](double t) { return cap_at(std::exp(t), eps, l); });
    return std::max(rho_cap_classic(eps, delta), cap_at(order, eps, l));
}

std::int64_t partition_threshold_laplace(double eps, double delta, int max_groups) {
    const double al = eps / max_groups;
    const double needed = -std::log(delta_per_group(delta, max_groups)) - std::log1p(std::exp(-al)); // m al >= needed
    return 1 + static_cast<std::int64_t>(std::max(1.0, std::ceil(needed / al)));
}

// Beyond it a step of 1 is nothing beside what the quantile is off by, and in the end nothing to a double.
constexpr double largest_searched_threshold = 0x1p40;

std::int64_t partition_threshold_gaussian(double sigma, double delta, int max_groups) {
    const double delta_p = delta_per_group(delta, max_groups);
    if (sigma > largest_searched_threshold)
        return 2 + static_cast<std::int64_t>(std::ceil(sigma * normal_upper_quantile(delta_p * (1 - 1e-6))));
    double m = std::max(1.0, std::floor(sigma * normal_upper_quantile(delta_p)));
    while (discrete_gaussian_tail(sigma, m) > delta_p)
        ++m;
    while (m > 1 && discrete_gaussian_tail(sigma, m - 1) <= delta_p)
        --m;
    return 1 + static_cast<std::int64_t>(m);
}

} // namespace dp::privacy
