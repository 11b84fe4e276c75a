// Weighs charges against the sums of an odometer, and of the cells that they touch.
#pragma once

#include "catalog/ledger_decide.hpp"

namespace dp::catalog {

// Returns the sums as they stand now, with those of the cell that has most.
Standpoint standpoint_of(const Basis *basis, const OpenOdometer &odometer);
// Decides on a charge or a selection: leaves in *cost what it costs, or in *denial why it is denied. Of a selection the candidates that are
// left, and its price, are in the verdict. False: its cells are too many to look into now (Outcome::unlooked).
bool weigh(const border::Spi &spi, const Entry &entry, OpenOdometer *odometer, Standpoint *point, Verdict *verdict,
           privacy::Cost *cost, privacy::Denial *denial);

} // namespace dp::catalog
