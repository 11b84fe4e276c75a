#include "query/gaps.hpp"

#include <cmath>

#include "border/guard.hpp"

namespace dp::query {

constexpr double unknown = HUGE_VAL;

namespace {
struct Walk {
    ColumnRange of_column;
    void *context;
};
} // namespace

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

static double gap_of_arithmetic(Arithmetic what, List *arguments, Oid result, const Walk *with) {
    auto *first = static_cast<Node *>(linitial(arguments)), *second = static_cast<Node *>(llast(arguments));
    const double gap = walk(first, with), other = walk(second, with);
    const bool integers = result == INT2OID || result == INT4OID || result == INT8OID;
    switch (what) {
    case Arithmetic::plus:
    case Arithmetic::minus:
        return Max(gap, other);
    case Arithmetic::times:
        return constant_of(second) != 0  ? gap * constant_of(second)
               : constant_of(first) != 0 ? other * constant_of(first)
                                         : unknown;
    case Arithmetic::over: {
        const double quotient = constant_of(second) != 0 ? gap / constant_of(second) : unknown;
        return integers ? rounded_to(1, quotient) : quotient;
    }
    case Arithmetic::modulo:
        return gap_of_rest(first, gap, second, with);
    case Arithmetic::negated:
    case Arithmetic::absolute:
        return gap;
    case Arithmetic::none:
        break;
    }
    return unknown;
}

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
    return whole ? rounded_to(1, days) : unknown;
}

static double gap_of_buckets(List *arguments, double gap, const Walk *with) {
    const double low = span_of(static_cast<Node *>(lsecond(arguments)), with).low,
                 high = span_of(static_cast<Node *>(lthird(arguments)), with).high;
    return rounded_to(1, gap * constant_of(static_cast<Node *>(lfourth(arguments))) / std::fabs(high - low));
}

// Gives whole numbers, in the order of its argument.
static bool is_whole(Oid function) {
    static const Oid list[] = {F_FLOOR_FLOAT8,    F_FLOOR_NUMERIC, F_CEIL_FLOAT8,  F_CEILING_FLOAT8, F_CEIL_NUMERIC,
                               F_CEILING_NUMERIC, F_ROUND_FLOAT8,  F_TRUNC_FLOAT8, F_INT2_FLOAT4,    F_INT4_FLOAT4,
                               F_INT8_FLOAT4,     F_INT2_FLOAT8,   F_INT4_FLOAT8,  F_INT8_FLOAT8,    F_INT2_NUMERIC,
                               F_INT4_NUMERIC,    F_INT8_NUMERIC};
    for (Oid candidate : list)
        if (candidate == function)
            return true;
    return false;
}

static double gap_of_call(Oid function, List *arguments, Oid result, const Walk *with) {
    if (arguments == NIL)
        return unknown;
    const Arithmetic what = arithmetic_of(function, arguments);
    if (what != Arithmetic::none)
        return gap_of_arithmetic(what, arguments, result, with);
    auto *first = static_cast<Node *>(linitial(arguments));
    switch (function) {
    case F_EXTRACT_TEXT_DATE:
    case F_EXTRACT_TEXT_TIMESTAMP:
    case F_EXTRACT_TEXT_TIMESTAMPTZ:
    case F_EXTRACT_TEXT_INTERVAL:
    case F_DATE_PART_TEXT_TIMESTAMP:
    case F_DATE_PART_TEXT_TIMESTAMPTZ:
    case F_DATE_PART_TEXT_INTERVAL:
        return gap_of_field(reinterpret_cast<Const *>(first), static_cast<Node *>(lsecond(arguments)), with);
    case F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4:
    case F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4:
        return gap_of_buckets(arguments, walk(first, with), with);
    case F_ROUND_NUMERIC_INT4:
    case F_TRUNC_NUMERIC_INT4: {
        auto *places = reinterpret_cast<Const *>(lsecond(arguments));
        return IsA(places, Const) && !places->constisnull
                   ? rounded_to(std::pow(10.0, -DatumGetInt32(places->constvalue)), walk(first, with))
                   : unknown;
    }
    case F_AGE_TIMESTAMP_TIMESTAMP: // its years alone are asked for
    case F_AGE_TIMESTAMPTZ_TIMESTAMPTZ:
    case F_TIMESTAMP_MI:
    case F_TIMESTAMPTZ_MI:
    case F_DATE_MI:
    case F_DATE_MII:
    case F_DATE_PLI:
        return Max(walk(first, with), walk(static_cast<Node *>(lsecond(arguments)), with));
    default:
        break;
    }
    if (is_number_cast(function))
        return walk(first, with);
    return is_whole(function) ? rounded_to(1, walk(first, with)) : unknown;
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
    case T_FuncExpr: {
        auto *call = castNode(FuncExpr, node);
        return gap_of_call(call->funcid, call->args, call->funcresulttype, with);
    }
    case T_OpExpr: {
        auto *call = castNode(OpExpr, node);
        set_opfuncid(call);
        return gap_of_call(call->opfuncid, call->args, call->opresulttype, with);
    }
    default:
        return unknown;
    }
}

double gap_of(Node *expression, ColumnRange of_column, void *context) {
    const Walk with = {of_column, context};
    return walk(expression, &with);
}

// All whole numbers; or all multiples of a power of ten.
double step_of(Node *expression, ColumnRange of_column, void *context) {
    const double gap = gap_of(expression, of_column, context);
    const Oid function = IsA(expression, FuncExpr) ? castNode(FuncExpr, expression)->funcid : InvalidOid;
    const bool rounded = function == F_ROUND_NUMERIC_INT4 || function == F_TRUNC_NUMERIC_INT4;
    const Walk with = {of_column, context};
    return (gap == 1 || (rounded && gap > 1 && gap < unknown)) && span_of(expression, &with).decimals == 0 ? gap : 0;
}

} // namespace dp::query
