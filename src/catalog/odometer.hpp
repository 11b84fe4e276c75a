// The odometer of a table and the shares of its roles, as their rows have them.
#pragma once

#include "privacy/epoch.hpp"

#include "catalog/lookup.hpp"

namespace dp::catalog {

// A row of dp_rdr.odometer, all of its columns.
privacy::Odometer odometer_of(const Row &row);

// Releases and denials of an account.
struct Counted {
    int64 releases, denials;
};
struct Counts {
    Counted of_public, of_conditional;
};

// A day as what the clock shows, and as it is stored: the moment at which it begins.
privacy::Day today();
privacy::Day to_day(TimestampTz moment);
TimestampTz to_moment(privacy::Day day);

// The same, under a snapshot. False: there is none.
bool read_odometer(const Reading &reading, const char *id, privacy::Odometer *odometer, Counts *counts = nullptr);

// What was charged under policies of one grantee, as it stands in this epoch. 0 without a row. (It has no delta of its own.)
privacy::Totals read_share(const Reading &reading, const char *id, const char *grantee, int epoch);

} // namespace dp::catalog
