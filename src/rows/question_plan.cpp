#include "rows/question_plan.hpp"

#include "border/each.hpp"
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
// Tells whether nobody may write the text as it is. NOT IN is three conditions, of which one compares nothing. Measures that folding has made
// equal would be one. A text may be too long, or have characters that the database's encoding lacks.
static bool is_only_shown(const Question *question) {
    for (auto *one : border::each<const query::SemiJoin>(question->leaf->semi_joins))
        if (one->unless != nullptr)
            return true;
    return has_equal_parts(question->plan) || strlen(question->text) > query::max_text ||
           GetDatabaseEncoding() != PG_UTF8;
}

static void fold_all_leaves(query::Leaf *leaf) {
    for (int i = 0; i < leaf->nsources; i++)
        if (leaf->sources[i].people != nullptr)
            fold_all_leaves(leaf->sources[i].people);
    fold_passed_rows(leaf, nullptr);
    order_exists(leaf, nullptr);
    fold_leaf(leaf, nullptr);
}

// Checks that the text of the plan, read like an asker's, is a question with the same plan. As somebody who may look up all names.
static void check_text_means_plan(const Question *question) {
    if (is_only_shown(question))
        return;
    border::RoleScope role = border::RoleScope::enter(BOOTSTRAP_SUPERUSERID);
    const query::Parsed parsed = query::parse_select(question->text);
    query::Leaf *leaf = query::check_leaf(parsed.query, parsed.source);
    role.leave();
    fold_all_leaves(leaf);
    const int64 *fractions = resolve_fractions(leaf, nullptr);
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] { *measures = measures_of(question, leaf, fractions, false, false); });
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
