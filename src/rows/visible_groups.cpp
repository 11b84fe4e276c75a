#include "rows/visible_groups.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "rows/listed_values.hpp"
#include "rows/narrowed.hpp"

namespace dp::rows {

// The conjuncts of WHERE, at any depth of AND, that mention keys and no other column, over these. One without any column hides no
// group: WHERE false asks for the columns of an answer.
static List *conditions_on_keys(const Question *question, const List *keys) {
    List *conditions = NIL;
    for (auto *conjunct : border::each<Node>(conjuncts_of(question->where))) {
        bool others;
        Node *condition = over_listed(conjunct, keys, &others);
        bool decides = !others && contain_var_clause(condition);
        for (auto *met : border::each<const Var>(pull_var_clause(condition, 0)))
            decides = decides && is_of_value(conjunct, static_cast<Node *>(list_nth(keys, met->varattno - 1)));
        if (decides)
            conditions = lappend(conditions, condition);
    }
    return conditions;
}

// The groups for which the conditions hold. As in the internal statement, FALSE and NULL exclude.
static int keep_groups(const Question *question, const List *keys, List *conditions, int64 *kept) {
    auto *listed = static_cast<Listed *>(palloc(sizeof(Listed) * list_length(keys)));
    for (int i = 0; i < list_length(keys); i++)
        listed[i] = {question->domains[i].count, question->domains[i].values, question->domains[i].nulls};
    Trial trial = begin_trial(keys);
    trial.test = ExecPrepareQual(conditions, trial.state);
    int n = 0;
    for (int group = 0; group < question->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        const int64 place = place_of_group(question, group);
        set_place(trial, listed, place);
        if (ExecQual(trial.test, GetPerTupleExprContext(trial.state)))
            kept[n++] = place;
        ResetPerTupleExprContext(trial.state);
    }
    end_trial(trial);
    return n;
}

void choose_shown(Question *question) {
    List *keys = NIL;
    for (int i = 0; i < question->leaf->nkeys; i++)
        keys = lappend(keys, question->keys[i]);
    List *conditions = conditions_on_keys(question, keys);
    if (keys == NIL || (conditions == NIL && question->places == nullptr))
        return;
    // Where conditions would take too long the list stays as it is: that says nothing about rows either.
    if (question->places == nullptr &&
        question->ngroups * query::time_of_group(question->where_cost) > query::longest_derivation)
        return;
    auto *kept = static_cast<int64 *>(palloc(sizeof(int64) * (question->ngroups + 1)));
    // Under the settings and as the role of the internal statement: the same text means the same there.
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    question->ngroups = keep_groups(question, keys, conditions, kept);
    question->places = kept;
    role.leave();
    settings.leave();
    if (question->ngroups == 0 && !question->groups_only)
        refuse_value("the conditions exclude every declared group: nothing private would be answered",
                     "The groups of a column are those that the controller declared with "
                     "dp_set_groups(); of a boolean or enum column all values.");
}

} // namespace dp::rows
