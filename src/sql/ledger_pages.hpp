// The protected table that a call about its ledger names.
#pragma once

#include "border/postgres.hpp"

namespace dp::sql {

struct ProtectedTable {
    Oid relation;
    Datum id; // uuid, of its domain
    const char *name; // qualified and quoted
};

// Returns the protected table that the caller named, itself or by a restricted view. 42501 unless it is the caller's: who may not
// look does not learn either whether there is anything to see.
ProtectedTable controlled_table(Oid argument);

class ResultRows;
// Puts a line about the partition of the table, if it has one, with the call that declares it again.
void put_partition(const ResultRows &rows, const ProtectedTable &table);

} // namespace dp::sql
