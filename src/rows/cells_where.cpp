#include "rows/cells_where.hpp"

#include <cmath>

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/odometer.hpp"
#include "query/cost.hpp"
#include "query/limits.hpp"
#include "query/total.hpp"
#include "rows/listed_values.hpp"
#include "rows/nodes.hpp"
#include "rows/rising.hpp"
#include "rows/sums.hpp"

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
    const int64 end = partition.others() + cells.last();
    if (!(span.low <= span.high) || (partition.period && cell_at(cells, span.low) > end))
        return nullptr;
    const auto place = [&](double value) { return static_cast<int>(Min(cell_at(cells, value), end) - partition.others()); };
    return bms_add_range(nullptr, place(span.low), place(span.high));
}

// ---- evaluating ----------------------------------------------------------------------------------------------------

static Trial begin_trial(const Cells &cells, Node *total) {
    const List *columns = list_make1(cells.column);
    bool others;
    Trial trial = begin_trial(columns);
    trial.test = ExecPrepareExpr(reinterpret_cast<Expr *>(over_listed(total, columns, &others)), trial.state);
    return trial;
}

// Returns 1 or 0; -1: it is NULL.
static int result_of(const Trial &trial, Datum value, bool isnull) {
    trial.slot->tts_values[0] = value;
    trial.slot->tts_isnull[0] = isnull;
    const Datum result = ExecEvalExprSwitchContext(trial.test, GetPerTupleExprContext(trial.state), &isnull);
    ResetPerTupleExprContext(trial.state);
    return isnull ? -1 : DatumGetBool(result) ? 1 : 0;
}

// ---- rising expressions --------------------------------------------------------------------------------------------

// Returns the first value at a place, less some. A value beyond the type's ends becomes the end.
static Datum value_at(const Cells &cells, int place, int64 less) {
    constexpr int64 day = INT64CONST(86400000000);
    const Partition &partition = *cells.partition;
    const Oid type = getBaseType(cells.column->vartype);
    const int64 cell = partition.others() + place;
    int64 number = partition.period ? privacy::begin_at(*partition.period, cell) : cell * partition.width;
    if (type == TIMESTAMPOID || type == TIMESTAMPTZOID)
        number *= day;
    return value_of_integer(type, number - less);
}

namespace {
// Says where a comparison that holds from some value on (>=, >) begins to.
struct Reach {
    int first_in; // the first place with a value of which it holds; behind the last: none
    int last_out; // the last one with a value of which it does not: the first has one always
};
} // namespace

// Finds the first place from `low` on of whose value the comparison holds; `high`, where there is none before it. The value is the last one
// of a place, or the first. False: it is NULL somewhere.
static bool find_first(const Cells &cells, const Trial &trial, bool of_last, int low, int high, int *first) {
    while (low < high) {
        const int middle = (low + high) / 2;
        const Datum value = of_last ? value_at(cells, middle + 1, 1) : value_at(cells, middle, 0);
        const int result = result_of(trial, value, false);
        if (result < 0)
            return false;
        (result > 0 ? high : low) = result > 0 ? middle : middle + 1;
    }
    *first = low;
    return true;
}

static bool find_reach(const Cells &cells, const Trial &trial, Reach *reach) {
    const int last = cells.last();
    int first_whole;
    const int end = cells.partition->period ? last + 1 : last; // what lies behind the last has the largest value
    if (!find_first(cells, trial, true, 0, end, &reach->first_in) ||
        !find_first(cells, trial, false, 1, last + 1, &first_whole))
        return false;
    reach->last_out = first_whole - 1;
    return true;
}

static bool try_reach(const Cells &cells, const Comparison &comparison, const Const *constant, int strategy, Reach *reach) {
    const Oid type = exprType(comparison.expression);
    const Oid family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    const Oid op = get_opfamily_member(family, type, constant->consttype, static_cast<int16>(strategy));
    if (!OidIsValid(op))
        return false;
    Node *test = as_node(make_opclause(op, BOOLOID, false, reinterpret_cast<Expr *>(another(comparison.expression)),
                                       reinterpret_cast<Expr *>(copyObject(const_cast<Const *>(constant))), InvalidOid,
                                       comparison.collation));
    query::RowCost cost = {};
    const Trial trial = begin_trial(cells, query::make_total(test, nullptr, &cost));
    const bool found = find_reach(cells, trial, reach);
    end_trial(trial);
    return found;
}

