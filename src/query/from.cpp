#include "query/from.hpp"

#include "border/each.hpp"
#include "border/versions.hpp"
#include "query/hints.hpp"

namespace dp::query {

static From outer_join(const JoinExpr *join, bool nullable, const FromReader &reader) {
    const bool left = join->jointype == JOIN_LEFT;
    From kept = read_from(left ? join->larg : join->rarg, nullable, reader);
    From other = read_from(left ? join->rarg : join->larg, true, reader);
    auto *normal = makeNode(JoinExpr);
    normal->jointype = JOIN_LEFT;
    normal->larg = one_item(kept.items);
    normal->rarg = one_item(other.items);
    // Filters of the nullable side go into ON: they decide which of its rows there are to be joined.
    normal->quals = make_and_qual(reader.condition(join->quals, reader.context), other.where);
    normal->rtindex = join->rtindex;
    return From{list_make1(normal), kept.where};
}

static From inner_join(const JoinExpr *join, bool nullable, const FromReader &reader) {
    From left = read_from(join->larg, nullable, reader), right = read_from(join->rarg, nullable, reader);
    Node *where = make_and_qual(left.where, right.where);
    return From{list_concat(left.items, right.items),
                make_and_qual(where, reader.condition(join->quals, reader.context))};
}

static From several(const FromExpr *from, bool nullable, const FromReader &reader) {
    From all = {NIL, nullptr};
    ListCell *cell;
    foreach (cell, from->fromlist) {
        From one = read_from(static_cast<Node *>(lfirst(cell)), nullable, reader);
        all.items = list_concat(all.items, one.items);
        all.where = make_and_qual(all.where, one.where);
    }
    all.where = make_and_qual(all.where, reader.condition(from->quals, reader.context));
    return all;
}

From read_from(Node *tree, bool nullable, const FromReader &reader) {
    check_stack_depth();
    if (IsA(tree, RangeTblRef))
        return reader.item(castNode(RangeTblRef, tree), nullable, reader.context);
    if (IsA(tree, FromExpr))
        return several(castNode(FromExpr, tree), nullable, reader);
    auto *join = castNode(JoinExpr, tree);
    switch (join->jointype) {
    case JOIN_INNER:
        return inner_join(join, nullable, reader);
    case JOIN_LEFT:
    case JOIN_RIGHT:
        return outer_join(join, nullable, reader);
    default:
        refuse_part("a FULL JOIN", "Ask with a LEFT JOIN from each side, and combine the answers.", reader.source,
                    exprLocation(join->quals));
    }
}

static bool has_outer_join(Node *tree) {
    check_stack_depth();
    if (IsA(tree, JoinExpr))
        return castNode(JoinExpr, tree)->jointype != JOIN_INNER || has_outer_join(castNode(JoinExpr, tree)->larg) ||
               has_outer_join(castNode(JoinExpr, tree)->rarg);
    for (auto *part : border::each<Node>(IsA(tree, FromExpr) ? castNode(FromExpr, tree)->fromlist : NIL))
        if (has_outer_join(part))
            return true;
    return false;
}

static From same_item(const RangeTblRef *ref, bool, void *) {
    return From{list_make1(copyObject(const_cast<RangeTblRef *>(ref))), nullptr};
}

static Node *same_condition(Node *on, void *) {
    return on;
}

bool flatten_from(Query *query) {
    auto *tree = reinterpret_cast<Node *>(query->jointree);
    if (has_outer_join(tree))
        return false;
    const From from = read_from(tree, false, {same_item, same_condition, nullptr, nullptr});
    query->jointree = makeFromExpr(from.items, from.where);
    for (auto *entry : border::each<RangeTblEntry>(query->rtable))
        if (entry->rtekind == RTE_JOIN) {
            query->jointree->quals = border::columns_of_joined(query, query->jointree->quals);
            query->targetList =
                reinterpret_cast<List *>(border::columns_of_joined(query, reinterpret_cast<Node *>(query->targetList)));
            break;
        }
    return true;
}

Node *one_item(List *items) {
    Node *all = static_cast<Node *>(linitial(items));
    for (int i = 1; i < list_length(items); i++) {
        auto *join = makeNode(JoinExpr);
        join->jointype = JOIN_INNER;
        join->larg = all;
        join->rarg = static_cast<Node *>(list_nth(items, i));
        all = reinterpret_cast<Node *>(join);
    }
    return all;
}

void find_sources(Node *item, List **varnos, List **joins) {
    check_stack_depth();
    if (IsA(item, RangeTblRef)) {
        *varnos = lappend_int(*varnos, castNode(RangeTblRef, item)->rtindex);
        return;
    }
    auto *join = castNode(JoinExpr, item);
    find_sources(join->larg, varnos, joins);
    find_sources(join->rarg, varnos, joins);
    *joins = lappend(*joins, join);
}

} // namespace dp::query
