#include "query/total.hpp"

#include "border/scope.hpp"
#include "border/walk.hpp"

namespace dp::query {

// ---- constant arguments --------------------------------------------------------------------------------------------

constexpr uint8 none = 0, first = 1, second = 2, third = 4;

// Long constants make a row expensive: matching costs up to length of text times length of pattern.
constexpr int longest_constant = 100;

static bool is_short(const Const *value) {
    return VARSIZE_ANY_EXHDR(PG_DETOAST_DATUM_PACKED(value->constvalue)) <= longest_constant;
}

// A pattern that ends in its escape character is an error for texts that reach its end, and for no others.
static bool is_pattern(const Const *value) {
    if (!is_short(value))
        return false;
    const char *c = TextDatumGetCString(value->constvalue);
    for (; *c != '\0'; c++)
        if (*c == '\\' && *++c == '\0')
            return false;
    return true;
}

static bool is_count(const Const *value) {
    int32 count = DatumGetInt32(value->constvalue);
    return count >= -1000000 && count <= 1000000;
}

static bool is_length(const Const *value) {
    return is_count(value) && DatumGetInt32(value->constvalue) >= 0;
}

static bool is_scale(const Const *value) {
    int32 scale = DatumGetInt32(value->constvalue);
    return scale >= -1000 && scale <= 1000;
}

static bool is_numeric_typmod(const Const *value) {
    int32 typmod = DatumGetInt32(value->constvalue) - VARHDRSZ;
    int precision = (typmod >> 16) & 0xffff;
    return typmod < 0 || (precision >= 1 && precision <= NUMERIC_MAX_PRECISION);
}

// Length and "is it an explicit cast": those cut, the others raise an error.
static bool is_explicit(const Const *value) {
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

static bool is_trunc_field(const Const *value) {
    static const char *const names[] = {"millennium", "century",      "decade",       "year", "quarter",
                                        "month",      "week",         "day",          "hour", "minute",
                                        "second",     "milliseconds", "microseconds", nullptr};
    return among(value, names);
}

// Other fields are an error for some types or for infinite dates.
static bool is_date_field(const Const *value) {
    static const char *const names[] = {"millennium", "century", "decade", "year",   "isoyear",
                                        "quarter",    "month",   "week",   "day",    "dow",
                                        "isodow",     "doy",     "epoch",  "julian", nullptr};
    return among(value, names);
}

static bool is_timestamp_field(const Const *value) {
    static const char *const names[] = {"hour", "minute", "second", "milliseconds", "microseconds", nullptr};
    return is_date_field(value) || among(value, names);
}

// An unknown name is an error here and now.
static bool is_zone(const Const *value) {
    DirectFunctionCall2(timestamptz_zone, value->constvalue, TimestampTzGetDatum(0));
    return is_short(value);
}

// ---- the tables ----------------------------------------------------------------------------------------------------

static const char compare_numeric[] = "compares sign, weight and digits; NaN and infinities have an order";
static const char compare_enum[] =
    "compares oids, or the sort positions of committed labels, and only those are stored";
static const char compare_dates[] = "what lies outside the other type's range compares as infinite";
static const char no_integer[] = "NULL outside the integer type and for a zero divisor";
static const char bits[] = "one machine instruction on any bits";
static const char no_float[] = "NULL for overflow, underflow and a zero divisor";
static const char sign_of_float[] = "changes or reads the sign bit";
static const char whole_float[] = "IEEE rounding, also of NaN and infinities";
static const char no_numeric[] = "NULL for a zero divisor, and for operands beyond 10^1000 or of more than 2000 digits";
static const char sign_of_numeric[] = "changes or reads the sign";
static const char opens_round[] = "opens into round(numeric, integer)";
static const char opens_trunc[] = "opens into trunc(numeric, integer)";
static const char opens_sum[] = "opens into the sum with its operands swapped";
static const char opens_part[] = "opens into date_part(text, timestamp)";
static const char opens_textcat[] = "opens into a cast to text and text || text";
static const char no_bucket[] =
    "NULL for NaN, for bounds that are equal or infinite, and for a count below 1 or above 1000000";
static const char no_precision[] = "NULL beyond the precision";
static const char no_date[] = "NULL outside the range of date";
static const char no_difference[] = "NULL for infinite operands and outside the range of the result";
static const char no_timestamp[] = "NULL outside the range of timestamps";
static const char no_calendar[] =
    "NULL for years before 1700 BC or after 290000 and for intervals of more than 1000 years";
static const char date_of_timestamp[] = "every stored timestamp has a date";
static const char field_of_date[] = "the field is one that every date has; infinite dates give infinity or NULL";
static const char field_of_timestamp[] =
    "the field is one that every timestamp has; infinite ones give infinity or NULL";
static const char case_of_text[] = "maps characters that were valid when they were stored";
static const char counts[] = "counts characters or bytes";
static const char part_of_text[] = "a part of the text, cut between characters";
static const char text_cast[] = "a shorter text, or one of two constants";
static const char padded[] = "cut or padded to a constant length";
static const char no_long_text[] = "NULL for a result of more than a megabyte";
static const char pattern[] = "the pattern is short and whole; matching never backtracks over more than one %";
static const char leakproof[] = "leakproof by the server's own account";

// Not leakproof in pg_proc, total all the same, or replaced by what is.
static const TotalFunction functions[] = {
    // Comparisons. numeric: sign, weight and digits; NaN and infinities have an order (cmp_numerics). enum: oids, or the sort
    // positions of committed labels, and only committed ones can be stored (enum_cmp_internal).
    {F_NUMERIC_EQ, Total::as_it_is, none, nullptr, compare_numeric},
    {F_NUMERIC_NE, Total::as_it_is, none, nullptr, compare_numeric},
    {F_NUMERIC_LT, Total::as_it_is, none, nullptr, compare_numeric},
    {F_NUMERIC_LE, Total::as_it_is, none, nullptr, compare_numeric},
    {F_NUMERIC_GT, Total::as_it_is, none, nullptr, compare_numeric},
    {F_NUMERIC_GE, Total::as_it_is, none, nullptr, compare_numeric},
    {F_NUMERIC_CMP, Total::as_it_is, none, nullptr, compare_numeric},
    {F_ENUM_EQ, Total::as_it_is, none, nullptr, compare_enum},
    {F_ENUM_NE, Total::as_it_is, none, nullptr, compare_enum},
    {F_ENUM_LT, Total::as_it_is, none, nullptr, compare_enum},
    {F_ENUM_LE, Total::as_it_is, none, nullptr, compare_enum},
    {F_ENUM_GT, Total::as_it_is, none, nullptr, compare_enum},
    {F_ENUM_GE, Total::as_it_is, none, nullptr, compare_enum},
    {F_ENUM_CMP, Total::as_it_is, none, nullptr, compare_enum},
    // Dates and times across types: what lies outside the other type's range is taken for infinite
    // (date_cmp_timestamp_internal and its like).
    {F_DATE_EQ_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_NE_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_LT_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_LE_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_GT_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_GE_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_EQ_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_NE_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_LT_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_LE_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_GT_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_DATE_GE_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_EQ_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_NE_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_LT_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_LE_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_GT_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_GE_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_EQ_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_NE_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_LT_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_LE_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_GT_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_GE_DATE, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_EQ_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_NE_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_LT_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_LE_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_GT_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMP_GE_TIMESTAMPTZ, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_EQ_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_NE_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_LT_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_LE_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_GT_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    {F_TIMESTAMPTZ_GE_TIMESTAMP, Total::as_it_is, none, nullptr, compare_dates},
    // Arithmetic.
    {F_INT2PL, Total::replaced, none, nullptr, no_integer},
    {F_INT2MI, Total::replaced, none, nullptr, no_integer},
    {F_INT2MUL, Total::replaced, none, nullptr, no_integer},
    {F_INT2DIV, Total::replaced, none, nullptr, no_integer},
    {F_INT4PL, Total::replaced, none, nullptr, no_integer},
    {F_INT4MI, Total::replaced, none, nullptr, no_integer},
    {F_INT4MUL, Total::replaced, none, nullptr, no_integer},
    {F_INT4DIV, Total::replaced, none, nullptr, no_integer},
    {F_INT8PL, Total::replaced, none, nullptr, no_integer},
    {F_INT8MI, Total::replaced, none, nullptr, no_integer},
    {F_INT8MUL, Total::replaced, none, nullptr, no_integer},
    {F_INT8DIV, Total::replaced, none, nullptr, no_integer},
    {F_INT24PL, Total::replaced, none, nullptr, no_integer},
    {F_INT24MI, Total::replaced, none, nullptr, no_integer},
    {F_INT24MUL, Total::replaced, none, nullptr, no_integer},
    {F_INT24DIV, Total::replaced, none, nullptr, no_integer},
    {F_INT42PL, Total::replaced, none, nullptr, no_integer},
    {F_INT42MI, Total::replaced, none, nullptr, no_integer},
    {F_INT42MUL, Total::replaced, none, nullptr, no_integer},
    {F_INT42DIV, Total::replaced, none, nullptr, no_integer},
    {F_INT28PL, Total::replaced, none, nullptr, no_integer},
    {F_INT28MI, Total::replaced, none, nullptr, no_integer},
    {F_INT28MUL, Total::replaced, none, nullptr, no_integer},
    {F_INT28DIV, Total::replaced, none, nullptr, no_integer},
    {F_INT82PL, Total::replaced, none, nullptr, no_integer},
    {F_INT82MI, Total::replaced, none, nullptr, no_integer},
    {F_INT82MUL, Total::replaced, none, nullptr, no_integer},
    {F_INT82DIV, Total::replaced, none, nullptr, no_integer},
    {F_INT48PL, Total::replaced, none, nullptr, no_integer},
    {F_INT48MI, Total::replaced, none, nullptr, no_integer},
    {F_INT48MUL, Total::replaced, none, nullptr, no_integer},
    {F_INT48DIV, Total::replaced, none, nullptr, no_integer},
    {F_INT84PL, Total::replaced, none, nullptr, no_integer},
    {F_INT84MI, Total::replaced, none, nullptr, no_integer},
    {F_INT84MUL, Total::replaced, none, nullptr, no_integer},
    {F_INT84DIV, Total::replaced, none, nullptr, no_integer},
    {F_INT2MOD, Total::replaced, none, nullptr, no_integer},
    {F_INT2UM, Total::replaced, none, nullptr, no_integer},
    {F_ABS_INT2, Total::replaced, none, nullptr, no_integer},
    {F_INT4MOD, Total::replaced, none, nullptr, no_integer},
    {F_INT4UM, Total::replaced, none, nullptr, no_integer},
    {F_ABS_INT4, Total::replaced, none, nullptr, no_integer},
    {F_INT8MOD, Total::replaced, none, nullptr, no_integer},
    {F_INT8UM, Total::replaced, none, nullptr, no_integer},
    {F_ABS_INT8, Total::replaced, none, nullptr, no_integer},
    {F_INT2AND, Total::as_it_is, none, nullptr, bits},
    {F_INT2OR, Total::as_it_is, none, nullptr, bits},
    {F_INT2XOR, Total::as_it_is, none, nullptr, bits},
    {F_INT2NOT, Total::as_it_is, none, nullptr, bits},
    {F_INT4AND, Total::as_it_is, none, nullptr, bits},
    {F_INT4OR, Total::as_it_is, none, nullptr, bits},
    {F_INT4XOR, Total::as_it_is, none, nullptr, bits},
    {F_INT4NOT, Total::as_it_is, none, nullptr, bits},
    {F_INT8AND, Total::as_it_is, none, nullptr, bits},
    {F_INT8OR, Total::as_it_is, none, nullptr, bits},
    {F_INT8XOR, Total::as_it_is, none, nullptr, bits},
    {F_INT8NOT, Total::as_it_is, none, nullptr, bits},
    {F_FLOAT4PL, Total::replaced, none, nullptr, no_float},
    {F_FLOAT4MI, Total::replaced, none, nullptr, no_float},
    {F_FLOAT4MUL, Total::replaced, none, nullptr, no_float},
    {F_FLOAT4DIV, Total::replaced, none, nullptr, no_float},
    {F_FLOAT8PL, Total::replaced, none, nullptr, no_float},
    {F_FLOAT8MI, Total::replaced, none, nullptr, no_float},
    {F_FLOAT8MUL, Total::replaced, none, nullptr, no_float},
    {F_FLOAT8DIV, Total::replaced, none, nullptr, no_float},
    {F_FLOAT48PL, Total::replaced, none, nullptr, no_float},
    {F_FLOAT48MI, Total::replaced, none, nullptr, no_float},
    {F_FLOAT48MUL, Total::replaced, none, nullptr, no_float},
    {F_FLOAT48DIV, Total::replaced, none, nullptr, no_float},
    {F_FLOAT84PL, Total::replaced, none, nullptr, no_float},
    {F_FLOAT84MI, Total::replaced, none, nullptr, no_float},
    {F_FLOAT84MUL, Total::replaced, none, nullptr, no_float},
    {F_FLOAT84DIV, Total::replaced, none, nullptr, no_float},
    {F_FLOAT4UM, Total::as_it_is, none, nullptr, sign_of_float},
    {F_FLOAT8UM, Total::as_it_is, none, nullptr, sign_of_float},
    {F_ABS_FLOAT4, Total::as_it_is, none, nullptr, sign_of_float},
    {F_ABS_FLOAT8, Total::as_it_is, none, nullptr, sign_of_float},
    {F_SIGN_FLOAT8, Total::as_it_is, none, nullptr, sign_of_float},
    {F_ROUND_FLOAT8, Total::as_it_is, none, nullptr, whole_float},
    {F_TRUNC_FLOAT8, Total::as_it_is, none, nullptr, whole_float},
    {F_FLOOR_FLOAT8, Total::as_it_is, none, nullptr, whole_float},
    {F_CEIL_FLOAT8, Total::as_it_is, none, nullptr, whole_float},
    {F_CEILING_FLOAT8, Total::as_it_is, none, nullptr, whole_float},
    {F_NUMERIC_ADD, Total::replaced, none, nullptr, no_numeric},
    {F_NUMERIC_SUB, Total::replaced, none, nullptr, no_numeric},
    {F_NUMERIC_MUL, Total::replaced, none, nullptr, no_numeric},
    {F_NUMERIC_DIV, Total::replaced, none, nullptr, no_numeric},
    {F_NUMERIC_MOD, Total::replaced, none, nullptr, no_numeric},
    {F_NUMERIC_UMINUS, Total::as_it_is, none, nullptr, sign_of_numeric},
    {F_ABS_NUMERIC, Total::as_it_is, none, nullptr, sign_of_numeric},
    {F_SIGN_NUMERIC, Total::as_it_is, none, nullptr, sign_of_numeric},
    {F_FLOOR_NUMERIC, Total::replaced, none, nullptr, no_numeric},
    {F_CEIL_NUMERIC, Total::replaced, none, nullptr, no_numeric},
    {F_CEILING_NUMERIC, Total::replaced, none, nullptr, no_numeric},
    {F_ROUND_NUMERIC, Total::inlined, none, nullptr, opens_round},
    {F_TRUNC_NUMERIC, Total::inlined, none, nullptr, opens_trunc},
    {F_ROUND_NUMERIC_INT4, Total::replaced, second, is_scale, no_numeric},
    {F_TRUNC_NUMERIC_INT4, Total::replaced, second, is_scale, no_numeric},
    {F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4, Total::replaced, none, nullptr, no_bucket},
    {F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4, Total::replaced, none, nullptr, no_bucket},
    // Casts between numbers; the widening ones are leakproof.
    {F_INT2_INT4, Total::replaced, none, nullptr, no_integer},
    {F_INT2_INT8, Total::replaced, none, nullptr, no_integer},
    {F_INT4_INT8, Total::replaced, none, nullptr, no_integer},
    {F_INT2_FLOAT4, Total::replaced, none, nullptr, no_integer},
    {F_INT4_FLOAT4, Total::replaced, none, nullptr, no_integer},
    {F_INT8_FLOAT4, Total::replaced, none, nullptr, no_integer},
    {F_INT2_FLOAT8, Total::replaced, none, nullptr, no_integer},
    {F_INT4_FLOAT8, Total::replaced, none, nullptr, no_integer},
    {F_INT8_FLOAT8, Total::replaced, none, nullptr, no_integer},
    {F_INT2_NUMERIC, Total::replaced, none, nullptr, no_integer},
    {F_INT4_NUMERIC, Total::replaced, none, nullptr, no_integer},
    {F_INT8_NUMERIC, Total::replaced, none, nullptr, no_integer},
    {F_FLOAT4_FLOAT8, Total::replaced, none, nullptr, no_float},
    {F_FLOAT4_NUMERIC, Total::replaced, none, nullptr, no_float},
    {F_FLOAT8_NUMERIC, Total::replaced, none, nullptr, no_float},
    {F_NUMERIC_NUMERIC_INT4, Total::replaced, second, is_numeric_typmod, no_precision},
    // Dates and times.
    {F_DATE_PLI, Total::replaced, none, nullptr, no_date},
    {F_DATE_MII, Total::replaced, none, nullptr, no_date},
    {F_INTEGER_PL_DATE, Total::inlined, none, nullptr, opens_sum},
    {F_DATE_MI, Total::replaced, none, nullptr, no_difference},
    {F_TIMESTAMP_MI, Total::replaced, none, nullptr, no_difference},
    {F_TIMESTAMPTZ_MI, Total::replaced, none, nullptr, no_difference},
    {F_DATE_PL_INTERVAL, Total::replaced, none, nullptr, no_calendar},
    {F_DATE_MI_INTERVAL, Total::replaced, none, nullptr, no_calendar},
    {F_TIMESTAMP_PL_INTERVAL, Total::replaced, none, nullptr, no_calendar},
    {F_TIMESTAMP_MI_INTERVAL, Total::replaced, none, nullptr, no_calendar},
    {F_TIMESTAMPTZ_PL_INTERVAL, Total::replaced, none, nullptr, no_calendar},
    {F_TIMESTAMPTZ_MI_INTERVAL, Total::replaced, none, nullptr, no_calendar},
    {F_INTERVAL_PL_DATE, Total::inlined, none, nullptr, opens_sum},
    {F_INTERVAL_PL_TIMESTAMP, Total::inlined, none, nullptr, opens_sum},
    {F_INTERVAL_PL_TIMESTAMPTZ, Total::inlined, none, nullptr, opens_sum},
    {F_TIMESTAMP_DATE, Total::replaced, none, nullptr, no_timestamp},
    {F_TIMESTAMPTZ_DATE, Total::replaced, none, nullptr, no_timestamp},
    {F_TIMESTAMPTZ_TIMESTAMP, Total::replaced, none, nullptr, no_timestamp},
    {F_TIMESTAMP_TIMESTAMPTZ, Total::replaced, none, nullptr, no_calendar},
    {F_DATE_TIMESTAMPTZ, Total::replaced, none, nullptr, no_calendar},
    {F_DATE_TIMESTAMP, Total::as_it_is, none, nullptr, date_of_timestamp},
    {F_DATE_TRUNC_TEXT_TIMESTAMP, Total::replaced, first, is_trunc_field, no_calendar},
    {F_DATE_TRUNC_TEXT_TIMESTAMPTZ, Total::replaced, first, is_trunc_field, no_calendar},
    {F_TIMEZONE_TEXT_TIMESTAMP, Total::replaced, first, is_zone, no_calendar},
    {F_TIMEZONE_TEXT_TIMESTAMPTZ, Total::replaced, first, is_zone, no_calendar},
    {F_EXTRACT_TEXT_DATE, Total::as_it_is, first, is_date_field, field_of_date},
    {F_DATE_PART_TEXT_DATE, Total::inlined, first, is_date_field, opens_part},
    {F_EXTRACT_TEXT_TIMESTAMP, Total::as_it_is, first, is_timestamp_field, field_of_timestamp},
    {F_EXTRACT_TEXT_TIMESTAMPTZ, Total::replaced, first, is_timestamp_field, no_calendar},
    {F_DATE_PART_TEXT_TIMESTAMP, Total::as_it_is, first, is_timestamp_field, field_of_timestamp},
    {F_DATE_PART_TEXT_TIMESTAMPTZ, Total::replaced, first, is_timestamp_field, no_calendar},
    // Text. Lengths in characters are counted from stored, hence valid, bytes.
    {F_LOWER_TEXT, Total::as_it_is, none, nullptr, case_of_text},
    {F_UPPER_TEXT, Total::as_it_is, none, nullptr, case_of_text},
    {F_LENGTH_TEXT, Total::as_it_is, none, nullptr, counts},
    {F_CHAR_LENGTH_TEXT, Total::as_it_is, none, nullptr, counts},
    {F_CHARACTER_LENGTH_TEXT, Total::as_it_is, none, nullptr, counts},
    {F_OCTET_LENGTH_TEXT, Total::as_it_is, none, nullptr, counts},
    {F_LENGTH_BPCHAR, Total::as_it_is, none, nullptr, counts},
    {F_CHAR_LENGTH_BPCHAR, Total::as_it_is, none, nullptr, counts},
    {F_CHARACTER_LENGTH_BPCHAR, Total::as_it_is, none, nullptr, counts},
    {F_OCTET_LENGTH_BPCHAR, Total::as_it_is, none, nullptr, counts},
    {F_LEFT, Total::as_it_is, second, is_count, part_of_text},
    {F_RIGHT, Total::as_it_is, second, is_count, part_of_text},
    {F_SUBSTR_TEXT_INT4, Total::as_it_is, second, is_count, part_of_text},
    {F_SUBSTRING_TEXT_INT4, Total::as_it_is, second, is_count, part_of_text},
    {F_SUBSTR_TEXT_INT4_INT4, Total::as_it_is, second | third, is_length, part_of_text},
    {F_SUBSTRING_TEXT_INT4_INT4, Total::as_it_is, second | third, is_length, part_of_text},
    {F_BTRIM_TEXT, Total::as_it_is, none, nullptr, part_of_text},
    {F_LTRIM_TEXT, Total::as_it_is, none, nullptr, part_of_text},
    {F_RTRIM_TEXT, Total::as_it_is, none, nullptr, part_of_text},
    {F_BTRIM_TEXT_TEXT, Total::as_it_is, second, is_short, part_of_text},
    {F_LTRIM_TEXT_TEXT, Total::as_it_is, second, is_short, part_of_text},
    {F_RTRIM_TEXT_TEXT, Total::as_it_is, second, is_short, part_of_text},
    {F_TEXT_BPCHAR, Total::as_it_is, none, nullptr, text_cast},
    {F_TEXT_BOOL, Total::as_it_is, none, nullptr, text_cast},
    {F_VARCHAR_VARCHAR_INT4_BOOL, Total::as_it_is, second | third, is_explicit, part_of_text},
    {F_BPCHAR_BPCHAR_INT4_BOOL, Total::as_it_is, second | third, is_explicit, padded},
    {F_TEXTCAT, Total::replaced, none, nullptr, no_long_text},
    {F_ANYTEXTCAT, Total::inlined, none, nullptr, opens_textcat},
    {F_TEXTANYCAT, Total::inlined, none, nullptr, opens_textcat},
    {F_TEXTLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_TEXTNLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_BPCHARLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_BPCHARNLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_NAMELIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_NAMENLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_TEXTICLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_TEXTICNLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_BPCHARICLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_BPCHARICNLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_NAMEICLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_NAMEICNLIKE, Total::as_it_is, second, is_pattern, pattern},
    {InvalidOid, Total::as_it_is, none, nullptr, nullptr},
};

static const TotalCast casts[] = {
    {TEXTOID, INT2OID, "int2", "NULL for a text that is no number of the type"},
    {TEXTOID, INT4OID, "int4", "NULL for a text that is no number of the type"},
    {TEXTOID, INT8OID, "int8", "NULL for a text that is no number of the type"},
    {TEXTOID, FLOAT4OID, "float4", "NULL for a text that is no decimal number of the type"},
    {TEXTOID, FLOAT8OID, "float8", "NULL for a text that is no decimal number of the type"},
    {TEXTOID, NUMERICOID, "numeric", "NULL for a text that is no decimal number, or of more than 1000 characters"},
    {TEXTOID, BOOLOID, "bool", "NULL for a text that is neither true nor false"},
    {TEXTOID, DATEOID, "date", "NULL for a text that is not YYYY-MM-DD"},
    {TEXTOID, TIMESTAMPOID, "timestamp", "NULL for a text that is not YYYY-MM-DD HH:MM:SS with or without a fraction"},
    {INT2OID, TEXTOID, "text", "prints digits"},
    {INT4OID, TEXTOID, "text", "prints digits"},
    {INT8OID, TEXTOID, "text", "prints digits"},
    {FLOAT4OID, TEXTOID, "text", "prints digits"},
    {FLOAT8OID, TEXTOID, "text", "prints digits"},
    {NUMERICOID, TEXTOID, "text", "prints digits; NULL beyond 10^1000 or 2000 digits"},
    {DATEOID, TEXTOID, "text", "prints a stored date in ISO style"},
    {TIMESTAMPOID, TEXTOID, "text", "prints a stored timestamp in ISO style"},
    {UUIDOID, TEXTOID, "text", "prints sixteen bytes"},
    {ANYENUMOID, TEXTOID, "text", "reads a committed label, and only those are stored"},
    {InvalidOid, InvalidOid, nullptr, nullptr},
};

const TotalFunction *total_function(int index) {
    return OidIsValid(functions[index].function) ? &functions[index] : nullptr;
}

const TotalCast *total_cast(int index) {
    return OidIsValid(casts[index].from) ? &casts[index] : nullptr;
}

// ---- looking up ----------------------------------------------------------------------------------------------------

static bool is_builtin(Oid function) {
    return function < FirstUnpinnedObjectId;
}

const TotalFunction *find_total(Oid function) {
    if (!is_builtin(function))
        return nullptr;
    for (const TotalFunction &entry : functions)
        if (entry.function == function)
            return &entry;
    if (!get_func_leakproof(function) || func_volatile(function) == PROVOLATILE_VOLATILE)
        return nullptr;
    auto *entry = static_cast<TotalFunction *>(palloc(sizeof(TotalFunction)));
    *entry = TotalFunction{function, Total::as_it_is, none, nullptr, leakproof};
    return entry;
}

static Oid text_or_type(Oid type) {
    type = getBaseType(type);
    if (type == VARCHAROID || type == BPCHAROID)
        return TEXTOID;
    return type_is_enum(type) ? ANYENUMOID : type;
}

const TotalCast *find_total_cast(Oid from, Oid to) {
    from = text_or_type(from);
    to = to == VARCHAROID || to == BPCHAROID ? TEXTOID : to;
    for (const TotalCast *cast = casts; OidIsValid(cast->from); cast++)
        if (cast->from == from && cast->to == to)
            return cast;
    return nullptr;
}

Oid replacement_of(Oid function) {
    Oid *types;
    int nargs;
    get_func_signature(function, &types, &nargs);
    return border::internal_function(get_func_name(function), nargs, types);
}

Oid replacement_of(const TotalCast &cast) {
    return border::internal_function(cast.function, 1, &cast.from);
}

// Evaluated once, as the caller, before the charge. The stable ones that matter: clock, calendar and time zone.
bool is_harmless_on_constants(Oid function) {
    static const Oid stable[] = {F_NOW, F_TRANSACTION_TIMESTAMP, F_STATEMENT_TIMESTAMP};
    if (!is_builtin(function))
        return false;
    for (Oid candidate : stable)
        if (candidate == function)
            return true;
    char kind = func_volatile(function);
    return kind == PROVOLATILE_IMMUTABLE || (kind == PROVOLATILE_STABLE && find_total(function) != nullptr);
}

bool contains_column(Node *node, void *) {
    if (node == nullptr)
        return false;
    // What stands for an element of an array is no column of its own.
    if (IsA(node, ArrayCoerceExpr))
        return contains_column(reinterpret_cast<Node *>(castNode(ArrayCoerceExpr, node)->arg), nullptr);
    return IsA(node, Var) || IsA(node, CaseTestExpr) || border::walk_expression(node, contains_column, nullptr);
}

// Case mapping reads characters through the C library, which may know fewer than the database stores.
static bool maps_cases(Oid function) {
    static const Oid list[] = {F_LOWER_TEXT,   F_UPPER_TEXT,    F_TEXTICLIKE, F_TEXTICNLIKE,
                               F_BPCHARICLIKE, F_BPCHARICNLIKE, F_NAMEICLIKE, F_NAMEICNLIKE};
    for (Oid candidate : list)
        if (candidate == function)
            return true;
    return false;
}

const char *collation_problem(const TotalFunction *entry, Oid collation) {
    if (entry->accepts == is_pattern && !get_collation_isdeterministic(collation))
        return "LIKE under a nondeterministic collation";
    if (maps_cases(entry->function) && GetDatabaseEncoding() != PG_UTF8 && pg_database_encoding_max_length() > 1)
        return "case mapping in this database's encoding";
    return nullptr;
}

// ---- from a checked expression to a total one ----------------------------------------------------------------------

static Node *substitute_parameters(Node *node, void *context) {
    auto *parameters = static_cast<ParamListInfo>(context);
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Param) && parameters != nullptr) {
        auto *param = castNode(Param, node);
        ParamExternData *value = &parameters->params[param->paramid - 1];
        int16 length;
        bool by_value;
        get_typlenbyval(param->paramtype, &length, &by_value);
        return reinterpret_cast<Node *>(makeConst(param->paramtype, param->paramtypmod, param->paramcollid, length,
                                                  value->value, value->isnull, by_value));
    }
    return border::mutate_expression(node, substitute_parameters, context);
}

// Functions of constants become constants, the stable ones too: none is left to be evaluated for some rows only.
static Node *fold(Node *expression) {
    auto *root = makeNode(PlannerInfo);
    root->glob = makeNode(PlannerGlobal);
    return estimate_expression_value(root, expression);
}

[[noreturn]] static void refuse(const char *part) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("%s is not supported in a query on a restricted view", part), errhint("%s", total_hint)));
    pg_unreachable();
}

