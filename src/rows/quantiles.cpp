#include "rows/quantiles.hpp"

#include <cmath>

#include "border/scope.hpp"
#include "query/constants.hpp"
#include "rows/asked_units.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

constexpr int64 most_counts = 1 << 20; // of all groups and cells of an answer

static bool is_quantile(const Question *question, int measure) {
    return (*question->measures)[measure].kind == privacy::MeasureKind::quantile;
}

// -1: there is none.
static int first_quantile(const Question *question) {
    for (int j = 0; j < question->nmeasures; j++)
        if (is_quantile(question, j))
            return j;
    return -1;
}

bool has_quantile(const Question *question) {
    return first_quantile(question) >= 0;
}

int number_of_cells(const Question *question) {
    const int first = first_quantile(question);
    return first < 0 ? 0 : question->grids[first]->cells;
}

// ---- the question --------------------------------------------------------------------------------------------------

static int64 fraction_of(const query::Aggregate &aggregate, ParamListInfo parameters) {
    if (aggregate.fn == privacy::Aggregate::min)
        return 0;
    if (aggregate.fn == privacy::Aggregate::max)
        return privacy::fraction_one;
    Node *folded = query::fold_constants(aggregate.fraction, parameters);
    if (!IsA(folded, Const) || castNode(Const, folded)->constisnull)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the fraction of a percentile must be a number"),
                 errhint("Write a constant between 0 and 1, 0.5 for the median.")));
    double q = DatumGetFloat8(castNode(Const, folded)->constvalue);
    if (!(q >= 0 && q <= 1)) // as the server says it
        ereport(ERROR,
                (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("percentile value %g is not between 0 and 1", q)));
    int64 fraction = border::core([&] { return privacy::fraction_of(q); });
    return aggregate.descending ? privacy::fraction_one - fraction : fraction;
}

const int64 *resolve_fractions(const query::Leaf *leaf, ParamListInfo parameters) {
    auto *fractions = static_cast<int64 *>(palloc(sizeof(int64) * (leaf->naggregates + 1)));
    for (int i = 0; i < leaf->naggregates; i++)
        fractions[i] = privacy::is_quantile(leaf->aggregates[i].fn) ? fraction_of(leaf->aggregates[i], parameters) : -1;
    return fractions;
}

static const char *groups_remedy(const Question *question) {
    const char *call =
        question->undeclared == InvalidAttrNumber ? nullptr : ask_for_groups(question, question->undeclared);
    if (call == nullptr)
        return "Group by columns whose groups are declared, or by expressions whose groups follow from that.";
    return psprintf("Ask the controller for %s.", call);
}

void check_quantiles(const Question *question) {
    if (!has_quantile(question))
        return;
    if (question->thresholded)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("min, max and percentiles are not supported for groups that are not declared"),
                        errdetail("Of each group there is a histogram, also where it is not shown."),
                        errhint("%s", groups_remedy(question))));
    if (is_elsewhere(question))
        ereport(
            ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("min, max and percentiles are not supported where other servers keep the rows"),
             errhint("Count over ranges: count(*) FILTER (WHERE x < 10), or GROUP BY width_bucket(x, 0, 100, 10).")));
}

// Of whole numbers, days and microseconds 0; of a numeric those that are known, where doubles have them all.
static int decimals_of_values(const Question *question, int aggregate, const privacy::Bounds &bounds) {
    constexpr double most = 0x1p53;
    Oid type = getBaseType(exprType(argument_node(question, aggregate)));
    if (type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID || type == TIMESTAMPOID ||
        type == TIMESTAMPTZOID)
        return 0;
    bool exact = Max(std::fabs(bounds.low), std::fabs(bounds.high)) < most;
    return type == NUMERICOID && exact ? argument_decimals(question, aggregate) : -1;
}

// Of a unit with several rows the cell is a key of what it brings (rows/contribution), and there is one.
static void check_units(const Question *question) {
    int first = first_quantile(question);
    for (int j = first + 1; is_clipped(question) && first >= 0 && j < question->nmeasures; j++)
        if (is_quantile(question, j) && (*question->measures)[j].argument != (*question->measures)[first].argument)
            ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                            errmsg("min, max and percentiles of several columns at once are not supported where one "
                                   "person may have several rows"),
                            errhint("Ask for those of each column in a query of its own.")));
}

