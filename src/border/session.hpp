// What a pool of connections makes of one session.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// Called when the library is loaded.
void define_session_mark();

// Returns the number of this user's turn with the connection. RESET ALL begins another, and so does DISCARD ALL, which runs it: so a
// pool hands a connection on. What is remembered from one statement to the next is remembered with it.
uint64 session_turn();

} // namespace dp::border
