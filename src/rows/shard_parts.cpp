#include "rows/shard_parts.hpp"

#include <algorithm>

#include "privacy/contribution.hpp"

#include "border/attempt.hpp"
#include "border/bytes.hpp"
#include "border/refuse.hpp"
#include "border/versions.hpp"
#include "catalog/co_located.hpp"
#include "catalog/facade.hpp"
#include "rows/cell_calls.hpp"
#include "rows/engine.hpp"
#include "rows/kept_values.hpp"
#include "rows/nodes.hpp"
#include "rows/pinned.hpp"
#include "rows/quantiles.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

using privacy::int128;

// ---- what a shard is told ------------------------------------------------------------------------------------------

// Like those of a specification these are words: all nodes have one order of bytes (node_facts).
namespace {
struct PartHeader {
    int64 keyed;    // what a unit brings is a list of groups, else one vector
    int64 cells;    // the last key is the cell of a quantile
    int64 limit;    // different values of one unit
    int64 measures; // follow
};
struct PartMeasure {
    int64 coordinates, once, values, quantile, norm, sensitivity;
};
} // namespace

static Node *part_spec(const Question *question) {
    const PartHeader header = {has_entries(question), has_quantile(question), question->units->max_rows,
                               question->nmeasures};
    bytea *bytes = make_bytes(sizeof header + sizeof(PartMeasure) * header.measures);
    char *at = put_bytes(VARDATA(bytes), &header, sizeof header);
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        const PartMeasure words = {measure.coordinates(),
                                   measure.of_units,
                                   measure.of_values,
                                   measure.kind == privacy::MeasureKind::quantile,
                                   static_cast<int64>(measure.norm),
                                   static_cast<int64>(measure.sensitivity)};
        at = put_bytes(at, &words, sizeof words);
    }
    return as_node(make_bytea(bytes));
}

// ---- in the shard --------------------------------------------------------------------------------------------------

namespace {
struct PartSpec {
    PartHeader header;
    const PartMeasure *measures;
    int width; // coordinates of a group
};
// A group of a unit, of a quantile with a cell.
struct PartEntry {
    const char *key;
    uint32 size;
    int32 cell;
    int32 number; // of its vector
};
// Holds what one unit brings, by entry.
struct Brought {
    int n;
    PartEntry *entries;
    int128 *sums; // n x width
    int nvalues;
    privacy::UnitValue **values; // by measure
    int *counts;
};
struct Part {
    bytea *name;
    int64 amount;
};
struct Parts {
    int n;
    Part *parts;
};
} // namespace

constexpr uint32 cell_bytes = 1 + sizeof(int32);

static PartSpec read_spec(const bytea *bytes) {
    border::Reader reader = {VARDATA_ANY(bytes), VARDATA_ANY(bytes) + VARSIZE_ANY_EXHDR(bytes)};
    PartSpec spec = {reader.take<PartHeader>(), nullptr, 0};
    if (spec.header.measures < 1 || spec.header.measures > FUNC_MAX_ARGS || spec.header.limit < 1 ||
        spec.header.limit > catalog::max_declared_rows)
        refuse_spec();
    auto *measures = array_of<PartMeasure>(spec.header.measures);
    for (int64 j = 0; j < spec.header.measures; j++) {
        measures[j] = reader.take<PartMeasure>();
        if (measures[j].coordinates < 1 || measures[j].coordinates > privacy::most_cells ||
            measures[j].sensitivity < 0 || (measures[j].norm != 0 && measures[j].norm != 1))
            refuse_spec();
        spec.width += static_cast<int>(measures[j].coordinates);
    }
    spec.measures = measures;
    return spec;
}

static void read_entry(const PartSpec &spec, border::Reader *reader, Brought *unit, int i) {
    PartEntry *entry = &unit->entries[i];
    *entry = {nullptr, 0, -1, i};
    if (spec.header.keyed != 0) {
        entry->size = reader->take<uint32>();
        entry->key = reader->take_bytes(entry->size);
    }
    if (spec.header.cells != 0) {
        if (entry->size < cell_bytes)
            refuse_spec();
        entry->size -= cell_bytes;
        memcpy(&entry->cell, entry->key + entry->size + 1, sizeof entry->cell);
    }
    memcpy(unit->sums + int64{i} * spec.width, reader->take_bytes(sizeof(int128) * spec.width),
           sizeof(int128) * spec.width);
    for (int64 j = 0; j < spec.header.measures; j++)
        for (int n = spec.measures[j].values == 0 ? 0 : reader->take<int32>(); n > 0; n--) {
            const auto packed = reader->take<PackedValue>();
            unit->values[j][unit->counts[j]++] = {packed.hash, i, packed.value};
        }
}

