// Returns records and what they risk as rows of a set-returning function.
#pragma once

#include "border/guard.hpp"
#include "risk/memo.hpp"

namespace dp::sql {

// Two numbers of a record, or of people outside the WHERE (record memo->nrecords): columns 3 and 4 of the result.
struct RecordNumbers {
    void (*of)(void *context, int64 record, double *third, double *fourth);
    void *context;
    bool has_fourth; // else NULL
};
// (record, individuals, third, fourth), riskiest first: by numbers `by` (0 or 1), then by the others; people outside last. The
// memo has Detail::records. What does not fit into work_mem is sorted on disk.
void put_records(ReturnSetInfo *result, const risk::Memo *memo, const RecordNumbers &numbers, int by);

} // namespace dp::sql
