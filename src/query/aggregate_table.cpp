#include "query/aggregate_table.hpp"

#include "privacy/joint.hpp"

namespace dp::query {

using privacy::Aggregate;

namespace {
struct Row {
    const Oid *functions; // to the first zero
    std::optional<Aggregate> of_rows;
    UnitAggregate of_unit;
};
} // namespace

template <Oid... functions> constexpr Oid oids[] = {functions..., InvalidOid};
template <Oid... functions> constexpr Row row(std::optional<Aggregate> of_rows, UnitAggregate of_unit) {
    return Row{oids<functions...>, of_rows, of_unit};
}

#define EXACT(name) F_##name##_INT2, F_##name##_INT4, F_##name##_INT8, F_##name##_NUMERIC
#define FLOATS(name) F_##name##_FLOAT4, F_##name##_FLOAT8
#define MOMENTS(name) F_##name##_DATE, F_##name##_TIMESTAMP, F_##name##_TIMESTAMPTZ
#define OTHERS(name) F_##name##_TIME, F_##name##_TIMETZ, F_##name##_TEXT, F_##name##_ANYENUM

// The sum of floats depends on their order, so one unit has none.
static constexpr Row table[] = {
    row<F_COUNT_>(Aggregate::count_star, UnitAggregate::count_rows),
    row<F_COUNT_ANY>(Aggregate::count, UnitAggregate::count),
    row<EXACT(SUM)>(Aggregate::sum, UnitAggregate::sum),
    row<FLOATS(SUM)>(Aggregate::sum, UnitAggregate::none),
    row<EXACT(AVG)>(Aggregate::avg, UnitAggregate::avg),
    row<FLOATS(AVG)>(Aggregate::avg, UnitAggregate::none),
    row<EXACT(VAR_POP), FLOATS(VAR_POP)>(Aggregate::var_pop, UnitAggregate::none),
    row<EXACT(VAR_SAMP), FLOATS(VAR_SAMP), EXACT(VARIANCE), FLOATS(VARIANCE)>(Aggregate::var_samp, UnitAggregate::none),
    row<EXACT(STDDEV_POP), FLOATS(STDDEV_POP)>(Aggregate::stddev_pop, UnitAggregate::none),
    row<EXACT(STDDEV_SAMP), FLOATS(STDDEV_SAMP), EXACT(STDDEV), FLOATS(STDDEV)>(Aggregate::stddev_samp,
                                                                                UnitAggregate::none),
    row<EXACT(MIN), MOMENTS(MIN)>(Aggregate::min, UnitAggregate::extreme),
    row<EXACT(MAX), MOMENTS(MAX)>(Aggregate::max, UnitAggregate::extreme),
    row<FLOATS(MIN)>(Aggregate::min, UnitAggregate::none),
    row<FLOATS(MAX)>(Aggregate::max, UnitAggregate::none),
    row<OTHERS(MIN), OTHERS(MAX)>(std::nullopt, UnitAggregate::extreme),
    row<F_BOOL_AND, F_BOOL_OR, F_EVERY>(std::nullopt, UnitAggregate::boolean),
    row<F_PERCENTILE_CONT_FLOAT8_FLOAT8>(Aggregate::percentile_cont, UnitAggregate::none),
    row<F_PERCENTILE_DISC_FLOAT8_ANYELEMENT>(Aggregate::percentile_disc, UnitAggregate::none),
    row<F_COVAR_POP>(Aggregate::covar_pop, UnitAggregate::none),
    row<F_COVAR_SAMP>(Aggregate::covar_samp, UnitAggregate::none),
    row<F_CORR>(Aggregate::corr, UnitAggregate::none),
    row<F_REGR_SLOPE>(Aggregate::regr_slope, UnitAggregate::none),
    row<F_REGR_R2>(Aggregate::regr_r2, UnitAggregate::none),
    row<F_REGR_INTERCEPT>(Aggregate::regr_intercept, UnitAggregate::none),
};

static Row row_of(Oid function) {
    for (const Row &one : table)
        for (const Oid *candidate = one.functions; OidIsValid(*candidate); candidate++)
            if (*candidate == function)
                return one;
    return Row{nullptr, std::nullopt, UnitAggregate::none};
}

std::optional<Aggregate> measure_of(Oid function) {
    return row_of(function).of_rows;
}

Oid plain_aggregate(const Aggref *call) {
    static const char *const markers[] = {"dp_count", "dp_sum", "dp_avg"};
    const Oid function = call->aggfnoid;
    const int n = list_length(call->aggargtypes);
    if (function < FirstUnpinnedObjectId || get_func_namespace(function) != PG_CATALOG_NAMESPACE || n > 1)
        return function;
    const char *name = get_func_name(function);
    for (const char *marker : markers)
        if (strcmp(name, marker) == 0) {
            const Oid type = n == 0 ? InvalidOid : marker == markers[0] ? ANYOID : linitial_oid(call->aggargtypes);
            List *plain = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup(marker + strlen("dp_"))));
            return LookupFuncName(plain, n, &type, false);
        }
    return function;
}

UnitAggregate unit_aggregate(const Aggref *call) {
    const UnitAggregate of_unit = row_of(call->aggfnoid).of_unit;
    return of_unit == UnitAggregate::count && call->aggdistinct != NIL ? UnitAggregate::count_values : of_unit;
}

bool takes_two_columns(const Aggref *call) {
    const std::optional<privacy::Aggregate> measure = measure_of(call->aggfnoid);
    return measure && privacy::is_joint(*measure);
}

Node *joint_argument(Node *y, Node *x) {
    return reinterpret_cast<Node *>(
        makeFuncExpr(F_POINT_FLOAT8_FLOAT8, POINTOID, list_make2(y, x), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

List *joint_parts(Node *argument) {
    if (!IsA(argument, FuncExpr) || castNode(FuncExpr, argument)->funcid != F_POINT_FLOAT8_FLOAT8)
        return NIL;
    return castNode(FuncExpr, argument)->args;
}

} // namespace dp::query
