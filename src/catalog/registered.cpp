#include "catalog/registered.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"

namespace dp::catalog {

// Tells whether a row of a table of the catalog has the value in a column, by an index on it; null: the primary key.
static bool has_row(const char *table, const char *column, const char *index_name, Oid value) {
    Oid catalog = get_relname_relid(table, border::extension_schema());
    if (!OidIsValid(catalog))
        return false;
    Relation relation = table_open(catalog, AccessShareLock);
    Oid index = index_name == nullptr ? border::primary_key_index(relation)
                                      : get_relname_relid(index_name, border::extension_schema());
    ScanKeyData key;
    ScanKeyInit(&key, get_attnum(catalog, column), BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(value));
    // No snapshot: the scan takes the catalog's, which is as recent as the latest one, and may be taken in a parallel
    // operation too.
    SysScanDesc scan = systable_beginscan(relation, index, OidIsValid(index), nullptr, 1, &key);
    bool found = HeapTupleIsValid(systable_getnext(scan));
    systable_endscan(scan);
    table_close(relation, AccessShareLock);
    return found;
}

bool is_registered_view(Oid view) {
    return has_row("restricted_view", "view", nullptr, view);
}

bool is_protected_table(Oid relation) {
    return has_row("protected_table", "relation", nullptr, relation);
}

bool is_public_table(Oid relation) {
    return has_row("public_table", "relation", "public_table_relation_idx", relation);
}

// The tables that a table is a partition or a child of.
static List *parents_of(Oid relation) {
    List *parents = NIL;
    Relation inherits = table_open(InheritsRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
    SysScanDesc scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, nullptr, 1, &key);
    for (HeapTuple row = systable_getnext(scan); HeapTupleIsValid(row); row = systable_getnext(scan))
        parents = lappend_oid(parents, ((Form_pg_inherits)GETSTRUCT(row))->inhparent);
    systable_endscan(scan);
    table_close(inherits, AccessShareLock);
    return parents;
}

bool is_part_of_protected(Oid relation) {
    // Grows while it is read: a table may have several parents, and they others.
    List *relations = list_make1_oid(relation);
    for (int i = 0; i < list_length(relations); i++) {
        if (is_protected_table(list_nth_oid(relations, i)))
            return true;
        relations = list_concat_unique_oid(relations, parents_of(list_nth_oid(relations, i)));
    }
    return false;
}

} // namespace dp::catalog
