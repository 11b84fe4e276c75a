// Numbers that are computed from several noisy sums, as the controller looks at them: how far one person moves them, and how far noise
// does (formulas.md 1.2a). Everything is in units of a number's largest change.
#pragma once

#include "privacy/noise_points.hpp"
#include "privacy/printed.hpp"
#include "privacy/triple.hpp"

namespace dp::privacy {

// Says which number of which sums.
struct PrintedNumber {
    Aggregate fn;
    MeasureKind kind; // of several coordinates
    const Bounds *bounds;
    const Bounds *second; // of two columns those of x
    double rows = 1;      // of one person that count at most: R
};

// Returns the sensitivity of a measure for one row; of a person's it is so many times that.
double sensitivity_of_row(const Measure &measure, const Bounds *bounds);

PairTotals totals_of(MeasureKind kind, const int128 *sums);
// Returns how far the number moves when `change` is taken off its exact sums.
double change_of_number(const PrintedNumber &number, const int128 *sums, const int128 *change);
// Returns how far an average moves, as a position between the bounds.
double offset_of_average(const PrintedNumber &number, const int128 *sums, const int128 *change);
// Returns the number without noise; and what it is at each of the noise_points(). One row's units.
double scaled_number(const PrintedNumber &number, const int128 *sums);
std::vector<double> points_of_number(const PrintedNumber &number, const MeasureNoise &noise, const int128 *sums,
                                     bool rough = false);
// Computes the error of the number: its mean size for Laplace noise, its mean square for Gaussian noise. rough: so that errors of
// the same number in different groups can be compared.
double error_of_number(const PrintedNumber &number, const MeasureNoise &noise, const int128 *sums, bool rough = false);
// Computes how far noise moves it, from these points. Of two columns.
Distance distance_of_number(const PrintedNumber &number, const MeasureNoise &noise, const int128 *sums);
// Returns the weight of an error of one row's number among numbers of R rows: their largest changes as a quotient.
double weight_of_rows(Aggregate fn, double rows);
// Returns the unit, in which the number is printed.
double unit_of_number(const PrintedNumber &number);
// Returns the number without noise, as it is printed.
double exact_number(const PrintedNumber &number, const int128 *sums);

} // namespace dp::privacy
