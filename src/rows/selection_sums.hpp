// Reads for the sparse vector selection, of all rows, sums of the points p_i and of their squares (formulas.md 3.4), in columns of
// the release's internal statement.
#pragma once

#include "privacy/sparse_vector.hpp"

#include "rows/unit_contribution.hpp"

namespace dp::rows {

// Asks for a selection with the statement of a question.
struct Selection {
    const privacy::SvtCandidate *tested; // at least one
    int ntested;
    privacy::SelectionSums *sums; // one per tested candidate: filled by evaluate
};

// 54000 when a query has more measures than the server passes arguments to an aggregate.
void check_selection_measures(const Question *question);

// Returns one column; where other nodes keep the rows a count(*), then sums of points and of squares for each candidate. among:
// whom they are about, unless that is in the statement's WHERE.
List *selection_columns(const Question *question, const Selection *selection, Node *among);
// Adds what they are for one group. columns: all of the statement's.
void add_selection(const Question *question, const Selection *selection, const Datum *columns);
// Adds what it is for one unit. brought: clipped.
void add_unit(const Question *question, const Selection *selection, const UnitContribution &brought);
// Gives all other people PIS 0: those that the query rejects, and those whose key nobody declared. rows: how many people there are.
void add_the_others(const Selection *selection, int64 rows);

// Adds the sizes of what a unit brings to the coordinates of a measure in all of its groups, and their squares.
void add_sizes(const Question *question, int measure, const UnitContribution &unit, double *sizes, double *squares);
// Returns the PIS of what a unit brings to counts and sums, clipped: how far they move without it, each as a part of its D (formulas.md, 9.6).
double pis_of_unit(const Question *question, privacy::Mechanism mechanism, const UnitContribution &unit);

} // namespace dp::rows
