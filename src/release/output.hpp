// Find-epsilon by the output-dependent indicator, called PRI in the papers' earlier versions (formulas.md 1.3, 4): draw an
// answer, look at what it says about everybody, draw another with less epsilon if the risks are too unequal.
//
// Nothing here is differentially private, not even with epsilon known: which answers are accepted depends on the rows. For the
// controller alone.
#pragma once

#include "release/checked.hpp"

namespace dp::release {

// The answer that was drawn and accepted, charged before it is returned. Errors: as answer().
Answer answer_from_output(const Checked &checked);

} // namespace dp::release