static Brought read_brought(const PartSpec &spec, const bytea *bytes) {
    border::Reader reader = {VARDATA_ANY(bytes), VARDATA_ANY(bytes) + VARSIZE_ANY_EXHDR(bytes)};
    Brought unit = {};
    if (reader.at == reader.end) // FILTER has left no row
        return unit;
    const Size most = VARSIZE_ANY_EXHDR(bytes) / sizeof(PackedValue);
    unit.n = spec.header.keyed != 0 ? reader.checked_count(reader.take<int32>()) : 1;
    unit.entries = array_of<PartEntry>(unit.n + 1);
    unit.sums = array_of<int128>(Size(unit.n) * spec.width + 1);
    unit.counts = zeroed<int>(spec.header.measures);
    unit.values = zeroed<privacy::UnitValue *>(spec.header.measures);
    for (int64 j = 0; j < spec.header.measures; j++)
        if (spec.measures[j].values != 0)
            unit.values[j] = array_of<privacy::UnitValue>(most + 1);
    for (int i = 0; i < unit.n; i++)
        read_entry(spec, &reader, &unit, i);
    return unit;
}

static bool is_same_group(const PartEntry &a, const PartEntry &b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.key, b.key, a.size) == 0);
}

static bool is_before(const PartEntry &a, const PartEntry &b) {
    if (a.size != b.size)
        return a.size < b.size;
    const int order = a.size == 0 ? 0 : memcmp(a.key, b.key, a.size);
    return order != 0 ? order < 0 : a.cell < b.cell;
}

// The cells of a quantile are entries of their own. All else that they have goes to the first entry of their group, as if there were no
// cells; values that are in no cell are in no histogram.
static void join_cells(const PartSpec &spec, Brought *unit) {
    std::sort(unit->entries, unit->entries + unit->n, is_before);
    const PartEntry *first = nullptr;
    for (int i = 0; i < unit->n; i++) {
        const PartEntry *entry = &unit->entries[i];
        if (first == nullptr || !is_same_group(*first, *entry))
            first = entry;
        int128 *from = unit->sums + int64{entry->number} * spec.width;
        int128 *into = unit->sums + int64{first->number} * spec.width;
        for (int64 j = 0, c = 0; j < spec.header.measures; j++)
            for (const int64 end = c + spec.measures[j].coordinates; c < end; c++) {
                if (spec.measures[j].quantile != 0 ? entry->cell >= 0 : first == entry)
                    continue;
                if (spec.measures[j].quantile == 0)
                    into[c] = spec.measures[j].once != 0 ? Max(into[c], from[c]) : into[c] + from[c];
                from[c] = 0;
            }
    }
}

static void clip_brought(const PartSpec &spec, Brought *unit) {
    border::core([&] {
        for (int64 j = 0, first = 0; j < spec.header.measures; first += spec.measures[j++].coordinates) {
            const PartMeasure &measure = spec.measures[j];
            if (measure.values != 0)
                unit->counts[j] = static_cast<int>(
                    privacy::keep_values(unit->values[j], unit->counts[j], static_cast<std::size_t>(spec.header.limit)));
            privacy::clip(measure.quantile != 0 ? privacy::Norm::l1 : static_cast<privacy::Norm>(measure.norm),
                          unit->sums + first, unit->n, spec.width, measure.coordinates,
                          static_cast<std::uint64_t>(measure.sensitivity));
        }
    });
}

// Names a part: the key with its length, the coordinate, and the value that is counted, if there is one.
static bytea *part_name(const PartSpec &spec, const PartEntry &entry, int32 coordinate, const privacy::ValueDigest *value) {
    const uint32 size = entry.size + (spec.header.cells != 0 ? cell_bytes : 0);
    bytea *bytes = make_bytes(sizeof size + size + sizeof coordinate + (value == nullptr ? 0 : sizeof *value));
    char *at = put_bytes(VARDATA(bytes), &size, sizeof size);
    if (size > 0)
        at = put_bytes(at, entry.key, size);
    at = put_bytes(at, &coordinate, sizeof coordinate);
    if (value != nullptr)
        (void)put_bytes(at, value, sizeof *value);
    return bytes;
}

