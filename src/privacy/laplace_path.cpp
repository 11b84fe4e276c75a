#include "privacy/laplace_path.hpp"

#include "privacy/noise_impl.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "privacy/exact.hpp"

namespace dp::privacy {

namespace {

using Real = boost::multiprecision::cpp_bin_float_50;

constexpr int128 epsilon_one = 1000000000;
constexpr int128 lowest =
    1414213; // 0.001414213: noise of a standard deviation of 1000 for a count; nobody looks at more
constexpr int steps_to_half = 8;
constexpr double beta = 0.05;

// The ceiling divided by 2^(n/8), rounded down.
Epsilon lowered(Epsilon ceiling, int n) {
    static const Real root = exp(-log(Real(2)) / steps_to_half);
    Real x(exact::integer(ceiling.units()));
    for (int i = 0; i < n % steps_to_half; ++i)
        x *= root;
    x = ldexp(x, -(n / steps_to_half));
    return Epsilon::from_units(static_cast<int128>(floor(x).convert_to<exact::cpp_int>().convert_to<__int128>()));
}

// Ascending; of one point at least.
std::vector<Epsilon> grid_below(Epsilon ceiling) {
    if (ceiling.units() < 1 || ceiling.units() > 100 * epsilon_one)
        throw InvalidParameter("epsilon " + ceiling.text() +
                               " is out of range: it must be between 0.000000001 and 100");
    std::vector<Epsilon> grid{ceiling};
    for (Epsilon below = lowered(ceiling, 1); below.units() > lowest;
         below = lowered(ceiling, static_cast<int>(grid.size())))
        grid.push_back(below);
    std::reverse(grid.begin(), grid.end());
    return grid;
}

// sinh(s/(2t)) to 45 digits; the argument is at most 50.
Real half_sinh(const LaplaceScale &scale) {
    const Real x = Real(exact::integer(scale.s)) / (2 * Real(exact::integer(scale.t)));
    if (x > Real(0.5)) {
        const Real growth = exp(x);
        return (growth - 1 / growth) / 2;
    }
    const Real square = x * x, least = ldexp(x, -170); // the difference would lose what the two have in common
    Real term = x, sum = x;
    for (int k = 2; term > least; k += 2) {
        term *= square;
        term /= k * (k + 1);
        sum += term;
    }
    return sum;
}

// ( wider / narrower )^2 of 2^63, to the nearest; both are half_sinh of a scale.
std::uint64_t probability(const Real &wider, const Real &narrower) {
    const Real ratio = wider / narrower;
    return floor(ldexp(Real(ratio * ratio), 63) + Real(0.5)).convert_to<std::uint64_t>();
}

} // namespace

// Roundings of the probabilities change what is drawn by a factor e^(2^-48) at most: a unit of epsilon is held back for it (6.4).
std::vector<LaplaceGrid::Point> LaplaceGrid::points_of(std::uint64_t sensitivity) const {
    const Epsilon held_back = Epsilon::from_units(size() > 1 ? 1 : 0);
    std::vector<Point> points(size());
    Real before;
    for (std::size_t i = 0; i < size(); ++i) {
        MeasureNoise &noise = points[i].noise;
        noise.sensitivity = sensitivity;
        noise.laplace = laplace_scale(uint128{sensitivity} * measures(), epsilons_[i] - held_back);
        points[i].stddev = noise.stddev();
        points[i].halfwidth = noise.halfwidth(beta);
        const Real here = half_sinh(noise.laplace);
        if (i > 0)
            points[i - 1].keep = probability(before, here);
        before = here;
    }
    return points;
}

LaplaceGrid::LaplaceGrid(Epsilon ceiling, const std::vector<Measure> &measures) : epsilons_(grid_below(ceiling)) {
    if (measures.empty())
        throw InvalidParameter("the query asks for no aggregate: nothing private would be released");
    std::map<std::uint64_t, std::size_t> kinds;
    for (const Measure &measure : measures) {
        const std::uint64_t d = measure.sensitivity;
        if (d < 1 || d > largest_sensitivity)
            throw InvalidParameter("sensitivity " + std::to_string(d) +
                                   " is out of range: it must be between 1 and 2^50");
        kind_of_.push_back(kinds.emplace(d, kinds.size()).first->second);
    }
    points_.resize(kinds.size());
    for (const auto &[d, kind] : kinds)
        points_[kind] = points_of(d);
}

double LaplaceGrid::stddev_for(double halfwidth, std::size_t measure) const {
    for (std::size_t i = 0; i < size(); ++i)
        if (at(i, measure).halfwidth <= halfwidth)
            return at(i, measure).stddev;
    return 0;
}

std::size_t LaplaceGrid::next(std::size_t point, const std::vector<double> &wanted) const {
    const auto suffices = [&](std::size_t i) {
        for (std::size_t j = 0; j < measures(); ++j)
            if (!(stddev(i, j) <= wanted[j]))
                return false;
        return true;
    };
    const std::size_t last = size() - 1;
    for (std::size_t i = point + 1; i < last; ++i)
        if (suffices(i))
            return i;
    return last;
}

LaplacePath::LaplacePath(const LaplaceGrid &grid, std::size_t groups, BitSource &bits) : measures_(grid.measures()) {
    first_.reserve(groups * measures_ + 1);
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t j = 0; j < measures_; ++j)
            draw(grid, j, bits);
    first_.push_back(stretches_.size());
}

// From the last point down: the noise stays what it is, or more is added.
void LaplacePath::draw(const LaplaceGrid &grid, std::size_t measure, BitSource &bits) {
    const std::size_t last = grid.size() - 1;
    first_.push_back(stretches_.size());
    stretches_.push_back({privacy::draw(bits, grid.noise(last, measure)), static_cast<std::uint32_t>(last)});
    for (std::size_t i = last; i-- > 0;)
        if (const bool keep = bits() >> 1 < grid.keep(i, measure); !keep) {
            const int128 wider = stretches_.back().noise + privacy::draw(bits, grid.noise(i, measure));
            stretches_.push_back({wider, static_cast<std::uint32_t>(i)});
        }
}

int128 LaplacePath::noise(std::size_t point, std::size_t group, std::size_t measure) const {
    const std::size_t coordinate = group * measures_ + measure;
    const auto begin = stretches_.begin() + static_cast<std::ptrdiff_t>(first_[coordinate]),
               end = stretches_.begin() + static_cast<std::ptrdiff_t>(first_[coordinate + 1]);
    // The last points come first: what is wanted is the shortest stretch that still reaches this point.
    const auto beyond = std::upper_bound(begin, end, point, [](std::size_t p, const Stretch &s) { return s.last < p; });
    if (beyond == begin)
        throw std::out_of_range("no such point of the grid");
    return (beyond - 1)->noise;
}

} // namespace dp::privacy
