// Answers requests that are charged: rows are read here, and what was charged stays, whatever happens.
#pragma once

#include "keeper/one_request.hpp"

namespace dp::keeper {

// Limits the wait for an index or a partition that is newer than the locks of a request that can be read later.
constexpr const char *for_now = "300ms";

// Ends a request that was not charged, or whose charge is all that was asked for. Returns false if it goes on.
bool ends_with_charge(Request *request);
// Reads the rows, and sends the answer. Sets in_the_way where it is to be read later.
void answer(Request *request);
// Does all that comes behind the first charge, for a request whose charges depend on the rows, or whose answer goes elsewhere.
void answer_alone(Request *request);

} // namespace dp::keeper
