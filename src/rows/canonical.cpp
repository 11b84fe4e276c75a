#include "rows/canonical.hpp"

#include "border/guard.hpp"
#include "border/refuse.hpp"
#include "rows/arrays.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

namespace {
// Tells what a type's equal values have in common.
enum class Spelling : uint8 {
    unknown, // nothing that we know of: refused
    same,    // their bytes, which are few
    bounded, // their bytes, of which there may be many
    numeric, // all but trailing zeros behind the point
    float4,  // all but the sign of zero and the bits of NaN
    float8,
    blanks // all but trailing blanks
};
} // namespace

// One line per type. Equal by the default btree class means equal bytes for what is `same` or `bounded`: timetz compares
// the zone as well, inet and cidr their family, masks and all bits, name and "char" their characters, bit strings their
// length and bits, the rest a single number. That does not hold for interval ('1 month' = '30 days'), jsonb, arrays,
// ranges and records (what they contain), or for types that are not listed.
static Spelling spelling_of(Oid type) {
    Oid base = getBaseType(type);
    switch (base) {
    case BOOLOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case OIDOID:
    case XID8OID:
    case TIDOID:
    case PG_LSNOID:
    case CASHOID:
    case CHAROID:
    case NAMEOID:
    case UUIDOID:
    case DATEOID:
    case TIMEOID:
    case TIMETZOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
    case INETOID:
    case CIDROID:
    case MACADDROID:
    case MACADDR8OID:
        return Spelling::same;
    case TEXTOID:
    case VARCHAROID:
    case BYTEAOID:
    case BITOID:
    case VARBITOID:
        return Spelling::bounded;
    case NUMERICOID:
        return Spelling::numeric;
    case FLOAT4OID:
        return Spelling::float4;
    case FLOAT8OID:
        return Spelling::float8;
    case BPCHAROID:
        return Spelling::blanks;
    default:
        return type_is_enum(base) ? Spelling::same : Spelling::unknown;
    }
}

// ---- in the internal statement -------------------------------------------------------------------------------------

static Node *canonical_call(Node *key, int32 typmod) {
    Oid type = exprType(key);
    getBaseTypeAndTypmod(type, &typmod);
    return make_call(internal_function("canonical", {ANYELEMENTOID, INT4OID}), type,
                     list_make2(key, query::int_constant(typmod)), exprCollation(key));
}

static Node *canonical_call(Node *key) {
    return canonical_call(key, exprTypmod(key));
}

Node *canonical_node(Node *value, int32 typmod) {
    return spelling_of(exprType(value)) == Spelling::same ? value : canonical_call(value, typmod);
}

Node *canonical_key(Node *key, const query::Key &spec) {
    Spelling spelling = spelling_of(spec.type);
    if (spelling == Spelling::unknown)
        refuse_form(
            psprintf("GROUP BY a value of type %s without declared groups is not supported", format_type_be(spec.type)),
            "Group by an expression of another type, such as extract(epoch FROM ...), or have the "
            "controller declare the groups of the column with dp_set_groups().",
            "Equal values of this type can look different, and one row's would be shown.");
    if (OidIsValid(spec.collation) && !get_collation_isdeterministic(spec.collation))
        refuse_form("GROUP BY under a nondeterministic collation without declared groups is not supported",
                    "Add COLLATE \"C\" to the key.",
                    "Equal values can look different under it, and one row's would be shown.");
    return spelling == Spelling::same ? key : canonical_call(key);
}

bool is_text_portable(Oid type) {
    return spelling_of(type) != Spelling::unknown && getBaseType(type) != CASHOID;
}

Node *short_key_condition(Node *key) {
    if (get_typlen(getBaseType(exprType(key))) != -1)
        return nullptr;
    Node *is_short = make_call(internal_function("is_short", {ANYELEMENTOID}), BOOLOID, list_make1(copyObject(key)));
    return truth_test(is_short, IS_NOT_FALSE); // NULL is a key like others
}

Node *compact_key(Node *key) {
    return spelling_of(exprType(key)) == Spelling::blanks ? canonical_call(key) : key;
}

// ---- values --------------------------------------------------------------------------------------------------------

