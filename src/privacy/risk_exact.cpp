#include "privacy/risk_exact.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "privacy/noise.hpp"
#include "privacy/numbers.hpp"

namespace dp::privacy {

namespace {

// From this sigma on (in units) sums over the lattice are replaced: by Euler and Maclaurin's formula on one coordinate, by the
// continuous law on several, where the two expectations differ by less than 3e-5 of their value.
constexpr double summed_below = 10;
constexpr double step = 0.15; // of the integral, in ln s

// |d| + E|Z| (e^(-|d|/b) - 1) for both laws of Laplace noise: b is E|Z| of the continuous one.
double laplace_excess(double difference, double b, double mean_abs) {
    return difference + mean_abs * std::expm1(-difference / b);
}

double laplace_mean_abs(const CoordinateNoise &noise) {
    return noise.family == NoiseFamily::laplace ? noise.scale : discrete_laplace_mean_abs(noise.scale);
}

double gaussian_mean_abs(const CoordinateNoise &noise, double difference) {
    return noise.family == NoiseFamily::gaussian ? rdr_gaussian_exact_k1(difference, noise.scale)
                                                 : discrete_gaussian_mean_abs(difference, noise.scale);
}

bool is_summed(const CoordinateNoise &noise) {
    return noise.family == NoiseFamily::discrete_gaussian && noise.scale < summed_below;
}

// E e^(-t ((d + Z)/unit)^2) over the integers.
double summed_transform(const CoordinateNoise &noise, double difference, double t) {
    double sum = 0;
    const double reach = std::ceil(9 * noise.scale) + 1;
    for (double z = -reach; z <= reach; ++z) {
        const double x = (difference + z) / noise.unit;
        sum += discrete_gaussian_pmf(noise.scale, z) * std::exp(-t * x * x);
    }
    return sum;
}

double scaled_variance(const CoordinateNoise &noise) {
    const double scaled = noise.scale / noise.unit;
    return scaled * scaled;
}

} // namespace

// ---- One record, one kind of noise ----

double rdr_gaussian_exact_k1(double difference, double sigma) {
    const double d = std::fabs(difference) / sigma;
    return sigma * (std::sqrt(2 / pi) * std::exp(-0.5 * d * d) + d * std::erf(d / std::sqrt(2.0)));
}

// E|d + Z| = d + 2 sum over j > 0 of j P(d + j).
double discrete_gaussian_mean_abs(double difference, double sigma) {
    const double d = std::fabs(difference), s2 = sigma * sigma;
    if (sigma < summed_below) {
        double sum = 0;
        for (double j = std::max(1.0, std::ceil(12 * sigma + 1 - d)); j >= 1; --j)
            sum += j * discrete_gaussian_pmf(sigma, d + j);
        return d + 2 * sum;
    }
    // The sum over j is the integral minus g(d)/12 - g''(d)/240 + g''''(d)/6048, g the density. The next term is below
    // 2e-11 of the result from sigma = 10 on.
    const double x2 = d * d / s2;
    const double g = std::exp(-0.5 * x2) / (sigma * std::sqrt(2 * pi));
    const double second = (x2 - 1) / s2, fourth = (x2 * x2 - 6 * x2 + 3) / (s2 * s2);
    return rdr_gaussian_exact_k1(d, sigma) - 2 * g * (1.0 / 12 - second / 240 + fourth / 6048);
}

// ---- The indicator ----

ExactRdr::ExactRdr(std::vector<CoordinateNoise> noise, std::vector<int> noise_of, double largest)
    : noise_(std::move(noise)), noise_of_(std::move(noise_of)) {
    if (noise_.empty())
        throw std::logic_error("a query without a measure has no noise");
    if (laplace()) {
        for (const CoordinateNoise &n : noise_)
            noise_term_ += n.k * laplace_mean_abs(n) / n.unit;
    } else if (one_coordinate()) {
        noise_term_ = gaussian_mean_abs(noise_.front(), 0) / noise_.front().unit;
    } else {
        place_nodes(largest);
        noise_term_ = integral([this](std::size_t i) { return 1 - transform_[i]; });
    }
}

bool ExactRdr::laplace() const {
    return noise_.front().family == NoiseFamily::laplace || noise_.front().family == NoiseFamily::discrete_laplace;
}

bool ExactRdr::one_coordinate() const {
    return noise_.size() == 1 && noise_.front().k == 1;
}

double ExactRdr::excess(const double *change, std::size_t groups) const {
    return laplace() ? excess_laplace(change, groups) : excess_gaussian(change, groups);
}

double ExactRdr::excess_laplace(const double *change, std::size_t groups) const {
    double excess = 0;
    for (std::size_t c = 0; c < noise_of_.size() * groups; ++c) {
        const CoordinateNoise &n = noise_[noise_of_[c % noise_of_.size()]];
        excess += laplace_excess(std::fabs(change[c]), n.scale, laplace_mean_abs(n)) / n.unit;
    }
    return excess;
}

// ---- Several coordinates with Gaussian noise ----
// For Y >= 0, sqrt(Y) = integral over s > 0 of (1 - e^(-s^2 Y)) / (sqrt(pi) s^2). With Y = ||o - q(x without the record)||^2
// the expectation of e^(-tY) is a product over the coordinates, whatever their scales and laws:
//     normal noise, variance v:  (1 + 2tv)^(-1/2) e^(-t d^2/(1 + 2tv));   integer noise of small sigma: a short sum.
// In ln s the integrand is analytic in a strip and falls like e^(-|ln s|) at both ends: the trapezoidal rule converges at
// an exponential rate, and beyond the ends its sum is a geometric series.

void ExactRdr::place_nodes(double largest) {
    double total = largest, smallest = scaled_variance(noise_.front());
    for (const CoordinateNoise &n : noise_) {
        total += n.k * scaled_variance(n);
        smallest = std::min(smallest, scaled_variance(n));
    }
    const double low = 0.5 * std::log(1e-9 / total), high = 0.5 * std::log(1e9 / smallest);
    for (double v = low; v < high + step; v += step) {
        const double t = std::exp(2 * v);
        double log_transform = 0;
        for (const CoordinateNoise &n : noise_)
            log_transform += n.k * (is_summed(n) ? std::log(summed_transform(n, 0, t))
                                                 : -0.5 * std::log1p(2 * t * scaled_variance(n)));
        points_.push_back(t);
        transform_.push_back(std::exp(log_transform));
    }
}

// f(i): E e^(-tY) subtracted from 1, or two of them from each other, at t = points_[i].
template <class Function> double ExactRdr::integral(Function f) const {
    double sum = 0, first = 0, last = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        last = f(i) / std::sqrt(points_[i]);
        if (i == 0)
            first = last;
        sum += last;
    }
    return step / std::sqrt(pi) * (sum + (first + last) / std::expm1(step));
}

