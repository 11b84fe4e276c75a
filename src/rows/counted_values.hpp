// count(DISTINCT x): how many different values there are (formulas.md, 9.11). Values are compared by 128 bits of their one spelling
// (dp_rdr.value_digest), so what is kept of each is small, however long it is.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// 0A000 for values whose equal ones cannot be told to look alike, and where other servers keep rows. 0A000 as well by
// refuse_values for what is not said of such counts.
void check_counted_values(const Question *question);
[[noreturn]] void refuse_values(const char *what, const char *hint);

// The digest of a value; NULL for NULL and for one of more than a megabyte.
Node *value_digest(Node *value);
// Where a row is a unit: count(DISTINCT dp_rdr.value_digest(value)).
Node *count_of_values(Node *value, Node *filter);

} // namespace dp::rows
