// Steps of answer() for what goes its way in another order (release/output).
#pragma once

#include "release/choose.hpp"
#include "release/evaluate.hpp"

namespace dp::release {

// Charges the largest candidate that `permitted` and the bound allow; returns when the charge is durable, and raises
// 53400 or 55000 otherwise.
privacy::Epsilon charge(const Question *question, const Terms &terms, const Permitted &permitted);

// Noise that was drawn before the charge: ngroups x ncoordinates, groups in canonical order.
struct Drawn {
    const privacy::int128 *noise;
    int64 ngroups;
};

// Reads the rows and writes the noisy answer of a charge. `drawn`: null: the noise is drawn here, as it must be wherever the
// answer is differentially private.
Answer write_answer(const Question *question, const Terms &terms, privacy::Epsilon charged, const Drawn *drawn);

} // namespace dp::release
