// Leave-one-out where a unit (person) may have several rows (formulas.md, 9.6): what is left out is all of what one unit brings.
// For the controller alone: everything here depends on the private rows.
#pragma once

#include "risk/memo.hpp"
#include "rows/may_read.hpp"
#include "rows/question.hpp"

namespace dp::risk {

// Says how risks are looked at.
struct Wanted {
    privacy::Calibration calibration;
    bool groups;
};
// Refuses what risks of units with several rows are not computed for: 0A000, by public facts alone and before a row is read.
void check_units(const rows::Question *question, const Wanted &wanted);
// Refuses a general query over a table whose units may have several rows, as it knows rows alone. refusal: raised instead, or null.
// Precondition: the table is locked.
void check_general(const catalog::Settings *settings, ErrorData *refusal);

// Leaves one unit out, as leave_one_out() does one row; `sound`. A record is a unit; its columns are those of the unit, then what it brings to the answer in all of its
// groups together, clipped, the number of these groups, and the share that clipping leaves ("kept").
Memo *leave_one_unit_out(const rows::Uncharged &right, privacy::Mechanism mechanism, Detail detail);

// Where groups are discovered: what they add up to, for exact_answer. It reads the rows once more.
void add_groups_of_units(const rows::Uncharged &right, Memo *memo);

// Counts the population (rows/population). As the tables' owner, under the active snapshot.
int64 count_units(const rows::Question *question);

} // namespace dp::risk
