// Makes the totals of a table: new ones, or those that its ledger has.
#pragma once

#include "border/spi.hpp"
#include "catalog/settings.hpp"

namespace dp::catalog {

// The row of the odometer and of the shares, if there are none. A ledger whose totals are gone, after a restore of a part, gets
// them back from its rows.
void create_odometer_row(const border::Spi &spi, const Settings &settings);

// The sums of the ledger of the table $1, as what a WITH needs: account (public, conditional) and role, each by account, and their
// sums in a period (in_period; the grantee '' is the table), with the rows that those follow from (marked). Before them it needs now
// (epoch, whole): the epoch of the odometer, and whether all rows are read, as by dp_rdr.charges().
extern const char *const ledger_sums_sql;

// Returns a list of SQL for the public account, and behind it for the conditional one: their names, behind the prefix, stand for @.
const char *for_accounts(const char *text, const char *prefix = "");

} // namespace dp::catalog
