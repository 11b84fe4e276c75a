// Answers that are given again: a question that is asked twice under one policy gets the numbers that were drawn for it, without a
// charge (formulas.md 4.3).
// Everything here is post-processing of released answers: what decides whether there is one are public facts and the clock.
#pragma once

#include "catalog/stored.hpp"
#include "release/identity.hpp"
#include "release/facts.hpp"

namespace dp::release {

// An answer that was drawn before, as numbers. Of declared groups there are as many as the question has; of discovered ones those
// that have appeared, with their keys.
struct Past {
    privacy::Mechanism mechanism;
    privacy::Epsilon epsilon; // what its noise was drawn for,
    privacy::Rho rho;         // or, above 0, what a measurement was planned for
    bool round;               // it was reached in steps: then also
    Reached reached;          // how,
    double *error95;          // and how accurate each measure is
    int64 ngroups;
    Datum *keys; // ngroups x nkeys; of discovered groups
    bool *nulls;
    privacy::int128 *values; // ngroups x ncoordinates
};

// A question's place among stored answers, and the answer that it is given again.
struct Replay {
    catalog::StoredKey key;
    const Interval *interval;
    const int *order; // of a group's coordinates as they are stored: whichever way the question lists its aggregates
    const Past *past; // null: it must be drawn
};

// Null where neither is done: the policy has no replay, its epsilon is chosen from the data, or keys are discovered whose texts do
// not tell them apart for ever. again: whether one that is stored is looked for.
const Replay *look_up(const catalog::Reading &reading, const rows::Question *question, const Terms &terms,
                      const catalog::Policy &policy, const Identity &identity, bool again);

// An answer's numbers while it is written. Of one that is too large nothing is kept.
struct Kept;
Kept *begin_keeping(const rows::Question *question, const Replay *replay);
void keep_group(Kept *kept, const rows::Question *question, const Datum *keys, const bool *nulls,
                const privacy::int128 *noisy);
// Returns the answer as it is stored; null: it was too large. round: it was reached in steps.
const catalog::Storing *storing_of(const Kept *kept, const rows::Question *question, const Terms &terms,
                                   const Facts &facts, bool round);

// A coordinate as a numeric, and back; XX001 for what is none.
Datum number_of(privacy::int128 value);
privacy::int128 read_number(Datum numeric);

} // namespace dp::release
