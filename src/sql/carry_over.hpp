// Declarations that go on to a table or view that was made anew.
#pragma once

#include "catalog/access.hpp"
#include "sql/domain_members.hpp"

namespace dp::sql {

// All that the catalog says of a table or view says it of another one from now on.
void move_declarations(Oid from, Oid to);

// Carries declarations over to a view that is not registered, and to its table, from earlier ones of their names. These must have
// gone together, or the earlier table lives on as the shard of this one: Citus makes tables anew, with the views over them.
// Roles with a policy may then select from the view. Without an earlier view does nothing.
void carry_over(Oid view);

// Gives the totals of a protected table its present owner, where they have another.
void refresh_owner(Oid relation);

// Stores the names by which carry_over() finds a view and its table. The totals get the table's owner.
void remember_names(Oid view, Oid relation);

// A condition on the totals o of a domain, for statements whose $2 is a role, and $3 whether a superuser calls: they are that role's. It
// owns a table of the domain; where none is left, it was the owner at the last charge, or a superuser takes over from one that is gone.
const char *owned_sql(const char *domain);

struct Identity {
    const char *id; // of the domain
    bool odometer;  // has its odometer row
    bool history;   // had charges or a facade before
    bool lost;      // and of some of it nobody knows whose total counts it
    bool known;     // already in protected_table
};

// unit: null where a row is one. 55000 where an earlier table of this name was asked about with other units, or as another role's.
Identity find_identity(const catalog::Visit &visit, Oid relation, const Unit *unit);

} // namespace dp::sql
