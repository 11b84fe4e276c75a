// Groups of key expressions that nobody has to declare, since they follow from the expression and from what is declared of its
// columns (formulas.md, 8.5).
#pragma once

#include "rows/aggregate_arguments.hpp"

namespace dp::rows {

constexpr int most_derived = 10000; // values of one key

// False: they do not follow, or are too many. folded: the expression of the key over the table, its constants folded.
// question->keys[key] is what rows are grouped by.
bool derive_domain(ColumnRanges *columns, const Question *question, int key, Node *folded, KeyDomain *domain);

// Whether keys are made of the same columns: then not all combinations of their values can be.
bool share_columns(const Question *question, const List *folded);
// Returns KeyTuples * of such keys, where they follow as well: KeyTuples of rows/public_values. The domains of all keys are known.
List *derive_tuples(ColumnRanges *columns, const Question *question, const List *folded);

} // namespace dp::rows
