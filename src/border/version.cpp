#include <algorithm>

#include "border/version.hpp"

namespace dp::border {

// Holds what an update could have changed, and how many there were before the look that found the versions equal.
static uint64 changes = 1, equal_since = 0;

static void count_relation(Datum, Oid) {
    changes++;
}

static void count_function(Datum, int, uint32) {
    changes++;
}

static void listen() {
    static bool listening = false;
    if (listening)
        return;
    // Registered for good: a few slots are all that a process has.
    CacheRegisterRelcacheCallback(count_relation, Datum(0));
    CacheRegisterSyscacheCallback(PROCOID, count_function, Datum(0));
    listening = true;
}

// extversion of pg_extension, null if the extension is not there; palloc'd. It has no cache in the server before 18.
static char *installed_version() {
    Relation extensions = table_open(ExtensionRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum("dp_rdr"));
    SysScanDesc scan = systable_beginscan(extensions, ExtensionNameIndexId, true, nullptr, 1, &key);
    HeapTuple row = systable_getnext(scan);
    char *version = nullptr;
    if (HeapTupleIsValid(row)) {
        bool isnull;
        Datum value = heap_getattr(row, Anum_pg_extension_extversion, RelationGetDescr(extensions), &isnull);
        version = isnull ? nullptr : TextDatumGetCString(value);
    }
    systable_endscan(scan);
    table_close(extensions, AccessShareLock);
    return version;
}

[[noreturn]] static void refuse_version(const char *installed) {
    // Named in the order of versions only to choose the hint; the digits of each part may be several.
    int theirs[3] = {}, ours[3] = {};
    sscanf(installed, "%d.%d.%d", &theirs[0], &theirs[1], &theirs[2]);
    sscanf(library_version, "%d.%d.%d", &ours[0], &ours[1], &ours[2]);
    bool older = std::lexicographical_compare(theirs, theirs + 3, ours, ours + 3);
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("extension dp_rdr in this database is version %s, the library is %s", installed, library_version),
             older ? errhint("A superuser can run ALTER EXTENSION dp_rdr UPDATE in this database.")
                   : errhint("Reconnect, after a restart of the server if it preloads the library; if that does not "
                             "help, install the library of version %s.",
                             installed)));
    pg_unreachable();
}

void check_version() {
    if (equal_since == changes)
        return;
    listen();
    const uint64 before = changes;
    char *installed = installed_version();
    if (installed == nullptr)
        return;
    if (strcmp(installed, library_version) != 0)
        refuse_version(installed);
    equal_since = before; // opening pg_extension hears of changes, which may be such
    pfree(installed);
}

} // namespace dp::border
