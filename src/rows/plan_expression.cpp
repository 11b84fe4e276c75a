#include "rows/plan_expression.hpp"

#include "border/each.hpp"
#include "border/guard.hpp"
#include "query/leaf_rows.hpp"
#include "query/constants.hpp"
#include "query/exists.hpp"
#include "rows/nodes.hpp"
extern "C" {
#include <catalog/pg_operator.h>
}

namespace dp::rows {

// ---- names ---------------------------------------------------------------------------------------------------------

namespace {
struct TypeText {
    NameText name;
    bool is_array = false;
    int32 modifier = -1;
};

// A node likewise.
struct NodeText {
    plan::Op op;
    uint32 number = 0;
    bool flag = false;
    const char *text = "";
    NameText name = {}, collation = {};
    TypeText type = {};
};
} // namespace

static NameText name_in(const char *name, Oid schema) {
    return NameText{schema == PG_CATALOG_NAMESPACE ? "" : get_namespace_name(schema), name};
}

NameText name_of_relation(Oid relation) {
    return name_in(get_rel_name(relation), get_rel_namespace(relation));
}

NameText name_of_function(Oid function) {
    return name_in(get_func_name(function), get_func_namespace(function));
}

// Returns the name of an object of the syscache, whose schema the server gives no function for.
template <class Form> static NameText name_of_row(int cache, Oid oid, NameText (*name)(const Form *)) {
    HeapTuple tuple = SearchSysCache1(cache, ObjectIdGetDatum(oid));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for object %u of a question", oid);
    NameText found = name(reinterpret_cast<const Form *>(GETSTRUCT(tuple)));
    ReleaseSysCache(tuple);
    return found;
}

static NameText name_of_operator(Oid op) {
    return name_of_row<FormData_pg_operator>(OPEROID, op, [](const FormData_pg_operator *form) {
        return name_in(pstrdup(NameStr(form->oprname)), form->oprnamespace);
    });
}

NameText name_of_collation(Oid collation) {
    if (!OidIsValid(collation))
        return NameText{};
    return name_of_row<FormData_pg_collation>(COLLOID, collation, [](const FormData_pg_collation *form) {
        return name_in(pstrdup(NameStr(form->collname)), form->collnamespace);
    });
}

static TypeText type_text(Oid type, int32 modifier) {
    const Oid element = get_element_type(type);
    const NameText name = name_of_row<FormData_pg_type>(
        TYPEOID, OidIsValid(element) ? element : type, [](const FormData_pg_type *form) {
            return name_in(pstrdup(NameStr(form->typname)), form->typnamespace);
        });
    return TypeText{name, OidIsValid(element), modifier};
}

// ---- nodes ---------------------------------------------------------------------------------------------------------

static void add(plan::Expression *into, const NodeText &node) {
    border::core([&] {
        into->push_back({node.op, node.number, node.flag, node.text, node.name.made(), node.collation.made(),
                         plan::Type{node.type.name.made(), node.type.is_array, node.type.modifier}});
    });
}

uint32 source_number(const query::Leaf *leaf, int varno) {
    for (int i = 0; i < leaf->nsources; i++)
        if (leaf->sources[i].varno == varno)
            return static_cast<uint32>(i);
    elog(ERROR, "a column of a question has no source");
}

static uint32 place_of_test(const query::Leaf *leaf, const query::SemiJoin *test) {
    ListCell *cell;
    foreach (cell, leaf->semi_joins)
        if (lfirst(cell) == test)
            return static_cast<uint32>(foreach_current_index(cell));
    elog(ERROR, "a test of a question is missing");
}

const char *column_text(const query::Leaf *leaf, int varno, AttrNumber attno) {
    const query::Source &source = leaf->sources[source_number(leaf, varno)];
    return source.people != nullptr ? psprintf("c%d", attno) : query::name_of_column(source.relation, source.rows, attno);
}

void add_column(const query::Leaf *leaf, const Var *column, plan::Expression *into) {
    const query::SemiJoin *test = query::test_of(leaf, column);
    if (column->varno == query::unit_varno)
        add(into, {plan::Op::person_column, static_cast<uint32>(column->varattno - 1)});
    else if (test != nullptr)
        add(into, {plan::Op::exists, place_of_test(leaf, test)});
    else
        add(into, {plan::Op::column, source_number(leaf, column->varno), false,
                   column_text(leaf, column->varno, column->varattno)});
}

// The collation that a value has without COLLATE.
static Oid plain_collation(Oid type, Oid of_argument) {
    return OidIsValid(of_argument) && type_is_collatable(type) ? of_argument : get_typcollation(type);
}

static void add_collate(Oid collation, Oid plain, plan::Expression *into) {
    if (OidIsValid(collation) && collation != plain)
        add(into, {plan::Op::collate, 0, false, "", name_of_collation(collation)});
}

// Returns a value as its type prints it, and a name of a catalog as its number, since that name may be another's later. Labels of an
// enum are told apart by their order (release/identity).
static const char *constant_text(const Const *value) {
    if (query::is_name(value->consttype) && !type_is_enum(getBaseType(value->consttype)) && value->constbyval)
        return psprintf("%u", DatumGetObjectId(value->constvalue));
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(value->consttype, &output, &is_varlena);
    return OidOutputFunctionCall(output, value->constvalue);
}

static void add_constant(const Const *value, plan::Expression *into) {
    add(into, {plan::Op::constant, 0, value->constisnull, value->constisnull ? "" : constant_text(value), {}, {},
               type_text(value->consttype, value->consttypmod)});
    add_collate(value->constcollid, get_typcollation(value->consttype), into);
}

static uint32 add_all(const query::Leaf *leaf, const List *nodes, plan::Expression *into) {
    for (auto *one : border::each<Node>(nodes))
        add_expression(leaf, one, into);
    return static_cast<uint32>(list_length(nodes));
}

// A length below 0 is none.
static int32 modifier_of(int32 modifier) {
    return Max(modifier, -1);
}

// A cast of whatever kind: which function does it follows from the types.
static void add_cast(const query::Leaf *leaf, Node *cast, Node *argument, int32 modifier, plan::Expression *into) {
    const Oid type = exprType(cast);
    add_expression(leaf, argument, into);
    if (type != exprType(argument) || modifier_of(modifier) != modifier_of(exprTypmod(argument)))
        add(into, {plan::Op::cast, 0, false, "", {}, {}, type_text(type, modifier_of(modifier))});
    add_collate(exprCollation(cast), plain_collation(type, exprCollation(argument)), into);
}

static void add_function(const query::Leaf *leaf, FuncExpr *call, plan::Expression *into) {
    int32 modifier = -1;
    (void)exprIsLengthCoercion(as_node(call), &modifier);
    const bool is_cast =
        call->funcformat == COERCE_EXPLICIT_CAST || call->funcformat == COERCE_IMPLICIT_CAST;
    if (is_cast && call->funcid < FirstUnpinnedObjectId)
        return add_cast(leaf, as_node(call), static_cast<Node *>(linitial(call->args)), modifier, into);
    const uint32 n = add_all(leaf, call->args, into);
    add(into, {plan::Op::call, n, call->funcvariadic, "", name_of_function(call->funcid),
               name_of_collation(call->inputcollid)});
}

static void add_logic(const query::Leaf *leaf, const BoolExpr *expression, plan::Expression *into) {
    const uint32 n = add_all(leaf, expression->args, into);
    add(into, {expression->boolop == AND_EXPR  ? plan::Op::conjunction
               : expression->boolop == OR_EXPR ? plan::Op::disjunction
                                               : plan::Op::negation,
               expression->boolop == NOT_EXPR ? 0 : n});
}

static void add_choice(const query::Leaf *leaf, const CaseExpr *choice, plan::Expression *into) {
    if (choice->arg != nullptr)
        add_expression(leaf, as_node(choice->arg), into);
    for (auto *one : border::each<CaseWhen>(choice->args)) {
        add_expression(leaf, as_node(one->expr), into);
        add_expression(leaf, as_node(one->result), into);
    }
    add_expression(leaf, as_node(choice->defresult), into);
    add(into, {plan::Op::choice, static_cast<uint32>(list_length(choice->args)), choice->arg != nullptr});
}

static void add_test(const query::Leaf *leaf, Node *argument, uint32 test, plan::Expression *into) {
    add_expression(leaf, argument, into);
    add(into, {plan::Op::test, test});
}

static uint32 number_of_test(BoolTestType test) {
    switch (test) {
    case IS_TRUE:
        return plan::is_true;
    case IS_NOT_TRUE:
        return plan::is_not_true;
    case IS_FALSE:
        return plan::is_false;
    case IS_NOT_FALSE:
        return plan::is_not_false;
    case IS_UNKNOWN:
        return plan::is_unknown;
    case IS_NOT_UNKNOWN:
        return plan::is_not_unknown;
    }
    pg_unreachable();
}

// A sub-SELECT in an expression is the test of a column, since no row may decide (query/exists).
static bool is_of_sub_select(const query::Leaf *leaf, const BooleanTest *test) {
    auto *column = reinterpret_cast<Var *>(test->arg);
    return IsA(column, Var) && query::test_of(leaf, column) != nullptr;
}

static void add_truth(const query::Leaf *leaf, const BooleanTest *test, plan::Expression *into) {
    if (!is_of_sub_select(leaf, test))
        return add_test(leaf, as_node(test->arg), number_of_test(test->booltesttype), into);
    add_expression(leaf, as_node(test->arg), into);
    if (test->booltesttype != IS_TRUE)
        add(into, {plan::Op::negation});
}

static void add_operator(const query::Leaf *leaf, OpExpr *call, plan::Op op, plan::Expression *into) {
    const uint32 n = add_all(leaf, call->args, into);
    add(into, {op, n, false, "", name_of_operator(call->opno), name_of_collation(call->inputcollid)});
}

static void add_array_operator(const query::Leaf *leaf, const ScalarArrayOpExpr *call, plan::Expression *into) {
    (void)add_all(leaf, call->args, into);
    add(into, {call->useOr ? plan::Op::any_of : plan::Op::all_of, 0, false, "", name_of_operator(call->opno),
               name_of_collation(call->inputcollid)});
}

static void add_greatest(const query::Leaf *leaf, const MinMaxExpr *call, plan::Expression *into) {
    const uint32 n = add_all(leaf, call->args, into);
    add(into, {call->op == IS_GREATEST ? plan::Op::greatest : plan::Op::least, n, false, "", {},
               name_of_collation(call->inputcollid)});
}

void add_expression(const query::Leaf *leaf, Node *node, plan::Expression *into) {
    check_stack_depth();
    switch (nodeTag(node)) {
    case T_Var:
        return add_column(leaf, castNode(Var, node), into);
    case T_Const:
        return add_constant(castNode(Const, node), into);
    case T_RelabelType: {
        auto *cast = castNode(RelabelType, node);
        return add_cast(leaf, node, as_node(cast->arg), cast->resulttypmod, into);
    }
    case T_CoerceViaIO:
        return add_cast(leaf, node, as_node(castNode(CoerceViaIO, node)->arg), -1, into);
    case T_FuncExpr:
        return add_function(leaf, castNode(FuncExpr, node), into);
    case T_OpExpr:
        return add_operator(leaf, castNode(OpExpr, node), plan::Op::infix, into);
    case T_DistinctExpr:
        return add_operator(leaf, reinterpret_cast<OpExpr *>(node), plan::Op::distinct, into);
    case T_NullIfExpr:
        return add_operator(leaf, reinterpret_cast<OpExpr *>(node), plan::Op::nullif, into);
    case T_ScalarArrayOpExpr:
        return add_array_operator(leaf, castNode(ScalarArrayOpExpr, node), into);
    case T_BoolExpr:
        return add_logic(leaf, castNode(BoolExpr, node), into);
    case T_NullTest:
        return add_test(leaf, as_node(castNode(NullTest, node)->arg),
                        castNode(NullTest, node)->nulltesttype == IS_NULL ? plan::is_null : plan::is_not_null, into);
    case T_BooleanTest:
        return add_truth(leaf, castNode(BooleanTest, node), into);
    case T_CaseExpr:
        return add_choice(leaf, castNode(CaseExpr, node), into);
    case T_CaseTestExpr:
        return add(into, {plan::Op::operand});
    case T_CoalesceExpr: {
        const uint32 n = add_all(leaf, castNode(CoalesceExpr, node)->args, into);
        return add(into, {plan::Op::coalesce, n});
    }
    case T_MinMaxExpr:
        return add_greatest(leaf, castNode(MinMaxExpr, node), into);
    default:
        elog(ERROR, "a node of kind %d has no place in a plan", static_cast<int>(nodeTag(node)));
    }
}

void add_or_nothing(const query::Leaf *leaf, Node *node, plan::Expression *into) {
    if (node != nullptr)
        add_expression(leaf, node, into);
}

// A sub-SELECT that is a condition of WHERE by itself would be another one: it keeps its test.
static void add_condition(const query::Leaf *leaf, Node *condition, plan::Expression *into) {
    auto *test = reinterpret_cast<BooleanTest *>(condition);
    if (!IsA(test, BooleanTest) || !is_of_sub_select(leaf, test))
        return add_expression(leaf, condition, into);
    add_test(leaf, as_node(test->arg), number_of_test(test->booltesttype), into);
}

void add_where(const query::Leaf *leaf, Node *where, plan::Expression *into) {
    auto *all = reinterpret_cast<BoolExpr *>(where);
    if (where == nullptr || !IsA(all, BoolExpr) || all->boolop != AND_EXPR) {
        if (where != nullptr)
            add_condition(leaf, where, into);
        return;
    }
    for (auto *one : border::each<Node>(all->args))
        add_condition(leaf, one, into);
    add(into, {plan::Op::conjunction, static_cast<uint32>(list_length(all->args))});
}

} // namespace dp::rows
