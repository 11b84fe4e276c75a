// What an analyst is told of discovered groups that do not appear: public facts only, the same on all tables.
#pragma once

#include "release/release.hpp"

namespace dp::sql {

// Of an answer that was given again.
constexpr const char *replayed_reason = "replayed, nothing charged";

// Why dp_explain and dp_last_release give no error95 for a statement that computes with such groups.
inline constexpr char groups_used_reason[] =
    "small groups are withheld: what is computed from the others leaves them out";

// After a release of discovered groups. `used`: its statement computes with them.
void tell_withheld(const release::Facts &facts, bool used);

} // namespace dp::sql
