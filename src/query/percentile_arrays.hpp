// Percentiles of several fractions: percentile_disc(ARRAY[0.25, 0.75]) is ARRAY[percentile_disc(0.25), percentile_disc(0.75)], each of
// which is asked and paid for by itself.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// In place. 0A000: fractions that are no constant array of one dimension, or none; 54000: too many.
void ask_each_fraction(Query *query, ParseState *source);

bool contains_parameter(Node *expression);

} // namespace dp::query
