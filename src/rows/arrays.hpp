// Arrays of plain data in the current memory context.
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

// Returns room for n, which holds nothing yet.
template <class T> T *array_of(Size n) {
    return static_cast<T *>(palloc(sizeof(T) * n));
}

// Returns n of which each byte is 0.
template <class T> T *zeroed(Size n = 1) {
    return static_cast<T *>(palloc0(sizeof(T) * n));
}

} // namespace dp::rows