// ln of E e^(-t(d+Z)^2) / E e^(-tZ^2) at every node, for noise that is summed.
const std::vector<double> &ExactRdr::log_ratios(int measure, double difference) const {
    std::vector<double> &ratios = log_ratios_[{measure, difference}];
    if (ratios.empty())
        for (double t : points_)
            ratios.push_back(
                std::log(summed_transform(noise_[measure], difference, t) / summed_transform(noise_[measure], 0, t)));
    return ratios;
}

double ExactRdr::excess_gaussian(const double *change, std::size_t groups) const {
    if (groups == 0)
        return 0;
    if (one_coordinate())
        return gaussian_mean_abs(noise_.front(), change[0]) / noise_.front().unit - noise_term_;
    // Per measure: sum of squares where the law is normal; the summed ones bring their ratios.
    std::vector<double> squares(noise_.size(), 0);
    std::vector<const std::vector<double> *> summed;
    for (std::size_t c = 0; c < noise_of_.size() * groups; ++c) {
        const int measure = noise_of_[c % noise_of_.size()];
        const CoordinateNoise &n = noise_[measure];
        if (change[c] == 0)
            continue;
        if (is_summed(n))
            summed.push_back(&log_ratios(measure, std::fabs(change[c])));
        else
            squares[measure] += std::pow(change[c] / n.unit, 2);
    }
    return integral([&](std::size_t i) {
        double exponent = 0;
        for (std::size_t j = 0; j < noise_.size(); ++j)
            if (squares[j] > 0)
                exponent -= points_[i] * squares[j] / (1 + 2 * points_[i] * scaled_variance(noise_[j]));
        for (const std::vector<double> *ratios : summed)
            exponent += (*ratios)[i];
        return -transform_[i] * std::expm1(exponent);
    });
}

// ---- One concrete output ----

double coordinate_loss(Mechanism mechanism, double output, double with, double without, double scale) {
    if (mechanism == Mechanism::laplace)
        return (std::fabs(output - without) - std::fabs(output - with)) / scale;
    // (a^2 - b^2) / (2 sigma^2) as a product: no square leaves the range, no digits cancel.
    return (with - without) / scale * ((output - without) / scale + (output - with) / scale) / 2;
}

} // namespace dp::privacy
