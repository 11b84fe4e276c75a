// The FROM of a query in normal form: conditions stand in WHERE and in the ON of outer joins alone, a RIGHT JOIN is a LEFT JOIN with its
// sides exchanged.
#pragma once

#include "query/leaf.hpp"

namespace dp::query {

// Holds the joined items, without conditions of their own (RangeTblRef *; JoinExpr *: JOIN_LEFT, or JOIN_INNER without ON where a side of such
// a one has several items), and the condition above it, or null.
struct From {
    List *items;
    Node *where;
};

// How one FROM is read.
struct FromReader {
    From (*item)(const RangeTblRef *ref, bool nullable, void *context); // what stands for an item
    Node *(*condition)(Node *on, void *context);                        // of an ON; a copy. It may be null
    void *context;
    ParseState *source;
};

// Reads a jointree or a part of it. Errors: 0A000 for a FULL JOIN.
From read_from(Node *tree, bool nullable, const FromReader &reader);

// Whether columns may be those of joins, which are columns of what is joined.
bool has_joins(const Query *query);
// Makes the FROM of a query a list of its entries, and conditions of its inner joins such of WHERE. False, and nothing is changed: there
// are outer joins.
bool flatten_from(Query *query);

// The conditions that AND combines, Node *, at any depth.
List *conjuncts_of(Node *condition);

// One item for several: a join of all without conditions.
Node *one_item(List *items);

// The base entries below an item, and its joins.
void find_sources(Node *item, List **varnos, List **joins);

// Fills leaf->sources, leaf->from and leaf->where from the query's FROM and WHERE. Columns of joins (USING) become those of their
// sources. 0A000: FULL, LATERAL and whatever is no facade; 55000: the only item is none; 54000: more than max_sources.
void read_sources(Leaf *leaf, Query *query, ParseState *source);

// The joins below the items, JoinExpr *, and what stands in their ON, Node *.
List *joins_of(const List *items);
List *conditions_of(const List *items);
// Adds a condition on a source to the ON of the outer join on whose nullable side it stands. True: there is none, it belongs to WHERE.
bool add_condition(const List *items, int varno, Node *condition);

// Reads a sub-SELECT that is a source of a leaf (query/per_unit). Its keys are its columns, over what it aggregates, Vars of unit_varno, and over
// columns of what it reads. How many rows a unit has of it is for rows::prepare to say. 0A000: it does not group by the columns of a unit; an
// aggregate that has no bounded result, or that depends on the order of rows.
Leaf *read_people(Query *below, ParseState *source);

} // namespace dp::query
