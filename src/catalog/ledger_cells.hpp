// Charges the cells of a partition, of the table and of its roles (formulas.md, 5.9).
//
// The sums of odometer and shares are those of the cell that has most, of each sum by itself. A charge on all cells moves none of the rows that
// say what cells have beside it.
#pragma once

#include "catalog/cell_rows.hpp"
#include "catalog/ledger_decide.hpp"

namespace dp::catalog {

// Brings the odometer to the partition that its table has, and to the cells that have begun by the clock of a question. partition: null if
// none was ever declared.
void enter_cells(const border::Spi &spi, const Settings &settings, const Partition *partition, const Touched *touched,
                 OpenOdometer *odometer);
// Forgets what cells have in the epoch that ends, when it was closed.
void begin_epoch_of_cells(const border::Spi &spi, OpenOdometer *odometer);

// Tells whether a charge is on some of the cells; one on all that have begun moves the sums alone.
bool is_on_cells(const Charge &what, const OpenOdometer &odometer);
// Tells whether there are so many of them that others should not wait until they are looked into.
bool is_on_many_cells(const Charge &what);
// Decides for all cells at once, with the largest sum of each kind.
void stand_on_all(const OpenOdometer &odometer, Standpoint *point);
// Puts in their place those of the touched cells, the largest of each kind.
void stand_on_cells(const border::Spi &spi, const Charge &what, OpenOdometer *odometer, Standpoint *point);
// Looks into each touched cell where the largest sums have denied a charge. Returns why one denies it, and leaves which do.
privacy::Denial look_into_cells(const border::Spi &spi, const Charge &what, const Standpoint &point,
                                OpenOdometer *odometer, const privacy::Cost &cost, privacy::Denial denial,
                                Verdict *verdict);
// Adds a charge that is accepted to the touched cells, and leaves by how much it raises the sums of those that have most.
void charge_cells(const border::Spi &spi, const Charge &what, const Basis &basis, OpenOdometer *odometer, Price *price);

// Describes a charge on all cells so far that no question makes, as jsonb.
Datum describe_all(const OpenOdometer &odometer);
// Adds one to what cells to come begin with, and describes it as a charge on these alone.
void charge_coming(const border::Spi &spi, const OpenOdometer &odometer, Price *price);

// Sets sums to those of the touched cells, as they stand in an epoch, for a question that is only looked at.
void look_at_cells(const Reading &reading, const char *id, const char *grantee, const Touched &touched, int epoch,
                   privacy::Totals *table, privacy::Totals *role);

} // namespace dp::catalog
