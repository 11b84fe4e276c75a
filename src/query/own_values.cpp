#include "query/own_values.hpp"

#include "border/each.hpp"
#include "border/visit.hpp"
#include "catalog/relations.hpp"

namespace dp::query {

namespace {
// Collects what a query names of the levels around it.
struct Outside {
    bool columns, rows; // rows: of a protected table, which somebody else may have the right to read
    int queries;        // how far above the query's level the nearest query of WITH stands
};
} // namespace

static Index levels_up(const Node *node) {
    return IsA(node, Var)            ? reinterpret_cast<const Var *>(node)->varlevelsup
           : IsA(node, Aggref)       ? reinterpret_cast<const Aggref *>(node)->agglevelsup
           : IsA(node, GroupingFunc) ? reinterpret_cast<const GroupingFunc *>(node)->agglevelsup
                                     : 0;
}

static Outside outside_of(Query *query) {
    Outside outside = {false, false, INT_MAX};
    border::visit(reinterpret_cast<Node *>(query), QTW_EXAMINE_RTES_BEFORE, [&](Node *node, Index depth) {
        if (!IsA(node, RangeTblEntry)) {
            outside.columns = outside.columns || (levels_up(node) > 0 && levels_up(node) >= depth);
            return border::Step::in;
        }
        const auto *entry = castNode(RangeTblEntry, node);
        if (entry->rtekind == RTE_CTE && entry->ctelevelsup >= depth)
            outside.queries = Min(outside.queries, static_cast<int>(entry->ctelevelsup - depth));
        outside.rows = outside.rows || (entry->rtekind == RTE_RELATION && catalog::is_part_of_protected(entry->relid));
        return border::Step::past;
    });
    return outside;
}

// The comparison of IN and the like whose right side is the sub-SELECT's column as it is, or under a label; null: it is another one.
static OpExpr *comparison_of(const SubLink *link) {
    auto *call = reinterpret_cast<OpExpr *>(link->testexpr);
    if ((link->subLinkType != ANY_SUBLINK && link->subLinkType != ALL_SUBLINK) || call == nullptr || !IsA(call, OpExpr))
        return nullptr;
    auto *right = static_cast<Node *>(lsecond(call->args));
    if (IsA(right, RelabelType) && castNode(Query, link->subselect)->setOperations == nullptr)
        right = reinterpret_cast<Node *>(castNode(RelabelType, right)->arg);
    return IsA(right, Param) && OidIsValid(get_array_type(exprType(static_cast<Node *>(lsecond(call->args)))))
               ? call
               : nullptr;
}

// Whether IN would be a semi-join (query/exists): it has the rows of a table to look in, for columns, and may be of any size.
static bool is_semi_join(const SubLink *link) {
    const auto *query = castNode(Query, link->subselect);
    if (!contain_var_clause(link->testexpr) || link->subLinkType != ANY_SUBLINK || query->setOperations != nullptr || query->cteList != NIL ||
        query->hasWindowFuncs || query->hasTargetSRFs || query->hasSubLinks || query->hasAggs ||
        query->groupingSets != NIL || query->havingQual != nullptr || is_cut(query))
        return false; // (a DISTINCT is GROUP BY already)
    for (const auto *entry : border::each<RangeTblEntry>(query->rtable))
        if (entry->rtekind != RTE_JOIN && !OidIsValid(source_of_entry(entry)))
            return false;
    return query->rtable != NIL;
}

static bool has_value(const SubLink *link) {
    return link->subLinkType == EXPR_SUBLINK || link->subLinkType == ARRAY_SUBLINK ||
           link->subLinkType == EXISTS_SUBLINK || (comparison_of(link) != nullptr && !is_semi_join(link));
}

Move move_to(const Level *level, const Level *answer) {
    int up = 0;
    for (const Level *outer = level; outer != nullptr; outer = outer->outer, up++) {
        int from = 0;
        for (const Level *around = answer; around != nullptr; around = around->outer, from++)
            if (around->query == outer->query)
                return Move{up, from - up};
    }
    return Move{INT_MAX, 0};
}

bool follows_from_no_row(Query *query, const Level *level, const Level *answer) {
    const Outside outside = outside_of(query);
    const Level below = {query, level};
    return !outside.columns && !outside.rows && outside.queries >= move_to(level, answer).distance &&
           (aggregates(query) || query->havingQual != nullptr || !reads_rows(&below));
}

constexpr int own_value = -1; // SubLink::subLinkId, which others than MULTIEXPR do not use

Node *marked_value(const SubLink *link) {
    auto *own = copyObject(const_cast<SubLink *>(link));
    own->subLinkId = own_value;
    OpExpr *call = comparison_of(own);
    if (call == nullptr)
        return reinterpret_cast<Node *>(own);
    auto *right = static_cast<Node *>(lsecond(call->args));
    auto *target = linitial_node(TargetEntry, castNode(Query, own->subselect)->targetList);
    if (IsA(right, RelabelType)) { // a text among values of varchar
        castNode(RelabelType, right)->arg = target->expr;
        target->expr = reinterpret_cast<Expr *>(right);
    }
    auto *compared = makeNode(ScalarArrayOpExpr);
    compared->opno = call->opno;
    compared->useOr = own->subLinkType == ANY_SUBLINK;
    compared->inputcollid = call->inputcollid;
    compared->args = list_make2(linitial(call->args), own);
    compared->location = call->location;
    own->subLinkType = ARRAY_SUBLINK;
    own->testexpr = nullptr;
    own->operName = NIL;
    return reinterpret_cast<Node *>(compared);
}

namespace {
struct Place {
    const Level *level, *answer;
};
} // namespace

// From the innermost outwards.
static Node *mark_values(Node *node, void *context) {
    const auto *place = static_cast<const Place *>(context);
    if (node == nullptr)
        return nullptr;
    node = border::mutate_expression(node, mark_values, context);
    if (!IsA(node, SubLink))
        return node;
    auto *link = castNode(SubLink, node);
    if (!has_value(link) || !follows_from_no_row(castNode(Query, link->subselect), place->level, place->answer))
        return node;
    const Move move = move_to(place->level, place->answer);
    node = marked_value(link);
    if (move.delta != 0)
        IncrementVarSublevelsUp(node, move.delta, move.distance);
    return node;
}

Node *with_own_values(Node *node, const Level *level, const Level *answer) {
    Place place = {level, answer};
    return mark_values(node, &place);
}

bool is_own_value(const Node *node) {
    return IsA(node, SubLink) && reinterpret_cast<const SubLink *>(node)->subLinkId == own_value;
}

} // namespace dp::query
