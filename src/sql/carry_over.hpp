// Declarations that go on to a table or view that was made anew.
#pragma once

#include "border/postgres.hpp"

namespace dp::sql {

// All that the catalog says of a table or view says it of another one from now on.
void move_declarations(Oid from, Oid to);

// Of a view that is not registered: where an earlier one of its name went together with its table, or that table lives on as the
// shard of this one (Citus makes tables anew, with the views over them), all that was declared of both goes on, and whoever
// has a policy may select from the view. Else nothing is done.
void carry_over(Oid view);

// By which they are found then.
void remember_names(Oid view, Oid relation);

} // namespace dp::sql
