#include "privacy/noise.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/special_functions/erf.hpp>

#include "privacy/numbers.hpp"
#include "privacy/wide.hpp"

namespace dp::privacy {

namespace {

constexpr double exact_sum_limit = 1000; // sigma: above, sums over the lattice become integrals

// sum over all integers of exp(-z^2 / (2 sigma^2)); from sigma = 1 on by Poisson summation.
double gaussian_weight(double sigma) {
    double sum = 1;
    if (sigma >= 1) {
        for (int k = 1; k <= 2; ++k)
            sum += 2 * std::exp(-2 * pi * pi * sigma * sigma * k * k);
        return sigma * std::sqrt(2 * pi) * sum;
    }
    for (int z = 1; z <= 10; ++z)
        sum += 2 * std::exp(-0.5 * (z / sigma) * (z / sigma));
    return sum;
}

// The law's tail from m > 0 on, term by term until nothing changes.
double summed_tail(double sigma, double m) {
    const double first = std::exp(-0.5 * (m / sigma) * (m / sigma));
    double sum = 1;
    for (double z = m + 1;; ++z) {
        const double term = std::exp(-0.5 * ((z - m) / sigma) * ((z + m) / sigma)); // relative to the first
        sum += term;
        if (term < 1e-18 * sum)
            return first / gaussian_weight(sigma) * sum;
    }
}

// Midpoint rule for the sum over z >= m with two correction terms: relative error below 1e-12 from sigma = 1000 on.
double integrated_tail(double sigma, double m) {
    const double x = (m - 0.5) / sigma;
    const double density = normal_density(x);
    const double first = -x * density / (sigma * sigma);
    const double third = -(x * x * x - 3 * x) * density / (sigma * sigma * sigma * sigma);
    return std::max(0.0, normal_above(x) + first / 24 - 7 * third / 5760);
}

} // namespace

double LaplaceScale::value() const { return static_cast<double>(t) / static_cast<double>(s); }

double GaussianScale::sigma() const { return std::sqrt(wide(a).convert_to<double>() / b); }

double discrete_laplace_pmf(double b, double z) { return std::tanh(0.5 / b) * std::exp(-std::fabs(z) / b); }

double discrete_laplace_variance(double b) {
    const double s = std::sinh(0.5 / b);
    return 0.5 / (s * s);
}

double discrete_laplace_mean_abs(double b) { return 1 / std::sinh(1 / b); }

double discrete_gaussian_pmf(double sigma, double z) {
    return std::exp(-0.5 * (z / sigma) * (z / sigma)) / gaussian_weight(sigma);
}

double discrete_gaussian_variance(double sigma) {
    if (sigma >= 10)
        return sigma * sigma; // the rest is below e^-1900
    double sum = 0;
    for (double z = std::ceil(15 * sigma) + 1; z >= 1; --z)
        sum += 2 * z * z * std::exp(-0.5 * (z / sigma) * (z / sigma));
    return sum / gaussian_weight(sigma);
}

double discrete_gaussian_tail(double sigma, double m) {
    if (m <= 0)
        return 1 - discrete_gaussian_tail(sigma, 1 - m);
    return sigma <= exact_sum_limit ? summed_tail(sigma, m) : integrated_tail(sigma, m);
}

double normal_upper_quantile(double p) { return std::sqrt(2.0) * boost::math::erfc_inv(2 * p); }

double discrete_laplace_halfwidth(double b, double beta) {
    if (beta >= 1)
        return 0;
    const double u = std::exp(-1 / b);
    return std::max(0.0, std::ceil(b * std::log(2 / (beta * (1 + u)))) - 1);
}

double discrete_gaussian_halfwidth(double sigma, double beta) {
    if (beta >= 1)
        return 0;
    const double z = normal_upper_quantile(beta / 2);
    if (sigma > exact_sum_limit)
        return std::ceil(z * sigma) + 1;
    double h = std::max(0.0, std::floor(z * sigma));
    while (2 * discrete_gaussian_tail(sigma, h + 1) > beta)
        ++h;
    while (h > 0 && 2 * discrete_gaussian_tail(sigma, h) <= beta)
        --h;
    return h;
}

} // namespace dp::privacy
