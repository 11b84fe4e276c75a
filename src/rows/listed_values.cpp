#include "rows/listed_values.hpp"

#include "border/walk.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

namespace {
struct Columns {
    const List *nodes;
    bool others;
};
} // namespace

static Node *as_columns(Node *node, void *context) {
    auto *columns = static_cast<Columns *>(context);
    if (node == nullptr)
        return nullptr;
    ListCell *cell;
    foreach (cell, columns->nodes)
        if (equal(node, lfirst(cell)))
            return as_node(column_like(node, 1, foreach_current_index(cell) + 1));
    columns->others = columns->others || IsA(node, Var);
    return border::mutate_expression(node, as_columns, context);
}

Node *over_listed(Node *node, const List *nodes, bool *others) {
    Columns columns = {nodes, false};
    Node *over = as_columns(node, &columns);
    *others = columns.others;
    return over;
}

Trial begin_trial(const List *nodes) {
    TupleDesc desc = ExecTypeFromExprList(const_cast<List *>(nodes));
    Trial trial = {CreateExecutorState(), MakeSingleTupleTableSlot(desc, &TTSOpsVirtual), nullptr};
    GetPerTupleExprContext(trial.state)->ecxt_scantuple = ExecStoreAllNullTuple(trial.slot);
    return trial;
}

void end_trial(const Trial &trial) {
    ExecDropSingleTupleTableSlot(trial.slot);
    FreeExecutorState(trial.state);
}

void set_place(const Trial &trial, const Listed *columns, int64 place) {
    for (int i = trial.slot->tts_tupleDescriptor->natts - 1; i >= 0; i--) {
        trial.slot->tts_values[i] = columns[i].values[place % columns[i].n];
        trial.slot->tts_isnull[i] = columns[i].nulls[place % columns[i].n];
        place /= columns[i].n;
    }
}

} // namespace dp::rows
