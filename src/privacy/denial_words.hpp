// Words for a denial.
#pragma once

#include "privacy/accounting.hpp"

namespace dp::privacy {

// The limit that a denial comes from: "epsilon_total of the table". profile: the role's share is, or may be, that of a risk profile.
const char *words_for(Denial denial, const BoundSettings &bound, Basis basis, bool profile);

} // namespace dp::privacy