// Bytes of a variable-length value, from its header: what lies out of line is not fetched.
static Size length_of(Datum value) {
    return toast_raw_datum_size(value) - VARHDRSZ;
}

// Values of char(n) beyond this many bytes are not fetched to look for what is in front of their blanks.
constexpr Size longest_padded = longest_value;

// The bytes before the blanks; more than longest_key when they were not looked for.
static Size length_without_blanks(Datum value) {
    if (length_of(value) > longest_padded)
        return longest_padded;
    BpChar *text = DatumGetBpCharPP(value);
    return bpchartruelen(VARDATA_ANY(text), static_cast<int>(VARSIZE_ANY_EXHDR(text)));
}

static bool is_short(Spelling spelling, Datum value) {
    return (spelling == Spelling::blanks ? length_without_blanks(value) : length_of(value)) <= longest_key;
}

void check_declared_length(Datum value, Oid type, const char *column_name) {
    if (get_typlen(getBaseType(type)) == -1 && !is_short(spelling_of(type), value))
        refuse_size(
            psprintf("a group of column %s is longer than %d bytes", quote_identifier(column_name), longest_key),
            "Rows with longer keys are in no group. Declare the groups of a shorter column.");
}

// char(n) is padded by its n characters, as far as that leaves it short; without an n it stays trimmed.
static Datum without_blanks(Datum value, int32 typmod, bool *isnull) {
    Size length = length_without_blanks(value);
    *isnull = length > longest_key;
    if (*isnull)
        return Datum(0);
    const char *text = VARDATA_ANY(DatumGetBpCharPP(value));
    int width = typmod - VARHDRSZ, characters = pg_mbstrlen_with_len(text, static_cast<int>(length));
    int blanks = width > longest_key ? 0 : Max(width - characters, 0);
    auto *result = static_cast<BpChar *>(palloc(VARHDRSZ + length + blanks));
    SET_VARSIZE(result, VARHDRSZ + length + blanks);
    memcpy(VARDATA(result), text, length);
    memset(VARDATA(result) + length, ' ', blanks);
    return PointerGetDatum(result);
}

int scale_of(int32 typmod) {
    if (typmod < VARHDRSZ)
        return 0;
#if PG_VERSION_NUM >= 150000 // it may be negative there
    return (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
#else
    return (typmod - VARHDRSZ) & 0xffff;
#endif
}

// Without trailing zeros, or with as many as the column shows. Equal numerics have equal digits and headers that differ by
// some bytes at most.
static Datum trimmed_numeric(Datum value, int32 typmod, bool *isnull) {
    *isnull = length_of(value) > 2 * longest_key;
    if (*isnull)
        return Datum(0);
    Datum trimmed = DirectFunctionCall1(numeric_trim_scale, value);
    Numeric number = DatumGetNumeric(trimmed);
    if (!numeric_is_nan(number) && !numeric_is_inf(number) &&
        DatumGetInt32(DirectFunctionCall1(numeric_scale, trimmed)) < scale_of(typmod))
        trimmed = DirectFunctionCall2(numeric_round, trimmed, Int32GetDatum(scale_of(typmod)));
    *isnull = length_of(trimmed) > longest_key;
    return trimmed;
}

static Datum canonical(Spelling spelling, Datum value, int32 typmod, bool *isnull) {
    *isnull = false;
    switch (spelling) {
    case Spelling::bounded:
        *isnull = length_of(value) > longest_key;
        return value;
    case Spelling::numeric:
        return trimmed_numeric(value, typmod, isnull);
    case Spelling::float4: {
        float4 number = DatumGetFloat4(value);
        return Float4GetDatum(number != number ? get_float4_nan() : number == 0 ? 0 : number);
    }
    case Spelling::float8: {
        float8 number = DatumGetFloat8(value);
        return Float8GetDatum(number != number ? get_float8_nan() : number == 0 ? 0 : number);
    }
    case Spelling::blanks:
        return without_blanks(value, typmod, isnull);
    default:
        return value;
    }
}

bool has_spelling(Oid type) {
    return spelling_of(type) != Spelling::unknown;
}

bool has_one_spelling(Oid type) {
    return spelling_of(type) == Spelling::same || spelling_of(type) == Spelling::bounded;
}

bool has_canonical(const query::Key &spec) {
    return has_spelling(spec.type) && (!OidIsValid(spec.collation) || get_collation_isdeterministic(spec.collation));
}

Datum canonical_value(Oid type, int32 typmod, Datum value, bool *isnull) {
    getBaseTypeAndTypmod(type, &typmod);
    return canonical(spelling_of(type), value, typmod, isnull);
}

// ---- the SQL functions ---------------------------------------------------------------------------------------------

namespace {
// Holds facts about a call that are known before its first row.
struct Site {
    Spelling spelling;
    int16 length; // as in pg_type
    bool by_value;
};
} // namespace

static const Site &site_of(FunctionCallInfo fcinfo) {
    if (fcinfo->flinfo->fn_extra == nullptr) {
        auto *site = static_cast<Site *>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Site)));
        const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
        site->spelling = spelling_of(type);
        get_typlenbyval(getBaseType(type), &site->length, &site->by_value);
        fcinfo->flinfo->fn_extra = site;
    }
    return *static_cast<const Site *>(fcinfo->flinfo->fn_extra);
}

