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

// Sorts the measures as the plan has them: so neither noise nor what is stored follows how the aggregates were listed. order: plan_of.
static void sort_measures(Question *question, const int *order) {
    const std::vector<privacy::Measure> &found = *question->measures;
    const int unasked = question->thresholded && found.front().calls.empty() ? 1 : 0;
    auto *sorted = border::context_new<std::vector<privacy::Measure>>();
    question->compared_in_plan = -1;
    border::core([&] {
        if (question->thresholded)
            sorted->push_back(found.front());
        for (int i = unasked; i < question->nmeasures; i++)
            if (question->thresholded && order[i] == 0)
                question->compared_in_plan = i;
            else
                sorted->push_back(found[order[i]]);
    });
    question->measures = sorted;
}

void find_plan(Question *question) {
    border::SettingsScope settings = border::SettingsScope::enter();
    const int *order;
    question->plan = plan_of(question->leaf, *question->measures, &order);
    sort_measures(question, order);
    question->text = text_of_plan(question->plan);
#ifdef USE_ASSERT_CHECKING
    check_text_means_plan(question);
#endif
    settings.leave();
}

int place_in_plan(const Question *question, int measure) {
    if (!question->thresholded)
        return measure;
    const int compared = question->compared_in_plan;
    return measure == 0                           ? compared
           : compared >= 0 && measure <= compared ? measure - 1
                                                  : measure - (compared < 0 ? 1 : 0);
}

} // namespace dp::rows
