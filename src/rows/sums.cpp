#include "rows/sums.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include "privacy/lattice.hpp"

#include "catalog/decimals.hpp"
#include "border/guard.hpp"

extern "C" {
#include "storage/proc.h"
}

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

int64 integer_value(ValueKind kind, Datum value) {
    switch (kind) {
    case ValueKind::int2:
        return DatumGetInt16(value);
    case ValueKind::int4:
        return DatumGetInt32(value);
    default:
        return DatumGetInt64(value);
    }
}

// The next 16 bits of a binary value, in network order.
static uint16 next_word(const unsigned char *&bytes) {
    const uint16 word = static_cast<uint16>(bytes[0] << 8 | bytes[1]);
    bytes += 2;
    return word;
}

// The server's own way is to print the number and to read the text, which takes longer than all the rest of a row. The
// binary format (documented for clients) gives the same double where its digits make an integer below 2^53 that one
// multiplication or division by a power of ten puts in place: both are exact then, so that the result is the nearest.
static double numeric_value(Datum value) {
    static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const bytea *binary = DatumGetByteaPP(DirectFunctionCall1(numeric_send, value));
    auto *bytes = reinterpret_cast<const unsigned char *>(VARDATA_ANY(binary));
    const int ndigits = next_word(bytes); // to the base 10000
    const int weight = static_cast<int16>(next_word(bytes));
    const uint16 sign = next_word(bytes);
    next_word(bytes); // display scale
    const int exponent = 4 * (weight - ndigits + 1);
    const bool negative = sign == 0x4000;
    if (ndigits <= 4 && std::abs(exponent) <= 22 && (sign == 0 || negative)) {
        int64 digits = 0;
        for (int i = 0; i < ndigits; i++)
            digits = 10000 * digits + next_word(bytes);
        if (digits < int64{1} << 53) {
            const double magnitude = exponent < 0 ? digits / power_of_ten[-exponent] : digits * power_of_ten[exponent];
            return negative ? -magnitude : magnitude;
        }
    }
    // The plain cast would raise for what a double cannot hold; an error would tell that such a value is there.
    return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
}

double double_value(ValueKind kind, Datum value) {
    switch (kind) {
    case ValueKind::float4:
        return DatumGetFloat4(value);
    case ValueKind::float8:
        return DatumGetFloat8(value);
    case ValueKind::numeric:
        return numeric_value(value);
    default:
        return static_cast<double>(integer_value(kind, value));
    }
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

static LatticeState *add_point(LatticeState *state, MemoryContext context, int64 z) {
    if (state == nullptr)
        state = new_state(context);
    state->sum += z;
    state->rows++;
    return state;
}

LatticeState *add_to_sum(LatticeState *state, MemoryContext context, const privacy::SumLattice &lattice, ValueKind kind,
                         Datum value) {
    if (is_integer(kind) && lattice.scale == 1)
        return add_point(state, context, privacy::to_sum_point_integer(lattice, integer_value(kind, value)));
    const auto z = privacy::to_sum_point(lattice, double_value(kind, value));
    return z ? add_point(state, context, *z) : state;
}

LatticeState *add_to_pair(LatticeState *state, MemoryContext context, const privacy::PairLattice &lattice,
                          ValueKind kind, Datum value) {
    const auto z = privacy::to_pair_point(lattice, double_value(kind, value));
    return z ? add_point(state, context, *z) : state;
}

namespace {

// What is known of a call before its first row.
struct Site {
    ValueKind kind;
};

const Site &site_of(FunctionCallInfo fcinfo) {
    if (fcinfo->flinfo->fn_extra == nullptr) {
        auto *site = static_cast<Site *>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Site)));
        site->kind = value_kind(get_fn_expr_argtype(fcinfo->flinfo, 1));
        fcinfo->flinfo->fn_extra = site;
    }
    return *static_cast<Site *>(fcinfo->flinfo->fn_extra);
}

