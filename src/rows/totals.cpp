#include "rows/totals.hpp"

#include "catalog/settings.hpp"
#include "query/condition.hpp"
#include "query/constants.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/built_in_points.hpp"
#include "rows/compared.hpp"
#include "rows/nodes.hpp"
#include "rows/pinned.hpp"

namespace dp::rows {

const char *text_of_summed(Node *folded, Oid relation) {
    return pinned([=] {
        return deparse_expression(folded, deparse_context_for(get_rel_name(relation), relation), false, false);
    });
}

// The only private table that the argument is of; null where some row of it may stand in several joined rows.
static const Source *summed_source(const Question *question, Node *argument) {
    int varno;
    if (!bms_get_singleton_member(pull_varnos_of(argument), &varno))
        return nullptr;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.source->varno != varno || source.settings == nullptr || source.people != nullptr)
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
    if (of.kind != privacy::MeasureKind::sum || !is_clipped(question) || question->units->single)
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

// ---- a total that is chosen ----------------------------------------------------------------------------------------

// Returns the only source of the question, with a sum.
static query::Leaf *leaf_of_sum(const Question *question) {
    auto *leaf = zeroed<query::Leaf>();
    leaf->nsources = 1;
    leaf->sources[0] = *question->sources[0].source;
    leaf->naggregates = 1;
    leaf->aggregates = zeroed<query::Aggregate>();
    leaf->aggregates->fn = privacy::Aggregate::sum;
    leaf->aggregates->filter = -1;
    return leaf;
}

// Returns the bounds of a column as they were declared, else those that follow.
static const privacy::Bounds *bounds_of_sizes(const catalog::Reading &reading, const Question *question, Node *folded,
                                              const privacy::Bounds *that_follow) {
    if (!IsA(folded, Var))
        return that_follow;
    return catalog::column_bounds(reading, question->settings->relation,
                                  get_attname(question->settings->relation, castNode(Var, folded)->varattno, false),
                                  is_integer(getBaseType(exprType(folded))));
}

void resolve_sizes(const catalog::Reading &reading, Question *question, const char *text) {
    Node *folded = pinned([&] { // it was printed so
        return query::fold_constants(query::check_table_expression(text, question->settings->relation), nullptr);
    });
    question->leaf = leaf_of_sum(question);
    ColumnRanges columns = column_ranges(reading, question);
    query::RowCost cost = {};
    question->expressions = array_of<Expression>(1);
    *question->expressions = resolve_expression(&columns, folded, &cost);
    question->bounds = array_of<const privacy::Bounds *>(1);
    *question->bounds = bounds_of_sizes(reading, question, folded, question->expressions->bounds);
    if (*question->bounds == nullptr)
        refuse_state(psprintf("no bounds of %s follow from what is declared of the columns of %s", text,
                              question->settings->relation_name),
                     psprintf("dp_set_bounds(%s, COLUMN_NAME, LOW, HIGH) declares them.",
                              quote_literal_cstr(question->settings->relation_name)));
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] {
        *measures = privacy::leaf_measures({{privacy::Aggregate::sum, 0, -1, -1}}, false, true);
        measures->front().sensitivity = (*question->bounds)->sensitivity();
    });
    question->measures = measures;
    question->nmeasures = 1;
}

Node *size_of_row(const Question *question) {
    return make_call(F_ABS_INT8, INT8OID, list_make1(point_of(question, 0, 0, argument_node(question, 0))));
}

} // namespace dp::rows
