#include "rows/shown.hpp"

#include "border/scope.hpp"
#include "border/walk.hpp"

namespace dp::rows {

int place_of_group(const Question *question, int group) {
    return question->places == nullptr ? group : question->places[group];
}

int group_at_place(const Question *question, int place) {
    return question->shown == nullptr ? place : question->shown[place];
}

// ---- conditions on keys alone --------------------------------------------------------------------------------------

static int key_of_column(const Question *question, AttrNumber attno) {
    for (int i = 0; i < question->leaf->nkeys; i++)
        if (question->key_columns[i] == attno)
            return i;
    return -1;
}

static bool has_other_column(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Var))
        return key_of_column(static_cast<const Question *>(context), castNode(Var, node)->varattno) < 0;
    return border::walk_expression(node, has_other_column, context);
}

// The conjuncts of WHERE, at any depth of AND, that mention keys and no other column. One without any column hides no
// group: WHERE false asks for the columns of an answer.
static List *conditions_on_keys(const Question *question, Node *where) {
    if (where == nullptr)
        return NIL;
    if (IsA(where, BoolExpr) && castNode(BoolExpr, where)->boolop == AND_EXPR) {
        List *conditions = NIL;
        ListCell *cell;
        foreach (cell, castNode(BoolExpr, where)->args)
            conditions = list_concat(conditions, conditions_on_keys(question, static_cast<Node *>(lfirst(cell))));
        return conditions;
    }
    if (!contain_var_clause(where) || has_other_column(where, const_cast<Question *>(question)))
        return NIL;
    return list_make1(copyObject(where));
}

// ---- evaluating them -----------------------------------------------------------------------------------------------

static void set_keys(const Question *question, int place, TupleTableSlot *slot) {
    ExecClearTuple(slot);
    memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
    for (int i = question->leaf->nkeys - 1; i >= 0; i--) {
        const KeyDomain &domain = question->domains[i];
        int at = place % domain.count, column = question->key_columns[i] - 1;
        slot->tts_values[column] = domain.values[at];
        slot->tts_isnull[column] = domain.nulls[at];
        place /= domain.count;
    }
    ExecStoreVirtualTuple(slot);
}

// Numbers the groups for which the conditions hold. As in the internal statement, FALSE and NULL exclude.
static int number_groups(Question *question, List *conditions, TupleDesc desc) {
    EState *state = CreateExecutorState();
    ExprContext *context = GetPerTupleExprContext(state);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
    context->ecxt_scantuple = slot;
    ExprState *test = ExecPrepareQual(conditions, state);
    int n = 0;
    for (int place = 0; place < question->ngroups; place++) {
        CHECK_FOR_INTERRUPTS();
        set_keys(question, place, slot);
        question->shown[place] = ExecQual(test, context) ? n : -1;
        if (question->shown[place] >= 0)
            question->places[n++] = place;
        ResetExprContext(context);
    }
    ExecDropSingleTupleTableSlot(slot);
    FreeExecutorState(state);
    return n;
}

void choose_shown(Question *question) {
    List *conditions = conditions_on_keys(question, question->where);
    if (question->leaf->nkeys == 0 || conditions == NIL)
        return;
    question->shown = static_cast<int *>(palloc(sizeof(int) * (question->ngroups + 1)));
    question->places = static_cast<int *>(palloc(sizeof(int) * (question->ngroups + 1)));
    // Under the settings and as the role of the internal statement: the same text means the same there.
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    Relation table = table_open(question->settings->relation, NoLock);
    TupleDesc desc = CreateTupleDescCopy(RelationGetDescr(table));
    table_close(table, NoLock);
    question->ngroups = number_groups(question, conditions, desc);
    role.leave();
    settings.leave();
    if (question->ngroups == 0 && !question->groups_only)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the conditions exclude every declared group: nothing private would be answered"),
                        errhint("The groups of a column are those that the controller declared with "
                                "dp_set_groups(); of a boolean or enum column all values.")));
}

} // namespace dp::rows
