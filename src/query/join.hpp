// Proves that the joins of a leaf keep the rows of different units apart (formulas.md, 9.7).
#pragma once

#include "catalog/domain.hpp"
#include "query/from.hpp"
#include "query/leaf.hpp"

namespace dp::query {

// ---- the shape -----------------------------------------------------------------------------------------------------

// Fills leaf->sources, leaf->from and leaf->where from the query's FROM and WHERE. Columns of joins (USING) become those of their
// sources. 0A000: FULL, LATERAL and whatever is no facade; 55000: the only item is none; 54000: more than max_sources.
void read_sources(Leaf *leaf, Query *query, ParseState *source);

// The joins below the items, JoinExpr *, and what stands in their ON, Node *.
List *joins_of(const List *items);
List *conditions_of(const List *items);
// Adds a condition on a source to the ON of the outer join on whose nullable side it stands. True: there is none, it belongs to WHERE.
bool add_condition(const List *items, int varno, Node *condition);

// ---- links ---------------------------------------------------------------------------------------------------------

// A source as it is declared. Conditions are over the tables, with the leaf's varnos.
struct Linked {
    const Source *source;
    Oid relation;                  // the table
    const catalog::UnitPath *path; // checked; null for a public table
    const char *name;              // the view, where people look
    // Returns the largest number of rows of a public table that are equal in these columns, as counted before the charge. Null: it does
    // not matter here.
    int64 (*multiplicity)(const Linked &source, int n, const AttrNumber *columns);
    void *context; // of that
};

// Says that a column equals another one, wherever neither is NULL for an outer join: a conjunct of WHERE, or of an ON.
struct Equality {
    AttrNumber left, right; // column_number over the tables
    const JoinExpr *on;     // the outer join; null: WHERE
};

// Holds the conclusions from the joins. Sources are numbered as they were passed.
struct Joined {
    int n;
    int64 max_rows; // R: the smallest product, as far as it is below 2^40
    bool keyed;     // it is 1, by keys alone
    int anchor;     // where the unit is looked for: on no nullable side; its columns hold the unit, if those of one do
    int several;    // the only one that a unit may have several rows of; -1: none, or several
    bool one_row
        [max_sources]; // of each unit one row at most, and that in all that is joined: its columns are one group. Also where
    // such rows lead to it by a key; and where an outer join adds it to all of a unit's rows or to none
    List *equalities; // Equality *
};

// Equality *: conjuncts that are equalities of plain columns of two sources, by an operator of the one btree family of both types.
List *find_equalities(const Leaf *leaf, const List *items, Node *where);

// 0A000, with the columns to use, where a private source is not linked to the others (9.7), or a public one is joined by no equality (9.8).
Joined *join_sources(const Linked *sources, int n, const List *items, List *equalities);

// Whether these columns of one source are equated with those of another, one by one.
bool are_equated(const List *equalities, const JoinExpr *on, int n, int varno, const AttrNumber *columns, int other,
                 const AttrNumber *others);

} // namespace dp::query
