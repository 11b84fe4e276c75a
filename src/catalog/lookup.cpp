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

static void visit(const Lookup &lookup, int nkeys, ScanKey keys, SeeRow see, void *argument) {
    SysScanDesc scan =
        systable_beginscan(lookup.table, lookup.key, OidIsValid(lookup.key), lookup.snapshot, nkeys, keys);
    for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple); tuple = systable_getnext(scan)) {
        CHECK_FOR_INTERRUPTS();
        see(Row{tuple, RelationGetDescr(lookup.table)}, argument);
    }
    systable_endscan(scan);
}

static void keep(const Row &row, void *rows) {
    auto *kept = static_cast<Row *>(palloc(sizeof(Row)));
    *kept = Row{heap_copytuple(row.tuple), row.columns};
    *static_cast<List **>(rows) = lappend(*static_cast<List **>(rows), kept);
}

static List *scan(const Lookup &lookup, int nkeys, ScanKey keys) {
    List *rows = NIL;
    visit(lookup, nkeys, keys, keep, &rows);
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

void Lookup::each_with(const char *column, Datum uuid, const char *index, SeeRow see, void *argument,
                       const int64 *id) const {
    ScanKeyData keys[2];
    const Oid relation = RelationGetRelid(table);
    ScanKeyInit(&keys[0], get_attnum(relation, column), BTEqualStrategyNumber, F_UUID_EQ, uuid);
    if (id != nullptr)
        ScanKeyInit(&keys[1], get_attnum(relation, "id"), BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(*id));
    Lookup by_index = *this;
    by_index.key = get_relname_relid(index, border::extension_schema());
    visit(by_index, id == nullptr ? 1 : 2, keys, see, argument);
}

List *Lookup::rows_with(const char *column, Datum uuid, const char *index) const {
    List *rows = NIL;
    each_with(column, uuid, index, keep, &rows);
    return rows;
}

void Lookup::each(SeeRow see, void *argument) const {
    visit(*this, 0, nullptr, see, argument);
}

List *Lookup::all_rows() const {
    return scan(*this, 0, nullptr);
}

List *Lookup::rows(Datum first, const char *second) const {
    ScanKeyData keys[2];
    set_first(*this, &keys[0], first);
    ScanKeyEntryInitialize(&keys[1], 0, 2, BTEqualStrategyNumber, InvalidOid, DEFAULT_COLLATION_OID, F_TEXTEQ,
                           CStringGetTextDatum(second));
    return scan(*this, 2, keys);
}

} // namespace dp::catalog
