#include "privacy/joint.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "privacy/joint_points.hpp"
#include "privacy/numbers.hpp"

namespace dp::privacy {

namespace {

constexpr char not_joint[] = "an aggregate of one column is read off sums of two";
constexpr double infinity = std::numeric_limits<double>::infinity();

double range_of(const Bounds &bounds) {
    return 2 * (0.5 * bounds.high - 0.5 * bounds.low);
}

// ---- sums, in units of 1 -------------------------------------------------------------------------------------------

// Real: double, or long double where small differences count.
template <class Real> struct SumsOf {
    Real both, y_alone, x_alone, neither, y_spread, x_spread;
    Real count() const { return both + y_alone + x_alone + neither; }
    Real y() const { return both + y_alone; }
    Real x() const { return both + x_alone; }
};
using Sums = SumsOf<double>;

template <class Real = double> SumsOf<Real> sums_of(const JointSums &sums) {
    const auto one = static_cast<Real>(joint_one(sums.kind));
    return {static_cast<Real>(sums.both) / one,     static_cast<Real>(sums.y_alone) / one,
            static_cast<Real>(sums.x_alone) / one,  static_cast<Real>(sums.neither) / one,
            static_cast<Real>(sums.y_spread) / one, static_cast<Real>(sums.x_spread) / one};
}

// ---- numbers of a and b, in [0, 1] ---------------------------------------------------------------------------------

template <class Real> Real bounded_mean(Real sum, Real count) {
    return std::clamp<Real>(sum / std::max<Real>(1, count), 0, 1);
}

// a b of the population less the product of the means: a determinant, so that a sum that all rows add the same to leaves no trace.
template <class Real> Real covariance_of(const SumsOf<Real> &sums) {
    const Real c = std::max<Real>(1, sums.count());
    return std::clamp<Real>(sums.both / c * (sums.neither / c) - sums.y_alone / c * (sums.x_alone / c), -0.25, 0.25);
}

// The mean of a is known, and that of a (1-a): a^2 is the difference.
template <class Real> Real variance_of(Real sum, Real spread, Real count) {
    const Real mean = bounded_mean(sum, count);
    return std::clamp<Real>(mean * (1 - mean) - spread / std::max<Real>(1, count), 0, 0.25);
}

template <class Real> Real quotient_or_zero(Real a, Real b) {
    return b > 0 ? a / b : 0;
}

template <class Real> Real correlation_of(const SumsOf<Real> &sums) {
    const Real c = sums.count();
    const Real variances = variance_of(sums.y(), sums.y_spread, c) * variance_of(sums.x(), sums.x_spread, c);
    return std::clamp<Real>(quotient_or_zero(covariance_of(sums), std::sqrt(variances)), -1, 1);
}

template <class Real> Real slope_of(const SumsOf<Real> &sums) {
    return quotient_or_zero(covariance_of(sums), variance_of(sums.x(), sums.x_spread, sums.count()));
}

// Where x is 0, on the scale of b.
double origin_of(const Bounds &x) {
    return -x.low / range_of(x);
}

// ---- from a and b to y and x ---------------------------------------------------------------------------------------

double area_of(const JointBounds &bounds) {
    return range_of(bounds.y) * range_of(bounds.x);
}

double slope_unit(const JointBounds &bounds) {
    return range_of(bounds.y) / range_of(bounds.x);
}

double height_of(const JointBounds &bounds, double a) {
    return finite(bounds.y.low + range_of(bounds.y) * a);
}

// ---- intervals -----------------------------------------------------------------------------------------------------

// Returns the probability that a sum of 1, 2 or 4 independent noises of scale 1 is farther from 0 than t, on a fine lattice.
double laplace_tail(int parts, double t) {
    switch (parts) {
    case 1:
        return std::exp(-t);
    case 2:
        return (1 + t / 2) * std::exp(-t);
    default: // of four
        return (48 + t * (33 + t * (9 + t))) / 48 * std::exp(-t);
    }
}

// In units of 1: a sum of so many coordinates is off by more with probability `share` at most.
double halfwidth_of(const MeasureNoise &noise, double one, int parts, double share) {
    if (noise.mechanism == Mechanism::gaussian)
        return normal_upper_quantile(share / 2) * noise.gaussian.sigma() * std::sqrt(parts) / one;
    const double high = halved(0, 256, 100, [&](double t) { return laplace_tail(parts, t) > share; }).high;
    return high * (noise.laplace.value() / one);
}

// Where the exact sums are with probability 0.95: what is shared out among these bounds is 0.05 (8.10).
struct Region {
    Sums at;
    double of_each, of_spread, of_mean, of_count, of_balance;

