// Variances and standard deviations from three noisy sums, of w^2, 2 w (1-w) and (1-w)^2 with w = (v - L)/(U - L)
// (formulas.md 8.6): what they print, 95 % intervals (8.7), and how far they are from the exact ones (1.2a).
#pragma once

#include "privacy/mechanism.hpp"
#include "privacy/pair_release.hpp"

namespace dp::privacy {

constexpr bool is_sample(Aggregate fn) {
    return fn == Aggregate::var_samp || fn == Aggregate::stddev_samp;
}
constexpr bool is_deviation(Aggregate fn) {
    return fn == Aggregate::stddev_pop || fn == Aggregate::stddev_samp;
}

// In units of 2^-30, in the order in which they are released.
struct Triple {
    int128 squares = 0, middle = 0, rest = 0;
};

// The two sums of a pair that the triple contains: count, sum and average are read off them.
struct Halves {
    int128 s1, s0;
};
Halves halves_of(const Triple &triple);

// fn: is_spread. Without noise the variance or deviation of the values; 0 for none, and of one in a sample.
double spread_of(Aggregate fn, const Triple &triple, const Bounds &bounds);
Interval spread_interval(Aggregate fn, const Triple &triple, const Bounds &bounds, const MeasureNoise &noise);
// Returns the standard deviation of a count, or of a sum, that a pair or a triple prints.
double part_stddev(MeasureKind kind, Aggregate fn, const MeasureNoise &noise, const Bounds &bounds);
// Returns the half-width of such a count or sum.
double part_halfwidth(MeasureKind kind, Aggregate fn, const MeasureNoise &noise, const Bounds &bounds);
Interval triple_avg_interval(const Triple &triple, const Bounds &bounds, const MeasureNoise &noise);

// Returns the average, variance or deviation that a pair or a triple prints, and its interval.
double printed_number(MeasureKind kind, Aggregate fn, const int128 *noisy, const Bounds &bounds);
Interval printed_interval(MeasureKind kind, Aggregate fn, const int128 *noisy, const Bounds &bounds,
                          const MeasureNoise &noise);
Halves released_halves(MeasureKind kind, const int128 *noisy);

// The unit of a variance or deviation of positions: (U-L)/2 squared, or (U-L)/2.
double spread_unit(Aggregate fn, const Bounds &bounds);
// The largest change by one value, in these units.
double largest_spread_change(Aggregate fn);
// Holds what a pair or a triple adds up to, in units of one; of a pair `middle` is 0: that of a half counts for either side. Real: double, or
// long double where small differences count.
template <class Real> struct PartSums {
    Real squares = 0, middle = 0, rest = 0;
    Real count() const { return squares + middle + rest; }
    Real difference() const { return squares - rest; }
};
// Returns the number that it prints in units of its largest change.
template <class Real> Real scaled_part(Aggregate fn, const PartSums<Real> &sums, const Bounds &bounds);

} // namespace dp::privacy
