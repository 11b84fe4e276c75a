// Groups of the keys of a question: declared, of a type, of public rows, named by conditions, or derived (formulas.md, 8.5); and which of
// them it shows.
#pragma once

#include "rows/aggregate_arguments.hpp"

namespace dp::rows {

// Reads the groups of a key into question->domains. False: nobody declared them, and they do not follow. folded: the key over the tables,
// before it is made total.
bool read_domain(const catalog::Reading &reading, Question *question, int key, ColumnRanges *columns, Node *folded);

// Conditions of WHERE on the keys alone say nothing about rows: they are evaluated on the public list, and a group that they exclude is not
// in the answer. Of the groups of a question whose keys are all declared (all of the product, or those of `places`) keeps those that WHERE does not
// exclude. Errors: 22023 when no group is left.
void choose_shown(Question *question);

} // namespace dp::rows
