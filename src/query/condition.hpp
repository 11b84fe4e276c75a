// Checks the expressions that may meet a row (architecture.md, 5; K2): a closed grammar over checked nodes, by OID. Everything that
// is not named here is refused, with the part named and the same text whatever the rows.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// Checks a condition or a group key: an expression over columns of varno 1. make_total (query/total) finishes it.
void check_condition(Node *condition, ParseState *source);
// Opens the collation that values are compared under. 42P22 where they need one and there is none; 0A000 for one that is nondeterministic.
void check_collation(Oid collation, List *arguments, ParseState *source, int location);

// Checks a condition that a controller declares (a restricted view's filter, a group of people), over the columns of the protected
// table itself, under the rules for WHERE, and immutable. Vars have varno 1. `name` is what the errors call it. Errors: 42601, 0A000,
// 42703 and those of the parser.
Node *check_table_condition(const char *text, Oid relation, const char *name);
// Reads an expression whose total a controller declares: over the columns of the table, and immutable. Errors: those of
// check_table_condition.
Node *check_table_expression(const char *text, Oid relation);
// Returns a condition as a text that means the same under every search_path.
const char *canonical_condition(const char *text, Oid relation, const char *name);

} // namespace dp::query