void find_grids(Question *question) {
    check_units(question);
    question->grids = static_cast<const privacy::Grid **>(palloc0(sizeof(privacy::Grid *) * (question->nmeasures + 1)));
    for (int j = 0; j < question->nmeasures; j++) {
        if (!is_quantile(question, j))
            continue;
        int decimals = decimals_of_values(question, (*question->measures)[j].calls.front(), *question->bounds[j]);
        auto *grid = static_cast<privacy::Grid *>(palloc0(sizeof(privacy::Grid)));
        border::core([&] { *grid = privacy::grid_of(*question->bounds[j], decimals); });
        question->grids[j] = grid;
        question->ncells += grid->cells;
    }
    if (int64{question->ngroups} * question->ncells > most_counts)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("%d groups and %d cells of minima, maxima and percentiles make more than " INT64_FORMAT
                               " counts",
                               question->ngroups, question->ncells, most_counts),
                        errhint("Group by fewer columns, or ask for fewer of them at once.")));
}

const char *quantile_text(const Question *question, int measure) {
    const privacy::Grid &grid = *question->grids[measure];
    return psprintf(INT64_FORMAT " of %d cells, " INT64_FORMAT " to " INT64_FORMAT " by %s",
                    static_cast<int64>((*question->measures)[measure].fraction), grid.cells, grid.first, grid.last,
                    grid.of_points ? float8out_internal(grid.scale) : "width");
}

void check_has_risk(const Question *question) {
    if (has_quantile(question))
        ereport(
            ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("min, max and percentiles are not supported here"),
             errdetail("They are drawn from a histogram: no noise is added to them whose size a risk could be "
                       "compared with."),
             errhint(is_clipped(question)
                         ? "Leave them out."
                         : "Leave them out; or look at dp_risk(), dp_risk_records() or dp_find_epsilon(), which take "
                           "them as a query with a declared sensitivity.")));
}

// ---- facts ---------------------------------------------------------------------------------------------------------

namespace {

constexpr int nfacts = 7;
enum Fact { fact_points, fact_cells, fact_first, fact_last, fact_scale, fact_low, fact_high };

uint64 bits_of(double value) {
    uint64 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double double_of(uint64 bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace

static Datum facts_of(const privacy::Grid &grid) {
    const uint64 words[nfacts] = {grid.of_points ? uint64{1} : uint64{0},
                                  static_cast<uint64>(grid.cells),
                                  static_cast<uint64>(grid.first),
                                  static_cast<uint64>(grid.last),
                                  bits_of(grid.scale),
                                  bits_of(grid.low),
                                  bits_of(grid.high)};
    auto *facts = static_cast<bytea *>(palloc(VARHDRSZ + sizeof words));
    SET_VARSIZE(facts, VARHDRSZ + sizeof words);
    for (int i = 0; i < nfacts; i++) {
        const uint64 word = pg_hton64(words[i]);
        memcpy(VARDATA(facts) + sizeof word * i, &word, sizeof word);
    }
    return PointerGetDatum(facts);
}

// Anybody may call the aggregate on rows of his own, with facts of his own.
static privacy::Grid read_facts(Datum facts) {
    const bytea *bytes = DatumGetByteaPP(facts);
    uint64 words[nfacts] = {};
    bool fine = VARSIZE_ANY_EXHDR(bytes) == sizeof words;
    if (fine)
        memcpy(words, VARDATA_ANY(bytes), sizeof words);
    for (uint64 &word : words)
        word = pg_ntoh64(word);
    privacy::Grid grid;
    grid.of_points = words[fact_points] != 0;
    grid.first = static_cast<int64>(words[fact_first]);
    grid.last = static_cast<int64>(words[fact_last]);
    grid.scale = double_of(words[fact_scale]);
    grid.low = double_of(words[fact_low]);
    grid.high = double_of(words[fact_high]);
    if (!fine || words[fact_cells] < 1 || words[fact_cells] > privacy::most_cells || grid.first > grid.last)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("grid of a histogram is not valid")));
    grid.cells = static_cast<int>(words[fact_cells]);
    return grid;
}

// ---- the aggregate -------------------------------------------------------------------------------------------------

namespace {

// What is known of a call before its first row.
struct Site {
    bool whole; // integers, dates and timestamps, which are their own points
    ValueKind kind;
    privacy::Grid grid;
};

struct Histogram {
    int64 cells;
    int64 counts[FLEXIBLE_ARRAY_MEMBER];
};

Size size_of(int64 cells) {
    return offsetof(Histogram, counts) + sizeof(int64) * static_cast<Size>(cells);
}

// Of a cell that somebody is in.
struct Occupied {
    int64 cell, rows;
};

} // namespace

static void set_kind(Site *site, Oid type) {
    site->whole = false;
    switch (getBaseType(type)) {
    case DATEOID:
        site->whole = true;
        site->kind = ValueKind::int4;
        return;
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
        site->whole = true;
        site->kind = ValueKind::int8;
        return;
    default:
        site->kind = value_kind(type);
        site->whole = is_integer(site->kind);
    }
}

// value: which argument it is; the facts come behind it.
static const Site *site_of(FunctionCallInfo fcinfo, int value) {
    auto *site = static_cast<Site *>(fcinfo->flinfo->fn_extra);
    if (site != nullptr)
        return site;
    if (PG_ARGISNULL(value + 1))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("grid of a histogram must not be null")));
    site = static_cast<Site *>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Site)));
    site->grid = read_facts(PG_GETARG_DATUM(value + 1));
    set_kind(site, get_fn_expr_argtype(fcinfo->flinfo, value));
    fcinfo->flinfo->fn_extra = site;
    return site;
}

