#include "rows/question_plan.hpp"

#include "border/scope.hpp"
#include "query/limits.hpp"
#include "query/parse.hpp"
#include "query/grammar.hpp"
#include "rows/folded.hpp"
#include "rows/measures.hpp"
#include "rows/plan_of.hpp"
#include "rows/quantiles.hpp"

namespace dp::rows {

#ifdef USE_ASSERT_CHECKING
// Tells whether a column that names a person is carried: above the sub-SELECT its printed text names it, which nobody may write.
static bool carries_unit(const Question *question) {
    ListCell *cell;
    foreach (cell, question->leaf->per_unit == nullptr ? NIL : question->leaf->per_unit->carried) {
        const Var *column = lfirst_node(Var, cell);
        const Source *source = source_at(question, column->varno);
        const catalog::UnitPath *path =
            source == nullptr || source->settings == nullptr ? nullptr : source->settings->unit;
        for (int i = 0; path != nullptr && i < path->ncolumns; i++)
            if (source->map[column->varattno] == path->columns[i])
                return true;
    }
    return false;
}

// Tells whether nobody may write the text as it is. NOT IN is three conditions, of which one compares nothing. Measures that folding has made
// equal would be one. A text may be too long, or have characters that the database's encoding lacks.
static bool is_only_shown(const Question *question) {
    ListCell *cell;
    foreach (cell, question->leaf->semi_joins)
        if (static_cast<const query::SemiJoin *>(lfirst(cell))->unless != nullptr)
            return true;
    return has_equal_measures(question->plan) || carries_unit(question) || strlen(question->text) > query::max_text ||
           GetDatabaseEncoding() != PG_UTF8;
}

// Checks that the text of the plan, read like an asker's, is a question with the same plan. As somebody who may look up all names.
static void check_text_means_plan(const Question *question) {
    if (is_only_shown(question))
        return;
    border::RoleScope role = border::RoleScope::enter(BOOTSTRAP_SUPERUSERID);
    const query::Parsed parsed = query::parse_select(question->text);
    query::Leaf *leaf = query::check_leaf(parsed.query, parsed.source);
    role.leave();
    fold_passed_rows(leaf, nullptr);
    order_exists(leaf, nullptr);
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

int place_in_plan(const Question *question, int measure) {
    int unasked = 0, i = 0;
    for (; question->measure_order[i] != measure; i++)
        unasked += (*question->measures)[question->measure_order[i]].calls.empty() ? 1 : 0;
    return (*question->measures)[measure].calls.empty() ? -1 : i - unasked;
}

} // namespace dp::rows
