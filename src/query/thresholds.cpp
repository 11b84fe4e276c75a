#include "query/thresholds.hpp"

#include <cmath>

#include "border/guard.hpp"

namespace dp::query {

using privacy::Span;

constexpr int most_thresholds = 1000;

Thresholds thresholds_of(Node *array, Span (*span_of)(const Const *)) {
    Thresholds thresholds = {0, nullptr, false};
    if (!IsA(array, Const) || castNode(Const, array)->constisnull)
        return thresholds;
    ArrayType *stored = DatumGetArrayTypeP(castNode(Const, array)->constvalue);
    const Oid type = ARR_ELEMTYPE(stored);
    TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);
    Datum *values;
    bool *nulls;
    deconstruct_array(stored, type, entry->typlen, entry->typbyval, entry->typalign, &values, &nulls, &thresholds.n);
    thresholds.ends = static_cast<Span *>(palloc(sizeof(Span) * (thresholds.n + 1)));
    thresholds.ascending = thresholds.n > 0;
    for (int i = 0; i < thresholds.n; i++) {
        thresholds.ends[i] = span_of(makeConst(type, -1, InvalidOid, entry->typlen, values[i], false, entry->typbyval));
        if (i > 0 &&
            DatumGetInt32(FunctionCall2Coll(&entry->cmp_proc_finfo, InvalidOid, values[i - 1], values[i])) >= 0)
            thresholds.ascending = false;
    }
    return thresholds;
}

// Where thresholds are not in order, or none is known, the search may end anywhere.
Span span_of_places(const Thresholds &thresholds, const Span &values) {
    if (!thresholds.ascending)
        return Span{0, static_cast<double>(thresholds.ends == nullptr ? most_thresholds : thresholds.n), 0};
    Span places = {0, 0, 0};
    for (int i = 0; i < thresholds.n; i++) {
        places.low += thresholds.ends[i].high <= values.low ? 1 : 0;
        places.high += thresholds.ends[i].low <= values.high ? 1 : 0;
    }
    return places;
}

bool has_each_place(const Thresholds &thresholds, double gap, int decimals) {
    bool values = decimals >= 0 && gap == std::pow(10.0, -decimals);
    for (int i = 0; i < thresholds.n; i++)
        values = values && thresholds.ends[i].decimals >= 0 && thresholds.ends[i].decimals <= decimals;
    for (int i = 1; i < thresholds.n && !values && gap > 0; i++)
        if (!(thresholds.ends[i].low - thresholds.ends[i - 1].high >= gap))
            return false;
    return thresholds.ascending;
}

} // namespace dp::query