// Returns the cells with a value of which the comparison with one constant is true, or false. Null: nobody knows.
static bool find_compared(const Cells &cells, const Comparison &comparison, const Const *constant, bool truth, Bitmapset **found) {
    const int strategy = comparison.strategy, last = cells.last();
    const bool equals = strategy == BTEqualStrategyNumber, rises = strategy > BTEqualStrategyNumber;
    const bool from = strategy == BTGreaterEqualStrategyNumber || strategy == BTLessStrategyNumber; // the constant itself
    Reach at = {}, behind = {};
    if (((equals || from) && !try_reach(cells, comparison, constant, BTGreaterEqualStrategyNumber, &at)) ||
        (!from && !try_reach(cells, comparison, constant, BTGreaterStrategyNumber, &behind)))
        return false;
    const Reach &reach = from ? at : behind;
    if (equals)
        *found = truth ? bms_add_range(nullptr, at.first_in, behind.last_out)
                       : bms_join(bms_add_range(nullptr, 0, at.last_out), bms_add_range(nullptr, behind.first_in, last));
    else
        *found = rises == truth ? bms_add_range(nullptr, reach.first_in, last) : bms_add_range(nullptr, 0, reach.last_out);
    return true;
}

// Moments and dates that the session's clocks take for another are not in the order of instants.
static bool turns(const Comparison &comparison, const Const *constant) {
    return exprType(comparison.expression) == TIMESTAMPOID && constant->consttype == TIMESTAMPTZOID && !is_utc();
}

// IN is true of what equals some constant, and false of what equals none.
Bitmapset *cells_of_rising(const Cells &cells, const Comparison &comparison, bool truth) {
    constexpr int most = 200;
    const List *constants = constants_of(comparison);
    Bitmapset *found = truth ? nullptr : cells.all();
    if (list_length(constants) > most)
        return cells.all();
    for (auto *item : border::each<Const>(constants)) {
        Bitmapset *one = nullptr;
        auto *constant = item;
        if (turns(comparison, constant) || !find_compared(cells, comparison, constant, truth, &one))
            return cells.all();
        found = truth ? bms_join(found, one) : bms_int_members(found, one);
    }
    return found;
}

// ---- comparisons ---------------------------------------------------------------------------------------------------

// A comparison of the column itself, by numbers. False: one is too large for a double to tell from its neighbours.
static bool find_by_numbers(const Cells &cells, const Comparison &comparison, Bitmapset **found) {
    constexpr double exact = 0x1p52;
    for (auto *item : border::each<Const>(constants_of(comparison))) {
        Comparison one = comparison;
        one.constant = item;
        one.in = false;
        const Span span = span_of(one, as_node(cells.column));
        for (double end : {span.low, span.high})
            if (std::fabs(end) > exact && std::fabs(end) != Span::nowhere)
                return false;
        *found = bms_join(*found, cells_of_span(cells, span));
    }
    return true;
}

// Reads a comparison, or that of which it is the opposite: then `truth` changes.
static bool read_either(Node *atom, Comparison *comparison, bool *truth) {
    if (read_comparison(atom, comparison))
        return true;
    Node *opposite = another(atom);
    if (IsA(opposite, OpExpr))
        castNode(OpExpr, opposite)->opno = get_negator(castNode(OpExpr, opposite)->opno);
    else if (IsA(opposite, ScalarArrayOpExpr) && !castNode(ScalarArrayOpExpr, opposite)->useOr) {
        castNode(ScalarArrayOpExpr, opposite)->opno = get_negator(castNode(ScalarArrayOpExpr, opposite)->opno);
        castNode(ScalarArrayOpExpr, opposite)->useOr = true;
    } else
        return false;
    *truth = !*truth;
    return read_comparison(opposite, comparison);
}

