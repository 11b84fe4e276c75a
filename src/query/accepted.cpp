#include "query/accepted.hpp"

#include "query/date_format.hpp"
#include "query/date_style.hpp"

namespace dp::query::accepted {

// Long constants make a row expensive: trimming costs up to length of text times length of the set.
constexpr int longest_constant = 100;

bool is_short(const Const *value) {
    return toast_raw_datum_size(value->constvalue) <= longest_constant + VARHDRSZ;
}

// A pattern that ends in its escape character is an error for texts that reach its end, and for no others.
bool is_pattern(const Const *value) {
    if (toast_raw_datum_size(value->constvalue) > longest_pattern + VARHDRSZ) // said by check_constant
        return false;
    const char *c = TextDatumGetCString(value->constvalue);
    for (; *c != '\0'; c++)
        if (*c == '\\' && *++c == '\0')
            return false;
    return true;
}

bool is_count(const Const *value) {
    int32 count = DatumGetInt32(value->constvalue);
    return count >= -1000000 && count <= 1000000;
}

bool is_length(const Const *value) {
    return is_count(value) && DatumGetInt32(value->constvalue) >= 0;
}

bool is_scale(const Const *value) {
    int32 scale = DatumGetInt32(value->constvalue);
    return scale >= -1000 && scale <= 1000;
}

bool is_numeric_typmod(const Const *value) {
    int32 typmod = DatumGetInt32(value->constvalue) - VARHDRSZ;
    int precision = (typmod >> 16) & 0xffff;
    return typmod < 0 || (precision >= 1 && precision <= NUMERIC_MAX_PRECISION);
}

// Length and "is it an explicit cast": those cut, the others raise an error.
bool is_explicit(const Const *value) {
    return value->consttype == BOOLOID ? DatumGetBool(value->constvalue)
                                       : DatumGetInt32(value->constvalue) <= longest_constant + VARHDRSZ;
}

static bool among(const Const *value, const char *const *names) {
    const char *name = TextDatumGetCString(value->constvalue);
    for (; *names != nullptr; names++)
        if (pg_strcasecmp(name, *names) == 0)
            return true;
    return false;
}

bool is_trunc_field(const Const *value) {
    static const char *const names[] = {"millennium", "century",      "decade",       "year", "quarter",
                                        "month",      "week",         "day",          "hour", "minute",
                                        "second",     "milliseconds", "microseconds", nullptr};
    return among(value, names);
}

// Other fields are an error for some types or for infinite dates.
bool is_date_field(const Const *value) {
    static const char *const names[] = {"millennium", "century", "decade", "year",   "isoyear",
                                        "quarter",    "month",   "week",   "day",    "dow",
                                        "isodow",     "doy",     "epoch",  "julian", nullptr};
    return among(value, names);
}

bool is_timestamp_field(const Const *value) {
    static const char *const names[] = {"hour", "minute", "second", "milliseconds", "microseconds", nullptr};
    return is_date_field(value) || among(value, names);
}

bool is_interval_field(const Const *value) {
    static const char *const names[] = {"millennium",   "century",      "decade", "year",   "quarter",
                                        "month",        "day",          "hour",   "minute", "second",
                                        "milliseconds", "microseconds", "epoch",  nullptr};
    return among(value, names);
}

bool is_time_field(const Const *value) {
    static const char *const names[] = {"hour", "minute", "second", "milliseconds", "microseconds", "epoch", nullptr};
    return among(value, names);
}

// Ends of buckets: an array with a NULL, or of several dimensions, is an error, and comparing other types may be one.
bool is_of_buckets(const Const *value) {
    constexpr int most = 1000;
    static const Oid types[] = {INT2OID,    INT4OID, INT8OID,      FLOAT4OID,      FLOAT8OID,
                                NUMERICOID, DATEOID, TIMESTAMPOID, TIMESTAMPTZOID, TIMEOID};
    ArrayType *ends = DatumGetArrayTypeP(value->constvalue);
    if (ARR_NDIM(ends) != 1 || ARR_DIMS(ends)[0] > most || array_contains_nulls(ends))
        return false;
    for (Oid type : types)
        if (type == ARR_ELEMTYPE(ends))
            return true;
    return false;
}

// A stride without months, or an origin, both far within what arithmetic with timestamps can carry.
bool is_of_bins(const Const *value) {
    if (value->consttype != INTERVALOID)
        return is_calm(DatumGetTimestamp(value->constvalue)) &&
               !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value->constvalue));
    const Interval *stride = DatumGetIntervalP(value->constvalue);
    constexpr int longest = 365 * 1000; // days
    return stride->month == 0 && stride->day >= 0 && stride->day <= longest && stride->time >= 0 &&
           stride->time <= longest * USECS_PER_DAY && (stride->day > 0 || stride->time > 0);
}

bool is_format_of_dates(const Const *value) {
    return toast_raw_datum_size(value->constvalue) <= longest_date_format + VARHDRSZ &&
           is_date_format(TextDatumGetCString(value->constvalue));
}

bool is_date_style(const Const *value) {
    DateSettings style;
    return read_date_style(TextDatumGetCString(value->constvalue), &style);
}

// A delimiter, or the number of a field: 0 is an error.
bool is_of_fields(const Const *value) {
    return value->consttype == TEXTOID ? is_short(value) : is_count(value) && DatumGetInt32(value->constvalue) != 0;
}

// A key, or the number of an element.
bool is_of_document(const Const *value) {
    return value->consttype == TEXTOID ? is_short(value) : is_count(value);
}

// An unknown name is an error here and now.
bool is_zone(const Const *value) {
    if (!is_short(value))
        return false;
    DirectFunctionCall2(timestamptz_zone, value->constvalue, TimestampTzGetDatum(0));
    return true;
}

} // namespace dp::query::accepted
