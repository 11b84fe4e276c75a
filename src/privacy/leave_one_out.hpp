// Leave-one-out closed forms for the aggregates of general queries (formulas.md 1.4): what an aggregate becomes when one
// value leaves its group, in O(1) per distinct value once the values are sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "privacy/mechanism.hpp"

namespace dp::privacy {

// Names one aggregate over the values of one argument. fraction: of the two percentiles, within [0, 1].
struct StatisticCall {
    Aggregate fn = Aggregate::count;
    double fraction = 0;
};

// The values of one argument in one group: distinct, ascending (NaN last, as PostgreSQL orders it), with multiplicities.
class ValueSet {
  public:
    void reserve(std::size_t n) { values_.reserve(n); }
    void add(double value, std::int64_t individuals);
    void finish(); // after the last add, before anything else

    std::size_t distinct() const { return values_.size(); }
    std::int64_t size() const { return size_; }
    double value(std::size_t index) const { return values_[index].value; }
    std::int64_t individuals(std::size_t index) const { return values_[index].individuals; }
    std::int64_t before(std::size_t index) const { return values_[index].before; } // values at smaller indices
    std::size_t find(double value) const;                                          // index of a value that was added
    double at(std::int64_t rank) const;                                            // the value of rank 0 .. size() - 1
    // Value minus the smallest one, and the mean of that: no digits are lost to a common offset.
    long double offset(std::size_t index) const {
        return static_cast<long double>(value(index)) - values_.front().value;
    }
    long double mean_offset() const { return mean_offset_; }
    long double squares() const { return squares_; } // M2, the sum of squared deviations

  private:
    struct Entry {
        double value;
        std::int64_t individuals;
        std::int64_t before;
    };
    std::vector<Entry> values_;
    std::int64_t size_ = 0;
    long double mean_offset_ = 0, squares_ = 0;
};

// The aggregate itself; no value where SQL says NULL.
std::optional<double> evaluate(StatisticCall call, const ValueSet &values);

// How far the aggregate moves when one value leaves. z stands for an aggregate that is NULL.
class LeaveOneOut {
  public:
    LeaveOneOut(StatisticCall call, const ValueSet &values, double z);
    double difference(std::size_t index) const; // of ValueSet; NaN where the aggregate is not a number

  private:
    double moment_difference(std::size_t index) const;
    long double squares_without(std::size_t index) const;
    double deviation_difference(std::size_t index) const;
    double order_difference(std::size_t index) const;
    double without_rank(std::int64_t rank) const;

    StatisticCall call_;
    const ValueSet &values_;
    double z_;
    double old_ = 0;                   // z_ where it is NULL
    std::int64_t lower_ = 0;           // rank of the value that the percentile starts from, among one value less
    double weight_ = 0;                // of the next value
    double neighbours_[3] = {0, 0, 0}; // the values of ranks lower_, lower_ + 1, lower_ + 2
};

// The largest possible difference over all values within [lower, upper] and all multiplicities, z as in formulas.md 1.4
// (the mid-point for avg, min, max and percentiles, 0 otherwise). Attained or approached for every aggregate (2.1).
double worst_difference(StatisticCall call, double lower, double upper);

} // namespace dp::privacy
