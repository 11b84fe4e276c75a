#include "query/percentile_arrays.hpp"

#include "border/each.hpp"
#include "border/visit.hpp"
#include "query/constants.hpp"
#include "query/flatten_subselects.hpp"
#include "query/limits.hpp"
#include "query/aggregate_rewrites.hpp"
#include "query/hints.hpp"
#include "query/grammar.hpp"
#include "query/percentile.hpp"
#include "query/total_table.hpp"

namespace dp::query {

namespace {
struct Made {
    ParseState *source;
    int aggregates;
    int parts;
};
} // namespace

// Returns the percentile of one fraction that belongs to one of several.
static Oid of_one(Oid several) {
    switch (several) {
    case F_PERCENTILE_CONT__FLOAT8_FLOAT8:
        return F_PERCENTILE_CONT_FLOAT8_FLOAT8;
    case F_PERCENTILE_CONT__FLOAT8_INTERVAL:
        return F_PERCENTILE_CONT_FLOAT8_INTERVAL;
    case F_PERCENTILE_DISC__FLOAT8_ANYELEMENT:
        return F_PERCENTILE_DISC_FLOAT8_ANYELEMENT;
    default:
        return InvalidOid;
    }
}

// ---- the array -----------------------------------------------------------------------------------------------------

bool contains_parameter(Node *expression) {
    return border::any(expression, [](Node *node) { return IsA(node, Param); });
}

// ARRAY[0.25, 0.5] is an array of numerics, which the server casts to double precision element by element.
static Node *before_cast(Node *fractions) {
    if (!IsA(fractions, ArrayCoerceExpr))
        return fractions;
    auto *cast = castNode(ArrayCoerceExpr, fractions);
    Node *element = reinterpret_cast<Node *>(cast->elemexpr);
    const bool to_double =
        before_cast_to_double(element) != element && IsA(before_cast_to_double(element), CaseTestExpr);
    return to_double ? reinterpret_cast<Node *>(cast->arg) : fractions;
}

// Nothing is evaluated but what would be beside columns: built-ins of constants, which are the same whenever they are asked.
static const Const *constant_of(Node *fractions, const Made *made) {
    constexpr char remedy[] = "Write an array of constants between 0 and 1, ARRAY[0.25, 0.5, 0.75], or ask one by one: "
                              "percentile_cont(0.25) WITHIN GROUP (ORDER BY x).";
    const int at = exprLocation(fractions);
    if (contains_column(fractions))
        refuse_part("a column among the fractions of percentiles", remedy, made->source, at);
    if (contains_parameter(fractions))
        refuse_part("a parameter among the fractions of several percentiles",
                    "Ask one by one, where a fraction may be a parameter: percentile_cont($1) WITHIN GROUP (ORDER BY "
                    "x), or write constants.",
                    made->source, at);
    Node *folded = nullptr;
    if (!IsA(before_cast(fractions), ArrayCoerceExpr)) {
        check_condition(before_cast(fractions), made->source);
        folded = contain_mutable_functions(fractions) ? nullptr : evaluate_constants(fractions);
    }
    if (folded == nullptr || !IsA(folded, Const))
        refuse_part("an array of fractions that is not constant", remedy, made->source, at);
    return castNode(Const, folded);
}

// Null constants: fractions that are NULL.
static List *fractions_of(const Aggref *call, const Made *made) {
    auto *written = static_cast<Node *>(linitial(call->aggdirectargs));
    const Const *value = constant_of(written, made);
    constexpr char remedy[] = "Write at least one: ARRAY[0.25, 0.5, 0.75].";
    if (value->constisnull)
        refuse_part("an array of percentiles without a fraction", remedy, made->source, call->location);
    ArrayType *array = DatumGetArrayTypeP(value->constvalue);
    if (ARR_NDIM(array) > 1)
        refuse_part("an array of fractions with several dimensions", "Write one list of them: ARRAY[0.25, 0.5, 0.75].",
                    made->source, exprLocation(written));
    if (ARR_NDIM(array) == 1 && ARR_LBOUND(array)[0] != 1)
        refuse_part("an array of fractions that does not begin at 1", "Write ARRAY[0.25, 0.5, 0.75].", made->source,
                    exprLocation(written));
    check_outputs(made->aggregates + ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
    Datum *values;
    bool *nulls;
    int n, there = 0;
    deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, &n);
    List *fractions = NIL;
    for (int i = 0; i < n; i++) {
        fractions = lappend(fractions,
                            makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), values[i], nulls[i], FLOAT8PASSBYVAL));
        there += nulls[i] ? 0 : 1;
    }
    if (there == 0)
        refuse_part("an array of percentiles without a fraction", remedy, made->source, call->location);
    return fractions;
}

// ---- the aggregates ------------------------------------------------------------------------------------------------

static Node *of_fraction(const Call &call, Const *fraction) {
    const Oid type = get_element_type(call.aggregate->aggtype);
    if (fraction->constisnull) // as PostgreSQL has it
        return reinterpret_cast<Node *>(makeNullConst(type, -1, call.aggregate->aggcollid));
    auto *one = static_cast<Aggref *>(copyObjectImpl(call.aggregate));
    one->aggfnoid = of_one(one->aggfnoid);
    one->aggtype = type;
    one->aggdirectargs = list_make1(fraction);
    linitial_oid(one->aggargtypes) = FLOAT8OID;
    return with_mark(call.mark, reinterpret_cast<Node *>(one));
}

static Node *of_each_fraction(const Call &call, void *context) {
    auto *made = static_cast<Made *>(context);
    if (!OidIsValid(of_one(call.aggregate->aggfnoid)) || !type_is_array(call.aggregate->aggtype))
        return nullptr;
    List *fractions = fractions_of(call.aggregate, made);
    made->aggregates += list_length(fractions);
    Aggref without = *call.aggregate; // the array itself is not copied for each
    without.aggdirectargs = NIL;
    const Call each = {&without, call.mark};
    check_copies(reinterpret_cast<Node *>(&without), list_length(fractions), &made->parts);
    auto *array = makeNode(ArrayExpr);
    array->array_typeid = call.aggregate->aggtype;
    array->array_collid = call.aggregate->aggcollid;
    array->element_typeid = get_element_type(array->array_typeid);
    array->location = call.aggregate->location;
#if PG_VERSION_NUM >= 180000
    array->list_start = array->list_end = -1;
#endif
    for (auto *fraction : border::each<Const>(fractions)) {
        CHECK_FOR_INTERRUPTS();
        array->elements = lappend(array->elements, of_fraction(each, fraction));
    }
    return reinterpret_cast<Node *>(array);
}

void ask_each_fraction(Query *query, ParseState *source) {
    Made made = {source, 0, 0};
    say_aggregates(query, of_each_fraction, &made);
}

} // namespace dp::query
