// Arrays of plain data in the current memory context.
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

template <class T> T *array_of(Size n) {
    return static_cast<T *>(palloc(sizeof(T) * n));
}

template <class T> T *zeroed(Size n = 1) {
    return static_cast<T *>(palloc0(sizeof(T) * n));
}

// Makes a copy of a record.
template <class T> T *copy_of(const T &record) {
    return new (palloc(sizeof(T))) T(record);
}

} // namespace dp::rows
