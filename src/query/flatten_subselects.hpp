// Folds the FROM of an aggregating level onto facades: sub-SELECTs, CTEs and views that only project, rename, filter and join
// (architecture.md, 3.2). Looks at shapes; what may stand in a leaf is decided in query/grammar.
#pragma once

#include "border/permissions.hpp"
#include "query/levels.hpp"

namespace dp::query {

// The facades stand as varno 1, 2, ... in the items, the condition and all that on_facades has seen.
struct Folded {
    const Level *level; // at which the answer will stand, with what the statement evaluates for it (query/own_values)
    List *facades;      // oid: of the varnos; InvalidOid: a sub-SELECT with rows of units, or rows that are passed
    List *people;       // Query *: these, as they stand in the leaf (query/leaf_from); null: a facade
    List *names;        // char *: what the level calls them; null: by their own names
    List *rows;  // RangeTblEntry *: of a leaf, where rows are passed in place of a facade (query/passed_rows); or null
    int opened;   // sub-SELECTs with rows of units so far, of the answer, at all depths
    List *with;  // CommonTableExpr *: where these come from
    List *items; // of FROM (query/from)
    Node *condition;           // what has been filtered on the way, and ON of inner joins; or null
    List *places;              // what the entries of the level's range table are (query/flatten_subselects.cpp)
    border::PassedViews views; // on the way; not read, their permissions are checked
};

// Checks what stands in a sub-SELECT with rows of units beside aggregates. Errors: 0A000 with the part that may not.
void check_per_unit(const Query *below, ParseState *source);
// Returns it, folded, as it stands in the leaf (query/leaf_from): without parts that do not matter there. names: String *, of its columns, where
// people look; they become different.
Query *people_query(const Query *level, const Folded *folded, const List *names);

// A relation as it stands in a leaf. name: its alias, or null.
RangeTblEntry *source_entry(Oid source, char *name);

// Folds a level that reads rows onto facades, in place; 0A000 with the part that stands between it and facades; 54000: more of them than
// max_sources, or of sub-SELECTs with rows of units than max_people. The CTEs that it references lose a reference. Sub-SELECTs of EXISTS and
// IN in what is grouped by and in aggregates, over facades and public tables, stand in it as relations.
Folded fold_level(const Level *level, ParseState *source);

// 54001: too many parts, once references to an entry become what its columns are. columns: TargetEntry *.
void check_opened(Node *node, int index, List *columns, ParseState *source);

// 0A000: a leaf of a statement that has sub-SELECTs with rows of units names something of a query around it; also where the level above
// leaves that out.
void refuse_outer(Query *leaf, ParseState *source);

// Refuses functions over windows that may hold rows of several people (0A000).
void refuse_window(const Query *query, ParseState *source);

} // namespace dp::query
