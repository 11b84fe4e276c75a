// What a leaf is joined from: the shape of its FROM, and which joins keep the rows of different units apart (formulas.md, 9.7).
#pragma once

#include "catalog/domain.hpp"
#include "query/leaf.hpp"

namespace dp::query {

// ---- the shape -----------------------------------------------------------------------------------------------------

// A FROM in normal form: inner joins on no nullable side are items of their own, their conditions in `where`; a RIGHT JOIN is a LEFT
// JOIN with its sides exchanged.
struct From {
    List *items; // RangeTblRef * and JoinExpr * (JOIN_LEFT; JOIN_INNER below one's nullable side, or above several items)
    Node *where; // what is above them, or null
};

// Fills leaf->sources and leaf->from from the query's FROM; leaf->where from its ON and WHERE. Columns of joins (USING) become
// those of their sources. 0A000: FULL, LATERAL and whatever is neither a facade nor a public table; 54000: more than max_sources.
void read_from(Leaf *leaf, Query *query, ParseState *source);

// Applies a function to every condition below the items; it may replace it.
void change_conditions(List *items, void (*change)(Node **condition, void *context), void *context);

// ---- links ---------------------------------------------------------------------------------------------------------

// What is known of a source whose rows are units'. Vars and conditions are over the tables, with the leaf's varnos.
struct Linked {
    const Source *source;
    const catalog::UnitPath *path; // null for a public one
    Oid relation;                  // the table
    const char *name;              // the view's, where people look
    // Of a public table joined on no key: the largest number of its rows that are equal in the columns that it is joined by,
    // counted before the charge. 0: it is joined on a key, or private.
    int multiplicity;
};

// Equality of two plain columns, as an operator of the btree family of both: a conjunct of the condition of the block that holds it.
struct Equality {
    AttrNumber left, right; // column_number over the tables
};

// What follows from the joins.
struct Joined {
    int64 max_rows;   // R: the smallest product; may be above catalog::max_declared_rows
    bool keyed;       // it is 1, by keys alone
    int anchor;       // a private source on no nullable side, where the unit is looked for: direct, if there is one
    int several;      // the only private source that a unit may have several rows of; -1: none or several
    int n;            // sources
    bool one_row[max_sources]; // by source: private, on no nullable side, and its unit columns cover a key; or public, joined to
                               // such a one on a key. Groups of their columns are one group of each unit.
    List *equalities; // Equality *: of WHERE between sources on no nullable side; for ancestors that are there already
};

// 0A000 with the columns to use where some private source is not linked (9.7). where, items: over the tables.
Joined join_sources(const Linked *sources, int n, List *items, Node *where);

} // namespace dp::query
