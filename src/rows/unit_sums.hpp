// Exact sums of what units bring, each clipped (formulas.md, 9.2).
#pragma once

#include "rows/exact_sums.hpp"
#include "rows/may_read.hpp"

namespace dp::rows {

// Describes the store of a thresholded question: the keys, then a column of sixteen bytes for each coordinate.
TupleDesc describe_unit_sums(const Question *question);

// Inside of `caught`, as the table's owner. Fills sums->values, or the store, whose groups are in canonical order and each there
// once. False: nothing was read (for_each_unit).
bool sum_units(const MayRead &right, const List *checked, Sums *sums);

// Reads one row of the store.
void read_unit_sums(const Question *question, const Datum *columns, privacy::int128 *values);

} // namespace dp::rows
