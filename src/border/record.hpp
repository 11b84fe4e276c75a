// Writes records as bytes and reads them again, by one list of their members.
//
// A record has a function in its own namespace that names its members once, in the order of the bytes:
//     template <class V> void fields(V &visit, Wish &wish) { visit(wish.relation, wish.view, wish.fingerprint); }
// Members are numbers, enums, texts (null is kept), optional values, arrays, vectors, and records again.
#pragma once

#include <optional>
#include <vector>

#include "border/bytes.hpp"
#include "border/guard.hpp"

namespace dp::border {

// Tells whether a value is copied as its bytes: a number, an enum, an exact decimal. Another struct is not: its gaps hold what is on
// this process's stack.
template <class T, class = void> constexpr bool is_plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T> constexpr bool is_plain<T, std::void_t<decltype(T::from_units(0))>> = true;

// Exchanges members with bytes: a Writer gets them, a Reader gives them. Its functions are a backend region.
template <class Bytes> struct Exchange {
    static constexpr bool reads = std::is_same_v<Bytes, Reader>;
    Bytes *bytes;

    template <class... T> void operator()(T &...members) { (exchange(members), ...); }

    // Exchanges n elements behind each other; null is kept.
    template <class T> void list(int n, T *&items) {
        bool there = items != nullptr;
        exchange(there);
        if constexpr (reads)
            items = there ? static_cast<T *>(palloc(sizeof(T) * (bytes->checked_count(n) + 1))) : nullptr;
        for (int i = 0; there && i < n; i++)
            exchange(items[i]);
    }

    void datum(Datum &value, bool &isnull, Oid type) {
        if constexpr (reads)
            value = bytes->take_datum(&isnull, type);
        else
            bytes->put_datum(value, isnull, type);
    }

  private:
    template <class T> void exchange(T &member) {
        if constexpr (!is_plain<T>)
            fields(*this, member);
        else if constexpr (reads)
            member = bytes->template take<T>();
        else
            bytes->put(member);
    }

    void exchange(const char *&text) {
        if constexpr (reads)
            text = bytes->take_text();
        else
            bytes->put_text(text);
    }

    template <class T, Size n> void exchange(T (&items)[n]) {
        for (T &item : items)
            exchange(item);
    }

    template <class T> void exchange(std::optional<T> &member) {
        bool there = member.has_value();
        exchange(there);
        if constexpr (reads)
            member = there ? std::optional<T>(T()) : std::nullopt;
        if (there)
            exchange(*member);
    }

    // Exchanges a record that stands elsewhere. It is there.
    template <class T> void exchange(const T *&record) {
        if constexpr (reads)
            record = static_cast<const T *>(palloc0(sizeof(T)));
        exchange(const_cast<T &>(*record));
    }

    // Exchanges a vector of the core. Null comes back as an empty one.
    template <class T> void exchange(const std::vector<T> *&items) {
        int n = items == nullptr ? 0 : static_cast<int>(items->size());
        exchange(n);
        if constexpr (reads) {
            bytes->checked_count(n);
            auto *taken = context_new<std::vector<T>>();
            core([&] { taken->resize(n); });
            items = taken;
        }
        for (int i = 0; i < n; i++)
            exchange(const_cast<T &>((*items)[i]));
    }
};

template <class T> void put_record(Writer *writer, const T &record) {
    Exchange<Writer> visit{writer};
    fields(visit, const_cast<T &>(record));
}

// Returns a record with these members; others are 0. XX000 for bytes that are none.
template <class T> T take_record(Reader *reader) {
    T record = {};
    Exchange<Reader> visit{reader};
    fields(visit, record);
    return record;
}

} // namespace dp::border
