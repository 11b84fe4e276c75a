// Groups of the keys of a question: declared, of a type, of public rows, named by conditions, or derived (formulas.md, 8.5).
#pragma once

#include "rows/aggregate_arguments.hpp"

namespace dp::rows {

// Reads the groups of a key into question->domains. False: nobody declared them, and they do not follow. folded: the key over the tables,
// before it is made total.
bool read_domain(const catalog::Reading &reading, Question *question, int key, ColumnRanges *columns, Node *folded);

} // namespace dp::rows
