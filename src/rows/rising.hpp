// Expressions that rise with the one column that they are over: of a larger value they are never less (formulas.md, 5.9).
#pragma once

#include "privacy/interval.hpp"

#include "border/postgres.hpp"

namespace dp::rows {

// Tells whether an expression over dates, timestamps or whole numbers, whose constants are folded, is of a form that rises. Some forms do
// so in some time zones alone: that of the session is meant.
bool is_rising(Node *expression, const Var *column);
// Returns what a date or a time, a year, or the beginning of a period is made of, and bounds it where that lies in the span; null: it is
// no such part. Time zones differ from UTC by less than a day.
Node *below_part(Node *part, privacy::Span *span);
// Tells whether the session's time zone is UTC.
bool is_utc();

inline bool is_integer(Oid type) {
    return type == INT2OID || type == INT4OID || type == INT8OID;
}
inline bool is_moment(Oid type) {
    return type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

} // namespace dp::rows
