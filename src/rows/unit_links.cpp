#include "rows/unit_links.hpp"

#include "border/each.hpp"
#include "catalog/facade.hpp"
#include "rows/canonical.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

// ---- links ---------------------------------------------------------------------------------------------------------

// Returns the column as the operators of its default btree class take it.
static Expr *as_compared(const Var *column, const TypeCacheEntry *type) {
    return reinterpret_cast<Expr *>(relabelled(as_node(copyObject(const_cast<Var *>(column))), type->btree_opintype));
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
    auto *link = reinterpret_cast<OpExpr *>(make_opclause(equals, BOOLOID, false, as_compared(left, of_left),
                                                          as_compared(right, of_right), InvalidOid, left->varcollid));
    set_opfuncid(link);
    return as_node(link);
}

// Long texts are never fetched: each scan leaves them out before its rows are joined, hashed or sorted.
static List *with_short(List *conditions, const Var *column) {
    Node *condition = short_key_condition(as_node(const_cast<Var *>(column)));
    return condition == nullptr ? conditions : lappend(conditions, condition);
}

static List *step_conditions(const Question *question, const catalog::UnitPath *at, int varno, int of_parent) {
    List *conditions = NIL;
    for (int i = 0; i < at->ncolumns; i++) {
        Var *from = source_column(question, at->relation, varno, at->columns[i]);
        Var *to = source_column(question, at->parent->relation, of_parent, at->parent_key[i]);
        conditions = with_short(with_short(lappend(conditions, equality(from, to)), from), to);
    }
    return conditions;
}

// The parent of a row, if it is a source on no nullable side that WHERE links to it; 0: it is none, or not linked.
static int joined_parent(const Question *question, const query::Joined *joined, const catalog::UnitPath *at,
                         int varno) {
    for (int i = 0; joined != nullptr && i < question->nsources; i++) {
        const query::Source *source = question->sources[i].source;
        if (question->sources[i].relation == at->parent_relation && !source->nullable && source->varno != varno &&
            query::are_equated(joined->equalities, nullptr, at->ncolumns, varno, at->columns, source->varno,
                               at->parent_key))
            return source->varno;
    }
    return 0;
}

Units *units_of(const Question *question, const catalog::UnitPath *path, int varno, int entries,
                       const query::Joined *joined) {
    auto *units = zeroed<Units>();
    units->path = path;
    units->joined = joined;
    List *conditions = NIL;
    const catalog::UnitPath *at = path;
    for (; !at->direct; at = at->parent) {
        int parent = joined_parent(question, joined, at, varno);
        if (parent == 0) {
            units->ancestors = lappend_oid(units->ancestors, at->parent->relation);
            parent = entries + list_length(units->ancestors);
        }
        conditions = list_concat(conditions, step_conditions(question, at, varno, parent));
        varno = parent;
    }
    for (int i = 0; i < at->ncolumns; i++) {
        Var *column = source_column(question, at->relation, varno, at->columns[i]);
        units->values = lappend(units->values, column);
        conditions = with_short(lappend(conditions, null_test(as_node(copyObject(column)), IS_NOT_NULL)), column);
    }
    units->links = as_node(make_ands_explicit(conditions));
    units->clipped = !path->keyed || joined != nullptr;
    return units;
}

// ---- opening -------------------------------------------------------------------------------------------------------

void lock_in_order(List *relations) {
    list_sort(relations, list_oid_cmp);
    list_deduplicate_oid(relations);
    for (Oid relation : border::each_oid(relations))
        LockRelationOid(relation, AccessShareLock);
}

const List *lock_and_check(catalog::Settings *settings) {
    catalog::UnitPath *path = settings->unit;
    if (path == nullptr)
        return catalog::check_protectable(settings->relation);
    List *checked = catalog::check_protectable(settings->relation);
    return list_concat_unique_oid(checked, catalog::check_unit_path(path));
}

} // namespace dp::rows