// The first coordinate of a group is there in any case: the group is.
static Parts parts_of(const PartSpec &spec, const Brought &unit) {
    Parts all = {};
    Size most = Size(unit.n) * spec.width + 1;
    for (int64 j = 0; unit.n > 0 && j < spec.header.measures; j++)
        most += unit.counts[j];
    all.parts = array_of<Part>(most);
    for (int i = 0; i < unit.n; i++)
        for (int c = 0; c < spec.width; c++) {
            const int128 amount = unit.sums[int64{unit.entries[i].number} * spec.width + c];
            if (amount != 0 || c == 0)
                all.parts[all.n++] = {part_name(spec, unit.entries[i], c, nullptr), static_cast<int64>(amount)};
        }
    for (int64 j = 0, first = 0; unit.n > 0 && j < spec.header.measures; first += spec.measures[j++].coordinates)
        for (int k = 0; k < unit.counts[j]; k++) {
            const privacy::UnitValue &value = unit.values[j][k];
            all.parts[all.n++] = {
                part_name(spec, unit.entries[value.group], static_cast<int32>(first), &value.value), 1};
        }
    return all;
}

namespace {
// Serves one unit behind the other: the specification is read once for them all.
struct PartsCall {
    PartSpec spec;
    MemoryContext memory; // of one unit
    bool begun;           // its parts are being returned
    Parts parts;
    int at;
};
} // namespace

static PartsCall *call_of(FunctionCallInfo fcinfo) {
    if (fcinfo->flinfo->fn_extra == nullptr) {
        MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
        auto *call = zeroed<PartsCall>();
        call->spec = read_spec(PG_GETARG_BYTEA_PP(0));
        call->memory = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr parts", ALLOCSET_DEFAULT_SIZES);
        fcinfo->flinfo->fn_extra = call;
        MemoryContextSwitchTo(old);
    }
    return static_cast<PartsCall *>(fcinfo->flinfo->fn_extra);
}

// Also where nobody wants the rest of them.
static void end_parts(Datum call) {
    reinterpret_cast<PartsCall *>(DatumGetPointer(call))->begun = false;
}

static void begin_parts(PartsCall *call, const bytea *bytes, ExprContext *context) {
    MemoryContextReset(call->memory);
    MemoryContext old = MemoryContextSwitchTo(call->memory);
    Brought unit = read_brought(call->spec, bytes);
    if (call->spec.header.cells != 0)
        join_cells(call->spec, &unit);
    clip_brought(call->spec, &unit);
    call->parts = parts_of(call->spec, unit);
    MemoryContextSwitchTo(old);
    call->at = 0;
    call->begun = true;
    RegisterExprContextCallback(context, end_parts, PointerGetDatum(call));
}

// Once for each unit of a shard, and as often as it has parts. The specification is a constant.
DP_FUNCTION(dp_parts) {
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    if (result == nullptr || !IsA(result, ReturnSetInfo) || result->expectedDesc == nullptr ||
        !get_fn_expr_arg_stable(fcinfo->flinfo, 0))
        refuse_spec();
    PartsCall *call = call_of(fcinfo);
    if (!call->begun)
        begin_parts(call, PG_GETARG_BYTEA_PP(1), result->econtext);
    result->isDone = call->at < call->parts.n ? ExprMultipleResult : ExprEndResult;
    if (result->isDone == ExprEndResult) {
        UnregisterExprContextCallback(result->econtext, end_parts, PointerGetDatum(call));
        call->begun = false;
        PG_RETURN_NULL();
    }
    const Part &part = call->parts.parts[call->at++];
    Datum values[2] = {PointerGetDatum(part.name), Int64GetDatum(part.amount)};
    bool nulls[2] = {};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result->expectedDesc, values, nulls)));
}

// ---- the statement -------------------------------------------------------------------------------------------------

static Node *field_of(Oid row_type, AttrNumber field, Oid type) {
    auto *select = makeNode(FieldSelect);
    select->arg = reinterpret_cast<Expr *>(makeVar(1, 1, row_type, -1, InvalidOid, 0));
    select->fieldnum = field;
    select->resulttype = type;
    select->resulttypmod = -1;
    return as_node(select);
}

