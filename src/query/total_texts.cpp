// Functions of texts and documents that may meet a row.
#include "query/total_rows.hpp"

namespace dp::query {

constexpr Reason counts = {"counts characters or bytes", Work::bytes, 50, 2};
constexpr Reason found_text = {"the place of a short constant text", Work::trim, 300, 10};
constexpr Reason look_at_document = {"looks for a key, or for what kind of document it is", Work::bytes, 500, 4};
constexpr Reason part_of_text = {"a part of the text, cut between characters", Work::bytes, 100, 4};
constexpr Reason trimmed_text = {"a part of the text, cut between characters", Work::trim, 200, 10};

// ---- constants -----------------------------------------------------------------------------------------------------

// A pattern that ends in its escape character is an error for texts that reach its end, and for no others.
static bool is_pattern(const Const *value) {
    if (toast_raw_datum_size(value->constvalue) > longest_pattern + VARHDRSZ) // said by check_constant
        return false;
    const char *c = TextDatumGetCString(value->constvalue);
    for (; *c != '\0'; c++)
        if (*c == '\\' && *++c == '\0')
            return false;
    return true;
}

static bool is_length(const Const *value) {
    return is_small(value) && DatumGetInt32(value->constvalue) >= 0;
}

// Length and "is it an explicit cast": those cut, the others raise an error.
static bool is_explicit(const Const *value) {
    return value->consttype == BOOLOID ? DatumGetBool(value->constvalue)
                                       : DatumGetInt32(value->constvalue) <= longest_constant + VARHDRSZ;
}

// A delimiter, or the number of a field: 0 is an error.
static bool is_of_fields(const Const *value) {
    return value->consttype == TEXTOID ? is_short_constant(value) : is_small(value) && DatumGetInt32(value->constvalue) != 0;
}

// A key, or the number of an element.
static bool is_of_document(const Const *value) {
    return value->consttype == TEXTOID ? is_short_constant(value) : is_small(value);
}

// ---- the rows ------------------------------------------------------------------------------------------------------

static constexpr Row texts[] = {
    // ---- texts
    total<F_LENGTH_TEXT, F_CHAR_LENGTH_TEXT, F_CHARACTER_LENGTH_TEXT, F_LENGTH_BPCHAR, F_CHAR_LENGTH_BPCHAR,
          F_CHARACTER_LENGTH_BPCHAR>(counts, Rule::characters),
    total<F_OCTET_LENGTH_TEXT, F_OCTET_LENGTH_BPCHAR>(counts, Rule::bytes),
    total<F_POSITION_TEXT_TEXT, F_STRPOS>(found_text, Rule::characters).with(second, is_short_constant),
    total<F_LOWER_TEXT, F_UPPER_TEXT>(
        Reason{"maps characters that were valid when they were stored", Work::cases, 200, 2}),
    total<F_BTRIM_TEXT, F_LTRIM_TEXT, F_RTRIM_TEXT>(trimmed_text),
    total<F_BTRIM_TEXT_TEXT, F_LTRIM_TEXT_TEXT, F_RTRIM_TEXT_TEXT>(trimmed_text).with(second, is_short_constant),
    total<F_SPLIT_PART>(Reason{"a part of the text, between short constant delimiters", Work::trim, 300, 10})
        .with(second | third, is_of_fields),
    total<F_LEFT, F_RIGHT, F_SUBSTR_TEXT_INT4, F_SUBSTRING_TEXT_INT4>(part_of_text).with(second, is_small),
    total<F_SUBSTR_TEXT_INT4_INT4, F_SUBSTRING_TEXT_INT4_INT4>(part_of_text).with(second | third, is_length),
    total<F_VARCHAR_VARCHAR_INT4_BOOL>(part_of_text).with(second | third, is_explicit),
    total<F_BPCHAR_BPCHAR_INT4_BOOL>(Reason{"cut or padded to a constant length", Work::bytes, 100, 2})
        .with(second | third, is_explicit),
    total<F_TEXTLIKE, F_TEXTNLIKE, F_BPCHARLIKE, F_BPCHARNLIKE, F_NAMELIKE, F_NAMENLIKE>(
        Reason{"the pattern is short and whole; matching never backtracks over more than one %", Work::like, 100, 3})
        .with(second, is_pattern),
    total<F_TEXTICLIKE, F_TEXTICNLIKE, F_BPCHARICLIKE, F_BPCHARICNLIKE, F_NAMEICLIKE, F_NAMEICNLIKE>(
        Reason{"the pattern is short and whole; matching never backtracks over more than one %", Work::ilike, 300, 5})
        .with(second, is_pattern),
    total<F_TEXT_BPCHAR, F_TEXT_BOOL>(Reason{"a shorter text, or one of two constants", Work::bytes, 50, 2}),
    total<F_NAME_TEXT, F_NAME_BPCHAR, F_NAME_VARCHAR, F_TEXT_NAME, F_VARCHAR_NAME>(
        Reason{"cuts to 63 bytes, between characters, or widens from there", Work::bytes, 100, 3}),
    replaced<F_TEXTCAT>(Reason{"NULL for a result of more than a megabyte", Work::bytes, 200, 1}),
    inlined<F_ANYTEXTCAT, F_TEXTANYCAT>(Reason{"opens into a cast to text and text || text"}),
    inlined<F_CONCAT>(Reason{"opens into casts to text, COALESCE and text || text"}),
    inlined<F_CONCAT_WS>(Reason{"opens into casts to text, COALESCE, text || text and substr"}).with(first),
    total<F_MD5_TEXT, F_MD5_BYTEA, F_SHA224, F_SHA256, F_SHA384, F_SHA512>(
        Reason{"reads every byte once; tried before, since a library may forbid it", Work::bytes, 1000, 6},
        Rule::digest),
    // ---- documents
    total<F_JSONB_TYPEOF>(look_at_document),
    total<F_JSONB_EXISTS>(look_at_document).with(second, is_of_document),
    total<F_JSONB_OBJECT_FIELD, F_JSONB_ARRAY_ELEMENT>(
        Reason{"a copy of a part of the document, found by its key or number", Work::bytes, 500, 4})
        .with(second, is_of_document),
    replaced<F_JSONB_OBJECT_FIELD_TEXT, F_JSONB_ARRAY_ELEMENT_TEXT>(
        Reason{"NULL for objects and arrays, and for numbers beyond 10^300, of more than 200 digits or 300 decimals",
               Work::bytes, 5000, 4})
        .with(second, is_of_document),
};

Rows rows_of_texts() {
    return rows_of(texts);
}

} // namespace dp::query
