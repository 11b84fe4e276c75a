// The numbers that a pair of noisy sums prints, as the controller looks at them: how far each is from the exact one
// (formulas.md 1.2a). Continuous laws: a unit is 2^-30 of one.
#pragma once

#include <vector>

#include "privacy/mechanism.hpp"

namespace dp::privacy {

// A pair of one group without noise, in units of one: c = S1 + S0 (values) and S1 - S0.
struct PairTotals {
    double count = 0;
    double difference = 0;
};

// The printed average as a position A on [-1, 1] between the bounds: clamp((s1 - s0) / max(1, s1 + s0)).
class PrintedAverage {
  public:
    PrintedAverage(const MeasureNoise &noise, const PairTotals &totals);
    // E|A - p - offset|, p: the position without noise, |p + offset| <= 1. Relative error below 1e-9 for noise up to 10^6.
    double distance(double offset) const;
    double square() const; // E (A - p)^2
    double spread() const { return unit_; } // offsets are to be compared with this

  private:
    struct Ends {
        double low, from,
            high;     // where s1 - s0 reaches the lower bound, p + offset, the upper bound; from the exact one
        double scale; // max(1, s1 + s0)
    };
    Ends ends_at(double u, double offset) const;
    double beyond(double k, double reach, double falling) const;
    double distance_at(double u, double offset) const;
    double square_at(double u) const;
    std::vector<double> pieces(double offset) const;
    template <class Function> double integral(Function f, double offset) const;

    bool laplace_;
    double scale_;                       // what lengths below are measured in, in units of one
    double one_, count_, above_, below_; // 1, c, and c times the way to the upper and to the lower bound: 2 S0, 2 S1
    double difference_, position_;
    double unit_;
};

// Returns the most that one record can move an aggregate of a pair. A variance's and a deviation's is in units of spread_unit
// (privacy/triple).
double largest_printed_change(Aggregate fn, const Bounds &bounds);
// Returns the error of an aggregate of a pair, divided by that change: its mean size for Laplace noise, its mean square for Gaussian
// noise. (Variances and deviations: printed_numbers.)
double printed_error(Aggregate fn, const MeasureNoise &noise, const Bounds &bounds, const PairTotals &totals);
// Laplace: E|error + change| of a count (change: an integer) or a sum (of any size), divided likewise.
double printed_distance(Aggregate fn, const MeasureNoise &noise, const Bounds &bounds, double change);

// distance() of many offsets: by table where there are more of them than the table has nodes (relative error below 1e-5).
class AverageDistances {
  public:
    AverageDistances(const PrintedAverage &average, double lowest, double highest, std::size_t wanted);
    double operator()(double offset) const;

  private:
    const PrintedAverage &average_;
    double low_, high_, step_ = 0;
    std::vector<double> nodes_;
};

} // namespace dp::privacy
