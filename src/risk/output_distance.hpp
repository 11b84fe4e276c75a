// How far one answer is from the exact ones without each person: the output-dependent indicator (formulas.md 1.3). For the controller
// alone: all of it depends on the private rows.
#pragma once

#include "risk/change.hpp"

namespace dp::risk {

// Holds the numbers of an answer and the exact ones: aggregates left to right within the groups, in their own units.
struct Output {
    const rows::Question *question;
    const Memo *memo;
    privacy::Mechanism mechanism;
    bool scaled; // distances are divided by the largest change of their number
    int naggregates;
    double *values, *exact; // ngroups x naggregates
    long double *of_group;  // distances from the exact numbers, squared for Gaussian noise
    long double all;
};

// Begins an output whose exact numbers are known. Errors: 53200 where they take too much memory.
Output begin_output(const rows::Question *question, const Memo *memo, privacy::Mechanism mechanism, bool scaled);
// Computes the distances of its values, when all are there.
void finish_output(Output *output);
// Returns the distance from the answer without a record; at nrecords: from the exact one.
double output_distance(const Output &output, int64 record);

} // namespace dp::risk
