#include "query/total.hpp"

namespace dp::query {

namespace {
struct Entry {
    Oid function;
    const char *why; // it cannot fail on any stored value
};

// Not leakproof in pg_proc, total all the same.
const Entry entries[] = {
    // Comparison of two digit strings with a sign; NaN and infinities have an order, nothing is allocated that can
    // overflow (numeric.c, cmp_numerics).
    {F_NUMERIC_EQ, "cmp_numerics"},
    {F_NUMERIC_NE, "cmp_numerics"},
    {F_NUMERIC_LT, "cmp_numerics"},
    {F_NUMERIC_LE, "cmp_numerics"},
    {F_NUMERIC_GT, "cmp_numerics"},
    {F_NUMERIC_GE, "cmp_numerics"},
    // Equality of two oids (enum.c). The order of labels may need a catalog look-up, equality never does.
    {F_ENUM_EQ, "compares oids"},
    {F_ENUM_NE, "compares oids"},
};
} // namespace

static bool is_builtin(Oid function) {
    return function < FirstUnpinnedObjectId;
}

bool is_total(Oid function) {
    if (!is_builtin(function))
        return false;
    for (const Entry &entry : entries)
        if (entry.function == function)
            return true;
    return get_func_leakproof(function) && func_volatile(function) != PROVOLATILE_VOLATILE;
}

bool is_harmless_on_constants(Oid function) {
    return is_builtin(function) && func_volatile(function) == PROVOLATILE_IMMUTABLE;
}

} // namespace dp::query
