// The least error of an average over many groups, without computing that of each. For the controller alone.
#pragma once

#include "privacy/printed.hpp"

#include "border/spill.hpp"

namespace dp::risk {

// Groups whose averages have equally many values: a run of Averages::totals, by the position of their average.
struct SameCount {
    int64 from, to;
};

// Holds the totals of the groups of the data, each different pair once, those with most values first.
struct Averages {
    Tuplesortstate *sort; // until finish_averages
    TupleTableSlot *slot;
    border::Spill<privacy::PairTotals> totals;
    border::Spill<SameCount> counts;
};

Averages *begin_averages();
void add_average(Averages *averages, const privacy::PairTotals &totals);
void finish_averages(Averages *averages);

// Noise on a pair of sums, of which an average is printed.
struct PairError {
    privacy::MeasureNoise noise;
    double others; // least that joins the average's error in the term of any group, whatever its totals are
    double weight; // of the average's error
};
// Computes the term of a group with these totals. It must grow with the error of the average.
using TermOf = double (*)(void *context, const privacy::PairTotals &totals);
// Returns the least term of any group. `term` is called only where it may be less than all that were computed.
double least_term(const Averages *averages, const PairError &error, TermOf term, void *context);

} // namespace dp::risk
