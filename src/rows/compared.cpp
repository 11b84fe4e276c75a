#include "rows/compared.hpp"

#include <cmath>

#include "border/each.hpp"
#include "border/guard.hpp"
#include "border/versions.hpp"
#include "border/walk.hpp"
#include "query/constants.hpp"
#include "query/from.hpp"
#include "query/make.hpp"
#include "query/total_table.hpp"
#include "rows/arrays.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

using privacy::Span;

constexpr double day = 86400e6; // microseconds

// ---- comparisons ---------------------------------------------------------------------------------------------------

Node *bare(Node *node) {
    for (;;) {
        if (Node *below = query::without_equal_relabelings(node); below != node)
            node = below;
        else if (Node *unlimited = query::without_limit(node); unlimited != node)
            node = unlimited;
        else
            return node;
    }
}

int strategy_of(Oid comparison, Oid type) {
    const Oid family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    return OidIsValid(family) ? get_op_opfamily_strategy(comparison, family) : 0;
}

bool read_comparison(Node *node, Comparison *comparison) {
    const bool in = IsA(node, ScalarArrayOpExpr) && castNode(ScalarArrayOpExpr, node)->useOr;
    if (!in && !IsA(node, OpExpr))
        return false;
    List *arguments = in ? castNode(ScalarArrayOpExpr, node)->args : castNode(OpExpr, node)->args;
    Oid operation = in ? castNode(ScalarArrayOpExpr, node)->opno : castNode(OpExpr, node)->opno;
    if (list_length(arguments) != 2)
        return false;
    auto *left = static_cast<Node *>(linitial(arguments)), *right = static_cast<Node *>(lsecond(arguments));
    if (!in && IsA(left, Const)) {
        std::swap(left, right);
        operation = get_commutator(operation);
    }
    if (!IsA(right, Const) || castNode(Const, right)->constisnull || !OidIsValid(operation))
        return false;
    *comparison = {bare(left), castNode(Const, right), strategy_of(operation, exprType(left)), in,
                   in ? castNode(ScalarArrayOpExpr, node)->inputcollid : castNode(OpExpr, node)->inputcollid};
    return comparison->strategy != 0 && (!in || comparison->strategy == BTEqualStrategyNumber);
}

List *constants_of(const Comparison &comparison) {
    if (!comparison.in)
        return list_make1(comparison.constant);
    ArrayType *array = DatumGetArrayTypeP(comparison.constant->constvalue);
    const Oid type = ARR_ELEMTYPE(array);
    int16 length;
    bool by_value, *nulls;
    char align;
    Datum *values;
    int n;
    get_typlenbyvalalign(type, &length, &by_value, &align);
    deconstruct_array(array, type, length, by_value, align, &values, &nulls, &n);
    List *constants = NIL;
    for (int i = 0; i < n; i++)
        if (!nulls[i])
            constants =
                lappend(constants, makeConst(type, -1, comparison.collation, length, values[i], false, by_value));
    return constants;
}

// ---- ends ----------------------------------------------------------------------------------------------------------

// Steps between neighbouring values, as ranges count; 0: between two values there are others.
static double step_of(Oid type) {
    return is_integer(type) || type == DATEOID || is_moment(type) ? 1 : 0;
}

static query::Range no_column(const Var *, void *) {
    return query::Range{};
}

// In microseconds, as intervals are compared. A month has 30 days there, and other lengths elsewhere, so only differences of moments have
// a place: they have no months.
static Span span_of_interval(Node *expression, const Const *constant) {
    const Interval *value = DatumGetIntervalP(constant->constvalue);
    const double at = (static_cast<double>(value->month) * 30 + value->day) * day + static_cast<double>(value->time);
    return query::rule_of(expression) == query::Rule::time_between ? Span{at, at, -1} : Span{};
}

