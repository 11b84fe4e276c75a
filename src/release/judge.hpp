// Whether the numbers of an answer tell anything, and which rows are noise (formulas.md 4.7): post-processing of noisy numbers, with
// half-widths and declarations. Nothing here has seen a row.
#pragma once

#include "privacy/pair_release.hpp"
#include "release/facts.hpp"

namespace dp::release {

struct Judge;

// Begins to judge an answer whose half-widths are in `facts`. Returns null where a half-width would tell an epsilon that nobody may
// know. plan: null for what was reached in steps; means: the numbers are those of a mean (accuracy.hpp).
Judge *begin_judging(const rows::Question *question, const Terms &terms, const privacy::ReleasePlan *plan, bool means,
                     Facts *facts);
// Counts a row, and returns whether it is shown.
bool shows_row(Judge *judge, const privacy::int128 *noisy);
// Notes an average, a spread or a number of two columns as it is printed, and its interval (accuracy.hpp).
void note_interval(Judge *judge, int output, double number, const privacy::Interval &interval);
// Writes what is known when the last row was counted.
void end_judging(Judge *judge);

// Says which key has groups that lack NULL, though rows may have it; null: none.
const char *null_text(const rows::Question *question);

// Refuses a question of which no group would appear at this price (22023), before it is charged.
void check_can_show(const rows::Question *question, const Terms &terms, privacy::Epsilon epsilon);
// Refuses likewise by a threshold that is known.
void check_can_show(const rows::Question *question, std::optional<int64> threshold);

} // namespace dp::release
