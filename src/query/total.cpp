#include "query/total.hpp"

#include "border/walk.hpp"
#include "query/constants.hpp"
#include "query/cost.hpp"
#include "query/date_style.hpp"
#include "query/hints.hpp"
#include "query/total_casts.hpp"

namespace dp::query {

// ---- from a checked expression to a total one ----------------------------------------------------------------------

[[noreturn]] static void refuse_partial(const char *part) {
    refuse_part(part, total_hint, nullptr, -1);
}

static void check_constants(const TotalFunction *entry, List *arguments) {
    ListCell *cell;
    foreach (cell, arguments) {
        if (!entry->wants_constant(foreach_current_index(cell)))
            continue;
        auto *value = reinterpret_cast<Const *>(lfirst(cell));
        if (!IsA(value, Const))
            refuse_partial(
                psprintf("function %s with an argument that is not a constant", get_func_name(entry->function)));
        check_constant(entry, foreach_current_index(cell), value);
    }
}

static Node *to_total(Node *node, void *context);

// The entry of a function, or a refusal; what it does for the first time is done here.
static const TotalFunction *total_entry(Oid function, Oid collation) {
    const TotalFunction *entry = find_total(function);
    if (entry == nullptr)
        refuse_partial(psprintf("function %s", format_procedure(function)));
    open_collation(collation);
    if (entry->rule ==
        Rule::digest) // a library may forbid it altogether (FIPS): no affair of the first row that needs it
        OidFunctionCall1(function, PointerGetDatum(cstring_to_text("")));
    return entry;
}

// A call, or that of its replacement, with arguments that are total already.
static Node *total_call(Node *node, RowCost *cost) {
    const auto [function, arguments] = called(node);
    const Oid collation = exprInputCollation(node);
    const TotalFunction *entry = total_entry(function, collation);
    check_constants(entry, arguments);
    add_cost(cost, entry, collation, arguments);
    if (entry->why.per_byte > 0)
        limit_arguments(arguments);
    if (entry->how == Total::as_it_is)
        return node;
    if (entry->how == Total::inlined) // folding has left it as it was
        refuse_partial(psprintf("function %s", format_procedure(function)));
    return reinterpret_cast<Node *>(makeFuncExpr(replacement_of(function), exprType(node), arguments,
                                                 exprCollation(node), collation, COERCE_EXPLICIT_CALL));
}

// Comparisons that the executor calls by itself: they have no replacement and want no constants.
static void total_comparison(Oid function, Oid collation, List *arguments, double times, RowCost *cost) {
    const TotalFunction *entry = total_entry(function, collation);
    if (entry->how != Total::as_it_is || entry->constants != 0)
        refuse_partial(psprintf("function %s", format_procedure(function)));
    add_cost(cost, entry, collation, arguments, times);
    if (entry->why.per_byte > 0)
        limit_arguments(arguments);
}

// How often the executor compares: with every element, or through a hash table that the first row makes.
static double comparisons(const ScalarArrayOpExpr *call) {
    constexpr int least_hashed = 9; // MIN_ARRAY_SIZE_FOR_HASHED_SAOP
    auto *array = static_cast<Const *>(lsecond(call->args));
    if (!IsA(array, Const) || array->constisnull)
        return 1;
    ArrayType *elements = DatumGetArrayTypeP(array->constvalue);
    int n = ArrayGetNItems(ARR_NDIM(elements), ARR_DIMS(elements));
    RegProcedure left, right;
    bool hashed =
        n >= least_hashed && get_op_hash_functions(call->useOr ? call->opno : get_negator(call->opno), &left, &right);
    return hashed ? 2 : n;
}

static Node *total_array_operator(ScalarArrayOpExpr *call, RowCost *cost) {
    set_sa_opfuncid(call);
    auto *array = static_cast<Node *>(lsecond(call->args));
    if (!IsA(array, Const))
        refuse_partial("an array that is not constant");
    total_comparison(call->opfuncid, call->inputcollid, list_make1(linitial(call->args)), comparisons(call), cost);
    List *value = list_make1(linitial(call->args));
    limit_arguments(value);
    call->args = list_make2(linitial(value), array);
    cost->calls += 2.0 * static_cast<double>(castNode(Const, array)->constisnull
                                                 ? 0
                                                 : toast_raw_datum_size(castNode(Const, array)->constvalue));
    return reinterpret_cast<Node *>(call);
}

static Node *total_cast(const CoerceViaIO *cast, RowCost *cost) {
    auto *argument = reinterpret_cast<Node *>(cast->arg);
    const TotalCast *entry = find_total_cast(exprType(argument), cast->resulttype);
    if (entry == nullptr)
        refuse_partial(
            psprintf("a cast from %s to %s", format_type_be(exprType(argument)), format_type_be(cast->resulttype)));
    cost->calls += cost_of_cast;
    return call_of_cast(*entry, argument, cast, entry->styled() ? plain_date_style : nullptr);
}

// DISTINCT and NULLIF have the struct of an operator.
static Node *total_equality(OpExpr *call, RowCost *cost) {
    set_opfuncid(call);
    total_comparison(call->opfuncid, call->inputcollid, call->args, 1, cost);
    return reinterpret_cast<Node *>(call);
}

// Every argument but one is compared with the best so far.
static Node *total_greatest(MinMaxExpr *call, RowCost *cost) {
    Oid compare = lookup_type_cache(call->minmaxtype, TYPECACHE_CMP_PROC)->cmp_proc;
    total_comparison(compare, call->inputcollid, call->args, 2, cost);
    return reinterpret_cast<Node *>(call);
}

// The second wall behind shape's: whatever folding has made of the expression, nothing that is not named here is evaluated.
static Node *to_total(Node *node, void *context) {
    auto *cost = static_cast<RowCost *>(context);
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Const)) {
        check_length(castNode(Const, node));
        return node;
    }
    // From the inside out; the copy is ours to change. A cast is found by the type of its argument, which stays the same.
    node = border::mutate_expression(node, to_total, context);
    switch (nodeTag(node)) {
    case T_Var:
    case T_List:
    case T_BoolExpr:
    case T_BooleanTest:
    case T_NullTest:
    case T_RelabelType:
    case T_CaseExpr:
    case T_CaseWhen:
    case T_CaseTestExpr:
    case T_CoalesceExpr:
        return node;
    case T_ArrayExpr: // its parts must have the same dimensions, and fit into a gigabyte
        refuse_partial("an array of columns");
    case T_MinMaxExpr:
        return total_greatest(castNode(MinMaxExpr, node), cost);
    case T_FuncExpr:
    case T_OpExpr:
        return total_call(node, cost);
    case T_DistinctExpr:
    case T_NullIfExpr:
        return total_equality(reinterpret_cast<OpExpr *>(node), cost);
    case T_ScalarArrayOpExpr:
        return total_array_operator(castNode(ScalarArrayOpExpr, node), cost);
    case T_CoerceViaIO:
        return total_cast(castNode(CoerceViaIO, node), cost);
    default:
        refuse_partial("an expression of this kind");
    }
}

Node *make_total(Node *expression, ParamListInfo parameters, RowCost *cost) {
    return to_total(fold_constants(expression, parameters), cost);
}

Node *make_compared(Node *value, Oid collation, RowCost *cost) {
    constexpr double sides = 2; // the best so far may be as long
    List *compared = list_make1(value);
    total_comparison(lookup_type_cache(exprType(value), TYPECACHE_CMP_PROC)->cmp_proc, collation, compared, sides,
                     cost);
    return static_cast<Node *>(linitial(compared));
}

} // namespace dp::query