    Region(const Sums &sums, const MeasureNoise &noise, double one)
        : at(sums), of_each(halfwidth_of(noise, one, 1, 0.015 / 4)), of_spread(halfwidth_of(noise, one, 1, 0.004)),
          of_mean(halfwidth_of(noise, one, 2, 0.004)), of_count(halfwidth_of(noise, one, 4, 0.004)),
          of_balance(halfwidth_of(noise, one, 4, 0.015)) {}
    // None of the sums is below 0.
    static Interval around(double sum, double h) { return {std::max(0.0, sum - h), std::max(0.0, sum + h)}; }
    Interval count() const { return {std::max(1.0, at.count() - of_count), std::max(1.0, at.count() + of_count)}; }
};

double determinant(double p, double q, double r, double s) { // p s - q r, of means
    const double c = p + q + r + s;
    return c > 0 ? (p / c) * (s / c) - (q / c) * (r / c) : 0;
}

// The largest covariance of sums in a box: that of four numbers not below 0, with the means that they have. It is greater the smaller
// the two alone are, if it is above 0; then of `both` and `neither` the one that cannot be large is as large as it can be, and
// the other one where the derivative is 0 or the box ends (8.10). Below 0 it is largest at a corner.
double largest_covariance(Interval both, Interval y_alone, Interval x_alone, Interval neither) {
    const double q = y_alone.lower, r = x_alone.lower;
    const double less = std::min(both.upper, neither.upper);
    const Interval &more = both.upper > neither.upper ? both : neither;
    const double best = less > 0 ? std::clamp<double>(less + q + r + 2 * q * (r / less), more.lower, more.upper) : more.upper;
    const double inside = determinant(best, q, r, less);
    if (inside > 0)
        return inside;
    double largest = -0.25;
    for (const double one : {y_alone.lower, y_alone.upper})
        for (const double other : {x_alone.lower, x_alone.upper})
            largest = std::max(largest, determinant(both.upper, one, other, neither.upper));
    return largest;
}

Interval covariance_in_box(const Sums &sums, double h) {
    const Interval both = Region::around(sums.both, h), y_alone = Region::around(sums.y_alone, h),
                   x_alone = Region::around(sums.x_alone, h), neither = Region::around(sums.neither, h);
    // With 1 - b for b what was both is y alone.
    return {-largest_covariance(y_alone, both, neither, x_alone), largest_covariance(both, y_alone, x_alone, neither)};
}

// x/c, c above 0.
Interval mean_of(const Interval &x, const Interval &c) {
    return {x.lower / (x.lower < 0 ? c.lower : c.upper), x.upper / (x.upper < 0 ? c.upper : c.lower)};
}

Interval mean_in(const Region &region, double sum) {
    const Interval mean = mean_of(Region::around(sum, region.of_mean), region.count());
    return {std::clamp<double>(mean.lower, 0, 1), std::clamp<double>(mean.upper, 0, 1)};
}

Interval product(const Interval &x, const Interval &y) {
    const auto one = [](double a, double b) { return a == 0 || b == 0 ? 0.0 : a * b; }; // also of infinity
    const std::array<double, 4> ends{one(x.lower, y.lower), one(x.lower, y.upper), one(x.upper, y.lower),
                                     one(x.upper, y.upper)};
    return {*std::min_element(ends.begin(), ends.end()), *std::max_element(ends.begin(), ends.end())};
}

// (2a-1)(2b-1) has the mean of its balance: how many more are on the same side than on different ones. In the middle the means
// of a and b matter little, and this is narrow; near a corner the box is. Both hold.
Interval covariance_in(const Region &region) {
    const double balance = region.at.both + region.at.neither - region.at.y_alone - region.at.x_alone;
    const Interval mean = mean_of({balance - region.of_balance, balance + region.of_balance}, region.count());
    const Interval a = mean_in(region, region.at.y()), b = mean_in(region, region.at.x());
    const Interval means = product({a.lower - 0.5, a.upper - 0.5}, {b.lower - 0.5, b.upper - 0.5});
    const Interval box = covariance_in_box(region.at, region.of_each);
    return {std::clamp<double>(std::max(0.25 * mean.lower - means.upper, box.lower), -0.25, 0.25),
            std::clamp<double>(std::min(0.25 * mean.upper - means.lower, box.upper), -0.25, 0.25)};
}

Interval variance_in(const Region &region, double sum, double spread) {
    const Interval mean = mean_in(region, sum), count = region.count();
    const Interval rest = mean_of(Region::around(spread, region.of_spread), count);
    const double at_low = mean.lower * (1 - mean.lower), at_high = mean.upper * (1 - mean.upper);
    const double most = mean.lower <= 0.5 && 0.5 <= mean.upper ? 0.25 : std::max(at_low, at_high);
    return {std::clamp<double>(std::min(at_low, at_high) - rest.upper, 0, 0.25), std::clamp<double>(most - rest.lower, 0, 0.25)};
}

// x/y, y not below 0: everything where it may be 0.
Interval quotient(const Interval &x, const Interval &y) {
    const auto one = [](double a, double b) { return b > 0 ? a / b : a > 0 ? infinity : a < 0 ? -infinity : 0.0; };
    return {x.lower < 0 ? one(x.lower, y.lower) : one(x.lower, y.upper),
            x.upper > 0 ? one(x.upper, y.lower) : one(x.upper, y.upper)};
}

Interval correlation_in(const Region &region) {
    const Interval y = variance_in(region, region.at.y(), region.at.y_spread),
                   x = variance_in(region, region.at.x(), region.at.x_spread);
    const Interval all = quotient(covariance_in(region), {std::sqrt(y.lower * x.lower), std::sqrt(y.upper * x.upper)});
    return {std::clamp<double>(all.lower, -1, 1), std::clamp<double>(all.upper, -1, 1)};
}

Interval slope_in(const Region &region) {
    return quotient(covariance_in(region), variance_in(region, region.at.x(), region.at.x_spread));
}

Interval square_of(const Interval &x) {
    const double low = x.lower * x.lower, high = x.upper * x.upper;
    return {x.lower <= 0 && 0 <= x.upper ? 0 : std::min(low, high), std::max(low, high)};
}

// Corrects a covariance for a sample: with fewer rows the factor is larger, which moves it away from 0.
Interval of_sample(const Interval &covariance, const Interval &count) {
    const double large = of_sample_factor(count.lower), small = of_sample_factor(count.upper);
    return {covariance.lower * (covariance.lower < 0 ? large : small),
            covariance.upper * (covariance.upper > 0 ? large : small)};
}

Interval scaled(const Interval &x, double unit) {
    return {finite(x.lower * unit), finite(x.upper * unit)};
}

// a where x is 0: the mean of a less the slope times how far the mean of b is from there.
Interval intercept_in(const Region &region, double origin) {
    const Interval a = mean_in(region, region.at.y()), b = mean_in(region, region.at.x());
    const Interval rise = product(slope_in(region), {b.lower - origin, b.upper - origin});
    return {a.lower - rise.upper, a.upper - rise.lower};
}

Interval interval_of(Aggregate fn, const Region &region, const JointBounds &bounds) {
    switch (fn) {
    case Aggregate::covar_samp:
        return scaled(of_sample(covariance_in(region), region.count()), area_of(bounds));
    case Aggregate::corr:
        return correlation_in(region);
    case Aggregate::regr_r2:
        return square_of(correlation_in(region));
    case Aggregate::regr_slope:
        return scaled(slope_in(region), slope_unit(bounds));
    case Aggregate::regr_intercept: {
        const Interval a = intercept_in(region, origin_of(bounds.x));
        return {height_of(bounds, a.lower), height_of(bounds, a.upper)};
    }
    case Aggregate::covar_pop:
        return scaled(covariance_in(region), area_of(bounds));
    default:
        throw std::logic_error(not_joint);
    }
}

// Returns the number in units of its largest change (formulas.md 1.2a).
template <class Real> Real scaled_number(Aggregate fn, const SumsOf<Real> &sums, const JointBounds &bounds) {
    const Real c = sums.count();
    switch (fn) {
    case Aggregate::covar_samp:
        return 2 * covariance_of(sums) * std::max<Real>(2, c) / (std::max<Real>(2, c) - 1);
    case Aggregate::corr:
        return correlation_of(sums);
    case Aggregate::regr_r2:
        return correlation_of(sums) * correlation_of(sums);
    case Aggregate::regr_slope:
        return slope_of(sums);
    case Aggregate::regr_intercept:
        return bounded_mean(sums.y(), c) - slope_of(sums) * (bounded_mean(sums.x(), c) - origin_of(bounds.x));
    default:
        return 4 * covariance_of(sums);
    }
}

} // namespace

JointLattice joint_lattice(const JointBounds &bounds) {
    return {pair_lattice(bounds.y), pair_lattice(bounds.x)};
}

JointSums joint_sums(MeasureKind kind, const int128 *noisy) {
    JointSums sums{kind, noisy[0], noisy[1], noisy[2], noisy[3], 0, 0};
    if (kind == MeasureKind::moments) {
        sums.y_spread = noisy[4];
        sums.x_spread = noisy[5];
    }
    return sums;
}

double joint_count(const JointSums &sums) {
    return sums_of(sums).count();
}

double joint_count_halfwidth(MeasureKind kind, const MeasureNoise &noise) {
    return 4 * noise.halfwidth(0.05 / 4) / static_cast<double>(joint_one(kind));
}

double joint_number(Aggregate fn, const JointSums &noisy, const JointBounds &bounds) {
    if (!is_joint(fn))
        throw std::logic_error(not_joint);
    const double number = scaled_number(fn, sums_of(noisy), bounds);
    return fn == Aggregate::regr_intercept ? height_of(bounds, number) : finite(joint_unit(fn, bounds) * number);
}

Interval joint_interval(Aggregate fn, const JointSums &sums, const JointBounds &bounds, const MeasureNoise &noise) {
    const Region region(sums_of(sums), noise, static_cast<double>(joint_one(sums.kind)));
    const Interval interval = interval_of(fn, region, bounds);
    const double number = joint_number(fn, sums, bounds);
    return {std::min(interval.lower, number), std::max(interval.upper, number)};
}

// ---- for the controller --------------------------------------------------------------------------------------------

namespace {

// Whether all rows add the same to the sum of a column and to that of its spread.
bool is_constant(int128 sum, int128 spread, int128 total, std::int64_t one) {
    const int128 rows = total / one;
    if (rows < 1 || rows * one != total || sum % rows != 0)
        return false;
    const int128 value = sum / rows;
    return spread == rows * (value * (one - value) / one);
}

} // namespace

// A slope has no largest change.
double largest_distance(Aggregate fn) {
    return fn == Aggregate::regr_slope || fn == Aggregate::regr_intercept ? 1 : 1e100;
}

JointSums without_grains(const JointSums &sums) {
    JointSums exact = sums;
    const std::int64_t one = joint_one(sums.kind);
    const int128 total = sums.both + sums.y_alone + sums.x_alone + sums.neither;
    if (is_constant(sums.both + sums.y_alone, sums.y_spread, total, one))
        exact.y_spread = total; // more than any column has: the variance is clamped at 0
    if (is_constant(sums.both + sums.x_alone, sums.x_spread, total, one))
        exact.x_spread = total;
    return exact;
}

double joint_change(Aggregate fn, const JointSums &sums, const JointSums &without, const JointBounds &bounds) {
    const long double change = scaled_number(fn, sums_of<long double>(without_grains(sums)), bounds) -
                               scaled_number(fn, sums_of<long double>(without_grains(without)), bounds);
    return std::min(std::fabs(static_cast<double>(change)), largest_distance(fn));
}

double joint_scaled(Aggregate fn, const JointBounds &bounds, const JointSums &sums) {
    return scaled_number(fn, sums_of(without_grains(sums)), bounds);
}

std::vector<double> joint_points(Aggregate fn, const MeasureNoise &noise, const JointBounds &bounds, const JointSums &sums,
                                 const std::vector<NoisePoint> &points) {
    const Sums exact = sums_of(sums);
    const double scale = scale_of_noise(noise) / static_cast<double>(joint_one(sums.kind));
    std::vector<double> numbers;
    for (const NoisePoint &z : points) {
        const Sums noisy{exact.both + scale * z[0],    exact.y_alone + scale * z[1],  exact.x_alone + scale * z[2],
                         exact.neither + scale * z[3], exact.y_spread + scale * z[4], exact.x_spread + scale * z[5]};
        numbers.push_back(scaled_number(fn, noisy, bounds));
    }
    return numbers;
}

double joint_unit(Aggregate fn, const JointBounds &bounds) {
    switch (fn) {
    case Aggregate::covar_pop:
        return finite(area_of(bounds) / 4);
    case Aggregate::covar_samp:
        return finite(area_of(bounds) / 2);
    case Aggregate::regr_slope:
        return finite(slope_unit(bounds));
    case Aggregate::regr_intercept:
        return range_of(bounds.y);
    default:
        return 1;
    }
}

} // namespace dp::privacy