void check_constant(const TotalFunction *entry, int argument, const Const *value, ParseState *source) {
    if (value->constisnull || entry->accepts == nullptr || entry->accepts(value))
        return;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("argument %d of %s has a value that is not supported in a query on a restricted view",
                           argument + 1, get_func_name(entry->function)),
                    errhint("%s", total_hint), source ? parser_errposition(source, value->location) : 0));
}

static void check_constants(const TotalFunction *entry, List *arguments) {
    ListCell *cell;
    foreach (cell, arguments) {
        if ((entry->constants & (1 << foreach_current_index(cell))) == 0)
            continue;
        auto *value = reinterpret_cast<Const *>(lfirst(cell));
        if (!IsA(value, Const))
            refuse(psprintf("function %s with an argument that is not a constant", get_func_name(entry->function)));
        check_constant(entry, foreach_current_index(cell), value);
    }
}

static Node *to_total(Node *node, void *context);

static List *total_arguments(List *arguments) {
    return reinterpret_cast<List *>(to_total(reinterpret_cast<Node *>(arguments), nullptr));
}

// A call of `function`, or of its replacement.
static Node *total_call(Node *node, Oid function, Oid result, Oid collation, Oid input_collation, List *arguments) {
    const TotalFunction *entry = find_total(function);
    if (entry == nullptr)
        refuse(psprintf("function %s", format_procedure(function)));
    check_constants(entry, arguments);
    if (entry->how == Total::as_it_is)
        return border::mutate_expression(node, to_total, nullptr);
    return reinterpret_cast<Node *>(makeFuncExpr(replacement_of(function), result, total_arguments(arguments),
                                                 collation, input_collation, COERCE_EXPLICIT_CALL));
}

