// Reads rows that were stored or sorted, and begins to sort some.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// Says by which column rows are sorted: in the default order of its type.
struct SortColumn {
    int number; // from 0
    Oid collation = InvalidOid;
    bool descending = false, nulls_first = false;
};

Tuplesortstate *begin_sort(TupleDesc desc, const SortColumn *columns, int n, int options = TUPLESORT_NONE);

inline bool next_row(Tuplestorestate *from, TupleTableSlot *slot) {
    return tuplestore_gettupleslot(from, true, false, slot);
}
inline bool next_row(Tuplesortstate *from, TupleTableSlot *slot) {
    return tuplesort_gettupleslot(from, true, false, slot, nullptr);
}

// Passes on each row, from where it stands to the end.
template <class From, class Take> void each_stored_row(From *from, TupleDesc desc, Take &&take) {
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
    while (next_row(from, slot)) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        take(slot);
    }
    ExecDropSingleTupleTableSlot(slot);
}

// Likewise, each in memory that is reset behind it: there may be any number of rows.
template <class From, class Take> void each_row_in_scratch(From *from, TupleDesc desc, Take &&take) {
    MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr row", ALLOCSET_DEFAULT_SIZES);
    each_stored_row(from, desc, [&](const TupleTableSlot *slot) {
        MemoryContext old = MemoryContextSwitchTo(scratch);
        take(slot);
        MemoryContextSwitchTo(old);
        MemoryContextReset(scratch);
    });
    MemoryContextDelete(scratch);
}

} // namespace dp::border
