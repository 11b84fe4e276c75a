// Reads how much of the totals of a protected table is used.
#pragma once

#include "catalog/odometer.hpp"
#include "catalog/settings.hpp"

namespace dp::sql {

struct Budget {
    privacy::BoundSettings bound;
    privacy::Odometer odometer; // in the epoch that the settings have come to, and the periods of now
    catalog::Counts counts;
};

// Returns the first day after the period that the sums of an account are in (of standing()); null without one.
const char *end_of_period(const privacy::BoundSettings &bound, const privacy::Spent &spent);

// False: the table is not protected, or has no odometer.
bool read_budget(Oid relation, Budget *budget);

} // namespace dp::sql