// Arguments from the second on say how to read a value; they are never NULL in a statement of ours.
void check_lattice(FunctionCallInfo fcinfo) {
    for (int i = 2; i < PG_NARGS(); i++)
        if (PG_ARGISNULL(i))
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("lattice of a sum must not be null")));
}

Datum numeric_of(privacy::int128 value) {
    if (value >= PG_INT64_MIN && value <= PG_INT64_MAX)
        return NumericGetDatum(int64_to_numeric(static_cast<int64>(value)));
    char text[64];
    border::core([&] { strlcpy(text, privacy::to_text(value).c_str(), sizeof text); });
    return catalog::text_numeric(text);
}

// Of a numeric that numeric_of made.
privacy::int128 int128_of(Datum numeric) {
    const char *text = catalog::numeric_text(numeric);
    const bool negative = *text == '-';
    privacy::int128 value = 0;
    for (text += negative; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            elog(ERROR, "unexpected result of an internal aggregate");
        value = value * 10 + (*text - '0');
    }
    return negative ? -value : value;
}

} // namespace

privacy::int128 sum_of(Datum lattice_sum) {
    return int128_of(lattice_sum);
}

PairSums pair_of(Datum lattice_pair) {
    Datum *elements;
    int n;
    deconstruct_array(DatumGetArrayTypeP(lattice_pair), NUMERICOID, -1, false, TYPALIGN_INT, &elements, nullptr, &n);
    if (n != 2)
        elog(ERROR, "unexpected result of an internal aggregate");
    PairSums pair;
    pair.s1 = int128_of(elements[0]);
    pair.rows = int128_of(elements[1]);
    pair.s0 = pair.rows * privacy::pair_one - pair.s1;
    return pair;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums. One state serves both aggregates: partial sums are combined, sent and received alike.
// ---------------------------------------------------------------------------------------------------------------------

DP_FUNCTION(dp_lattice_sum_step) {
    MemoryContext context = aggregate_context(fcinfo);
    LatticeState *state = state_argument(fcinfo, 0);
    if (!PG_ARGISNULL(1)) {
        check_lattice(fcinfo);
        const privacy::SumLattice lattice{PG_GETARG_FLOAT8(2), PG_GETARG_INT64(3), PG_GETARG_INT64(4)};
        state = add_to_sum(state, context, lattice, site_of(fcinfo).kind, PG_GETARG_DATUM(1));
    }
    return state_result(fcinfo, state);
}

DP_FUNCTION(dp_lattice_pair_step) {
    MemoryContext context = aggregate_context(fcinfo);
    LatticeState *state = state_argument(fcinfo, 0);
    if (!PG_ARGISNULL(1)) {
        check_lattice(fcinfo);
        const privacy::PairLattice lattice{PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3)};
        state = add_to_pair(state, context, lattice, site_of(fcinfo).kind, PG_GETARG_DATUM(1));
    }
    return state_result(fcinfo, state);
}

