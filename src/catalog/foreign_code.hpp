// Code of a user's that PostgreSQL would run while it reads a table or a text: index expressions, CHECK constraints,
// statistics, partition keys, input functions. It would run in the session of whoever asks, with the rights of the
// table's owner, and see the temporary tables of the one while it has the rights of the other (architecture.md, 3.6).
#pragma once

#include "border/postgres.hpp"

namespace dp::catalog {

// Where the planner would run code of a user's for one relation, in words, with the remedy in *remedy; null: nowhere.
// Nothing is evaluated to find out.
const char *foreign_code(Oid relation, const char **remedy);

// Whether the expression calls anything but functions of the server's own.
bool has_foreign_code(Node *expression);

// Whether reading a literal of the type may run code of a user's: composite types, arrays and ranges of domains, ranges
// with functions of their own. A domain itself is harmless: its literal is read as one of its base type.
bool input_runs_code(Oid type);

// Made with the server, or in C by a superuser: a compiled function looks nothing up in anybody's search_path.
bool is_compiled(Oid function);

} // namespace dp::catalog
