#include "rows/built_in_calls.hpp"

#include <cstdlib>

#include "border/each.hpp"
#include "query/total_table.hpp"
#include "rows/canonical.hpp"
#include "rows/nodes.hpp"
#include "rows/rising.hpp"

namespace dp::rows {

// ---- nodes ---------------------------------------------------------------------------------------------------------

Node *operation(Node *a, const char *name, Node *b) {
    const Oid operation =
        OpernameGetOprid(list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup(name))), exprType(a), exprType(b));
    if (!OidIsValid(operation))
        elog(ERROR, "no operator %s of %s and %s", name, format_type_be(exprType(a)), format_type_be(exprType(b)));
    Expr *call = make_opclause(operation, get_op_rettype(operation), false, reinterpret_cast<Expr *>(a),
                               reinterpret_cast<Expr *>(b), InvalidOid, InvalidOid);
    set_opfuncid(castNode(OpExpr, call));
    return as_node(call);
}

Node *cast_by(Oid function, Oid type, Node *value) {
    return as_node(makeFuncExpr(function, type, list_make1(value), exprCollation(value), InvalidOid, COERCE_EXPLICIT_CAST));
}

Node *constant_of(Oid type, Datum value) {
    int16 length;
    bool by_value;
    get_typlenbyval(type, &length, &by_value);
    return as_node(makeConst(type, -1, InvalidOid, length, value, false, by_value));
}

Node *double_constant(double value) {
    return constant_of(FLOAT8OID, Float8GetDatum(value));
}

Node *bigint_constant(int64 value) {
    return constant_of(INT8OID, Int64GetDatum(value));
}

Node *no_bigint() {
    return as_node(makeNullConst(INT8OID, -1, InvalidOid));
}

