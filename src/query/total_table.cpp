#include "query/total_table.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"
#include "border/walk.hpp"
#include "query/accepted.hpp"
#include "query/date_style.hpp"

namespace dp::query {

using namespace accepted;

constexpr uint8 none = 0, first = 1, second = 2, third = 4;

// ---- the tables ----------------------------------------------------------------------------------------------------

// Why a function cannot fail on any stored value, and what it may cost there: nanoseconds of a call, and of a byte of each
// value whose size the rows decide. Measured on values of a megabyte, with room for a slower machine (test/bench).
constexpr Reason compare_fixed = {"compares values of a fixed size, bit by bit or by their parts"};
constexpr Reason compare_floats = {"compares numbers; NaN has an order"};
constexpr Reason compare_intervals = {"compares 128-bit sums of their parts"};
constexpr Reason compare_networks = {"compares families, bits and lengths of at most 18 bytes"};
constexpr Reason compare_bytes = {"compares bytes, under deterministic collations only", Work::bytes, 30, 1};
constexpr Reason compare_order = {
    "compares bytes under C, else in the order of a deterministic collation, opened before", Work::order, 100, 1};
constexpr Reason compare_numeric = {"compares sign, weight and digits; NaN and infinities have an order", Work::bytes,
                                    100, 3};
constexpr Reason compare_enum = {"compares oids, or the sort positions of committed labels, and only those are stored",
                                 Work::flat, 200};
constexpr Reason compare_dates = {"what lies outside the other type's range compares as infinite", Work::flat, 1000};
constexpr Reason digest = {"reads every byte once; tried before, since a library may forbid it", Work::bytes, 1000, 6};
constexpr Reason name_cast = {"cuts to 63 bytes, between characters, or widens from there", Work::bytes, 100, 3};
constexpr Reason widening = {"every value of the type has one in the wider type", Work::flat, 500};
constexpr Reason no_integer = {"NULL outside the integer type and for a zero divisor", Work::flat, 500};
constexpr Reason bits = {"one machine instruction on any bits"};
constexpr Reason no_float = {"NULL for overflow, underflow and a zero divisor", Work::flat, 500};
constexpr Reason sign_of_float = {"changes or reads the sign bit"};
constexpr Reason whole_float = {"IEEE rounding, also of NaN and infinities"};
constexpr Reason no_numeric = {"NULL for operands beyond 10^300, of more than 200 digits or 300 decimals", Work::flat,
                               4000};
constexpr Reason no_quotient = {
    "NULL for a zero divisor, and for operands beyond 10^300, of more than 200 digits or 300 decimals", Work::flat,
    20000};
constexpr Reason sign_of_numeric = {"changes or reads the sign", Work::bytes, 100, 3};
constexpr Reason opens_round = {"opens into round(numeric, integer)"};
constexpr Reason opens_trunc = {"opens into trunc(numeric, integer)"};
constexpr Reason opens_sum = {"opens into the sum with its operands swapped"};
constexpr Reason opens_part = {"opens into date_part(text, timestamp)"};
constexpr Reason opens_textcat = {"opens into a cast to text and text || text"};
constexpr Reason opens_concat = {"opens into casts to text, COALESCE and text || text"};
constexpr Reason opens_concat_ws = {"opens into casts to text, COALESCE, text || text and substr"};
constexpr Reason no_bucket = {
    "NULL for NaN, for bounds that are equal or infinite, and for a count below 1 or above 1000000", Work::flat, 20000};
constexpr Reason no_precision = {"NULL beyond the precision", Work::flat, 4000};
constexpr Reason no_date = {"NULL outside the range of date"};
constexpr Reason no_difference = {"NULL for infinite operands and outside the range of the result", Work::flat, 200};
constexpr Reason no_timestamp = {"NULL outside the range of timestamps", Work::flat, 2000};
constexpr Reason no_calendar = {
    "NULL for years before 1700 BC or after 290000 and for intervals of more than 1000 years", Work::flat, 2000};
constexpr Reason date_of_timestamp = {"every stored timestamp has a date", Work::flat, 200};
constexpr Reason field_of_date = {"the field is one that every date has; infinite dates give infinity or NULL",
                                  Work::flat, 1000};
constexpr Reason field_of_timestamp = {"the field is one that every timestamp has; infinite ones give infinity or NULL",
                                       Work::flat, 1000};
constexpr Reason field_of_time = {"the field is one that every time has", Work::flat, 1000};
constexpr Reason place_among = {"the place among at most 1000 constants of a type whose comparison cannot fail",
                                Work::bytes, 20000, 3};
constexpr Reason field_of_interval = {"the field is one that every interval has; infinite ones give infinity or NULL",
                                      Work::flat, 1000};
constexpr Reason no_age = {"NULL for infinities and for years before 1700 BC or after 290000", Work::flat, 2000};
constexpr Reason opens_age = {"opens into age() of today and the value"};
constexpr Reason no_bin = {"NULL for years before 1700 BC or after 290000; stride and origin are tried before",
                           Work::flat, 1000};
constexpr Reason printed_date = {
    "prints numbers and English names; NULL for infinities and for years before 1700 BC or after 290000", Work::flat,
    3000};
constexpr Reason found_text = {"the place of a short constant text", Work::trim, 300, 10};
constexpr Reason field_of_text = {"a part of the text, between short constant delimiters", Work::trim, 300, 10};
constexpr Reason part_of_document = {"a copy of a part of the document, found by its key or number", Work::bytes, 500,
                                     4};
constexpr Reason look_at_document = {"looks for a key, or for what kind of document it is", Work::bytes, 500, 4};
constexpr Reason no_document = {
    "NULL for objects and arrays, and for numbers beyond 10^300, of more than 200 digits or 300 decimals", Work::bytes,
    5000, 4};
constexpr Reason case_of_text = {"maps characters that were valid when they were stored", Work::cases, 200, 2};
constexpr Reason counts = {"counts characters or bytes", Work::bytes, 50, 2};
constexpr Reason part_of_text = {"a part of the text, cut between characters", Work::bytes, 100, 4};
constexpr Reason trimmed_text = {"a part of the text, cut between characters", Work::trim, 200, 10};
constexpr Reason text_cast = {"a shorter text, or one of two constants", Work::bytes, 50, 2};
constexpr Reason padded = {"cut or padded to a constant length", Work::bytes, 100, 2};
constexpr Reason no_long_text = {"NULL for a result of more than a megabyte", Work::bytes, 200, 1};
constexpr Reason pattern = {"the pattern is short and whole; matching never backtracks over more than one %",
                            Work::like, 100, 3};
constexpr Reason pattern_of_cases = {"the pattern is short and whole; matching never backtracks over more than one %",
                                     Work::ilike, 300, 5};

// Named one by one, from the source of PostgreSQL 15: nothing here because a catalog says so. Left out although pg_proc calls
// them leakproof: circle_* and lseg_* (areas and lengths overflow with an error), *_larger and *_smaller (nobody writes
// them), and comparisons of cid, xid, xid8, tid, pg_lsn and oidvector (nobody stores them).
namespace {
struct Group {
    Reason why;
    Total how;
    Oid functions[150]; // to the first zero
};
} // namespace

static const Group groups[] = {
    {compare_numeric,
     Total::as_it_is,
     {F_NUMERIC_EQ, F_NUMERIC_NE, F_NUMERIC_LT, F_NUMERIC_LE, F_NUMERIC_GT, F_NUMERIC_GE, F_NUMERIC_CMP}},
    {compare_enum, Total::as_it_is, {F_ENUM_EQ, F_ENUM_NE, F_ENUM_LT, F_ENUM_LE, F_ENUM_GT, F_ENUM_GE, F_ENUM_CMP}},
    {compare_dates,
     Total::as_it_is,
     {F_DATE_EQ_TIMESTAMP,        F_DATE_NE_TIMESTAMP,        F_DATE_LT_TIMESTAMP,        F_DATE_LE_TIMESTAMP,
      F_DATE_GT_TIMESTAMP,        F_DATE_GE_TIMESTAMP,        F_DATE_EQ_TIMESTAMPTZ,      F_DATE_NE_TIMESTAMPTZ,
      F_DATE_LT_TIMESTAMPTZ,      F_DATE_LE_TIMESTAMPTZ,      F_DATE_GT_TIMESTAMPTZ,      F_DATE_GE_TIMESTAMPTZ,
      F_TIMESTAMP_EQ_DATE,        F_TIMESTAMP_NE_DATE,        F_TIMESTAMP_LT_DATE,        F_TIMESTAMP_LE_DATE,
      F_TIMESTAMP_GT_DATE,        F_TIMESTAMP_GE_DATE,        F_TIMESTAMPTZ_EQ_DATE,      F_TIMESTAMPTZ_NE_DATE,
      F_TIMESTAMPTZ_LT_DATE,      F_TIMESTAMPTZ_LE_DATE,      F_TIMESTAMPTZ_GT_DATE,      F_TIMESTAMPTZ_GE_DATE,
      F_TIMESTAMP_EQ_TIMESTAMPTZ, F_TIMESTAMP_NE_TIMESTAMPTZ, F_TIMESTAMP_LT_TIMESTAMPTZ, F_TIMESTAMP_LE_TIMESTAMPTZ,
      F_TIMESTAMP_GT_TIMESTAMPTZ, F_TIMESTAMP_GE_TIMESTAMPTZ, F_TIMESTAMPTZ_EQ_TIMESTAMP, F_TIMESTAMPTZ_NE_TIMESTAMP,
      F_TIMESTAMPTZ_LT_TIMESTAMP, F_TIMESTAMPTZ_LE_TIMESTAMP, F_TIMESTAMPTZ_GT_TIMESTAMP, F_TIMESTAMPTZ_GE_TIMESTAMP}},
    {compare_bytes,
     Total::as_it_is,
     {F_BITCMP,
      F_BITEQ,
      F_BITGE,
      F_BITGT,
      F_BITLE,
      F_BITLT,
      F_BITNE,
      F_BPCHAR_PATTERN_GE,
      F_BPCHAR_PATTERN_GT,
      F_BPCHAR_PATTERN_LE,
      F_BPCHAR_PATTERN_LT,
      F_BPCHAREQ,
      F_BPCHARNE,
      F_BTBPCHAR_PATTERN_CMP,
      F_BTTEXT_PATTERN_CMP,
      F_BYTEACMP,
      F_BYTEAEQ,
      F_BYTEAGE,
      F_BYTEAGT,
      F_BYTEALE,
      F_BYTEALT,
      F_BYTEANE,
      F_NAMEEQ,
      F_NAMEEQTEXT,
      F_NAMENE,
      F_NAMENETEXT,
      F_STARTS_WITH,
      F_TEXT_PATTERN_GE,
      F_TEXT_PATTERN_GT,
      F_TEXT_PATTERN_LE,
      F_TEXT_PATTERN_LT,
      F_TEXTEQ,
      F_TEXTEQNAME,
      F_TEXTNE,
      F_TEXTNENAME,
      F_VARBITCMP,
      F_VARBITEQ,
      F_VARBITGE,
      F_VARBITGT,
      F_VARBITLE,
      F_VARBITLT,
      F_VARBITNE}},
    {compare_fixed,
     Total::as_it_is,
     {F_BOOLEQ,          F_BOOLGE,         F_BOOLGT,         F_BOOLLE,         F_BOOLLT,         F_BOOLNE,
      F_BTBOOLCMP,       F_BTCHARCMP,      F_BTINT24CMP,     F_BTINT28CMP,     F_BTINT2CMP,      F_BTINT42CMP,
      F_BTINT48CMP,      F_BTINT4CMP,      F_BTINT82CMP,     F_BTINT84CMP,     F_BTINT8CMP,      F_BTOIDCMP,
      F_CASH_CMP,        F_CASH_EQ,        F_CASH_GE,        F_CASH_GT,        F_CASH_LE,        F_CASH_LT,
      F_CASH_NE,         F_CHAREQ,         F_CHARGE,         F_CHARGT,         F_CHARLE,         F_CHARLT,
      F_CHARNE,          F_DATE_CMP,       F_DATE_EQ,        F_DATE_GE,        F_DATE_GT,        F_DATE_LE,
      F_DATE_LT,         F_DATE_NE,        F_INT24EQ,        F_INT24GE,        F_INT24GT,        F_INT24LE,
      F_INT24LT,         F_INT24NE,        F_INT28EQ,        F_INT28GE,        F_INT28GT,        F_INT28LE,
      F_INT28LT,         F_INT28NE,        F_INT2EQ,         F_INT2GE,         F_INT2GT,         F_INT2LE,
      F_INT2LT,          F_INT2NE,         F_INT42EQ,        F_INT42GE,        F_INT42GT,        F_INT42LE,
      F_INT42LT,         F_INT42NE,        F_INT48EQ,        F_INT48GE,        F_INT48GT,        F_INT48LE,
      F_INT48LT,         F_INT48NE,        F_INT4EQ,         F_INT4GE,         F_INT4GT,         F_INT4LE,
      F_INT4LT,          F_INT4NE,         F_INT82EQ,        F_INT82GE,        F_INT82GT,        F_INT82LE,
      F_INT82LT,         F_INT82NE,        F_INT84EQ,        F_INT84GE,        F_INT84GT,        F_INT84LE,
      F_INT84LT,         F_INT84NE,        F_INT8EQ,         F_INT8GE,         F_INT8GT,         F_INT8LE,
      F_INT8LT,          F_INT8NE,         F_MACADDR8_CMP,   F_MACADDR8_EQ,    F_MACADDR8_GE,    F_MACADDR8_GT,
      F_MACADDR8_LE,     F_MACADDR8_LT,    F_MACADDR8_NE,    F_MACADDR_CMP,    F_MACADDR_EQ,     F_MACADDR_GE,
      F_MACADDR_GT,      F_MACADDR_LE,     F_MACADDR_LT,     F_MACADDR_NE,     F_OIDEQ,          F_OIDGE,
      F_OIDGT,           F_OIDLE,          F_OIDLT,          F_OIDNE,          F_TIME_CMP,       F_TIME_EQ,
      F_TIME_GE,         F_TIME_GT,        F_TIME_LE,        F_TIME_LT,        F_TIME_NE,        F_TIMESTAMP_CMP,
      F_TIMESTAMP_EQ,    F_TIMESTAMP_GE,   F_TIMESTAMP_GT,   F_TIMESTAMP_LE,   F_TIMESTAMP_LT,   F_TIMESTAMP_NE,
      F_TIMESTAMPTZ_CMP, F_TIMESTAMPTZ_EQ, F_TIMESTAMPTZ_GE, F_TIMESTAMPTZ_GT, F_TIMESTAMPTZ_LE, F_TIMESTAMPTZ_LT,
      F_TIMESTAMPTZ_NE,  F_TIMETZ_CMP,     F_TIMETZ_EQ,      F_TIMETZ_GE,      F_TIMETZ_GT,      F_TIMETZ_LE,
      F_TIMETZ_LT,       F_TIMETZ_NE,      F_UUID_CMP,       F_UUID_EQ,        F_UUID_GE,        F_UUID_GT,
      F_UUID_LE,         F_UUID_LT,        F_UUID_NE}},
    {compare_order, Total::as_it_is, {F_BPCHARCMP,  F_BPCHARGE,      F_BPCHARGT,   F_BPCHARLE,      F_BPCHARLT,
                                      F_BTNAMECMP,  F_BTNAMETEXTCMP, F_BTTEXTCMP,  F_BTTEXTNAMECMP, F_NAMEGE,
                                      F_NAMEGETEXT, F_NAMEGT,        F_NAMEGTTEXT, F_NAMELE,        F_NAMELETEXT,
                                      F_NAMELT,     F_NAMELTTEXT,    F_TEXT_GE,    F_TEXT_GT,       F_TEXT_LE,
                                      F_TEXT_LT,    F_TEXTGENAME,    F_TEXTGTNAME, F_TEXTLENAME,    F_TEXTLTNAME}},
    {compare_floats,
     Total::as_it_is,
     {F_BTFLOAT48CMP, F_BTFLOAT4CMP, F_BTFLOAT84CMP, F_BTFLOAT8CMP, F_FLOAT48EQ, F_FLOAT48GE, F_FLOAT48GT,
      F_FLOAT48LE,    F_FLOAT48LT,   F_FLOAT48NE,    F_FLOAT4EQ,    F_FLOAT4GE,  F_FLOAT4GT,  F_FLOAT4LE,
      F_FLOAT4LT,     F_FLOAT4NE,    F_FLOAT84EQ,    F_FLOAT84GE,   F_FLOAT84GT, F_FLOAT84LE, F_FLOAT84LT,
      F_FLOAT84NE,    F_FLOAT8EQ,    F_FLOAT8GE,     F_FLOAT8GT,    F_FLOAT8LE,  F_FLOAT8LT,  F_FLOAT8NE}},
    {compare_intervals,
     Total::as_it_is,
     {F_INTERVAL_CMP, F_INTERVAL_EQ, F_INTERVAL_GE, F_INTERVAL_GT, F_INTERVAL_LE, F_INTERVAL_LT, F_INTERVAL_NE}},
    {compare_networks,
     Total::as_it_is,
     {F_NETWORK_CMP, F_NETWORK_EQ, F_NETWORK_GE, F_NETWORK_GT, F_NETWORK_LE, F_NETWORK_LT, F_NETWORK_NE}},
    {no_integer,
     Total::replaced,
     {F_INT2PL,      F_INT2MI,      F_INT2MUL,     F_INT2DIV,     F_INT4PL,      F_INT4MI,       F_INT4MUL,
      F_INT4DIV,     F_INT8PL,      F_INT8MI,      F_INT8MUL,     F_INT8DIV,     F_INT24PL,      F_INT24MI,
      F_INT24MUL,    F_INT24DIV,    F_INT42PL,     F_INT42MI,     F_INT42MUL,    F_INT42DIV,     F_INT28PL,
      F_INT28MI,     F_INT28MUL,    F_INT28DIV,    F_INT82PL,     F_INT82MI,     F_INT82MUL,     F_INT82DIV,
      F_INT48PL,     F_INT48MI,     F_INT48MUL,    F_INT48DIV,    F_INT84PL,     F_INT84MI,      F_INT84MUL,
      F_INT84DIV,    F_INT2MOD,     F_INT2UM,      F_ABS_INT2,    F_INT4MOD,     F_INT4UM,       F_ABS_INT4,
      F_INT8MOD,     F_INT8UM,      F_ABS_INT8,    F_INT2_INT4,   F_INT2_INT8,   F_INT4_INT8,    F_INT2_FLOAT4,
      F_INT4_FLOAT4, F_INT8_FLOAT4, F_INT2_FLOAT8, F_INT4_FLOAT8, F_INT8_FLOAT8, F_INT2_NUMERIC, F_INT4_NUMERIC,
      F_INT8_NUMERIC}},
    {bits,
     Total::as_it_is,
     {F_INT2AND, F_INT2OR, F_INT2XOR, F_INT2NOT, F_INT4AND, F_INT4OR, F_INT4XOR, F_INT4NOT, F_INT8AND, F_INT8OR,
      F_INT8XOR, F_INT8NOT}},
    {no_float,
     Total::replaced,
     {F_FLOAT4PL, F_FLOAT4MI, F_FLOAT4MUL, F_FLOAT4DIV, F_FLOAT8PL, F_FLOAT8MI, F_FLOAT8MUL, F_FLOAT8DIV, F_FLOAT48PL,
      F_FLOAT48MI, F_FLOAT48MUL, F_FLOAT48DIV, F_FLOAT84PL, F_FLOAT84MI, F_FLOAT84MUL, F_FLOAT84DIV, F_FLOAT4_FLOAT8,
      F_FLOAT4_NUMERIC, F_FLOAT8_NUMERIC}},
    {sign_of_float, Total::as_it_is, {F_FLOAT4UM, F_FLOAT8UM, F_ABS_FLOAT4, F_ABS_FLOAT8, F_SIGN_FLOAT8}},
    {whole_float, Total::as_it_is, {F_ROUND_FLOAT8, F_TRUNC_FLOAT8, F_FLOOR_FLOAT8, F_CEIL_FLOAT8, F_CEILING_FLOAT8}},
    {no_integer, Total::replaced, {F_MOD_INT2_INT2, F_MOD_INT4_INT4, F_MOD_INT8_INT8}},
    {no_quotient, Total::replaced, {F_NUMERIC_DIV, F_NUMERIC_MOD, F_MOD_NUMERIC_NUMERIC}},
    {no_numeric,
     Total::replaced,
     {F_NUMERIC_ADD, F_NUMERIC_SUB, F_NUMERIC_MUL, F_FLOOR_NUMERIC, F_CEIL_NUMERIC, F_CEILING_NUMERIC}},
    {sign_of_numeric, Total::as_it_is, {F_NUMERIC_UMINUS, F_ABS_NUMERIC, F_SIGN_NUMERIC}},
    {opens_round, Total::inlined, {F_ROUND_NUMERIC}},
    {opens_trunc, Total::inlined, {F_TRUNC_NUMERIC}},
    {no_bucket,
     Total::replaced,
     {F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4, F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4}},
    {no_date, Total::replaced, {F_DATE_PLI, F_DATE_MII}},
    {opens_sum,
     Total::inlined,
     {F_INTEGER_PL_DATE, F_INTERVAL_PL_DATE, F_INTERVAL_PL_TIMESTAMP, F_INTERVAL_PL_TIMESTAMPTZ}},
    {no_difference, Total::replaced, {F_DATE_MI, F_TIMESTAMP_MI, F_TIMESTAMPTZ_MI}},
    {no_calendar,
     Total::replaced,
     {F_DATE_PL_INTERVAL, F_DATE_MI_INTERVAL, F_TIMESTAMP_PL_INTERVAL, F_TIMESTAMP_MI_INTERVAL,
      F_TIMESTAMPTZ_PL_INTERVAL, F_TIMESTAMPTZ_MI_INTERVAL, F_TIMESTAMP_TIMESTAMPTZ, F_DATE_TIMESTAMPTZ}},
    {no_timestamp, Total::replaced, {F_TIMESTAMP_DATE, F_TIMESTAMPTZ_DATE, F_TIMESTAMPTZ_TIMESTAMP}},
    {date_of_timestamp, Total::as_it_is, {F_DATE_TIMESTAMP}},
    {no_age, Total::replaced, {F_AGE_TIMESTAMP_TIMESTAMP, F_AGE_TIMESTAMPTZ_TIMESTAMPTZ}},
    {opens_age, Total::inlined, {F_AGE_TIMESTAMP, F_AGE_TIMESTAMPTZ}},
    {look_at_document, Total::as_it_is, {F_JSONB_TYPEOF}},
    {case_of_text, Total::as_it_is, {F_LOWER_TEXT, F_UPPER_TEXT}},
    {counts,
     Total::as_it_is,
     {F_LENGTH_TEXT, F_CHAR_LENGTH_TEXT, F_CHARACTER_LENGTH_TEXT, F_OCTET_LENGTH_TEXT, F_LENGTH_BPCHAR,
      F_CHAR_LENGTH_BPCHAR, F_CHARACTER_LENGTH_BPCHAR, F_OCTET_LENGTH_BPCHAR}},
    {trimmed_text, Total::as_it_is, {F_BTRIM_TEXT, F_LTRIM_TEXT, F_RTRIM_TEXT}},
    {text_cast, Total::as_it_is, {F_TEXT_BPCHAR, F_TEXT_BOOL}},
    {no_long_text, Total::replaced, {F_TEXTCAT}},
    {opens_textcat, Total::inlined, {F_ANYTEXTCAT, F_TEXTANYCAT}},
    {opens_concat, Total::inlined, {F_CONCAT}},
    {widening, Total::as_it_is, {F_BOOL_INT4,     F_FLOAT4_INT2,    F_FLOAT4_INT4,    F_FLOAT4_INT8,   F_FLOAT8_INT2,
                                 F_FLOAT8_FLOAT4, F_FLOAT8_INT4,    F_FLOAT8_INT8,    F_INT4_INT2,     F_INT4_BOOL,
                                 F_INT8_INT4,     F_INT8_INT2,      F_INT8_OID,       F_INTERVAL_TIME, F_MACADDR8,
                                 F_NUMERIC_INT4,  F_NUMERIC_FLOAT4, F_NUMERIC_FLOAT8, F_NUMERIC_INT8,  F_NUMERIC_INT2}},
    {digest, Total::as_it_is, {F_MD5_TEXT, F_MD5_BYTEA, F_SHA224, F_SHA256, F_SHA384, F_SHA512}},
    {name_cast, Total::as_it_is, {F_NAME_TEXT, F_NAME_BPCHAR, F_NAME_VARCHAR, F_TEXT_NAME, F_VARCHAR_NAME}},
};

// Functions with arguments that must be constants.
static const TotalFunction functions[] = {
    {F_ROUND_NUMERIC_INT4, Total::replaced, second, is_scale, no_numeric},
    {F_TRUNC_NUMERIC_INT4, Total::replaced, second, is_scale, no_numeric},
    {F_NUMERIC_NUMERIC_INT4, Total::replaced, second, is_numeric_typmod, no_precision},
    {F_DATE_TRUNC_TEXT_TIMESTAMP, Total::replaced, first, is_trunc_field, no_calendar},
    {F_DATE_TRUNC_TEXT_TIMESTAMPTZ, Total::replaced, first, is_trunc_field, no_calendar},
    {F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT, Total::replaced, first | third, is_trunc_field, no_calendar, is_zone},
    {F_WIDTH_BUCKET_ANYCOMPATIBLE_ANYCOMPATIBLEARRAY, Total::as_it_is, second, is_of_buckets, place_among},
    {F_TIMEZONE_TEXT_TIMESTAMP, Total::replaced, first, is_zone, no_calendar},
    {F_TIMEZONE_TEXT_TIMESTAMPTZ, Total::replaced, first, is_zone, no_calendar},
    {F_EXTRACT_TEXT_DATE, Total::as_it_is, first, is_date_field, field_of_date},
    {F_DATE_PART_TEXT_DATE, Total::inlined, first, is_date_field, opens_part},
    {F_EXTRACT_TEXT_TIMESTAMP, Total::as_it_is, first, is_timestamp_field, field_of_timestamp},
    {F_EXTRACT_TEXT_TIMESTAMPTZ, Total::replaced, first, is_timestamp_field, no_calendar},
    {F_DATE_PART_TEXT_TIMESTAMP, Total::as_it_is, first, is_timestamp_field, field_of_timestamp},
    {F_DATE_PART_TEXT_TIMESTAMPTZ, Total::replaced, first, is_timestamp_field, no_calendar},
    {F_EXTRACT_TEXT_TIME, Total::as_it_is, first, is_time_field, field_of_time},
    {F_DATE_PART_TEXT_TIME, Total::as_it_is, first, is_time_field, field_of_time},
    {F_EXTRACT_TEXT_INTERVAL, Total::as_it_is, first, is_interval_field, field_of_interval},
    {F_DATE_PART_TEXT_INTERVAL, Total::as_it_is, first, is_interval_field, field_of_interval},
    {F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP, Total::replaced, first | third, is_of_bins, no_bin},
    {F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ, Total::replaced, first | third, is_of_bins, no_bin},
    {F_TO_CHAR_TIMESTAMP_TEXT, Total::replaced, second, is_format_of_dates, printed_date},
    {F_TO_CHAR_TIMESTAMPTZ_TEXT, Total::replaced, second, is_format_of_dates, printed_date},
    {F_POSITION_TEXT_TEXT, Total::as_it_is, second, is_short, found_text},
    {F_STRPOS, Total::as_it_is, second, is_short, found_text},
    {F_SPLIT_PART, Total::as_it_is, second | third, is_of_fields, field_of_text},
    {F_JSONB_OBJECT_FIELD, Total::as_it_is, second, is_of_document, part_of_document},
    {F_JSONB_ARRAY_ELEMENT, Total::as_it_is, second, is_of_document, part_of_document},
    {F_JSONB_OBJECT_FIELD_TEXT, Total::replaced, second, is_of_document, no_document},
    {F_JSONB_ARRAY_ELEMENT_TEXT, Total::replaced, second, is_of_document, no_document},
    {F_JSONB_EXISTS, Total::as_it_is, second, is_of_document, look_at_document},
    {F_CONCAT_WS, Total::inlined, first, nullptr, opens_concat_ws},
    {F_LEFT, Total::as_it_is, second, is_count, part_of_text},
    {F_RIGHT, Total::as_it_is, second, is_count, part_of_text},
    {F_SUBSTR_TEXT_INT4, Total::as_it_is, second, is_count, part_of_text},
    {F_SUBSTRING_TEXT_INT4, Total::as_it_is, second, is_count, part_of_text},
    {F_SUBSTR_TEXT_INT4_INT4, Total::as_it_is, second | third, is_length, part_of_text},
    {F_SUBSTRING_TEXT_INT4_INT4, Total::as_it_is, second | third, is_length, part_of_text},
    {F_BTRIM_TEXT_TEXT, Total::as_it_is, second, is_short, trimmed_text},
    {F_LTRIM_TEXT_TEXT, Total::as_it_is, second, is_short, trimmed_text},
    {F_RTRIM_TEXT_TEXT, Total::as_it_is, second, is_short, trimmed_text},
    {F_VARCHAR_VARCHAR_INT4_BOOL, Total::as_it_is, second | third, is_explicit, part_of_text},
    {F_BPCHAR_BPCHAR_INT4_BOOL, Total::as_it_is, second | third, is_explicit, padded},
    {F_TEXTLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_TEXTNLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_BPCHARLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_BPCHARNLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_NAMELIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_NAMENLIKE, Total::as_it_is, second, is_pattern, pattern},
    {F_TEXTICLIKE, Total::as_it_is, second, is_pattern, pattern_of_cases},
    {F_TEXTICNLIKE, Total::as_it_is, second, is_pattern, pattern_of_cases},
    {F_BPCHARICLIKE, Total::as_it_is, second, is_pattern, pattern_of_cases},
    {F_BPCHARICNLIKE, Total::as_it_is, second, is_pattern, pattern_of_cases},
    {F_NAMEICLIKE, Total::as_it_is, second, is_pattern, pattern_of_cases},
    {F_NAMEICNLIKE, Total::as_it_is, second, is_pattern, pattern_of_cases},
    {InvalidOid, Total::as_it_is, none, nullptr, {}},
};

constexpr char reads_date[] =
    "reads the text in the asker's DateStyle; NULL for what is no date then, and for a time zone's "
    "name, now, today and the like";
static const TotalCast casts[] = {
    {TEXTOID, INT2OID, "int2", "NULL for a text that is no number of the type"},
    {TEXTOID, INT4OID, "int4", "NULL for a text that is no number of the type"},
    {TEXTOID, INT8OID, "int8", "NULL for a text that is no number of the type"},
    {TEXTOID, FLOAT4OID, "float4", "NULL for a text that is no decimal number of the type"},
    {TEXTOID, FLOAT8OID, "float8", "NULL for a text that is no decimal number of the type"},
    {TEXTOID, NUMERICOID, "numeric", "NULL for a text that is no decimal number, or of more than 1000 characters"},
    {TEXTOID, BOOLOID, "bool", "NULL for a text that is neither true nor false"},
    {TEXTOID, DATEOID, "date", reads_date},
    {TEXTOID, TIMESTAMPOID, "timestamp", reads_date},
    {INT2OID, TEXTOID, "text", "prints digits"},
    {INT4OID, TEXTOID, "text", "prints digits"},
    {INT8OID, TEXTOID, "text", "prints digits"},
    {FLOAT4OID, TEXTOID, "text", "prints digits"},
    {FLOAT8OID, TEXTOID, "text", "prints digits"},
    {NUMERICOID, TEXTOID, "text", "prints digits; NULL beyond 10^300, 200 digits or 300 decimals"},
    {DATEOID, TEXTOID, "text", "prints a stored date in the asker's DateStyle"},
    {TIMESTAMPOID, TEXTOID, "text", "prints a stored timestamp in the asker's DateStyle"},
    {UUIDOID, TEXTOID, "text", "prints sixteen bytes"},
    {ANYENUMOID, TEXTOID, "text", "reads a committed label, and only those are stored"},
    {InvalidOid, InvalidOid, nullptr, nullptr},
};

static TotalFunction *entry_of_group(const Group &group, Oid function) {
    auto *entry = static_cast<TotalFunction *>(palloc(sizeof(TotalFunction)));
    *entry = TotalFunction{function, group.how, none, nullptr, group.why};
    return entry;
}

const TotalFunction *total_function(int index) {
    for (const Group &group : groups)
        for (const Oid *function = group.functions; OidIsValid(*function); function++)
            if (index-- == 0)
                return entry_of_group(group, *function);
    return OidIsValid(functions[index].function) ? &functions[index] : nullptr;
}

// Builds the call that stands for a cast that goes by DateStyle.
static const TotalFunction *entry_of_cast(Oid function) {
    for (const TotalCast *cast = casts; OidIsValid(cast->from); cast++)
        if (cast->styled() && replacement_of(*cast) == function) {
            auto *entry = static_cast<TotalFunction *>(palloc(sizeof(TotalFunction)));
            *entry = TotalFunction{function, Total::as_it_is, second, is_date_style,
                                   Reason{cast->why, Work::flat, cost_of_cast}};
            return entry;
        }
    return nullptr;
}

const TotalFunction *find_total(Oid function) {
    for (const TotalFunction *entry = functions; OidIsValid(entry->function); entry++)
        if (entry->function == function)
            return entry;
    for (const Group &group : groups)
        for (const Oid *candidate = group.functions; OidIsValid(*candidate); candidate++)
            if (*candidate == function)
                return entry_of_group(group, function);
    return function < FirstUnpinnedObjectId ? nullptr : entry_of_cast(function);
}

const TotalCast *total_cast(int index) {
    return OidIsValid(casts[index].from) ? &casts[index] : nullptr;
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

// ---- looking up ----------------------------------------------------------------------------------------------------

static bool is_builtin(Oid function) {
    return function < FirstUnpinnedObjectId;
}

Oid replacement_of(Oid function) {
    Oid *types;
    int nargs;
    get_func_signature(function, &types, &nargs);
    return border::internal_function(get_func_name(function), nargs, types);
}

Oid replacement_of(const TotalCast &cast) {
    const Oid types[] = {cast.from, TEXTOID};
    return border::internal_function(cast.function, cast.styled() ? 2 : 1, types);
}

Node *call_of_cast(const TotalCast &entry, Node *argument, const CoerceViaIO *cast, const char *style) {
    if (entry.from == TEXTOID && exprType(argument) != TEXTOID)
        argument = reinterpret_cast<Node *>(makeRelabelType(reinterpret_cast<Expr *>(argument), TEXTOID, -1,
                                                            DEFAULT_COLLATION_OID, COERCE_IMPLICIT_CAST));
    List *arguments = list_make1(argument);
    if (style != nullptr)
        arguments = lappend(
            arguments, makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(style), false, false));
    auto *call = reinterpret_cast<Expr *>(
        makeFuncExpr(replacement_of(entry), entry.to, arguments, entry.to == TEXTOID ? cast->resultcollid : InvalidOid,
                     style != nullptr ? DEFAULT_COLLATION_OID : InvalidOid, COERCE_EXPLICIT_CALL));
    if (cast->resulttype != entry.to)
        call = reinterpret_cast<Expr *>(
            makeRelabelType(call, cast->resulttype, -1, cast->resultcollid, COERCE_IMPLICIT_CAST));
    return reinterpret_cast<Node *>(call);
}

// What is made of these can be larger than any multiple of what it is made of: a path of jsonpath, an array filled.
static bool may_explode(Oid function) {
    static const Oid types[] = {JSONOID, JSONBOID, XMLOID, TSVECTOROID, TSQUERYOID, JSONPATHOID, RECORDOID};
    if (function == F_ARRAY_FILL_ANYELEMENT__INT4 || function == F_ARRAY_FILL_ANYELEMENT__INT4__INT4 ||
        function == F_ARRAY_REPLACE)
        return true;
    Oid *arguments;
    int n;
    Oid result = get_func_signature(function, &arguments, &n);
    for (Oid type : types) {
        if (result == type)
            return true;
        for (int i = 0; i < n; i++)
            if (arguments[i] == type)
                return true;
    }
    return false;
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
    return (kind == PROVOLATILE_IMMUTABLE && !may_explode(function)) ||
           (kind == PROVOLATILE_STABLE && find_total(function) != nullptr);
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
    if (maps_cases(entry->function) && GetDatabaseEncoding() != PG_UTF8 && pg_database_encoding_max_length() > 1)
        return "case mapping in this database's encoding";
    return nullptr;
}

void open_collation(Oid collation, ParseState *source, int location) {
    if (!OidIsValid(collation))
        return;
    if (!get_collation_isdeterministic(collation))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("a nondeterministic collation is not supported in a query on a restricted view"),
                        errhint("Add COLLATE \"C\"."), source ? parser_errposition(source, location) : 0));
    border::open_locale(collation);
}

void check_constant(const TotalFunction *entry, int argument, const Const *value, ParseState *source) {
    if (entry->permits(argument, value))
        return;
    bool pattern = entry->why.work == Work::like || entry->why.work == Work::ilike;
    if (pattern && toast_raw_datum_size(value->constvalue) > longest_pattern + VARHDRSZ)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a pattern in a query on a restricted view is longer than %d bytes", longest_pattern),
                        errhint("Use a shorter pattern, or several with AND."),
                        source ? parser_errposition(source, value->location) : 0));
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("argument %d of %s has a value that is not supported in a query on a restricted view",
                           argument + 1, get_func_name(entry->function)),
                    errhint("%s", total_hint), source ? parser_errposition(source, value->location) : 0));
}

void check_length(const Const *value, ParseState *source, int most_of_array) {
    const int most = OidIsValid(get_element_type(value->consttype)) ? most_of_array : longest_value;
    if (!value->constisnull && value->constlen == -1 && toast_raw_datum_size(value->constvalue) > most + VARHDRSZ)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a constant in a query on a restricted view is longer than %d bytes", longest_value),
                        errhint("Constants, parameters and what is computed from them may have 64 kB each."),
                        source ? parser_errposition(source, value->location) : 0));
}

} // namespace dp::query
