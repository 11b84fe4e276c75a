// Total replacements of operations on texts and documents, and of casts from texts; the list of all, and how they are made.
#include "query/total.hpp"
#include "query/total_casts.hpp"
#include "sql/result_rows.hpp"
#include "sql/total_values.hpp"

namespace dp::sql {

using catalog::if_given;

Datum guarded(FunctionCallInfo fcinfo, bool safe, PGFunction function) {
    if (!safe)
        return null(fcinfo);
    LOCAL_FCINFO(call, 4);
    InitFunctionCallInfoData(*call, nullptr, PG_NARGS(), PG_GET_COLLATION(), nullptr, nullptr);
    for (int i = 0; i < PG_NARGS(); i++)
        call->args[i] = NullableDatum{PG_GETARG_DATUM(i), false};
    const Datum result = function(call);
    fcinfo->isnull = call->isnull;
    return result;
}

// ---- values of variable length -------------------------------------------------------------------------------------

// Anybody may call it, with a type that has no header. Looked up once.
static bool has_header(FunctionCallInfo fcinfo) {
    static constexpr char with = 1, without = 0;
    if (fcinfo->flinfo->fn_extra == nullptr) {
        Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
        const char *answer = OidIsValid(type) && get_typlen(type) == -1 ? &with : &without;
        fcinfo->flinfo->fn_extra = const_cast<char *>(answer);
    }
    return fcinfo->flinfo->fn_extra == &with;
}

// The value, or NULL if it is longer: read off its header, whether it is compressed, stored elsewhere or neither.
DP_FUNCTION(dp_total_up_to_size) {
    if (!has_header(fcinfo))
        return PG_GETARG_DATUM(0);
    if (static_cast<int64>(toast_raw_datum_size(PG_GETARG_DATUM(0))) >
        static_cast<int64>(PG_GETARG_INT32(1)) + VARHDRSZ)
        return null(fcinfo);
    return PG_GETARG_DATUM(0);
}

// ---- text ----------------------------------------------------------------------------------------------------------

DP_FUNCTION(dp_total_textcat) {
    constexpr Size longest = 1024 * 1024;
    const Size size = toast_raw_datum_size(PG_GETARG_DATUM(0)) + toast_raw_datum_size(PG_GETARG_DATUM(1));
    return guarded(fcinfo, size <= longest + 2 * VARHDRSZ, textcat);
}

// Prints a value as its type does; the output function is looked up once.
DP_FUNCTION(dp_total_text) {
    auto *output = static_cast<FmgrInfo *>(fcinfo->flinfo->fn_extra);
    if (output == nullptr) {
        Oid function;
        bool is_varlena;
        getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, 0), &function, &is_varlena);
        output = static_cast<FmgrInfo *>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(FmgrInfo)));
        fmgr_info_cxt(function, output, fcinfo->flinfo->fn_mcxt);
        fcinfo->flinfo->fn_extra = output;
    }
    PG_RETURN_TEXT_P(cstring_to_text(OutputFunctionCall(output, PG_GETARG_DATUM(0))));
}
DP_FUNCTION(dp_total_numeric_text) {
    Numeric value = handy_numeric(fcinfo, 0);
    if (value == nullptr)
        return null(fcinfo);
    char *digits = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value)));
    PG_RETURN_TEXT_P(cstring_to_text(digits));
}

// ---- documents -----------------------------------------------------------------------------------------------------

// Prints single values alone: a text of a document can be a thousand times as large as what is stored of it (a number of 12 bytes has
// 131,072 digits).
static Datum text_of_part(FunctionCallInfo fcinfo, const JsonbValue *part) {
    if (part == nullptr)
        return null(fcinfo);
    switch (part->type) {
    case jbvString:
        PG_RETURN_TEXT_P(cstring_to_text_with_len(part->val.string.val, part->val.string.len));
    case jbvBool:
        PG_RETURN_TEXT_P(cstring_to_text(part->val.boolean ? "true" : "false"));
    case jbvNumeric: {
        Numeric value = VARSIZE_ANY(part->val.numeric) <= short_number ? handy(fcinfo, part->val.numeric) : nullptr;
        if (value == nullptr)
            return null(fcinfo);
        PG_RETURN_TEXT_P(cstring_to_text(DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value)))));
    }
    default:
        return null(fcinfo);
    }
}