// Comparisons that the executor calls by itself: they have no replacement and want no constants.
static Node *total_comparison(Node *node, Oid function) {
    const TotalFunction *entry = find_total(function);
    if (entry == nullptr || entry->how != Total::as_it_is || entry->constants != none)
        refuse(psprintf("function %s", format_procedure(function)));
    return border::mutate_expression(node, to_total, nullptr);
}

static Node *total_cast(const CoerceViaIO *cast) {
    auto *argument = reinterpret_cast<Node *>(cast->arg);
    const TotalCast *entry = find_total_cast(exprType(argument), cast->resulttype);
    if (entry == nullptr)
        refuse(psprintf("a cast from %s to %s", format_type_be(exprType(argument)), format_type_be(cast->resulttype)));
    argument = to_total(argument, nullptr);
    if (entry->from == TEXTOID && exprType(argument) != TEXTOID)
        argument = reinterpret_cast<Node *>(makeRelabelType(reinterpret_cast<Expr *>(argument), TEXTOID, -1,
                                                            DEFAULT_COLLATION_OID, COERCE_IMPLICIT_CAST));
    auto *call = reinterpret_cast<Expr *>(makeFuncExpr(replacement_of(*entry), entry->to, list_make1(argument),
                                                       entry->to == TEXTOID ? cast->resultcollid : InvalidOid,
                                                       InvalidOid, COERCE_EXPLICIT_CALL));
    if (cast->resulttype != entry->to)
        call = reinterpret_cast<Expr *>(
            makeRelabelType(call, cast->resulttype, -1, cast->resultcollid, COERCE_IMPLICIT_CAST));
    return reinterpret_cast<Node *>(call);
}

