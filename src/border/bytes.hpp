// Messages between processes: values one behind the other, as this machine holds them. A reader takes no byte beyond the end.
#pragma once

#include <type_traits>

#include "border/postgres.hpp"

namespace dp::border {

struct Writer {
    StringInfoData bytes;

    static Writer begin();
    template <class T> void put(const T &value) {
        static_assert(std::is_trivially_copyable_v<T>);
        appendBinaryStringInfo(&bytes, reinterpret_cast<const char *>(&value), sizeof value);
    }
    void put_bytes(const void *data, Size size); // without its size
    void put_text(const char *text);             // null is kept
    void put_datum(Datum value, bool isnull, Oid type);
};

struct Reader {
    const char *at, *end;

    // XX000 when there are fewer bytes left.
    const char *take_bytes(Size size);
    template <class T> T take() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        memcpy(&value, take_bytes(sizeof value), sizeof value);
        return value;
    }
    // Returns the number of elements that are said to follow, each of a byte at least. XX000 when there are fewer bytes left.
    int checked_count(int n) const;
    const char *take_text();                  // a copy
    Datum take_datum(bool *isnull, Oid type); // a copy
};

} // namespace dp::border
