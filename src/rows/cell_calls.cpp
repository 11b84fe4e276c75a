#include "rows/cell_calls.hpp"

#include "privacy/joint.hpp"
#include "privacy/quantile.hpp"

#include "rows/aggregate_arguments.hpp"
#include "rows/built_in_points.hpp"
#include "rows/counted_values.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

using privacy::int128;
using privacy::MeasureKind;

// ---- specifications ------------------------------------------------------------------------------------------------

template <class T> static void put_lattice(MeasureWords *words, const T &lattice) {
    static_assert(sizeof lattice <= sizeof words->lattice, "it has a place there");
    memcpy(words->lattice, &lattice, sizeof lattice);
}

static GridWords words_of_grid(const privacy::Grid &grid) {
    return {grid.of_points ? 1 : 0, grid.cells, grid.first, grid.last, grid.scale, grid.low, grid.high};
}

// by_cell: the cells of quantiles are keys, and are counted.
static MeasureWords words_of(const Question *question, int j, bool by_cell) {
    const privacy::Measure &measure = (*question->measures)[j];
    MeasureWords words = {};
    words.kind =
        static_cast<int64>(by_cell && measure.kind == MeasureKind::quantile ? MeasureKind::count : measure.kind);
    words.once = static_cast<int64>(measure.of_units);
    words.grain = static_cast<int64>(measure.grain);
    words.values = measure.of_values && is_clipped(question) ? question->units->max_rows : 0;
    words.sensitivity = static_cast<double>((*question->measures)[j].sensitivity);
    if (measure.kind == MeasureKind::quantile)
        put_lattice(&words, words_of_grid(*question->grids[j]));
    else if (privacy::is_joint(measure.kind))
        border::core([&] {
            put_lattice(&words, privacy::joint_lattice({*question->bounds[j], *question->second_bounds[j]}));
        });
    else if (measure.kind == MeasureKind::sum)
        border::core([&] { put_lattice(&words, privacy::sum_lattice(*question->bounds[j])); });
    else if (measure.kind != MeasureKind::count)
        border::core([&] { put_lattice(&words, privacy::pair_lattice(*question->bounds[j])); });
    return words;
}

Node *make_spec(const Question *question, SpecHeader header, const List *measures,
                const privacy::SvtCandidate *tested) {
    header.measures = list_length(measures);
    bytea *bytes =
        make_bytes(sizeof header + sizeof(MeasureWords) * header.measures + sizeof(CandidateWords) * header.candidates);
    char *at = put_bytes(VARDATA(bytes), &header, sizeof header);
    ListCell *cell;
    foreach (cell, measures) {
        const MeasureWords words = words_of(question, lfirst_int(cell), header.keys > 0);
        at = put_bytes(at, &words, sizeof words);
    }
    for (int64 j = 0; j < header.candidates; j++) {
        const CandidateWords words = {tested[j].noise_term, static_cast<int64>(tested[j].least)};
        at = put_bytes(at, &words, sizeof words);
    }
    turn_words(VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ);
    return as_node(make_bytea(bytes));
}

List *all_measures(const Question *question) {
    List *measures = NIL;
    for (int j = 0; j < question->nmeasures; j++)
        measures = lappend_int(measures, j);
    return measures;
}

Node *spec_of_rows(const Question *question, const List *measures) {
    return make_spec(question, SpecHeader{}, measures, nullptr);
}

// ---- calls ---------------------------------------------------------------------------------------------------------

Aggref *call_cells(List *arguments, Node *filter) {
    return make_aggregate(internal_function("cells", {BYTEAOID, ANYOID}), BYTEAOID, arguments, filter);
}

Node *cell_of_row(const Question *question, int measure) {
    List *arguments = list_make2(spec_of_rows(question, list_make1_int(measure)),
                                 argument_node(question, (*question->measures)[measure].calls.front()));
    return coalesced(make_call(internal_function("cell", {BYTEAOID, ANYOID}), INT4OID, arguments), query::int_constant(-1));
}

Node *count_aggregate(Node *argument, Node *filter) {
    return as_node(argument == nullptr ? make_aggregate(F_COUNT_, INT8OID, NIL, filter)
                                       : make_aggregate(F_COUNT_ANY, INT8OID, list_make1(argument), filter));
}

Node *both(Node *a, Node *b) {
    return a == nullptr || b == nullptr ? another(a == nullptr ? b : a) : make_and_qual(another(a), another(b));
}

// ---- the columns of the statement over rows ------------------------------------------------------------------------

int number_of_cell_columns(const Question *question) {
    return question->by_points ? question->ncoordinates : question->nmeasures;
}

Node *contributed_node(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    Node *value = measure.argument < 0 ? makeBoolConst(true, false) : argument_node(question, measure.calls.front());
    if (measure.of_values)
        value = value_digest(value);
    return measure.filter < 0
               ? value
               : value_where(another(static_cast<Node *>(list_nth(question->filters, measure.filter))), value);
}

List *contributed_nodes(const Question *question) {
    List *nodes = NIL;
    for (int j = 0; j < question->nmeasures; j++)
        nodes = lappend(nodes, contributed_node(question, j));
    return nodes;
}

