// The ends of the 95 % interval of a released number, dp_low and dp_high (formulas.md 8.7): post-processing of the noisy
// coordinates that the number is made of, with public facts. Nothing here has seen a row.
#pragma once

#include "query/leaf.hpp"
#include "rows/question.hpp"

namespace dp::release {

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
