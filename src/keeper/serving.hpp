// Requests on their way through a keeper: prepared, charged, and only then read.
#pragma once

#include "border/postgres.hpp"

namespace dp::keeper {

// Takes what is pending, charges it in one commit, and answers all that is charged and may be read by this keeper.
// Raises nothing but what ends the process.
void serve();

// Gives the locks and the memory of requests back that another keeper has answered.
void release_locks();

} // namespace dp::keeper
