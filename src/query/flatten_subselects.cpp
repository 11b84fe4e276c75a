#include "query/flatten_subselects.hpp"

#include "border/each.hpp"
#include "border/grouping.hpp"
#include "border/versions.hpp"
#include "border/visit.hpp"
#include "catalog/facade.hpp"
#include "catalog/public_table.hpp"
#include "query/branches.hpp"
#include "query/from.hpp"
#include "query/leaf.hpp"
#include "query/limits.hpp"
#include "query/make.hpp"
#include "query/hints.hpp"
#include "query/passed_rows.hpp"

namespace dp::query {

// ---- what stands between -------------------------------------------------------------------------------------------

void refuse_window(const Query *query, ParseState *source) {
    int location = -1;
    border::any(reinterpret_cast<Node *>(query->targetList), [&](Node *node) {
        location = IsA(node, WindowFunc) ? castNode(WindowFunc, node)->location : location;
        return IsA(node, WindowFunc);
    });
    const bool grouped = aggregates(query);
    refuse_part(grouped ? "a window function over groups of one person's rows" : "a window function over rows",
                grouped
                    ? "Aggregate in a sub-SELECT of its own, and write the window above it."
                    : "Partition it by the columns that name a person, in a sub-SELECT that is aggregated above it; or "
                      "aggregate with GROUP BY: over the answer it may be any.",
                source, location);
}

static int first_location(const List *clauses, List *targets) {
    return exprLocation(get_sortgroupclause_expr(linitial_node(SortGroupClause, clauses), targets));
}

// A level below the aggregation may project, rename, filter, and sort in vain.
static void check_projection(const Query *query, ParseState *source) {
    if (query->hasWindowFuncs)
        refuse_window(query, source);
    if (query->distinctClause != NIL)
        refuse_part("DISTINCT below an aggregation", distinct_remedy, source,
                    first_location(query->distinctClause, query->targetList));
    refuse_if(is_cut(query), "LIMIT or OFFSET below an aggregation",
              "Filter with WHERE, or aggregate first and cut the answer.", source,
              exprLocation(query->limitCount != nullptr ? query->limitCount : query->limitOffset));
    refuse_if(query->hasTargetSRFs, "a set-returning function below an aggregation", "Aggregate columns of the view.",
              source, -1);
    refuse_if(query->rowMarks != NIL, "FOR UPDATE or FOR SHARE", "Leave it out.", source, -1);
}

// ---- folding -------------------------------------------------------------------------------------------------------

static bool is_column_of(Node *node, int index, Index level) {
    return IsA(node, Var) && castNode(Var, node)->varno == index && castNode(Var, node)->varlevelsup == level;
}

static void refuse_whole_row(Node *expression, int index, ParseState *source) {
    border::visit(expression, [=](Node *node, Index level) {
        if (is_column_of(node, index, level) && castNode(Var, node)->varattno == 0)
            refuse_part("a whole row", "Name columns; count(*) counts rows.", source, castNode(Var, node)->location);
        return border::Step::in;
    });
}

// Each level may name a column of the level below several times, so the text that a few short levels open into doubles with
// every one of them: it is counted before it is made.
constexpr int64 most_nodes = 20000; // more than 64 kB of SQL have

static int64 count_nodes(Node *expression) {
    int64 nodes = 0;
    border::visit(expression, [&](Node *, Index) {
        CHECK_FOR_INTERRUPTS();
        nodes++;
        return border::Step::in;
    });
    return nodes;
}

// sizes: of the columns, counted when they are met.
static int64 count_opened(Node *expression, int index, const List *columns, int64 *sizes) {
    int64 nodes = 0;
    border::visit(expression, [&](Node *node, Index level) {
        CHECK_FOR_INTERRUPTS();
        nodes++;
        const int n = is_column_of(node, index, level) ? castNode(Var, node)->varattno : 0;
        if (n > 0 && n <= list_length(columns)) {
            if (sizes[n - 1] == 0)
                sizes[n - 1] = count_nodes(static_cast<Node *>(list_nth(columns, n - 1)));
            nodes += sizes[n - 1];
        }
        return border::Step::in;
    });
    return nodes;
}

// Numbers facades beyond the entries of any level until all of them are known.
// An entry of a level's range table is a facade, or a sub-SELECT over some.
constexpr int first_varno = 100000;

namespace {
struct Place {
    int index;     // of the entry
    int varno;     // of a facade; 0: it is a sub-SELECT
    List *columns; // TargetEntry *: of a sub-SELECT
};
} // namespace

void check_opened(Node *node, int index, List *columns, ParseState *source) {
    auto *sizes = static_cast<int64 *>(palloc0(sizeof(int64) * (list_length(columns) + 1)));
    if (count_opened(node, index, columns, sizes) > most_nodes)
        ereport(ERROR, (errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
                        errmsg("the sub-SELECTs of the query open into an expression of more than %d parts",
                               static_cast<int>(most_nodes)),
                        errhint("Name a computed column fewer times in the level above it."),
                        source ? parser_errposition(source, exprLocation(node)) : 0));
}

// In place or copied.
static Node *put_in_place(Node *node, Query *query, List *places, ParseState *source, bool *sublinks) {
    if (node == nullptr)
        return nullptr;
    if (has_joins(query))
        node = border::columns_of_joined(query, node);
    for (auto *place : border::each<const Place>(places)) {
        refuse_whole_row(node, place->index, source);
        if (place->varno > 0) {
            ChangeVarNodes(node, place->index, place->varno, 0);
            continue;
        }
        check_opened(node, place->index, place->columns, source);
        node = border::replace_columns(node, place->index, place->columns, sublinks);
    }
    return node;
}

// The deparser would name a column by the join whose alias it was written with, which is none of the leaf's.
static void forget_aliases(Node *expression) {
    border::visit(expression, [](Node *node, Index) {
        if (IsA(node, Var) && castNode(Var, node)->varno >= first_varno) {
            castNode(Var, node)->varnosyn = castNode(Var, node)->varno;
            castNode(Var, node)->varattnosyn = castNode(Var, node)->varattno;
        }
        return border::Step::in;
    });
}

// The facades by their numbers, once nothing has those of a level any more.
static Node *numbered(Node *node, const List *facades) {
    forget_aliases(node);
    for (int i = 0; node != nullptr && i < list_length(facades); i++)
        ChangeVarNodes(node, first_varno + i, i + 1, 0);
    return node;
}

static Node *on_facades(Node *node, const Level *level, const Folded *folded, ParseState *source, bool *sublinks) {
    return numbered(put_in_place(node, level->query, folded->places, source, sublinks), folded->facades);
}

namespace {
// A level whose FROM is being folded.
struct Fold {
    const Level *level;
    ParseState *source;
    bool
        dropped; // nothing else will refer to its entries, so that a CTE that is not used any more is not planned either
    Folded *all;  // of the level that aggregates
    List *places; // of this level, so far
    int location; // of the join that is being looked at
    bool single;  // one item, and so above
    char *name;   // of the sub-SELECT, at the level that aggregates; null: this is that level
};
} // namespace

static From fold_items(const Level *level, Fold *outer, List **places);
static Folded fold_at(const Level *level, const Level *answer, const Fold *around, ParseState *source);

[[noreturn]] static void refuse_other(const Fold *fold) {
    if (fold->single)
        refuse_part("a query of this form", "Select from one restricted view.", fold->source, -1);
    refuse_part("a join", join_remedy, fold->source, fold->location);
}

// Refuses a computed column on a nullable side: an outer join makes the row NULL, and the column need not be.
static void check_nullable(const Fold *fold, const List *columns) {
    for (auto *target : border::each<TargetEntry>(columns)) {
        const Node *column = without_relabelings(reinterpret_cast<Node *>(target->expr));
        if (!target->resjunk && !IsA(column, Var))
            refuse_part("a computed column of a sub-SELECT on the nullable side of an outer join",
                        "Compute it above the join, from columns of the view.", fold->source,
                        exprLocation(reinterpret_cast<Node *>(target->expr)));
    }
}

static Place *add_place(Fold *fold, int index) {
    auto *place = static_cast<Place *>(palloc0(sizeof(Place)));
    place->index = index;
    fold->places = lappend(fold->places, place);
    return place;
}

// Returns the name that the level which aggregates has for an entry, or for the one that it is in.
static char *name_of(const Fold *fold, const RangeTblEntry *entry) {
    return fold->name != nullptr ? fold->name : entry->alias != nullptr ? entry->alias->aliasname : nullptr;
}

// A facade, or a public table; or a sub-SELECT with rows of units. rows: what is passed in its place, or null.
static From fold_source(Fold *fold, Oid relation, RangeTblEntry *rows, int index, Query *people = nullptr) {
    check_sources(list_length(fold->all->facades) + 1);
    RangeTblRef *ref = reference_to(list_length(fold->all->facades) + 1);
    add_place(fold, index)->varno = first_varno + ref->rtindex - 1;
    fold->all->facades = lappend_oid(fold->all->facades, relation);
    fold->all->rows = lappend(fold->all->rows, rows);
    fold->all->people = lappend(fold->all->people, people);
    fold->all->names = lappend(fold->all->names, name_of(fold, rt_fetch(index, fold->level->query->rtable)));
    return From{list_make1(ref), nullptr};
}

// Whether public tables are all that stands below, without anything that a leaf could not do itself: it looks up their keys and reads
// them, however large. `seen`: queries of which it is known, so that each is looked at once, however many refer to it.
static bool is_public_projection(const Level *level, List **seen) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    const Query *query = level->query;
    if (list_member_ptr(*seen, query))
        return true;
    if (query->commandType != CMD_SELECT || query->setOperations != nullptr || query->hasWindowFuncs ||
        query->distinctClause != NIL || is_cut(query) || query->hasTargetSRFs || query->hasSubLinks ||
        query->havingQual != nullptr || aggregates(query) || query->rtable == NIL)
        return false;
    for (const auto *entry : border::each<RangeTblEntry>(query->rtable)) {
        const Level below = query_of(entry, level);
        if (entry->rtekind != RTE_JOIN && !OidIsValid(source_of_entry(entry)) &&
            (below.query == nullptr || !is_public_projection(&below, seen)))
            return false;
    }
    *seen = lappend(*seen, const_cast<Query *>(query));
    return true;
}

