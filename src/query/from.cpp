#include "query/from.hpp"

#include "query/fold.hpp"

namespace dp::query {

static From outer_join(const JoinExpr *join, bool nullable, const FromReader &reader) {
    const bool left = join->jointype == JOIN_LEFT;
    From kept = read_from(left ? join->larg : join->rarg, nullable, reader);
    From other = read_from(left ? join->rarg : join->larg, true, reader);
    auto *normal = makeNode(JoinExpr);
    normal->jointype = JOIN_LEFT;
    normal->larg = one_item(kept.items);
    normal->rarg = one_item(other.items);
    // What filters the nullable side decides which of its rows there are to be joined.
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
