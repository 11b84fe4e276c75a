// Computes what one person changes: of rows and units alike, from the sums of the groups and what the person brings to them
// (formulas.md 1.2a, 1.3). For the controller alone: everything here depends on the private rows.
#pragma once

#include "privacy/risk_exact.hpp"

#include "risk/memo.hpp"

namespace dp::risk {

// Returns whether a number is computed from several sums, or drawn from a histogram, so that what moves it depends on other people.
bool depends_on_group(const rows::Question *question);
// Describes a number of a measure with several coordinates.
privacy::PrintedNumber number_of(const rows::Question *question, int aggregate);
// Returns the place of the first cell of a quantile among those of a group.
int first_cell_of(const rows::Question *question, int measure);
// Returns the first coordinate of a measure.
int first_coordinate_of(const rows::Question *question, int measure);

// Begins the lists of a memo. groups_memory: for the sums of groups, which are read in the order of people.
void begin_parts(const rows::Question *question, Memo *memo, Size groups_memory);
// Adds what a record brings to a group to the group. counts: of cells of all quantiles of a group.
void add_to_group(const rows::Question *question, Memo *memo, int group, const privacy::int128 *change,
                  int64 individuals);
// Turns the counts of cells into sums, when all are counted.
void finish_counts(const rows::Question *question, Memo *memo);

Group group_at(const rows::Question *question, const Memo *memo, int group);

// Returns the PIS of what is brought to one group, joined to that of other groups; `sound`.
double pis_of_change(const rows::Question *question, privacy::Mechanism mechanism, double so_far, const Group &group,
                     const privacy::int128 *change, const privacy::CellCount *cells, int ncells);
double pis_of_record(const rows::Question *question, const Memo *memo, privacy::Mechanism mechanism,
                     privacy::Calibration calibration, int64 record);

// The exact answer of one aggregate, as printed (values clamped to the bounds); without: when the record, which is in one group, is
// left out.
double exact_answer(const rows::Question *question, const Memo *memo, int group, int aggregate);
double answer_without(const rows::Question *question, const Memo *memo, int64 record, int aggregate);

// Returns the group of a record that is in one at most; -1: it is in none.
int group_of(const Memo *memo, int64 record);

// q(x) - q(x without the record), over the coordinates of one group. `sound`: of the vector that is released, in lattice
// units, width k1; `published`: sizes only, of the aggregates themselves, width naggregates.
int change_width(const rows::Question *question, privacy::Calibration calibration);
void change_of(const rows::Question *question, const Memo *memo, privacy::Calibration calibration, int64 record,
               double *change);

// Whose changes: of everybody, or of one of the people's groups of the memo.
enum class People { all, group_a, group_b };
const privacy::ChangeProfile *change_profile(const rows::Question *question, const Memo *memo,
                                             privacy::Calibration calibration, People people = People::all);

// The exact indicator under the noise of a plan (`sound`). Core region. largest: largest_released_square.
privacy::ExactRdr released_rdr(const rows::Question *question, const privacy::ReleasePlan &plan, double largest);
double largest_released_square(const rows::Question *question, const privacy::ChangeProfile &profile);

} // namespace dp::risk
