#include "query/passed_rows.hpp"

#include "border/each.hpp"
#include "border/permissions.hpp"
#include "border/versions.hpp"
#include "border/visit.hpp"
#include "query/hints.hpp"
#include "query/leaf_rows.hpp"
#include "query/make.hpp"

namespace dp::query {

static int number_of(const Query *query, const RangeTblEntry *entry) {
    int number = 1;
    while (rt_fetch(number, query->rtable) != entry)
        number++;
    return number;
}

// Copies an entry to where it is the only one of a query, whose outer levels from `outermost` on are further away. The conditions of row
// security name its own columns.
static RangeTblEntry *moved_entry(const Query *query, const RangeTblEntry *entry, int further, int outermost) {
    auto *own = copyObject(const_cast<RangeTblEntry *>(entry));
    auto *security = reinterpret_cast<Node *>(own->securityQuals);
    own->securityQuals = NIL;
    IncrementVarSublevelsUp_rtable(list_make1(own), further, outermost);
    ChangeVarNodes(security, number_of(query, entry), 1, 0);
    IncrementVarSublevelsUp(security, further, Max(outermost, 1));
    own->securityQuals = reinterpret_cast<List *>(security);
    return own;
}

bool has_rows_to_pass(const RangeTblEntry *entry, const Level *level, const Level *answer) {
    const Level below = query_of(entry, level);
    if (entry->rtekind == RTE_CTE)
        return below.query != nullptr && static_cast<int>(entry->ctelevelsup) >= move_to(level, answer).distance &&
               follows_from_no_row(below.query, below.outer, below.outer);
    auto *query = below.query;
    if (query == nullptr) {
        query = make_select();
        query->rtable = list_make1(moved_entry(level->query, entry, 1, 0));
    }
    return follows_from_no_row(query, level, answer);
}

// A column is found by its number: where one was dropped there is a NULL.
static void add_column(Query *all, Node *column, const char *name) {
    while (list_length(all->targetList) + 1 < castNode(Var, column)->varattno)
        add_target(all, reinterpret_cast<Node *>(makeNullConst(INT4OID, -1, InvalidOid)), "dropped");
    add_target(all, column, name);
}

// SELECT * FROM the entry, one level lower than the answer will stand.
static Query *select_all(const Query *query, const RangeTblEntry *entry, const Move &move) {
    Query *all = make_select();
    RangeTblEntry *own = moved_entry(query, entry, move.delta + 1, move.distance);
    add_item(all, own);
    border::copy_permission(query, entry, all, own);
    all->hasSubLinks = query->hasSubLinks;
    all->hasRowSecurity = query->hasRowSecurity;
    List *names, *columns;
    border::expand_entry(own, 1, &names, &columns);
    ListCell *name, *column;
    forboth(name, names, column, columns) add_column(all, static_cast<Node *>(lfirst(column)), strVal(lfirst(name)));
    return all;
}

static CommonTableExpr *with_of(Query *rows, int number) {
    auto *with = makeNode(CommonTableExpr);
    with->ctename = psprintf("dp_rdr rows %d", number);
    with->ctematerialized = CTEMaterializeAlways;
    with->ctequery = reinterpret_cast<Node *>(rows);
    with->location = -1;
    for (auto *target : border::each<TargetEntry>(rows->targetList)) {
        auto *column = reinterpret_cast<Node *>(target->expr);
        with->ctecolnames = lappend(with->ctecolnames, makeString(target->resname));
        with->ctecoltypes = lappend_oid(with->ctecoltypes, exprType(column));
        with->ctecoltypmods = lappend_int(with->ctecoltypmods, exprTypmod(column));
        with->ctecolcollations = lappend_oid(with->ctecolcollations, exprCollation(column));
    }
    return with;
}

// ARRAY(SELECT column FROM rows)
static SubLink *array_of(CommonTableExpr *with, const TargetEntry *target) {
    RangeVar *name = makeRangeVar(nullptr, with->ctename, -1);
    Query *query = make_select();
    add_item(query, addRangeTableEntryForCTE(make_parsestate(nullptr), with, 1, name, true)->p_rte);
    add_target(query,
               reinterpret_cast<Node *>(column_showing(1, target->resno, reinterpret_cast<Node *>(target->expr))),
               target->resname);
    auto *link = makeNode(SubLink);
    link->subLinkType = ARRAY_SUBLINK;
    link->subselect = reinterpret_cast<Node *>(query);
    link->location = -1;
    return link;
}

// A value of a type that has no array is nobody's column: a leaf that names it is refused.
static RangeTblFunction *column_from(CommonTableExpr *with, const TargetEntry *target) {
    auto *column = reinterpret_cast<Node *>(target->expr);
    const Oid type = getBaseType(exprType(column));
    auto *call = makeFuncExpr(F_UNNEST_ANYARRAY, type, list_make1(marked_value(array_of(with, target))),
                              exprCollation(column), exprCollation(column), COERCE_EXPLICIT_CALL);
    call->funcretset = true;
    auto *function = makeNode(RangeTblFunction);
    function->funcexpr = reinterpret_cast<Node *>(call);
    function->funccolcount = 1;
    return function;
}

RangeTblEntry *pass_rows(const Query *query, const RangeTblEntry *entry, const Move &move, int number,
                         CommonTableExpr **with) {
    Query *rows = select_all(query, entry, move);
    *with = with_of(rows, number);
    auto *passed = makeNode(RangeTblEntry);
    passed->rtekind = RTE_FUNCTION;
    passed->inFromCl = true;
    for (auto *target : border::each<TargetEntry>(rows->targetList))
        passed->functions = lappend(passed->functions, column_from(*with, target));
    passed->alias = makeAlias(entry->eref->aliasname, static_cast<List *>(copyObject((*with)->ctecolnames)));
    passed->eref = copyObject(passed->alias);
    return passed;
}

static Bitmapset *used_columns(Query *leaf, int varno) {
    Bitmapset *used = nullptr;
    border::visit_query(leaf, QTW_IGNORE_JOINALIASES, [&](Node *node, Index level) {
        auto *column = reinterpret_cast<Var *>(node);
        if (IsA(node, Var) && column->varno == varno && column->varlevelsup == level) {
            if (column->varattno <= 0)
                refuse_part("a system column", "Name columns.", nullptr, -1);
            used = bms_add_member(used, column->varattno);
        }
        return border::Step::in;
    });
    return used;
}

static bool has_array(const RangeTblEntry *entry, int column) {
    const Oid type = call_of(entry, column)->funcresulttype;
    return OidIsValid(get_array_type(type)) && !OidIsValid(get_element_type(type));
}

// The first column of which there is an array; else the first.
static int any_column(const RangeTblEntry *entry) {
    for (int column = 1; column <= list_length(entry->functions); column++)
        if (has_array(entry, column))
            return column;
    return 1;
}

static void check_array(const RangeTblEntry *entry, int column) {
    const Oid type = call_of(entry, column)->funcresulttype;
    if (!has_array(entry, column))
        refuse_part(psprintf("column %s, of type %s, of rows that are joined",
                             quote_identifier(strVal(list_nth(entry->eref->colnames, column - 1))),
                             format_type_be(type)),
                    "Cast it to a type that PostgreSQL brings along: x::text.", nullptr, -1);
}

void forget_unused_columns(Query *leaf) {
    ListCell *cell;
    foreach (cell, leaf->rtable) {
        const auto *entry = lfirst_node(RangeTblEntry, cell);
        if (entry->rtekind != RTE_FUNCTION)
            continue;
        Bitmapset *used = used_columns(leaf, foreach_current_index(cell) + 1);
        if (bms_is_empty(used)) // how many rows there are
            used = bms_make_singleton(any_column(entry));
        for (int column = 1; column <= list_length(entry->functions); column++) {
            FuncExpr *call = call_of(entry, column);
            if (bms_is_member(column, used))
                check_array(entry, column);
            else {
                call->funcresulttype = INT4OID;
                call->funccollid = call->inputcollid = InvalidOid;
                linitial(call->args) = makeNullConst(INT4ARRAYOID, -1, InvalidOid);
            }
        }
    }
}

} // namespace dp::query
