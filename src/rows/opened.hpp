// The relations that a plan over tables opens.
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

// Locks what a plan over the tables may open, and returns it: of each table its indexes, its TOAST table and the indexes of that.
// Whoever rebuilds a table takes its locks in that order, so nobody meets him from the other side. AccessShareLock, to the end of
// the transaction; lock_timeout goes for each. Errors: 58P01 where a file of one is not there.
List *lock_opened(const List *tables);

} // namespace dp::rows
