// The last steps of an answer, for release/round, and for what goes its way in another order (release/output).
#pragma once

#include "release/charge.hpp"
#include "rows/evaluate.hpp"

namespace dp::release {

// Noise that was drawn before the charge: ngroups x ncoordinates, groups in canonical order.
struct Drawn {
    const privacy::int128 *noise;
    int64 ngroups;
};

// From exact sums to noisy rows; ends their store. `drawn`: null: the noise is drawn here, as it must be wherever the answer is differentially
// private.
Answer write(const rows::Question *question, const Terms &terms, const Charged &paid, rows::Sums *sums,
             const Drawn *drawn);

// Rows of what a round has looked at last, for declared groups: `values` group by group, measure by measure.
// means: they have mean_bits() more than the lattice's.
Answer write_values(const rows::Question *question, const Terms &terms, const Facts &facts,
                    const privacy::int128 *values, bool means);

// The exact rows of an answer with declared groups, in canonical order, one at a time: for who adds noise to what he makes of them
// (release/signal), and the owner. Both ends of an interval are the number. To be called inside of rows::caught.
using EachRow = void (*)(void *context, const Datum *values, const bool *nulls);
void each_exact_row(const rows::Question *question, const rows::Sums &sums, EachRow each, void *context);

// Reads the rows and writes the noisy answer of a charge.
Answer write_answer(const rows::Paid &paid, const Terms &terms, privacy::Epsilon charged, const Drawn *drawn);

} // namespace dp::release
