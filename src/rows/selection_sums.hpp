// What the sparse vector selection reads of the rows: sums of the points p_i and of their squares (formulas.md 3.4), by an
// aggregate of the release's internal statement.
//
//   dp_rdr.selection_sums(facts bytea, VARIADIC "any") -> bytea      facts: public constants; then one argument a measure
//
//   dp_rdr.selection_point(facts bytea, VARIADIC "any") -> bigint    p_i alone, where the server's own sum has to add (rows/engine)
//   dp_rdr.selection_square(facts bytea, VARIADIC "any") -> bigint   its square, at most 2^60
//
// An argument is NULL where the row does not contribute to the measure, otherwise the value that is counted or summed.
#pragma once

#include <vector>

#include "privacy/sparse_vector.hpp"

#include "rows/question.hpp"

namespace dp::rows {

// More measures than the server passes arguments to an aggregate.
constexpr int max_selection_measures = FUNC_MAX_ARGS - 2;

// How many pairs of sums the aggregate computes: with Laplace noise one serves all candidates.
int selection_width(privacy::Mechanism mechanism, int tested);

// 54000 when a query has more.
void check_selection_measures(const Question *question);

// The first argument. tested: the candidates that are compared, at least one.
Datum selection_facts(const Question *question, const privacy::SvtCandidate *tested, int ntested);

// Adds what the aggregate returned for one group, or what it returned for parts of the group, one behind the other. sums: of selection_width elements; n counts the rows.
void add_selection_sums(Datum result, privacy::SelectionSums *sums, int width);
// The same where points were summed one by one: count(*), then the sums of points and of squares for each of the width.
void add_selection_columns(const Datum *columns, privacy::SelectionSums *sums, int width);

} // namespace dp::rows
