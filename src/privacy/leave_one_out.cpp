#include "privacy/leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "privacy/risk.hpp"
#include "privacy/triple.hpp"

namespace dp::privacy {

// ---- values --------------------------------------------------------------------------------------------------------

// PostgreSQL's order: NaN equals NaN and is larger than every number.
static bool less(double a, double b) {
    if (std::isnan(a) || std::isnan(b))
        return !std::isnan(a) && std::isnan(b);
    return a < b;
}

void ValueSet::add(double value, std::int64_t individuals) {
    if (individuals > 0)
        values_.push_back({value, individuals, 0});
}

void ValueSet::finish() {
    std::sort(values_.begin(), values_.end(), [](const Entry &a, const Entry &b) { return less(a.value, b.value); });
    std::size_t kept = 0;
    for (const Entry &entry : values_)
        if (kept > 0 && !less(values_[kept - 1].value, entry.value))
            values_[kept - 1].individuals += entry.individuals;
        else
            values_[kept++] = entry;
    values_.resize(kept);
    size_ = 0;
    long double sum = 0;
    for (std::size_t i = 0; i < kept; ++i) {
        values_[i].before = size_;
        size_ += values_[i].individuals;
        sum += offset(i) * values_[i].individuals;
    }
    mean_offset_ = size_ == 0 ? 0 : sum / size_;
    squares_ = 0;
    for (std::size_t i = 0; i < kept; ++i) {
        const long double deviation = offset(i) - mean_offset_;
        squares_ += deviation * deviation * values_[i].individuals;
    }
}

std::size_t ValueSet::find(double value) const {
    const auto at = std::lower_bound(values_.begin(), values_.end(), value,
                                     [](const Entry &entry, double v) { return less(entry.value, v); });
    if (at == values_.end() || less(value, at->value))
        throw std::logic_error("a value that was never added");
    return static_cast<std::size_t>(at - values_.begin());
}

double ValueSet::at(std::int64_t rank) const {
    const auto next = std::upper_bound(values_.begin(), values_.end(), rank,
                                       [](std::int64_t r, const Entry &entry) { return r < entry.before; });
    return std::prev(next)->value;
}

// ---- aggregates ----------------------------------------------------------------------------------------------------

namespace {

// Where a percentile stands among n > 0 sorted values: at `lower`, moved by `weight` towards the next one. The server's own
// arithmetic, step by step.
struct Place {
    std::int64_t lower;
    double weight;
};

Place place_of(StatisticCall call, std::int64_t n) {
    switch (call.fn) {
    case Aggregate::percentile_cont: {
        const double h = call.fraction * static_cast<double>(n - 1);
        return {static_cast<std::int64_t>(std::floor(h)), h - std::floor(h)};
    }
    case Aggregate::percentile_disc: {
        const double rank = std::ceil(call.fraction * static_cast<double>(n));
        return {rank <= 1 ? 0 : static_cast<std::int64_t>(rank) - 1, 0};
    }
    default:
        return {call.fn == Aggregate::min ? 0 : n - 1, 0};
    }
}

double between(double low, double high, double weight) {
    return weight == 0 ? low : low + weight * (high - low);
}

bool is_order_statistic(Aggregate fn) {
    return fn == Aggregate::min || fn == Aggregate::max || fn == Aggregate::percentile_cont ||
           fn == Aggregate::percentile_disc;
}

std::optional<double> spread(Aggregate fn, const ValueSet &values) {
    const std::int64_t divisor = values.size() - (is_sample(fn) ? 1 : 0);
    if (divisor <= 0)
        return std::nullopt;
    const long double variance = values.squares() / divisor;
    return static_cast<double>(is_deviation(fn) ? std::sqrt(variance) : variance);
}

} // namespace

std::optional<double> evaluate(StatisticCall call, const ValueSet &values) {
    if (call.fn == Aggregate::count)
        return static_cast<double>(values.size());
    if (call.fn == Aggregate::count_values)
        return static_cast<double>(values.distinct());
    if (values.size() == 0)
        return std::nullopt;
    const long double mean = values.value(0) + values.mean_offset();
    switch (call.fn) {
    case Aggregate::sum:
        return static_cast<double>(mean * values.size());
    case Aggregate::avg:
        return static_cast<double>(mean);
    case Aggregate::var_pop:
    case Aggregate::var_samp:
    case Aggregate::stddev_pop:
    case Aggregate::stddev_samp:
        return spread(call.fn, values);
    default: {
        const Place place = place_of(call, values.size());
        return between(values.at(place.lower), place.weight == 0 ? 0 : values.at(place.lower + 1), place.weight);
    }
    }
}

// ---- without one value ---------------------------------------------------------------------------------------------

LeaveOneOut::LeaveOneOut(StatisticCall call, const ValueSet &values, double z) : call_(call), values_(values), z_(z) {
    old_ = evaluate(call, values).value_or(z);
    const std::int64_t left = values.size() - 1;
    if (!is_order_statistic(call.fn) || left < 1)
        return;
    const Place place = place_of(call, left);
    lower_ = place.lower;
    weight_ = place.weight;
    for (int i = 0; i < 3 && lower_ + i <= left; ++i)
        neighbours_[i] = values.at(lower_ + i);
}

// Removing rank j moves the ranks behind it by one: at most three results exist.
double LeaveOneOut::without_rank(std::int64_t j) const {
    return between(neighbours_[j <= lower_ ? 1 : 0], neighbours_[j <= lower_ + 1 ? 2 : 1], weight_);
}

double LeaveOneOut::order_difference(std::size_t index) const {
    return std::fabs(old_ - (values_.size() == 1 ? z_ : without_rank(values_.before(index))));
}

// Differences in closed form rather than differences of two large numbers. n: values now, d: deviation from their mean.
double LeaveOneOut::moment_difference(std::size_t index) const {
    const long double n = values_.size(), d = values_.offset(index) - values_.mean_offset();
    if (call_.fn == Aggregate::avg)
        return n < 2 ? std::fabs(values_.value(index) - z_) : static_cast<double>(std::fabs(d) / (n - 1));
    const bool sample = is_sample(call_.fn);
    if (n < (sample ? 3 : 2)) // the variance was 0, or NULL, or becomes NULL
        return std::fabs(old_ - z_);
    return static_cast<double>(sample ? std::fabs(d * d * n - values_.squares()) / ((n - 1) * (n - 2))
                                      : std::fabs(d * d * n / (n - 1) - values_.squares() / n) / (n - 1));
}

// M2 of the others. Where one value makes nearly all of it (at most two do) the others are added up again.
long double LeaveOneOut::squares_without(std::size_t index) const {
    const long double n = values_.size(), d = values_.offset(index) - values_.mean_offset();
    const long double squares = values_.squares() - d * d * n / (n - 1);
    if (!(squares < 1e-6L * values_.squares()))
        return squares;
    ValueSet others;
    for (std::size_t i = 0; i < values_.distinct(); ++i)
        others.add(values_.value(i), values_.individuals(i) - (i == index ? 1 : 0));
    others.finish();
    return others.squares();
}

double LeaveOneOut::deviation_difference(std::size_t index) const {
    const long double smallest = is_sample(call_.fn) ? 3 : 2, n = values_.size();
    if (n < smallest)
        return std::fabs(old_ - z_);
    const long double left = std::sqrt(squares_without(index) / (n - smallest + 1));
    // |a - b| = |a^2 - b^2| / (a + b); the sum is 0 only if all values are equal.
    return old_ + left == 0 ? 0 : static_cast<double>(moment_difference(index) / (old_ + left));
}

double LeaveOneOut::difference(std::size_t index) const {
    switch (call_.fn) {
    case Aggregate::count:
        return 1;
    case Aggregate::count_values:
        return values_.individuals(index) == 1 ? 1 : 0;
    case Aggregate::sum:
        return std::fabs(values_.value(index)); // NULL, if this was the last value, stands for 0
    case Aggregate::stddev_pop:
    case Aggregate::stddev_samp:
        return deviation_difference(index);
    case Aggregate::min:
    case Aggregate::max:
    case Aggregate::percentile_cont:
    case Aggregate::percentile_disc:
        return order_difference(index);
    default:
        return moment_difference(index);
    }
}

// ---- the worst case ------------------------------------------------------------------------------------------------

double worst_difference(StatisticCall call, double lower, double upper) {
    const double range = upper - lower;
    switch (call.fn) {
    case Aggregate::count:
    case Aggregate::count_values:
        return 1;
    case Aggregate::sum:
        return std::max(std::fabs(lower), std::fabs(upper));
    case Aggregate::avg:
        return range / 2;
    case Aggregate::var_pop:
        return range * range / 4;
    case Aggregate::var_samp:
        return range * range / 2;
    case Aggregate::stddev_pop:
        return range / 2;
    case Aggregate::stddev_samp:
        return range / std::sqrt(2.0);
    case Aggregate::percentile_cont:
        return range * std::max(call.fraction, 1 - call.fraction);
    default:
        return range;
    }
}

} // namespace dp::privacy
