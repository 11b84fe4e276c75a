// Serves the calls of analysts that a keeper answers.
#pragma once

#include "query/outer_query.hpp"
#include "release/ask.hpp"

namespace dp::sql {

// 0A000 unless the call stands in FROM, where its columns are declared.
void check_in_from(FunctionCallInfo fcinfo, const char *function);
Oid *types_of(TupleDesc desc);

// 55000: a temporary view is no restricted one.
void check_not_temporary(const query::Leaf *leaf);
// 0A000 for a join.
void check_one_view(const query::Leaf *leaf, const char *what);

// Reads the arguments of release() up to its limits. Errors: 22023 for values that are none.
release::Ask ask_of(FunctionCallInfo fcinfo);
// Checks the ask, sends it, waits, and remembers the answer (release/last). estate: of the statement that it is part of, if that may
// ask for others; or null.
void ask_keeper(release::Ask *ask, ReturnSetInfo *result, EState *estate, query::Use use);

// Parses one SELECT that is passed as text (dp_query, dp_explain), and expands its views.
Query *rewrite_views(const char *text);
// Says that nothing in the statement is a query on a restricted view, naming what it reads instead (42501, 55000).
[[noreturn]] void refuse_unprotected(const Query *query);

// Executes a statement of the caller's own with his rights, and with the hooks of other extensions. text: of it, for these.
void run_as_asked(Query *query, const char *text, DestReceiver *receiver);

// NOTICE where an answer is less accurate than asked for: what stopped it is a function of what was answered, and public.
void tell_short(const release::Reached &reached);

} // namespace dp::sql
