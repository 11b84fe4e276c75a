// One visit to the extension's own tables: as their owner, under the latest snapshot (or for writing), through SPI.
#pragma once

#include "border/each.hpp"
#include "border/scope.hpp"
#include "border/spi.hpp"

namespace dp::catalog {

// One snapshot for everything that one query reads of its settings (architecture.md, decision 9): what is fingerprinted
// is what is used, also when somebody changes a setting and changes it back meanwhile. The latest snapshot, not the
// transaction's: a policy revoked a moment ago must not be honoured by an old REPEATABLE READ transaction (B19). It shows
// the caller's own open changes as well; the writer does not see those and refuses ("the settings are changing").
struct Reading {
    Snapshot snapshot;
    static Reading open();
    void close() const; // after an error the resource owner closes it
};

// 25006 in a read-only transaction, in the place of the server's own error, which would show the statement that writes.
void check_writable();

struct Visit {
    border::UsageScope usage; // EXPLAIN (BUFFERS) would show how much there is that the caller may not see
    border::SettingsScope settings;
    border::RoleScope role;
    border::Spi spi;
    bool reading;

    static Visit read(); // a single look, under the latest snapshot
    static Visit read(const Reading &reading);
    static Visit write();
    void leave() const;

    uint64 run(const char *sql, int nargs = 0, Oid *types = nullptr, Datum *values = nullptr,
               const char *nulls = nullptr) const {
        return spi.run(sql, reading, nargs, types, values, nulls);
    }
    uint64 run(border::Statement &statement, int nargs = 0, Oid *types = nullptr, Datum *values = nullptr,
               const char *nulls = nullptr) const {
        return spi.run(statement, reading, nargs, types, values, nulls);
    }
};

} // namespace dp::catalog
