// Rows in a leaf that a statement passes to it (query/passed_rows): unnest(..) in FROM, of constants.
#pragma once

#include "query/leaf.hpp"

namespace dp::query {

bool is_passed_rows(const RangeTblEntry *entry);
// The call that gives a column.
FuncExpr *call_of(const RangeTblEntry *rows, int column);

// Columns of a source: of its relation, or passed ones.
int columns_of(Oid relation, const RangeTblEntry *rows);
Var *column_of(int varno, Oid relation, const RangeTblEntry *rows, AttrNumber column);
const char *name_of_column(Oid relation, const RangeTblEntry *rows, AttrNumber column);
const Const *array_of_column(const RangeTblEntry *rows, AttrNumber column); // once constants are folded
const char *name_of_source(Oid relation, const RangeTblEntry *rows);

} // namespace dp::query
