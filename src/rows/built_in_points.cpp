#include "rows/built_in_points.hpp"

#include <cmath>

#include "privacy/joint.hpp"

#include "catalog/decimals.hpp"
#include "query/aggregate_table.hpp"
#include "rows/built_in_calls.hpp"
#include "rows/canonical.hpp"
#include "rows/nodes.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

using privacy::MeasureKind;

// ---- values of a row -----------------------------------------------------------------------------------------------

namespace {
struct Value {
    ValueKind kind;
    Node *node; // copied wherever it stands
};
} // namespace

static Value value_of(Node *node) {
    return {value_kind(exprType(node)), relabelled(node, getBaseType(exprType(node)))};
}

// Returns the value as a double. Of a numeric the caller knows that a double can hold it: else the cast is an error.
static Node *as_double(const Value &value) {
    static const Oid casts[] = {F_FLOAT8_INT2,   F_FLOAT8_INT4, F_FLOAT8_INT8,
                                F_FLOAT8_FLOAT4, InvalidOid,    F_FLOAT8_NUMERIC};
    const Oid cast = casts[static_cast<int>(value.kind)];
    return OidIsValid(cast) ? cast_by(cast, FLOAT8OID, another(value.node)) : another(value.node);
}

static Node *numeric_constant(double number) {
    char text[1500]; // 309 digits and 1,074 decimals, at most
    border::core([&] { strlcpy(text, privacy::exact_text(number).c_str(), sizeof text); });
    return constant_of(NUMERICOID, catalog::text_numeric(text));
}

// Compares a value with a double: of a numeric all digits.
static Node *compared(const Value &value, const char *with, double number) {
    return value.kind == ValueKind::numeric ? operation(another(value.node), with, numeric_constant(number))
                                            : operation(as_double(value), with, double_constant(number));
}

// Null: there is no NaN of its type. It is larger than all other numbers.
static Node *is_nan(const Value &value) {
    if (is_integer(value.kind))
        return nullptr;
    if (value.kind == ValueKind::numeric)
        return operation(another(value.node), "=", constant_of(NUMERICOID, catalog::text_numeric("NaN")));
    return operation(as_double(value), "=", double_constant(get_float8_nan()));
}

// Likewise of any numeric whose magnitude is below 1e301: what is closer to 0 than 1e-300 is 0.
static Node *as_any_double(const Value &value) {
    constexpr double tiny = 1e-300;
    const int32 typmod = exprTypmod(value.node);
    if (value.kind != ValueKind::numeric || (typmod >= VARHDRSZ && scale_of(typmod) <= 300))
        return as_double(value);
    Node *is_tiny = make_and_qual(compared(value, ">", -tiny), compared(value, "<", tiny));
    return value_where(is_tiny, double_constant(0), as_double(value));
}

// ---- rounding ------------------------------------------------------------------------------------------------------

static Node *whole(Oid function, Node *number) {
    return cast_by(F_INT8_FLOAT8, INT8OID, make_call(function, FLOAT8OID, list_make1(number)));
}

// Rounds the half of a number above 0, ties up: nothing before the division is inexact.
static Node *rounded_half(Node *doubled) {
    return operation(operation(whole(F_FLOOR_FLOAT8, doubled), "+", bigint_constant(1)), "/", bigint_constant(2));
}

// Rounds that of one below 0, ties down.
static Node *rounded_negative_half(Node *doubled) {
    return operation(operation(whole(F_CEIL_FLOAT8, doubled), "-", bigint_constant(1)), "/", bigint_constant(2));
}

// ---- points of sums ------------------------------------------------------------------------------------------------

// to_sum_point_whole
static Node *whole_point(const Value &value, const privacy::SumLattice &lattice) {
    const Case cases[] = {
        {operation(another(value.node), ">=", bigint_constant(lattice.z_upper)), bigint_constant(lattice.z_upper)},
        {operation(another(value.node), "<=", bigint_constant(lattice.z_lower)), bigint_constant(lattice.z_lower)}};
    Node *self = value.kind == ValueKind::int8
                     ? another(value.node)
                     : cast_by(value.kind == ValueKind::int2 ? F_INT8_INT2 : F_INT8_INT4, INT8OID, another(value.node));
    return choice_of(cases, self);
}

// Whether a numeric is rounded like the double next to it: with so few decimals it is none of the ties, or far from them (8.13).
static bool is_rounded_alike(const Value &value, const privacy::SumLattice &lattice) {
    const int32 typmod = exprTypmod(value.node);
    return value.kind == ValueKind::numeric && typmod >= VARHDRSZ && scale_of(typmod) <= 6 && lattice.scale >= 1;
}

