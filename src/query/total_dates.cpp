// Functions of dates, times and intervals that may meet a row.
#include "query/date_format.hpp"
#include "query/total_rows.hpp"

namespace dp::query {

constexpr Reason no_date = {"NULL outside the range of date"};
constexpr Reason no_difference = {"NULL for infinite operands and outside the range of the result", Work::flat, 200};
constexpr Reason no_timestamp = {"NULL outside the range of timestamps", Work::flat, 2000};
constexpr Reason no_calendar = {
    "NULL for years before 1700 BC or after 290000 and for intervals of more than 1000 years", Work::flat, 2000};
constexpr Reason field_of_timestamp = {"the field is one that every timestamp has; infinite ones give infinity or NULL",
                                       Work::flat, 1000};

// ---- constants -----------------------------------------------------------------------------------------------------

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

static bool is_trunc_field(const Const *value) {
    return has_field(value, 't');
}

static bool is_date_field(const Const *value) {
    return has_field(value, 'd');
}

static bool is_timestamp_field(const Const *value) {
    return has_field(value, 's');
}

static bool is_interval_field(const Const *value) {
    return has_field(value, 'i');
}

static bool is_time_field(const Const *value) {
    return has_field(value, 'c');
}

// A stride without months, or an origin, both far within what arithmetic with timestamps can carry.
static bool is_of_bins(const Const *value) {
    if (value->consttype != INTERVALOID)
        return is_calm(DatumGetTimestamp(value->constvalue)) &&
               !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value->constvalue));
    const Interval *stride = DatumGetIntervalP(value->constvalue);
    constexpr int longest = 365 * 1000; // days
    return stride->month == 0 && stride->day >= 0 && stride->day <= longest && stride->time >= 0 &&
           stride->time <= longest * USECS_PER_DAY && (stride->day > 0 || stride->time > 0);
}

// Printing fails here and now where names of days cannot be read in the language of lc_time, and not at the first row.
static bool is_format_of_dates(const Const *value) {
    if (toast_raw_datum_size(value->constvalue) > longest_date_format + VARHDRSZ ||
        !is_date_format(TextDatumGetCString(value->constvalue)))
        return false;
    if (VARSIZE_ANY_EXHDR(DatumGetPointer(value->constvalue)) > 0)
        DirectFunctionCall2(timestamp_to_char, TimestampGetDatum(0), value->constvalue);
    return true;
}

// An unknown name is an error here and now.
static bool is_zone(const Const *value) {
    if (!is_short_constant(value))
        return false;
    DirectFunctionCall2(timestamptz_zone, value->constvalue, TimestampTzGetDatum(0));
    const pg_tz *zone = pg_tzset(TextDatumGetCString(value->constvalue)); // null: an abbreviation of the server's
    return zone == nullptr || is_calm(zone);
}

// ---- the rows ------------------------------------------------------------------------------------------------------

static constexpr Row dates[] = {
    replaced<F_DATE_PLI>(no_date, Rule::days_after),
    replaced<F_DATE_MII>(no_date, Rule::days_before),
    inlined<F_INTEGER_PL_DATE, F_INTERVAL_PL_DATE, F_INTERVAL_PL_TIMESTAMP, F_INTERVAL_PL_TIMESTAMPTZ>(
        Reason{"opens into the sum with its operands swapped"}),
    replaced<F_DATE_MI>(no_difference, Rule::days_between),
    replaced<F_TIMESTAMP_MI, F_TIMESTAMPTZ_MI>(no_difference, Rule::time_between),
    replaced<F_DATE_PL_INTERVAL, F_DATE_MI_INTERVAL, F_TIMESTAMP_PL_INTERVAL, F_TIMESTAMP_MI_INTERVAL>(no_calendar,
                                                                                                       Rule::shifted),
    replaced<F_TIMESTAMPTZ_PL_INTERVAL, F_TIMESTAMPTZ_MI_INTERVAL>(no_calendar, Rule::shifted_in_zone),
    replaced<F_TIMESTAMP_TIMESTAMPTZ>(no_calendar, Rule::other_clock),
    replaced<F_TIMESTAMPTZ_TIMESTAMP>(no_timestamp, Rule::other_clock),
    replaced<F_TIMEZONE_TEXT_TIMESTAMP, F_TIMEZONE_TEXT_TIMESTAMPTZ>(no_calendar, Rule::clock_of).with(first, is_zone),
    replaced<F_TIMESTAMP_DATE>(no_timestamp, Rule::midnight),
    replaced<F_TIMESTAMPTZ_DATE>(no_timestamp, Rule::midnight_in_zone),
    total<F_DATE_TIMESTAMP>(Reason{"every stored timestamp has a date", Work::flat, 200}, Rule::day),
    replaced<F_DATE_TIMESTAMPTZ>(no_calendar, Rule::day_in_zone),
    replaced<F_AGE_TIMESTAMP_TIMESTAMP, F_AGE_TIMESTAMPTZ_TIMESTAMPTZ>(
        Reason{"NULL for infinities and for years before 1700 BC or after 290000", Work::flat, 2000}, Rule::age),
    inlined<F_AGE_TIMESTAMP, F_AGE_TIMESTAMPTZ>(Reason{"opens into age() of today and the value"}),
    replaced<F_DATE_TRUNC_TEXT_TIMESTAMP, F_DATE_TRUNC_TEXT_TIMESTAMPTZ>(no_calendar, Rule::begun)
        .with(first, is_trunc_field),
    replaced<F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT>(no_calendar, Rule::begun).with(first | third, is_trunc_field, is_zone),
    total<F_EXTRACT_TEXT_DATE>(
        Reason{"the field is one that every date has; infinite dates give infinity or NULL", Work::flat, 1000},
        Rule::field)
        .with(first, is_date_field),
    inlined<F_DATE_PART_TEXT_DATE>(Reason{"opens into date_part(text, timestamp)"}).with(first, is_date_field),
    total<F_EXTRACT_TEXT_TIMESTAMP, F_DATE_PART_TEXT_TIMESTAMP>(field_of_timestamp, Rule::field)
        .with(first, is_timestamp_field),
    replaced<F_EXTRACT_TEXT_TIMESTAMPTZ, F_DATE_PART_TEXT_TIMESTAMPTZ>(no_calendar, Rule::field)
        .with(first, is_timestamp_field),
    total<F_EXTRACT_TEXT_TIME, F_DATE_PART_TEXT_TIME>(Reason{"the field is one that every time has", Work::flat, 1000})
        .with(first, is_time_field),
    total<F_EXTRACT_TEXT_INTERVAL, F_DATE_PART_TEXT_INTERVAL>(
        Reason{"the field is one that every interval has; infinite ones give infinity or NULL", Work::flat, 1000},
        Rule::field_of_interval)
        .with(first, is_interval_field),
    replaced<F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP, F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ>(
        Reason{"NULL for years before 1700 BC or after 290000; stride and origin are tried before", Work::flat, 1000},
        Rule::bin)
        .with(first | third, is_of_bins),
    replaced<F_TO_CHAR_TIMESTAMP_TEXT, F_TO_CHAR_TIMESTAMPTZ_TEXT>(
        Reason{"prints numbers and English names; NULL for infinities and for years before 1700 BC or after 290000",
               Work::flat, 3000},
        Rule::printed)
        .with(second, is_format_of_dates),
};

Rows rows_of_dates() {
    return rows_of(dates);
}

} // namespace dp::query
