// Keeps the sums of cells while a batch of charges is decided: rows are read once, moved in memory and written at once (formulas.md, 5.9).
#pragma once

#include "privacy/cell_sums.hpp"

#include "catalog/lookup.hpp"
#include "catalog/parameters.hpp"
#include "catalog/partition.hpp"

namespace dp::catalog {

// Holds some rows of dp_rdr.odometer_cell of one domain: of each stretch that was read the one at its beginning or before it, and all up to the
// first cell behind it. Lives as long as the transaction, so what is not committed is forgotten with it.
struct BatchCells {
    struct CellRow {
        const char *grantee;
        int64 first;
        privacy::CellSums sums;
        bool moved; // it is not written
    };
    CellRow *rows; // by grantee and cell
    int n, capacity;
    bool is_read; // what the batch touches is among them

    // Reads what the stretches need of dp_rdr.odometer_cell, whose rows are looked up.
    void read(const Lookup &table, Datum id, const char *grantee, const Touched &touched);
    // Adds to the touched cells, whose rows were read. begun: the last cell that has begun, behind which there are none. Returns the largest sums
    // that they have then, beside what was charged to all, and counts their rows.
    privacy::CellSums add(const char *grantee, const Touched &touched, int64 begun, const privacy::CellSums &added,
                          int *nrows);
    // Writes what has moved, for statements that read rows.
    void write(const border::Spi &spi, const char *id);
    // Does so and forgets all, for statements that change rows.
    void leave(const border::Spi &spi, const char *id);

  private:
    void reserve_one();
    int place_of(const char *grantee, int64 first);
};

} // namespace dp::catalog