// Tells an entry that the statement reads for itself.
static bool is_passed(const Fold *fold, const RangeTblEntry *entry) {
    const Level below = query_of(entry, fold->level);
    List *seen = NIL;
    if (below.query != nullptr ? is_public_projection(&below, &seen) : entry->rtekind == RTE_CTE)
        return false;
    return has_rows_to_pass(entry, fold->level, fold->all->level);
}

static From fold_passed(Fold *fold, int index) {
    const Query *query = fold->level->query;
    CommonTableExpr *with;
    RangeTblEntry *rows = pass_rows(query, rt_fetch(index, query->rtable), move_to(fold->level, fold->all->level),
                                    list_length(fold->all->with) + 1, &with);
    fold->all->with = lappend(fold->all->with, with);
    return fold_source(fold, InvalidOid, rows, index);
}

static bool fold_sub_selects(Node *node, void *context);

// Nothing refers to it any more: it is no question of its own.
static void forget_query(CommonTableExpr *cte) {
    cte->ctequery = reinterpret_cast<Node *>(make_select());
}

// Folds a level with rows of units by itself, as it stands in the leaf. names: String *, of its columns.
static Query *fold_rows(Fold *fold, const Level *own, const List *names) {
    check_people(fold->all->opened + 1);
    if (own->query->setOperations != nullptr) {
        List *parts = NIL;
        fold->all->opened++;
        for (auto *entry : border::each<RangeTblEntry>(branches_of(own->query, fold->source))) {
            const Level part = query_of(entry, own);
            adapt_branch(&part, own->query, fold->source);
            parts = lappend(parts, fold_rows(fold, &part, names));
        }
        return union_all(parts, "part");
    }
    border::flatten_grouping(own->query);
    check_per_unit(own->query, fold->source);
    const Folded folded = fold_at(own, fold->all->level, fold, fold->source);
    fold->all->with = folded.with;
    fold->all->opened = folded.opened;
    fold->all->views.entries = list_concat(folded.views.entries, fold->all->views.entries);
    fold->all->views.infos = list_concat(folded.views.infos, fold->all->views.infos);
    return people_query(own->query, &folded, names);
}