static Histogram *new_histogram(MemoryContext context, int64 cells) {
    auto *histogram = static_cast<Histogram *>(MemoryContextAllocZero(context, size_of(cells)));
    histogram->cells = cells;
    return histogram;
}

static Histogram *histogram_argument(FunctionCallInfo fcinfo, int i) {
    return PG_ARGISNULL(i) ? nullptr : reinterpret_cast<Histogram *>(PG_GETARG_POINTER(i));
}

static std::optional<int> cell_of(const Site *site, Datum value) {
    if (site->whole && site->grid.of_points && site->grid.scale == 1)
        return privacy::cell_of_point(site->grid, integer_value(site->kind, value));
    return privacy::cell_of_number(site->grid, double_value(site->kind, value));
}

DP_FUNCTION(dp_histogram_add) {
    MemoryContext context = aggregate_context(fcinfo);
    const Site *site = site_of(fcinfo, 1);
    Histogram *histogram = histogram_argument(fcinfo, 0);
    if (histogram == nullptr)
        histogram = new_histogram(context, site->grid.cells);
    if (PG_ARGISNULL(1))
        PG_RETURN_POINTER(histogram);
    const std::optional<int> cell = cell_of(site, PG_GETARG_DATUM(1));
    if (cell)
        histogram->counts[*cell]++;
    PG_RETURN_POINTER(histogram);
}

// The cell of one value. Strict; NULL of a NaN.
DP_FUNCTION(dp_histogram_cell) {
    const std::optional<int> cell = cell_of(site_of(fcinfo, 0), PG_GETARG_DATUM(0));
    if (!cell)
        PG_RETURN_NULL();
    PG_RETURN_INT32(*cell);
}

DP_FUNCTION(dp_histogram_combine) {
    MemoryContext context = aggregate_context(fcinfo);
    Histogram *histogram = histogram_argument(fcinfo, 0);
    const Histogram *other = histogram_argument(fcinfo, 1);
    if (other != nullptr) {
        if (histogram == nullptr) // a worker's state does not live as long as the aggregation
            histogram = new_histogram(context, other->cells);
        if (histogram->cells != other->cells) // grids that differ from row to row
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("grid of a histogram is not valid")));
        for (int64 i = 0; i < other->cells; i++)
            histogram->counts[i] += other->counts[i];
    }
    if (histogram == nullptr)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(histogram);
}

