#include "privacy/number_law.hpp"

#include <algorithm>
#include <cmath>

#include "privacy/joint.hpp"

namespace dp::privacy {

// ---- points --------------------------------------------------------------------------------------------------------

PointLaw::PointLaw(std::vector<std::pair<double, double>> points, double limit) : limit_(limit) {
    std::sort(points.begin(), points.end());
    Sums sums;
    for (const auto &[value, probability] : points) {
        values_.push_back(value);
        sums_.push_back(sums);
        const long double first = static_cast<long double>(probability) * value;
        sums = {sums.weight + probability, sums.first + first, sums.second + first * value};
    }
    sums_.push_back(sums);
}

PointLaw::Sums PointLaw::between(std::size_t a, std::size_t b) const {
    return {sums_[b].weight - sums_[a].weight, sums_[b].first - sums_[a].first, sums_[b].second - sums_[a].second};
}

std::size_t PointLaw::place(double value) const {
    return static_cast<std::size_t>(std::lower_bound(values_.begin(), values_.end(), value) - values_.begin());
}

double PointLaw::mean(double from) const {
    const std::size_t low = place(from - limit_), high = place(from + limit_), middle = place(from);
    const Sums below = between(low, middle), above = between(middle, high);
    const long double beyond = sums_.back().weight - below.weight - above.weight;
    return static_cast<double>(from * (below.weight - above.weight) - below.first + above.first +
                               (low > 0 || high < values_.size() ? limit_ * beyond : 0));
}

double PointLaw::square(double from) const {
    const std::size_t low = place(from - limit_), high = place(from + limit_);
    const Sums near = between(low, high);
    const long double beyond = sums_.back().weight - near.weight;
    return static_cast<double>(near.second - 2 * from * near.first + static_cast<long double>(from) * from * near.weight +
                               (low > 0 || high < values_.size() ? static_cast<long double>(limit_) * limit_ * beyond : 0));
}

// ---- numbers -------------------------------------------------------------------------------------------------------

// An average under Gaussian noise beside other numbers is squared, which its integral cannot be from elsewhere.
bool NumberLaw::has_points() const {
    return number_.kind != MeasureKind::pair || (number_.fn == Aggregate::avg && of_ == Of::square);
}

NumberLaw::NumberLaw(const PrintedNumber &number, const MeasureNoise &noise, const int128 *sums, Of of)
    : number_(number), noise_(noise), of_(of), weight_(weight_of_rows(number.fn, number.rows)) {
    std::copy_n(sums, coordinates_of(number.kind), sums_);
    if (has_points()) {
        const std::vector<double> values = points_of_number(number_, noise_, sums_);
        std::vector<std::pair<double, double>> points;
        for (const double value : values)
            points.emplace_back(value, 1.0 / static_cast<double>(values.size()));
        points_ = std::make_unique<PointLaw>(std::move(points), largest_distance(number_.fn));
        exact_ = scaled_number(number_, sums_);
    } else if (number_.fn == Aggregate::avg)
        average_ = std::make_unique<PrintedAverage>(noise_, totals_of(number_.kind, sums_));
}

double NumberLaw::mean() const {
    return weight_ * (points_ ? points_->mean(exact_) : average_->distance(0));
}

double NumberLaw::average_excess(double offset) {
    constexpr std::size_t many = 1024;
    if (++asked_ == many)
        table_ = std::make_unique<AverageDistances>(*average_, -2, 2, 1000 * many);
    if (asked_ == 1)
        exact_ = average_->distance(0);
    return (table_ ? (*table_)(offset) : average_->distance(offset)) - exact_;
}

double NumberLaw::excess(const int128 *change) {
    const double moved = change_of_number(number_, sums_, change);
    if (moved == 0)
        return 0;
    if (points_) {
        int128 without[most_coordinates] = {};
        for (int c = 0; c < coordinates_of(number_.kind); ++c)
            without[c] = sums_[c] - change[c];
        const double there = scaled_number(number_, without);
        return of_ == Of::size ? weight_ * (points_->mean(there) - points_->mean(exact_))
                               : weight_ * weight_ * (points_->square(there) - points_->square(exact_));
    }
    if (average_)
        return weight_ * average_excess(offset_of_average(number_, sums_, change));
    if (of_ == Of::square) // no bias
        return moved * moved;
    const double size = moved * unit_of_number(number_);
    return weight_ * (printed_distance(number_.fn, noise_, *number_.bounds, size) -
                      printed_distance(number_.fn, noise_, *number_.bounds, 0));
}

} // namespace dp::privacy
