// A statement that is passed as text (dp_query, dp_explain).
#pragma once

#include "border/postgres.hpp"

namespace dp::sql {

// One SELECT after view expansion.
Query *rewrite_views(const char *text);

// Nothing in the statement is a query on a restricted view: says so, naming what it reads instead (42501, 55000).
[[noreturn]] void refuse_unprotected(const Query *query);

} // namespace dp::sql
