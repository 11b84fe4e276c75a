// How accurate a release is: 95 % half-widths in the unit of each aggregate (formulas.md 8.7).
#pragma once

#include <limits>

#include "privacy/pair_release.hpp"

#include "border/guard.hpp"
#include "query/leaf.hpp"
#include "rows/question.hpp"

namespace dp::release {

// Returns that of one aggregate under a plan. NaN for an average: its width depends on how many rows there are. Core region.
double halfwidth(const rows::Question *question, const privacy::ReleasePlan &plan, int aggregate);
// Returns that of each output.
double *halfwidths(const rows::Question *question, const privacy::ReleasePlan &plan);

// Returns for each output of a leaf the width of its aggregate; NaN: a key. width: of an aggregate, in the core region.
template <class Width> double *width_of_each(const query::Leaf *leaf, Width &&width) {
    auto *widths = static_cast<double *>(palloc(sizeof(double) * (leaf->noutputs + 1)));
    border::core([&] {
        for (int i = 0; i < leaf->noutputs; i++)
            widths[i] =
                leaf->outputs[i].is_key ? std::numeric_limits<double>::quiet_NaN() : width(leaf->outputs[i].index);
    });
    return widths;
}

// Returns how far the ranks of min, max and percentiles are off, the worst of them: seen from the ends, where the ones that are looked for
// lie inside; 0 where none is asked for. Core region.
double rank_halfwidth(const rows::Question *question, const privacy::ReleasePlan &plan);
// Says so; null for 0.
const char *rank_text(double halfwidth);

// Returns the half-width of the number of values that an average, a spread or a number of two columns is made with. Core region.
double count_halfwidth(const rows::Question *question, const privacy::ReleasePlan &plan, int aggregate);

// Of a measure that is no pair: a width in the aggregate's own unit as it is reported, behind its rounding.
double printed_halfwidth(const rows::Question *question, int aggregate, double width);
// Binary places beyond the lattice's that a mean of measurements is published with (privacy::RunningMean). Core region.
int mean_bits(const rows::Question *question, int measure);

// Decimals that an average is printed with; of what its sum is. -1: those that there are.
int average_decimals(int decimals);
// How far rounding to them moves a number at most; 0 for -1.
double rounding_of(int decimals);

// Returns the parts of a pair, or of the first two sums of a triple, that was released.
privacy::PairRelease released_pair(const rows::Question *question, int aggregate, const privacy::int128 *noisy);
// Return an average, a spread, or a number of two columns as it is printed, and its interval: post-processing of what is released (8.7).
double real_number(const rows::Question *question, int aggregate, const privacy::int128 *noisy);
privacy::Interval real_interval(const rows::Question *question, int aggregate, const privacy::int128 *noisy,
                                const privacy::MeasureNoise &noise);

struct Released {
    const rows::Question *question;
    int aggregate;
    const privacy::int128 *noisy;       // the coordinates of its measure
    int exponent;                       // of the last place of a count or a sum of its own
    const privacy::MeasureNoise *noise; // of the measure, for an average; a mean of measurements is none, and has none
    double error95;                     // for what is no average, as it is reported
    Datum value;                        // as it is printed
};

// low <= value <= high, whatever was drawn. An end that the type cannot hold is the last number that it can.
Datum interval_end(const Released &released, query::Part part);

} // namespace dp::release
