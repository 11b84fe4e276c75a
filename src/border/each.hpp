// Goes through a List with a loop of C++, as foreach() does: what is appended meanwhile is met as well.
#pragma once

#include <type_traits>

#include "border/postgres.hpp"

namespace dp::border {

// Value: a pointer, or Oid.
template <class Value> struct Each {
    struct Place {
        const List *list;
        int index;

        Value operator*() const {
            if constexpr (std::is_pointer_v<Value>)
                return static_cast<Value>(list_nth(list, index));
            else
                return list_nth_oid(list, index);
        }
        void operator++() { index++; }
        bool operator!=(const Place &) const { return index < list_length(list); }
    };
    const List *list;

    Place begin() const { return Place{list, 0}; }
    Place end() const { return Place{list, 0}; }
};

template <class T> Each<T *> each(const List *list) {
    return Each<T *>{list};
}

inline Each<Oid> each_oid(const List *list) {
    return Each<Oid>{list};
}

} // namespace dp::border
