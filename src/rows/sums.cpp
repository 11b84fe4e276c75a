#include "rows/sums.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "privacy/lattice.hpp"

#include "catalog/decimals.hpp"
#include "border/guard.hpp"
#include "border/numeric.hpp"

namespace dp::rows {

ValueKind value_kind(Oid type) {
    switch (getBaseType(type)) {
    case INT2OID:
        return ValueKind::int2;
    case INT4OID:
        return ValueKind::int4;
    case INT8OID:
        return ValueKind::int8;
    case FLOAT4OID:
        return ValueKind::float4;
    case FLOAT8OID:
        return ValueKind::float8;
    case NUMERICOID:
        return ValueKind::numeric;
    default:
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("values of type %s cannot be summed", format_type_be(type)),
                        errhint("Use smallint, integer, bigint, real, double precision or numeric.")));
    }
}

// The server's own way is to print the number and to read the text, which takes longer than all the rest of a row. Its
// digits give the same double where they make an integer below 2^53 that one multiplication or division by a power of ten
// puts in place: both are exact then, so that the result is the nearest.
double numeric_value(Datum value) {
    static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    border::NumericDigits stored;
    if (border::read_numeric(value, &stored) && stored.count <= 4) {
        const int exponent = 4 * (stored.weight - stored.count + 1);
        int64 digits = 0;
        for (int i = 0; i < stored.count; i++)
            digits = 10000 * digits + stored.digit(i);
        if (std::abs(exponent) <= 22 && digits < int64{1} << 53) {
            const double magnitude = exponent < 0 ? digits / power_of_ten[-exponent] : digits * power_of_ten[exponent];
            return stored.negative ? -magnitude : magnitude;
        }
    }
    // The plain cast would raise for what a double cannot hold; an error would tell that such a value is there.
    return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
}

MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
    MemoryContext context;
    switch (AggCheckCallContext(fcinfo, &context)) {
    case AGG_CONTEXT_AGGREGATE:
        return context;
    case AGG_CONTEXT_WINDOW: // every row of a window would be an answer of its own
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("aggregate does not support use as a window function")));
    default:
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("function can only be called by an aggregation")));
    }
}

// ---- facts ---------------------------------------------------------------------------------------------------------

// Words of 64 bits in network order.
static Datum facts_of(const uint64 *words, int count) {
    auto *facts = static_cast<bytea *>(palloc(VARHDRSZ + sizeof(uint64) * count));
    SET_VARSIZE(facts, VARHDRSZ + sizeof(uint64) * count);
    for (int i = 0; i < count; i++) {
        const uint64 word = pg_hton64(words[i]);
        memcpy(VARDATA(facts) + sizeof word * i, &word, sizeof word);
    }
    return PointerGetDatum(facts);
}

static uint64 bits_of(double value) {
    uint64 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64 bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

Datum sum_facts(const privacy::SumLattice &lattice) {
    const uint64 words[] = {bits_of(lattice.scale), static_cast<uint64>(lattice.z_lower),
                            static_cast<uint64>(lattice.z_upper)};
    return facts_of(words, lengthof(words));
}

Datum pair_facts(const privacy::PairLattice &lattice) {
    const uint64 words[] = {bits_of(lattice.lower), bits_of(lattice.range)};
    return facts_of(words, lengthof(words));
}

Datum joint_facts(const privacy::JointLattice &lattice, std::int64_t one, int part) {
    const uint64 words[] = {bits_of(lattice.y.lower), bits_of(lattice.y.range), bits_of(lattice.x.lower),
                            bits_of(lattice.x.range), static_cast<uint64>(one), static_cast<uint64>(part)};
    return facts_of(words, lengthof(words));
}

static void read_words(Datum facts, uint64 *words, int count) {
    const bytea *bytes = DatumGetByteaPP(facts);
    if (VARSIZE_ANY_EXHDR(bytes) != sizeof(uint64) * count)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("lattice of a sum has a wrong size")));
    for (int i = 0; i < count; i++) {
        uint64 word;
        memcpy(&word, VARDATA_ANY(bytes) + sizeof word * i, sizeof word);
        words[i] = pg_ntoh64(word);
    }
}

