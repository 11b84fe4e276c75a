#include "sql/looked_up.hpp"

#include "border/each.hpp"
#include "border/visit.hpp"
#include "catalog/foreign_code.hpp"

namespace dp::sql {

static bool is_somebodys(Oid function, void *) {
    return function >= FirstUnpinnedObjectId;
}

// Tells a type whose input, output and checks are the server's own. XML may come of a function that runs a query.
static bool is_plain(Oid type) {
    const char kind = get_typtype(type);
    return kind == TYPTYPE_ENUM ||
           (type < FirstUnpinnedObjectId && type != XMLOID &&
            (kind == TYPTYPE_BASE || kind == TYPTYPE_RANGE || kind == TYPTYPE_MULTIRANGE));
}

// Tells a table that the caller has made, or in which the planner finds nothing to run.
static bool is_harmless(Oid table) {
    const char *remedy;
    HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
    if (!HeapTupleIsValid(row))
        return false;
    const FormData_pg_class relation = *reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
    ReleaseSysCache(row);
    if (relation.relowner == GetUserId() || table < FirstUnpinnedObjectId)
        return true;
    const bool has_rows = relation.relkind == RELKIND_RELATION || relation.relkind == RELKIND_PARTITIONED_TABLE ||
                          relation.relkind == RELKIND_MATVIEW;
    return has_rows && !relation.relrowsecurity && catalog::foreign_code(table, &remedy) == nullptr;
}

static bool is_harmless_entry(const RangeTblEntry *entry) {
    if (entry->rtekind != RTE_RELATION)
        return entry->rtekind != RTE_TABLEFUNC && entry->rtekind != RTE_NAMEDTUPLESTORE;
    bool harmless = entry->tablesample == nullptr;
    for (Oid table : border::each_oid(find_all_inheritors(entry->relid, AccessShareLock, nullptr)))
        harmless = harmless && is_harmless(table);
    return harmless;
}

// Tells a node that runs nothing, or what check_functions_in_node() sees, and whose values are of plain types.
static bool is_known(Node *node) {
    switch (nodeTag(node)) {
    case T_Query:
        return castNode(Query, node)->commandType == CMD_SELECT && castNode(Query, node)->rowMarks == NIL;
    case T_RangeTblEntry:
        return is_harmless_entry(castNode(RangeTblEntry, node));
    case T_RangeTblFunction:
        return castNode(RangeTblFunction, node)->funccoltypes == NIL;
    case T_List:
    case T_TargetEntry:
    case T_FromExpr:
    case T_JoinExpr:
    case T_RangeTblRef:
    case T_SortGroupClause:
    case T_GroupingSet:
    case T_WindowClause:
    case T_CommonTableExpr:
    case T_SetOperationStmt:
    case T_CaseWhen:
        return true;
    case T_Var:
    case T_Const:
    case T_Param:
    case T_FuncExpr:
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
    case T_ScalarArrayOpExpr:
    case T_Aggref:
    case T_WindowFunc:
    case T_GroupingFunc:
    case T_BoolExpr:
    case T_NullTest:
    case T_BooleanTest:
    case T_CaseExpr:
    case T_CaseTestExpr:
    case T_CoalesceExpr:
    case T_MinMaxExpr:
    case T_ArrayExpr:
    case T_ArrayCoerceExpr:
    case T_SubscriptingRef:
    case T_RelabelType:
    case T_CoerceViaIO:
    case T_CollateExpr:
    case T_SubLink:
    case T_SQLValueFunction:
        return is_plain(exprType(node)) && !check_functions_in_node(node, is_somebodys, nullptr);
    default:
        return false;
    }
}

bool may_be_looked_up(List *nodes) {
    auto *all = reinterpret_cast<Node *>(nodes);
    return !contain_volatile_functions(all) && !border::visit(all, QTW_EXAMINE_RTES_BEFORE, [](Node *node, Index) {
        return !is_known(node) ? border::Step::stop : IsA(node, RangeTblEntry) ? border::Step::past : border::Step::in;
    });
}

} // namespace dp::sql
