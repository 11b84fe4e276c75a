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

// Fields of dates and times, with the values that have them: t what date_trunc() takes, d dates, s timestamps, i intervals, c times of
// a day. Another field is an error for some types or for infinite dates.
static const struct {
    const char *name, *of;
} fields[] = {
    {"millennium", "tdsi"}, {"century", "tdsi"}, {"decade", "tdsi"},       {"year", "tdsi"},         {"isoyear", "ds"},
    {"quarter", "tdsi"},    {"month", "tdsi"},   {"week", "tds"},          {"day", "tdsi"},          {"dow", "ds"},
    {"isodow", "ds"},       {"doy", "ds"},       {"epoch", "dsic"},        {"julian", "ds"},         {"hour", "tsic"},
    {"minute", "tsic"},     {"second", "tsic"},  {"milliseconds", "tsic"}, {"microseconds", "tsic"},
};

static bool has_field(const Const *name, char of) {
    const char *wanted = TextDatumGetCString(name->constvalue);
    for (const auto &field : fields)
        if (pg_strcasecmp(wanted, field.name) == 0)
            return strchr(field.of, of) != nullptr;
    return false;
}

bool is_trunc_field(const Const *value) {
    return has_field(value, 't');
}

bool is_date_field(const Const *value) {
    return has_field(value, 'd');
}

bool is_timestamp_field(const Const *value) {
    return has_field(value, 's');
}

bool is_interval_field(const Const *value) {
    return has_field(value, 'i');
}

bool is_time_field(const Const *value) {
    return has_field(value, 'c');
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