// A moment in the other type of moments, in the asker's time zone; false: it has none there and back.
static bool convert_moment(Oid type, Const *constant, Datum *moment) {
    constexpr double most_days = 700000, most = most_days * day; // the year 3916
    const Oid other = getBaseType(constant->consttype);
    *moment = constant->constvalue;
    if (other == DATEOID) {
        if (std::fabs(static_cast<double>(DatumGetDateADT(*moment))) > most_days)
            return false;
        *moment = DirectFunctionCall1(type == TIMESTAMPOID ? date_timestamp : date_timestamptz, *moment);
        return true;
    }
    if (!is_moment(other) || std::fabs(static_cast<double>(DatumGetTimestamp(*moment))) > most)
        return false;
    if (type == other)
        return true;
    PGFunction there = type == TIMESTAMPOID ? timestamptz_timestamp : timestamp_timestamptz;
    PGFunction back = type == TIMESTAMPOID ? timestamp_timestamptz : timestamptz_timestamp;
    *moment = DirectFunctionCall1(there, *moment);
    return DatumGetTimestamp(DirectFunctionCall1(back, *moment)) == DatumGetTimestamp(constant->constvalue);
}

// Where the constant lies among the values of a type; unbounded: nobody knows.
static Span place_of(Node *expression, Const *constant) {
    const Oid type = getBaseType(exprType(expression)), other = getBaseType(constant->consttype);
    if (type == INTERVALOID)
        return other == INTERVALOID ? span_of_interval(expression, constant) : Span{};
    const Span span = query::range_of(as_node(constant), no_column, nullptr).span;
    if (type == other || (is_integer(type) && is_integer(other)))
        return span;
    if (is_moment(type)) {
        Datum moment;
        if (!convert_moment(type, constant, &moment))
            return Span{};
        const auto at = static_cast<double>(DatumGetTimestamp(moment));
        return Span{at, at, 0};
    }
    if ((type == FLOAT4OID || type == FLOAT8OID) && (other == FLOAT4OID || other == FLOAT8OID))
        return span;
    return Span{};
}

// Half-open where a type has neighbours.
static Span span_of_strategy(int strategy, const Span &at, double step) {
    constexpr double exact = 0x1p53;
    const double next = std::fabs(at.low) < exact ? step : 0;
    switch (strategy) {
    case BTLessStrategyNumber:
        return Span{-Span::nowhere, at.high - next, -1};
    case BTLessEqualStrategyNumber:
        return Span{-Span::nowhere, at.high, -1};
    case BTGreaterEqualStrategyNumber:
        return Span{at.low, Span::nowhere, -1};
    case BTGreaterStrategyNumber:
        return Span{at.low + next, Span::nowhere, -1};
    default:
        return at;
    }
}

// A date beside a moment is the moment at which it begins.
static Span span_of_dates(int strategy, Const *constant) {
    Datum local;
    if (!convert_moment(TIMESTAMPOID, constant, &local))
        return Span{};
    const double at = static_cast<double>(DatumGetTimestamp(local)) / day, date = std::floor(at);
    if (at == date)
        return span_of_strategy(strategy, Span{date, date, 0}, 1);
    return span_of_strategy(strategy, Span{date + (strategy >= BTGreaterEqualStrategyNumber ? 1 : 0), date, 0}, 0);
}

static Span span_of_constant(const Comparison &comparison, Const *constant) {
    const Oid type = getBaseType(exprType(comparison.expression));
    if (type == DATEOID && getBaseType(constant->consttype) != DATEOID)
        return span_of_dates(comparison.strategy, constant);
    return span_of_strategy(comparison.strategy, place_of(comparison.expression, constant), step_of(type));
}

// t::date between days is t between moments. A whole number that is cast is one.
static Span span_of_cast(const Comparison &comparison, Const *constant) {
    if (getBaseType(exprType(comparison.expression)) == DATEOID) {
        const Span days = span_of_constant(comparison, constant);
        return Span{days.low * day, days.high * day + day - 1, 0};
    }
    const Span at = place_of(comparison.expression, constant);
    const bool whole = at.low == at.high && at.low == std::floor(at.low); // exactly
    const Span numbers = span_of_strategy(comparison.strategy, at, whole ? 1 : 0);
    return Span{std::ceil(numbers.low), std::floor(numbers.high), 0};
}

