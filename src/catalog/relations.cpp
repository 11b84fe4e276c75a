#include "catalog/relations.hpp"

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

} // namespace dp::catalog
