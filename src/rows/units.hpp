// The internal statement over units (formulas.md, 9): what one unit brings to a leaf is one of its rows.
//
//   SELECT unit.., dp_rdr.contribution(facts, keys.., arguments..) FROM table [, ancestors..]
//   WHERE .. AND links AND its key is declared GROUP BY unit..
//
// Run past all hooks, like the statement of rows (rows/evaluate). Its rows go one by one to whoever takes them: no unit is
// kept, and how many there are is nobody's to see.
#pragma once

#include "rows/contribution.hpp"

namespace dp::rows {

// Takes a unit: the values of its columns (as many as question->units->values; null unless they were asked for), and what it
// brings, as it was added up: not clipped (clip_contribution). Where groups are declared it has no other. Called in memory
// that is reset behind it.
using TakeUnit = void (*)(void *sink, const Datum *columns, UnitContribution *unit);

// Whether a question is answered by units that may have several rows. One whose units have one row at most is answered by
// rows (rows/evaluate), with the links.
inline bool is_clipped(const Question *question) {
    return question->units != nullptr && question->units->clipped;
}

// Of a clipped question. Under the active snapshot, as the current role (the table's owner: border::RoleScope) and under
// the settings of a border::SettingsScope, which is the caller's: an analyst's are inside of `caught`. False: the plan would
// have read other relations than `checked` has (it was not executed), of check_sources.
bool for_each_unit(const Question *question, const List *checked, bool with_columns, TakeUnit take, void *sink);

// Number of the declared group of a key; -1: nobody declared it, or WHERE excludes it. Not for thresholded questions.
int declared_group(const Question *question, const Datum *keys, const bool *nulls);

} // namespace dp::rows
