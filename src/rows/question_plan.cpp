#include "rows/question_plan.hpp"

#include "border/scope.hpp"
#include "query/constants.hpp"
#include "query/joint.hpp"
#include "query/limits.hpp"
#include "query/parse.hpp"
#include "query/semi.hpp"
#include "query/shape.hpp"
#include "rows/measures.hpp"
#include "rows/plan_of.hpp"
#include "rows/quantiles.hpp"

namespace dp::rows {

static void fold(Node **expression, ParamListInfo parameters) {
    *expression = query::fold_constants(*expression, parameters);
}

static void fold_all(const List *expressions, ParamListInfo parameters) {
    ListCell *cell;
    foreach (cell, expressions)
        lfirst(cell) = query::fold_constants(static_cast<Node *>(lfirst(cell)), parameters);
}

// The point of two constants is none, so each part is folded by itself.
static void fold_arguments(const query::Leaf *leaf, ParamListInfo parameters) {
    ListCell *cell;
    foreach (cell, leaf->arguments) {
        if (const List *parts = query::joint_parts(static_cast<Node *>(lfirst(cell))))
            fold_all(parts, parameters);
        else
            lfirst(cell) = query::fold_constants(static_cast<Node *>(lfirst(cell)), parameters);
    }
}

void fold_leaf(query::Leaf *leaf, ParamListInfo parameters) {
    fold(&leaf->where, parameters);
    ListCell *cell;
    foreach (cell, query::joins_of(leaf->from))
        fold(&lfirst_node(JoinExpr, cell)->quals, parameters);
    fold_all(leaf->filters, parameters);
    foreach (cell, leaf->semi_joins) {
        auto *semi = static_cast<query::SemiJoin *>(lfirst(cell));
        fold(&semi->condition, parameters);
        fold(&semi->unless, parameters);
        fold_all(semi->present, parameters);
    }
    if (leaf->per_unit != nullptr) {
        fold_all(leaf->per_unit->columns, parameters);
        fold(&leaf->per_unit->where, parameters);
    }
    for (int i = 0; i < leaf->nkeys; i++)
        fold(&leaf->keys[i].expression, parameters);
    fold_arguments(leaf, parameters);
    for (int i = 0; i < leaf->naggregates; i++)
        fold(&leaf->aggregates[i].fraction, parameters);
}

#ifdef USE_ASSERT_CHECKING
// NOT IN is three conditions, of which one compares nothing: nobody may write that.
static bool has_not_in(const query::Leaf *leaf) {
    ListCell *cell;
    foreach (cell, leaf->semi_joins)
        if (static_cast<const query::SemiJoin *>(lfirst(cell))->unless != nullptr)
            return true;
    return false;
}

// Checks that the text of the plan, read like an asker's, is a question with the same plan. As somebody who may look up all names.
static void check_text_means_plan(const Question *question) {
    if (has_not_in(question->leaf) || strlen(question->text) > query::max_text)
        return;
    border::RoleScope role = border::RoleScope::enter(BOOTSTRAP_SUPERUSERID);
    const query::Parsed parsed = query::parse_select(question->text);
    query::Leaf *leaf = query::check_leaf(parsed.query, parsed.source);
    role.leave();
    fold_leaf(leaf, nullptr);
    const int64 *fractions = resolve_fractions(leaf, nullptr);
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] { *measures = measures_of(question, leaf, fractions, false); });
    const int *order;
    const plan::Plan *again = plan_of(leaf, *measures, &order);
    if (!is_same_plan(question->plan, again))
        elog(ERROR, "the text of a plan means another one: \"%s\", which is \"%s\"", question->text,
             text_of_plan(again));
}
#endif

void find_plan(Question *question) {
    border::SettingsScope settings = border::SettingsScope::enter();
    question->plan = plan_of(question->leaf, *question->measures, &question->measure_order);
    question->text = text_of_plan(question->plan);
#ifdef USE_ASSERT_CHECKING
    check_text_means_plan(question);
#endif
    settings.leave();
}

} // namespace dp::rows
