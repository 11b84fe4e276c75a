// One row of the ledger: what it says, and its place in the chain.
#pragma once

#include "privacy/cell_sums.hpp"
#include "privacy/epoch.hpp"

#include "border/spi.hpp"
#include "catalog/ledger.hpp"

namespace dp::catalog {

// Says what one charge comes to.
struct Price {
    privacy::Cost cost;
    privacy::Epsilon selection; // what of its epsilon paid for a selection
    privacy::Epsilon worst;     // the most that the round could have come to
    privacy::Delta delta_noise; // what Gaussian noise was calibrated at
    privacy::Basis basis;       // which sum it moves
    int epoch;
    Datum totals;   // a jsonb: under zcdp those in force, if they raise what the epoch promises; else 0
    Datum period;   // a jsonb: the period that it is in, else 0
    TimestampTz at; // what the clock showed when it was decided
    // Says of a charge on some cells by how much it raised the sums of those that have most, of the table and of the role.
    bool by_cells;
    privacy::CellSums raised, raised_role;
    Datum cells; // a jsonb: on which cells it is, where no question says so; else 0
};

// Writes the row behind the one with the hash `head`, a bytea, and returns its own hash.
Datum write_ledger_row(const border::Spi &spi, const Entry &entry, const Price &price, Datum head);

// Tells whether a row moves sums from one place to another: nothing is released with it.
bool is_carried(const Charge &what);

// Returns what is kept of a query's text: all of it, or the beginning, with the length and the hash of all.
const char *kept_query(const char *query);

// Names as they are now, or what stands for what is gone.
const char *role_name(Oid role);
const char *name_or(Oid relation, const char *otherwise);

} // namespace dp::catalog
