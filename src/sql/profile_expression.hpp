// The relative risk that a profile allows, as an SQL expression over p and q (doc/formulas.md 7.2).
//
// It runs over no private row, as its caller; but a profile may come from somebody else. So it is nothing but arithmetic: every
// node, every function and every type in it is one that can have no effect (see check_node).
#pragma once

#include "border/postgres.hpp"

namespace dp::sql {

struct ProfileExpression;

// Errors: those of the parser; 0A000 for what is no arithmetic over p and q; 54000 for a long one.
ProfileExpression *read_profile_expression(const char *text);
// allowed[i] for p[i], q[i]; infinite where the expression is NULL. 22023 where it is no number.
void evaluate_profile_expression(const ProfileExpression *expression, const double *p, const double *q, double *allowed,
                                 int n);

} // namespace dp::sql
