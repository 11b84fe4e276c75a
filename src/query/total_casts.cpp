#include "query/total_casts.hpp"

#include "border/scope.hpp"
#include "query/date_style.hpp"
#include "query/make.hpp"
#include "query/total_rows.hpp"

namespace dp::query {

constexpr char reads_date[] =
    "reads the text in the asker's DateStyle; NULL for what is no date then, and for a time zone's "
    "name, now, today and the like";
static const TotalCast casts[] = {
    {TEXTOID, INT2OID, "int2", "NULL for a text that is no number of the type"},
    {TEXTOID, INT4OID, "int4", "NULL for a text that is no number of the type"},
    {TEXTOID, INT8OID, "int8", "NULL for a text that is no number of the type"},
    {TEXTOID, FLOAT4OID, "float4", "NULL for a text that is no decimal number of the type"},
    {TEXTOID, FLOAT8OID, "float8", "NULL for a text that is no decimal number of the type"},
    {TEXTOID, NUMERICOID, "numeric", "NULL for a text that is no decimal number, or of more than 1000 characters"},
    {TEXTOID, BOOLOID, "bool", "NULL for a text that is neither true nor false"},
    {TEXTOID, DATEOID, "date", reads_date},
    {TEXTOID, TIMESTAMPOID, "timestamp", reads_date},
    {INT2OID, TEXTOID, "text", "prints digits"},
    {INT4OID, TEXTOID, "text", "prints digits"},
    {INT8OID, TEXTOID, "text", "prints digits"},
    {FLOAT4OID, TEXTOID, "text", "prints digits"},
    {FLOAT8OID, TEXTOID, "text", "prints digits"},
    {NUMERICOID, TEXTOID, "text", "prints digits; NULL beyond 10^300, 200 digits or 300 decimals"},
    {DATEOID, TEXTOID, "text", "prints a stored date in the asker's DateStyle"},
    {TIMESTAMPOID, TEXTOID, "text", "prints a stored timestamp in the asker's DateStyle"},
    {UUIDOID, TEXTOID, "text", "prints sixteen bytes"},
    {ANYENUMOID, TEXTOID, "text", "reads a committed label, and only those are stored"},
    {InvalidOid, InvalidOid, nullptr, nullptr},
};

static bool is_date_style(const Const *value) {
    DateSettings style;
    return read_date_style(TextDatumGetCString(value->constvalue), &style);
}

const TotalFunction *entry_of_cast(Oid function) {
    for (const TotalCast *cast = casts; OidIsValid(cast->from); cast++)
        if (cast->styled() && replacement_of(*cast) == function) {
            auto *entry = static_cast<TotalFunction *>(palloc(sizeof(TotalFunction)));
            *entry = TotalFunction{function, Total::as_it_is, second, is_date_style,
                                   Reason{cast->why, Work::flat, cost_of_cast}};
            return entry;
        }
    return nullptr;
}

const TotalCast *total_cast(int index) {
    return OidIsValid(casts[index].from) ? &casts[index] : nullptr;
}

static Oid text_or_type(Oid type) {
    type = getBaseType(type);
    if (type == VARCHAROID || type == BPCHAROID)
        return TEXTOID;
    return type_is_enum(type) ? ANYENUMOID : type;
}

const TotalCast *find_total_cast(Oid from, Oid to) {
    from = text_or_type(from);
    to = to == VARCHAROID || to == BPCHAROID ? TEXTOID : to;
    for (const TotalCast *cast = casts; OidIsValid(cast->from); cast++)
        if (cast->from == from && cast->to == to)
            return cast;
    return nullptr;
}

Oid replacement_of(const TotalCast &cast) {
    const Oid types[] = {cast.from, TEXTOID};
    return border::internal_function(cast.function, cast.styled() ? 2 : 1, types);
}

Node *call_of_cast(const TotalCast &entry, Node *argument, const CoerceViaIO *cast, const char *style) {
    if (entry.from == TEXTOID && exprType(argument) != TEXTOID)
        argument = reinterpret_cast<Node *>(makeRelabelType(reinterpret_cast<Expr *>(argument), TEXTOID, -1,
                                                            DEFAULT_COLLATION_OID, COERCE_IMPLICIT_CAST));
    List *arguments = list_make1(argument);
    if (style != nullptr)
        arguments = lappend(arguments, text_constant(style));
    auto *call = reinterpret_cast<Expr *>(
        makeFuncExpr(replacement_of(entry), entry.to, arguments, entry.to == TEXTOID ? cast->resultcollid : InvalidOid,
                     style != nullptr ? DEFAULT_COLLATION_OID : InvalidOid, COERCE_EXPLICIT_CALL));
    if (cast->resulttype != entry.to)
        call = reinterpret_cast<Expr *>(
            makeRelabelType(call, cast->resulttype, -1, cast->resultcollid, COERCE_IMPLICIT_CAST));
    return reinterpret_cast<Node *>(call);
}

} // namespace dp::query
