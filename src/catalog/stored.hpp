// Answers that were paid and may be given again (formulas.md 4.3; policy.replay): the rows of dp_rdr.stored_answer.
#pragma once

#include "border/spi.hpp"
#include "catalog/access.hpp"

namespace dp::catalog {

// Whose answer to which question: all that two questions must have in common to be given the same numbers.
struct StoredKey {
    pg_uuid_t table;
    Oid grantee; // of the policy
    Datum hash;  // a bytea
};

// Holds what is stored of an answer, as columns.
struct StoredAnswer {
    Datum charged;       // a jsonb
    ArrayType *groups;   // text[]; null: the groups are declared
    ArrayType *numbers;  // numeric[]
    TimestampTz at;      // when it was drawn; where one is to be stored, it is set by the writer
    TimestampTz expires; // likewise
};

// One that is to be stored.
struct Storing {
    StoredKey key;
    StoredAnswer answer;
    const Interval *replay;
};

// The oldest one that is valid now: drawn at most `replay` ago, whatever was in force when it was stored. Null: none.
const StoredAnswer *find_stored(const Reading &reading, const StoredKey &key, const Interval &replay);
// How often the answers about a table were forgotten.
int64 times_forgotten(const Reading &reading, const pg_uuid_t &table);

// Stores an answer, as the extension's owner, in the writer's transaction; deletes what has expired. Waits for nobody.
void put_stored(const border::Spi &spi, const Storing &what);

} // namespace dp::catalog