// Ends at a sub-SELECT with rows of units, which has what it reads folded by itself.
static From fold_people(Fold *fold, const Level *below, int index) {
    const RangeTblEntry *entry = rt_fetch(index, fold->level->query->rtable);
    const Level own = {copyObject(below->query), below->outer};
    Query *rows = fold_rows(fold, &own, entry->eref->colnames);
    fold->all->views.add(fold->level->query, entry, below->query);
    return fold_source(fold, InvalidOid, nullptr, index, rows);
}

// Goes on below a sub-SELECT that projects, filters and joins.
static From fold_below(Fold *fold, Fold *inner, const Level *below, int index, bool nullable) {
    Query *query = below->query;
    check_projection(query, fold->source);
    List *places = NIL;
    From from = fold_items(below, inner, &places);
    bool sublinks = false; // shape refuses those that are used and have no other form than theirs
    Place *place = add_place(fold, index);
    Node *columns = with_own_values(reinterpret_cast<Node *>(query->targetList), below, fold->all->level);
    (void)fold_sub_selects(columns, fold->all);
    place->columns = reinterpret_cast<List *>(put_in_place(columns, query, places, fold->source, &sublinks));
    if (nullable)
        check_nullable(fold, place->columns);
    fold->all->views.add(fold->level->query, rt_fetch(index, fold->level->query->rtable), query);
    return from;
}

