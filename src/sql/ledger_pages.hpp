// The protected table that a call about its ledger names, and how much of its totals is used.
#pragma once

#include "catalog/odometer.hpp"
#include "catalog/partition.hpp"
#include "catalog/settings.hpp"

namespace dp::sql {

struct ProtectedTable {
    Oid relation;
    Datum id; // uuid, of its domain
    const char *name; // qualified and quoted
};

// Returns the protected table that the caller named, itself or by a restricted view. 42501 unless it is the caller's: who may not
// look does not learn either whether there is anything to see.
ProtectedTable controlled_table(Oid argument);

[[noreturn]] void refuse_no_partition(const char *table);
// Returns the partition of the table; null without one.
const catalog::Partition *declared_partition(const ProtectedTable &table);
class ResultRows;
// Puts a line about the partition of the table, if it has one, with the call that declares it again.
void put_partition(const ResultRows &rows, const ProtectedTable &table);

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
