// The internal statement over units (formulas.md, 9): what one unit brings to a leaf is one of its rows.
//
//   SELECT unit.., dp_rdr.cells(spec, unit.., keys.., arguments..) FROM table [, ancestors..]
//   WHERE .. AND links AND its key is declared GROUP BY unit..
//
// Run past all hooks, like the statement of rows (rows/evaluate). Its rows go one by one to whoever takes them: no unit is
// kept, and how many there are is nobody's to see.
#pragma once

#include "privacy/row_limit.hpp"

#include "rows/may_read.hpp"
#include "rows/unit_contribution.hpp"

namespace dp::rows {

struct Unit {
    const Datum *columns;          // as many as question->units->values; null unless they were asked for
    UnitContribution *contribution; // by question; as they were added up: not clipped (clip_contribution)
};

// Takes a unit, in memory that is reset behind it.
using TakeUnit = void (*)(void *sink, Unit *unit);

// The question's WHERE; where groups are declared, also that the row is in one of them.
Node *where_declared(const Question *question);

// Reads the units of a clipped question, one by one. Under the active snapshot, as the current role (the table's owner:
// border::RoleScope) and under the settings of a border::SettingsScope, both the caller's; for an analyst inside of `caught`.
// checked: of check_sources.
// False: the plan would have read other relations than those, and was not executed.
bool for_each_unit(const MayRead &right, const List *checked, bool with_columns, TakeUnit take, void *sink);
// Does so for several questions about the rows of one table, none of them with one row for each person below it. Units come that bring
// nothing to any.
bool for_each_unit_of_several(const MayRead *const *rights, int n, const List *checked, bool with_columns, TakeUnit take,
                              void *sink);

// Where Citus keeps the rows: reads what all units of a shard bring, part by part (rows/shard_parts), each clipped.
bool for_each_part(const MayRead &right, const List *checked, TakeUnit take, void *sink);
Query *statement_of_parts(const Question *question);

// SELECT count(*) FROM table [, ancestors..] WHERE links GROUP BY unit..: how many rows each unit has; of a question with a sum (rows/totals)
// how much the sizes in it come to. Under the same conditions.
bool for_each_row_count(const MayRead &right, const List *checked, privacy::UnitRows *rows);

} // namespace dp::rows
