// General queries: read-only aggregate queries of any shape over one restricted view, for its controller alone
// (architecture.md, 5). Nothing here is a wall: the controller may read the table anyway. What is refused could not be
// answered rightly by running the query once for each record.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

struct General {
    Query *query; // views of the user's that lead to a restricted view are expanded
    ParseState *source;
    List *views;    // Oid: the restricted views that it reads
    List *facades;  // RangeTblEntry *: where they stand in `query`
    List *columns;  // int: the columns of the one view that the query mentions, ascending (check_general)
    bool one_level; // SELECT ... FROM the view, with nothing between or beside (check_general)
    int facade; // where the view stands in the range table, if what FROM and WHERE give is the union of what they give for
                // each of its rows alone, and the query aggregates that (formulas.md 2.1); 0 otherwise (check_general)
};

// Takes the query (a copy is made), finds the restricted views in it. Refuses nothing.
General *find_facades(const Query *query, ParseState *source);

// Whether it is a query of this kind at all: it aggregates somewhere, and reads a restricted view.
bool is_general(const General *general);

// 0A000: several restricted views, protected tables beside it, volatile functions, row locks, TABLESAMPLE, whole rows.
void check_general(General *general);

} // namespace dp::query
