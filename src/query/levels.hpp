// Levels of a statement, and what stands in the FROM of one: who reads rows of a restricted view.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// Whether LIMIT or OFFSET leaves rows out: LIMIT ALL and OFFSET 0 do not, which people write to keep a sub-SELECT by itself.
bool is_cut(const Query *query);

// A query level and the levels around it, in which references to CTEs are looked up.
struct Level {
    Query *query;
    const Level *outer;
};

bool aggregates(const Query *query);
// Whether a level keeps its rows, and has functions over windows.
bool keeps_rows(const Query *query);

// The CTE that an entry refers to, and the level that it belongs to; null if it is not in sight.
CommonTableExpr *find_cte(const RangeTblEntry *entry, const Level *level, const Level **owner);

// The query behind an entry that is a sub-SELECT, a view or a CTE, at its level; null query: none, or one that changes data.
Level query_of(const RangeTblEntry *entry, const Level *level);

// A column of a facade, by the entry that it stands in: null entry, it is none.
struct FacadeColumn {
    const RangeTblEntry *entry;
    Oid view;
    AttrNumber attno;
};
// The column of a facade that an expression of a level is, through the sub-SELECTs, views and CTEs that hand it on.
FacadeColumn find_column(const Level *level, Node *node);

// Whether a level groups by the columns of the unit, whatever else it groups by (query/per_unit), or keeps the rows of units.
bool has_rows_of_units(const Level *level);

// Does a SELECT level have rows of a facade in its FROM, or hand them on in a set operation.
bool reads_rows(const Level *level);

// The facade, public table or view of one that an entry of a sub-SELECT is; InvalidOid: it is none. 0A000: ONLY.
Oid source_of_entry(const RangeTblEntry *entry);

} // namespace dp::query