DP_FUNCTION(dp_total_jsonb_object_field_text) {
    Jsonb *document = PG_GETARG_JSONB_P(0);
    text *key = PG_GETARG_TEXT_PP(1);
    JsonbValue room;
    if (!JB_ROOT_IS_OBJECT(document))
        return null(fcinfo);
    return text_of_part(fcinfo, getKeyJsonValueFromContainer(&document->root, VARDATA_ANY(key),
                                                             static_cast<int>(VARSIZE_ANY_EXHDR(key)), &room));
}

DP_FUNCTION(dp_total_jsonb_array_element_text) {
    Jsonb *document = PG_GETARG_JSONB_P(0);
    if (!JB_ROOT_IS_ARRAY(document))
        return null(fcinfo);
    const int64 count = JB_ROOT_COUNT(document);
    int64 place = PG_GETARG_INT32(1);
    place += place < 0 ? count : 0; // from the end
    if (place < 0 || place >= count)
        return null(fcinfo);
    return text_of_part(fcinfo, getIthJsonbValueFromContainer(&document->root, static_cast<uint32>(place)));
}

char *trimmed(FunctionCallInfo fcinfo) {
    constexpr Size longest = 1000;
    if (toast_raw_datum_size(PG_GETARG_DATUM(0)) > longest + VARHDRSZ)
        return nullptr;
    char *word = text_to_cstring(PG_GETARG_TEXT_PP(0));
    while (isspace(static_cast<unsigned char>(*word)))
        word++;
    for (char *end = word + strlen(word); end > word && isspace(static_cast<unsigned char>(end[-1]));)
        *--end = '\0';
    return word;
}

static const char *skip_digits(const char *c) {
    while (*c >= '0' && *c <= '9')
        c++;
    return c;
}

// [sign] digits [. digits] [e [sign] digits], with at most four digits behind the e.
static bool is_decimal(const char *c) {
    if (*c == '+' || *c == '-')
        c++;
    const char *whole = skip_digits(c), *end = whole;
    int64 digits = whole - c;
    if (*end == '.') {
        end = skip_digits(whole + 1);
        digits += end - (whole + 1);
    }
    if (digits == 0)
        return false;
    if (*end == 'e' || *end == 'E') {
        end += end[1] == '+' || end[1] == '-' ? 2 : 1;
        const char *exponent = end;
        end = skip_digits(exponent);
        if (end == exponent || end - exponent > 4)
            return false;
    }
    return *end == '\0';
}

static bool is_special(const char *text) {
    static const char *const words[] = {"nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"};
    for (const char *word : words)
        if (pg_strcasecmp(text, word) == 0)
            return true;
    return false;
}

template <class T> static Datum integer_of_text(FunctionCallInfo fcinfo) {
    const char *text = trimmed(fcinfo);
    if (text == nullptr)
        return null(fcinfo);
    int64 value;
    return border::read_integer(text, &value) ? narrowed<T>(fcinfo, value) : null(fcinfo);
}

template <class T> static Datum float_of_any_text(FunctionCallInfo fcinfo) {
    const char *text = trimmed(fcinfo);
    return text != nullptr && (is_decimal(text) || is_special(text)) ? float_of_text<T>(fcinfo, text) : null(fcinfo);
}

DP_TOTAL(text_int2, integer_of_text<int16>(fcinfo))
DP_TOTAL(text_int4, integer_of_text<int32>(fcinfo))
DP_TOTAL(text_int8, integer_of_text<int64>(fcinfo))
DP_TOTAL(text_float4, float_of_any_text<float4>(fcinfo))
DP_TOTAL(text_float8, float_of_any_text<float8>(fcinfo))
DP_FUNCTION(dp_total_text_numeric) {
    const char *text = trimmed(fcinfo);
    // Four digits of exponent are more than the type has room for on the small side, and less on the large one.
    if (text == nullptr || !(is_decimal(text) || is_special(text)))
        return null(fcinfo);
    return NumericGetDatum(numeric_of(text));
}
DP_FUNCTION(dp_total_text_bool) {
    const char *text = trimmed(fcinfo);
    bool value;
    if (text == nullptr || !parse_bool(text, &value))
        return null(fcinfo);
    PG_RETURN_BOOL(value);
}

// ---- making them ---------------------------------------------------------------------------------------------------

