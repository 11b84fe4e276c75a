// Public totals of the sizes in a unit's sum (formulas.md, 9.16): declared of an expression over a table, found by its text.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Returns the text by which a total is kept: of an expression over one table, as varno 1, with its constants folded. It means the same
// under every search_path.
const char *text_of_summed(Node *folded, Oid relation);

// Finds the total of a measure, which counts where the measure is a sum by itself of one table's rows, none of them twice, and max_rows
// rows may come to more. A measure without one: no text.
UnitTotal total_of(const catalog::Reading &reading, const Question *question, int measure);

// Makes the sum of an expression over the table the only measure of a question without a leaf, so that the sizes in it can be added
// up. 55000: its values have no bounds.
void resolve_sizes(const catalog::Reading &reading, Question *question, const char *text);
// Makes the size of the expression in a row, as points of the sum's lattice: a bigint.
Node *size_of_row(const Question *question);

} // namespace dp::rows
