// Sub-SELECTs that ask whether further sources have a row for this one (formulas.md, 9.9): semi-joins, which are conjuncts of WHERE, and
// tests, values in expressions.
#pragma once

#include "query/leaf.hpp"

namespace dp::query {

// Takes [NOT] EXISTS (SELECT .. FROM sources WHERE ..) and x [NOT] IN (SELECT .. FROM sources ..) out of leaf->where: the sources
// come behind those of FROM, and their condition into leaf->semi_joins. Sub-SELECTs of another form stay where they are, and are refused
// there. 0A000: what such a sub-SELECT may not have, naming it; NOT IN over a facade; 54000: more than max_sources.
void read_semi_joins(Leaf *leaf, Query *query, ParseState *source);

// Where such a sub-SELECT stands in an expression, a column that no row has NULL in takes its place: in what is left of leaf->where, and
// in the targets of a query; of these only within aggregates where they are of one unit's rows. 0A000: also where rows are not found by
// equalities alone.
void read_tests(Leaf *leaf, Query *query, bool of_unit, ParseState *source);

// Returns the hint for a sub-SELECT that is refused.
const char *remedy_of_sub_select(const SubLink *link);

// Executor's checks of the sub-SELECTs, as of the leaf itself.
void check_semi_permissions(const Leaf *leaf);

// The test that a column stands for; null: it is another column.
const SemiJoin *test_of(const Leaf *leaf, const Var *column);

// An expression with its tests as they were written, over the views.
Node *with_tests_written(const Leaf *leaf, Node *node);

// The condition of a test in parts, each a List * of conjuncts.
struct TestParts {
    List *inner; // over its sources, or over none: which of their rows there are
    List *links; // OpExpr *: an expression over its sources equals one over others
    List *outer; // over others
};
// inner: varnos of its sources. False: a conjunct is none of these, or nothing links.
bool split_test(Node *condition, Bitmapset *inner, TestParts *parts);
// Which argument of a link is over the sources of the test.
int inner_argument(const OpExpr *link, Bitmapset *inner);
// The varnos of its sources.
Bitmapset *varnos_of_semi_join(const Leaf *leaf, const SemiJoin *semi);

} // namespace dp::query
