// What an aggregating level reads, in terms of one facade: sub-SELECTs, CTEs and views that only project, rename and filter
// are folded onto it (architecture.md, 3.2). Looks at shapes; what may stand in a leaf is decided in query/shape.
#pragma once

#include "border/permissions.hpp"

namespace dp::query {

// A query level and the levels around it, in which references to CTEs are looked up.
struct Level {
    Query *query;
    const Level *outer;
};

// The facade stands as varno 1 in columns and condition.
struct Folded {
    Oid view;
    int index;                 // of the FROM item in the level's range table
    List *columns;             // TargetEntry *: what the columns of the FROM item are; NIL: those of the facade
    Node *condition;           // what has been filtered on the way, or null
    border::PassedViews views; // on the way; not read, their permissions are checked
};

bool aggregates(const Query *query);

// The CTE that an entry refers to, and the level that it belongs to; null if it is not in sight.
CommonTableExpr *find_cte(const RangeTblEntry *entry, const Level *level, const Level **owner);

// Does a SELECT level have rows of a facade in its FROM, or hand them on in a set operation.
bool reads_rows(const Level *level);

// Folds the FROM of a level that reads rows; 0A000 with the part that stands between it and one facade. The CTEs that it
// references lose a reference.
Folded fold_from(const Level *level, ParseState *source);

// References to the FROM item, in an expression or a list of them, become columns of the facade; in place or copied.
Node *on_facade(Node *node, const Folded *folded, ParseState *source, bool *sublinks);

// 0A000: a window function over the rows of a facade.
void refuse_window(const Query *query, ParseState *source);
// 0A000, "<part> is not supported in a query on a restricted view".
[[noreturn]] void refuse_part(const char *part, const char *remedy, ParseState *source, int location);

} // namespace dp::query
