// Tells the users of a connection apart to whom a pool lends it in turn.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// Called when the library is loaded.
void define_session_mark();

// Returns the number of this user's turn with the connection. A pool ends a turn by RESET ALL, or by DISCARD ALL, which runs it.
// Whoever remembers something from one statement to the next keeps this number beside it.
uint64 session_turn();

} // namespace dp::border