// Runs a statement of the script of the extension, as a member of which it makes what it makes.
static void run_statement(const char *sql) {
    const border::Spi spi = border::Spi::connect();
    spi.run(sql, false);
    spi.finish();
}

static void make(const char *library, const char *signature, Oid result, char volatility, const char *symbol,
                 const char *what) {
    run_statement(psprintf("CREATE OR REPLACE FUNCTION dp_rdr.%s RETURNS %s LANGUAGE C %s STRICT PARALLEL SAFE AS %s, "
                           "'dp_total_%s'; COMMENT ON FUNCTION dp_rdr.%s IS %s",
                           signature, format_type_be_qualified(result),
                           volatility == PROVOLATILE_IMMUTABLE ? "IMMUTABLE" : "STABLE", quote_literal_cstr(library),
                           symbol, signature,
                           quote_literal_cstr(psprintf("%s, NULL instead of an error", what))));
}

static void make_replacement(const char *library, Oid function) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    bool isnull;
    const char *symbol = TextDatumGetCString(SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull));
    ReleaseSysCache(tuple);
    const char *signature = format_procedure(function);
    make(library, signature, get_func_rettype(function), func_volatile(function), symbol, signature);
}

// Has one symbol for all types that are printed without a style. Numbers and labels may be printed otherwise another time.
static void make_cast(const char *library, const query::TotalCast &cast) {
    const char *from = format_type_be_qualified(cast.from);
    const bool is_stable = cast.from == FLOAT4OID || cast.from == FLOAT8OID || cast.from == ANYENUMOID;
    const char *symbol = cast.from == TEXTOID      ? psprintf("text_%s", cast.function)
                         : cast.from == NUMERICOID ? "numeric_text"
                         : cast.from == DATEOID    ? "date_text"
                         : cast.styled()           ? "timestamp_text"
                                                   : "text";
    make(library, psprintf("%s(%s%s)", quote_identifier(cast.function), from, cast.styled() ? ", text" : ""), cast.to,
         is_stable ? PROVOLATILE_STABLE : PROVOLATILE_IMMUTABLE, symbol,
         psprintf("cast of %s to %s", format_type_be(cast.from), format_type_be(cast.to)));
}

// Runs in the script of the extension, whose members they become. Each has the name and the arguments of its built-in, or of the cast.
DP_FUNCTION(dp_make_total_functions) {
    const char *library = TextDatumGetCString(PG_GETARG_DATUM(0));
    for (int i = 0; query::total_function(i) != nullptr; i++)
        if (query::total_function(i)->how == query::Total::replaced)
            make_replacement(library, query::total_function(i)->function);
    for (int i = 0; query::total_cast(i) != nullptr; i++)
        make_cast(library, *query::total_cast(i));
    PG_RETURN_VOID();
}

DP_FUNCTION(dp_run_statement) {
    run_statement(TextDatumGetCString(PG_GETARG_DATUM(0)));
    PG_RETURN_VOID();
}

// ---- the list ------------------------------------------------------------------------------------------------------

static void put_row(const ResultRows &rows, const char *what, Oid function, Oid replacement, uint8 constants,
                    const char *why) {
    Datum positions[3];
    int n = 0;
    for (int i = 0; i < 3; i++)
        if ((constants & (1 << i)) != 0)
            positions[n++] = Int32GetDatum(i + 1);
    const ArrayType *array = construct_array(positions, n, INT4OID, sizeof(int32), true, TYPALIGN_INT);
    rows.put(what, if_given(OidIsValid(function), function), if_given(OidIsValid(replacement), replacement),
             catalog::Typed::array(INT4ARRAYOID, array), why);
}

DP_FUNCTION(dp_total_functions) {
    const ResultRows rows(fcinfo);
    for (int i = 0; query::total_function(i) != nullptr; i++) {
        const query::TotalFunction *entry = query::total_function(i);
        put_row(rows, format_procedure(entry->function), entry->function,
                entry->how == query::Total::replaced ? query::replacement_of(entry->function) : InvalidOid,
                entry->constants, entry->why.text);
    }
    for (int i = 0; query::total_cast(i) != nullptr; i++) {
        const query::TotalCast *cast = query::total_cast(i);
        put_row(rows, psprintf("CAST(%s AS %s)", format_type_be(cast->from), format_type_be(cast->to)), InvalidOid,
                query::replacement_of(*cast), 0, cast->why);
    }
    return Datum(0);
}

} // namespace dp::sql
