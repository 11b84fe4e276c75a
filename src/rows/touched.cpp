#include "rows/touched.hpp"

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

namespace {
// Holds the cells as members of sets, from 0 (everything else) on.
struct Cells {
    const Partition *partition;
    Var *column;
    int n;
    Datum *values; // of a list, from its first cell on; null until an atom asks for them
    bool *nulls;
    double spent; // on evaluating atoms
    Bitmapset *all() const { return bms_add_range(nullptr, 0, n - 1); }
};
} // namespace

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

static void read_values(Cells *cells) {
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

// Tells whether all that an atom is true of are declared values: an equality of the column with constants that are.
static bool names_values(const Cells &cells, Node *atom, const Bitmapset *found) {
    Comparison comparison;
    return read_comparison(atom, &comparison) && comparison.strategy == BTEqualStrategyNumber &&
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

static bool has_other_column(Node *node, void *column) {
    if (node == nullptr || IsA(node, Var))
        return node != nullptr && !equal(node, column);
    return border::walk_expression(node, has_other_column, column);
}

static Bitmapset *cells_where(Cells *cells, Node *condition, bool truth);

static Bitmapset *cells_where_all(Cells *cells, const List *conditions, bool meet, bool truth) {
    Bitmapset *found = meet ? cells->all() : nullptr;
    ListCell *cell;
    foreach (cell, conditions) {
        Bitmapset *one = cells_where(cells, static_cast<Node *>(lfirst(cell)), truth);
        found = meet ? bms_int_members(found, one) : bms_join(found, one);
    }
    return found;
}

// Returns the cells with a value of which the condition may be true, or false (formulas.md, 5.9). It is never too few: NOT exchanges the
// two, since NULL is neither.
static Bitmapset *cells_where(Cells *cells, Node *condition, bool truth) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    if (IsA(condition, BoolExpr)) {
        auto *expression = castNode(BoolExpr, condition);
        if (expression->boolop == NOT_EXPR)
            return cells_where(cells, static_cast<Node *>(linitial(expression->args)), !truth);
        return cells_where_all(cells, expression->args, (expression->boolop == AND_EXPR) == truth, truth);
    }
    if (IsA(condition, BooleanTest) && castNode(BooleanTest, condition)->booltesttype == IS_TRUE && truth)
        return cells_where(cells, reinterpret_cast<Node *>(castNode(BooleanTest, condition)->arg), true);
    if (!contain_var_clause(condition) || has_other_column(condition, cells->column))
        return cells->all();
    return cells->values == nullptr && cells->partition->values == nullptr ? cells_of_order(*cells, condition, truth)
                                                                           : cells_of_list(cells, condition, truth);
}

// A key that is the column shows the groups that are declared, and no others.
static Bitmapset *cells_of_key(Cells *cells, const Question *question) {
    for (int i = 0; i < question->leaf->nkeys && cells->partition->values != nullptr && !question->thresholded; i++) {
        if (question->key_columns[i] != query::column_number(cells->column))
            continue;
        if (cells->values == nullptr)
            read_values(cells);
        Bitmapset *found = nullptr;
        for (int j = 0; j + 1 < cells->n; j++)
            if (question->domains[i].find(cells->values[j], cells->nulls[j]) >= 0)
                found = bms_add_member(found, j + 1);
        return bms_num_members(found) == question->domains[i].count ? found : bms_add_member(found, 0);
    }
    return cells->all();
}

// ---- the question --------------------------------------------------------------------------------------------------

// The column as it was declared. 55000: it is another one.
static Var *column_of(const Question *question, const Partition &partition) {
    const AttrNumber column = get_attnum(partition.relation, partition.column);
    const char *name = question->settings->relation_name, *quoted = quote_literal_cstr(name);
    if (question->nsources != 1 || question->units != nullptr || question->settings->relation != partition.relation)
        refuse_state(psprintf("%s has a partition, and its rows are not units any more", name),
                     psprintf("SELECT dp_unset_partition(%s);", quoted));
    if (question->remote || question->by_points)
        refuse_form(psprintf("%s has a partition, and rows on other servers", name),
                    psprintf("SELECT dp_unset_partition(%s);", quoted));
    if (column == InvalidAttrNumber || strcmp(format_type_be(get_atttype(partition.relation, column)), partition.type) != 0)
        refuse_state(psprintf("column %s of %s, by which it has a partition, is gone or of another type",
                              quote_identifier(partition.column), name),
                     psprintf("SELECT dp_unset_partition(%s); and declare it anew.", quoted));
    return table_column(question, query::column_number(1, column));
}

static catalog::Touched *ranges_of(const Cells &cells, const Bitmapset *found) {
    auto *touched = static_cast<catalog::Touched *>(palloc0(sizeof(catalog::Touched)));
    touched->partition = cells.partition->version;
    touched->others = cells.partition->others();
    touched->begun = touched->others + cells.n - 1;
    touched->n = bms_num_members(found) == cells.n ? 1 : 0; // most questions touch all
    touched->first[0] = touched->others;
    touched->last[0] = touched->begun;
    if (touched->n == 1)
        return touched;
    for (int member = -1; (member = bms_next_member(found, member)) >= 0;) {
        const int64 cell = touched->others + member;
        if (touched->n > 0 && touched->last[touched->n - 1] == cell - 1)
            touched->last[touched->n - 1] = cell;
        else if (touched->n == catalog::most_ranges)
            return ranges_of(cells, cells.all());
        else {
            touched->first[touched->n] = touched->last[touched->n] = cell;
            touched->n++;
        }
    }
    return touched;
}

static Cells cells_of(const Question *question, const Partition &partition) {
    constexpr int64 most = 100000;
    Cells cells = {};
    cells.partition = &partition;
    cells.column = column_of(question, partition);
    const int64 n = catalog::last_cell(partition, catalog::today()) - partition.others() + 1;
    if (n > most)
        refuse_state(psprintf("%s has more than " INT64_FORMAT " cells by the clock",
                              catalog::qualified_name(partition.relation), most),
                     "Set the clock, or declare longer ones with dp_set_partition().");
    cells.n = static_cast<int>(n);
    return cells;
}

// Under the settings and as the role of the internal statement: the same text means the same there.
static Bitmapset *find_cells(const Narrowed *narrowed, const Question *question, Cells *cells) {
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    Bitmapset *found = cells_where_all(cells, narrowed->conjuncts, true, true);
    found = bms_int_members(found, cells_of_key(cells, question));
    role.leave();
    settings.leave();
    return found;
}

void find_touched(const Narrowed *narrowed, Question *question) {
    const Partition *partition = question->settings->partition;
    if (partition == nullptr)
        return;
    Cells cells = cells_of(question, *partition);
    Bitmapset *found = find_cells(narrowed, question, &cells);
    if (bms_is_empty(found))
        refuse_value("the conditions exclude every cell that has begun: nothing private would be answered",
                     psprintf("%s has a partition by %s.", catalog::qualified_name(partition->relation),
                              quote_identifier(partition->column)));
    if (partition->values != nullptr && bms_num_members(found) + 1 == cells.n && !bms_is_member(0, found))
        found = cells.all(); // to all is one charge, and to each of them many
    catalog::Touched *touched = ranges_of(cells, found);
    const char *condition = catalog::condition_on(*partition, *touched);
    if (condition != nullptr && strlen(condition) > query::max_text) {
        touched = ranges_of(cells, cells.all());
        condition = catalog::condition_on(*partition, *touched);
    }
    touched->shown = get_attnum(question->settings->view, partition->column) != InvalidAttrNumber;
    question->touched = touched;
    question->in_touched = condition == nullptr ? nullptr : table_condition(question->settings, condition);
}

} // namespace dp::rows
