// Casts through text that may meet a row.
#pragma once

#include "query/total_entry.hpp"

namespace dp::query {

constexpr int cost_of_cast = 4000; // nanoseconds, of a thousand characters at most

// A cast through text (value::text, text::integer), for which PostgreSQL has no function of its own.
struct TotalCast {
    Oid from; // TEXTOID: all character types; ANYENUMOID: all enum types
    Oid to;
    const char *function; // of the schema dp_rdr
    const char *why;

    bool styled() const { // the function has the DateStyle for its second argument
        return from == DATEOID || from == TIMESTAMPOID || to == DATEOID || to == TIMESTAMPOID;
    }
};

// The table, for documentation and tests; null behind the last entry.
const TotalCast *total_cast(int index);
const TotalCast *find_total_cast(Oid from, Oid to);
// The function that a cast is replaced by.
Oid replacement_of(const TotalCast &cast);
// The call that takes the place of a cast of this argument. style: null for one that has none.
Node *call_of_cast(const TotalCast &entry, Node *argument, const CoerceViaIO *cast, const char *style);
// The entry of the function that stands for a cast that goes by DateStyle; null: it is none.
const TotalFunction *entry_of_cast(Oid function);

} // namespace dp::query
