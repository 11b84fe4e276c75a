// Total replacements of operations on dates and times, and of casts between them and texts.
#include "query/date_format.hpp"
#include "query/date_style.hpp"
#include "sql/total_values.hpp"

namespace dp::sql {

// ---- dates and times -----------------------------------------------------------------------------------------------

static Datum moved_date(FunctionCallInfo fcinfo, DateADT date, int64 days) {
    if (DATE_NOT_FINITE(date))
        PG_RETURN_DATEADT(date);
    int64 result = date + days;
    if (!IS_VALID_DATE(result))
        return null(fcinfo);
    PG_RETURN_DATEADT(static_cast<DateADT>(result));
}

DP_TOTAL(date_pli, moved_date(fcinfo, PG_GETARG_DATEADT(0), PG_GETARG_INT32(1)))
DP_TOTAL(date_mii, moved_date(fcinfo, PG_GETARG_DATEADT(0), -static_cast<int64>(PG_GETARG_INT32(1))))

DP_FUNCTION(dp_total_date_mi) {
    DateADT a = PG_GETARG_DATEADT(0), b = PG_GETARG_DATEADT(1);
    if (DATE_NOT_FINITE(a) || DATE_NOT_FINITE(b))
        return null(fcinfo);
    return narrowed<int32>(fcinfo, static_cast<int64>(a) - b);
}

DP_FUNCTION(dp_total_timestamp_mi) {
    Timestamp a = PG_GETARG_TIMESTAMP(0), b = PG_GETARG_TIMESTAMP(1), difference;
    return guarded(fcinfo,
                   !TIMESTAMP_NOT_FINITE(a) && !TIMESTAMP_NOT_FINITE(b) && !__builtin_sub_overflow(a, b, &difference),
                   timestamp_mi);
}

// The moment is not so far that a built-in would overflow.
static bool is_calm(FunctionCallInfo fcinfo, int i) {
    return query::is_calm(PG_GETARG_TIMESTAMP(i));
}

static bool is_calm_and_finite(FunctionCallInfo fcinfo, int i) {
    return is_calm(fcinfo, i) && !TIMESTAMP_NOT_FINITE(PG_GETARG_TIMESTAMP(i));
}

static bool is_short(FunctionCallInfo fcinfo, int i) {
    constexpr int years = 1000;
    constexpr int64 longest = INT64CONST(365) * years * USECS_PER_DAY;
    const Interval *span = PG_GETARG_INTERVAL_P(i);
    return span->month >= -12 * years && span->month <= 12 * years && span->day >= -365 * years &&
           span->day <= 365 * years && span->time >= -longest && span->time <= longest;
}

static Datum moved_timestamp(FunctionCallInfo fcinfo, PGFunction function) {
    return guarded(fcinfo, is_calm(fcinfo, 0) && is_short(fcinfo, 1), function);
}

DP_TOTAL(timestamp_pl_interval, moved_timestamp(fcinfo, timestamp_pl_interval))
DP_TOTAL(timestamp_mi_interval, moved_timestamp(fcinfo, timestamp_mi_interval))
DP_TOTAL(timestamptz_pl_interval, moved_timestamp(fcinfo, timestamptz_pl_interval))
DP_TOTAL(timestamptz_mi_interval, moved_timestamp(fcinfo, timestamptz_mi_interval))

static Datum moved_day(FunctionCallInfo fcinfo, PGFunction function) {
    int overflow = 0;
    const Timestamp midnight = date2timestamp_opt_overflow(PG_GETARG_DATEADT(0), &overflow);
    return guarded(fcinfo, overflow == 0 && query::is_calm(midnight) && is_short(fcinfo, 1), function);
}

DP_TOTAL(date_pl_interval, moved_day(fcinfo, date_pl_interval))
DP_TOTAL(date_mi_interval, moved_day(fcinfo, date_mi_interval))

template <class From> static Datum converted(FunctionCallInfo fcinfo, Timestamp (*convert)(From, int *), From value) {
    int overflow = 0;
    const Timestamp result = convert(value, &overflow);
    return overflow == 0 ? TimestampGetDatum(result) : null(fcinfo);
}

DP_TOTAL(date_timestamp, converted<DateADT>(fcinfo, date2timestamp_opt_overflow, PG_GETARG_DATEADT(0)))
DP_TOTAL(date_timestamptz, converted<DateADT>(fcinfo, date2timestamptz_opt_overflow, PG_GETARG_DATEADT(0)))
DP_TOTAL(timestamp_timestamptz,
         converted<Timestamp>(fcinfo, timestamp2timestamptz_opt_overflow, PG_GETARG_TIMESTAMP(0)))

// These may shift a moment to another time zone.
DP_TOTAL(timestamptz_timestamp, guarded(fcinfo, is_calm(fcinfo, 0), timestamptz_timestamp))
DP_TOTAL(timestamptz_date, guarded(fcinfo, is_calm(fcinfo, 0), timestamptz_date))

// These have a constant first, a field or a time zone. Some return NULL for infinities.
DP_TOTAL(timestamp_trunc, guarded(fcinfo, is_calm(fcinfo, 1), timestamp_trunc))
DP_TOTAL(timestamptz_trunc, guarded(fcinfo, is_calm(fcinfo, 1), timestamptz_trunc))
DP_TOTAL(timestamptz_trunc_zone, guarded(fcinfo, is_calm(fcinfo, 1), timestamptz_trunc_zone))
DP_TOTAL(timestamp_zone, guarded(fcinfo, is_calm(fcinfo, 1), timestamp_zone))
DP_TOTAL(timestamptz_zone, guarded(fcinfo, is_calm(fcinfo, 1), timestamptz_zone))
DP_TOTAL(extract_timestamptz, guarded(fcinfo, is_calm(fcinfo, 1), extract_timestamptz))
DP_TOTAL(timestamptz_part, guarded(fcinfo, is_calm(fcinfo, 1), timestamptz_part))

// ---- ages, bins and printed dates ----------------------------------------------------------------------------------

static Datum age_of(FunctionCallInfo fcinfo, PGFunction function) {
    return guarded(fcinfo, is_calm_and_finite(fcinfo, 0) && is_calm_and_finite(fcinfo, 1), function);
}

DP_TOTAL(timestamp_age, age_of(fcinfo, timestamp_age))
DP_TOTAL(timestamptz_age, age_of(fcinfo, timestamptz_age))

// Anybody may call it, with any stride and origin.
static Datum bin_of(FunctionCallInfo fcinfo, PGFunction function) {
    const Interval *stride = PG_GETARG_INTERVAL_P(0);
    const bool forward =
        stride->month == 0 && stride->day >= 0 && stride->time >= 0 && (stride->day > 0 || stride->time > 0);
    return guarded(fcinfo, forward && is_short(fcinfo, 0) && is_calm(fcinfo, 1) && is_calm_and_finite(fcinfo, 2),
                   function);
}

DP_TOTAL(timestamp_bin, bin_of(fcinfo, timestamp_bin))
DP_TOTAL(timestamptz_bin, bin_of(fcinfo, timestamptz_bin))

// The format has been tried before any row was read (query/total_dates): the built-in reads names of days in the language of lc_time
// first, which may fail. Anybody may call it, with any other one.
static Datum printed_moment(FunctionCallInfo fcinfo, PGFunction function) {
    if (!is_calm_and_finite(fcinfo, 0) ||
        toast_raw_datum_size(PG_GETARG_DATUM(1)) > query::longest_date_format + VARHDRSZ)
        return null(fcinfo);
    return guarded(fcinfo, query::is_date_format(TextDatumGetCString(PG_GETARG_DATUM(1))), function);
}

DP_TOTAL(timestamp_to_char, printed_moment(fcinfo, timestamp_to_char))
DP_TOTAL(timestamptz_to_char, printed_moment(fcinfo, timestamptz_to_char))

// ---- dates as texts ------------------------------------------------------------------------------------------------

static bool style_of(FunctionCallInfo fcinfo, query::DateSettings *style) {
    char name[16];
    if (toast_raw_datum_size(PG_GETARG_DATUM(1)) >= sizeof(name) + VARHDRSZ)
        return false;
    text_to_cstring_buffer(PG_GETARG_TEXT_PP(1), name, sizeof(name));
    return query::read_date_style(name, style);
}

// Reads the moment that the argument says, in the order of the style.
static bool moment_of_text(FunctionCallInfo fcinfo, int *type, struct pg_tm *tm, fsec_t *microseconds) {
    query::DateSettings style;
    const char *text = trimmed(fcinfo);
    return text != nullptr && style_of(fcinfo, &style) && query::read_moment(text, style.order, type, tm, microseconds);
}

DP_FUNCTION(dp_total_text_date) {
    int type;
    struct pg_tm tm = {};
    fsec_t microseconds;
    if (!moment_of_text(fcinfo, &type, &tm, &microseconds))
        return null(fcinfo);
    if (type == DTK_EARLY || type == DTK_LATE)
        PG_RETURN_DATEADT(type == DTK_EARLY ? DATEVAL_NOBEGIN : DATEVAL_NOEND);
    if (type == DTK_EPOCH)
        PG_RETURN_DATEADT(UNIX_EPOCH_JDATE - POSTGRES_EPOCH_JDATE);
    if (!IS_VALID_JULIAN(tm.tm_year, tm.tm_mon, tm.tm_mday))
        return null(fcinfo);
    const DateADT date = date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - POSTGRES_EPOCH_JDATE;
    return IS_VALID_DATE(date) ? DateADTGetDatum(date) : null(fcinfo);
}

DP_FUNCTION(dp_total_text_timestamp) {
    int type;
    struct pg_tm tm = {};
    fsec_t microseconds;
    Timestamp value;
    if (!moment_of_text(fcinfo, &type, &tm, &microseconds))
        return null(fcinfo);
    if (type == DTK_EARLY || type == DTK_LATE)
        PG_RETURN_TIMESTAMP(type == DTK_EARLY ? DT_NOBEGIN : DT_NOEND);
    if (type == DTK_EPOCH)
        PG_RETURN_TIMESTAMP(SetEpochTimestamp());
    return tm2timestamp(&tm, microseconds, nullptr, &value) == 0 ? TimestampGetDatum(value) : null(fcinfo);
}

// date_out and timestamp_out, in a style that is no setting: nothing that can fail happens while the order is another one.
DP_FUNCTION(dp_total_date_text) {
    query::DateSettings style;
    const DateADT date = PG_GETARG_DATEADT(0);
    char text[MAXDATELEN + 1];
    struct pg_tm tm = {};
    if (!style_of(fcinfo, &style))
        return null(fcinfo);
    if (DATE_NOT_FINITE(date))
        EncodeSpecialDate(date, text);
    else {
        j2date(date + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
        const int own = DateOrder;
        DateOrder = style.order;
        EncodeDateOnly(&tm, style.style, text);
        DateOrder = own;
    }
    PG_RETURN_TEXT_P(cstring_to_text(text));
}

DP_FUNCTION(dp_total_timestamp_text) {
    query::DateSettings style;
    const Timestamp moment = PG_GETARG_TIMESTAMP(0);
    char text[MAXDATELEN + 1];
    struct pg_tm tm = {};
    fsec_t microseconds = 0;
    if (!style_of(fcinfo, &style))
        return null(fcinfo);
    if (TIMESTAMP_NOT_FINITE(moment))
        EncodeSpecialTimestamp(moment, text);
    else if (timestamp2tm(moment, nullptr, &tm, &microseconds, nullptr, nullptr) != 0)
        return null(fcinfo);
    else {
        const int own = DateOrder;
        DateOrder = style.order;
        EncodeDateTime(&tm, microseconds, false, 0, nullptr, style.style, text);
        DateOrder = own;
    }
    PG_RETURN_TEXT_P(cstring_to_text(text));
}

} // namespace dp::sql