namespace {

// What is known of a call before its first row.
struct Site {
    ValueKind kind;
    privacy::SumLattice sum; // one of the two
    privacy::PairLattice pair;
    PGFunction add; // the transition function for this kind of value
};

enum class Lattice : std::uint8_t { sum, pair, square, rest };

// Anybody may call the aggregates on rows of his own. Whatever he gives, something is added up that fits into 128 bits.
template <Lattice which> Site *read_site(FunctionCallInfo fcinfo, int value) {
    if (PG_ARGISNULL(value + 1))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("lattice of a sum must not be null")));
    const ValueKind kind = value_kind(get_fn_expr_argtype(fcinfo->flinfo, value));
    uint64 words[3];
    read_words(PG_GETARG_DATUM(value + 1), words, which == Lattice::sum ? 3 : 2);
    auto *site = static_cast<Site *>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Site)));
    site->kind = kind;
    if (which == Lattice::sum)
        site->sum = {double_of(words[0]), static_cast<int64>(words[1]), static_cast<int64>(words[2])};
    else
        site->pair = {double_of(words[0]), double_of(words[1])};
    fcinfo->flinfo->fn_extra = site;
    return site;
}

template <Lattice which> inline std::optional<std::int64_t> point_on(const Site *site, ValueKind kind, Datum value) {
    switch (which) {
    case Lattice::sum:
        return sum_point(site->sum, kind, value);
    case Lattice::pair:
        return pair_point(site->pair, kind, value);
    default: {
        const std::optional<privacy::TriplePoint> point =
            privacy::to_triple_point(site->pair, double_value(kind, value));
        if (!point)
            return std::nullopt;
        return which == Lattice::square ? point->squares : point->rest;
    }
    }
}

template <Lattice which> inline std::optional<std::int64_t> point_of(const Site *site, Datum value) {
    return point_on<which>(site, site->kind, value);
}

template <Lattice which> Datum point_result(FunctionCallInfo fcinfo) {
    const auto *site = static_cast<const Site *>(fcinfo->flinfo->fn_extra);
    if (site == nullptr)
        site = read_site<which>(fcinfo, 0);
    const std::optional<std::int64_t> point = point_of<which>(site, PG_GETARG_DATUM(0));
    if (!point)
        PG_RETURN_NULL();
    PG_RETURN_INT64(*point);
}

// The first value of a group, or no value.
template <Lattice which> pg_noinline Datum add_with_care(FunctionCallInfo fcinfo) {
    if (PG_ARGISNULL(1))
        return add_point(fcinfo, std::nullopt);
    return add_point(fcinfo, point_of<which>(static_cast<const Site *>(fcinfo->flinfo->fn_extra), PG_GETARG_DATUM(1)));
}

// Every row of a table comes by here, so there is one function for each kind of value. whole: integers of unit 1.
template <Lattice which, ValueKind kind, bool whole> Datum add(FunctionCallInfo fcinfo) {
    if (unlikely(PG_ARGISNULL(0) || PG_ARGISNULL(1)))
        return add_with_care<which>(fcinfo);
    const auto *site = static_cast<const Site *>(fcinfo->flinfo->fn_extra);
    std::optional<std::int64_t> point;
    if (whole)
        point = privacy::to_sum_point_whole(site->sum, integer_value(kind, PG_GETARG_DATUM(1)));
    else
        point = point_on<which>(site, kind, PG_GETARG_DATUM(1));
    if (likely(point.has_value())) {
        auto *state = reinterpret_cast<LatticeState *>(PG_GETARG_POINTER(0));
        state->sum += *point;
        state->rows++;
    }
    return PG_GETARG_DATUM(0);
}

