// Short statements against the extension's own tables, and leave-one-out queries, through SPI.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// A statement against the extension's own tables whose plan is kept for the life of the process. For static storage only:
// there is one plan for one text. It is planned once, without looking at its parameters, under the settings that are
// pinned when it runs, and again when something that it names changes. Its parameters have the same types each time.
struct Statement {
    const char *text;
    SPIPlanPtr plan = nullptr;
    explicit constexpr Statement(const char *sql) : text(sql) {}
};

// SPI_connect ... SPI_finish around statements; results live until finish(). On an error the transaction abort cleans up.
struct Spi {
    MemoryContext caller; // where results that must survive finish() are copied
    bool by_keys = false; // statements without a kept plan find rows by the keys of tables, as those with one do
    static Spi connect();
    void finish() const;

    // Runs one statement with text-free parameters; nulls may be null. Returns the number of rows (SPI_processed).
    // read_only: under the active snapshot; else under a new one, after a command counter increment.
    uint64 run(const char *sql, bool read_only, int nargs = 0, Oid *types = nullptr, Datum *values = nullptr,
               const char *nulls = nullptr) const;

    // Runs a statement by its kept plan.
    uint64 run(Statement &statement, bool read_only, int nargs = 0, Oid *types = nullptr, Datum *values = nullptr,
               const char *nulls = nullptr) const;

    // Column (1-based) of row (0-based) of the last result.
    static Datum value(uint64 row, int column, bool *isnull);
    // Copies a text-like or any other column's output text into the caller's context; null for NULL.
    char *text(uint64 row, int column) const;
};

} // namespace dp::border
