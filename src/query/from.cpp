#include "query/from.hpp"

#include "border/each.hpp"
#include "border/permissions.hpp"
#include "border/refuse.hpp"
#include "border/versions.hpp"
#include "border/visit.hpp"
#include "catalog/facade.hpp"
#include "catalog/public_table.hpp"
#include "catalog/settings.hpp"
#include "query/hints.hpp"
#include "query/limits.hpp"
#include "query/leaf_rows.hpp"
#include "query/levels.hpp"
#include "query/make.hpp"

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
    for (auto *item : border::each<Node>(from->fromlist)) {
        const From one = read_from(item, nullable, reader);
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
        refuse_part("a FULL JOIN",
                    "Write as a sub-SELECT: SELECT ... FROM a LEFT JOIN b ON ... UNION ALL SELECT ... FROM b LEFT JOIN a "
                    "ON ... WHERE a.column IS NULL, with a column of ON.",
                    reader.source, exprLocation(join->quals));
    }
}

static bool has_outer_join(Node *tree) {
    return border::any(
        tree, [](Node *node) { return IsA(node, JoinExpr) && castNode(JoinExpr, node)->jointype != JOIN_INNER; });
}

static From same_item(const RangeTblRef *ref, bool, void *) {
    return From{list_make1(copyObject(const_cast<RangeTblRef *>(ref))), nullptr};
}

static Node *same_condition(Node *on, void *) {
    return on;
}

bool has_joins(const Query *query) {
    for (auto *entry : border::each<RangeTblEntry>(query->rtable))
        if (entry->rtekind == RTE_JOIN)
            return true;
    return false;
}

bool flatten_from(Query *query) {
    auto *tree = reinterpret_cast<Node *>(query->jointree);
    if (has_outer_join(tree))
        return false;
    const From from = read_from(tree, false, {same_item, same_condition, nullptr, nullptr});
    query->jointree = makeFromExpr(from.items, from.where);
    if (has_joins(query)) {
        query->jointree->quals = border::columns_of_joined(query, query->jointree->quals);
        query->targetList =
            reinterpret_cast<List *>(border::columns_of_joined(query, reinterpret_cast<Node *>(query->targetList)));
    }
    return true;
}

static List *add_conjuncts(Node *condition, List *conjuncts) {
    check_stack_depth();
    if (condition == nullptr)
        return conjuncts;
    if (!IsA(condition, BoolExpr) || castNode(BoolExpr, condition)->boolop != AND_EXPR)
        return lappend(conjuncts, condition);
    for (auto *part : border::each<Node>(castNode(BoolExpr, condition)->args))
        conjuncts = add_conjuncts(part, conjuncts);
    return conjuncts;
}