DP_FUNCTION(dp_histogram_serialize) {
    aggregate_context(fcinfo);
    const Histogram *histogram = histogram_argument(fcinfo, 0);
    const Size size = size_of(histogram->cells);
    auto *bytes = static_cast<bytea *>(palloc(VARHDRSZ + size));
    SET_VARSIZE(bytes, VARHDRSZ + size);
    memcpy(VARDATA(bytes), histogram, size);
    PG_RETURN_BYTEA_P(bytes);
}

DP_FUNCTION(dp_histogram_deserialize) {
    aggregate_context(fcinfo);
    const bytea *bytes = PG_GETARG_BYTEA_PP(0);
    const Size size = VARSIZE_ANY_EXHDR(bytes);
    if (size < size_of(1) || size > size_of(privacy::most_cells) || (size - size_of(0)) % sizeof(int64) != 0)
        elog(ERROR, "unexpected size of a transition state");
    auto *histogram = static_cast<Histogram *>(palloc(size));
    memcpy(histogram, VARDATA_ANY(bytes), size);
    if (size_of(histogram->cells) != size)
        elog(ERROR, "unexpected size of a transition state");
    PG_RETURN_POINTER(histogram);
}

// No bytes without rows: a NULL would tell an empty set from others.
DP_FUNCTION(dp_histogram_final) {
    aggregate_context(fcinfo);
    const Histogram *histogram = histogram_argument(fcinfo, 0);
    const int64 cells = histogram == nullptr ? 0 : histogram->cells;
    auto *bytes = static_cast<bytea *>(palloc(VARHDRSZ + sizeof(Occupied) * (cells + 1)));
    Size size = VARHDRSZ;
    for (int64 i = 0; i < cells; i++) {
        const Occupied occupied = {i, histogram->counts[i]};
        if (occupied.rows == 0)
            continue;
        memcpy(reinterpret_cast<char *>(bytes) + size, &occupied, sizeof occupied);
        size += sizeof occupied;
    }
    SET_VARSIZE(bytes, size);
    PG_RETURN_BYTEA_P(bytes);
}

// ---- the internal statement ----------------------------------------------------------------------------------------

static List *arguments_of(const Question *question, int measure, Node *column) {
    return list_make2(column,
                      makeConst(BYTEAOID, -1, InvalidOid, -1, facts_of(*question->grids[measure]), false, false));
}

static Oid function_of_values(const char *name) {
    Oid types[2] = {ANYOID, BYTEAOID};
    return border::internal_function(name, 2, types);
}

Node *histogram_of(const Question *question, int measure, Node *column, Node *filter) {
    return reinterpret_cast<Node *>(
        make_aggregate(function_of_values("histogram"), BYTEAOID, arguments_of(question, measure, column), filter));
}

Node *cell_of_row(const Question *question) {
    const int measure = first_quantile(question);
    Node *column = argument_node(question, (*question->measures)[measure].calls.front());
    return reinterpret_cast<Node *>(makeFuncExpr(function_of_values("histogram_cell"), INT4OID,
                                                 arguments_of(question, measure, column), InvalidOid, InvalidOid,
                                                 COERCE_EXPLICIT_CALL));
}

static void read_histogram(Datum result, const privacy::Grid &grid, int64 *cells) {
    const bytea *bytes = DatumGetByteaPP(result);
    const Size n = VARSIZE_ANY_EXHDR(bytes) / sizeof(Occupied);
    for (Size i = 0; i < n; i++) {
        Occupied occupied;
        memcpy(&occupied, VARDATA_ANY(bytes) + sizeof occupied * i, sizeof occupied);
        if (occupied.cell < 0 || occupied.cell >= grid.cells)
            elog(ERROR, "unexpected result of an internal aggregate");
        cells[occupied.cell] = occupied.rows;
    }
}

void read_histograms(const Question *question, const Datum *columns, int64 *cells) {
    const Datum *column = columns + question->leaf->nkeys;
    for (int j = 0; j < question->nmeasures; j++) {
        if (is_quantile(question, j)) {
            read_histogram(*column, *question->grids[j], cells);
            cells += question->grids[j]->cells;
        }
        column += (*question->measures)[j].coordinates();
    }
}

} // namespace dp::rows