DP_FUNCTION(dp_lattice_combine) {
    MemoryContext context = aggregate_context(fcinfo);
    LatticeState *state = state_argument(fcinfo, 0);
    const LatticeState *other = state_argument(fcinfo, 1);
    if (other == nullptr)
        return state_result(fcinfo, state);
    if (state == nullptr) // a worker's state does not live as long as the aggregation
        state = new_state(context);
    state->sum += other->sum;
    state->rows += other->rows;
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

// Zero without rows: a NULL would tell an empty set from others.
DP_FUNCTION(dp_lattice_sum_final) {
    aggregate_context(fcinfo);
    const LatticeState *state = state_argument(fcinfo, 0);
    return numeric_of(state == nullptr ? 0 : state->sum);
}

DP_FUNCTION(dp_lattice_pair_final) {
    aggregate_context(fcinfo);
    const LatticeState *state = state_argument(fcinfo, 0);
    Datum elements[] = {numeric_of(state == nullptr ? 0 : state->sum), numeric_of(state == nullptr ? 0 : state->rows)};
    PG_RETURN_ARRAYTYPE_P(construct_array(elements, 2, NUMERICOID, -1, false, TYPALIGN_INT));
}

// ---------------------------------------------------------------------------------------------------------------------
// Collecting rows
// ---------------------------------------------------------------------------------------------------------------------

namespace {

struct Collecting {
    Collector target;
    Oid type; // of the records seen last
    int32 typmod;
    TupleDesc desc;
    Datum *values;
    bool *nulls;
};

// Collecting belongs to the subtransaction that began it. On an error that one is rolled back and `collecting` is left
// dangling, but nothing that runs later has the same two numbers.
Collecting *collecting = nullptr;
LocalTransactionId collecting_transaction;
SubTransactionId collecting_subtransaction;

LocalTransactionId current_transaction() {
#if PG_VERSION_NUM >= 170000 // it moved into a struct there
    return MyProc->vxid.lxid;
#else
    return MyProc->lxid;
#endif
}

Collecting *current_collecting() {
    const bool live = collecting != nullptr && collecting_transaction == current_transaction() &&
                      collecting_subtransaction == GetCurrentSubTransactionId();
    return live ? collecting : nullptr;
}

// Looks the record's columns up, once per record type.
void describe_record(Collecting &c, HeapTupleHeader record) {
    const Oid type = HeapTupleHeaderGetTypeId(record);
    const int32 typmod = HeapTupleHeaderGetTypMod(record);
    if (c.desc != nullptr && c.type == type && c.typmod == typmod)
        return;
    MemoryContext caller = MemoryContextSwitchTo(c.target.context);
    TupleDesc desc = lookup_rowtype_tupdesc_copy(type, typmod);
    MemoryContextSwitchTo(caller);
    bool fits = desc->natts == c.target.desc->natts;
    for (int i = 0; fits && i < desc->natts; i++)
        fits = TupleDescAttr(desc, i)->atttypid == TupleDescAttr(c.target.desc, i)->atttypid;
    if (!fits)
        elog(ERROR, "unexpected columns of an internal statement");
    c.desc = desc;
    c.type = type;
    c.typmod = typmod;
}

} // namespace

void collect_into(Collector *collector) {
    collecting = nullptr;
    if (collector == nullptr)
        return;
    const Size natts = collector->desc->natts;
    MemoryContext context = collector->context;
    auto *next = static_cast<Collecting *>(MemoryContextAllocZero(context, sizeof(Collecting)));
    next->target = *collector;
    next->values = static_cast<Datum *>(MemoryContextAlloc(context, natts * sizeof(Datum)));
    next->nulls = static_cast<bool *>(MemoryContextAlloc(context, natts * sizeof(bool)));
    collecting_transaction = current_transaction();
    collecting_subtransaction = GetCurrentSubTransactionId();
    collecting = next;
}

// The state stays NULL. What detoasting takes is freed with the executor's per-tuple context, in which this runs.
DP_FUNCTION(dp_collect_step) {
    aggregate_context(fcinfo);
    Collecting *c = current_collecting();
    if (c == nullptr)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("collect is an internal function of dp_rdr")));
    if (PG_ARGISNULL(1))
        PG_RETURN_NULL();
    HeapTupleHeader record = PG_GETARG_HEAPTUPLEHEADER(1);
    describe_record(*c, record);
    HeapTupleData tuple;
    tuple.t_len = HeapTupleHeaderGetDatumLength(record);
    ItemPointerSetInvalid(&tuple.t_self);
    tuple.t_tableOid = InvalidOid;
    tuple.t_data = record;
    heap_deform_tuple(&tuple, c->desc, c->values, c->nulls);
    tuplestore_putvalues(c->target.store, c->target.desc, c->values, c->nulls);
    PG_RETURN_NULL();
}

// Always 0: how many rows there were is private.
DP_FUNCTION(dp_collect_final) {
    aggregate_context(fcinfo);
    PG_RETURN_INT64(0);
}

} // namespace dp::rows
