#include "query/gaps.hpp"

#include <cmath>

#include "border/guard.hpp"
#include "query/make.hpp"
#include "query/thresholds.hpp"
#include "query/total_table.hpp"

namespace dp::query {

constexpr double unknown = HUGE_VAL;

namespace {
struct Walk {
    ColumnRange of_column;
    void *context;
};
} // namespace

// Returns how far neighbouring values of an expression lie apart at most, if each of its columns has all values of its type between its
// bounds: 0 for a floating-point column. Infinite: nobody knows.
static double walk(Node *node, const Walk *with);

static double gap_of_decimals(int decimals) {
    return decimals < 0 ? 0 : std::pow(10.0, -decimals);
}

static privacy::Span span_of(Node *node, const Walk *with) {
    return range_of(node, with->of_column, with->context).span;
}

// The value of a constant; 0 for what is none.
static double constant_of(Node *node) {
    const Walk without = {[](const Var *, void *) { return Range{privacy::Span{}, true}; }, nullptr};
    const privacy::Span span = span_of(node, &without);
    return span.low == span.high ? std::fabs(span.low) : 0;
}

// Numbers that are rounded to multiples of `to`, in whatever direction: no multiple is passed over.
static double rounded_to(double to, double gap) {
    return gap <= to ? to : unknown;
}

// Bounds the gaps between rests of whole numbers by a whole one. There are no rests below it where all numbers are below it, on one side of 0.
static double gap_of_rest(Node *number, double gap, Node *divisor, const Walk *with) {
    const double n = constant_of(divisor);
    const privacy::Span span = span_of(number, with);
    const bool all = n > 0 && gap == 1 && span.high - span.low >= n && (span.low >= 0 || span.low <= 1 - n) &&
                     (span.high <= 0 || span.high >= n - 1);
    return all && span.decimals == 0 ? 1 : unknown;
}

static double gap_of_arithmetic(Rule rule, List *arguments, Oid result, const Walk *with) {
    auto *first = static_cast<Node *>(linitial(arguments)), *second = static_cast<Node *>(llast(arguments));
    const double gap = walk(first, with), other = walk(second, with);
    const bool integers = result == INT2OID || result == INT4OID || result == INT8OID;
    switch (rule) {
    case Rule::plus:
    case Rule::minus:
        return Max(gap, other);
    case Rule::times:
        return constant_of(second) != 0  ? gap * constant_of(second)
               : constant_of(first) != 0 ? other * constant_of(first)
                                         : unknown;
    case Rule::over: {
        const double quotient = constant_of(second) != 0 ? gap / constant_of(second) : unknown;
        return integers ? rounded_to(1, quotient) : quotient;
    }
    case Rule::modulo:
        return gap_of_rest(first, gap, second, with);
    default: // negated, absolute
        return gap;
    }
}

constexpr double shortest_year = 300; // days, and less

// Seconds of moments and of their differences, whole days of these, and years, also of an age.
static double gap_of_field(const Const *name, Node *moment, const Walk *with) {
    if (!IsA(name, Const) || name->constisnull)
        return unknown;
    const char *field = TextDatumGetCString(name->constvalue);
    const bool date = exprType(moment) == DATEOID;
    const double gap = walk(moment, with), days = date ? gap : gap / static_cast<double>(USECS_PER_DAY);
    if (pg_strcasecmp(field, "epoch") == 0)
        return IsA(moment, FuncExpr) && exprType(moment) == INTERVALOID ? unknown : days * SECS_PER_DAY;
    const bool difference = exprType(moment) == INTERVALOID && !IsA(moment, FuncExpr);
    const bool whole = pg_strcasecmp(field, difference ? "day" : "year") == 0;
    return whole ? rounded_to(1, difference ? days : days / shortest_year) : unknown;
}

static double gap_of_buckets(List *arguments, double gap, const Walk *with) {
    const double low = span_of(static_cast<Node *>(lsecond(arguments)), with).low,
                 high = span_of(static_cast<Node *>(lthird(arguments)), with).high;
    return rounded_to(1, gap * constant_of(static_cast<Node *>(lfourth(arguments))) / std::fabs(high - low));
}

static double gap_of_call(Oid function, List *arguments, Oid result, const Walk *with) {
    if (arguments == NIL)
        return unknown;
    const Rule rule = rule_of(function);
    if (is_arithmetic(rule))
        return gap_of_arithmetic(rule, arguments, result, with);
    auto *first = static_cast<Node *>(linitial(arguments));
    switch (rule) {
    case Rule::field:
    case Rule::field_of_interval:
        return gap_of_field(reinterpret_cast<Const *>(first), static_cast<Node *>(lsecond(arguments)), with);
    case Rule::bucket:
        return gap_of_buckets(arguments, walk(first, with), with);
    case Rule::place:
        return has_each_place(thresholds_of(static_cast<Node *>(lsecond(arguments)), span_of_constant),
                              walk(first, with), span_of(first, with).decimals)
                   ? 1
                   : unknown;
    case Rule::round_to:
    case Rule::trunc_to: {
        const Const *places = value_in(static_cast<Node *>(lsecond(arguments)));
        return places == nullptr ? unknown
                                 : rounded_to(std::pow(10.0, -DatumGetInt32(places->constvalue)), walk(first, with));
    }
    case Rule::age: // its years alone are asked for
    case Rule::time_between:
    case Rule::days_between:
    case Rule::days_before:
    case Rule::days_after:
        return Max(walk(first, with), walk(static_cast<Node *>(lsecond(arguments)), with));
    case Rule::midnight:
        return walk(first, with) * static_cast<double>(USECS_PER_DAY);
    case Rule::midnight_in_zone: // nights are up to a day longer
        return (walk(first, with) + 1) * static_cast<double>(USECS_PER_DAY);
    case Rule::kept:
    case Rule::cast:
        return walk(first, with);
    case Rule::floor:
    case Rule::ceiling:
    case Rule::round:
    case Rule::trunc:
        return rounded_to(1, walk(first, with));
    default:
        return unknown;
    }
}

static double walk(Node *node, const Walk *with) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    switch (nodeTag(node)) {
    case T_Var:
        return gap_of_decimals(span_of(node, with).decimals);
    case T_Const:
        return 0;
    case T_RelabelType:
        return walk(reinterpret_cast<Node *>(castNode(RelabelType, node)->arg), with);
    case T_FuncExpr:
    case T_OpExpr:
        return gap_of_call(called(node).function, called(node).arguments, exprType(node), with);
    default:
        return unknown;
    }
}

// All whole numbers; or all multiples of a power of ten.
double step_of(Node *expression, ColumnRange of_column, void *context) {
    const Walk with = {of_column, context};
    const double gap = walk(expression, &with);
    const Rule rule = rule_of(expression);
    const bool rounded = rule == Rule::round_to || rule == Rule::trunc_to;
    return (gap == 1 || (rounded && gap > 1 && gap < unknown)) && span_of(expression, &with).decimals == 0 ? gap : 0;
}

} // namespace dp::query
