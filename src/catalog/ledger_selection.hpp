// Charges a selection of epsilon (formulas.md 3.3).
#pragma once

#include "catalog/ledger_decide.hpp"

namespace dp::catalog {

// Cuts the candidates of a selection. Returns why nothing is left, or `none`.
privacy::Denial cut(const Entry &entry, const Standpoint &point, Verdict *verdict);
// A selection is pure, whatever noise its release will have: its row carries no delta.
Price price_of_selection(const Charge &what, const Standpoint &point, const Verdict &verdict);

} // namespace dp::catalog
