#include "catalog/relations.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"

namespace dp::catalog {

const char *qualified_name(Oid relation) {
    return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation));
}

Oid relation_owner(Oid relation) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for relation %u", relation);
    Oid owner = ((Form_pg_class)GETSTRUCT(tuple))->relowner;
    ReleaseSysCache(tuple);
    return owner;
}

// Tells whether the role owns the database: its owner is a member of pg_database_owner, which no catalog says.
static bool owns_database(Oid role) {
    HeapTuple tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
    bool owns = ((Form_pg_database)GETSTRUCT(tuple))->datdba == role;
    ReleaseSysCache(tuple);
    return owns;
}

List *roles_of(Oid role) {
    HASHCTL control = {};
    control.keysize = control.entrysize = sizeof(Oid);
    control.hcxt = CurrentMemoryContext;
    HTAB *met = hash_create("roles", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    List *roles = NIL;
    auto meet = [&](Oid other) {
        bool known;
        (void)hash_search(met, &other, HASH_ENTER, &known);
        if (!known)
            roles = lappend_oid(roles, other);
    };
    meet(role);
    for (int i = 0; i < list_length(roles); i++) { // grows while it is read
        CHECK_FOR_INTERRUPTS();
        Oid member = list_nth_oid(roles, i);
        CatCList *memberships = SearchSysCacheList1(AUTHMEMMEMROLE, ObjectIdGetDatum(member));
        for (int j = 0; j < memberships->n_members; j++)
            meet(((Form_pg_auth_members)GETSTRUCT(&memberships->members[j]->tuple))->roleid);
        ReleaseSysCacheList(memberships);
        if (owns_database(member))
            meet(ROLE_PG_DATABASE_OWNER);
    }
    hash_destroy(met);
    list_sort(roles, list_oid_cmp);
    return roles;
}

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
