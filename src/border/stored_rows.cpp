#include "border/stored_rows.hpp"

namespace dp::border {

Tuplesortstate *begin_sort(TupleDesc desc, const SortColumn *columns, int n, int options) {
    auto *numbers = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * n));
    auto *operators = static_cast<Oid *>(palloc(sizeof(Oid) * n)), *collations = static_cast<Oid *>(palloc(sizeof(Oid) * n));
    auto *nulls_first = static_cast<bool *>(palloc(sizeof(bool) * n));
    for (int i = 0; i < n; i++) {
        const Oid type = TupleDescAttr(desc, columns[i].number)->atttypid;
        const TypeCacheEntry *order = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
        numbers[i] = static_cast<AttrNumber>(columns[i].number + 1);
        operators[i] = columns[i].descending ? order->gt_opr : order->lt_opr;
        collations[i] = columns[i].collation;
        nulls_first[i] = columns[i].nulls_first;
    }
    return tuplesort_begin_heap(desc, n, numbers, operators, collations, nulls_first, work_mem, nullptr, options);
}

} // namespace dp::border