static From fold_item(const RangeTblRef *ref, bool nullable, void *context) {
    check_stack_depth();
    auto *fold = static_cast<Fold *>(context);
    const Level *level = fold->level, *owner = nullptr;
    const RangeTblEntry *entry = rt_fetch(ref->rtindex, level->query->rtable);
    if (entry->lateral)
        refuse_part("LATERAL", "Join restricted views by equalities of their columns.", fold->source, fold->location);
    const Oid source = source_of_entry(entry);
    if (OidIsValid(source)) {
        if (entry->rtekind == RTE_SUBQUERY)
            fold->all->views.add(level->query, entry, entry->subquery);
        return fold_source(fold, source, nullptr, ref->rtindex);
    }
    const Level below = query_of(entry, level);
    const bool grouped = below.query != nullptr && aggregates(below.query);
    const bool combined = below.query != nullptr && below.query->setOperations != nullptr;
    const bool has_people = below.query != nullptr && reads_rows(&below) && (combined || has_rows_of_units(&below));
    if (!has_people && is_passed(fold, entry))
        return fold_passed(fold, ref->rtindex);
    CommonTableExpr *cte = entry->rtekind == RTE_CTE ? find_cte(entry, level, &owner) : nullptr;
    if (cte != nullptr && cte->cterecursive)
        refuse_part("WITH RECURSIVE", "Aggregate over the restricted view alone.", fold->source, cte->location);
    refuse_if(grouped && !has_people && reads_rows(&below), "a join with a sub-SELECT that aggregates people together",
              "Group it by the columns that name a person as well; or ask both by themselves, and join the answers.",
              fold->source, fold->location);
    // The rows are in an entry that a rule has left behind, or in another item.
    if (below.query == nullptr || (grouped && !has_people))
        refuse_other(fold);
    Fold inner = *fold;
    inner.name = fold->name != nullptr ? fold->name : entry->eref->aliasname;
    inner.dropped = inner.dropped && (cte == nullptr || --cte->cterefcount == 0);
    if (!has_people)
        return fold_below(fold, &inner, &below, ref->rtindex, nullable);
    const From from = fold_people(&inner, &below, ref->rtindex);
    fold->places = inner.places;
    if (cte != nullptr && inner.dropped)
        forget_query(cte);
    return from;
}

