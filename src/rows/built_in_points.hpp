// Says in functions of pg_catalog alone what a row adds, so that a server which adds up rows needs no library of ours (formulas.md, 8.13).
// Each is the integer of privacy/lattice, privacy/joint_points or privacy/sparse_vector, and no row makes it fail.
#pragma once

#include "privacy/sparse_vector.hpp"

#include "rows/question.hpp"

namespace dp::rows {

// Returns a bigint: what a value adds to a coordinate of a measure; NULL where it adds nothing. value: of a number, or the point of
// two. Not of quantiles and counts.
Node *point_of(const Question *question, int measure, int coordinate, Node *value);

// Returns a bigint: p of a row under a candidate of a selection (formulas.md, 3.4). contributed: what it brings to each measure.
Node *selection_point(const Question *question, const privacy::SvtCandidate &candidate, const List *contributed);

} // namespace dp::rows