static Span hull_of(const Comparison &comparison, bool cast) {
    Span hull = {Span::nowhere, -Span::nowhere, -1};
    for (auto *constant : border::each<Const>(constants_of(comparison))) {
        const Span one = cast ? span_of_cast(comparison, constant) : span_of_constant(comparison, constant);
        hull.low = Min(hull.low, one.low);
        hull.high = Max(hull.high, one.high);
    }
    return hull;
}

// Returns what a cast that keeps the order is of; else null.
static Node *below_cast(Node *node) {
    if (!IsA(node, FuncExpr))
        return nullptr;
    static const Oid casts[] = {F_DATE_TIMESTAMP, F_NUMERIC_INT2, F_NUMERIC_INT4, F_NUMERIC_INT8, F_FLOAT8_INT2,
                                F_FLOAT8_INT4,    F_INT4_INT2,    F_INT8_INT2,    F_INT8_INT4};
    for (Oid cast : casts)
        if (castNode(FuncExpr, node)->funcid == cast)
            return bare(static_cast<Node *>(linitial(castNode(FuncExpr, node)->args)));
    return nullptr;
}

// ---- what conditions say -------------------------------------------------------------------------------------------

// Goes to what an expression is made of, and to where that lies; null: there is no more.
static Node *below(const Comparison &comparison, Node *expression, Span *span) {
    Node *uncast = expression == comparison.expression ? below_cast(expression) : nullptr;
    if (uncast == nullptr) {
        Node *part = below_part(expression, span);
        return part == nullptr ? nullptr : bare(part);
    }
    *span = hull_of(comparison, true);
    return uncast;
}

Span span_of(const Comparison &comparison, Node *expression) {
    Span span = hull_of(comparison, false);
    Node *part = comparison.expression;
    while (part != nullptr && !equal(part, expression))
        part = below(comparison, part, &span);
    return part == nullptr ? Span{} : span;
}

// Where a condition that holds leaves an expression.
static Span span_where(Node *condition, Node *expression) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    if (IsA(condition, BooleanTest) && castNode(BooleanTest, condition)->booltesttype == IS_TRUE)
        return span_where(as_node(castNode(BooleanTest, condition)->arg), expression);
    Comparison comparison;
    if (IsA(condition, BoolExpr) && castNode(BoolExpr, condition)->boolop != NOT_EXPR) {
        const bool any = castNode(BoolExpr, condition)->boolop == OR_EXPR;
        Span all = any ? Span{Span::nowhere, -Span::nowhere, -1} : Span{};
        for (auto *item : border::each<Node>(castNode(BoolExpr, condition)->args)) {
            const Span one = span_where(item, expression);
            all.low = any ? Min(all.low, one.low) : Max(all.low, one.low);
            all.high = any ? Max(all.high, one.high) : Min(all.high, one.high);
        }
        return all;
    }
    return read_comparison(condition, &comparison) ? span_of(comparison, expression) : Span{};
}

static bool has_place(Node *expression) {
    const Oid type = getBaseType(exprType(expression));
    return step_of(type) != 0 || type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID || type == INTERVALOID;
}

static void add_compared(Narrowed *narrowed, Node *expression) {
    if (expression == nullptr || narrowed->ncompared == most_compared || !has_place(expression))
        return;
    for (int i = 0; i < narrowed->ncompared; i++)
        if (equal(narrowed->compared[i].expression, expression))
            return;
    narrowed->compared[narrowed->ncompared++] = {expression, Span{}};
}

static void find_compared(Node *condition, Narrowed *narrowed) {
    Comparison comparison;
    check_stack_depth();
    if (IsA(condition, BooleanTest))
        return find_compared(as_node(castNode(BooleanTest, condition)->arg), narrowed);
    if (IsA(condition, BoolExpr)) {
        for (auto *one : border::each<Node>(castNode(BoolExpr, condition)->args))
            find_compared(one, narrowed);
    } else if (read_comparison(condition, &comparison)) {
        Span span;
        for (Node *part = comparison.expression; part != nullptr; part = below(comparison, part, &span))
            add_compared(narrowed, part);
    }
}