List *conjuncts_of(Node *condition) {
    return add_conjuncts(condition, NIL);
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

// ---- the sources of a leaf -----------------------------------------------------------------------------------------

namespace {
struct Reading {
    Leaf *leaf;
    Query *query;
    ParseState *source;
    bool single; // one item
};
} // namespace

[[noreturn]] static void refuse_relation(Oid relation) {
    refuse_state(psprintf("%s is not a restricted view", catalog::qualified_name(relation)),
                 "Query a view that was made with dp_protect().");
}

[[noreturn]] static void refuse_item(const Reading *reading, const char *part) {
    refuse_part(reading->single ? part : "a join, or a query without FROM", "Select from one restricted view.",
                reading->source, -1);
}

// Tells a sub-SELECT that aggregates, has windows, or puts rows below each other.
static bool is_people(const RangeTblEntry *entry) {
    return entry->rtekind == RTE_SUBQUERY && !entry->lateral &&
           (aggregates(entry->subquery) || entry->subquery->hasWindowFuncs || entry->subquery->setOperations != nullptr);
}

static From read_item(const RangeTblRef *ref, bool nullable, void *context) {
    auto *reading = static_cast<const Reading *>(context);
    Leaf *leaf = reading->leaf;
    const RangeTblEntry *entry = rt_fetch(ref->rtindex, reading->query->rtable);
    Source source = {entry->relid, ref->rtindex, false, nullable, false, InvalidOid, nullptr, nullptr};
    check_sources(leaf->nsources + 1);
    if (is_people(entry)) {
        source.people = read_people(entry->subquery, reading->source);
        leaf->sources[leaf->nsources++] = source;
        return From{list_make1(reference_to(ref->rtindex)), nullptr};
    }
    const bool passed = !reading->single && is_passed_rows(entry);
    if (!passed && entry->rtekind != RTE_RELATION)
        refuse_item(reading, "FROM anything but a restricted view");
    if (entry->tablesample != nullptr)
        refuse_part("TABLESAMPLE", "Leave it out.", reading->source, -1);
    if (reading->single && ref->rtindex != 1)
        refuse_item(reading, "a query of this form");
    source.is_public = passed || (!reading->single && catalog::is_public_table(entry->relid));
    if (!source.is_public && !OidIsValid(catalog::table_of_facade(entry->relid))) {
        if (reading->single)
            refuse_relation(entry->relid);
        refuse_item(reading, nullptr);
    }
    if (source.is_public && !passed && !entry->inh)
        refuse_part("ONLY", only_remedy, reading->source, -1);
    source.reader = border::permission_of(reading->query, entry).role;
    source.rows = passed ? entry : nullptr;
    leaf->sources[leaf->nsources++] = source;
    return From{list_make1(reference_to(ref->rtindex)), nullptr};
}

static Node *read_condition(Node *on, void *context) {
    auto *reading = static_cast<const Reading *>(context);
    Node *condition = static_cast<Node *>(copyObject(on));
    return condition == nullptr || reading->single ? condition : border::columns_of_joined(reading->query, condition);
}

void read_sources(Leaf *leaf, Query *query, ParseState *source) {
    const List *items = query->jointree->fromlist;
    Reading reading = {leaf, query, source, list_length(items) == 1 && IsA(linitial(items), RangeTblRef)};
    From from =
        read_from(reinterpret_cast<Node *>(query->jointree), false, {read_item, read_condition, &reading, source});
    leaf->from = from.items;
    leaf->where = from.where;
    for (int i = leaf->nsources; --i >= 0;)
        if (!leaf->sources[i].is_public)
            leaf->view = leaf->sources[i].people != nullptr ? leaf->sources[i].people->view : leaf->sources[i].relation;
    leaf->njoined = leaf->nsources;
    if (!OidIsValid(leaf->view))
        refuse_relation(leaf->sources[0].relation);
}

List *joins_of(const List *items) {
    List *varnos = NIL, *joins = NIL;
    for (auto *part : border::each<Node>(items))
        find_sources(part, &varnos, &joins);
    return joins;
}

List *conditions_of(const List *items) {
    List *conditions = NIL;
    for (auto *join : border::each<JoinExpr>(joins_of(items)))
        if (join->quals != nullptr)
            conditions = lappend(conditions, join->quals);
    return conditions;
}

namespace {
enum class Added : uint8 {
    elsewhere,
    above,
    done
}; // the source is not there; it is, and the condition is still to be added
} // namespace

static Added add_below(Node *item, int varno, Node *condition) {
    if (IsA(item, RangeTblRef))
        return castNode(RangeTblRef, item)->rtindex == varno ? Added::above : Added::elsewhere;
    auto *join = castNode(JoinExpr, item);
    const Added left = add_below(join->larg, varno, condition);
    if (left != Added::elsewhere)
        return left;
    const Added right = add_below(join->rarg, varno, condition);
    if (right != Added::above || join->jointype != JOIN_LEFT)
        return right;
    join->quals = make_and_qual(condition, join->quals);
    return Added::done;
}

bool add_condition(const List *items, int varno, Node *condition) {
    for (auto *part : border::each<Node>(items))
        if (add_below(part, varno, condition) == Added::done)
            return false;
    return true;
}

} // namespace dp::query
