#include "query/styled_casts.hpp"

#include "border/walk.hpp"
#include "query/expand_concat.hpp"
#include "query/make.hpp"
#include "query/total_casts.hpp"
#include "query/total_table.hpp"

namespace dp::query {

static bool is_of_dates(Node *node) {
    const Oid type = getBaseType(exprType(node));
    return (type == DATEOID || type == TIMESTAMPOID) && contains_column(node);
}

// Reading compares nothing: the collation of a column, which may be one that no function takes, is left aside.
static Node *without_collation(Node *text) {
    if (!OidIsValid(exprCollation(text)) || exprCollation(text) == DEFAULT_COLLATION_OID)
        return text;
    return collated(text, DEFAULT_COLLATION_OID);
}

static Node *styled(const CoerceViaIO *cast, const char *style) {
    auto *argument = reinterpret_cast<Node *>(cast->arg);
    const TotalCast *entry = find_total_cast(exprType(argument), cast->resulttype);
    return entry == nullptr || !entry->styled() ? nullptr
                                                : call_of_cast(*entry, without_collation(argument), cast, style);
}

// concat() and || write dates as texts themselves. Where they had no text there was no collation.
static void style_arguments(List *arguments, Oid *collation, const char *style) {
    ListCell *cell;
    foreach (cell, arguments)
        if (is_of_dates(static_cast<Node *>(lfirst(cell)))) {
            auto *cast = makeNode(CoerceViaIO);
            cast->arg = static_cast<Expr *>(lfirst(cell));
            cast->resulttype = TEXTOID;
            cast->resultcollid = DEFAULT_COLLATION_OID;
            lfirst(cell) = styled(cast, style);
            *collation = OidIsValid(*collation) ? *collation : DEFAULT_COLLATION_OID;
        }
}

static Node *with_style(Node *node, void *context) {
    const auto *style = static_cast<const char *>(context);
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Query))
        return reinterpret_cast<Node *>(border::mutate_query(castNode(Query, node), with_style, context, 0));
    node = border::mutate_expression(node, with_style, context);
    if (IsA(node, FuncExpr)) {
        auto *call = castNode(FuncExpr, node);
        if (is_concatenation(call->funcid))
            style_arguments(call->args, &call->inputcollid, style);
    } else if (IsA(node, OpExpr)) {
        auto *call = castNode(OpExpr, node);
        set_opfuncid(call);
        if (call->opfuncid == F_TEXTANYCAT || call->opfuncid == F_ANYTEXTCAT)
            style_arguments(call->args, &call->inputcollid, style);
    } else if (IsA(node, CoerceViaIO)) {
        auto *cast = castNode(CoerceViaIO, node);
        Node *call = contains_column(reinterpret_cast<Node *>(cast->arg)) ? styled(cast, style) : nullptr;
        return call != nullptr ? call : node;
    }
    return node;
}

Query *with_date_style(Query *query) {
    const char *style = GetConfigOption("DateStyle", false, false);
    return castNode(Query, with_style(reinterpret_cast<Node *>(query), pstrdup(style)));
}

} // namespace dp::query
