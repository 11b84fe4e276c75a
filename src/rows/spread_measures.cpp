#include "rows/spread_measures.hpp"

#include "privacy/contribution.hpp"
#include "privacy/joint.hpp"

#include "rows/keyed_groups.hpp"
#include "rows/public_values.hpp"

namespace dp::rows {

// Where a row adds to one group only, in which a unit is known to have so much at most. Of different values that is not known.
static bool is_in_groups(const privacy::Measure &measure) {
    return measure.kind != privacy::MeasureKind::quantile && !measure.of_values;
}

// Returns how much a row adds to one group at most: in l1 norm, over all coordinates.
static uint64 row_sensitivity_of(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    if (measure.kind == privacy::MeasureKind::count)
        return measure.grain;
    if (privacy::is_joint(measure.kind))
        return privacy::joint_sensitivity(measure.kind);
    return measure.kind == privacy::MeasureKind::sum ? question->bounds[j]->sensitivity() : privacy::pair_one;
}

// C, which nobody has to declare: at R the clip takes less than that of 9.2, and D is the same. By keys it may be less.
static int rows_per_group(const catalog::Reading &reading, const Question *question) {
    const Units *units = question->units;
    return units->max_rows_per_group > 0 ? units->max_rows_per_group : rows_per_group_by_keys(reading, question);
}

// A count of units has one in each of kappa groups. Core region.
static uint64 spread_sensitivity_of(const Question *question, int j) {
    const Units *units = question->units;
    const uint64 of_row = row_sensitivity_of(question, j);
    if ((*question->measures)[j].of_units)
        return privacy::spread_sensitivity(units->max_groups, 1, of_row);
    const uint64 of_rows = privacy::spread_sensitivity(units->max_rows, question->rows_per_group, of_row);
    const UnitTotal &total = question->totals[j];
    return total.text == nullptr
               ? of_rows
               : Min(of_rows, privacy::spread_of_total(total.points, question->rows_per_group, of_row));
}

void set_mechanism(const catalog::Reading &reading, Question *question, privacy::Mechanism mechanism) {
    const Units *units = question->units;
    if (mechanism == privacy::Mechanism::laplace || units == nullptr || !units->clipped || units->one_group)
        return;
    question->rows_per_group = rows_per_group(reading, question);
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] {
        *measures = *question->measures;
        for (int j = 0; j < question->nmeasures; j++)
            if (is_in_groups((*measures)[j])) {
                (*measures)[j].norm = privacy::Norm::groups;
                (*measures)[j].sensitivity = spread_sensitivity_of(question, j);
            }
        if (question->thresholded)
            measures->front().opened = units->max_groups;
    });
    question->measures = measures;
    question->looked_up = hash_of_looked_up(question);
}

} // namespace dp::rows
