// Computes what one person changes: of rows and units alike, from the sums of the groups and what the person brings to them
// (formulas.md 1.2a, 1.3). For the controller alone: everything here depends on the private rows.
#pragma once

#include "risk/memo.hpp"
#include "rows/unit_contribution.hpp"

namespace dp::risk {

// Returns whether a number is computed from several sums, or drawn from a histogram, so that what moves it depends on other people.
bool depends_on_group(const rows::Question *question);
// Describes a number of a measure with several coordinates.
privacy::PrintedNumber number_of(const rows::Question *question, int aggregate);
// Returns the place of the first cell of a quantile among those of a group.
int first_cell_of(const rows::Question *question, int measure);

// Returns how many values a unit has in a measure whose cells or different values are counted; 0 of others.
double counted(const rows::Question *question, int measure, const rows::UnitContribution &unit);

// Begins the lists of a memo. groups_memory: for the sums of groups, which are read in the order of people.
void begin_parts(const rows::Question *question, Memo *memo, Size groups_memory);
// Begins to keep the keys of discovered groups, and keeps those of one more, unless there are many.
void begin_group_keys(const rows::Question *question, Memo *memo);
void keep_group_keys(const Memo *memo, int group, Datum *keys, bool *nulls);
// Adds what a record brings to a group to the group. counts: of cells of all quantiles of a group.
void add_to_group(const rows::Question *question, Memo *memo, int group, const privacy::int128 *change,
                  int64 individuals);
// Turns the counts of cells into sums, when all are counted.
void finish_counts(const rows::Question *question, Memo *memo);

// Returns how many rows of a group are in each cell of a quantile. Core region.
std::vector<std::int64_t> counts_of_cells(const rows::Question *question, int measure, const Group &group);
Group group_at(const rows::Question *question, const Memo *memo, int group);

// Returns the PIS of what is brought to one group, joined to that of other groups; `sound`.
double pis_of_change(const rows::Question *question, privacy::Mechanism mechanism, double so_far, const Group &group,
                     const privacy::int128 *change, const privacy::CellCount *cells, int ncells);
double pis_of_record(const rows::Question *question, const Memo *memo, privacy::Mechanism mechanism,
                     privacy::Calibration calibration, int64 record);

// Returns the number of an aggregate as it is printed from the sums of a group, noisy or not; of a quantile from its cell there. Core region.
double printed_answer(const rows::Question *question, const privacy::int128 *sums, int aggregate);
// Returns the most that one person changes it by. Core region.
double unit_of_answer(const rows::Question *question, int aggregate);
// Returns the exact number, as printed (values clamped to the bounds); and the one without what somebody brings to the group.
double exact_answer(const rows::Question *question, const Memo *memo, int group, int aggregate);
double answer_without(const rows::Question *question, const Memo *memo, int64 part, int aggregate);

// Returns the group of a record that is in one at most; -1: it is in none.
int group_of(const Memo *memo, int64 record);

// Returns the exact quantile of a group, without what somebody has in its cells.
double quantile_without(const rows::Question *question, int measure, const Group &group, const privacy::CellCount *cells,
                        int ncells);
// Copies the cells of a part: the list is read elsewhere meanwhile.
privacy::CellCount *cells_of(const Memo *memo, const Part &part);
// `published`: returns what is done to one aggregate in its own unit (1.4). Core region.
double published_change(const rows::Question *question, const Group &group, const privacy::int128 *change, int aggregate);

} // namespace dp::risk