RangeTblEntry *source_entry(Oid source, char *name) {
    Relation relation = table_open(source, AccessShareLock);
    Alias *alias = name == nullptr ? nullptr : makeAlias(name, NIL);
    RangeTblEntry *entry =
        addRangeTableEntryForRelation(make_parsestate(nullptr), relation, AccessShareLock, alias, true, true)->p_rte;
    border::forget_permission(entry); // it is set where the entry comes to stand
    table_close(relation, NoLock);
    return entry;
}

// Gives the items of FROM entries of their own, numbered in this order.
static void renumber(Query *query, const List *sources) {
    List *items = query->jointree->fromlist, *entries = NIL;
    for (int i = 0; i < list_length(items); i++) {
        const int index = list_nth_node(RangeTblRef, items, i)->rtindex;
        const Alias *alias = rt_fetch(index, query->rtable)->alias;
        entries =
            lappend(entries, source_entry(list_nth_oid(sources, i), alias == nullptr ? nullptr : alias->aliasname));
        ChangeVarNodes(reinterpret_cast<Node *>(query), index, first_varno + i, 0);
    }
    for (int i = 0; i < list_length(items); i++)
        ChangeVarNodes(reinterpret_cast<Node *>(query), first_varno + i, i + 1, 0);
    query->rtable = entries;
#if PG_VERSION_NUM >= 160000
    query->rteperminfos = NIL;
#endif
    for (auto *entry : border::each<RangeTblEntry>(query->rtable))
        border::set_permission(query, entry, ACL_SELECT);
}

// One row is as good as two: GROUP BY without an aggregate, which DISTINCT has become already (query/rewrite).
static void forget_repeated(Query *query) {
    if (query->hasAggs || query->groupingSets != NIL || query->havingQual != nullptr || query->hasDistinctOn ||
        query->hasTargetSRFs)
        return;
    border::flatten_grouping(query);
    query->groupClause = query->distinctClause = NIL;
}

// A sub-SELECT over facades and public tables stands in the leaf as one over relations. Others stay, and shape refuses them.
static bool fold_sub_selects(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (is_own_value(node))
        return false;
    if (!IsA(node, Query))
        return border::walk_expression(node, fold_sub_selects, context);
    auto *query = castNode(Query, node);
    if (query->jointree->fromlist == NIL || !flatten_from(query))
        return false;
    List *sources = NIL;
    for (auto *item : border::each<RangeTblRef>(query->jointree->fromlist)) {
        sources = lappend_oid(sources, source_of_entry(rt_fetch(item->rtindex, query->rtable)));
        if (!OidIsValid(llast_oid(sources)))
            return false;
    }
    for (auto *rangetblref : border::each<RangeTblRef>(query->jointree->fromlist)) {
        const RangeTblEntry *entry = rt_fetch(rangetblref->rtindex, query->rtable);
        if (entry->rtekind == RTE_SUBQUERY)
            static_cast<Folded *>(context)->views.add(query, entry, entry->subquery);
    }
    forget_repeated(query);
    renumber(query, sources);
    return false;
}

// Folds tests within aggregates, and those that are a part of a group key: the rest of the statement keeps the others.
static void fold_used(Node *expression, const List *of_keys, Folded *folded) {
    border::visit(expression, [=](Node *node, Index) {
        const bool of_key = IsA(node, SubLink) && list_member(of_keys, node);
        if (of_key)
            (void)fold_sub_selects(node, folded);
        else if (IsA(node, Aggref) && castNode(Aggref, node)->agglevelsup == 0)
            (void)border::walk_expression(node, fold_sub_selects, folded);
        return of_key || IsA(node, Aggref) || IsA(node, Query) ? border::Step::past : border::Step::in;
    });
}

