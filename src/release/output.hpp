// Find-epsilon by the output-dependent indicator, called PRI in the papers' earlier versions (formulas.md 1.3, 4): draw an
// answer, look at what it says about everybody, draw another with less epsilon if the risks are too unequal.
//
// Nothing here is differentially private, not even with epsilon known: which answers are accepted depends on the rows. For the
// controller alone.
#pragma once

#include "release/release.hpp"

namespace dp::release {

// Noise that was drawn before the charge: ngroups x ncoordinates, groups in canonical order; null: none.
struct Drawn {
    const privacy::int128 *noise;
    int64 ngroups;
};

// Draws until a candidate's answer is accepted, and charges that candidate. What is answered must be what was looked at:
// `drawn` is its noise. Errors: those of catalog::charge.
privacy::Epsilon draw_and_charge(const Question *question, const Terms &terms, Drawn *drawn);

} // namespace dp::release
