// What is used of the totals of a protected table, for its owner.
#pragma once

#include "catalog/odometer.hpp"
#include "catalog/settings.hpp"

namespace dp::sql {

// A total and what public charges have used of it. Decisions of DP modes are made on these (formulas.md 5.2).
struct Use {
    const char *name;                // of the setting
    const char *used, *total, *left; // decimals
    int percent;                     // rounded up, at most 999
};

struct Budget {
    privacy::BoundSettings bound;
    privacy::Odometer odometer; // in the epoch that the settings have come to, and the periods of now
    const char *period_end;     // of the public account, in UTC; or null
    catalog::Counts counts;
    static constexpr int most = 8;
    Use uses[most];
    int n;
};

// The first day behind the period that the sums of an account are in (of standing()); null without one.
const char *end_of_period(const privacy::BoundSettings &bound, const privacy::Spent &spent);

// False: the table is not protected, or has no odometer.
bool read_budget(Oid relation, Budget *budget);

} // namespace dp::sql
