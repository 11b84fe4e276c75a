// Sums of the cells of a partition, of the table and of its roles (formulas.md, 5.9).
//
// The sums of odometer and shares are those of the cell that has most. `most` of them was not charged to all cells; the rest was. What a
// cell has beside that stands in dp_rdr.odometer_cell, so a charge on all cells moves none of its rows.
#pragma once

#include "catalog/ledger_decide.hpp"

namespace dp::catalog {

// Brings the odometer to the partition that its table has, and to the cells that have begun by the clock of a question. partition: null if
// none was ever declared.
void enter_cells(const border::Spi &spi, const Partition *partition, const Touched *touched, OpenOdometer *odometer);
// Puts in the place of the sums those of the touched cells, the largest of each column.
void stand_on_cells(const border::Spi &spi, const Charge &what, const OpenOdometer &odometer, Standpoint *point);
// Adds a charge that is accepted to the touched cells, and leaves by how much it raises the sums of those that have most.
void charge_cells(const border::Spi &spi, const Charge &what, const Standpoint &point, OpenOdometer *odometer,
                  Price *price);
// Finds which touched cells a total or a share denied.
void find_denied_cells(const border::Spi &spi, const Charge &what, const Standpoint &point,
                       const OpenOdometer &odometer, const privacy::Cost &cost, privacy::Denial denial,
                       Verdict *verdict);

// Does so for a question that is only looked at, to the sums of its table and of its role.
void look_at_cells(const Reading &reading, const char *id, const char *grantee, const Touched &touched,
                   privacy::Totals *table, privacy::Totals *role);

} // namespace dp::catalog