template <Lattice which, ValueKind kind> PGFunction adder_of_kind(const Site *site) {
    if (which == Lattice::sum && is_integer(kind) && site->sum.scale == 1)
        return add < which, kind, which == Lattice::sum && is_integer(kind) > ;
    return add<which, kind, false>;
}

template <Lattice which> PGFunction adder(const Site *site) {
    switch (site->kind) {
    case ValueKind::int2:
        return adder_of_kind<which, ValueKind::int2>(site);
    case ValueKind::int4:
        return adder_of_kind<which, ValueKind::int4>(site);
    case ValueKind::int8:
        return adder_of_kind<which, ValueKind::int8>(site);
    case ValueKind::float4:
        return adder_of_kind<which, ValueKind::float4>(site);
    case ValueKind::float8:
        return adder_of_kind<which, ValueKind::float8>(site);
    case ValueKind::numeric:
        return adder_of_kind<which, ValueKind::numeric>(site);
    }
    pg_unreachable();
}

// The first value of a call makes its site, and puts the function for its kind of value in the place of this one. Compiled
// expressions do not notice that (jit): they come by here each time.
template <Lattice which> Datum add_first(FunctionCallInfo fcinfo) {
    const auto *known = static_cast<const Site *>(fcinfo->flinfo->fn_extra);
    if (known != nullptr)
        return known->add(fcinfo);
    aggregate_context(fcinfo);
    if (!PG_ARGISNULL(1)) {
        Site *site = read_site<which>(fcinfo, 1);
        site->add = adder<which>(site);
        fcinfo->flinfo->fn_addr = site->add;
    }
    return add_with_care<which>(fcinfo);
}

Datum numeric_of(privacy::int128 value) {
    if (value >= PG_INT64_MIN && value <= PG_INT64_MAX)
        return NumericGetDatum(int64_to_numeric(static_cast<int64>(value)));
    char text[64];
    border::core([&] { strlcpy(text, privacy::to_text(value).c_str(), sizeof text); });
    return catalog::text_numeric(text);
}

} // namespace

