// One visit to the extension's own tables: as their owner, under the latest snapshot (or for writing), through SPI.
#pragma once

#include "border/scope.hpp"
#include "border/spi.hpp"

namespace dp::catalog {

struct Visit {
    border::SettingsScope settings;
    border::RoleScope role;
    border::Spi spi;
    bool reading;

    // The latest snapshot, not the transaction's: a policy revoked a moment ago must not be honoured by an old
    // REPEATABLE READ transaction (B19).
    static Visit read();
    static Visit write();
    void leave() const;

    uint64 run(const char *sql, int nargs = 0, Oid *types = nullptr, Datum *values = nullptr,
               const char *nulls = nullptr) const {
        return spi.run(sql, reading, nargs, types, values, nulls);
    }
};

} // namespace dp::catalog
