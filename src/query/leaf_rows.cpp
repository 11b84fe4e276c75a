#include "query/leaf_rows.hpp"

#include "border/each.hpp"
#include "catalog/relations.hpp"
#include "query/make.hpp"

namespace dp::query {

FuncExpr *call_of(const RangeTblEntry *rows, int column) {
    return castNode(FuncExpr, list_nth_node(RangeTblFunction, rows->functions, column - 1)->funcexpr);
}

static bool is_array(Node *node) {
    node = without_labels(node);
    return IsA(node, Const) || (IsA(node, Param) && castNode(Param, node)->paramkind == PARAM_EXTERN);
}

bool is_passed_rows(const RangeTblEntry *entry) {
    if (entry->rtekind != RTE_FUNCTION || entry->funcordinality || entry->lateral)
        return false;
    for (auto *function : border::each<RangeTblFunction>(entry->functions)) {
        auto *call = reinterpret_cast<FuncExpr *>(function->funcexpr);
        if (!IsA(call, FuncExpr) || call->funcid != F_UNNEST_ANYARRAY || function->funccolcount != 1 ||
            !is_array(static_cast<Node *>(linitial(call->args))))
            return false;
    }
    return list_length(entry->functions) < columns_of_source;
}

int columns_of(Oid relation, const RangeTblEntry *rows) {
    if (rows != nullptr)
        return list_length(rows->functions);
    Relation table = table_open(relation, NoLock);
    const int n = RelationGetNumberOfAttributes(table);
    table_close(table, NoLock);
    return n;
}

Var *column_of(int varno, Oid relation, const RangeTblEntry *rows, AttrNumber column) {
    if (rows != nullptr)
        return column_showing(varno, column, reinterpret_cast<Node *>(call_of(rows, column)));
    Oid type, collation;
    int32 typmod;
    get_atttypetypmodcoll(relation, column, &type, &typmod, &collation);
    return makeVar(varno, column, type, typmod, collation, 0);
}

const char *name_of_column(Oid relation, const RangeTblEntry *rows, AttrNumber column) {
    return rows == nullptr ? get_attname(relation, column, false) : psprintf("c%d", column);
}

const Const *array_of_column(const RangeTblEntry *rows, AttrNumber column) {
    return castNode(Const, linitial(call_of(rows, column)->args));
}

const char *name_of_source(Oid relation, const RangeTblEntry *rows) {
    return rows == nullptr ? catalog::qualified_name(relation) : quote_identifier(rows->eref->aliasname);
}

} // namespace dp::query
