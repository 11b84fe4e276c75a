// Find-and-release-epsilon in its sound form: epsilon is selected under differential privacy from the rows that the answer is
// computed from (formulas.md 3.3, 3.4).
#pragma once

#include "rows/evaluate.hpp"
#include "release/release.hpp"

namespace dp::release {

// 0A000 for a query that prints a pair (formulas.md 3.2): a public fact, said before anything is charged.
void check_selectable(const rows::Question *question);

// Public facts of every candidate: what its test compares, and whether there is anything to test.
const std::vector<privacy::SvtCandidate> *selection_candidates(const rows::Question *question, const Terms &terms);

// Charges epsilon_svt (unless the largest candidate left passes whatever the data are), reads the rows once, selects, charges
// the epsilon selected. Errors: 53400 when no candidate is left, or none is selected (epsilon_svt stays
// charged); 54000 for too many measures; those of catalog::charge.
Paid select_and_charge(const rows::Question *question, const Terms &terms, rows::Sums *sums);

} // namespace dp::release
