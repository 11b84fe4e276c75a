// Epochs of a bound in rho in the ledger (formulas.md 5.6).
#pragma once

#include "catalog/ledger_sums.hpp"

namespace dp::catalog {

// At a charge under zcdp: what its epoch promises follows from the totals in force. Returns these, as jsonb for the charge's row,
// where it promises more than before; else 0.
Datum raise_claim(privacy::Account account, const privacy::BoundSettings &bound, OpenOdometer *odometer);
// Ends the odometer's epoch at the first request of a later one, also if it is then denied.
void enter_epoch(const border::Spi &spi, const Settings &settings, int epoch, OpenOdometer *odometer);

} // namespace dp::catalog
