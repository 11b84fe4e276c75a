// Seconds as an interval: what is shown of an average of differences of timestamps (query/intervals). It stands behind the charge, so
// every number has one.
#include "border/guard.hpp"

namespace dp::sql {

static bool is_less(Numeric a, Numeric b) {
    return DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(a), NumericGetDatum(b))) < 0;
}

// As many days as an interval holds, or fewer.
static Numeric clamped(Numeric seconds) {
    constexpr int64 most = static_cast<int64>(PG_INT32_MAX) * SECS_PER_DAY;
    Numeric highest = int64_to_numeric(most), lowest = int64_to_numeric(-most);
    return is_less(seconds, lowest) ? lowest : is_less(highest, seconds) ? highest : seconds;
}

// Days of 24 hours and the rest, as the difference of two timestamps has them.
DP_FUNCTION(dp_as_interval) {
    Numeric seconds = PG_GETARG_NUMERIC(0);
    if (numeric_is_nan(seconds))
        PG_RETURN_NULL();
    Datum scaled = DirectFunctionCall2(numeric_mul, NumericGetDatum(clamped(seconds)),
                                       NumericGetDatum(int64_to_numeric(USECS_PER_SEC)));
    Datum microseconds = DirectFunctionCall2(numeric_round, scaled, Int32GetDatum(0));
    Datum day = NumericGetDatum(int64_to_numeric(USECS_PER_DAY));
    auto *interval = static_cast<Interval *>(palloc(sizeof(Interval)));
    interval->month = 0;
    interval->day =
        DatumGetInt32(DirectFunctionCall1(numeric_int4, DirectFunctionCall2(numeric_div_trunc, microseconds, day)));
    interval->time =
        DatumGetInt64(DirectFunctionCall1(numeric_int8, DirectFunctionCall2(numeric_mod, microseconds, day)));
    PG_RETURN_INTERVAL_P(interval);
}

} // namespace dp::sql
