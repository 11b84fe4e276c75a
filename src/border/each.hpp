// Goes through a List of pointers with a loop of C++, as foreach() does: what is appended meanwhile is met as well.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

template <class T> struct Each {
    struct Place {
        const List *list;
        int index;

        T *operator*() const { return static_cast<T *>(list_nth(list, index)); }
        void operator++() { index++; }
        bool operator!=(const Place &) const { return index < list_length(list); }
    };
    const List *list;

    Place begin() const { return Place{list, 0}; }
    Place end() const { return Place{list, 0}; }
};

template <class T> Each<T> each(const List *list) {
    return Each<T>{list};
}

} // namespace dp::border