const CellSite *site_of(const Question *question) {
    auto *spec = castNode(Const, spec_of_rows(question, all_measures(question)));
    List *arguments = lcons(spec, contributed_nodes(question));
    auto *flinfo = zeroed<FmgrInfo>();
    flinfo->fn_mcxt = CurrentMemoryContext;
    flinfo->fn_expr = make_call(InvalidOid, BYTEAOID, arguments);
    const int n = list_length(arguments);
    auto *call = static_cast<FunctionCallInfo>(palloc0(SizeForFunctionCallInfo(n)));
    InitFunctionCallInfoData(*call, flinfo, static_cast<short>(n), InvalidOid, nullptr, nullptr);
    call->args[0].value = spec->constvalue;
    return read_site(call, 0, 1);
}

static Node *filter_of(const Question *question, int j, Node *among) {
    const int filter = (*question->measures)[j].filter;
    return both(among, filter < 0 ? nullptr : static_cast<Node *>(list_nth(question->filters, filter)));
}

static Node *count_column(const Question *question, int j, Node *filter) {
    const privacy::Measure &measure = (*question->measures)[j];
    Node *argument = measure.argument < 0 ? nullptr : argument_node(question, measure.calls.front());
    return measure.of_values ? count_of_values(argument, filter) : count_aggregate(argument, filter);
}

// Says whether a coordinate is asked for as a count. All parts of a pair or triple make 1 together, so the second one follows from
// how many values there are. Integers are counted wherever there are any.
static bool is_counted(MeasureKind kind, int coordinate) {
    return coordinate == 1 && (kind == MeasureKind::pair || kind == MeasureKind::triple);
}

static List *point_columns(const Question *question, int j, Node *filter) {
    const privacy::Measure &measure = (*question->measures)[j];
    List *columns = NIL;
    for (int c = 0; c < measure.coordinates(); c++) {
        Node *argument = argument_node(question, measure.calls.front());
        const bool counted = is_counted(measure.kind, c);
        Node *point = counted && is_integer(value_kind(exprType(argument))) ? argument
                                                                            : point_of(question, j, counted ? 0 : c, argument);
        columns = lappend(columns,
                          counted ? count_aggregate(point, another(filter)) : make_exact_sum(point, another(filter)));
    }
    return columns;
}

// Each measure has a call of its own: one call of several was slower.
static Node *call_column(const Question *question, int j, Node *filter) {
    Node *argument = argument_node(question, (*question->measures)[j].calls.front());
    return as_node(call_cells(list_make2(spec_of_rows(question, list_make1_int(j)), argument), filter));
}

List *cell_columns(const Question *question, Node *among) {
    List *columns = NIL;
    for (int j = 0; j < question->nmeasures; j++) {
        Node *filter = filter_of(question, j, among);
        if ((*question->measures)[j].kind == MeasureKind::count)
            columns = lappend(columns, count_column(question, j, filter));
        else if (question->by_points)
            columns = list_concat(columns, point_columns(question, j, filter));
        else
            columns = lappend(columns, call_column(question, j, filter));
    }
    return columns;
}

// ---- reading them --------------------------------------------------------------------------------------------------

int128 sum_at(Datum result, int coordinate, int width) {
    const bytea *bytes = DatumGetByteaPP(result);
    int128 sum = 0;
    if (VARSIZE_ANY_EXHDR(bytes) == 0)
        return sum;
    if (VARSIZE_ANY_EXHDR(bytes) != sizeof sum * width)
        elog(ERROR, "unexpected result of an internal aggregate");
    memcpy(&sum, VARDATA_ANY(bytes) + sizeof sum * coordinate, sizeof sum);
    return sum;
}

// Sums of the points that other servers added up.
static void read_points(MeasureKind kind, const Datum *columns, int128 *sums) {
    const int n = privacy::coordinates_of(kind);
    for (int c = 0; c < n; c++)
        sums[c] = is_counted(kind, c) ? DatumGetInt64(columns[c]) * int128{privacy::pair_one} : sum_of(columns[c]);
    for (int c = 0; c < n; c++)
        if (c != 1 && is_counted(kind, 1))
            sums[1] -= sums[c];
}

void read_cells(const Question *question, const Datum *columns, int128 *sums, int64 *cells) {
    const Datum *column = columns + question->leaf->nkeys;
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        const int coordinates = measure.coordinates();
        if (measure.kind == MeasureKind::count)
            *sums = DatumGetInt64(*column);
        else if (question->by_points)
            read_points(measure.kind, column, sums);
        else if (measure.kind == MeasureKind::quantile) { // its coordinate has no sum
            *sums = 0;
            for (int i = 0, n = question->grids[j]->cells; i < n; i++)
                *cells++ = static_cast<int64>(sum_at(*column, i, n));
        } else
            for (int c = 0; c < coordinates; c++)
                sums[c] = sum_at(*column, c, coordinates);
        column += question->by_points ? coordinates : 1;
        sums += coordinates;
    }
}

} // namespace dp::rows
