// Makes a checked expression total: it fails on no row (K3; architecture.md, 5), by the functions of query/total_table.
#pragma once

#include "query/total_table.hpp"

namespace dp::query {

struct RowCost;

// Makes an expression of the internal statement from a checked one: parameters replaced by their values, functions of
// constants evaluated (now() and current_date too), partial functions swapped for total ones, values of variable length cut
// off by size (their limit is set when the cost of the whole statement is known). Errors, all of them before the charge:
// 0A000 for what is not total after all, 22023 for a constant argument that is not accepted, 54000 for constants that are too
// long; the natural ones of functions of constants (division by zero ...). Adds what the expression may cost on one row.
Node *make_total(Node *expression, ParamListInfo parameters, RowCost *cost);
// A total value that min or max compares with the best so far, which was such a value, by the order of its type: the same is done for this
// comparison.
Node *make_compared(Node *value, Oid collation, RowCost *cost);

} // namespace dp::query
