#include "query/in_people.hpp"

#include "border/each.hpp"
#include "border/grouping.hpp"
#include "border/visit.hpp"
#include "query/hints.hpp"
#include "query/make.hpp"

namespace dp::query {

// Tells a sub-SELECT that shows what it groups by, and nothing else: of equal values there is one.
static bool shows_its_key(const Query *below) {
    if (list_length(below->groupClause) != 1 || below->setOperations != nullptr || below->hasTargetSRFs)
        return false;
    const TargetEntry *key =
        get_sortgroupclause_tle(linitial_node(SortGroupClause, below->groupClause), below->targetList);
    int shown = 0;
    for (auto *target : border::each<TargetEntry>(below->targetList))
        shown += target->resjunk ? 0 : 1;
    return shown == 1 && !key->resjunk && key->resno == 1;
}

// Tells x = y of IN, by the operator that y is grouped by.
static bool is_equality(const SubLink *link, const Query *below) {
    if (link->subLinkType != ANY_SUBLINK || link->testexpr == nullptr || !IsA(link->testexpr, OpExpr))
        return false;
    const auto *test = castNode(OpExpr, link->testexpr);
    const Oid grouped = linitial_node(SortGroupClause, below->groupClause)->eqop;
    return list_length(test->args) == 2 && test->opno == grouped &&
           !contain_subplans(static_cast<Node *>(linitial(test->args)));
}

static bool is_of_people(Node *conjunct, const Level *level) {
    if (!IsA(conjunct, SubLink) || !IsA(castNode(SubLink, conjunct)->subselect, Query))
        return false;
    const auto *link = castNode(SubLink, conjunct);
    const Level below = {castNode(Query, link->subselect), level};
    return below.query->groupClause != NIL && shows_its_key(below.query) && is_equality(link, below.query) &&
           !contain_vars_of_level(link->subselect, 1) && has_rows_of_units(&below);
}

// Returns the condition that takes the place of IN.
static Node *join_one(Query *query, const SubLink *link) {
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_SUBQUERY;
    entry->subquery = castNode(Query, link->subselect);
    entry->inFromCl = true;
    const auto *key = linitial_node(TargetEntry, entry->subquery->targetList);
    entry->eref = makeAlias(psprintf("people%d", list_length(query->rtable) + 1),
                            list_make1(makeString(pstrdup(key->resname == nullptr ? "?column?" : key->resname))));
    entry->alias = copyObject(entry->eref);
    query->rtable = lappend(query->rtable, entry);
    const int index = list_length(query->rtable);
    auto *item = makeNode(RangeTblRef);
    item->rtindex = index;
    query->jointree->fromlist = lappend(query->jointree->fromlist, item);
    return border::change(link->testexpr, [=](Node *node, Index) -> Node * {
        return IsA(node, Param) && castNode(Param, node)->paramkind == PARAM_SUBLINK
                   ? reinterpret_cast<Node *>(
                         makeVarFromTargetEntry(index, linitial_node(TargetEntry, entry->subquery->targetList)))
                   : nullptr;
    });
}

// One person without a name would decide for all.
static void refuse_not(Node *condition, const Level *level, ParseState *source) {
    auto *inner = static_cast<Node *>(linitial(castNode(BoolExpr, condition)->args));
    if (!is_of_people(inner, level))
        return;
    const auto *below = castNode(Query, castNode(SubLink, inner)->subselect);
    const char *name = linitial_node(TargetEntry, below->targetList)->resname;
    name = quote_identifier(name == nullptr ? "PERSON" : name);
    refuse_part("NOT IN of people",
                psprintf("Write LEFT JOIN (the sub-SELECT) s ON s.%s = ..., and WHERE s.%s IS NULL.", name, name),
                source, castNode(SubLink, inner)->location);
}

static Node *join_all(const Level *level, Node *where, ParseState *source) {
    check_stack_depth();
    if (where == nullptr)
        return nullptr;
    if (is_of_people(where, level))
        return join_one(level->query, castNode(SubLink, where));
    if (!IsA(where, BoolExpr))
        return where;
    if (castNode(BoolExpr, where)->boolop == NOT_EXPR)
        refuse_not(where, level, source);
    if (castNode(BoolExpr, where)->boolop == AND_EXPR) {
        ListCell *cell;
        foreach (cell, castNode(BoolExpr, where)->args)
            lfirst(cell) = join_all(level, static_cast<Node *>(lfirst(cell)), source);
    }
    return where;
}

void join_people(const Level *level, ParseState *source) {
    Query *query = level->query;
    if (query->commandType != CMD_SELECT || !query->hasSubLinks || !aggregates(query) || !reads_rows(level))
        return;
    border::flatten_grouping(query); // its entry is the last one of the range table
    query->jointree->quals = join_all(level, query->jointree->quals, source);
}

} // namespace dp::query
