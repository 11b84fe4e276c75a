#include "rows/measures.hpp"

#include "privacy/contribution.hpp"
#include "privacy/joint.hpp"
#include "privacy/quantile.hpp"

#include "border/refuse.hpp"
#include "catalog/domain.hpp"
#include "query/grammar.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/engine.hpp"
#include "rows/public_values.hpp"
#include "rows/texts.hpp"
#include "rows/totals.hpp"

namespace dp::rows {

// Sets how finely measures are counted: what is clipped in several groups is no whole number of rows. Thresholds compare counts of units.
static void set_grains(const Question *question, std::vector<privacy::Measure> *measures) {
    for (privacy::Measure &measure : *measures) {
        bool compared = question->thresholded && &measure == &measures->front();
        measure.one_group = question->units->one_group;
        bool parted = measure.kind == privacy::MeasureKind::quantile || // by cells
                      (measure.kind == privacy::MeasureKind::count && !measure.one_group && !measure.of_values);
        if (parted && !compared)
            measure.grain = privacy::fine_grain;
    }
}

std::vector<privacy::Measure> measures_of(const Question *question, const query::Leaf *leaf, const int64 *fractions,
                                          bool thresholded) {
    std::vector<privacy::AggregateCall> calls;
    for (int i = 0; i < leaf->naggregates; i++) {
        const query::Aggregate &aggregate = leaf->aggregates[i];
        calls.push_back({aggregate.fn, query::argument_number(aggregate), aggregate.filter, fractions[i]});
    }
    return privacy::leaf_measures(calls, thresholded, is_clipped(question) && !question->units->single);
}

void find_measures(Question *question, const int64 *fractions) {
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] {
        *measures = measures_of(question, question->leaf, fractions, question->thresholded);
        if (is_clipped(question))
            set_grains(question, measures);
        question->ncoordinates = privacy::coordinates_of_one_group(*measures);
        question->nmeasures = static_cast<int>(measures->size());
    });
    question->measures = measures;
}

void check_joint(const Question *question) {
    if (query::asks_joint(question->leaf) && adds_up_rows_elsewhere(question))
        refuse_form("covariances, correlations and lines of regression are not supported where other servers keep the "
                    "rows",
                    "Ask for sums: count(*), sum(x), sum(y), sum(x * y) ... WHERE x IS NOT NULL AND y IS NOT NULL.");
}

static uint64 sum_sensitivity_of(const Question *question, int j) {
    const uint64 of_row = question->bounds[j]->sensitivity();
    const int max_rows = question->units->max_rows;
    if (question->totals[j].text != nullptr)
        return question->totals[j].points;
    if (of_row > privacy::largest_sensitivity / max_rows)
        refuse_size(psprintf("the sum of %s over %d rows of a person may be too large",
                             argument_text(question, (*question->measures)[j].calls.front()), max_rows),
                    "Sum a smaller range, such as least(greatest(x, LOW), HIGH), or ask with a smaller "
                    "max_rows.",
                    "Its bounds times max_rows are more than 2^50.");
    return privacy::sum_sensitivity(max_rows, of_row);
}

// D_j: of a row, or of a unit (9.2).
static uint64 sensitivity_of(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    const Units *units = is_clipped(question) ? question->units : nullptr;
    switch (measure.kind) {
    case privacy::MeasureKind::count:
        return units == nullptr   ? 1
               : measure.of_units ? privacy::units_sensitivity(units->max_groups, measure.grain)
                                  : privacy::count_sensitivity(units->max_rows, measure.grain);
    case privacy::MeasureKind::sum:
        return units == nullptr ? question->bounds[j]->sensitivity() : sum_sensitivity_of(question, j);
    case privacy::MeasureKind::pair:
    case privacy::MeasureKind::triple:
        return units == nullptr ? privacy::pair_one : privacy::pair_sensitivity(units->max_rows);
    case privacy::MeasureKind::products:
    case privacy::MeasureKind::moments:
        return privacy::joint_sensitivity(measure.kind) * (units == nullptr ? 1 : static_cast<uint64>(units->max_rows));
    case privacy::MeasureKind::quantile:
        return units == nullptr ? 1 : privacy::count_sensitivity(units->max_rows, measure.grain);
    }
    pg_unreachable();
}

// A sum of whole numbers over a unit that is in several groups loses up to one in each to the floors of the clip: on a lattice as
// fine as that of other numbers it does not show (9.2).
static const privacy::Bounds *bounds_of_parts(const privacy::Bounds *of_row) {
    auto *fine = border::context_new<privacy::Bounds>();
    border::core([&] { *fine = privacy::make_bounds(of_row->lower, of_row->upper, false); });
    return fine->exponent < of_row->exponent ? fine : of_row;
}

void find_sensitivities(const catalog::Reading &reading, Question *question) {
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] { *measures = *question->measures; });
    question->bounds =
        static_cast<const privacy::Bounds **>(palloc0(sizeof(privacy::Bounds *) * (question->nmeasures + 1)));
    question->second_bounds =
        static_cast<const privacy::Bounds **>(palloc0(sizeof(privacy::Bounds *) * (question->nmeasures + 1)));
    question->totals = static_cast<UnitTotal *>(palloc0(sizeof(UnitTotal) * (question->nmeasures + 1)));
    question->measure_of = static_cast<int *>(palloc0(sizeof(int) * (question->leaf->naggregates + 1)));
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        for (int call : measure.calls)
            question->measure_of[call] = j;
        if (measure.kind != privacy::MeasureKind::count)
            question->bounds[j] = argument_bounds(reading, question, measure.calls.front());
        if (privacy::is_joint(measure.kind))
            question->second_bounds[j] = second_bounds(reading, question, measure.calls.front());
        if (measure.kind == privacy::MeasureKind::sum && !measure.one_group)
            question->bounds[j] = bounds_of_parts(question->bounds[j]);
        question->totals[j] = total_of(reading, question, j);
        (*measures)[j].sensitivity = sensitivity_of(question, j);
    }
    question->measures = measures;
}

static int places(const char *decimal) {
    const char *point = strchr(decimal, '.');
    return point == nullptr ? 0 : static_cast<int>(strlen(point + 1));
}

// -1 unless it is known how many decimals the values have, as those of numeric(p, s): clamped ones have no more than this.
static int decimals_of(const Question *question, int aggregate) {
    const privacy::Bounds *bounds = question->bounds[question->measure_of[aggregate]];
    const query::Aggregate &call = question->leaf->aggregates[aggregate];
    if (bounds == nullptr ||
        (call.fn != privacy::Aggregate::sum && call.fn != privacy::Aggregate::avg && !privacy::is_quantile(call.fn)))
        return -1;
    int scale = argument_decimals(question, aggregate);
    return scale < 0 ? -1 : Max(scale, Max(places(bounds->lower.c_str()), places(bounds->upper.c_str())));
}

void find_decimals(Question *question) {
    int n = question->leaf->naggregates;
    question->decimals = static_cast<int *>(palloc0(sizeof(int) * (n + 1)));
    for (int i = 0; i < n; i++)
        question->decimals[i] = decimals_of(question, i);
}

} // namespace dp::rows
