// Finds sessions that wait for locks which a keeper holds.
#pragma once

#include "border/postgres.hpp"

namespace dp::keeper {

// Whether somebody waits for a lock on one of these relations, of a mode that AccessShareLock is in the way of. A session that
// holds a lock is granted it again past such a waiter, who would never come to his turn.
bool is_waited_for(const List *relations);

} // namespace dp::keeper
