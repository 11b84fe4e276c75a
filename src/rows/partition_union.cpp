#include "rows/partition_union.hpp"

#include "border/each.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/foreign_part.hpp"
#include "query/cost.hpp"
#include "query/make.hpp"
#include "rows/built_in_calls.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

// ---- one leaf ------------------------------------------------------------------------------------------------------

namespace {
struct Move {
    Oid table, leaf;
    bool sent; // the leaf is a foreign table
};
} // namespace

// IS TRUE and the like as postgres_fdw knows them: it sends no BooleanTest.
static Node *plain_test(const BooleanTest *test, Node *argument) {
    bool of_false = test->booltesttype == IS_FALSE || test->booltesttype == IS_NOT_FALSE;
    if (test->booltesttype == IS_UNKNOWN || test->booltesttype == IS_NOT_UNKNOWN)
        return null_test(argument, test->booltesttype == IS_UNKNOWN ? IS_NULL : IS_NOT_NULL);
    if (of_false)
        argument = as_node(makeBoolExpr(NOT_EXPR, list_make1(argument), -1));
    const bool then = test->booltesttype == IS_TRUE || test->booltesttype == IS_FALSE;
    return value_where(argument, makeBoolConst(then, false), makeBoolConst(!then, false));
}

// Nor COALESCE: where all but the last are columns it is a CASE that computes little twice. written: before its columns were moved.
static Node *plain_coalesce(const CoalesceExpr *written, const CoalesceExpr *coalesce) {
    Node *choice = static_cast<Node *>(llast(coalesce->args));
    for (int i = list_length(coalesce->args) - 2; i >= 0; i--) {
        if (!IsA(query::without_limit(static_cast<Node *>(list_nth(written->args, i))), Var))
            return nullptr;
        auto *column = static_cast<Node *>(list_nth(coalesce->args, i));
        choice = value_where(null_test(another(column), IS_NOT_NULL), column, choice);
    }
    return choice;
}

// From the table's columns to the leaf's, which may stand in another order.
static Node *moved(Node *node, void *context) {
    const auto *move = static_cast<const Move *>(context);
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Var)) {
        auto *var = copyObject(castNode(Var, node));
        var->varattno = var->varattnosyn = get_attnum(move->leaf, get_attname(move->table, var->varattno, false));
        if (var->varattno == InvalidAttrNumber)
            elog(ERROR, "a partition lacks a column of its table");
        return as_node(var);
    }
    Node *result = border::mutate_expression(node, moved, context);
    if (move->sent && IsA(result, BooleanTest))
        return plain_test(castNode(BooleanTest, result), as_node(castNode(BooleanTest, result)->arg));
    if (move->sent && IsA(result, CoalesceExpr)) {
        Node *plain = plain_coalesce(castNode(CoalesceExpr, node), castNode(CoalesceExpr, result));
        return plain == nullptr ? result : plain;
    }
    return move->sent ? without_ours(result) : result;
}

Query *over_leaf(const Query *query, Oid leaf) {
    Move move = {linitial_node(RangeTblEntry, query->rtable)->relid, leaf, catalog::is_foreign_table(leaf)};
    Query *part = make_aggregation(relation_entry(leaf, false), moved(query->jointree->quals, &move));
    part->targetList = reinterpret_cast<List *>(moved(as_node(query->targetList), &move));
    part->groupClause = static_cast<List *>(copyObject(query->groupClause));
    return part;
}

// ---- which leaves --------------------------------------------------------------------------------------------------

// Whether no row within the leaf's bounds can meet WHERE. Bounds and WHERE are public, and the planner leaves such
// partitions out as well.
static bool is_refuted(const Query *query, Oid leaf) {
    if (query->jointree->quals == nullptr)
        return false;
    Move move = {linitial_node(RangeTblEntry, query->rtable)->relid, leaf, false};
    auto *where = reinterpret_cast<Expr *>(eval_const_expressions(nullptr, moved(query->jointree->quals, &move)));
    Relation table = table_open(leaf, NoLock);
    auto *bounds = static_cast<List *>(copyObject(RelationGetPartitionQual(table)));
    table_close(table, NoLock);
    auto *known = eval_const_expressions(nullptr, as_node(make_ands_explicit(bounds)));
    return predicate_refuted_by(make_ands_implicit(canonicalize_qual(reinterpret_cast<Expr *>(known), true)),
                                make_ands_implicit(canonicalize_qual(where, false)), false);
}

List *leaves_to_read(const Query *query, const List *parts) {
    List *leaves = NIL;
    Oid last = InvalidOid;
    for (Oid oid : border::each_oid(parts)) {
        CHECK_FOR_INTERRUPTS();
        if (get_rel_relkind(oid) == RELKIND_PARTITIONED_TABLE)
            continue;
        // One is read even if WHERE refutes all: it gives the sums of no rows. Rather one of our own.
        if (!OidIsValid(last) || catalog::is_foreign_table(last))
            last = oid;
        if (!is_refuted(query, oid))
            leaves = lappend_oid(leaves, oid);
    }
    return leaves == NIL ? list_make1_oid(last) : leaves;
}

// ---- all leaves ----------------------------------------------------------------------------------------------------

static Var *column_of(const Query *query, int i) {
    return column_like(as_node(list_nth_node(TargetEntry, query->targetList, i)->expr), 1, i + 1);
}

Query *union_all(List *queries) {
    auto *first = linitial_node(Query, queries);
    if (list_length(queries) == 1)
        return first;
    Query *all = make_query();
    for (auto *one : border::each<Query>(queries))
        all->rtable = lappend(all->rtable, subquery_entry(one, "leaf"));
    all->setOperations = query::union_tree(first, list_length(queries));
    for (int i = 0; i < list_length(first->targetList); i++)
        add_target(all, as_node(column_of(first, i)));
    return all;
}

static Node *total_of(Var *column) {
    switch (column->vartype) {
    case INT8OID: // no overflow: as many rows do not exist
        return make_call(F_INT8_NUMERIC, INT8OID, list_make1(make_exact_sum(as_node(column), nullptr)));
    case NUMERICOID:
        return as_node(make_aggregate(F_SUM_NUMERIC, NUMERICOID, list_make1(column), nullptr));
    default:
        elog(ERROR, "an aggregate of an unexpected type");
    }
}

Query *over_leaves(const Query *query, const List *parts) {
    List *queries = NIL;
    for (Oid oid : border::each_oid(leaves_to_read(query, parts)))
        queries = lappend(queries, over_leaf(query, oid));
    Query *all = union_all(queries);
    Query *total = make_aggregation(subquery_entry(all, "leaves"), nullptr);
    for (int i = 0; i < list_length(query->targetList); i++) {
        auto *target = list_nth_node(TargetEntry, query->targetList, i);
        Var *column = column_of(all, i);
        bool is_key = target->ressortgroupref > 0;
        add_target(total, is_key ? as_node(column) : total_of(column));
        llast_node(TargetEntry, total->targetList)->ressortgroupref = target->ressortgroupref;
    }
    total->groupClause = static_cast<List *>(copyObject(query->groupClause));
    total->sortClause = static_cast<List *>(copyObject(query->sortClause));
    return total;
}

} // namespace dp::rows
