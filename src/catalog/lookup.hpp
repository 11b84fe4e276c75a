// Rows of the extension's own tables by their keys, without SQL: settings are read for every question, and a statement costs
// twenty times as much to start. Nothing is checked here; who may see what is the caller's business.
#pragma once

#include "catalog/access.hpp"

namespace dp::catalog {

// A row that was found; lives as long as its Lookup is open.
struct Row {
    HeapTuple tuple;
    TupleDesc columns;

    // By name: another version of the schema may have other columns.
    Datum value(const char *column, bool *isnull) const;
    // For columns that are NOT NULL.
    Datum value(const char *column) const;
    char *string(const char *column) const; // of a text column, or null
    // Which version of the row it is. PostgreSQL never changes a row, it puts another version in its place, with another
    // xmin or elsewhere: the same version has the same content.
    void append_version(StringInfo versions) const;
};

// One table under a snapshot.
struct Lookup {
    border::UsageScope usage;
    border::UncountedScope uncounted;
    Relation table;
    Oid key; // the primary key's index
    Snapshot snapshot;

    static Lookup open(const char *table, const Reading &reading);
    void close() const;
    // The rows with these first columns of the primary key, in its order: Row *. The second one is optional.
    List *rows(Datum first, Oid second = InvalidOid) const;
    List *rows(Datum first, const char *second) const;
    List *rows(Datum first, Oid second, Datum third) const; // a bytea
    // Finds rows by number, from `last` down to the first one that is not above `first`.
    List *rows_between(Datum uuid, const char *second, int64 first, int64 last) const;
    // The rows with this uuid in a column, by an index on it.
    List *rows_with(const char *column, Datum uuid, const char *index) const;
};

// The only row, or null.
inline const Row *only(List *rows) {
    return rows == NIL ? nullptr : static_cast<const Row *>(linitial(rows));
}

} // namespace dp::catalog
