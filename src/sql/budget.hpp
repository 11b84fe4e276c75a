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
    privacy::Odometer odometer; // in the epoch that the settings have come to
    catalog::Counts counts;
    static constexpr int most = 8;
    Use uses[most];
    int n;
};

// False: the table is not protected, or has no odometer.
bool read_budget(Oid relation, Budget *budget);

} // namespace dp::sql
