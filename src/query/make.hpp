// Makes nodes of parse trees.
#pragma once

#include "border/postgres.hpp"
#include "query/labels.hpp"

namespace dp::query {

// Returns the constant that a node is, unless it is NULL; else null.
inline const Const *value_in(const Node *node) {
    const auto *constant = reinterpret_cast<const Const *>(node);
    return node != nullptr && IsA(node, Const) && !constant->constisnull ? constant : nullptr;
}

// Returns a copy that may be changed.
inline Node *copied(const Node *node) {
    return static_cast<Node *>(copyObjectImpl(node));
}

Const *text_constant(const char *text);
Const *int_constant(int32 value, bool isnull = false);
// Makes the parameter that a number stands for in a text, under a collation of its own where that is not its type's.
Node *make_parameter(int number, Oid type, int32 typmod, Oid collation, int location = -1);
// Makes node COLLATE collation.
Node *collated(Node *node, Oid collation, int location = -1);
// Casts to text by the output function of the type.
Node *cast_to_text(Node *node);
// Makes COALESCE(value, otherwise), of the type of the latter.
Node *coalesced(Node *value, Const *otherwise, Oid collation = InvalidOid, int location = -1);
// Makes node IS NULL, or IS NOT NULL.
Node *null_test(Node *node, NullTestType type);
// Makes the column of an entry that shows an expression.
Var *column_showing(int varno, int number, const Node *expression, Index level = 0);

// Returns the place of a node in a list of distinct ones, counted from 1; it is added if it is not there.
int place_in(List **nodes, Node *node);

// Makes a clause by which an expression is grouped: with the default operators of its type, if that has any.
SortGroupClause *make_grouping(const Node *expression);

// Makes SELECT without anything.
Query *make_select();
RangeTblRef *reference_to(int varno);
// Adds a column to what is selected.
TargetEntry *add_target(Query *query, Node *expression, const char *name);
// Adds an entry, and makes it an item of FROM.
void add_item(Query *query, RangeTblEntry *entry);
// Makes (query) AS name.
RangeTblEntry *subquery_entry(Query *query, const char *name, bool in_from = true);
// Makes the tree of UNION ALL over the first n entries of a range table, which have the columns of this query.
Node *union_tree(const Query *first, int n);
// Makes SELECT .. UNION ALL SELECT .. of queries, whose entries are called by the name and a number.
Query *union_all(const List *queries, const char *name);

} // namespace dp::query