static void fold_tests(Query *query, Folded *folded) {
    List *of_keys = NIL; // SubLink *, as they were
    for (auto *clause : border::each<SortGroupClause>(query->groupClause))
        border::any(get_sortgroupclause_expr(clause, query->targetList), [&](Node *node) {
            if (IsA(node, SubLink))
                of_keys = lappend(of_keys, copied(node));
            return false;
        });
    fold_used(reinterpret_cast<Node *>(query->targetList), of_keys, folded);
    fold_used(query->havingQual, of_keys, folded);
}

static Node *fold_condition(Node *on, void *context) {
    auto *fold = static_cast<Fold *>(context);
    bool sublinks = false;
    Node *condition = with_own_values(on, fold->level, fold->all->level);
    (void)fold_sub_selects(condition, fold->all);
    return put_in_place(condition, fold->level->query, fold->places, fold->source, &sublinks);
}

// Where a refusal of a join points to.
static int location_of_join(const List *items) {
    auto *join = static_cast<const JoinExpr *>(items == NIL ? nullptr : linitial(items));
    return join != nullptr && IsA(join, JoinExpr) ? exprLocation(join->quals) : -1;
}

static From fold_items(const Level *level, Fold *outer, List **places) {
    List *items = level->query->jointree->fromlist;
    Fold fold = {level,
                 outer->source,
                 outer->dropped,
                 outer->all,
                 NIL,
                 outer->single ? location_of_join(items) : outer->location,
                 outer->single && list_length(items) == 1 && IsA(linitial(items), RangeTblRef),
                 outer->name};
    if (items == NIL)
        refuse_other(&fold);
    From from = read_from(reinterpret_cast<Node *>(level->query->jointree), false,
                          {fold_item, fold_condition, &fold, outer->source});
    *places = fold.places;
    return from;
}

static Folded fold_from(const Level *level, const Level *answer, const Fold *around, ParseState *source) {
    Folded folded = {};
    folded.level = answer;
    Fold outermost = {};
    outermost.source = source;
    outermost.dropped = around == nullptr || around->dropped;
    if (around != nullptr) {
        folded.with = around->all->with;
        folded.opened = around->all->opened + 1;
    }
    outermost.all = &folded;
    outermost.single = true;
    From from = fold_items(level, &outermost, &folded.places);
    folded.items = from.items;
    folded.condition = numbered(from.where, folded.facades);
    for (auto *join : border::each<JoinExpr>(joins_of(folded.items)))
        (void)numbered(join->quals, folded.facades);
    return folded;
}

// The facades are varno 1, 2, ... from here on. around: what a sub-SELECT with rows of units is folded for; null: it is the answer's level.
static Folded fold_at(const Level *level, const Level *answer, const Fold *around, ParseState *source) {
    Query *query = level->query;
    Folded folded = fold_from(level, answer, around, source);
    Node *targets = with_own_values(reinterpret_cast<Node *>(query->targetList), level, answer);
    query->targetList = reinterpret_cast<List *>(targets);
    query->havingQual = with_own_values(query->havingQual, level, answer);
    if (keeps_rows(query))
        (void)fold_sub_selects(targets, &folded);
    fold_tests(query, &folded);
    query->targetList = reinterpret_cast<List *>(on_facades(targets, level, &folded, source, &query->hasSubLinks));
    query->havingQual = on_facades(query->havingQual, level, &folded, source, &query->hasSubLinks);
    query->jointree->quals = folded.condition;
    return folded;
}

Folded fold_level(const Level *level, ParseState *source) {
    return fold_at(level, level, nullptr, source);
}

} // namespace dp::query
