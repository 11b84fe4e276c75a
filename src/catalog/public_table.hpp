// Public tables: what is no secret, and may be joined with the tables of a domain (formulas.md, 9.8). Nothing of the guarantee rests
// on what is in their rows, but that no row comes from private ones; all of it rests on what PostgreSQL does when it plans and reads
// them, as the owner of the private rows.
#pragma once

#include "catalog/access.hpp"
#include "catalog/relations.hpp"

namespace dp::catalog {

// Declared for these people.
bool is_public_table(const Reading &reading, Oid relation, const pg_uuid_t &domain);

// Refuses (55000, with the remedy) what cannot be a public table beside tables of this owner, or no longer can: other kinds than plain
// and partitioned tables and materialized views; what is not permanent, a part of another table, protected, or has a protected
// part; rows that another server keeps; row security; parts of a role that is neither the owner nor a superuser; code of a user's that
// the planner would run (foreign_code.hpp); columns whose literals may run such code; foreign keys to protected tables; a materialized
// view that reads one. Returns the table and all its partitions and children, locked. Its cost is that of planning.
List *check_public(Oid relation, Oid owner);

// The query of a view that projects plain columns of one public table and does nothing else, copied, with the permissions on the table
// that the server checks; null: the relation is none such.
Query *public_view(Oid relation);

} // namespace dp::catalog
