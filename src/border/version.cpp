#include <algorithm>

#include "border/version.hpp"

namespace dp::border {

// Found equal, and nothing was heard since that an update could have said.
static bool known_equal = false;
static bool heard = false; // of a change, since the last look began

static void forget_relation(Datum, Oid) {
    known_equal = false;
    heard = true;
}

static void forget_function(Datum, int, uint32) {
    known_equal = false;
    heard = true;
}

static void listen() {
    static bool listening = false;
    if (listening)
        return;
    // Registered for good: a few slots are all that a process has.
    CacheRegisterRelcacheCallback(forget_relation, Datum(0));
    CacheRegisterSyscacheCallback(PROCOID, forget_function, Datum(0));
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
                             "help, install "
                             "the library of version %s.",
                             installed)));
    pg_unreachable();
}

void check_version() {
    if (known_equal)
        return;
    listen();
    heard = false;
    char *installed = installed_version();
    if (installed == nullptr)
        return;
    if (strcmp(installed, library_version) != 0)
        refuse_version(installed);
    known_equal = !heard; // opening pg_extension hears of changes, which may be such
    pfree(installed);
}

} // namespace dp::border
