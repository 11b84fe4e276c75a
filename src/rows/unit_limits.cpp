#include "rows/unit_limits.hpp"

#include "privacy/joint.hpp"
#include "privacy/quantile.hpp"

#include "rows/engine.hpp"
#include "rows/joined_sources.hpp"

namespace dp::rows {

// Where Citus keeps the rows it adds up points, which histograms, products and different values have not: these are asked for by units,
// also of people with one row each.
static bool is_asked_by_units(const Question *question, const Units *units) {
    if (units->clipped || !is_on_other_nodes(question->settings->relation))
        return false;
    for (int i = 0; i < question->leaf->naggregates; i++) {
        const privacy::Aggregate fn = question->leaf->aggregates[i].fn;
        if (privacy::is_quantile(fn) || privacy::is_joint(fn) || fn == privacy::Aggregate::count_values)
            return true;
    }
    return false;
}

void limit_rows(const Question *question, Units *units) {
    if (units->joined != nullptr)
        return limit_joined_rows(question, units);
    if (is_asked_by_units(question, units)) {
        units->clipped = units->single = units->one_group = true;
        units->max_rows = 1;
        return;
    }
    int asked = question->leaf->limits.max_rows;
    units->one_group = !units->clipped || question->leaf->nkeys == 0;
    units->max_rows = !units->clipped ? 1 : asked > 0 ? asked : units->path->max_rows;
}

// Returns the path to units of the only table that a unit may have several rows of; null: there is none.
static const catalog::UnitPath *path_of_several(const Question *question, const Units *units) {
    if (units->joined == nullptr)
        return units->path;
    return units->joined->several < 0 ? nullptr : question->sources[units->joined->several].settings->unit;
}

// Returns a limit that is asked for, else that which is declared; 0: neither is.
static int wanted(const Question *question, const Units *units, int asked, int catalog::UnitPath::*declared) {
    const catalog::UnitPath *path = path_of_several(question, units);
    return asked != 0 || path == nullptr ? asked : path->*declared;
}

void limit_groups(Question *question, Units *units) {
    if (!units->clipped) { // units are rows: those without a unit are nobody's
        question->where = make_and_qual(static_cast<Node *>(copyObject(units->links)), question->where);
        units->max_groups = 1;
        return;
    }
    const query::Limits &asked = question->leaf->limits;
    const int groups = wanted(question, units, asked.max_groups, &catalog::UnitPath::max_groups);
    units->max_groups = groups == 0 ? units->max_rows : Min(groups, units->max_rows);
    if (!question->thresholded)
        units->max_groups = Max(Min(units->max_groups, question->ngroups), 1);
    if (units->one_group)
        units->max_groups = 1;
    units->max_rows_per_group =
        Min(wanted(question, units, asked.max_rows_per_group, &catalog::UnitPath::max_rows_per_group), units->max_rows);
}

} // namespace dp::rows
