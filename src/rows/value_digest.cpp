// The SQL function dp_rdr.value_digest: what stands for a value that is counted once (formulas.md, 9.11).
#include "border/guard.hpp"
#include "border/refuse.hpp"
#include "rows/canonical.hpp"

namespace dp::rows {

namespace {
// Holds facts about a call that are known before its first row.
struct DigestSite {
    Spelling spelling;
    int16 length; // as in pg_type
    bool by_value;
};
} // namespace

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

static void digest_fixed(const DigestSite &site, Datum value, pg_uuid_t *digest) {
    if (site.spelling == Spelling::float4) {
        const float4 number = DatumGetFloat4(value);
        value = Float4GetDatum(number != number ? get_float4_nan() : number == 0 ? 0 : number);
    } else if (site.spelling == Spelling::float8) {
        const float8 number = DatumGetFloat8(value);
        value = Float8GetDatum(number != number ? get_float8_nan() : number == 0 ? 0 : number);
    }
    if (site.by_value)
        digest_bytes(&value, sizeof value, digest);
    else
        digest_bytes(DatumGetPointer(value), site.length, digest);
}

static const DigestSite &site_of(FunctionCallInfo fcinfo) {
    if (fcinfo->flinfo->fn_extra == nullptr) {
        auto *site = static_cast<DigestSite *>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(DigestSite)));
        const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
        site->spelling = spelling_of(type);
        get_typlenbyval(getBaseType(type), &site->length, &site->by_value);
        fcinfo->flinfo->fn_extra = site;
    }
    return *static_cast<const DigestSite *>(fcinfo->flinfo->fn_extra);
}

DP_FUNCTION(dp_value_digest) {
    const DigestSite &site = site_of(fcinfo);
    if (site.spelling == Spelling::unknown || site.length < -1)
        refuse_form("equal values of this type can look different");
    auto *digest = static_cast<pg_uuid_t *>(palloc(sizeof(pg_uuid_t)));
    if (site.length != -1)
        digest_fixed(site, PG_GETARG_DATUM(0), digest);
    else if (!digest_variable(site.spelling, PG_GETARG_DATUM(0), digest))
        PG_RETURN_NULL();
    PG_RETURN_UUID_P(digest);
}

} // namespace dp::rows
