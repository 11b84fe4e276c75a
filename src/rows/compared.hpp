// Intervals that conditions leave of the expressions that they compare with constants (formulas.md, 8.12).
#pragma once

#include "query/range.hpp"
#include "rows/question.hpp"
#include "rows/rising.hpp"

namespace dp::rows {

constexpr int most_compared = 64; // expressions that conditions are read for

struct Compared {
    Node *expression;
    privacy::Span span;
};

struct Narrowed {
    List *conjuncts; // Node *
    List *never_null; // as find_nonnullable_vars() gives it
    int ncompared;
    Compared compared[most_compared];
};

// Reads conditions (Node *, over the tables, their constants folded; null ones say nothing).
const Narrowed *read_conditions(const List *conditions);
// Intersects the range of an expression with what the conditions say of it. Where they do not meet the range stays.
void narrow(const Narrowed *narrowed, Node *expression, query::Range *range);

// Gives the range of an expression, by its context.
using RangeOfPart = query::Range (*)(Node *expression, void *columns);
// Says which interval of a part of the expression does not meet what the conditions leave of it. Null: all do.
const char *text_of_apart(const Narrowed *narrowed, Node *expression, RangeOfPart range_of, void *columns);

// Prints an end of an interval as a value of a type.
const char *end_text(Oid type, double end);

// Returns the expression without what changes neither its value nor how it is compared.
Node *bare(Node *node);
// Returns the place of a comparison among those of the order of a type (btree); 0: it has none.
int strategy_of(Oid comparison, Oid type);

// expression operator constant, by the order of the expression's type.
struct Comparison {
    Node *expression;
    Const *constant; // not NULL; of IN an array
    int strategy;    // of btree; IN is an equality
    bool in;
    Oid collation;
};
// Reads a comparison; false: the node is none.
bool read_comparison(Node *node, Comparison *comparison);
// Returns where a comparison that holds leaves an expression; of IN the least interval around all of it.
privacy::Span span_of(const Comparison &comparison, Node *expression);
// Returns the constants that it compares with (Const *): one, or those of IN that are not NULL.
List *constants_of(const Comparison &comparison);

} // namespace dp::rows
