// Sub-SELECTs that the statement evaluates itself, before a leaf is asked: each sees no row of a restricted view but through answers of
// its own (formulas.md, 9.17).
#pragma once

#include "query/levels.hpp"

namespace dp::query {

// Marks them in an expression of a level, which is copied: SELECT of one value, ARRAY(SELECT ..) and EXISTS. x IN (SELECT y ..) becomes
// x = ANY (ARRAY(SELECT y ..)), unless it is a semi-join with views and public tables. answer: the level at which they are evaluated; those
// that read a query of WITH that is not in sight there stay as they are.
Node *with_own_values(Node *node, const Level *level, const Level *answer);

bool is_own_value(const Node *node);
Node *marked_value(const SubLink *link);

// Whether the result of a query at a level follows from no row of a view or protected table, and from no column around it.
bool follows_from_no_row(Query *query, const Level *level, const Level *answer);

// Where something moves from a level to that of an answer, references to queries of WITH that are `distance` levels or more above it are
// still good once `delta` is added to them.
struct Move {
    int distance, delta;
};
Move move_to(const Level *level, const Level *answer);

} // namespace dp::query
