#include "query/branches.hpp"

#include "border/each.hpp"
#include "query/from.hpp"
#include "query/hints.hpp"
#include "query/limits.hpp"
#include "query/make.hpp"

extern "C" {
#include <parser/parse_coerce.h>
}

namespace dp::query {

static const SetOperationStmt *operation_of(const Query *query) {
    return castNode(SetOperationStmt, query->setOperations);
}

// ---- of a statement ------------------------------------------------------------------------------------------------

static bool is_recursive(const Query *query) {
    for (auto *part : border::each<RangeTblEntry>(query->rtable))
        for (auto *entry : border::each<RangeTblEntry>(part->rtekind == RTE_SUBQUERY ? part->subquery->rtable : NIL))
            if (entry->rtekind == RTE_CTE && entry->self_reference)
                return true;
    return false;
}

// Makes every UNION of a tree keep all rows. False: there is another operation.
static bool keep_all(Node *tree) {
    check_stack_depth();
    if (IsA(tree, RangeTblRef))
        return true;
    auto *both = castNode(SetOperationStmt, tree);
    both->all = true;
    both->groupClauses = NIL;
    return both->op == SETOP_UNION && keep_all(both->larg) && keep_all(both->rarg);
}

[[noreturn]] static void refuse_operation(const SetOperationStmt *both, ParseState *source) {
    if (both->op == SETOP_UNION)
        refuse_part("UNION below UNION ALL of rows",
                    "Write it as a sub-SELECT of its own: SELECT ... FROM (SELECT ... UNION SELECT ...) s UNION ALL "
                    "SELECT ...",
                    source, -1);
    refuse_part(both->op == SETOP_INTERSECT ? "INTERSECT of these rows" : "EXCEPT of these rows",
                psprintf("Show the columns that name a person in both SELECTs, without ALL; or write WHERE %s (SELECT FROM "
                         "the other view o WHERE o.column = v.column), with an equality of each column that is compared.",
                         both->op == SETOP_INTERSECT ? "EXISTS" : "NOT EXISTS"),
                source, -1);
}

// Marks the rows of one side by a column.
static bool mark_rows(Node *tree, const Query *query, bool mark) {
    check_stack_depth();
    if (IsA(tree, RangeTblRef)) {
        auto *part = rt_fetch(castNode(RangeTblRef, tree)->rtindex, query->rtable)->subquery;
        const auto *last = part->targetList == NIL ? nullptr : llast_node(TargetEntry, part->targetList);
        if (part->setOperations != nullptr || (last != nullptr && last->resjunk))
            return false;
        (void)add_target(part, makeBoolConst(mark, false), "side");
        return true;
    }
    return mark_rows(castNode(SetOperationStmt, tree)->larg, query, mark) &&
           mark_rows(castNode(SetOperationStmt, tree)->rarg, query, mark);
}

static Node *of_side(Oid function, int column) {
    auto *call = makeNode(Aggref);
    call->aggfnoid = function;
    call->aggtype = BOOLOID;
    call->aggtranstype = InvalidOid;
    call->aggargtypes = list_make1_oid(BOOLOID);
    call->args = list_make1(makeTargetEntry(
        reinterpret_cast<Expr *>(makeVar(1, static_cast<AttrNumber>(column), BOOLOID, -1, InvalidOid, 0)), 1, nullptr, false));
    call->aggkind = AGGKIND_NORMAL;
    call->aggsplit = AGGSPLIT_SIMPLE;
    call->aggno = call->aggtransno = call->location = -1;
    return reinterpret_cast<Node *>(call);
}

// Groups by all columns of what stands below. Returns how many there are.
static int group_all(Query *query, const List *groupings, Query *rows) {
    Index last = 0;
    for (auto *target : border::each<TargetEntry>(query->targetList))
        last = Max(last, target->ressortgroupref);
    ListCell *clause = list_head(groupings);
    for (auto *target : border::each<TargetEntry>(query->targetList)) {
        if (target->resjunk || clause == nullptr)
            continue;
        auto *column = copied(reinterpret_cast<Node *>(target->expr));
        (void)add_target(rows, column, target->resname);
        target->expr = reinterpret_cast<Expr *>(column_showing(1, target->resno, column));
        target->ressortgroupref = target->ressortgroupref == 0 ? ++last : target->ressortgroupref;
        auto *grouping = copyObject(lfirst_node(SortGroupClause, clause));
        grouping->tleSortGroupRef = target->ressortgroupref;
        query->groupClause = lappend(query->groupClause, grouping);
        clause = lnext(groupings, clause);
    }
    return list_length(rows->targetList);
}

void group_union(const Level *level, ParseState *source) {
    Query *query = level->query;
    if (query->commandType != CMD_SELECT || query->setOperations == nullptr || operation_of(query)->all ||
        is_recursive(query) || !reads_rows(level))
        return;
    auto *tree = castNode(SetOperationStmt, copied(query->setOperations));
    const SetOperation operation = tree->op;
    tree->op = SETOP_UNION;
    if (!keep_all(reinterpret_cast<Node *>(tree)) ||
        (operation != SETOP_UNION && (level->outer == nullptr || !mark_rows(tree->larg, query, true) || !mark_rows(tree->rarg, query, false))))
        return; // branches_of() refuses it, or deny()
    const List *groupings = operation_of(query)->groupClauses;
    Query *rows = make_select();
    rows->rtable = query->rtable;
    rows->cteList = query->cteList;
    rows->setOperations = reinterpret_cast<Node *>(tree);
    rows->hasRowSecurity = query->hasRowSecurity;
    IncrementVarSublevelsUp(reinterpret_cast<Node *>(rows), 1, 1);
    query->rtable = query->cteList = query->groupClause = NIL;
    query->jointree = makeFromExpr(NIL, nullptr);
    const int n = group_all(query, groupings, rows);
    if (operation != SETOP_UNION) {
        tree->colTypes = lappend_oid(tree->colTypes, BOOLOID);
        (void)add_target(rows, reinterpret_cast<Node *>(makeVar(1, static_cast<AttrNumber>(n + 1), BOOLOID, -1, InvalidOid, 0)), "side");
        query->hasAggs = true;
        Node *first = of_side(operation == SETOP_INTERSECT ? F_BOOL_OR : F_BOOL_AND, n + 1);
        query->havingQual = operation == SETOP_EXCEPT
                                ? first
                                : make_and_qual(first, reinterpret_cast<Node *>(makeBoolExpr(
                                                           NOT_EXPR, list_make1(of_side(F_BOOL_AND, n + 1)), -1)));
    }
    SetOperationStmt was = *operation_of(query);
    query->setOperations = nullptr;
    add_item(query, subquery_entry(rows, "rows"));
    if (operation != SETOP_UNION && !has_rows_of_units(level))
        refuse_operation(&was, source);
}

static List *add_branches(Node *tree, const Query *query, List *branches, ParseState *source) {
    check_stack_depth();
    if (IsA(tree, RangeTblRef))
        return lappend(branches, rt_fetch(castNode(RangeTblRef, tree)->rtindex, query->rtable));
    auto *both = castNode(SetOperationStmt, tree);
    if (both->op != SETOP_UNION || !both->all)
        refuse_operation(both, source);
    return add_branches(both->rarg, query, add_branches(both->larg, query, branches, source), source);
}

List *branches_of(const Query *query, ParseState *source) {
    refuse_if(is_cut(query), "LIMIT or OFFSET of rows", "Filter with WHERE, or aggregate first and cut the answer.",
              source, -1);
    refuse_if(query->rowMarks != NIL, "FOR UPDATE or FOR SHARE", "Leave it out.", source, -1);
    return add_branches(query->setOperations, query, NIL, source);
}

void adapt_branch(const Level *part, const Query *all, ParseState *source) {
    if (!reads_rows(part))
        refuse_part("UNION ALL of rows of people and others",
                    "Join the others: what is public may stand in FROM. Ask what is an answer by itself, and combine it "
                    "with the answer of the rest.",
                    source, -1);
    refuse_if(aggregates(part->query) && !has_rows_of_units(part), "UNION ALL of rows of people and of groups",
              "Group each of its SELECTs by the columns that name a person, or none.", source, -1);
    ListCell *type = list_head(operation_of(all)->colTypes);
    for (auto *target : border::each<TargetEntry>(part->query->targetList)) {
        auto *column = reinterpret_cast<Node *>(target->expr);
        if (target->resjunk)
            continue;
        if (exprType(column) != lfirst_oid(type) && part->query->setOperations == nullptr)
            target->expr =
                reinterpret_cast<Expr *>(coerce_to_common_type(source, column, lfirst_oid(type), "UNION"));
        type = lnext(operation_of(all)->colTypes, type);
    }
}

// ---- of a leaf -----------------------------------------------------------------------------------------------------

// Where each part shows the unit by the same columns, all of them do. Else it stands behind what they show.
static List *unit_of_branches(Leaf *leaf) {
    List *unit = leaf->sources[0].people->per_unit->unit;
    bool same = true;
    for (int i = 0; i < leaf->nsources; i++)
        same = same && equal(unit, leaf->sources[i].people->per_unit->unit);
    if (same)
        return list_copy(unit);
    for (int i = 0; i < leaf->nsources; i++) {
        ListCell *cell;
        foreach (cell, leaf->sources[i].people->per_unit->unit)
            lfirst_int(cell) = leaf->nkeys + foreach_current_index(cell) + 1;
    }
    return list_copy(unit);
}

static void check_columns(const Leaf *first, const Leaf *other, ParseState *source) {
    bool same = first->nkeys == other->nkeys;
    for (int i = 0; same && i < first->nkeys; i++)
        same = first->keys[i].type == other->keys[i].type && first->keys[i].collation == other->keys[i].collation;
    refuse_if(!same, "UNION ALL of columns of different types or collations",
              "Cast them: x::numeric, x::text COLLATE \"C\".", source, -1);
}

Leaf *read_branches(Query *all, ParseState *source) {
    auto *leaf = static_cast<Leaf *>(palloc0(sizeof(Leaf)));
    leaf->query = all;
    leaf->per_unit = static_cast<PerUnit *>(palloc0(sizeof(PerUnit)));
    leaf->per_unit->form = PeopleForm::branches;
    int varno = 0;
    for (auto *entry : border::each<RangeTblEntry>(branches_of(all, source))) {
        check_sources(leaf->nsources + 1);
        if (entry->rtekind != RTE_SUBQUERY || entry->lateral || entry != rt_fetch(++varno, all->rtable))
            refuse_part("a query of this form", "Write SELECT ... UNION ALL SELECT ...", source, -1);
        Source *part = &leaf->sources[leaf->nsources++];
        part->varno = varno;
        part->people = read_people(entry->subquery, source);
        check_columns(leaf->sources[0].people, part->people, source);
    }
    leaf->njoined = leaf->nsources;
    const Leaf *first = leaf->sources[0].people;
    leaf->view = first->view;
    leaf->nkeys = first->nkeys;
    leaf->keys = static_cast<Key *>(palloc0(sizeof(Key) * (first->nkeys + 1)));
    for (int i = 0; i < first->nkeys; i++) {
        leaf->keys[i] = first->keys[i];
        for (int part = 1; part < leaf->nsources; part++) // of several lengths, or numbers of decimals, none holds for all
            if (leaf->sources[part].people->keys[i].typmod != first->keys[i].typmod)
                leaf->keys[i].typmod = -1;
        leaf->keys[i].attno = InvalidAttrNumber;
        leaf->keys[i].expression = reinterpret_cast<Node *>(
            makeVar(1, static_cast<AttrNumber>(i + 1), first->keys[i].type, leaf->keys[i].typmod, first->keys[i].collation, 0));
    }
    leaf->per_unit->unit = unit_of_branches(leaf);
    return leaf;
}

} // namespace dp::query
