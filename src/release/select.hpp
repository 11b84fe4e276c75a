// Find-and-release-epsilon in its sound form: epsilon is selected under differential privacy from the rows that the answer is
// computed from (formulas.md 3.3, 3.4).
#pragma once

#include "rows/evaluate.hpp"
#include "release/charge.hpp"

namespace dp::release {

// 0A000 for a query that prints a pair (formulas.md 3.2): a public fact, said before anything is charged.
void check_selectable(const rows::Question *question);

// Public facts of every candidate: what its test compares, and whether there is anything to test.
const std::vector<privacy::SvtCandidate> *selection_candidates(const rows::Question *question, const Terms &terms);

// What the selection is charged, and what the candidate that it selects is; null: none was selected, which will be denied.
catalog::Charge selection_charge(const rows::Question *question, const Terms &terms);
catalog::Charge selected_charge(const rows::Question *question, const Terms &terms, privacy::Epsilon selection,
                                uint64 first, const privacy::Epsilon *selected);

// Reads the rows. Index of the candidate that they accept first, `end` when they accept none of [first, end).
uint64 first_accepted(const rows::PaidSelection &paid, const Terms &terms,
                      const std::vector<privacy::SvtCandidate> *candidates, uint64 first, uint64 end, rows::Sums *sums);

} // namespace dp::release