// NULL is in the cell of everything else, which has other values as well.
static Bitmapset *cells_of_order(const Cells &cells, Node *atom, bool truth) {
    if (IsA(atom, NullTest)) {
        auto *test = castNode(NullTest, atom);
        const bool of_column = equal(bare(as_node(test->arg)), cells.column);
        return of_column && (test->nulltesttype == IS_NULL) == truth ? bms_make_singleton(0) : cells.all();
    }
    Comparison comparison;
    if (!read_either(atom, &comparison, &truth))
        return cells.all();
    const bool of_column = equal(comparison.expression, cells.column);
    if (!truth && of_column && comparison.strategy != BTEqualStrategyNumber) {
        constexpr int opposites[] = {0, BTGreaterEqualStrategyNumber, BTGreaterStrategyNumber, 0, BTLessStrategyNumber,
                                     BTLessEqualStrategyNumber};
        comparison.strategy = opposites[comparison.strategy];
        truth = true;
    }
    Bitmapset *found = nullptr;
    if (truth && of_column && find_by_numbers(cells, comparison, &found))
        return found;
    return is_rising(comparison.expression, cells.column) ? cells_of_rising(cells, comparison, truth) : cells.all();
}

// ---- cells of a list -----------------------------------------------------------------------------------------------

void read_values(Cells *cells) {
    const Partition &partition = *cells->partition;
    Oid function, parameter;
    getTypeInputInfo(cells->column->vartype, &function, &parameter);
    cells->values = array_of<Datum>(cells->n);
    cells->nulls = array_of<bool>(cells->n);
    Datum *texts;
    int n;
    deconstruct_array(partition.values, TEXTOID, -1, false, TYPALIGN_INT, &texts, &cells->nulls, &n);
    for (int i = 0; i < n; i++)
        cells->values[i] =
            cells->nulls[i] ? Datum{0}
                            : OidInputFunctionCall(function, TextDatumGetCString(texts[i]), parameter,
                                                   cells->column->vartypmod);
}

static Bitmapset *try_values(const Cells &cells, Node *total, bool truth) {
    const Trial trial = begin_trial(cells, total);
    Bitmapset *found = nullptr;
    for (int i = 0; i + 1 < cells.n; i++) {
        CHECK_FOR_INTERRUPTS();
        if (result_of(trial, cells.values[i], cells.nulls[i]) == (truth ? 1 : 0))
            found = bms_add_member(found, i + 1);
    }
    end_trial(trial);
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

Node *as_column(Node *node, void *context) {
    const auto *cells = static_cast<const Cells *>(context);
    if (node == nullptr)
        return nullptr;
    if (!IsA(node, Var))
        return border::mutate_expression(node, as_column, context);
    const bool is_same = castNode(Var, node)->vartype == cells->column->vartype && list_member(cells->same, node);
    return is_same ? another(as_node(cells->column)) : node;
}

static bool has_other_column(Node *node, void *column) {
    if (node == nullptr || IsA(node, Var))
        return node != nullptr && !equal(node, column);
    return border::walk_expression(node, has_other_column, column);
}

static Bitmapset *cells_of_several(Cells *cells, const List *conditions, bool meet, bool truth) {
    Bitmapset *found = meet ? cells->all() : nullptr;
    for (auto *item : border::each<Node>(conditions)) {
        Bitmapset *one = cells_where(cells, item, truth);
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
    if (IsA(condition, BooleanTest)) { // IS TRUE says what it is true of, IS NOT TRUE what it is false of
        const BoolTestType test = castNode(BooleanTest, condition)->booltesttype;
        auto *tested = as_node(castNode(BooleanTest, condition)->arg);
        if (test == (truth ? IS_TRUE : IS_NOT_TRUE))
            return cells_where(cells, tested, true);
        if (test == (truth ? IS_FALSE : IS_NOT_FALSE))
            return cells_where(cells, tested, false);
    }
    Node *atom = as_column(condition, cells);
    if (!contain_var_clause(atom) || has_other_column(atom, cells->column))
        return cells->all();
    return cells->partition->values == nullptr ? cells_of_order(*cells, atom, truth) : cells_of_list(cells, atom, truth);
}

Bitmapset *cells_where_all(Cells *cells, const List *conditions) {
    return cells_of_several(cells, conditions, true, true);
}

} // namespace dp::rows
