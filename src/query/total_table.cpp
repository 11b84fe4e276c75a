#include "query/total_table.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"
#include "border/visit.hpp"
#include "query/hints.hpp"
#include "query/total_casts.hpp"
#include "query/total_rows.hpp"

namespace dp::query {

// ---- the tables ----------------------------------------------------------------------------------------------------

// Tells why a function cannot fail on any stored value, and what it may cost there: nanoseconds of a call, and of a byte of each
// value whose size the rows decide. Measured on values of a megabyte, with room for a slower machine (test/bench).
constexpr Reason no_integer = {"NULL outside the integer type and for a zero divisor", Work::flat, 500};
constexpr Reason no_float = {"NULL for overflow, underflow and a zero divisor", Work::flat, 500};
constexpr Reason no_numeric = {"NULL for operands beyond 10^300, of more than 200 digits or 300 decimals", Work::flat,
                               4000};
constexpr Reason no_quotient = {
    "NULL for a zero divisor, and for operands beyond 10^300, of more than 200 digits or 300 decimals", Work::flat,
    20000};
constexpr Reason sign_of_float = {"changes or reads the sign bit"};
constexpr Reason sign_of_numeric = {"changes or reads the sign", Work::bytes, 100, 3};
constexpr Reason whole_float = {"IEEE rounding, also of NaN and infinities"};
constexpr Reason widening = {"every value of the type has one in the wider type", Work::flat, 500};
constexpr Reason no_bucket = {
    "NULL for NaN, for bounds that are equal or infinite, and for a count below 1 or above 1000000", Work::flat, 20000};

static bool is_scale(const Const *value) {
    int32 scale = DatumGetInt32(value->constvalue);
    return scale >= -1000 && scale <= 1000;
}

static bool is_numeric_typmod(const Const *value) {
    int32 typmod = DatumGetInt32(value->constvalue) - VARHDRSZ;
    int precision = (typmod >> 16) & 0xffff;
    return typmod < 0 || (precision >= 1 && precision <= NUMERIC_MAX_PRECISION);
}

// Ends of buckets: an array with a NULL, or of several dimensions, is an error, and comparing other types may be one.
static bool is_of_buckets(const Const *value) {
    constexpr int most = 1000;
    static const Oid types[] = {INT2OID,    INT4OID, INT8OID,      FLOAT4OID,      FLOAT8OID,
                                NUMERICOID, DATEOID, TIMESTAMPOID, TIMESTAMPTZOID, TIMEOID};
    ArrayType *ends = DatumGetArrayTypeP(value->constvalue);
    if (ARR_NDIM(ends) != 1 || ARR_DIMS(ends)[0] > most || array_contains_nulls(ends))
        return false;
    for (Oid type : types)
        if (type == ARR_ELEMTYPE(ends))
            return true;
    return false;
}

// The six comparisons of a type, or of two, with the function of their btree operator class; the four that have an order.
#define FOUR(type, other) F_##type##LT##other, F_##type##LE##other, F_##type##GT##other, F_##type##GE##other
#define SIX(type, other) FOUR(type, other), F_##type##EQ##other, F_##type##NE##other
#define SEVEN(type) SIX(type, ), F_##type##CMP
#define BTREE(type) SIX(type, ), F_BT##type##CMP
// An operator of integers and of floats, for each pair of their types.
#define INTEGERS(name)                                                                                                 \
    F_INT2##name, F_INT4##name, F_INT8##name, F_INT24##name, F_INT42##name, F_INT28##name, F_INT82##name,              \
        F_INT48##name, F_INT84##name
#define FLOATS(name) F_FLOAT4##name, F_FLOAT8##name, F_FLOAT48##name, F_FLOAT84##name

// Named one by one, from the source of PostgreSQL 15: nothing here because a catalog says so. Left out although pg_proc calls
// them leakproof: circle_* and lseg_* (areas and lengths overflow with an error), *_larger and *_smaller (nobody writes
// them), and comparisons of cid, xid, xid8, tid, pg_lsn and oidvector (nobody stores them).
static constexpr Row table[] = {
    // ---- comparisons
    total<SEVEN(NUMERIC_)>(
        Reason{"compares sign, weight and digits; NaN and infinities have an order", Work::bytes, 100, 3}),
    total<SEVEN(ENUM_)>(
        Reason{"compares oids, or the sort positions of committed labels, and only those are stored", Work::flat, 200}),
    total<SIX(DATE_, _TIMESTAMP), SIX(DATE_, _TIMESTAMPTZ), SIX(TIMESTAMP_, _DATE), SIX(TIMESTAMPTZ_, _DATE),
          SIX(TIMESTAMP_, _TIMESTAMPTZ), SIX(TIMESTAMPTZ_, _TIMESTAMP)>(
        Reason{"what lies outside the other type's range compares as infinite", Work::flat, 1000}),
    total<SEVEN(BIT), SEVEN(VARBIT), SEVEN(BYTEA), FOUR(BPCHAR_PATTERN_, ), F_BTBPCHAR_PATTERN_CMP, F_BPCHAREQ,
          F_BPCHARNE, FOUR(TEXT_PATTERN_, ), F_BTTEXT_PATTERN_CMP, F_TEXTEQ, F_TEXTNE, F_TEXTEQNAME, F_TEXTNENAME,
          F_NAMEEQ, F_NAMENE, F_NAMEEQTEXT, F_NAMENETEXT, F_STARTS_WITH>(
        Reason{"compares bytes, under deterministic collations only", Work::bytes, 30, 1}),
    total<BTREE(BOOL), BTREE(CHAR), BTREE(INT2), BTREE(INT4), BTREE(INT8), BTREE(INT24), BTREE(INT42), BTREE(INT28),
          BTREE(INT82), BTREE(INT48), BTREE(INT84), BTREE(OID), SEVEN(CASH_), SEVEN(DATE_), SEVEN(MACADDR_),
          SEVEN(MACADDR8_), SEVEN(TIME_), SEVEN(TIMESTAMP_), SEVEN(TIMESTAMPTZ_), SEVEN(TIMETZ_), SEVEN(UUID_)>(
        Reason{"compares values of a fixed size, bit by bit or by their parts"}),
    total<FOUR(BPCHAR, ), F_BPCHARCMP, FOUR(NAME, ), F_BTNAMECMP, FOUR(NAME, TEXT), F_BTNAMETEXTCMP, FOUR(TEXT_, ),
          F_BTTEXTCMP, FOUR(TEXT, NAME), F_BTTEXTNAMECMP>(Reason{
        "compares bytes under C, else in the order of a deterministic collation, opened before", Work::order, 100, 1}),
    total<BTREE(FLOAT4), BTREE(FLOAT8), BTREE(FLOAT48), BTREE(FLOAT84)>(Reason{"compares numbers; NaN has an order"}),
    total<SEVEN(INTERVAL_)>(Reason{"compares 128-bit sums of their parts"}),
    total<SEVEN(NETWORK_)>(Reason{"compares families, bits and lengths of at most 18 bytes"}),
    // ---- numbers
    replaced<INTEGERS(PL)>(no_integer, Rule::plus),
    replaced<INTEGERS(MI)>(no_integer, Rule::minus),
    replaced<INTEGERS(MUL)>(no_integer, Rule::times),
    replaced<INTEGERS(DIV)>(no_integer, Rule::over),
    replaced<F_INT2MOD, F_INT4MOD, F_INT8MOD>(no_integer, Rule::modulo),
    replaced<F_MOD_INT2_INT2, F_MOD_INT4_INT4, F_MOD_INT8_INT8>(no_integer),
    replaced<F_INT2UM, F_INT4UM, F_INT8UM>(no_integer, Rule::negated),
    replaced<F_ABS_INT2, F_ABS_INT4, F_ABS_INT8>(no_integer, Rule::absolute),
    replaced<F_INT2_INT4, F_INT2_INT8, F_INT4_INT8>(no_integer, Rule::cast),
    replaced<F_INT2_FLOAT4, F_INT4_FLOAT4, F_INT8_FLOAT4, F_INT2_FLOAT8, F_INT4_FLOAT8, F_INT8_FLOAT8, F_INT2_NUMERIC,
             F_INT4_NUMERIC, F_INT8_NUMERIC>(no_integer, Rule::round),
    total<F_INT2AND, F_INT2OR, F_INT2XOR, F_INT2NOT, F_INT4AND, F_INT4OR, F_INT4XOR, F_INT4NOT, F_INT8AND, F_INT8OR,
          F_INT8XOR, F_INT8NOT>(Reason{"one machine instruction on any bits"}),
    replaced<FLOATS(PL)>(no_float, Rule::plus),
    replaced<FLOATS(MI)>(no_float, Rule::minus),
    replaced<FLOATS(MUL)>(no_float, Rule::times),
    replaced<FLOATS(DIV)>(no_float, Rule::over),
    replaced<F_FLOAT4_FLOAT8, F_FLOAT4_NUMERIC, F_FLOAT8_NUMERIC>(no_float, Rule::cast),
    total<F_FLOAT4UM, F_FLOAT8UM>(sign_of_float, Rule::negated),
    total<F_ABS_FLOAT4, F_ABS_FLOAT8>(sign_of_float, Rule::absolute),
    total<F_SIGN_FLOAT8>(sign_of_float, Rule::sign),
    total<F_ROUND_FLOAT8>(whole_float, Rule::round),
    total<F_TRUNC_FLOAT8>(whole_float, Rule::trunc),
    total<F_FLOOR_FLOAT8>(whole_float, Rule::floor),
    total<F_CEIL_FLOAT8, F_CEILING_FLOAT8>(whole_float, Rule::ceiling),
    replaced<F_NUMERIC_ADD>(no_numeric, Rule::plus),
    replaced<F_NUMERIC_SUB>(no_numeric, Rule::minus),
    replaced<F_NUMERIC_MUL>(no_numeric, Rule::times),
    replaced<F_NUMERIC_DIV>(no_quotient, Rule::over),
    replaced<F_NUMERIC_MOD>(no_quotient, Rule::modulo),
    replaced<F_MOD_NUMERIC_NUMERIC>(no_quotient),
    replaced<F_FLOOR_NUMERIC>(no_numeric, Rule::floor),
    replaced<F_CEIL_NUMERIC, F_CEILING_NUMERIC>(no_numeric, Rule::ceiling),
    replaced<F_ROUND_NUMERIC_INT4>(no_numeric, Rule::round_to).with(second, is_scale),
    replaced<F_TRUNC_NUMERIC_INT4>(no_numeric, Rule::trunc_to).with(second, is_scale),
    replaced<F_NUMERIC_NUMERIC_INT4>(Reason{"NULL beyond the precision", Work::flat, 4000}, Rule::typmod)
        .with(second, is_numeric_typmod),
    total<F_NUMERIC_UMINUS>(sign_of_numeric, Rule::negated),
    total<F_ABS_NUMERIC>(sign_of_numeric, Rule::absolute),
    total<F_SIGN_NUMERIC>(sign_of_numeric, Rule::sign),
    inlined<F_ROUND_NUMERIC>(Reason{"opens into round(numeric, integer)"}),
    inlined<F_TRUNC_NUMERIC>(Reason{"opens into trunc(numeric, integer)"}),
    replaced<F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4, F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4>(no_bucket,
                                                                                                    Rule::bucket),
    total<F_WIDTH_BUCKET_ANYCOMPATIBLE_ANYCOMPATIBLEARRAY>(
        Reason{"the place among at most 1000 constants of a type whose comparison cannot fail", Work::bytes, 20000, 3},
        Rule::place)
        .with(second, is_of_buckets),
    total<F_INT4_BOOL, F_INT4_INT2, F_INT8_INT4, F_INT8_INT2, F_NUMERIC_INT2, F_NUMERIC_INT4, F_NUMERIC_INT8,
          F_FLOAT8_INT2, F_FLOAT8_INT4, F_FLOAT8_INT8>(widening, Rule::kept),
    total<F_FLOAT4_INT2, F_FLOAT4_INT4, F_FLOAT4_INT8, F_FLOAT8_FLOAT4>(widening, Rule::cast),
    total<F_NUMERIC_FLOAT4>(widening, Rule::digits_of_float4),
    total<F_NUMERIC_FLOAT8>(widening, Rule::digits_of_float8),
    total<F_BOOL_INT4, F_INT8_OID, F_INTERVAL_TIME, F_MACADDR8>(widening),
};

// Returns the functions of the table one behind the other, to an entry of none.
static const TotalFunction *all_functions() {
    static TotalFunction all[700];
    if (OidIsValid(all[0].function))
        return all;
    TotalFunction *next = all;
    for (const Rows &rows : {rows_of(table), rows_of_dates(), rows_of_texts()})
        for (const Row *row = rows.rows; row < rows.rows + rows.n; row++)
            for (const Oid *function = row->functions; OidIsValid(*function); function++) {
                Assert(next < all + lengthof(all) - 1);
                *next = row->each;
                next++->function = *function;
            }
    return all;
}

const TotalFunction *total_function(int index) {
    const TotalFunction *entry = all_functions() + index;
    return OidIsValid(entry->function) ? entry : nullptr;
}

const TotalFunction *find_total(Oid function) {
    if (function >= FirstUnpinnedObjectId)
        return entry_of_cast(function);
    for (const TotalFunction *entry = all_functions(); OidIsValid(entry->function); entry++)
        if (entry->function == function)
            return entry;
    return nullptr;
}

Rule rule_of(Oid function) {
    const TotalFunction *entry = function < FirstUnpinnedObjectId ? find_total(function) : nullptr;
    return entry == nullptr ? Rule::none : entry->rule;
}

Called called(Node *node) {
    if (IsA(node, FuncExpr))
        return {castNode(FuncExpr, node)->funcid, castNode(FuncExpr, node)->args};
    if (!IsA(node, OpExpr))
        return {InvalidOid, NIL};
    set_opfuncid(castNode(OpExpr, node));
    return {castNode(OpExpr, node)->opfuncid, castNode(OpExpr, node)->args};
}

Rule rule_of(Node *call) {
    const Oid function = called(call).function;
    return OidIsValid(function) ? rule_of(function) : Rule::none;
}

// ---- looking up ----------------------------------------------------------------------------------------------------

static bool is_builtin(Oid function) {
    return function < FirstUnpinnedObjectId;
}

Oid replacement_of(Oid function) {
    Oid *types;
    int nargs;
    get_func_signature(function, &types, &nargs);
    return border::internal_function(get_func_name(function), nargs, types);
}

// Tells a function whose result can be larger than any multiple of its arguments: a path of jsonpath, an array filled.
static bool may_explode(Oid function) {
    static const Oid types[] = {JSONOID, JSONBOID, XMLOID, TSVECTOROID, TSQUERYOID, JSONPATHOID, RECORDOID};
    if (function == F_ARRAY_FILL_ANYELEMENT__INT4 || function == F_ARRAY_FILL_ANYELEMENT__INT4__INT4 ||
        function == F_ARRAY_REPLACE)
        return true;
    Oid *arguments;
    int n;
    Oid result = get_func_signature(function, &arguments, &n);
    for (Oid type : types) {
        if (result == type)
            return true;
        for (int i = 0; i < n; i++)
            if (arguments[i] == type)
                return true;
    }
    return false;
}

// Evaluated once, as the caller, before the charge. The stable ones that matter: clock, calendar and time zone.
bool is_harmless_on_constants(Oid function) {
    static const Oid stable[] = {F_NOW, F_TRANSACTION_TIMESTAMP, F_STATEMENT_TIMESTAMP};
    if (!is_builtin(function))
        return false;
    for (Oid candidate : stable)
        if (candidate == function)
            return true;
    char kind = func_volatile(function);
    return (kind == PROVOLATILE_IMMUTABLE && !may_explode(function)) ||
           (kind == PROVOLATILE_STABLE && find_total(function) != nullptr);
}

bool contains_column(Node *expression) {
    return border::visit(expression, [](Node *node, Index) {
        if (IsA(node, Var) || IsA(node, CaseTestExpr))
            return border::Step::stop;
        if (!IsA(node, ArrayCoerceExpr))
            return IsA(node, Query) ? border::Step::past : border::Step::in;
        // The placeholder for an element of an array is no column of its own.
        return contains_column(reinterpret_cast<Node *>(castNode(ArrayCoerceExpr, node)->arg)) ? border::Step::stop
                                                                                               : border::Step::past;
    });
}

// Case mapping reads characters through the C library, which may know fewer than the database stores.
const char *collation_problem(const TotalFunction *entry, Oid collation) {
    const bool maps_cases = entry->why.work == Work::cases || entry->why.work == Work::ilike;
    if (maps_cases && GetDatabaseEncoding() != PG_UTF8 && pg_database_encoding_max_length() > 1)
        return "case mapping in this database's encoding";
    return nullptr;
}

void open_collation(Oid collation, ParseState *source, int location) {
    if (!OidIsValid(collation))
        return;
    refuse_if(!get_collation_isdeterministic(collation), "a nondeterministic collation", "Add COLLATE \"C\".", source,
              location);
    border::open_locale(collation);
}

void check_constant(const TotalFunction *entry, int argument, const Const *value, ParseState *source) {
    if (entry->permits(argument, value))
        return;
    bool pattern = entry->why.work == Work::like || entry->why.work == Work::ilike;
    if (pattern && toast_raw_datum_size(value->constvalue) > longest_pattern + VARHDRSZ)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a pattern in a query on a restricted view is longer than %d bytes", longest_pattern),
                        errhint("Use a shorter pattern, or several with AND."),
                        source ? parser_errposition(source, value->location) : 0));
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("argument %d of %s has a value that is not supported in a query on a restricted view",
                           argument + 1, get_func_name(entry->function)),
                    errhint("%s", total_hint), source ? parser_errposition(source, value->location) : 0));
}

void check_length(const Const *value, ParseState *source, int most_of_array) {
    const int most = OidIsValid(get_element_type(value->consttype)) ? most_of_array : longest_value;
    if (!value->constisnull && value->constlen == -1 && toast_raw_datum_size(value->constvalue) > most + VARHDRSZ)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a constant in a query on a restricted view is longer than %d bytes", longest_value),
                        errhint("Constants, parameters and what is computed from them may have 64 kB each."),
                        source ? parser_errposition(source, value->location) : 0));
}

} // namespace dp::query