Node *choice_of(const Case *cases, int n, Node *otherwise) {
    auto *choice = makeNode(CaseExpr);
    choice->casetype = exprType(otherwise);
    choice->casecollid = exprCollation(otherwise);
    choice->defresult = reinterpret_cast<Expr *>(otherwise);
    choice->location = -1;
    for (int i = 0; i < n; i++) {
        if (cases[i].condition == nullptr)
            continue;
        auto *when = makeNode(CaseWhen);
        when->expr = reinterpret_cast<Expr *>(cases[i].condition);
        when->result = reinterpret_cast<Expr *>(cases[i].result);
        when->location = -1;
        choice->args = lappend(choice->args, when);
    }
    return as_node(choice);
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

// Returns how many bytes a value has, read off its header; null: no function says.
static Node *bytes_of(Node *value) {
    const auto count = [&](Oid function, Oid type) {
        return make_call(function, INT4OID, list_make1(relabelled(another(value), type)));
    };
    switch (getBaseType(exprType(value))) {
    case TEXTOID:
    case VARCHAROID:
        return count(F_OCTET_LENGTH_TEXT, TEXTOID);
    case BPCHAROID:
        return count(F_OCTET_LENGTH_BPCHAR, BPCHAROID);
    case BYTEAOID:
        return count(F_OCTET_LENGTH_BYTEA, BYTEAOID);
    default:
        return nullptr;
    }
}

// Bytes in front of the blanks at the end of a char(n).
static Node *bytes_without_blanks(Node *value) {
    return make_call(F_OCTET_LENGTH_TEXT, INT4OID,
                     list_make1(cast_by(F_TEXT_BPCHAR, TEXTOID, relabelled(another(value), BPCHAROID))));
}

static Node *at_most(Node *bytes, int32 most) {
    return operation(bytes, "<=", as_node(query::int_constant(most)));
}

// dp_rdr.up_to_size. Null: nothing says it. A numeric of 131,072 digits and 16,383 decimals, the longest, takes 74 kB.
static Node *up_to_size(Node *value, int32 most) {
    constexpr int32 largest_numeric = 80000;
    if (getBaseType(exprType(value)) == NUMERICOID && most >= largest_numeric)
        return value;
    Node *bytes = bytes_of(value);
    return bytes == nullptr ? nullptr : value_where(at_most(bytes, most), value);
}

// ---- keys ----------------------------------------------------------------------------------------------------------

// A numeric(p, s) has few bytes.
static bool has_precision(Node *value) {
    return exprTypmod(value) >= VARHDRSZ;
}

// Its digits are no more than a double's exponent has room for, before the point and behind it.
static bool fits_double(Node *value) {
    constexpr int32 most = 300;
    return has_precision(value) && (((exprTypmod(value) - VARHDRSZ) >> 16) & 0xffff) <= most &&
           abs(scale_of(exprTypmod(value))) <= most;
}

static Node *trimmed_numeric(Node *key, int32 typmod) {
    const int scale = scale_of(typmod);
    const auto trimmed = [&] { return make_call(F_TRIM_SCALE, NUMERICOID, list_make1(another(key))); };
    Node *decimals = make_call(F_SCALE, INT4OID, list_make1(trimmed())); // of NaN and infinities NULL
    return value_where(operation(decimals, "<", as_node(query::int_constant(scale))),
                       make_call(F_ROUND_NUMERIC_INT4, NUMERICOID, list_make2(another(key), query::int_constant(scale))),
                       trimmed());
}

// dp_rdr.canonical. Null: nothing says it.
static Node *canonical_in_sql(Node *key, int32 typmod) {
    const Oid type = exprType(key);
    switch (type) {
    case TEXTOID:
    case VARCHAROID:
    case BYTEAOID:
        return value_where(at_most(bytes_of(key), longest_key), key);
    case BPCHAROID: // one without a length, or a long one, would have to be padded anew
        return typmod < VARHDRSZ || typmod - VARHDRSZ > longest_key
                   ? nullptr
                   : value_where(at_most(bytes_without_blanks(key), longest_key), key);
    case NUMERICOID:
        return typmod < VARHDRSZ ? nullptr : trimmed_numeric(key, typmod);
    case FLOAT4OID:
    case FLOAT8OID: {
        Node *zero = type == FLOAT8OID ? double_constant(0) : constant_of(FLOAT4OID, Float4GetDatum(0));
        return value_where(operation(another(key), "=", zero), another(zero), key);
    }
    default:
        return nullptr;
    }
}

// dp_rdr.is_short. Null: nothing says it.
static Node *is_short_in_sql(Node *key) {
    const Oid type = getBaseType(exprType(key));
    if (type == BPCHAROID)
        return at_most(bytes_without_blanks(key), longest_key);
    if (type == NUMERICOID && has_precision(key))
        return makeBoolConst(true, false);
    Node *bytes = bytes_of(key);
    return bytes == nullptr ? nullptr : at_most(bytes, longest_key);
}

// ---- arithmetic of integers ----------------------------------------------------------------------------------------

// Widens an integer: to bigint, which has room for what two of its smaller types make, or to numeric.
static Node *widened(Node *value, bool numeric) {
    const Oid type = exprType(value);
    if (numeric)
        return cast_by(type == INT2OID ? F_NUMERIC_INT2 : type == INT4OID ? F_NUMERIC_INT4 : F_NUMERIC_INT8, NUMERICOID, another(value));
    return type == INT8OID ? another(value) : cast_by(type == INT2OID ? F_INT8_INT2 : F_INT8_INT4, INT8OID, another(value));
}

static Node *wide_constant(int64 value, bool numeric) {
    return numeric ? constant_of(NUMERICOID, NumericGetDatum(int64_to_numeric(value))) : bigint_constant(value);
}

// Returns the exact result; null: it is none of these.
static Node *exact_result(query::Rule rule, Node *a, Node *b, bool numeric) {
    switch (rule) {
    case query::Rule::plus:
        return operation(a, "+", b);
    case query::Rule::minus:
        return operation(a, "-", b);
    case query::Rule::times:
        return operation(a, "*", b);
    case query::Rule::over:
        return numeric ? make_call(F_DIV, NUMERICOID, list_make2(a, b)) : operation(a, "/", b);
    case query::Rule::modulo:
        return operation(a, "%", b);
    case query::Rule::negated:
        return operation(wide_constant(0, numeric), "-", a);
    case query::Rule::absolute:
        return make_call(numeric ? F_ABS_NUMERIC : F_ABS_INT8, exprType(a), list_make1(a));
    case query::Rule::cast:
        return a;
    default:
        return nullptr;
    }
}

// The function of pg_catalog that one of ours replaces.
static query::Rule rule_of_replaced(Oid function) {
    Oid *types;
    int n;
    (void)get_func_signature(function, &types, &n);
    List *name = list_make2(makeString(pstrdup("pg_catalog")), makeString(get_func_name(function)));
    return query::rule_of(LookupFuncName(name, n, types, true));
}

// Our functions of integers, which give NULL outside the type and for a divisor of 0. Null: it is none, or too large, as each is written
// three times.
static Node *integer_in_sql(const FuncExpr *call) {
    constexpr std::size_t longest = 20000;
    const Oid type = call->funcresulttype;
    for (auto *argument : border::each<Node>(call->args))
        if (!is_integer(exprType(argument)))
            return nullptr;
    if (!is_integer(type) || strlen(nodeToString(call->args)) > longest)
        return nullptr;
    const bool numeric = type == INT8OID;
    const query::Rule rule = rule_of_replaced(call->funcid);
    const bool divides = rule == query::Rule::over || rule == query::Rule::modulo;
    Node *last = widened(static_cast<Node *>(llast(call->args)), numeric);
    Node *exact = exact_result(rule, widened(static_cast<Node *>(linitial(call->args)), numeric), last, numeric);
    if (exact == nullptr)
        return nullptr;
    const int64 most = type == INT2OID ? PG_INT16_MAX : type == INT4OID ? PG_INT32_MAX : PG_INT64_MAX;
    Node *none = as_node(makeNullConst(type, -1, InvalidOid));
    const Case cases[] = {{divides ? operation(another(last), "=", wide_constant(0, numeric)) : nullptr, none},
                          {operation(another(exact), "<", wide_constant(-most - 1, numeric)), another(none)},
                          {operation(another(exact), ">", wide_constant(most, numeric)), another(none)}};
    return choice_of(cases, cast_by(numeric ? F_INT8_NUMERIC : type == INT2OID ? F_INT2_INT8 : F_INT4_INT8, type, exact));
}

Node *without_ours(Node *node) {
    if (!IsA(node, FuncExpr) || castNode(FuncExpr, node)->funcid < FirstUnpinnedObjectId)
        return node;
    const auto *call = castNode(FuncExpr, node);
    auto *value = static_cast<Node *>(linitial(call->args));
    const auto number = [&] { return DatumGetInt32(lsecond_node(Const, call->args)->constvalue); };
    Node *said = nullptr;
    if (call->funcid == internal_function("canonical", {ANYELEMENTOID, INT4OID}))
        said = canonical_in_sql(value, number());
    else if (call->funcid == internal_function("is_short", {ANYELEMENTOID}))
        said = is_short_in_sql(value);
    else if (call->funcid == internal_function("up_to_size", {ANYELEMENTOID, INT4OID}))
        said = up_to_size(value, number());
    else if (call->funcid == internal_function("float8", {NUMERICOID}) && fits_double(value))
        said = cast_by(F_FLOAT8_NUMERIC, FLOAT8OID, value);
    else
        said = integer_in_sql(call);
    return said == nullptr ? node : said;
}

} // namespace dp::rows
