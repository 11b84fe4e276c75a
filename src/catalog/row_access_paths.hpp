// Ways to the rows of protected tables that the catalogs of the server show: what dp_audit names, and what a reviewer must not have.
#pragma once

#include "border/postgres.hpp"

namespace dp::catalog {

// WITH clauses that name what there is, for the tables of whoever may act for their owner ($1).
const char *subject_sql();

// A way by which somebody who can become one of these roles could see rows of the table, or could learn of them by a decision or an
// answer that they were looked at for; a phrase. Null: none that is known.
const char *way_to_rows(Oid relation, const List *roles);

} // namespace dp::catalog
