// Finds the totals of a table that is protected: those of its domain, of an earlier table of its name, or new ones.
#pragma once

#include "sql/domain_members.hpp"

namespace dp::sql {

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
