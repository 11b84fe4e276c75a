#include "privacy/printed.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <boost/math/quadrature/gauss.hpp>

#include "privacy/numbers.hpp"
#include "privacy/triple.hpp"

namespace dp::privacy {

namespace {

constexpr double one = static_cast<double>(pair_one);

// E max(0, W - k) and E max(0, W - k)^2 of a standard normal variable.
double normal_excess(double k) {
    return std::max(0.0, normal_density(k) - k * normal_above(k));
}
double normal_excess_square(double k) {
    return std::max(0.0, (1 + k * k) * normal_above(k) - k * normal_density(k));
}

// The integral of max(0, w - k) e^(-max(a, |w|)) over w, a >= 0. falling: e^-a, which four ends share.
double laplace_excess(double k, double a, double falling) {
    if (k >= a)
        return std::exp(-k);
    if (k >= -a)
        return falling * (0.5 * (a - k) * (a - k) + (a - k) + 1);
    return -k * 2 * (1 + a) * falling + std::exp(k);
}

} // namespace

// ---- the average ---------------------------------------------------------------------------------------------------

// u = Z1 + Z0 and w = Z1 - Z0 have the joint density e^(-max(|u|,|w|))/8 in units of the scale for Laplace noise, and are
// independent standard normal variables in units of sigma sqrt 2 for Gaussian noise.
PrintedAverage::PrintedAverage(const MeasureNoise &noise, const PairTotals &totals)
    : laplace_(noise.mechanism == Mechanism::laplace),
      scale_(laplace_ ? noise.laplace.value() / one : noise.gaussian.sigma() * std::sqrt(2.0) / one), one_(1 / scale_),
      count_(totals.count / scale_), above_((totals.count - totals.difference) / scale_),
      below_((totals.count + totals.difference) / scale_), difference_(totals.difference / scale_),
      position_(totals.count > 0 ? totals.difference / totals.count : 0), unit_(scale_ / std::max(1.0, totals.count)) {}

PrintedAverage::Ends PrintedAverage::ends_at(double u, double offset) const {
    const double noisy = count_ + u;
    if (noisy < one_)
        return {-one_ - difference_, (position_ + offset) * one_ - difference_, one_ - difference_, one_};
    // Written so that nothing cancels where there are many values.
    return {-below_ - u, position_ * u + offset * noisy, above_ + u, noisy};
}

double PrintedAverage::beyond(double k, double reach, double falling) const {
    return laplace_ ? laplace_excess(k, reach, falling) : normal_excess(k);
}

// (|w - from| minus what lies beyond the bounds) / scale, integrated over w.
double PrintedAverage::distance_at(double u, double offset) const {
    const Ends ends = ends_at(u, offset);
    const double a = std::fabs(u), e = laplace_ ? std::exp(-a) : 0;
    const double sum =
        beyond(ends.from, a, e) + beyond(-ends.from, a, e) - beyond(-ends.low, a, e) - beyond(ends.high, a, e);
    return std::max(0.0, sum) / ends.scale * (laplace_ ? 0.125 : normal_density(u));
}

// Gaussian noise. ((w - from)^2 minus what the clamp takes off at both ends) / scale^2.
double PrintedAverage::square_at(double u) const {
    const Ends ends = ends_at(u, 0);
    const auto taken = [](double k, double way) { return normal_excess_square(k) + 2 * way * normal_excess(k); };
    const double sum =
        1 + ends.from * ends.from - taken(ends.high, ends.high - ends.from) - taken(-ends.low, ends.from - ends.low);
    return std::max(0.0, sum) / ends.scale / ends.scale * normal_density(u);
}

// Between these points the integrand is smooth: where the count stops being divided by, and, for Laplace noise, where one
// of the three ends passes |u|.
std::vector<double> PrintedAverage::pieces(double offset) const {
    const double edge = one_ - count_;
    std::vector<double> points{0, edge, edge + 0.02, edge + 0.1, edge + 0.5};
    for (double u : laplace_ ? std::vector<double>{1.5, 4, 9, 16, 26, 48} : std::vector<double>{1, 2, 3.5, 5, 7, 10}) {
        points.push_back(u);
        points.push_back(-u);
    }
    if (laplace_) {
        const double slopes[3] = {-1, position_ + offset, 1}, starts[3] = {-below_, offset * count_, above_};
        for (int i = 0; i < 3; ++i) {
            points.push_back(starts[i] / (1 - slopes[i]));
            points.push_back(-starts[i] / (1 + slopes[i]));
        }
        const Ends low = ends_at(edge - 1, offset);
        for (double k : {low.low, low.from, low.high})
            points.push_back(-std::fabs(k));
    }
    const double reach = laplace_ ? 48 : 10;
    points.erase(std::remove_if(points.begin(), points.end(), [&](double u) { return !(std::fabs(u) <= reach); }),
                 points.end());
    std::sort(points.begin(), points.end());
    return points;
}

template <class Function> double PrintedAverage::integral(Function f, double offset) const {
    const std::vector<double> points = pieces(offset);
    double sum = 0;
    for (std::size_t i = 1; i < points.size(); ++i)
        if (points[i] > points[i - 1])
            sum += boost::math::quadrature::gauss<double, 15>::integrate(f, points[i - 1], points[i]);
    return sum;
}

double PrintedAverage::distance(double offset) const {
    return integral([&](double u) { return distance_at(u, offset); }, offset);
}

double PrintedAverage::square() const {
    if (laplace_)
        throw std::logic_error("the indicator of Laplace noise has no mean square");
    return integral([&](double u) { return square_at(u); }, 0);
}

// Beyond sixty spreads the average lies on one side, and the distance is a straight line.
AverageDistances::AverageDistances(const PrintedAverage &average, double lowest, double highest, std::size_t wanted)
    : average_(average), low_(std::max(lowest, -60 * average.spread())),
      high_(std::min(highest, 60 * average.spread())) {
    const double steps = std::max(256.0, std::ceil((high_ - low_) / (0.1 * average.spread())));
    if (!(high_ > low_) || static_cast<double>(wanted) <= 2 * steps)
        return;
    const auto n = static_cast<std::size_t>(steps);
    step_ = (high_ - low_) / steps;
    for (std::size_t i = 0; i <= n; ++i)
        nodes_.push_back(average.distance(low_ + static_cast<double>(i) * step_));
}

// Catmull and Rom's cubic; straight at both ends.
double AverageDistances::operator()(double offset) const {
    if (nodes_.size() < 2)
        return average_.distance(offset);
    if (offset <= low_)
        return nodes_.front() + (low_ - offset);
    if (offset >= high_)
        return nodes_.back() + (offset - high_);
    const double at = (offset - low_) / step_;
    const std::size_t i = std::min(static_cast<std::size_t>(at), nodes_.size() - 2);
    const double x = at - static_cast<double>(i), b = nodes_[i], c = nodes_[i + 1];
    const double a = i > 0 ? nodes_[i - 1] : 2 * b - c, d = i + 2 < nodes_.size() ? nodes_[i + 2] : 2 * c - b;
    return b + 0.5 * x * (c - a + x * (2 * a - 5 * b + 4 * c - d + x * (3 * (b - c) + d - a)));
}

// ---- counts and sums -----------------------------------------------------------------------------------------------

namespace {

// E|d + round(X)| of an integer d, X the sum of two Laplace variables of scale b: P(|X| > t) = (1 + t/(2b)) e^(-t/b). It is d and twice
// the mean of what round(X) has beyond d.
double rounded_count_distance(double b, double d) {
    const double r = std::exp(-1 / b), gap = -std::expm1(-1 / b), from = d + 0.5;
    return d + std::exp(-from / b) * ((1 + from / (2 * b)) / gap + r / (2 * b * gap * gap));
}

// E round(X)^2 of a normal variable of deviation s.
double rounded_count_square(double s) {
    if (s > 10) // Euler and Maclaurin: what is missing is below e^(-19 s^2)
        return s * s + 1.0 / 12;
    double sum = 0;
    for (double j = std::ceil(12 * s) + 1; j >= 1; --j)
        sum += (2 * j - 1) * 2 * normal_above((j - 0.5) / s);
    return sum;
}

// E|d + A Z1 + B Z0|, Z Laplace variables of scale 1, A >= B >= 0.
double combined_distance(double a, double b, double d) {
    if (a - b < 1e-5 * a) {
        const double mean = 0.5 * (a + b);
        return d + std::exp(-d / mean) * (1.5 * mean + 0.5 * d);
    }
    const double far = b > 0 ? b * b * b * std::exp(-d / b) : 0;
    return d + (a * a * a * std::exp(-d / a) - far) / ((a - b) * (a + b));
}

double half_range(const Bounds &bounds) {
    return 0.5 * bounds.high - 0.5 * bounds.low;
}

} // namespace

double largest_printed_change(Aggregate fn, const Bounds &bounds) {
    switch (fn) {
    case Aggregate::sum:
        return std::max(std::fabs(bounds.low), std::fabs(bounds.high));
    case Aggregate::avg:
        return half_range(bounds);
    case Aggregate::var_pop:
    case Aggregate::var_samp:
    case Aggregate::stddev_pop:
    case Aggregate::stddev_samp:
        return largest_spread_change(fn);
    default:
        return 1;
    }
}

double printed_distance(Aggregate fn, const MeasureNoise &noise, const Bounds &bounds, double change) {
    const double b = noise.laplace.value() / one;
    if (fn != Aggregate::sum)
        return rounded_count_distance(b, change);
    const double largest = largest_printed_change(fn, bounds);
    const double smaller = std::min(std::fabs(bounds.low), std::fabs(bounds.high)) / largest;
    return combined_distance(b, b * smaller, std::fabs(change) / largest);
}

double printed_error(Aggregate fn, const MeasureNoise &noise, const Bounds &bounds, const PairTotals &totals) {
    const bool laplace = noise.mechanism == Mechanism::laplace;
    if (fn == Aggregate::avg) {
        const PrintedAverage average(noise, totals);
        return laplace ? average.distance(0) : average.square();
    }
    if (laplace)
        return printed_distance(fn, noise, bounds, 0);
    const double sigma = noise.gaussian.sigma() / one;
    if (fn != Aggregate::sum)
        return rounded_count_square(sigma * std::sqrt(2.0));
    const double largest = largest_printed_change(fn, bounds);
    return std::pow(sigma * std::hypot(bounds.low / largest, bounds.high / largest), 2);
}

} // namespace dp::privacy
