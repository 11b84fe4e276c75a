#include "rows/quantiles.hpp"

#include <cmath>

#include "border/refuse.hpp"
#include "query/constants.hpp"
#include "rows/compared.hpp"
#include "rows/engine.hpp"

namespace dp::rows {

constexpr int64 most_counts = 1 << 20; // of all groups and cells of an answer

static bool is_quantile(const Question *question, int measure) {
    return (*question->measures)[measure].kind == privacy::MeasureKind::quantile;
}

int first_quantile(const Question *question) {
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
        refuse_value("the fraction of a percentile must be a number",
                     "Write a constant between 0 and 1, 0.5 for the median.");
    double q = DatumGetFloat8(castNode(Const, folded)->constvalue);
    if (!(q >= 0 && q <= 1)) // as the server says it
        ereport(ERROR,
                (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("percentile value %g is not between 0 and 1", q)));
    int64 fraction = border::core([&] { return privacy::fraction_of(q); });
    return aggregate.descending ? privacy::fraction_one - fraction : fraction;
}

const int64 *resolve_fractions(const query::Leaf *leaf, ParamListInfo parameters) {
    auto *fractions = array_of<int64>(leaf->naggregates + 1);
    for (int i = 0; i < leaf->naggregates; i++)
        fractions[i] = privacy::is_quantile(leaf->aggregates[i].fn) ? fraction_of(leaf->aggregates[i], parameters) : -1;
    return fractions;
}

void check_quantiles(const Question *question) {
    if (!has_quantile(question))
        return;
    if (adds_up_rows_elsewhere(question) || (question->thresholded && is_elsewhere(question)))
        refuse_form("min, max and percentiles are not supported where other servers keep the rows",
                    "Count over ranges: count(*) FILTER (WHERE x < 10), or GROUP BY width_bucket(x, 0, 100, 10).");
}

// Returns 0 for whole numbers, days and microseconds; for a numeric the decimals that are known, where doubles have them all.
static int decimals_of_values(const Question *question, int aggregate, const privacy::Bounds &bounds) {
    constexpr double most = 0x1p53;
    Oid type = getBaseType(exprType(argument_node(question, aggregate)));
    if (is_integer(type) || is_moment(type) || type == DATEOID)
        return 0;
    bool exact = Max(std::fabs(bounds.low), std::fabs(bounds.high)) < most;
    return type == NUMERICOID && exact ? argument_decimals(question, aggregate) : -1;
}

// Refuses a second argument where units have several rows: the cell is a key of what one brings (rows/unit_contribution).
static void check_units(const Question *question) {
    int first = first_quantile(question);
    for (int j = first + 1; is_clipped(question) && first >= 0 && j < question->nmeasures; j++)
        if (is_quantile(question, j) && (*question->measures)[j].argument != (*question->measures)[first].argument)
            refuse_form("min, max and percentiles of several columns at once are not supported where one "
                        "person may have several rows",
                        "Ask for those of each column in a query of its own.");
}

void find_grids(Question *question) {
    check_units(question);
    question->grids = zeroed<const privacy::Grid *>(question->nmeasures + 1);
    for (int j = 0; j < question->nmeasures; j++) {
        if (!is_quantile(question, j))
            continue;
        int decimals = decimals_of_values(question, (*question->measures)[j].calls.front(), *question->bounds[j]);
        auto *grid = zeroed<privacy::Grid>();
        border::core([&] { *grid = privacy::grid_of(*question->bounds[j], decimals); });
        question->grids[j] = grid;
        question->ncells += grid->cells;
    }
    const int groups = question->thresholded ? 1 : question->ngroups; // one discovered group is in memory at a time
    if (int64{groups} * question->ncells > most_counts)
        refuse_size(psprintf("%d groups and %d cells of minima, maxima and percentiles make more than " INT64_FORMAT
                             " counts",
                             groups, question->ncells, most_counts),
                    "Group by fewer columns, or ask for fewer of them at once.");
}

const char *quantile_text(const Question *question, int measure) {
    const privacy::Grid &grid = *question->grids[measure];
    return psprintf(INT64_FORMAT " of %d cells, " INT64_FORMAT " to " INT64_FORMAT " by %s",
                    static_cast<int64>((*question->measures)[measure].fraction), grid.cells, grid.first, grid.last,
                    grid.of_points ? float8out_internal(grid.scale) : "width");
}

} // namespace dp::rows