Query *over_parts(const Question *question, Query *units) {
    const Oid function = internal_function("parts", {BYTEAOID, BYTEAOID}), row_type = get_func_rettype(function);
    Node *call =
        make_call(function, row_type, list_make2(part_spec(question), makeVar(1, 1, BYTEAOID, -1, InvalidOid, 0)));
    castNode(FuncExpr, call)->funcretset = true;
    Query *parts = make_aggregation(subquery_entry(units, "person"), nullptr);
    parts->hasAggs = false;
    parts->hasTargetSRFs = true;
    add_target(parts, call);
    Query *query = make_aggregation(subquery_entry(parts, "parts"), nullptr);
    group_by(query, list_make1(field_of(row_type, 1, BYTEAOID)), true);
    add_target(query, make_exact_sum(field_of(row_type, 2, INT8OID), nullptr));
    return query;
}

// ---- its rows ------------------------------------------------------------------------------------------------------

// Returns it like what one unit brings that is in one group, and has one number in it.
UnitContribution read_part(const Question *question, const Datum *columns) {
    const bytea *name = DatumGetByteaPP(columns[0]);
    border::Reader reader = {VARDATA_ANY(name), VARDATA_ANY(name) + VARSIZE_ANY_EXHDR(name)};
    const auto size = reader.take<uint32>();
    const char *key = reader.take_bytes(size);
    const auto coordinate = reader.take<int32>();
    const bool is_value = reader.at < reader.end;
    border::Writer one = border::Writer::begin();
    if (has_entries(question)) {
        one.put(int32{1});
        one.put(size);
        one.put_bytes(key, size);
    }
    const int128 amount = is_value ? 0 : sum_of(columns[1]);
    for (int c = 0; c < question->ncoordinates; c++)
        one.put(c == coordinate ? amount : int128{0});
    for (int j = 0, first = 0; j < question->nmeasures; first += (*question->measures)[j++].coordinates()) {
        if (!(*question->measures)[j].of_values)
            continue;
        const bool here = is_value && first == coordinate;
        one.put(static_cast<int32>(here));
        if (here)
            one.put(PackedValue{0, reader.take<privacy::ValueDigest>()});
    }
    bytea *bytes = make_bytes(one.bytes.len);
    (void)put_bytes(VARDATA(bytes), one.bytes.data, one.bytes.len);
    return read_contribution(question, PointerGetDatum(bytes));
}

// ---- whether it stays in the shards --------------------------------------------------------------------------------

// Tells whether the text of a plan calls one of Citus's functions of this name.
static bool calls(const char *text, const char *function) {
    bool found = false;
    CatCList *functions = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(function));
    for (int i = 0; i < functions->n_members; i++) {
        const Oid oid = reinterpret_cast<Form_pg_proc>(GETSTRUCT(&functions->members[i]->tuple))->oid;
        found |= strstr(text, psprintf(":funcid %u ", oid)) != nullptr;
    }
    ReleaseSysCacheList(functions);
    return found;
}

// Citus says so in its plan alone. A result in between, of rows that were sent to other nodes, is read by these functions.
bool is_pushed_down(const PlannedStmt *plan) {
    const char *text = nodeToString(plan->planTree);
    return strstr(text, ":extnodename DistributedPlan") != nullptr && !calls(text, "read_intermediate_result") &&
           !calls(text, "read_intermediate_results");
}

void check_pushed_down(const Question *question, Query *(*statement)(const Question *question)) {
    if (has_spellings(question)) // a shard takes them for several groups, whose norm may be smaller than that of one
        refuse_form(psprintf("groups of a type whose equal values can look different are not supported where other servers keep %s",
                             question->settings->relation_name),
                    "Group by an expression of another type, such as extract(epoch FROM ...).", "Nothing was charged.");
    bool pushed = false;
    ErrorData *error = border::attempt([&] {
        pinned_as(question->settings->owner, [&] {
            border::PathScope path = border::PathScope::enter();
            pushed = is_pushed_down(plan(statement(question), 0));
            path.leave();
        });
    });
    if (error != nullptr) {
        RESUME_INTERRUPTS();
        ereport(LOG, (errmsg("a query over %s cannot be planned: %s", question->settings->relation_name, error->message)));
    }
    if (!pushed)
        refuse_form(psprintf("the query cannot be computed inside the shards of %s", question->settings->relation_name),
                    catalog::remedy_of_shards(question->settings->relation),
                    "Rows of people would travel between nodes. Nothing was charged.");
}

} // namespace dp::rows
