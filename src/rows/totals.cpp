#include "rows/totals.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"
#include "catalog/settings.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/nodes.hpp"
#include "rows/sources.hpp"

namespace dp::rows {

const char *text_of_summed(Node *folded, Oid relation) {
    border::SettingsScope settings = border::SettingsScope::enter();
    const char *text =
        deparse_expression(folded, deparse_context_for(get_rel_name(relation), relation), false, false);
    settings.leave();
    return text;
}

// The only private table that the argument is of; null where some row of it may stand in several joined rows.
static const Source *summed_source(const Question *question, Node *argument) {
    int varno;
    if (question->per_unit != nullptr || !bms_get_singleton_member(pull_varnos_of(argument), &varno))
        return nullptr;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.source->varno != varno || source.settings == nullptr)
            continue;
        const query::Joined *joined = question->units->joined;
        const bool once =
            joined == nullptr || (joined->several == i && joined->max_rows == source.settings->unit->max_rows);
        return once ? &source : nullptr;
    }
    return nullptr;
}

UnitTotal total_of(const catalog::Reading &reading, const Question *question, int measure) {
    const privacy::Measure &of = (*question->measures)[measure];
    if (of.kind != privacy::MeasureKind::sum || question->units == nullptr || !question->units->clipped ||
        question->units->single)
        return UnitTotal{};
    Node *argument = folded_argument_node(question, of.calls.front());
    const Source *source = summed_source(question, argument);
    if (source == nullptr)
        return UnitTotal{};
    if (source->source->varno != 1)
        ChangeVarNodes(argument, source->source->varno, 1, 0);
    const char *total = catalog::unit_total(reading, source->relation, text_of_summed(argument, source->relation));
    if (total == nullptr)
        return UnitTotal{};
    const privacy::Bounds *bounds = question->bounds[measure];
    const uint64 points = border::core([&] { return privacy::points_up(total, bounds->exponent); });
    const bool limits = points / question->units->max_rows < bounds->sensitivity();
    return limits ? UnitTotal{total, points} : UnitTotal{};
}

} // namespace dp::rows
