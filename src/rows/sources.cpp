#include "rows/sources.hpp"

#include "border/permissions.hpp"
#include "border/scope.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "rows/canonical.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

// ---- links ---------------------------------------------------------------------------------------------------------

static Var *column_of(Oid relation, int varno, AttrNumber attno) {
    Oid type, collation;
    int32 typmod;
    get_atttypetypmodcoll(relation, attno, &type, &typmod, &collation);
    return makeVar(varno, attno, type, typmod, collation, 0);
}

// As the operators of its default btree class take it.
static Node *as_compared(const Var *column, const TypeCacheEntry *type) {
    Node *node = reinterpret_cast<Node *>(copyObject(const_cast<Var *>(column)));
    if (column->vartype == type->btree_opintype)
        return node;
    return reinterpret_cast<Node *>(makeRelabelType(reinterpret_cast<Expr *>(node), type->btree_opintype, -1,
                                                    column->varcollid, COERCE_IMPLICIT_CAST));
}

// Of one type, or of two of one family: so equalities with constants, and with each other, are transitive. What the planner
// concludes from a link and from what an analyst compares with its columns is what the link says (architecture.md, 3.6).
static Node *equality(const Var *left, const Var *right) {
    TypeCacheEntry *of_left = lookup_type_cache(left->vartype, TYPECACHE_BTREE_OPFAMILY);
    TypeCacheEntry *of_right = lookup_type_cache(right->vartype, TYPECACHE_BTREE_OPFAMILY);
    Oid equals = of_left->btree_opf != of_right->btree_opf
                     ? InvalidOid
                     : get_opfamily_member(of_left->btree_opf, of_left->btree_opintype, of_right->btree_opintype,
                                           BTEqualStrategyNumber);
    if (!OidIsValid(equals))
        elog(ERROR, "columns of a path to a unit cannot be compared");
    auto *link = reinterpret_cast<OpExpr *>(
        make_opclause(equals, BOOLOID, false, reinterpret_cast<Expr *>(as_compared(left, of_left)),
                      reinterpret_cast<Expr *>(as_compared(right, of_right)), InvalidOid, left->varcollid));
    set_opfuncid(link);
    return reinterpret_cast<Node *>(link);
}

static Node *is_there(const Var *column) {
    auto *test = makeNode(NullTest);
    test->arg = reinterpret_cast<Expr *>(copyObject(const_cast<Var *>(column)));
    test->nulltesttype = IS_NOT_NULL;
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

// Long texts are never fetched: each scan leaves them out before its rows are joined, hashed or sorted.
static List *with_short(List *conditions, const Var *column) {
    Node *condition = short_key_condition(reinterpret_cast<Node *>(const_cast<Var *>(column)));
    return condition == nullptr ? conditions : lappend(conditions, condition);
}

static List *step_conditions(const catalog::UnitPath *at, int varno) {
    List *conditions = NIL;
    for (int i = 0; i < at->ncolumns; i++) {
        Var *from = column_of(at->relation, varno, at->columns[i]);
        Var *to = column_of(at->parent->relation, varno + 1, at->parent_key[i]);
        conditions = with_short(with_short(lappend(conditions, equality(from, to)), from), to);
    }
    return conditions;
}

static Units *units_of(const catalog::UnitPath *path) {
    auto *units = static_cast<Units *>(palloc0(sizeof(Units)));
    units->path = path;
    List *conditions = NIL;
    int varno = 1;
    const catalog::UnitPath *at = path;
    for (; !at->direct; at = at->parent) {
        conditions = list_concat(conditions, step_conditions(at, varno++));
        units->ancestors = lappend_oid(units->ancestors, at->parent->relation);
    }
    for (int i = 0; i < at->ncolumns; i++) {
        Var *column = column_of(at->relation, varno, at->columns[i]);
        units->values = lappend(units->values, column);
        conditions = with_short(lappend(conditions, is_there(column)), column);
    }
    units->links = reinterpret_cast<Node *>(make_ands_explicit(conditions));
    units->clipped = !path->keyed;
    return units;
}

// ---- checks --------------------------------------------------------------------------------------------------------

static const List *lock_and_check(catalog::Settings *settings) {
    catalog::UnitPath *path = settings->unit;
    if (path == nullptr)
        return catalog::check_protectable(settings->relation);
    List *checked = catalog::check_protectable(settings->relation);
    return list_concat_unique_oid(checked, catalog::check_unit_path(path));
}

Units *resolve_sources(Question *question) {
    question->checked = lock_and_check(question->settings);
    question->remote = catalog::has_foreign_table(question->checked);
    return question->settings->unit == nullptr ? nullptr : units_of(question->settings->unit);
}

const List *check_sources(const Question *question) {
    const List *checked = lock_and_check(question->settings);
    if (question->units == nullptr)
        return checked;
    // A limit of rows that was charged for holds, also where a key has come since.
    const Units *now = units_of(question->settings->unit);
    if (!equal(now->links, question->units->links) || !equal(now->values, question->units->values) ||
        (now->clipped && !question->units->clipped))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the unit of a row of %s changed while it was asked", question->settings->relation_name),
                        errhint("Its charge stays. Ask again.")));
    return checked;
}

// ---- statements ----------------------------------------------------------------------------------------------------

static void add_source(Query *query, Oid relation) {
    RangeTblEntry *entry = relation_entry(relation, true);
    query->rtable = lappend(query->rtable, entry);
    border::set_permission(query, entry, 0);
    auto *ref = makeNode(RangeTblRef);
    ref->rtindex = list_length(query->rtable);
    query->jointree->fromlist = lappend(query->jointree->fromlist, ref);
}

Query *select_from_sources(const Question *question, Node *where) {
    Node *all = static_cast<Node *>(copyObject(where));
    if (question->units == nullptr || !question->units->clipped)
        return make_aggregation(table_entry(question), all);
    Node *links = static_cast<Node *>(copyObject(question->units->links));
    Query *query = make_aggregation(table_entry(question), make_and_qual(all, links));
    ListCell *cell;
    foreach (cell, question->units->ancestors)
        add_source(query, lfirst_oid(cell));
    return query;
}

} // namespace dp::rows
