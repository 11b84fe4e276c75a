// Estimates what a release would cost, and how accurate its answer would be: from public facts and the public account alone
// (formulas.md, 4.1 and 8.7). No private row is read, nothing is charged, no denial is counted.
#pragma once

#include "privacy/remaining.hpp"
#include "release/facts.hpp"

namespace dp::release {

struct Estimate {
    bool from_data;             // within_data: nothing else may be said
    bool priced;                // some candidate meets the preference
    bool selects;               // epsilon is selected, or may be when more is spent
    bool denied;                // by the preference, or by what the bounds leave of the public account now
    bool selected;              // epsilon will be selected when the query is asked
    privacy::Epsilon epsilon;   // selected: the largest that it can be
    privacy::Epsilon selection; // what the selection will be charged beside it
    privacy::Delta delta;
    privacy::Cost cost, selection_cost; // what the accounts would see
    int64 threshold;                    // of discovered groups, when epsilon is known beforehand; 0: none
    privacy::Mechanism mechanism;       // of the noise that would be drawn
    privacy::Rho rho;                   // of that noise
    bool measured;                      // by Gaussian measurements, charged in rho alone
    const char *note;                   // of an answer by accuracy: how epsilon, rho and error95 are meant; or null
    double posterior50;                 // what a suspicion of one half can become by it; NaN: only but for a delta
    double advantage; // the most by which hits of an attack can be more frequent than false alarms; or NaN
    int filtered;     // measures that differ by their FILTER alone, the most that there are
    privacy::Repeated
        standing; // what the charge is, and what it meets beside no other leaf; if it is priced beforehand
    double *
        error95; // null when epsilon is selected; half-width of each output of the leaf, in its own unit; NaN: a key, or it depends on the data
};

// A leaf of the same statement that would be charged before.
struct Earlier {
    Oid relation;
    const char *grantee;
    privacy::Cost selection, cost;
};

// `earlier`: of Earlier *; `magnitude`: what every value is taken to be, or null. Errors: as answer() has them before it charges.
Estimate estimate(const catalog::Reading &reading, const rows::Question *question, const Terms &terms,
                  const List *earlier, const double *magnitude);

// Holds what an answer would be charged at most, whatever has been spent.
struct Price {
    bool known;               // false: no candidate meets the preference, or it is found in the rows
    privacy::Epsilon epsilon; // with that of a selection
    double *error95;          // as above; null when epsilon is selected
};
Price price_in_advance(const rows::Question *question, const Terms &terms);

} // namespace dp::release
