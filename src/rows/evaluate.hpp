// The internal statement of a release: one scan of the protected table, exact integer sums, its rows for nobody but us
// (architecture.md, 3.6; K2, K6).
#pragma once

#include "privacy/row_limit.hpp"

#include "rows/may_read.hpp"
#include "rows/selection_sums.hpp"
#include "rows/unit_sums.hpp"

namespace dp::rows {

// Before the charge: whether the question can be answered where partitions on other servers are, and these are there
// (rows/foreign_partitions). Does nothing for other tables. selection: as for evaluate; its sums are not touched.
void check_remote_parts(const Question *question, const Selection *selection);

// Runs the statement as the table's owner under pinned settings, under the active snapshot, caught as rows/guarded_read says.
Sums evaluate(const Paid &paid);
Sums evaluate(const OwnRows &own);
// Likewise, and adds up what epsilon is selected by, from the same rows.
Sums evaluate(const PaidSelection &paid, const Selection &selection);
// Ends the store. Open at the end of the statement, one that did not fit into memory would be counted and reported.
void discard(Sums *sums);

// In a keeper, after an evaluation for a selection that has raised an error: ends what it left.
void discard_unfinished();

// How many rows each unit of the table has, or how much the sizes in its sum come to, before any condition: of a question of
// resolve_table, whose units may have several. Caught likewise.
void count_rows_of_units(const Paid &paid, privacy::UnitRows *rows);

// Inside of caught. Sums of one row of the internal statement: ncoordinates numbers (pair: S1, S0), and ncells counts of cells.
void read_coordinates(const Question *question, const Datum *columns, privacy::int128 *values, int64 *cells);

} // namespace dp::rows
