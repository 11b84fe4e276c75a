#include "rows/visible_groups.hpp"

#include <algorithm>

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "rows/narrowed.hpp"

namespace dp::rows {

// ---- conditions on keys alone --------------------------------------------------------------------------------------

namespace {
struct Keys {
    const Question *question;
    bool others; // a column was met that is in no key
    List *met;   // Node *: keys
};
} // namespace

// A key becomes a column, by its number among the keys.
static Node *keys_as_columns(Node *node, void *context) {
    auto *keys = static_cast<Keys *>(context);
    if (node == nullptr)
        return nullptr;
    for (int i = 0; i < keys->question->leaf->nkeys; i++)
        if (equal(node, keys->question->keys[i])) {
            const query::Key &key = keys->question->leaf->keys[i];
            keys->met = lappend(keys->met, keys->question->keys[i]);
            return reinterpret_cast<Node *>(
                makeVar(1, static_cast<AttrNumber>(i + 1), key.type, key.typmod, key.collation, 0));
        }
    keys->others = keys->others || IsA(node, Var);
    return border::mutate_expression(node, keys_as_columns, context);
}

// The conjuncts of WHERE, at any depth of AND, that mention keys and no other column. One without any column hides no
// group: WHERE false asks for the columns of an answer.
static List *conditions_on_keys(const Question *question, Node *where) {
    List *conditions = NIL;
    ListCell *cell;
    foreach (cell, conjuncts_of(where)) {
        Keys keys = {question, false, NIL};
        Node *condition = keys_as_columns(static_cast<Node *>(lfirst(cell)), &keys);
        bool decides = !keys.others && contain_var_clause(condition);
        for (auto *one : border::each<Node>(keys.met))
            decides = decides && is_of_value(static_cast<Node *>(lfirst(cell)), one);
        if (decides)
            conditions = lappend(conditions, condition);
    }
    return conditions;
}

// ---- evaluating them -----------------------------------------------------------------------------------------------

static void set_keys(const Question *question, int64 place, TupleTableSlot *slot) {
    ExecClearTuple(slot);
    memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
    for (int i = question->leaf->nkeys - 1; i >= 0; i--) {
        const KeyDomain &domain = question->domains[i];
        const int64 at = place % domain.count;
        slot->tts_values[i] = domain.values[at];
        slot->tts_isnull[i] = domain.nulls[at];
        place /= domain.count;
    }
    ExecStoreVirtualTuple(slot);
}

// The groups for which the conditions hold. As in the internal statement, FALSE and NULL exclude.
static int keep_groups(const Question *question, List *conditions, TupleDesc desc, int64 *kept) {
    EState *state = CreateExecutorState();
    ExprContext *context = GetPerTupleExprContext(state);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
    context->ecxt_scantuple = slot;
    ExprState *test = ExecPrepareQual(conditions, state);
    int n = 0;
    for (int group = 0; group < question->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        const int64 place = place_of_group(question, group);
        set_keys(question, place, slot);
        if (ExecQual(test, context))
            kept[n++] = place;
        ResetExprContext(context);
    }
    ExecDropSingleTupleTableSlot(slot);
    FreeExecutorState(state);
    return n;
}

// The keys.
static TupleDesc describe(const Question *question) {
    TupleDesc desc = CreateTemplateTupleDesc(question->leaf->nkeys);
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const query::Key &key = question->leaf->keys[i];
        TupleDescInitEntry(desc, static_cast<AttrNumber>(i + 1), "key", key.type, key.typmod, 0);
    }
    return desc;
}

void choose_shown(Question *question) {
    List *conditions = conditions_on_keys(question, question->where);
    if (question->leaf->nkeys == 0 || (conditions == NIL && question->places == nullptr))
        return;
    // Where conditions would take too long the list stays as it is: that says nothing about rows either.
    if (question->places == nullptr &&
        question->ngroups * query::time_of_group(question->where_cost) > query::longest_derivation)
        return;
    auto *kept = static_cast<int64 *>(palloc(sizeof(int64) * (question->ngroups + 1)));
    // Under the settings and as the role of the internal statement: the same text means the same there.
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    question->ngroups = keep_groups(question, conditions, describe(question), kept);
    question->places = kept;
    role.leave();
    settings.leave();
    if (question->ngroups == 0 && !question->groups_only)
        refuse_value("the conditions exclude every declared group: nothing private would be answered",
                     "The groups of a column are those that the controller declared with "
                     "dp_set_groups(); of a boolean or enum column all values.");
}

} // namespace dp::rows
