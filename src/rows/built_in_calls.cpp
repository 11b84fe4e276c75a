#include "rows/built_in_calls.hpp"

#include <cstdlib>

#include "rows/canonical.hpp"
#include "rows/nodes.hpp"

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
    return said == nullptr ? node : said;
}

} // namespace dp::rows
