#include "query/constants.hpp"

#include "border/each.hpp"
#include "border/numeric.hpp"
#include "border/refuse.hpp"
#include "border/visit.hpp"
#include "query/grammar.hpp"
#include "query/make.hpp"
#include "query/expand_concat.hpp"
#include "query/styled_casts.hpp"
#include "query/total_table.hpp"

namespace dp::query {

// ---- what is cheap -------------------------------------------------------------------------------------------------

constexpr int most_digits = 1000;

[[noreturn]] static void refuse_dear() {
    refuse_form(
        "a constant expression that may take long is not supported in a query on a restricted view", "Write its value.",
        psprintf("It calls a function that is not evaluated where the query is answered, computes with labels or "
                 "names of a catalog, or is a number of more than %d digits.",
                 most_digits));
}

// Some bytes of a numeric are many digits: 1e131071 is printed as 128 kB.
static bool has_few_digits(Datum number, int most) {
    constexpr int digits = 4; // of a stored one
    border::NumericDigits stored;
    return !border::read_numeric(number, &stored) ||
           (std::abs(stored.weight) <= most / digits && stored.count <= most / digits && stored.scale <= most);
}

// Beyond what is a number to any function of the table, and in what is printed but not computed with there.
static bool has_many_digits(const Const *value) {
    const Oid type = value->consttype;
    if (value->constisnull)
        return false;
    if (type == NUMERICOID)
        return !has_few_digits(value->constvalue, most_digits);
    if (get_element_type(type) != NUMERICOID)
        return type == NUMRANGEOID || type == NUMRANGEARRAYOID || type == NUMMULTIRANGEOID ||
               type == NUMMULTIRANGEARRAYOID;
    Datum *numbers;
    bool *nulls;
    int n;
    deconstruct_array(DatumGetArrayTypeP(value->constvalue), NUMERICOID, -1, false, TYPALIGN_INT, &numbers, &nulls, &n);
    for (int i = 0; i < n; i++)
        if (!nulls[i] && !has_few_digits(numbers[i], most_digits))
            return true;
    return false;
}

static bool is_short(const Const *value) {
    constexpr int most_bytes = 256, most_digits = 400; // of a double precision number as well
    if (value->constisnull || value->constlen > 0)
        return true;
    return value->constlen == -1 && toast_raw_datum_size(value->constvalue) <= most_bytes + VARHDRSZ &&
           (value->consttype != NUMERICOID || has_few_digits(value->constvalue, most_digits));
}

static bool accepts(const TotalFunction *entry, int argument, Node *node) {
    return !entry->wants_constant(argument) || !IsA(node, Const) || entry->permits(argument, castNode(Const, node));
}

// Values of a fixed size, and short literals. The value of a parameter, and what another function makes, may be of any length.
static bool are_short(const List *arguments, const TotalFunction *entry) {
    ListCell *cell;
    foreach (cell, arguments) {
        auto *node = static_cast<Node *>(lfirst(cell));
        const bool fine = IsA(node, Const) ? is_short(castNode(Const, node)) : get_typlen(exprType(node)) > 0;
        if (!fine || (entry != nullptr && !accepts(entry, foreach_current_index(cell), node)))
            return false;
    }
    return true;
}

// Tells whether a call is of a function of the table, whose cost is known there, on short arguments.
static bool is_cheap_call(Oid function, const List *arguments) {
    const TotalFunction *entry = is_concatenation(function) ? nullptr : find_total(function);
    return entry != nullptr && are_short(arguments, entry);
}

// A copy of the array.
static bool relabels_array(const ArrayCoerceExpr *cast) {
    return IsA(cast->elemexpr, RelabelType) && !IsA(cast->arg, ArrayCoerceExpr);
}

// Whether a constant of this kind, itself, takes a time that is bounded by how long it is written.
static bool is_cheap(Node *node) {
    switch (nodeTag(node)) {
    case T_RelabelType:
    case T_CollateExpr:
    case T_NullTest:
    case T_BooleanTest:
    case T_ArrayExpr:
    case T_TargetEntry:
        return true;
    case T_ArrayCoerceExpr:
        return relabels_array(castNode(ArrayCoerceExpr, node));
    case T_FuncExpr:
        return is_cheap_call(castNode(FuncExpr, node)->funcid, castNode(FuncExpr, node)->args);
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr: {
        auto *call = reinterpret_cast<OpExpr *>(node);
        set_opfuncid(call);
        return is_cheap_call(call->opfuncid, call->args);
    }
    case T_MinMaxExpr:
        return are_short(castNode(MinMaxExpr, node)->args, nullptr);
    default:
        return false;
    }
}

// ---- what may mean something else later ----------------------------------------------------------------------------

bool is_name(Oid type) {
    const Oid element = get_base_element_type(type), base = getBaseType(OidIsValid(element) ? element : type);
    switch (base) {
    case REGPROCOID:
    case REGPROCEDUREOID:
    case REGOPEROID:
    case REGOPERATOROID:
    case REGCLASSOID:
    case REGTYPEOID:
    case REGCOLLATIONOID:
    case REGCONFIGOID:
    case REGDICTIONARYOID:
    case REGNAMESPACEOID:
    case REGROLEOID:
        return true;
    default:
        return type_is_enum(base);
    }
}

// Whether a computed expression has a name among what it is computed from.
static bool takes_name(Node *node, void *) {
    if (node == nullptr)
        return false;
    return IsA(node, List) ? border::walk_expression(node, takes_name, nullptr) : is_name(exprType(node));
}

// A time is read by the clock where it is 'today', and by a time zone where none is said; a range may be one of times.
static bool is_of_time(Oid type) {
    const Oid element = get_base_element_type(type);
    char category;
    bool preferred;
    get_type_category_preferred(OidIsValid(element) ? element : type, &category, &preferred);
    return category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_RANGE;
}

// Finds a time that is not written in the text as its value would be.
static bool finds_loose_time(Query *query, const char *text) {
    return border::visit_query(query, QTW_IGNORE_JOINALIASES, [=](Node *node, Index) {
        auto *value = reinterpret_cast<Const *>(node);
        if (!IsA(node, Const) || value->constisnull || !is_of_time(value->consttype))
            return border::Step::in;
        Oid output;
        bool is_varlena;
        getTypeOutputInfo(value->consttype, &output, &is_varlena);
        const char *spelled = quote_literal_cstr(OidOutputFunctionCall(output, value->constvalue));
        const bool as_written = value->location >= 0 && strncmp(text + value->location, spelled, strlen(spelled)) == 0;
        return as_written ? border::Step::in : border::Step::stop;
    });
}

// ---- what may be evaluated without a row ---------------------------------------------------------------------------

namespace {
// A walk from the leaves of an expression to its root, each node once.
struct Walk {
    bool operand; // the operand of the CASE around it is constant
    bool all;     // that have been seen on this level are
    bool dear;    // a constant that is not cheap was met, or a number of very many digits
};
} // namespace

static bool is_constant(Node *node, Walk *walk);

static bool see(Node *node, void *context) {
    auto *walk = static_cast<Walk *>(context);
    walk->all = is_constant(node, walk) && walk->all;
    return false;
}

static bool are_constant(Node *node, Walk *walk) {
    const bool outside = walk->all;
    walk->all = true;
    if (IsA(node, Query))
        border::walk_query(castNode(Query, node), see, walk, QTW_IGNORE_JOINALIASES);
    else if (IsA(node, ArrayCoerceExpr)) // not the expression for one element
        see(reinterpret_cast<Node *>(castNode(ArrayCoerceExpr, node)->arg), walk);
    else
        border::walk_expression(node, see, walk);
    const bool all = walk->all;
    walk->all = outside;
    return all;
}

// One that is false ends AND, one that is true OR, whatever the others are.
static bool is_any_constant(const List *conditions, Walk *walk) {
    bool any = false;
    for (auto *part : border::each<Node>(conditions))
        any = is_constant(part, walk) || any;
    return any;
}

// Constant conditions, up to the first that is none, decide which result it is.
static bool is_constant_choice(const CaseExpr *choice, Walk *walk) {
    const bool outside = walk->operand;
    const bool operand = choice->arg != nullptr && is_constant(reinterpret_cast<Node *>(choice->arg), walk);
    walk->operand = operand;
    bool reached = true, possible = false;
    for (auto *arm : border::each<CaseWhen>(choice->args)) {
        reached = is_constant(reinterpret_cast<Node *>(arm->expr), walk) && reached;
        walk->operand = outside;
        possible = (is_constant(reinterpret_cast<Node *>(arm->result), walk) && reached) || possible;
        walk->operand = operand;
    }
    walk->operand = outside;
    return (is_constant(reinterpret_cast<Node *>(choice->defresult), walk) && reached) || possible;
}

// The first one that is there; where it is a constant NULL the next.
static bool is_constant_alternative(const List *alternatives, Walk *walk) {
    bool first = false;
    ListCell *cell;
    foreach (cell, alternatives) {
        const bool constant = is_constant(static_cast<Node *>(lfirst(cell)), walk);
        first = foreach_current_index(cell) == 0 ? constant : first;
    }
    return first;
}

static bool is_value(Node *node) {
    Node *bare = without_labels(node);
    return IsA(bare, Const) || IsA(bare, Param);
}

static bool concatenates(Node *node) {
    return IsA(node, FuncExpr) && is_concatenation(castNode(FuncExpr, node)->funcid);
}

// Tells whether all arguments of concat are constant. The opened call appends each constant to all before it, which is dear.
// Only values beside each other become one text at once.
static bool is_constant_concatenation(const FuncExpr *call, Walk *walk) {
    bool all = true;
    for (auto *argument : border::each<Node>(call->args)) {
        const bool constant = is_constant(argument, walk);
        walk->dear = walk->dear || (constant && !is_value(argument));
        all = constant && all;
    }
    walk->dear = walk->dear || all;
    return all;
}

// Whether the expression may become a constant when its constants are evaluated, for some values of its parameters.
static bool is_constant(Node *node, Walk *walk) {
    check_stack_depth();
    if (node == nullptr)
        return true;
    switch (nodeTag(node)) {
    case T_Const:
        walk->dear = walk->dear || has_many_digits(castNode(Const, node));
        return true;
    case T_Param:
        return castNode(Param, node)->paramkind == PARAM_EXTERN;
    case T_Var:
        return false;
    case T_CaseTestExpr:
        return walk->operand;
    case T_List:
        return are_constant(node, walk);
    case T_Query:
    case T_Aggref:
    case T_SubLink:
        (void)are_constant(node, walk);
        return false;
    case T_BoolExpr:
        return is_any_constant(castNode(BoolExpr, node)->args, walk);
    case T_CaseExpr:
        return is_constant_choice(castNode(CaseExpr, node), walk);
    case T_CoalesceExpr:
        return is_constant_alternative(castNode(CoalesceExpr, node)->args, walk);
    default:
        break;
    }
    if (concatenates(node))
        return is_constant_concatenation(castNode(FuncExpr, node), walk);
    const bool constant = are_constant(node, walk);
    walk->dear = walk->dear || (constant && is_computed(node) &&
                                (!is_cheap(node) || border::walk_expression(node, takes_name, nullptr)));
    return constant;
}

// ---- evaluating ----------------------------------------------------------------------------------------------------

Node *evaluate_constants(Node *node) {
    auto *root = makeNode(PlannerInfo);
    root->glob = makeNode(PlannerGlobal);
    return estimate_expression_value(root, node);
}

static Node *parameter_value(const Param *param, ParamListInfo parameters) {
    ParamExternData *value = &parameters->params[param->paramid - 1];
    int16 length;
    bool by_value;
    get_typlenbyval(param->paramtype, &length, &by_value);
    auto *constant = makeConst(param->paramtype, param->paramtypmod, param->paramcollid, length, value->value,
                               value->isnull, by_value);
    check_length(constant, nullptr, longest_value);
    if (has_many_digits(constant))
        refuse_dear();
    return reinterpret_cast<Node *>(constant);
}

static Node *with_values(Node *expression, ParamListInfo parameters) {
    return border::change(expression, [=](Node *node, Index) -> Node * {
        if (IsA(node, Param) && parameters != nullptr)
            return parameter_value(castNode(Param, node), parameters);
        return IsA(node, Query) ? node : nullptr;
    });
}

// From the innermost outwards.
static Node *with_words(Node *node, void *parameters) {
    if (node == nullptr)
        return nullptr;
    node = border::mutate_expression(node, with_words, parameters);
    Node *spelled = in_other_words(node);
    return spelled != nullptr ? spelled : node;
}

// ---- in the process of whoever asks --------------------------------------------------------------------------------

bool is_computed(Node *node) {
    switch (nodeTag(node)) {
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
    case T_ScalarArrayOpExpr:
    case T_FuncExpr:
    case T_SQLValueFunction:
    case T_BoolExpr:
    case T_NullTest:
    case T_BooleanTest:
    case T_RelabelType:
    case T_CoerceViaIO:
    case T_ArrayCoerceExpr:
    case T_ArrayExpr:
    case T_SubscriptingRef:
    case T_CaseExpr:
    case T_CoalesceExpr:
    case T_MinMaxExpr:
        return true;
    default:
        return false;
    }
}

// A literal with a length is cut or padded to it when it is read.
static Node *without_length(Node *expression) {
    return border::change(expression, [](Node *node, Index) -> Node * {
        if (!IsA(node, Const))
            return IsA(node, Query) ? node : nullptr;
        auto *value = castNode(Const, copied(node));
        check_length(value);
        value->consttypmod = -1;
        return reinterpret_cast<Node *>(value);
    });
}

// AND and OR are opened: what is constant in them says more than true or false does.
static bool is_evaluated(Node *node) {
    Walk walk = {};
    if (!is_computed(node) || IsA(node, BoolExpr))
        return false;
    const bool constant = is_constant(node, &walk);
    if (IsA(node, CaseExpr) && castNode(CaseExpr, node)->arg != nullptr) {
        Walk operand = {};
        return walk.dear && is_constant(reinterpret_cast<Node *>(castNode(CaseExpr, node)->arg), &operand);
    }
    return constant && walk.dear;
}

static Node *value_of(Node *node, void *parameters) {
    return without_length(evaluate_constants(with_values(node, static_cast<ParamListInfo>(parameters))));
}

static Node *evaluate_dear(Node *node, void *parameters) {
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Query))
        return reinterpret_cast<Node *>(
            border::mutate_query(castNode(Query, node), evaluate_dear, parameters, QTW_IGNORE_JOINALIASES));
    if (is_evaluated(node))
        return value_of(node, parameters);
    node = border::mutate_expression(node, evaluate_dear, parameters);
    ListCell *cell;
    foreach (cell, concatenates(node) ? castNode(FuncExpr, node)->args : NIL) {
        Walk walk = {};
        auto *argument = static_cast<Node *>(lfirst(cell));
        if (is_constant(argument, &walk) && !is_value(argument))
            lfirst(cell) = value_of(argument, parameters);
    }
    return node;
}

Leaf *check_own_leaf(Parsed parsed, ParamListInfo parameters, Query **evaluated) {
    parsed.query = with_date_style(parsed.query);
    Walk walk = {};
    (void)is_constant(reinterpret_cast<Node *>(parsed.query), &walk);
    const bool loose = finds_loose_time(parsed.query, parsed.source->p_sourcetext);
    Leaf *leaf = check_leaf(parsed.query, parsed.source);
    *evaluated = nullptr;
    if (!walk.dear && !loose)
        return leaf;
    *evaluated = castNode(Query, evaluate_dear(reinterpret_cast<Node *>(parsed.query), parameters));
    return check_leaf(*evaluated, parsed.source);
}

// ---- in any process ------------------------------------------------------------------------------------------------

static void check_cheap(Node *expression) {
    Walk walk = {};
    (void)is_constant(expression, &walk);
    if (walk.dear)
        refuse_dear();
}

Node *fold_constants(Node *expression, ParamListInfo parameters) {
    check_cheap(expression);
    return evaluate_constants(with_words(with_values(expression, parameters), nullptr));
}

} // namespace dp::query
