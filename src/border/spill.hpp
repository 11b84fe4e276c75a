// Arrays that grow with the rows that are read: beyond their share of memory they wait in a temporary file. Made for one
// pass after another from the first thing to the last; any other order is right, too, and slow.
#pragma once

#include <type_traits>

#include "border/postgres.hpp"

namespace dp::border {

// The bytes of a Spill. Belongs to a memory context, which closes the file when it goes, also after an error.
struct SpillBytes {
    Size item;
    int64 count;   // things
    char *window;  // those from `first` on, aligned in `memory`
    char *memory;  //
    int64 first;   //
    int64 room;    // of the window
    bool changed;  // the window, since it was read
    int64 in_file; // so many of the first have a place in the file
    File file;     // -1: everything is in the window
    Size most;     // bytes of the window
    MemoryContext context;
};

SpillBytes *make_spill(Size item, Size memory);
// Moves the window to a thing that there is, or to the one behind the last. Errors: those of files.
void move_window(SpillBytes *spill, int64 i);
// From the start again; what was there is forgotten.
void empty_spill(SpillBytes *spill);

inline void *spill_place(SpillBytes *spill, int64 i) {
    if (static_cast<uint64>(i - spill->first) >= static_cast<uint64>(spill->room))
        move_window(spill, i);
    return spill->window + static_cast<Size>(i - spill->first) * spill->item;
}

// Holds `width` things of a type at each index. A pointer holds until another index is asked for.
template <class T> struct Spill {
    static_assert(std::is_trivially_copyable_v<T>, "what goes to a file is copied as bytes");
    SpillBytes *bytes;

    static Spill make(int width, Size memory) { return Spill{make_spill(sizeof(T) * Max(width, 1), memory)}; }
    int64 count() const { return bytes->count; }
    const T *at(int64 i) const { return static_cast<const T *>(spill_place(bytes, i)); }
    T *change(int64 i) const {
        void *place = spill_place(bytes, i);
        bytes->changed = true;
        return static_cast<T *>(place);
    }
    // One more, zeroed.
    T *append() const {
        void *place = spill_place(bytes, bytes->count);
        memset(place, 0, bytes->item);
        bytes->count++;
        bytes->changed = true;
        return static_cast<T *>(place);
    }
};

} // namespace dp::border
