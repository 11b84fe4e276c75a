// Computes what people bear whose rows are the table's: all questions in one scan, each evaluated once for all rows with the same values.
#include <cmath>

#include "border/walk.hpp"
#include "risk/loss_sums.hpp"
#include "risk/scan_statement.hpp"
#include "rows/cell_calls.hpp"
#include "rows/cell_points.hpp"
#include "rows/nodes.hpp"
#include "rows/units.hpp"

namespace dp::risk {

namespace {
// One question, and where its measures stand among the values of its set.
struct Evaluated {
    const AskedQuestion *asked;
    const rows::CellSite *site;
    int first;
};

// Rows with the same values lose the same by all questions that read these columns.
struct Known {
    uint64 hash;
    Size size;
    char *bytes;
    privacy::PersonLoss loss;
};

struct ColumnSet {
    Bitmapset *columns; // of the scan, as pull_varattnos() numbers them
    List *questions;    // Evaluated *
    List *targets;
    ProjectionInfo *projection;
    MemoryContext memory;
    Known *known; // by hash, open addressing
    uint64 capacity, nknown;
    uint64 met, found; // rows, and those of them that were known
};

struct Scan {
    LossSums *sums;
    List *columns; // Var *, behind the key
    List *sets;    // ColumnSet *
    TupleTableSlot *row;
    ExprContext *context;
    MemoryContext known; // of all sets
    StringInfoData bytes;
    int64 rows;
};
} // namespace

// ---- the questions -------------------------------------------------------------------------------------------------

static Node *over_scan(Node *node, void *columns) {
    if (node == nullptr)
        return nullptr;
    if (!IsA(node, Var))
        return border::mutate_expression(node, over_scan, columns);
    const auto *column = castNode(Var, node);
    auto **all = static_cast<List **>(columns);
    ListCell *cell;
    int place = list_length(*all);
    foreach (cell, *all)
        if (lfirst_node(Var, cell)->varattno == column->varattno)
            place = foreach_current_index(cell);
    if (place == list_length(*all))
        *all = lappend(*all, const_cast<Var *>(column));
    return reinterpret_cast<Node *>(makeVar(1, static_cast<AttrNumber>(place + 1), column->vartype, column->vartypmod,
                                            column->varcollid, 0));
}

static ColumnSet *set_of(Scan *scan, Bitmapset *columns) {
    ListCell *cell;
    foreach (cell, scan->sets)
        if (bms_equal(static_cast<ColumnSet *>(lfirst(cell))->columns, columns))
            return static_cast<ColumnSet *>(lfirst(cell));
    auto *set = static_cast<ColumnSet *>(palloc0(sizeof(ColumnSet)));
    set->columns = columns;
    scan->sets = lappend(scan->sets, set);
    return set;
}

// Adds expressions for what a row brings to each measure: NULL where it brings nothing, by a CASE over WHERE and the declared keys.
static void add_question(Scan *scan, const AskedQuestion *asked) {
    const rows::Question *question = asked->question;
    List *values = NIL;
    Bitmapset *columns = nullptr;
    for (int j = 0; j < question->nmeasures; j++) {
        Node *where = make_and_qual(rows::where_declared(question), rows::another(question->in_touched));
        Node *value = rows::contributed_node(question, j);
        values = lappend(values, over_scan(where == nullptr ? value : rows::value_where(where, value), &scan->columns));
    }
    pull_varattnos(reinterpret_cast<Node *>(values), 1, &columns);
    ColumnSet *set = set_of(scan, columns);
    auto *one = static_cast<Evaluated *>(palloc(sizeof(Evaluated)));
    *one = {asked, rows::site_of(question), list_length(set->targets)};
    set->questions = lappend(set->questions, one);
    ListCell *cell;
    foreach (cell, values) {
        Expr *value = expression_planner(static_cast<Expr *>(lfirst(cell)));
        convert_saop_to_hashed_saop(reinterpret_cast<Node *>(value));
        const auto number = static_cast<AttrNumber>(list_length(set->targets) + 1);
        set->targets = lappend(set->targets, makeTargetEntry(value, number, nullptr, false));
    }
}

// ---- one row -------------------------------------------------------------------------------------------------------

static double point_norm(const rows::MeasureSite &measure, Datum value, double *square) {
    if (static_cast<privacy::MeasureKind>(measure.words.kind) == privacy::MeasureKind::quantile) {
        *square = rows::cell_of(measure, value).has_value() ? 1 : 0;
        return *square;
    }
    privacy::int128 sums[6] = {};
    (void)measure.add(measure, value, sums);
    double norm = 0;
    for (const privacy::int128 &sum : sums) {
        const auto part = std::fabs(static_cast<double>(sum));
        norm += part;
        *square += part * part;
    }
    return norm;
}

static privacy::PersonLoss loss_of_values(Scan *scan, const ColumnSet *set) {
    ResetExprContext(scan->context);
    const TupleTableSlot *values = ExecProject(set->projection);
    privacy::PersonLoss loss;
    ListCell *cell;
    foreach (cell, set->questions) {
        const auto *one = static_cast<const Evaluated *>(lfirst(cell));
        privacy::Share share;
        for (int j = 0; j < one->site->nmeasures; j++) {
            if (values->tts_isnull[one->first + j])
                continue;
            double square = 0;
            const double norm = point_norm(one->site->measures[j], values->tts_values[one->first + j], &square);
            add_measure(*one->asked, j, norm, square, &share);
        }
        privacy::add_charged(&loss, one->asked->charged, share, static_cast<std::size_t>(one->site->nmeasures));
    }
    return loss;
}

// The bytes of a set's columns in the row that is read: equal bytes are equal values.
static void write_columns(Scan *scan, const ColumnSet *set) {
    resetStringInfo(&scan->bytes);
    for (int member = -1; (member = bms_next_member(set->columns, member)) >= 0;) {
        const int i = member + FirstLowInvalidHeapAttributeNumber - 1;
        const Form_pg_attribute column = TupleDescAttr(scan->row->tts_tupleDescriptor, i);
        const bool isnull = scan->row->tts_isnull[i];
        const Datum value = scan->row->tts_values[i];
        appendBinaryStringInfo(&scan->bytes, reinterpret_cast<const char *>(&isnull), sizeof isnull);
        if (isnull)
            continue;
        if (column->attbyval)
            appendBinaryStringInfo(&scan->bytes, reinterpret_cast<const char *>(&value), sizeof value);
        else
            appendBinaryStringInfo(&scan->bytes, DatumGetPointer(value),
                                   static_cast<int>(datumGetSize(value, false, column->attlen)));
    }
}

// The place of the bytes, or where they belong.
static Known *place_of(const Scan *scan, const ColumnSet *set, uint64 hash) {
    uint64 at = hash & (set->capacity - 1);
    for (;; at = (at + 1) & (set->capacity - 1)) {
        Known *known = &set->known[at];
        const auto size = static_cast<Size>(scan->bytes.len);
        if (known->bytes == nullptr ||
            (known->hash == hash && known->size == size && memcmp(known->bytes, scan->bytes.data, size) == 0))
            return known;
    }
}

// Begins to know rows anew, twice as many if there is room.
static void empty(const Scan *scan, ColumnSet *set) {
    MemoryContextReset(set->memory);
    if (MemoryContextMemAllocated(scan->known, true) + 2 * sizeof(Known) * set->capacity < get_hash_memory_limit())
        set->capacity *= 2;
    set->nknown = 0;
    set->known = static_cast<Known *>(
        MemoryContextAllocExtended(set->memory, sizeof(Known) * set->capacity, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
}

static void add_loss_of_set(Scan *scan, ColumnSet *set, privacy::PersonLoss *loss) {
    constexpr uint64 looks = 65536;
    if (set->met++ >= looks && set->found < set->met / 2) { // most rows are different
        MemoryContextReset(set->memory);
        return privacy::add(loss, loss_of_values(scan, set));
    }
    write_columns(scan, set);
    const auto size = static_cast<Size>(scan->bytes.len);
    const uint64 hash = hash_bytes_extended(reinterpret_cast<const unsigned char *>(scan->bytes.data), scan->bytes.len, 0);
    Known *known = place_of(scan, set, hash);
    if (known->bytes == nullptr) {
        if (++set->nknown * 4 > set->capacity * 3 ||
            MemoryContextMemAllocated(scan->known, true) > get_hash_memory_limit()) {
            empty(scan, set);
            known = place_of(scan, set, hash);
        }
        *known = {hash, size, static_cast<char *>(MemoryContextAlloc(set->memory, size + 1)), loss_of_values(scan, set)};
        memcpy(known->bytes, scan->bytes.data, size);
    } else
        set->found++;
    privacy::add(loss, known->loss);
}

static void take_row(Scan *scan, const Datum *values, const bool *nulls) {
    const int nkeys = scan->sums->nkeys, n = list_length(scan->columns);
    scan->rows++;
    for (int i = 0; i < nkeys; i++)
        if (nulls[i]) // nobody's
            return;
    ExecClearTuple(scan->row);
    memcpy(scan->row->tts_values, values + nkeys, sizeof(Datum) * n);
    memcpy(scan->row->tts_isnull, nulls + nkeys, n);
    ExecStoreVirtualTuple(scan->row);
    privacy::PersonLoss loss;
    ListCell *cell;
    foreach (cell, scan->sets)
        add_loss_of_set(scan, static_cast<ColumnSet *>(lfirst(cell)), &loss);
    add_part_of_loss(scan->sums, values, loss);
}

// ---- the scan ------------------------------------------------------------------------------------------------------

static Query *scan_query(const rows::Question *table, const Scan *scan) {
    Query *query = make_select(rows::table_entry(table),
                               table->units == nullptr ? nullptr : rows::another(table->units->links));
    if (table->units == nullptr) {
        rows::add_target(query, reinterpret_cast<Node *>(makeVar(1, TableOidAttributeNumber, OIDOID, -1, InvalidOid, 0)));
        rows::add_target(query, reinterpret_cast<Node *>(makeVar(1, SelfItemPointerAttributeNumber, TIDOID, -1, InvalidOid, 0)));
    }
    ListCell *cell;
    foreach (cell, table->units == nullptr ? NIL : table->units->values)
        rows::add_target(query, rows::another(static_cast<Node *>(lfirst(cell))));
    foreach (cell, scan->columns)
        rows::add_target(query, rows::another(static_cast<Node *>(lfirst(cell))));
    return query;
}

static TupleDesc describe(const List *columns) {
    TupleDesc desc = CreateTemplateTupleDesc(list_length(columns));
    ListCell *cell;
    foreach (cell, columns) {
        const Var *column = lfirst_node(Var, cell);
        const auto number = static_cast<AttrNumber>(foreach_current_index(cell) + 1);
        TupleDescInitEntry(desc, number, nullptr, column->vartype, column->vartypmod, 0);
        TupleDescInitEntryCollation(desc, number, column->varcollid);
    }
    return desc;
}

static void begin_set(Scan *scan, ColumnSet *set) {
    TupleTableSlot *values = MakeSingleTupleTableSlot(ExecTypeFromTL(set->targets), &TTSOpsVirtual);
    set->projection =
        ExecBuildProjectionInfo(set->targets, scan->context, values, nullptr, scan->row->tts_tupleDescriptor);
    set->memory = AllocSetContextCreate(scan->known, "dp_rdr losses", ALLOCSET_SMALL_SIZES);
    set->capacity = 128;
    empty(scan, set);
}

int64 read_losses_of_rows(const rows::Question *table, const List *asked, LossSums *sums) {
    Scan scan = {};
    scan.sums = sums;
    ListCell *cell;
    foreach (cell, asked)
        add_question(&scan, static_cast<const AskedQuestion *>(lfirst(cell)));
    EState *state = CreateExecutorState();
    scan.context = CreateExprContext(state);
    scan.row = MakeSingleTupleTableSlot(describe(scan.columns), &TTSOpsVirtual);
    scan.context->ecxt_scantuple = scan.row;
    scan.known = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr losses", ALLOCSET_SMALL_SIZES);
    initStringInfo(&scan.bytes);
    foreach (cell, scan.sets)
        begin_set(&scan, static_cast<ColumnSet *>(lfirst(cell)));
    (void)run_query(scan_query(table, &scan), InvalidOid, [&scan](const TupleTableSlot *row) { take_row(&scan, row->tts_values, row->tts_isnull); },
                    table->checked);
    MemoryContextDelete(scan.known);
    FreeExecutorState(state);
    return scan.rows;
}

} // namespace dp::risk