DP_FUNCTION(dp_canonical) {
    bool isnull;
    Datum key = canonical(site_of(fcinfo).spelling, PG_GETARG_DATUM(0), PG_GETARG_INT32(1), &isnull);
    if (isnull)
        PG_RETURN_NULL();
    return key;
}

DP_FUNCTION(dp_is_short) {
    const Site &site = site_of(fcinfo);
    PG_RETURN_BOOL(site.length != -1 || is_short(site.spelling, PG_GETARG_DATUM(0)));
}

// ---- what stands for a value that is counted once (formulas.md, 9.11) --------------------------------------------------

// Two hashes of 64 bits with different seeds. Values of one digest are counted as one (formulas.md, 9.11).
static void digest_bytes(const void *bytes, Size size, pg_uuid_t *digest) {
    const uint64 seeds[2] = {0x9e3779b97f4a7c15U, 0xd1b54a32d192ed03U};
    for (int i = 0; i < 2; i++) {
        const uint64 word =
            hash_bytes_extended(static_cast<const unsigned char *>(bytes), static_cast<int>(size), seeds[i]);
        memcpy(digest->data + i * sizeof word, &word, sizeof word);
    }
}

// Computes the digest of a value's one spelling. False: it is too long, and was not fetched.
static bool digest_variable(Spelling spelling, Datum value, pg_uuid_t *digest) {
    if (toast_raw_datum_size(value) - VARHDRSZ > longest_value)
        return false;
    if (spelling == Spelling::numeric)
        value = DirectFunctionCall1(numeric_trim_scale, value);
    const auto *stored = reinterpret_cast<const struct varlena *>(PG_DETOAST_DATUM_PACKED(value));
    Size size = VARSIZE_ANY_EXHDR(stored);
    if (spelling == Spelling::blanks)
        size = bpchartruelen(VARDATA_ANY(stored), static_cast<int>(size));
    digest_bytes(VARDATA_ANY(stored), size, digest);
    return true;
}

static void digest_fixed(const Site &site, Datum value, pg_uuid_t *digest) {
    bool isnull;
    value = canonical(site.spelling, value, -1, &isnull);
    if (site.by_value)
        digest_bytes(&value, sizeof value, digest);
    else
        digest_bytes(DatumGetPointer(value), site.length, digest);
}

DP_FUNCTION(dp_value_digest) {
    const Site &site = site_of(fcinfo);
    if (site.spelling == Spelling::unknown || site.length < -1)
        refuse_form("equal values of this type can look different");
    auto *digest = array_of<pg_uuid_t>(1);
    if (site.length != -1)
        digest_fixed(site, PG_GETARG_DATUM(0), digest);
    else if (!digest_variable(site.spelling, PG_GETARG_DATUM(0), digest))
        PG_RETURN_NULL();
    PG_RETURN_UUID_P(digest);
}

} // namespace dp::rows
