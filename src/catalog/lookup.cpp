#include "catalog/lookup.hpp"

#include "border/versions.hpp"

namespace dp::catalog {

Datum Row::value(const char *column, bool *isnull) const {
    for (int i = 0; i < columns->natts; i++) {
        Form_pg_attribute attribute = TupleDescAttr(columns, i);
        if (!attribute->attisdropped && strcmp(NameStr(attribute->attname), column) == 0)
            return heap_getattr(tuple, i + 1, columns, isnull);
    }
    refuse_state(psprintf("the extension dp_rdr in this database is older than its library: no column \"%s\"", column),
                 "ALTER EXTENSION dp_rdr UPDATE;");
}

Datum Row::value(const char *column) const {
    bool isnull;
    Datum found = value(column, &isnull);
    if (isnull)
        elog(ERROR, "column \"%s\" is null", column);
    return found;
}

char *Row::string(const char *column) const {
    bool isnull;
    Datum found = value(column, &isnull);
    return isnull ? nullptr : TextDatumGetCString(found);
}

void Row::append_version(StringInfo versions) const {
    appendStringInfo(versions, "%u/%u/%u ", HeapTupleHeaderGetRawXmin(tuple->t_data),
                     ItemPointerGetBlockNumber(&tuple->t_self), ItemPointerGetOffsetNumber(&tuple->t_self));
}

Lookup Lookup::open(const char *table, const Reading &reading) {
    border::UsageScope usage = border::UsageScope::enter();
    border::UncountedScope uncounted = border::UncountedScope::enter();
    Oid relation = get_relname_relid(table, border::extension_schema());
    if (!OidIsValid(relation))
        elog(ERROR, "dp_rdr.%s is missing", table);
    Relation opened = table_open(relation, AccessShareLock);
    return Lookup{usage, uncounted, opened, border::primary_key_index(opened), reading.snapshot};
}

void Lookup::close() const {
    table_close(table, AccessShareLock);
    uncounted.leave();
    usage.leave();
}

static List *append_copy(List *rows, HeapTuple tuple, const Lookup &lookup) {
    CHECK_FOR_INTERRUPTS();
    auto *row = static_cast<Row *>(palloc(sizeof(Row)));
    *row = Row{heap_copytuple(tuple), RelationGetDescr(lookup.table)};
    return lappend(rows, row);
}

static List *scan(const Lookup &lookup, int nkeys, ScanKey keys) {
    List *rows = NIL;
    SysScanDesc scan =
        systable_beginscan(lookup.table, lookup.key, OidIsValid(lookup.key), lookup.snapshot, nkeys, keys);
    for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple); tuple = systable_getnext(scan))
        rows = append_copy(rows, tuple, lookup);
    systable_endscan(scan);
    return rows;
}

// The first column of a key is an oid (regclass, regrole), a uuid or a number.
static void set_first(const Lookup &lookup, ScanKey key, Datum value) {
    Oid type = TupleDescAttr(RelationGetDescr(lookup.table), 0)->atttypid;
    RegProcedure equal = type == UUIDOID ? F_UUID_EQ : type == INT8OID ? F_INT8EQ : F_OIDEQ;
    ScanKeyInit(key, 1, BTEqualStrategyNumber, equal, value);
}

List *Lookup::rows(Datum first, Oid second) const {
    ScanKeyData keys[2];
    set_first(*this, &keys[0], first);
    ScanKeyInit(&keys[1], 2, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(second));
    return scan(*this, OidIsValid(second) ? 2 : 1, keys);
}

List *Lookup::rows(Datum first, Oid second, Datum third) const {
    ScanKeyData keys[3];
    set_first(*this, &keys[0], first);
    ScanKeyInit(&keys[1], 2, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(second));
    ScanKeyInit(&keys[2], 3, BTEqualStrategyNumber, F_BYTEAEQ, third);
    return scan(*this, 3, keys);
}

List *Lookup::rows_with(const char *column, Datum uuid, const char *index) const {
    ScanKeyData key;
    ScanKeyInit(&key, get_attnum(RelationGetRelid(table), column), BTEqualStrategyNumber, F_UUID_EQ, uuid);
    Lookup by_index = *this;
    by_index.key = get_relname_relid(index, border::extension_schema());
    return scan(by_index, 1, &key);
}

static void set_text(ScanKey key, const char *value) {
    ScanKeyEntryInitialize(key, 0, 2, BTEqualStrategyNumber, InvalidOid, DEFAULT_COLLATION_OID, F_TEXTEQ,
                           CStringGetTextDatum(value));
}

List *Lookup::rows(Datum first, const char *second) const {
    ScanKeyData keys[2];
    set_first(*this, &keys[0], first);
    set_text(&keys[1], second);
    return scan(*this, 2, keys);
}

List *Lookup::rows_between(Datum uuid, const char *second, int64 first, int64 last) const {
    ScanKeyData keys[3];
    set_first(*this, &keys[0], uuid);
    set_text(&keys[1], second);
    ScanKeyInit(&keys[2], 3, BTLessEqualStrategyNumber, F_INT8LE, Int64GetDatum(last));
    Relation index = index_open(key, AccessShareLock);
    SysScanDesc scan = systable_beginscan_ordered(table, index, snapshot, 3, keys);
    List *rows = NIL;
    for (int64 number = PG_INT64_MAX; number > first;) {
        HeapTuple tuple = systable_getnext_ordered(scan, BackwardScanDirection);
        if (!HeapTupleIsValid(tuple))
            break;
        rows = append_copy(rows, tuple, *this);
        bool isnull;
        number = DatumGetInt64(heap_getattr(tuple, 3, RelationGetDescr(table), &isnull));
    }
    systable_endscan_ordered(scan);
    index_close(index, AccessShareLock);
    return rows;
}

} // namespace dp::catalog