static Node *rounded_numeric(const Value &value, double scale) {
    Node *product = operation(another(value.node), "*", numeric_constant(scale));
    return cast_by(F_INT8_NUMERIC, INT8OID,
                   make_call(F_ROUND_NUMERIC_INT4, NUMERICOID, list_make2(product, as_node(query::int_constant(0)))));
}

// to_sum_point: the ends first, so that no product overflows; then what is near 0, so that none underflows.
static Node *sum_point_in_sql(const Value &value, const privacy::Bounds &bounds) {
    const privacy::SumLattice lattice = privacy::sum_lattice(bounds);
    if (is_integer(value.kind) && lattice.scale == 1)
        return whole_point(value, lattice);
    const double unit = 1 / lattice.scale, near = unit / 4;
    const bool alike = is_rounded_alike(value, lattice);
    const auto doubled = [&] { return operation(as_double(value), "*", double_constant(2 * lattice.scale)); };
    const Case cases[] = {
        {is_nan(value), no_bigint()},
        {compared(value, ">=", static_cast<double>(lattice.z_upper) * unit), bigint_constant(lattice.z_upper)},
        {compared(value, "<=", static_cast<double>(lattice.z_lower) * unit), bigint_constant(lattice.z_lower)},
        {alike || lattice.z_upper <= 0 ? nullptr : compared(value, ">=", near), rounded_half(doubled())},
        {alike || lattice.z_lower >= 0 ? nullptr : compared(value, "<=", -near), rounded_negative_half(doubled())},
        {alike ? nullptr : compared(value, "<", near), bigint_constant(0)}};
    return choice_of(cases, alike ? rounded_numeric(value, lattice.scale) : no_bigint()); // of NULL no comparison is true
}

// ---- points of fractions -------------------------------------------------------------------------------------------

// w of a value between its bounds
static Node *fraction_of(const Value &value, const privacy::PairLattice &lattice) {
    return operation(operation(as_any_double(value), "-", double_constant(lattice.lower)), "/",
                     double_constant(lattice.range));
}

// Returns what is made of w, where it is at least 2^-40 and at most 1: closer to 0 it is at_low. of_equal: at_low goes before at_high.
static Node *between(const Value &value, const privacy::Bounds &bounds, bool of_equal, int64 at_low, int64 at_high,
                     Node *otherwise) {
    const privacy::PairLattice lattice = privacy::pair_lattice(bounds);
    Node *above = operation(as_any_double(value), "-", double_constant(lattice.lower));
    const Case high = {compared(value, ">=", bounds.high), bigint_constant(at_high)};
    const Case low = {compared(value, "<=", bounds.low), bigint_constant(at_low)};
    const Case cases[] = {{is_nan(value), no_bigint()},
                          of_equal ? low : high,
                          of_equal ? high : low,
                          {operation(above, "<", double_constant(lattice.range * 0x1p-40)), bigint_constant(at_low)},
                          {compared(value, "<", bounds.high), otherwise}};
    return choice_of(cases, no_bigint());
}

// to_pair_point, and to_unit_point of a smaller one
static Node *unit_point(const Value &value, const privacy::Bounds &bounds, int64 one) {
    Node *within = operation(fraction_of(value, privacy::pair_lattice(bounds)), "*",
                             double_constant(2 * static_cast<double>(one)));
    return between(value, bounds, false, 0, one, rounded_half(within));
}

static Node *rounded_square(Node *(*make)(const Value &, const privacy::PairLattice &), const Value &value,
                            const privacy::PairLattice &lattice) {
    Node *square = operation(make(value, lattice), "*", make(value, lattice));
    return rounded_half(operation(square, "*", double_constant(2 * static_cast<double>(privacy::pair_one))));
}

static Node *rest_of(const Value &value, const privacy::PairLattice &lattice) {
    return operation(double_constant(1), "-", fraction_of(value, lattice));
}

// to_triple_point: squares, or rest. Together they are never more than 1, so that nothing cuts the rest.
static Node *triple_point(const Value &value, const privacy::Bounds &bounds, int coordinate) {
    const privacy::PairLattice lattice = privacy::pair_lattice(bounds);
    constexpr int64 one = privacy::pair_one;
    return coordinate == 0 ? between(value, bounds, true, 0, one, rounded_square(fraction_of, value, lattice))
                           : between(value, bounds, true, one, 0, rounded_square(rest_of, value, lattice));
}

