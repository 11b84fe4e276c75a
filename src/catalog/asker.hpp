// Whose request it is. The roles that a policy is looked up for and that the ledger names come with the request and are
// never asked of the process that serves it: that one may act for others.
#pragma once

#include "border/postgres.hpp"

namespace dp::catalog {

struct Asker {
    Oid role, session_role;
};

// That of this session. Only what serves its own session may ask.
inline Asker current_asker() {
    return Asker{GetUserId(), GetSessionUserId()};
}

} // namespace dp::catalog
