// Percentiles, minimum and maximum in the grammar (formulas.md, 8.9).
#pragma once

#include "query/leaf.hpp"

namespace dp::query {

// Tells a percentile of one fraction; those of an array are asked one by one (query/percentile_arrays).
inline bool is_percentile(const Aggref *call) {
    return call->aggfnoid == F_PERCENTILE_CONT_FLOAT8_FLOAT8 || call->aggfnoid == F_PERCENTILE_DISC_FLOAT8_ANYELEMENT;
}
// Sets a constant fraction, and whether values are in their usual order or the reverse. 0A000: something else.
void set_percentile(Aggregate *aggregate, const Aggref *call, ParseState *source);
// 0A000 for an end of its interval: how wide one is depends on where the rows lie, and a draw does not tell that.
void check_part(const Aggregate &aggregate, Part part, ParseState *source);
// Returns the number that the parser cast because a function takes double precision.
Node *before_cast_to_double(Node *number);

} // namespace dp::query
