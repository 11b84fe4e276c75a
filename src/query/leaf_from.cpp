#include "query/leaf_from.hpp"

#include "border/each.hpp"
#include "border/permissions.hpp"
#include "query/leaf_rows.hpp"
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
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_JOIN;
    entry->jointype = join->jointype;
    entry->inFromCl = true;
    entry->joinleftcols = list_copy(left.numbers);
    entry->joinrightcols = list_copy(right.numbers);
    List *names = list_concat_copy(left.names, right.names), *columns = list_concat_copy(left.columns, right.columns);
    entry->joinaliasvars = static_cast<List *>(copyObject(columns));
    entry->eref = makeAlias("unnamed_join", static_cast<List *>(copyObject(names)));
    leaf->rtable = lappend(leaf->rtable, entry);
    join->rtindex = list_length(leaf->rtable);
    List *numbers = NIL;
    for (int i = 1; i <= list_length(names); i++)
        numbers = lappend_int(numbers, i);
    return Joinable{join->rtindex, names, columns, numbers};
}

static Joinable people_of_join(int index, const RangeTblEntry *entry) {
    Joinable source = {index, entry->eref->colnames, NIL, NIL};
    for (auto *target : border::each<TargetEntry>(entry->subquery->targetList)) {
        if (target->resjunk)
            continue;
        auto *column = reinterpret_cast<Node *>(target->expr);
        source.columns = lappend(source.columns, makeVar(index, target->resno, exprType(column), exprTypmod(column),
                                                         exprCollation(column), 0));
        source.numbers = lappend_int(source.numbers, target->resno);
    }
    return source;
}

static Joinable passed_rows_of_join(int index, const RangeTblEntry *entry) {
    Joinable source = {index, static_cast<List *>(copyObject(entry->eref->colnames)), NIL, NIL};
    for (int i = 1; i <= columns_of(InvalidOid, entry); i++) {
        source.columns = lappend(source.columns, column_of(index, InvalidOid, entry, static_cast<AttrNumber>(i)));
        source.numbers = lappend_int(source.numbers, i);
    }
    return source;
}

static Joinable source_of_join(const Query *leaf, int index) {
    const RangeTblEntry *entry = rt_fetch(index, leaf->rtable);
    if (entry->rtekind == RTE_FUNCTION)
        return passed_rows_of_join(index, entry);
    if (entry->rtekind == RTE_SUBQUERY)
        return people_of_join(index, entry);
    Relation relation = table_open(entry->relid, NoLock);
    Joinable source = {index, NIL, NIL, NIL};
    for (int i = 0; i < RelationGetDescr(relation)->natts; i++) {
        const FormData_pg_attribute *column = TupleDescAttr(RelationGetDescr(relation), i);
        if (column->attisdropped)
            continue;
        source.names = lappend(source.names, list_nth(entry->eref->colnames, i));
        source.columns = lappend(source.columns, makeVar(index, column->attnum, column->atttypid, column->atttypmod,
                                                         column->attcollation, 0));
        source.numbers = lappend_int(source.numbers, column->attnum);
    }
    table_close(relation, NoLock);
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

static RangeTblEntry *people_entry(Query *people, const char *name) {
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_SUBQUERY;
    entry->subquery = people;
    entry->inFromCl = true;
    List *names = NIL;
    for (auto *target : border::each<TargetEntry>(people->targetList))
        if (!target->resjunk)
            names = lappend(names, makeString(pstrdup(target->resname)));
    entry->alias = makeAlias(name, NIL);
    entry->eref = makeAlias(name, names);
    return entry;
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
            leaf->rtable = lappend(leaf->rtable, people_entry(below, alias == nullptr ? "t" : alias));
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

static bool is_taken(const char *name, const List *taken) {
    ListCell *cell;
    foreach (cell, taken)
        if (strcmp(strVal(lfirst(cell)), name) == 0)
            return true;
    return false;
}

// Its own, or one that no column has.
static char *another_name(const char *name, const List *taken, int number) {
    if (name != nullptr && *name != '\0' && strcmp(name, "?column?") != 0 && !is_taken(name, taken))
        return pstrdup(name);
    char *other = psprintf("c%d", number);
    while (is_taken(other, taken))
        other = psprintf("%s_", other);
    return other;
}

Query *people_query(const Query *level, const Folded *folded, const List *names) {
    auto *leaf = makeNode(Query);
    leaf->commandType = CMD_SELECT;
    leaf->canSetTag = true;
    leaf->hasAggs = level->hasAggs;
    leaf->hasSubLinks = level->hasSubLinks;
    leaf->targetList = static_cast<List *>(copyObject(level->targetList));
    leaf->groupClause = static_cast<List *>(copyObject(level->groupClause));
    leaf->havingQual = static_cast<Node *>(copyObject(level->havingQual));
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
            check_opened(reinterpret_cast<Node *>(
                             list_make3(query->targetList, query->havingQual, query->jointree->quals)),
                         foreach_current_index(cell) + 1, lfirst_node(Query, cell)->targetList, source);
}

} // namespace dp::query
