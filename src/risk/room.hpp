// Arrays that grow with the records that are read.
#pragma once

#include "border/postgres.hpp"

namespace dp::risk {

// Room for n things, zeroed from the old end on.
template <class T> T *grown(MemoryContext context, T *old, int64 before, int64 n) {
    auto *place = static_cast<T *>(old == nullptr ? MemoryContextAllocHuge(context, sizeof(T) * (n + 1))
                                                  : repalloc_huge(old, sizeof(T) * (n + 1)));
    memset(static_cast<void *>(place + before), 0, sizeof(T) * (n + 1 - before));
    return place;
}

} // namespace dp::risk
