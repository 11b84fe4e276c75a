#include "rows/cells_where.hpp"

#include <cmath>

#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/odometer.hpp"
#include "query/cost.hpp"
#include "query/limits.hpp"
#include "query/total.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

using catalog::Partition;
using privacy::Span;

// ---- cells of an order ---------------------------------------------------------------------------------------------

// Returns the number of the cell of a value, as conditions place it on a line; whatever is before the first is of everything else.
static int64 cell_at(const Cells &cells, double value) {
    const Partition &partition = *cells.partition;
    const Oid type = getBaseType(cells.column->vartype);
    constexpr double most = 0x1p62;
    const auto at = static_cast<int64>(std::floor(Max(Min(value, most), -most)));
    int64 cell = at;
    if (partition.period)
        cell = privacy::place_of(*partition.period, type == DATEOID ? at : privacy::day_of(at));
    else
        cell = at / partition.width - (at % partition.width < 0 ? 1 : 0);
    return Max(cell, partition.others());
}

static Bitmapset *cells_of_span(const Cells &cells, const Span &span) {
    const Partition &partition = *cells.partition;
    if (!(span.low <= span.high))
        return nullptr;
    const int64 first = cell_at(cells, span.low), last = cell_at(cells, span.high), end = partition.others() + cells.n - 1;
    Bitmapset *found = first > end ? nullptr
                                   : bms_add_range(nullptr, static_cast<int>(first - partition.others()),
                                                   static_cast<int>(Min(last, end) - partition.others()));
    return !partition.period && last > partition.last ? bms_add_member(found, 0) : found;
}

// A comparison of the column that may hold; one with several constants leaves the cells of each.
static Bitmapset *cells_of_comparison(const Cells &cells, const Comparison &comparison) {
    Bitmapset *found = nullptr;
    ListCell *cell;
    foreach (cell, constants_of(comparison)) {
        Comparison one = comparison;
        one.constant = lfirst_node(Const, cell);
        one.in = false;
        found = bms_join(found, cells_of_span(cells, span_of(one, reinterpret_cast<Node *>(cells.column))));
    }
    return found;
}

// NULL is in the cell of everything else, which has other values as well.
static Bitmapset *cells_of_order(const Cells &cells, Node *atom, bool truth) {
    if (IsA(atom, NullTest)) {
        auto *test = castNode(NullTest, atom);
        const bool of_column = equal(bare(reinterpret_cast<Node *>(test->arg)), cells.column);
        return of_column && (test->nulltesttype == IS_NULL) == truth ? bms_make_singleton(0) : cells.all();
    }
    Comparison comparison;
    Node *holds = atom;
    if (!truth && IsA(atom, OpExpr)) {
        holds = another(atom);
        castNode(OpExpr, holds)->opno = get_negator(castNode(OpExpr, atom)->opno);
    }
    return (truth || IsA(atom, OpExpr)) && read_comparison(holds, &comparison) ? cells_of_comparison(cells, comparison)
                                                                               : cells.all();
}

// ---- cells of a list -----------------------------------------------------------------------------------------------

void read_values(Cells *cells) {
    const Partition &partition = *cells->partition;
    Oid function, parameter;
    getTypeInputInfo(cells->column->vartype, &function, &parameter);
    cells->values = static_cast<Datum *>(palloc(sizeof(Datum) * cells->n));
    cells->nulls = static_cast<bool *>(palloc(sizeof(bool) * cells->n));
    Datum *texts;
    int n;
    deconstruct_array(partition.values, TEXTOID, -1, false, TYPALIGN_INT, &texts, &cells->nulls, &n);
    for (int i = 0; i < n; i++)
        cells->values[i] =
            cells->nulls[i] ? Datum{0}
                            : OidInputFunctionCall(function, TextDatumGetCString(texts[i]), parameter,
                                                   cells->column->vartypmod);
}

static Node *as_first_column(Node *node, void *) {
    if (node == nullptr)
        return nullptr;
    if (!IsA(node, Var))
        return border::mutate_expression(node, as_first_column, nullptr);
    auto *column = castNode(Var, another(node));
    column->varno = 1;
    column->varattno = 1;
    return reinterpret_cast<Node *>(column);
}

