#include "query/leaf_from.hpp"

#include "border/each.hpp"
#include "border/permissions.hpp"
#include "border/versions.hpp"
#include "query/make.hpp"
#include "query/passed_rows.hpp"

namespace dp::query {

namespace {
// Holds the entry of a part of FROM, and its columns.
struct Joinable {
    int index;
    List *names;   // String *
    List *columns; // Var *
    List *numbers; // int: of the columns, in the entry
};
} // namespace

static Joinable join_entry(Query *leaf, JoinExpr *join, const Joinable &left, const Joinable &right) {
    List *names = list_concat_copy(left.names, right.names), *columns = list_concat_copy(left.columns, right.columns);
    leaf->rtable = lappend(leaf->rtable,
                           addRangeTableEntryForJoin(make_parsestate(nullptr), names, nullptr, join->jointype, 0,
                                                     static_cast<List *>(copyObject(columns)), list_copy(left.numbers),
                                                     list_copy(right.numbers), nullptr, nullptr, true)
                               ->p_rte);
    join->rtindex = list_length(leaf->rtable);
    List *numbers = NIL;
    for (int i = 1; i <= list_length(names); i++)
        numbers = lappend_int(numbers, i);
    return Joinable{join->rtindex, names, columns, numbers};
}

static Joinable source_of_join(const Query *leaf, int index) {
    Joinable source = {index, NIL, NIL, NIL};
    border::expand_entry(rt_fetch(index, leaf->rtable), index, &source.names, &source.columns);
    for (auto *column : border::each<Var>(source.columns))
        source.numbers = lappend_int(source.numbers, column->varattno);
    return source;
}

// The deparser names columns through the entries of joins.
static Joinable add_joins(Query *leaf, Node *item) {
    if (IsA(item, RangeTblRef))
        return source_of_join(leaf, castNode(RangeTblRef, item)->rtindex);
    auto *join = castNode(JoinExpr, item);
    Joinable left = add_joins(leaf, join->larg), right = add_joins(leaf, join->rarg);
    return join_entry(leaf, join, left, right);
}

// Sources beside others keep their aliases, by which a refusal names columns. The columns of a single one need none.
void add_from(Query *leaf, const Folded *folded, const Query *query) {
    Node *where = static_cast<Node *>(copyObject(query->jointree->quals));
    const bool joined = list_length(folded->facades) > 1 || query->hasSubLinks || checkExprHasSubLink(where);
    ListCell *cell, *name, *people, *rows;
    forfour(cell, folded->facades, name, folded->names, people, folded->people, rows, folded->rows) {
        auto *alias = static_cast<char *>(joined ? lfirst(name) : nullptr);
        if (lfirst(people) != nullptr) {
            auto *below = static_cast<Query *>(copyObject(lfirst(people)));
            leaf->rtable = lappend(leaf->rtable, subquery_entry(below, alias == nullptr ? "t" : alias));
            continue;
        }
        auto *passed = static_cast<RangeTblEntry *>(copyObject(lfirst(rows)));
        leaf->rtable = lappend(leaf->rtable, passed != nullptr ? passed : source_entry(lfirst_oid(cell), alias));
        border::set_permission(leaf, llast_node(RangeTblEntry, leaf->rtable), ACL_SELECT);
    }
    leaf->jointree = makeFromExpr(static_cast<List *>(copyObject(folded->items)), where);
    for (auto *part : border::each<Node>(leaf->jointree->fromlist))
        (void)add_joins(leaf, part);
}

// ---- sub-SELECTs with rows of units -----------------------------------------------------------------------------------

// Its own, or one that no column has.
static char *another_name(const char *name, const List *taken, int number) {
    if (name != nullptr && *name != '\0' && strcmp(name, "?column?") != 0 &&
        !list_member(taken, makeString(pstrdup(name))))
        return pstrdup(name);
    char *other = psprintf("c%d", number);
    while (list_member(taken, makeString(other)))
        other = psprintf("%s_", other);
    return other;
}

Query *people_query(const Query *level, const Folded *folded, const List *names) {
    Query *leaf = make_select();
    leaf->hasAggs = level->hasAggs;
    leaf->hasSubLinks = level->hasSubLinks;
    leaf->targetList = static_cast<List *>(copyObject(level->targetList));
    leaf->groupClause = static_cast<List *>(copyObject(level->groupClause));
    leaf->havingQual = static_cast<Node *>(copyObject(level->havingQual));
    leaf->hasWindowFuncs = level->hasWindowFuncs;
    leaf->windowClause = static_cast<List *>(copyObject(level->windowClause));
    List *taken = NIL;
    ListCell *cell;
    foreach (cell, leaf->targetList) {
        auto *target = lfirst_node(TargetEntry, cell);
        const int i = foreach_current_index(cell);
        target->resname =
            another_name(i < list_length(names) ? strVal(list_nth(names, i)) : nullptr, taken, target->resno);
        taken = lappend(taken, makeString(target->resname));
    }
    add_from(leaf, folded, level);
    forget_unused_columns(leaf);
    return leaf;
}

bool has_people(const Folded *folded) {
    for (auto *people : border::each<Query>(folded->people))
        if (people != nullptr)
            return true;
    return false;
}

void check_opened_people(const Query *query, const Folded *folded, ParseState *source) {
    ListCell *cell;
    foreach (cell, folded->people)
        if (lfirst(cell) != nullptr)
            check_opened(
                reinterpret_cast<Node *>(list_make3(query->targetList, query->havingQual, query->jointree->quals)),
                foreach_current_index(cell) + 1, lfirst_node(Query, cell)->targetList, source);
}

} // namespace dp::query
