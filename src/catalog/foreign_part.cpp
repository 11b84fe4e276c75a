#include "catalog/foreign_part.hpp"

#include <algorithm>
#include <cstring>

#include "border/each.hpp"
#include "border/versions.hpp"

namespace dp::catalog {

bool is_foreign_table(Oid relation) {
    return get_rel_relkind(relation) == RELKIND_FOREIGN_TABLE;
}

bool has_foreign_table(const List *relations) {
    for (Oid relation : border::each_oid(relations))
        if (is_foreign_table(relation))
            return true;
    return false;
}

static const char *text_option(const List *options, const char *name) {
    for (auto *option : border::each<DefElem>(options))
        if (strcmp(option->defname, name) == 0)
            return defGetString(option);
    return nullptr;
}

// Whoever may make a wrapper is a superuser, so its extension says what it does.
static bool is_postgres_fdw(Oid wrapper) {
    Oid extension = get_extension_oid("postgres_fdw", true);
    return OidIsValid(extension) && getExtensionOfObject(ForeignDataWrapperRelationId, wrapper) == extension;
}

static bool has_mapping(Oid role, Oid server) {
    return SearchSysCacheExists2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(role), ObjectIdGetDatum(server));
}

const char *fault_of_foreign_part(Oid part, Oid owner, const char **remedy) {
    const ForeignServer *server = GetForeignServer(GetForeignTable(part)->serverid);
    const char *name = quote_identifier(server->servername), *role = quote_identifier(GetUserNameFromId(owner, false));
    if (!is_postgres_fdw(server->fdwid)) {
        *remedy = "Detach it. Partitions may be foreign tables of postgres_fdw alone.";
        return "is a foreign table of another wrapper than postgres_fdw";
    }
    if (GetDatabaseEncoding() != PG_UTF8) { // of texts it is told apart before a charge, by those of four lengths
        *remedy = "Keep such tables in a database in UTF8.";
        return "is a foreign table, and this database is not in UTF8";
    }
    // The empty user stands for PUBLIC.
    if (!has_mapping(owner, server->serverid) && !has_mapping(InvalidOid, server->serverid)) {
        *remedy = psprintf("CREATE USER MAPPING FOR %s SERVER %s OPTIONS (...).", role, name);
        return psprintf("is on foreign server %s, where the owner %s has no user mapping", name, role);
    }
    return nullptr;
}

namespace {
// Which database of which server, whatever the foreign server is called, and which table there. "" where an option is not set.
constexpr const char *whereabouts[] = {"host", "hostaddr", "port", "dbname", "service"};
struct Place {
    Oid part;
    const char *names[std::size(whereabouts) + 2];
};
} // namespace

static Place place_of(Oid part) {
    const ForeignTable *table = GetForeignTable(part);
    const ForeignServer *server = GetForeignServer(table->serverid);
    Place place = {part, {}};
    int n = 0;
    for (const char *option : whereabouts) {
        const char *value = text_option(server->options, option);
        place.names[n++] = value ? value : "";
    }
    const char *schema = text_option(table->options, "schema_name"), *name = text_option(table->options, "table_name");
    place.names[n++] = schema ? schema : get_namespace_name(get_rel_namespace(part));
    place.names[n++] = name ? name : get_rel_name(part);
    return place;
}

static int compare(const Place &a, const Place &b) {
    int order = 0;
    for (size_t i = std::size(whereabouts) + 2; i-- > 0 && order == 0;) // the table differs most often
        order = strcmp(a.names[i], b.names[i]);
    return order;
}

Oid repeated_foreign_part(const List *parts) {
    auto *places = static_cast<Place *>(palloc(sizeof(Place) * (list_length(parts) + 1)));
    int n = 0;
    for (Oid oid : border::each_oid(parts))
        if (is_foreign_table(oid))
            places[n++] = place_of(oid);
    std::sort(places, places + n, [](const Place &a, const Place &b) { return compare(a, b) < 0; });
    for (int i = 1; i < n; i++)
        if (compare(places[i - 1], places[i]) == 0)
            return places[i].part;
    return InvalidOid;
}

const char *server_name(Oid foreign_table) {
    return quote_identifier(GetForeignServer(GetForeignTable(foreign_table)->serverid)->servername);
}

// Returns a copy of the first row of one of Citus's catalogs that meets the keys; null: there is none, or no Citus.
static HeapTuple find(const char *name, ScanKeyData *keys, int nkeys, TupleDesc *columns) {
    Oid oid = get_relname_relid(name, PG_CATALOG_NAMESPACE);
    if (!OidIsValid(oid))
        return nullptr;
    Relation relation = table_open(oid, AccessShareLock);
    SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, nullptr, nkeys, keys);
    HeapTuple row = systable_getnext(scan);
    row = HeapTupleIsValid(row) ? heap_copytuple(row) : nullptr;
    *columns = CreateTupleDescCopy(RelationGetDescr(relation));
    systable_endscan(scan);
    table_close(relation, AccessShareLock);
    return row;
}

bool read_citus(const char *name, ScanKeyData *keys, int nkeys, AttrNumber column, Datum *value) {
    TupleDesc columns;
    HeapTuple row = find(name, keys, nkeys, &columns);
    bool isnull;
    if (row != nullptr)
        *value = heap_getattr(row, column, columns, &isnull);
    return row != nullptr;
}

// The column by which rows are distributed is a Var in the catalog.
Distribution distribution_of(Oid table) {
    ScanKeyData key;
    ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table)); // logicalrelid
    TupleDesc columns;
    HeapTuple row = find("pg_dist_partition", &key, 1, &columns);
    Distribution found = {};
    if (row == nullptr)
        return found;
    bool isnull;
    found.method = DatumGetChar(heap_getattr(row, 2, columns, &isnull));
    Datum column = heap_getattr(row, 3, columns, &isnull);
    if (!isnull)
        found.column = castNode(Var, stringToNode(TextDatumGetCString(column)))->varattno;
    found.group = DatumGetUInt32(heap_getattr(row, 4, columns, &isnull));
    found.copied = DatumGetChar(heap_getattr(row, 5, columns, &isnull)) == 't';
    return found;
}

bool is_known_to_citus(Oid table) {
    return distribution_of(table).method != 0;
}

Oid shard_here(Oid table) {
    ScanKeyData keys[2];
    Datum shard, group, placement;
    if (distribution_of(table).method != by_nothing)
        return InvalidOid;
    ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table)); // logicalrelid
    if (!read_citus("pg_dist_shard", keys, 1, 2, &shard) || !read_citus("pg_dist_local_group", nullptr, 0, 1, &group))
        return InvalidOid;
    ScanKeyInit(&keys[0], 2, BTEqualStrategyNumber, F_INT8EQ, shard); // shardid
    ScanKeyInit(&keys[1], 5, BTEqualStrategyNumber, F_INT4EQ, group); // groupid
    if (!read_citus("pg_dist_placement", keys, 2, 1, &placement))
        return InvalidOid;
    return get_relname_relid(psprintf("%s_" INT64_FORMAT, get_rel_name(table), DatumGetInt64(shard)),
                             get_rel_namespace(table));
}

List *with_shard(List *parts, Oid table) {
    Oid shard = shard_here(table);
    if (!OidIsValid(shard))
        return parts;
    LockRelationOid(shard, AccessShareLock);
    return lappend_oid(parts, shard);
}

bool is_on_other_nodes(Oid table) {
    return is_known_to_citus(table) && !OidIsValid(shard_here(table));
}

} // namespace dp::catalog