// ---- points of two columns -----------------------------------------------------------------------------------------

// a b / one, where neither is below 0
static Node *product_of(Node *a, Node *b, int64 one) {
    return operation(operation(another(a), "*", another(b)), "/", bigint_constant(one));
}

// a (1 - a), where there is a b
static Node *spread_of(Node *a, Node *b, int64 one) {
    return value_where(null_test(another(b), IS_NOT_NULL),
                       product_of(a, operation(bigint_constant(one), "-", another(a)), one));
}

// to_joint_point
static Node *joint_point(const Value &y, const Value &x, const Question *question, int j, int coordinate) {
    const int64 one = privacy::joint_one((*question->measures)[j].kind);
    Node *a = unit_point(y, *question->bounds[j], one), *b = unit_point(x, *question->second_bounds[j], one);
    switch (coordinate) {
    case 0:
        return product_of(a, b, one);
    case 1:
        return operation(another(a), "-", product_of(a, b, one));
    case 2:
        return operation(another(b), "-", product_of(a, b, one));
    case 3:
        return operation(operation(operation(bigint_constant(one), "-", another(a)), "-", another(b)), "+",
                         product_of(a, b, one));
    case 4:
        return spread_of(a, b, one);
    default:
        return spread_of(b, a, one);
    }
}

Node *point_of(const Question *question, int j, int coordinate, Node *value) {
    const MeasureKind kind = (*question->measures)[j].kind;
    if (privacy::is_joint(kind)) {
        const List *parts = query::joint_parts(value);
        return joint_point(value_of(static_cast<Node *>(linitial(parts))), value_of(static_cast<Node *>(lsecond(parts))),
                           question, j, coordinate);
    }
    const Value of_row = value_of(value);
    const privacy::Bounds &bounds = *question->bounds[j];
    return kind == MeasureKind::sum    ? sum_point_in_sql(of_row, bounds)
           : kind == MeasureKind::pair ? unit_point(of_row, bounds, privacy::pair_one)
                                       : triple_point(of_row, bounds, coordinate);
}

// ---- points of a selection -----------------------------------------------------------------------------------------

// The part of one measure in a row's scaled PIS, in [0, 1].
static Node *part_of(const Question *question, int j, Node *value) {
    const privacy::Measure &measure = (*question->measures)[j];
    if (measure.kind == MeasureKind::count)
        return value_where(null_test(value, IS_NOT_NULL), double_constant(1), double_constant(0));
    Node *size = make_call(F_ABS_INT8, INT8OID, list_make1(point_of(question, j, 0, value)));
    const auto most = static_cast<int64>(measure.sensitivity);
    const Case cases[] = {{null_test(size, IS_NULL), double_constant(0)},
                          {operation(another(size), ">=", bigint_constant(most)), double_constant(1)}};
    return choice_of(cases, operation(cast_by(F_FLOAT8_INT8, FLOAT8OID, another(size)), "/",
                                      double_constant(static_cast<double>(most))));
}

static Node *root_of(Node *number) {
    return make_call(F_SQRT_FLOAT8, FLOAT8OID, list_make1(number));
}

static Node *pis_of(const Question *question, const List *contributed, bool gaussian) {
    Node *sum = nullptr;
    for (int j = 0; j < question->nmeasures; j++) {
        Node *part = part_of(question, j, static_cast<Node *>(list_nth(contributed, j)));
        if (gaussian)
            part = operation(part, "*", another(part));
        sum = sum == nullptr ? part : operation(sum, "+", part);
    }
    return gaussian ? root_of(sum) : sum;
}

// svt_point. Each step of it rises with what it is computed from: it lies between the points of 0 and of all, and needs no clamp.
Node *selection_point(const Question *question, const privacy::SvtCandidate &candidate, const List *contributed) {
    const bool gaussian = candidate.mechanism == privacy::Mechanism::gaussian;
    Node *pis = pis_of(question, contributed, gaussian), *ratio;
    if (gaussian)
        ratio = root_of(operation(operation(operation(pis, "*", another(pis)), "+", double_constant(candidate.noise_term)),
                                  "/", double_constant(candidate.m + candidate.noise_term)));
    else
        ratio = operation(pis, "/", double_constant(candidate.m));
    Node *scaled = operation(ratio, "*", double_constant(static_cast<double>(privacy::pair_one)));
    return whole(F_FLOOR_FLOAT8, operation(scaled, "+", double_constant(0.5)));
}

} // namespace dp::rows
