// Answers, and what is public of them besides their rows.
#pragma once

#include "release/terms.hpp"

namespace dp::catalog {
struct Storing;
}

namespace dp::release {

// Holds what an answer was charged.
struct Charged {
    privacy::Epsilon epsilon;   // its noise; 0: it is charged in rho alone
    privacy::Epsilon selection; // of epsilon; 0 when nothing was tested
    privacy::Rho rho;           // of its noise; 0 of a round of Laplace noise
};

// Why an answer is less accurate than asked for.
enum class Short : char { not_at_all, ceiling, denied, stopped };

// How an answer that was asked by accuracy was reached.
struct Reached {
    bool asked;
    int steps; // charges
    Short how;
};

// Holds what dp_refine goes on from: public, like the answer. Null text: nothing.
struct Refinable {
    const char *mean;   // RunningMean::text()
    privacy::Rho asked; // of what was measured last, in all
    uint64 versions;    // hash of versions_of the settings
    uint64 public_rows; // rows::hash_of_public_rows()
};

// Counts the numbers of an output, and those of them that tell nothing: a count or sum within error95 of 0, another
// number whose interval is wider than half of its range, or has 0 in it and is not short (formulas.md 4.7). Coarse ones have a half-width of more than 15 % of them.
struct Seen {
    int64 numbers, noise, coarse;
    double largest;               // distance of a count or sum from 0
    double weight, coarse_weight; // of all and of coarse ones: distances from 0; of what has an interval of its own 1
    double sum, squares;          // of counts and sums
};

// Kinds of NOTICEs about an answer. A rank that means nothing is noise. A limit that may clip is told once of a view, and conditions that
// leave nothing of what is declared with each answer.
enum Notice {
    notice_beyond,
    notice_noise,
    notice_coarse,
    notice_withheld,
    notice_null,
    notice_clipped,
    notice_quotient,
    notice_dates,
    notice_limit,
    nnotices
};

// Holds what is said of an answer: it follows from noisy numbers, half-widths and declarations alone (formulas.md 4.7).
struct Judged {
    Seen *seen;                  // of each output; null: nothing is judged
    int64 rows, hidden;          // before dp_rdr.noise left some out, and those
    double rank95;               // of min, max and percentiles; 0: not known, or none
    Oid limited;                 // the view whose limit may clip (release/clipped); InvalidOid: not one alone
    const char *texts[nnotices]; // null: there is nothing to say
};

// Holds what is public of an answer besides its rows.
struct Facts {
    Algorithm algorithm;
    privacy::Mechanism mechanism;
    Charged paid;
    privacy::Delta delta;
    bool thresholded;
    bool of_people; // the threshold is on a number of units that may have several rows
    int64 threshold; // that the noisy number of rows of a group must reach to appear; 0: all groups do
    int noutputs;    // of the leaf
    double *error95; // of each output; of an average where it is least accurate; NaN: a key
    Reached reached;
    Refinable refinable;
    bool uncharged; // given again, or public: nothing was drawn for it
    Judged judged;
};

struct Answer {
    Facts facts;
    Tuplestorestate *rows; // outputs of the leaf, in canonical key order; can be read again
    TupleDesc desc;
    const catalog::Storing *storing; // to be stored before the first row leaves; or null
};

} // namespace dp::release
