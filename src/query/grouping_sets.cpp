#include "query/grouping_sets.hpp"

#include "border/each.hpp"
#include "border/visit.hpp"
#include "query/distinct.hpp"
#include "query/flatten_subselects.hpp"
#include "query/hints.hpp"
#include "query/make.hpp"

namespace dp::query {

// ---- which sets there are ------------------------------------------------------------------------------------------

KeyPlaces KeyPlaces::none(const Query *query) {
    Index last = 0;
    for (auto *target : border::each<TargetEntry>(query->targetList))
        last = Max(last, target->ressortgroupref);
    return KeyPlaces{static_cast<int *>(palloc0((Size{last} + 1) * sizeof(int))), last};
}

static int key_named(int reference, const KeyPlaces &places) {
    const int place = places.of(static_cast<Index>(reference));
    if (place == 0)
        elog(ERROR, "a grouping set names no key");
    return place - 1;
}

static int location_of_sets(const Query *query) {
    return exprLocation(static_cast<Node *>(linitial(query->groupingSets)));
}

[[noreturn]] static void refuse_number(const Query *query, ParseState *source) {
    ereport(
        ERROR,
        (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the query has too many grouping sets"),
         errdetail("The limit for a query on a restricted view is %d sets: each is an answer with a price of its own.",
                   max_grouping_sets),
         errhint("Name those that you need: GROUP BY GROUPING SETS ((x, y), (x), ())."),
         source == nullptr ? 0 : parser_errposition(source, location_of_sets(query))));
    pg_unreachable();
}

// References to equal keys are one.
static Bitmapset *keys_of(const List *references, const KeyPlaces &places) {
    Bitmapset *set = nullptr;
    ListCell *cell;
    foreach (cell, references)
        set = bms_add_member(set, key_named(lfirst_int(cell), places));
    return set;
}

static Bitmapset *members(const List *references) {
    Bitmapset *set = nullptr;
    ListCell *cell;
    foreach (cell, references)
        set = bms_add_member(set, lfirst_int(cell));
    return set;
}

// Whether a set has one of two keys that are equal, as they may be when what is below has been folded: the other one would have to be
// NULL there.
static bool parts_equal_keys(const List *sets, const KeyPlaces &places) {
    Bitmapset *all = nullptr;
    for (auto *item : border::each<const List>(sets))
        all = bms_join(all, members(item));
    for (auto *set : border::each<const List>(sets)) {
        const Bitmapset *keys = keys_of(set, places), *others = bms_difference(all, members(set));
        for (int other = -1; (other = bms_next_member(others, other)) >= 0;)
            if (bms_is_member(key_named(other, places), keys))
                return true;
    }
    return false;
}

static bool contains(const List *sets, const Bitmapset *set) {
    for (auto *one : border::each<const Bitmapset>(sets))
        if (bms_equal(one, set))
            return true;
    return false;
}

List *grouping_sets(const Query *query, const KeyPlaces &places, int keys, ParseState *source) {
    if (query->groupingSets == NIL)
        return list_make1(keys == 0 ? nullptr : bms_add_range(nullptr, 0, keys - 1));
    const List *expanded = expand_grouping_sets(query->groupingSets, query->groupDistinct, max_grouping_sets);
    if (expanded == NIL)
        refuse_number(query, source);
    if (parts_equal_keys(expanded, places))
        refuse_part("one column under two names in different grouping sets", "Name it once.", source,
                    location_of_sets(query));
    List *sets = NIL;
    for (auto *item : border::each<const List>(expanded)) {
        Bitmapset *set = keys_of(item, places);
        if (!contains(sets, set))
            sets = lcons(set, sets); // the finest ones first
        else if (!query->groupDistinct)
            refuse_part(
                "the same grouping set twice",
                "It would be charged twice. GROUP BY DISTINCT leaves one of them: GROUP BY DISTINCT ROLLUP (x, y), "
                "ROLLUP (x, z).",
                source, location_of_sets(query));
    }
    return sets;
}

// ---- which expressions are keys ------------------------------------------------------------------------------------

namespace {
struct Marking {
    Distinct keys; // expressions
    List *targets; // TargetEntry *: the first that has each
};
} // namespace

// No parameter is of that kind before a statement is planned.
Node *mark_of_key(const TargetEntry *target) {
    auto *expression = reinterpret_cast<Node *>(target->expr);
    auto *mark = makeNode(Param);
    mark->paramkind = PARAM_EXEC;
    mark->paramid = static_cast<int>(target->ressortgroupref);
    mark->paramtype = exprType(expression);
    mark->paramtypmod = exprTypmod(expression);
    mark->paramcollid = exprCollation(expression);
    mark->location = -1;
    return reinterpret_cast<Node *>(mark);
}

Index reference_of_mark(Node *node) {
    if (!IsA(node, Param) || castNode(Param, node)->paramkind != PARAM_EXEC)
        return 0;
    return static_cast<Index>(castNode(Param, node)->paramid);
}

// Returns the key that a node is. Constants and the like are equal wherever they stand, so they are keys only where they were written as
// one alone. (Walkers step over the arms of CASE, so they have no hash.)
static const TargetEntry *key_of(Node *node, const Marking &marking) {
    if (IsA(node, Const) || IsA(node, Param) || IsA(node, CaseWhen) || IsA(node, List))
        return nullptr;
    const int place = marking.keys.place_of(node);
    return place == 0 ? nullptr : list_nth_node(TargetEntry, marking.targets, place - 1);
}

// In a sublink columns alone are looked for.
static Node *as_at_level(Node *node, Index level) {
    if (level == 0 || !IsA(node, Var) || castNode(Var, node)->varlevelsup != level)
        return level == 0 ? node : nullptr;
    auto *column = castNode(Var, copyObject(node));
    column->varlevelsup = 0;
    return reinterpret_cast<Node *>(column);
}

static bool is_aggregated(Node *node, Index level) {
    return (IsA(node, Aggref) && castNode(Aggref, node)->agglevelsup == level) ||
           (IsA(node, GroupingFunc) && castNode(GroupingFunc, node)->agglevelsup == level);
}

static Node *mark(Node *expression, const Marking &marking) {
    return border::change(expression, [&](Node *node, Index level) -> Node * {
        if (is_aggregated(node, level))
            return node;
        Node *here = as_at_level(node, level);
        const TargetEntry *key = here == nullptr ? nullptr : key_of(here, marking);
        return key == nullptr ? nullptr : mark_of_key(key);
    });
}

static bool is_key(const TargetEntry *target, const Query *query) {
    for (auto *clause : border::each<SortGroupClause>(query->groupClause))
        if (clause->tleSortGroupRef == target->ressortgroupref)
            return true;
    return false;
}

static Marking keys_as_written(const Query *query) {
    Marking marking = {Distinct::none(), NIL};
    for (auto *item : border::each<SortGroupClause>(query->groupClause)) {
        TargetEntry *target = get_sortgroupclause_tle(item, query->targetList);
        marking.keys.add(reinterpret_cast<Node *>(copyObject(target->expr)));
        if (marking.keys.count() > list_length(marking.targets))
            marking.targets = lappend(marking.targets, copyObject(target));
    }
    return marking;
}

void mark_keys(Query *query) {
    if (query->groupingSets == NIL)
        return;
    Marking marking = keys_as_written(query);
    for (auto *target : border::each<TargetEntry>(query->targetList)) {
        if (!is_key(target, query))
            target->expr = reinterpret_cast<Expr *>(mark(reinterpret_cast<Node *>(target->expr), marking));
    }
    query->havingQual = mark(query->havingQual, marking);
}

// ---- their answers -------------------------------------------------------------------------------------------------

static Node *column_of(int number, Node *expression) {
    return reinterpret_cast<Node *>(column_showing(1, number, expression));
}

static Node *null_of(Node *expression) {
    return reinterpret_cast<Node *>(
        makeNullConst(exprType(expression), exprTypmod(expression), exprCollation(expression)));
}

// A bit for each argument, the last one the lowest: 1 where the set does not group by it.
static Node *value_of_grouping(const GroupingFunc *call, const Bitmapset *set, const KeyPlaces &places) {
    uint32 bits = 0;
    ListCell *cell;
    foreach (cell, call->refs)
        bits = bits << 1 | (bms_is_member(key_named(lfirst_int(cell), places), set) ? 0 : 1);
    return reinterpret_cast<Node *>(int_constant(static_cast<int32>(bits)));
}

Query *answer_of_set(RangeTblEntry *release, const Bitmapset *set, const SetColumns &columns) {
    Query *query = make_select();
    if (release != nullptr) {
        add_item(query, release);
        query->hasSubLinks = checkExprHasSubLink(reinterpret_cast<Node *>(release->functions));
    }
    List *expressions = NIL;
    int number = 0;
    ListCell *cell;
    foreach (cell, columns.keys) {
        auto *key = static_cast<Node *>(lfirst(cell));
        const bool grouped = bms_is_member(foreach_current_index(cell), set);
        expressions = lappend(expressions, grouped ? column_of(++number, key) : null_of(key));
    }
    for (auto *part : border::each<Node>(columns.aggregates))
        expressions = lappend(expressions, column_of(++number, part));
    for (auto *one : border::each<GroupingFunc>(columns.groupings))
        expressions = lappend(expressions, value_of_grouping(one, set, columns.places));
    foreach (cell, expressions)
        add_target(query, static_cast<Node *>(lfirst(cell)),
                   strVal(list_nth(columns.names, foreach_current_index(cell))));
    return query;
}

// Adjusts what answers are asked with: it stands lower than the queries of WITH that it names.
static void lower_arguments(const List *answers) {
    for (auto *answer : border::each<Query>(answers))
        for (auto *release : border::each<RangeTblEntry>(answer->rtable))
            IncrementVarSublevelsUp(reinterpret_cast<Node *>(release->functions), list_length(answers) == 1 ? 1 : 2, 0);
}

RangeTblEntry *all_answers(const List *answers) {
    lower_arguments(answers);
    Query *all = list_length(answers) == 1 ? linitial_node(Query, answers) : union_all(answers, "set");
    return subquery_entry(all, "answers");
}

} // namespace dp::query
