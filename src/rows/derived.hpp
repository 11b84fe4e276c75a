// Groups of key expressions that nobody has to declare, since they follow from the expression and from what is declared of its
// columns (formulas.md, 8.5).
#pragma once

#include "rows/arguments.hpp"

namespace dp::rows {

constexpr int most_derived = 10000; // values of one key

// False: they do not follow, or are too many. folded: the expression of the key over the table, its constants folded.
// question->keys[key] is what rows are grouped by.
bool derive_domain(ColumnRanges *columns, const Question *question, int key, Node *folded, KeyDomain *domain);

} // namespace dp::rows
