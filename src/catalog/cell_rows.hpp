// Reads the sums of the cells of a partition, of a table and of its roles (formulas.md, 5.9).
//
// A row of dp_rdr.odometer_cell has what its cell, and those behind it up to the next row, have beside what was charged to all.
#pragma once

#include "catalog/odometer.hpp"
#include "catalog/parameters.hpp"
#include "catalog/partition.hpp"

namespace dp::catalog {

constexpr int64 to_come = PG_INT64_MAX; // the number of the row for cells that have not begun, whose sums are their own

// The statements run as the ledger's writer, or in a visit.
struct CellReader {
    const border::Spi *writer;
    const Visit *visit;
    const char *id;      // of the domain
    const char *grantee; // '': of the table

    // Returns the largest sum of each kind in the cells of ranges. all: what was charged to all cells.
    privacy::CellSums largest_of(const Touched &touched, const privacy::CellSums &all) const;
    // Returns the sums of cells to come; 0 without a row.
    privacy::CellSums coming() const;
    // Finds the cells of ranges that refuse a charge, in stretches that ascend; of many only the first.
    DeniedCells refusing(const Touched &touched, const privacy::Refusal &refusal, const privacy::CellSums &all) const;
};

// Holds what the end of an epoch charges to all cells so far, and to those to come.
struct Closings {
    bool charged, by_cells;
    privacy::Loss all, coming;
};
// Computes it from each cell; of an account without cells from its sums.
Closings find_closings(const CellReader &reader, privacy::Account account, const privacy::Odometer &odometer,
                       const privacy::Spread &spread);

// Returns the sums of a cell when an epoch has ended.
privacy::CellSums closed(privacy::CellSums sums, const privacy::Loss &closing);

// Holds what the cells of an account are looked at with. Of an epoch that has ended meanwhile, with what its end will charge.
struct LookedCells {
    CellReader reader;
    privacy::Odometer odometer;
    privacy::Spread spread;
    Closings closings;
    bool ended;
    int partition;
    int64 begun; // the last cell that has
    privacy::CellSums now(const privacy::CellSums &sums, const privacy::Loss &closing) const {
        return ended ? closed(sums, closing) : sums;
    }
    // Runs statements in the visit from here on.
    void enter(const Visit *visit) {
        reader.visit = visit;
        if (ended)
            closings = find_closings(reader, privacy::Account::public_account, odometer, spread);
    }
};
// Reads them of a table, as it is in an epoch. False: it has no odometer.
bool read_cells(const Reading &reading, const char *id, int epoch, LookedCells *looked);

// Returns the sums that a row of the last result has from a column on.
privacy::CellSums sums_at(uint64 row, int column);
// Returns numbers as an array.
Typed numbers_of(const int64 *numbers, int n);

} // namespace dp::catalog
