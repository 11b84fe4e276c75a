// The odometer of a table and the shares of its roles, as their rows have them.
#pragma once

#include "privacy/epoch.hpp"

#include "catalog/lookup.hpp"

namespace dp::catalog {

// A row of dp_rdr.odometer, all of its columns.
privacy::Odometer odometer_of(const Row &row);

// The same, under a snapshot. False: there is none.
bool read_odometer(const Reading &reading, const char *id, privacy::Odometer *odometer);

// What was charged under policies of one grantee; of rho what was charged in this epoch. 0 without a row.
privacy::Totals read_share(const Reading &reading, const char *id, const char *grantee, int epoch);

} // namespace dp::catalog
