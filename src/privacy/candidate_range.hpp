// The candidates that a selection of epsilon may choose from (formulas.md 3.3).
#pragma once

#include "privacy/accounting.hpp"

namespace dp::privacy {

// Says what a sparse vector selection may choose from, before its first comparison (3.3, "Order"; 5.2). The list that is left is
// contiguous: candidates that are too large are cut from its front, those that `dynamic` forbids from its end.
struct SelectionRequest : Limits {
    std::size_t tested = 0; // the first so many candidates are tested, the others pass whatever the data are
    Epsilon epsilon_svt;
};
struct SelectionRange {
    Denial denial = Denial::none;
    Denial cause = Denial::none;     // of no_candidate: why not even the smallest
    std::size_t first = 0, last = 0; // candidates [first, last)
    Epsilon charged;                 // epsilon_svt; 0 when the first candidate left passes anyhow
};
SelectionRange cut_candidates(const SelectionRequest &request, const BoundSettings &bound, const Totals &totals,
                              const Totals &role);
// A selection is pure, whatever noise its release will have.
Cost cost_of_selection(Epsilon epsilon);

} // namespace dp::privacy
