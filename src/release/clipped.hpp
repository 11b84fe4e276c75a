// Says of an answer what limits of a unit leave of it (formulas.md 4.7): by noisy numbers, half-widths and declarations.
#pragma once

#include "rows/question.hpp"

namespace dp::release {

// Prints a size to two digits.
const char *about(double number);
// Returns the name of an output that the statement shows; of one that it computes with its expression.
const char *label(const rows::Question *question, int output);
// Says that many people bring more to an output than counts.
const char *clipped_text(const rows::Question *question, int output);
// Says that counts and sums of rows are clipped apart, so that a quotient of two may be far from that of the rows. Null: there are no two.
const char *quotient_text(const rows::Question *question);
// Tells whether keys and counted rows of public tables say that nobody has more rows than count.
bool has_exact_limit(const rows::Question *question);
// Says that a limit may clip. How much it does follows from no number of an answer, as few people may have most of the rows. Null: the
// limit was passed, or clips nothing. view: whose rows tell, by the query that it names; InvalidOid: it names none.
const char *limit_text(const rows::Question *question, Oid *view);

} // namespace dp::release