static Bitmapset *try_values(const Cells &cells, Node *total, bool truth) {
    TupleDesc desc = CreateTemplateTupleDesc(1);
    TupleDescInitEntry(desc, 1, "value", cells.column->vartype, cells.column->vartypmod, 0);
    EState *state = CreateExecutorState();
    ExprContext *context = GetPerTupleExprContext(state);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
    context->ecxt_scantuple = slot;
    ExprState *test = ExecPrepareExpr(reinterpret_cast<Expr *>(as_first_column(total, nullptr)), state);
    Bitmapset *found = nullptr;
    for (int i = 0; i + 1 < cells.n; i++) {
        CHECK_FOR_INTERRUPTS();
        ExecClearTuple(slot);
        slot->tts_values[0] = cells.values[i];
        slot->tts_isnull[0] = cells.nulls[i];
        ExecStoreVirtualTuple(slot);
        bool isnull;
        const Datum value = ExecEvalExprSwitchContext(test, context, &isnull);
        ResetExprContext(context);
        if (!isnull && DatumGetBool(value) == truth)
            found = bms_add_member(found, i + 1);
    }
    ExecDropSingleTupleTableSlot(slot);
    FreeExecutorState(state);
    return found;
}

// Tells whether all that an atom is true of are declared values: an equality of the column with constants that are. It is one of the
// column's type: others, as that of character, take different values for equal.
static bool names_values(const Cells &cells, Node *atom, const Bitmapset *found) {
    Comparison comparison;
    const Oid op = IsA(atom, OpExpr) ? castNode(OpExpr, atom)->opno
                   : IsA(atom, ScalarArrayOpExpr) ? castNode(ScalarArrayOpExpr, atom)->opno
                                                  : InvalidOid;
    return read_comparison(atom, &comparison) && strategy_of(op, cells.column->vartype) == BTEqualStrategyNumber &&
           equal(comparison.expression, cells.column) && bms_num_members(found) == list_length(constants_of(comparison));
}

// An immutable atom over the column is tried on each value, as the internal statement would. Anything may hold of everything else.
static Bitmapset *cells_of_list(Cells *cells, Node *atom, bool truth) {
    query::RowCost cost = {};
    Node *total = query::make_total(another(atom), nullptr, &cost);
    query::set_size_limit(total, query::size_limit(&cost));
    cells->spent += cells->n * query::time_of_group(cost);
    if (contain_mutable_functions(total) || cells->spent > query::longest_derivation)
        return cells->all();
    if (cells->values == nullptr)
        read_values(cells);
    Bitmapset *found = try_values(*cells, total, truth);
    return truth && names_values(*cells, atom, found) ? found : bms_add_member(found, 0);
}

// ---- conditions ----------------------------------------------------------------------------------------------------

// The column itself in the place of what has the same value.
static Node *as_column(Node *node, void *context) {
    const auto *cells = static_cast<const Cells *>(context);
    if (node == nullptr)
        return nullptr;
    if (!IsA(node, Var))
        return border::mutate_expression(node, as_column, context);
    const bool is_same = castNode(Var, node)->vartype == cells->column->vartype && list_member(cells->same, node);
    return is_same ? another(reinterpret_cast<Node *>(cells->column)) : node;
}

static bool has_other_column(Node *node, void *column) {
    if (node == nullptr || IsA(node, Var))
        return node != nullptr && !equal(node, column);
    return border::walk_expression(node, has_other_column, column);
}

static Bitmapset *cells_of_several(Cells *cells, const List *conditions, bool meet, bool truth) {
    Bitmapset *found = meet ? cells->all() : nullptr;
    ListCell *cell;
    foreach (cell, conditions) {
        Bitmapset *one = cells_where(cells, static_cast<Node *>(lfirst(cell)), truth);
        found = meet ? bms_int_members(found, one) : bms_join(found, one);
    }
    return found;
}

// NOT exchanges the two, since NULL is neither.
Bitmapset *cells_where(Cells *cells, Node *condition, bool truth) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    if (IsA(condition, BoolExpr)) {
        auto *expression = castNode(BoolExpr, condition);
        if (expression->boolop == NOT_EXPR)
            return cells_where(cells, static_cast<Node *>(linitial(expression->args)), !truth);
        return cells_of_several(cells, expression->args, (expression->boolop == AND_EXPR) == truth, truth);
    }
    if (IsA(condition, BooleanTest) && castNode(BooleanTest, condition)->booltesttype == IS_TRUE && truth)
        return cells_where(cells, reinterpret_cast<Node *>(castNode(BooleanTest, condition)->arg), true);
    Node *atom = as_column(condition, cells);
    if (!contain_var_clause(atom) || has_other_column(atom, cells->column))
        return cells->all();
    return cells->partition->values == nullptr ? cells_of_order(*cells, atom, truth) : cells_of_list(cells, atom, truth);
}

Bitmapset *cells_where_all(Cells *cells, const List *conditions) {
    return cells_of_several(cells, conditions, true, true);
}

} // namespace dp::rows
