// Tells an analyst what an answer is worth: that it is mostly noise, lacks groups, or is clipped (formulas.md 4.7). It follows from noisy
// numbers, half-widths and declarations alone.
#pragma once

#include "query/outer_query.hpp"
#include "release/release.hpp"

namespace dp::sql {

// Says why an answer that was given again has no price.
constexpr const char *replayed_reason = "replayed, nothing charged";

// Why dp_explain and dp_last_release give no error95 for a statement that computes with such groups.
inline constexpr char groups_used_reason[] =
    "small groups are withheld: what is computed from the others leaves them out";

// Says how texts are read as dates by a DateStyle; null: of none.
const char *text_of_dates(const char *style);
// Whether rows of noise are to be left out of what this statement shows.
bool hides_noise(query::Use use);
// Whether nothing is to be said of answers, and of what they will lack.
bool is_silent();
// Tells what the answer that was remembered last is worth, in one NOTICE; use: of its groups.
void tell(const query::Leaf *leaf, const release::Facts &facts, query::Use use);

} // namespace dp::sql