const Narrowed *read_conditions(const List *conditions) {
    auto *narrowed = zeroed<Narrowed>();
    for (auto *one : border::each<Node>(conditions))
        narrowed->conjuncts = list_concat(narrowed->conjuncts, query::conjuncts_of(one));
    for (auto *one : border::each<Node>(narrowed->conjuncts))
        find_compared(one, narrowed);
    narrowed->never_null = find_nonnullable_vars(as_node(narrowed->conjuncts));
    for (int i = 0; i < narrowed->ncompared; i++) {
        Compared *one = &narrowed->compared[i];
        for (auto *item : border::each<Node>(narrowed->conjuncts)) {
            const Span span = span_where(item, one->expression);
            one->span.low = Max(one->span.low, span.low);
            one->span.high = Min(one->span.high, span.high);
        }
    }
    return narrowed;
}

// Returns the least number of so many decimals from an end on. What is too large for a double to tell stays.
static double next_decimal(double low, int decimals) {
    constexpr double most = 1e9, exact = 1e-9;
    const double units = low * std::pow(10.0, decimals);
    return decimals <= 0 || !(std::fabs(units) < most)
               ? low
               : std::ceil(units - exact * std::fabs(units)) / std::pow(10.0, decimals);
}

void narrow(const Narrowed *narrowed, Node *expression, query::Range *range) {
    if (narrowed == nullptr)
        return;
    if (IsA(expression, Var) && border::is_among_vars(narrowed->never_null, castNode(Var, expression)))
        range->nullable = false;
    for (int i = 0; i < narrowed->ncompared; i++) {
        const Compared &one = narrowed->compared[i];
        if (!equal(one.expression, expression))
            continue;
        const double low = next_decimal(Max(range->span.low, one.span.low), range->span.decimals),
                     high = Min(range->span.high, one.span.high);
        if (low <= high) {
            range->span.low = low;
            range->span.high = high;
        }
        return;
    }
}

// ---- that do not meet ----------------------------------------------------------------------------------------------

static bool has_part(Node *node, void *part) {
    return node != nullptr && (equal(node, part) || border::walk_expression(node, has_part, part));
}

const char *end_text(Oid type, double end) {
    constexpr double most_days = 700000;
    if (std::fabs(end) == Span::nowhere)
        return end < 0 ? "-infinity" : "infinity";
    if (type == DATEOID && std::fabs(end) < most_days)
        return DatumGetCString(DirectFunctionCall1(date_out, DateADTGetDatum(static_cast<DateADT>(end))));
    if (is_moment(type) && std::fabs(end) < most_days * day)
        return DatumGetCString(DirectFunctionCall1(type == TIMESTAMPOID ? timestamp_out : timestamptz_out,
                                                   TimestampGetDatum(static_cast<Timestamp>(end))));
    if (type == INTERVALOID) {
        Interval interval = {static_cast<TimeOffset>(end), 0, 0};
        return DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(&interval)));
    }
    return psprintf("%.15g", end);
}

const char *text_of_apart(const Narrowed *narrowed, Node *expression, RangeOfPart range_of, void *columns) {
    for (int i = 0; i < narrowed->ncompared; i++) {
        const Compared &one = narrowed->compared[i];
        if (!has_part(expression, one.expression))
            continue;
        const Span known = range_of(one.expression, columns).span;
        if (Max(one.span.low, known.low) <= Min(one.span.high, known.high))
            continue;
        const Oid type = getBaseType(exprType(one.expression));
        return psprintf(
            "Values in the key lie from %s to %s as declared, and the conditions leave those from %s to %s.",
            end_text(type, known.low), end_text(type, known.high), end_text(type, one.span.low),
            end_text(type, one.span.high));
    }
    return nullptr;
}

} // namespace dp::rows
