#include "catalog/collation.hpp"

#include "border/versions.hpp"

namespace dp::catalog {

// A text of a row; null: it is NULL.
static const char *text_of(int cache, Oid row, AttrNumber column) {
    HeapTuple tuple = SearchSysCache1(cache, ObjectIdGetDatum(row));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for row %u", row);
    bool isnull;
    Datum value = SysCacheGetAttr(cache, tuple, column, &isnull);
    const char *found = isnull ? nullptr : TextDatumGetCString(value);
    ReleaseSysCache(tuple);
    return found;
}

// The version that it has now, as the server's function of this number says; null: it has none.
static const char *actual_version(Oid function, Oid row) {
    FmgrInfo info;
    LOCAL_FCINFO(call, 1);
    fmgr_info(function, &info);
    InitFunctionCallInfoData(*call, &info, 1, InvalidOid, nullptr, nullptr);
    call->args[0] = {ObjectIdGetDatum(row), false};
    Datum version = FunctionCallInvoke(call);
    return call->isnull ? nullptr : TextDatumGetCString(version);
}

bool is_collation_current(Oid collation) {
    if (border::orders_by_bytes(collation))
        return true;
    const bool of_database = collation == DEFAULT_COLLATION_OID;
    const char *recorded = of_database ? text_of(DATABASEOID, MyDatabaseId, Anum_pg_database_datcollversion)
                                       : text_of(COLLOID, collation, Anum_pg_collation_collversion);
    const char *actual = of_database ? actual_version(F_PG_DATABASE_COLLATION_ACTUAL_VERSION, MyDatabaseId)
                                     : actual_version(F_PG_COLLATION_ACTUAL_VERSION, collation);
    return recorded == nullptr || actual == nullptr ? recorded == actual : strcmp(recorded, actual) == 0;
}

const char *qualified_collation(Oid collation) {
    HeapTuple tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for collation %u", collation);
    auto *form = (Form_pg_collation)GETSTRUCT(tuple);
    const char *name =
        quote_qualified_identifier(get_namespace_name(form->collnamespace), pstrdup(NameStr(form->collname)));
    ReleaseSysCache(tuple);
    return name;
}

const char *collation_name(Oid collation) {
    return collation == DEFAULT_COLLATION_OID ? "the collation of the database"
                                              : psprintf("collation %s", qualified_collation(collation));
}

const char *refresh_of_collation(Oid collation) {
    return collation == DEFAULT_COLLATION_OID
               ? psprintf("ALTER DATABASE %s REFRESH COLLATION VERSION;",
                          quote_identifier(get_database_name(MyDatabaseId)))
               : psprintf("ALTER COLLATION %s REFRESH VERSION;", qualified_collation(collation));
}

} // namespace dp::catalog
