#include "rows/engine.hpp"

namespace dp::rows {

// Without Citus one look-up of a name that is not there.
bool is_on_other_nodes(Oid table) {
    Oid partitions = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
    if (!OidIsValid(partitions))
        return false;
    Relation relation = table_open(partitions, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table)); // logicalrelid
    SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, nullptr, 1, &key);
    bool found = HeapTupleIsValid(systable_getnext(scan));
    systable_endscan(scan);
    table_close(relation, AccessShareLock);
    return found;
}

} // namespace dp::rows
