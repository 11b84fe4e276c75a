// Bounds the cost of a statement on one row (architecture.md, 5). Values of variable length are the only ones whose size the rows
// decide, so each that a function gets is cut off at a limit: longer ones count as NULL. The limit is a megabyte, and less
// where a statement does much with them: a function of the statement alone, never of a row.
#pragma once

#include "query/total_table.hpp"

namespace dp::query {

// Nanoseconds: of all calls; for each byte of the longest value; for each byte squared.
struct RowCost {
    double calls, linear, quadratic;
};

// Adds `times` calls of the function on these arguments.
void add_cost(RowCost *cost, const TotalFunction *entry, Oid collation, List *arguments, double times = 1);

// Returns the nanoseconds of one evaluation over values that are no longer than a group may be.
double time_of_group(const RowCost &cost);
// The longest that a list of groups may be made for, and all evaluations of its conditions, in nanoseconds.
constexpr double longest_derivation = 2e8;

// The most bytes that a value takes beyond what its type always takes, or -1 if the rows decide.
int size_of(Node *argument);
// Replaces each argument whose size the rows decide by NULL beyond the limit, which is a megabyte until it is set.
void limit_arguments(List *arguments);
// Returns what such a replacement is of; anything else as it is.
Node *without_limit(Node *argument);
// The size in bytes that keeps one row within its time. Raises 54000 if that is too small to be of use.
int size_limit(const RowCost *cost);
// Sets it at all places in an expression.
void set_size_limit(Node *expression, int limit);

} // namespace dp::query