static Node *total_operator(OpExpr *call) {
    set_opfuncid(call);
    return total_call(reinterpret_cast<Node *>(call), call->opfuncid, call->opresulttype, call->opcollid,
                      call->inputcollid, call->args);
}

// The second wall behind shape's: whatever folding has made of the expression, nothing that is not named here is evaluated.
static Node *to_total(Node *node, void *) {
    if (node == nullptr)
        return nullptr;
    switch (nodeTag(node)) {
    case T_Const:
    case T_Var:
    case T_List:
    case T_BoolExpr:
    case T_BooleanTest:
    case T_NullTest:
    case T_RelabelType:
    case T_ArrayExpr:
    case T_CaseExpr:
    case T_CaseWhen:
    case T_CaseTestExpr:
    case T_CoalesceExpr:
    case T_MinMaxExpr: // its comparison was checked with its type, which folding keeps
        return border::mutate_expression(node, to_total, nullptr);
    case T_FuncExpr: {
        auto *call = castNode(FuncExpr, node);
        return total_call(node, call->funcid, call->funcresulttype, call->funccollid, call->inputcollid, call->args);
    }
    case T_OpExpr:
        return total_operator(castNode(OpExpr, node));
    case T_DistinctExpr: // the same struct, and NullIfExpr
    case T_NullIfExpr:
        set_opfuncid(reinterpret_cast<OpExpr *>(node));
        return total_comparison(node, reinterpret_cast<OpExpr *>(node)->opfuncid);
    case T_ScalarArrayOpExpr:
        set_sa_opfuncid(castNode(ScalarArrayOpExpr, node));
        return total_comparison(node, castNode(ScalarArrayOpExpr, node)->opfuncid);
    case T_CoerceViaIO:
        return total_cast(castNode(CoerceViaIO, node));
    default:
        refuse("an expression of this kind");
    }
}

Node *make_total(Node *expression, ParamListInfo parameters) {
    return to_total(fold(substitute_parameters(expression, parameters)), nullptr);
}

} // namespace dp::query