privacy::int128 sum_of(Datum numeric) {
    border::NumericDigits digits;
    // 10 digits to the base 10000 hold every 128-bit integer.
    if (!border::read_numeric(numeric, &digits) || digits.count > digits.weight + 1 || digits.weight > 9)
        elog(ERROR, "unexpected result of an internal aggregate");
    privacy::int128 value = 0;
    for (int i = 0; digits.count > 0 && i <= digits.weight; i++)
        value = value * 10000 + (i < digits.count ? digits.digit(i) : 0);
    return digits.negative ? -value : value;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums. One state serves all aggregates: partial sums are combined, sent and received alike.
// ---------------------------------------------------------------------------------------------------------------------

DP_FUNCTION(dp_lattice_add_sum) {
    return add_first<Lattice::sum>(fcinfo);
}

DP_FUNCTION(dp_lattice_add_pair) {
    return add_first<Lattice::pair>(fcinfo);
}

DP_FUNCTION(dp_lattice_add_square) {
    return add_first<Lattice::square>(fcinfo);
}

DP_FUNCTION(dp_lattice_add_rest) {
    return add_first<Lattice::rest>(fcinfo);
}

DP_ROW_FUNCTION(dp_square_point) {
    return point_result<Lattice::square>(fcinfo);
}

DP_ROW_FUNCTION(dp_rest_point) {
    return point_result<Lattice::rest>(fcinfo);
}

DP_ROW_FUNCTION(dp_sum_point) {
    return point_result<Lattice::sum>(fcinfo);
}

DP_ROW_FUNCTION(dp_pair_point) {
    return point_result<Lattice::pair>(fcinfo);
}

DP_FUNCTION(dp_lattice_combine) {
    MemoryContext context = aggregate_context(fcinfo);
    LatticeState *state = state_argument(fcinfo, 0);
    const LatticeState *other = state_argument(fcinfo, 1);
    if (other != nullptr) {
        if (state == nullptr) // a worker's state does not live as long as the aggregation
            state = new_state(context);
        state->sum += other->sum;
        state->rows += other->rows;
    }
    if (state == nullptr)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
}

DP_FUNCTION(dp_lattice_serialize) {
    aggregate_context(fcinfo);
    const LatticeState *state = state_argument(fcinfo, 0);
    auto *bytes = static_cast<bytea *>(palloc(VARHDRSZ + sizeof(LatticeState)));
    SET_VARSIZE(bytes, VARHDRSZ + sizeof(LatticeState));
    memcpy(VARDATA(bytes), state, sizeof(LatticeState));
    PG_RETURN_BYTEA_P(bytes);
}

DP_FUNCTION(dp_lattice_deserialize) {
    aggregate_context(fcinfo);
    const bytea *bytes = PG_GETARG_BYTEA_PP(0);
    if (VARSIZE_ANY_EXHDR(bytes) != sizeof(LatticeState))
        elog(ERROR, "unexpected size of a transition state");
    LatticeState *state = new_state(CurrentMemoryContext);
    memcpy(state, VARDATA_ANY(bytes), sizeof(LatticeState));
    PG_RETURN_POINTER(state);
}

// ---- two columns ---------------------------------------------------------------------------------------------------

namespace {

struct JointSite {
    privacy::JointLattice lattice;
    std::int64_t one;
    std::int64_t privacy::JointPoint::*part;
};

// In the order of privacy::JointSums.
std::int64_t privacy::JointPoint::*const joint_parts[] = {
    &privacy::JointPoint::both,    &privacy::JointPoint::y_alone,  &privacy::JointPoint::x_alone,
    &privacy::JointPoint::neither, &privacy::JointPoint::y_spread, &privacy::JointPoint::x_spread};

JointSite *read_joint_site(FunctionCallInfo fcinfo) {
    aggregate_context(fcinfo);
    if (PG_ARGISNULL(2))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("lattice of a sum must not be null")));
    uint64 words[6];
    read_words(PG_GETARG_DATUM(2), words, lengthof(words));
    if (words[4] < 1 || words[4] > static_cast<uint64>(privacy::pair_one) || words[5] >= lengthof(joint_parts))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("lattice of a sum has no such part")));
    auto *site = static_cast<JointSite *>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(JointSite)));
    site->lattice = {{double_of(words[0]), double_of(words[1])}, {double_of(words[2]), double_of(words[3])}};
    site->one = static_cast<std::int64_t>(words[4]);
    site->part = joint_parts[words[5]];
    fcinfo->flinfo->fn_extra = site;
    return site;
}

} // namespace

DP_FUNCTION(dp_lattice_add_joint) {
    const auto *site = static_cast<const JointSite *>(fcinfo->flinfo->fn_extra);
    if (site == nullptr)
        site = read_joint_site(fcinfo);
    std::optional<std::int64_t> part;
    if (!PG_ARGISNULL(1))
        if (const auto point = joint_point(site->lattice, site->one, PG_GETARG_DATUM(1)))
            part = (*point).*(site->part);
    return add_point(fcinfo, part);
}

// ---- what they add up to -------------------------------------------------------------------------------------------

// Zero without rows: a NULL would tell an empty set from others.
DP_FUNCTION(dp_lattice_sum_final) {
    aggregate_context(fcinfo);
    const LatticeState *state = state_argument(fcinfo, 0);
    return numeric_of(state == nullptr ? 0 : state->sum);
}

DP_FUNCTION(dp_lattice_rows_final) {
    aggregate_context(fcinfo);
    const LatticeState *state = state_argument(fcinfo, 0);
    PG_RETURN_INT64(state == nullptr ? 0 : state->rows);
}

} // namespace dp::rows
