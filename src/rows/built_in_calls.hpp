// Makes calls of functions that every PostgreSQL has, for statements that other servers run.
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

// Makes `a name b` by an operator of pg_catalog for just these types.
Node *operation(Node *a, const char *name, Node *b);
// Makes a cast, which is printed as one.
Node *cast_by(Oid function, Oid type, Node *value);
Node *constant_of(Oid type, Datum value);
Node *double_constant(double value);
Node *bigint_constant(int64 value);
// Makes a NULL of type bigint.
Node *no_bigint();

struct Case {
    Node *condition; // null: it is left out
    Node *result;
};
// Makes CASE WHEN .. THEN .. ELSE otherwise END.
Node *choice_of(const Case *cases, int n, Node *otherwise);
template <int n> Node *choice_of(const Case (&cases)[n], Node *otherwise) {
    return choice_of(cases, n, otherwise);
}

// Returns what a call of ours is in functions of pg_catalog alone: of keys, of limits of sizes, of arithmetic with
// integers, of a cast to double precision. Other nodes stay.
Node *without_ours(Node *node);

} // namespace dp::rows
