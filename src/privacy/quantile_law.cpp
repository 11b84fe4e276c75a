#include "privacy/quantile_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace dp::privacy {

int exact_cell(const std::int64_t *upto, int cells, std::int64_t fraction, const CellCount *less, int nless) {
    int128 total = upto[cells - 1];
    for (int i = 0; i < nless; ++i)
        total -= less[i].count;
    if (total <= 0)
        return -1;
    // The least sum that is enough is above 0, so the first cell that has it has rows.
    const int128 target = std::max<int128>(1, total * fraction);
    int low = 0, high = cells - 1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        int128 below = upto[middle];
        for (int i = 0; i < nless && less[i].cell <= middle; ++i)
            below -= less[i].count;
        if (below * fraction_one >= target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double exact_quantile(const Grid &grid, Aggregate fn, int cell) {
    return cell < 0 ? 0.5 * grid.low + 0.5 * grid.high : number_of_cell(grid, fn, cell);
}

double width_of(const Grid &grid) {
    return 2 * (0.5 * grid.high - 0.5 * grid.low);
}

namespace {

// Gauss and Legendre's rule of eight points on [-1, 1]: the positive half.
constexpr std::array<double, 4> places{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
constexpr std::array<double, 4> weights{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

// Adds weight times the product over all other cells of 1 - t p to each cell.
void add_products(const std::vector<double> &p, double t, double weight, std::vector<double> *sums) {
    double all = 0;
    for (const double one : p)
        all += std::log1p(-t * one);
    for (std::size_t i = 0; i < p.size(); ++i)
        (*sums)[i] += weight * std::exp(all - std::log1p(-t * p[i]));
}

} // namespace

// Cells come up at independent uniform times, and one is drawn iff its own coin takes it and none took an earlier one: P(i) is p_i
// times the integral over its time t of the product over the others of 1 - t p_k (formulas.md 1.2c).
std::vector<double> cell_probabilities(const std::int64_t *counts, int cells, std::int64_t fraction,
                                       const MeasureNoise &noise) {
    const double unit = static_cast<double>(utility_range(fraction)) * noise.laplace.value();
    std::vector<double> p, sums(static_cast<std::size_t>(cells), 0.0);
    double total = 0;
    for (const unsigned __int128 gap : utility_gaps(counts, cells, fraction, rank_margin(cells, noise))) {
        p.push_back(std::exp(-static_cast<double>(gap) / unit));
        total += p.back();
    }
    // On pieces that double the integrand is smooth. No piece is so short that its points are 1, where a cell has no other's coins.
    const auto end = [](double t) { return t > 1 - 1e-9 ? 1.0 : t; };
    for (double low = 0, high = end(1 / total); low < 1; low = high, high = end(2 * high)) {
        const double middle = 0.5 * (low + high), half = 0.5 * (high - low);
        for (std::size_t k = 0; k < places.size(); ++k)
            for (const double side : {-1.0, 1.0})
                add_products(p, middle + side * half * places[k], half * weights[k], &sums);
    }
    for (std::size_t i = 0; i < p.size(); ++i)
        sums[i] *= p[i];
    return sums;
}

std::vector<std::pair<double, double>> quantile_points(const Grid &grid, Aggregate fn,
                                                       const std::vector<double> &probabilities) {
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < probabilities.size(); ++i)
        points.emplace_back(number_of_cell(grid, fn, static_cast<int>(i)) / width_of(grid), probabilities[i]);
    return points;
}

Distance quantile_distance(const Grid &grid, Aggregate fn, const std::vector<double> &probabilities, double from) {
    Distance distance;
    std::vector<std::pair<double, double>> errors; // with their probabilities
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        const double error = std::fabs(number_of_cell(grid, fn, static_cast<int>(i)) - from) / width_of(grid);
        distance.mean += probabilities[i] * error;
        distance.square += probabilities[i] * error * error;
        errors.emplace_back(error, probabilities[i]);
    }
    std::sort(errors.begin(), errors.end());
    double so_far = 0;
    for (std::size_t i = 0; i < errors.size() && so_far < 0.95; ++i) {
        so_far += errors[i].second;
        distance.within95 = errors[i].first;
    }
    return distance;
}

} // namespace dp::privacy
