#include "catalog/domain.hpp"

#include "border/listed.hpp"
#include "catalog/co_located.hpp"
#include "catalog/collation.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "catalog/described_row.hpp"
#include "catalog/lookup.hpp"
#include "catalog/relations.hpp"

namespace dp::catalog {

// ---- as it was declared --------------------------------------------------------------------------------------------

// Names in a text[] that is not null.
static const char **names_in(ArrayType *array, int *n) {
    Datum *elements;
    bool *nulls;
    deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, n);
    auto **names = static_cast<const char **>(palloc(sizeof(char *) * (*n + 1)));
    for (int i = 0; i < *n; i++)
        names[i] = nulls[i] ? "" : TextDatumGetCString(elements[i]);
    return names;
}

// 0 for a column that is not there.
static AttrNumber *columns_named(Oid relation, const char *const *names, int n) {
    auto *columns = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * (n + 1)));
    for (int i = 0; i < n; i++)
        columns[i] = Max(get_attnum(relation, names[i]), 0);
    return columns;
}

// Reads what a table's own row says; null where there is none, or a row is a unit.
static UnitPath *read_step(const Lookup &tables, Oid relation, StringInfo versions) {
    const Row *row = only(tables.rows(ObjectIdGetDatum(relation)));
    if (row == nullptr)
        return nullptr;
    row->append_version(versions);
    const RowReader visit{*row};
    ArrayType *unit, *key;
    std::optional<int> max_rows, max_groups, max_rows_per_group;
    std::optional<Oid> parent;
    visit("unit", unit);
    if (unit == nullptr)
        return nullptr;
    auto *step = static_cast<UnitPath *>(palloc0(sizeof(UnitPath)));
    visit("domain", step->domain);
    visit("max_rows", max_rows);
    visit("max_groups", max_groups);
    visit("max_rows_per_group", max_rows_per_group);
    visit("parent", parent);
    visit("parent_key", key);
    step->relation = relation;
    step->names = names_in(unit, &step->ncolumns);
    step->columns = columns_named(relation, step->names, step->ncolumns);
    step->max_rows = max_rows.value_or(0);
    step->max_groups = max_groups.value_or(0);
    step->max_rows_per_group = max_rows_per_group.value_or(0);
    step->parent_relation = parent.value_or(InvalidOid);
    step->direct = key == nullptr;
    if (step->direct)
        return step;
    int n;
    step->key_names = names_in(key, &n);
    if (n != step->ncolumns)
        elog(ERROR, "the unit of %s refers to %d columns by %d", qualified_name(relation), n, step->ncolumns);
    step->parent_key = columns_named(step->parent_relation, step->key_names, n);
    return step;
}

static void read_domain(const Reading &reading, UnitPath *path, StringInfo versions) {
    Lookup domains = Lookup::open("privacy_domain", reading);
    const Row *row = only(domains.rows(UUIDPGetDatum(&path->domain)));
    if (row != nullptr) {
        row->append_version(versions);
        const RowReader visit{*row};
        ArrayType *types;
        std::optional<Oid> table;
        visit("unit_types", types);
        visit("unit_table", table);
        path->ntypes = types == nullptr ? 0 : ArrayGetNItems(ARR_NDIM(types), ARR_DIMS(types));
        path->types = types == nullptr ? nullptr : reinterpret_cast<const Oid *>(ARR_DATA_PTR(types));
        path->unit_table = table.value_or(InvalidOid);
    }
    domains.close();
}

static List *tables_of(const Lookup &tables, pg_uuid_t *domain) {
    List *relations = NIL;
    for (auto *table :
         border::each<const Row>(tables.rows_with("domain", UUIDPGetDatum(domain), "protected_table_domain_idx")))
        relations = lappend_oid(relations, DatumGetObjectId(table->value("relation")));
    list_sort(relations, list_oid_cmp); // messages name the first, wherever its row is
    return relations;
}

UnitPath *read_unit_path(const Reading &reading, Oid relation, StringInfo versions) {
    Lookup tables = Lookup::open("protected_table", reading);
    UnitPath *path = read_step(tables, relation, versions);
    if (path != nullptr)
        path->tables = tables_of(tables, &path->domain);
    int steps = 1;
    for (UnitPath *step = path; step != nullptr && !step->direct; step = step->parent) {
        // None was ever declared that is longer, nor one that leads back.
        if (steps++ < max_unit_steps)
            step->parent = read_step(tables, step->parent_relation, versions);
    }
    tables.close();
    if (path == nullptr)
        return nullptr;
    read_domain(reading, path, versions);
    for (UnitPath *step = path->parent; step != nullptr; step = step->parent) {
        step->ntypes = path->ntypes;
        step->types = path->types;
        step->unit_table = path->unit_table;
    }
    return path;
}

List *hidden_ancestors(const UnitPath *path) {
    List *ancestors = NIL;
    for (const UnitPath *step = path; step != nullptr && !step->direct; step = step->parent)
        ancestors = lappend_oid(ancestors, step->parent_relation);
    return ancestors;
}

// ---- keys ----------------------------------------------------------------------------------------------------------

static bool is_key(const FormData_pg_index &form, HeapTuple tuple) {
    return form.indisunique && form.indimmediate && form.indisvalid && form.indisready && form.indislive &&
           heap_attisnull(tuple, Anum_pg_index_indpred, nullptr) &&
           heap_attisnull(tuple, Anum_pg_index_indexprs, nullptr);
}

// As the snapshot sees it: rows that are gone since may have been equal, as long as the index was not there or not valid.
static bool sees_key(Oid index, Snapshot snapshot) {
    Relation indexes = table_open(IndexRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_index_indexrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(index));
    SysScanDesc scan = systable_beginscan(indexes, IndexRelidIndexId, true, snapshot, 1, &key);
    HeapTuple tuple = systable_getnext(scan);
    bool found = HeapTupleIsValid(tuple) && is_key(*(Form_pg_index)GETSTRUCT(tuple), tuple);
    systable_endscan(scan);
    table_close(indexes, AccessShareLock);
    return found;
}

static const oidvector *classes_of(Relation index) {
    bool isnull;
    return reinterpret_cast<const oidvector *>(
        DatumGetPointer(SysCacheGetAttr(INDEXRELID, index->rd_indextuple, Anum_pg_index_indclass, &isnull)));
}

static bool is_covered(Relation index, Oid relation, int ncolumns, const AttrNumber *columns) {
    if (index->rd_rel->relam != BTREE_AM_OID || !is_key(*index->rd_index, index->rd_indextuple))
        return false;
    const oidvector *classes = classes_of(index);
    for (int i = 0; i < index->rd_index->indnkeyatts; i++) {
        AttrNumber column = index->rd_index->indkey.values[i];
        bool named = false;
        for (int j = 0; j < ncolumns; j++)
            named |= columns[j] == column;
        if (!named || classes->values[i] != GetDefaultOpClass(get_atttype(relation, column), BTREE_AM_OID))
            return false;
    }
    return true;
}

// The first collation of a key whose library is not that which the index was ordered by: then equal values may be in it twice.
static Oid changed_collation(Relation index) {
    for (int i = 0; i < index->rd_index->indnkeyatts; i++)
        if (const Oid collation = index->rd_indcollation[i]; OidIsValid(collation) && !is_collation_current(collation))
            return collation;
    return InvalidOid;
}

[[noreturn]] static void refuse_index(Oid relation, Oid index, Oid collation) {
    const char *name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(index)), get_rel_name(index));
    refuse_state(psprintf("the unique index %s of %s is no key until it is made again", name, qualified_name(relation)),
                 psprintf("REINDEX INDEX %s; -- when all indexes of that collation are made again: %s", name,
                          refresh_of_collation(collation)),
                 psprintf("%s has another version now than the one that is recorded: in the old order equal values "
                          "may be in the index twice.",
                          collation_name(collation)));
}

bool covers_key(Oid relation, int ncolumns, const AttrNumber *columns) {
    Relation table = table_open(relation, AccessShareLock);
    bool children = table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE &&
                    find_inheritance_children(relation, AccessShareLock) != NIL;
    Snapshot snapshot = RegisterSnapshot(ActiveSnapshotSet() ? GetActiveSnapshot() : GetLatestSnapshot());
    bool found = false;
    Oid changed_index = InvalidOid, changed = InvalidOid;
    for (Oid oid : border::each_oid(RelationGetIndexList(table))) {
        if (found || children)
            break;
        Relation index = index_open(oid, AccessShareLock);
        if (is_covered(index, relation, ncolumns, columns) && sees_key(oid, snapshot)) {
            const Oid collation = changed_collation(index);
            found = !OidIsValid(collation);
            if (!found && !OidIsValid(changed))
                changed_index = oid, changed = collation;
        }
        index_close(index, NoLock);
    }
    UnregisterSnapshot(snapshot);
    table_close(table, NoLock);
    if (!found && OidIsValid(changed))
        refuse_index(relation, changed_index, changed);
    return found;
}

// ---- types ---------------------------------------------------------------------------------------------------------

bool is_unit_type(Oid type) {
    switch (type) {
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case NUMERICOID:
    case UUIDOID:
    case DATEOID:
    case TEXTOID:
    case VARCHAROID:
        return true;
    default:
        return false;
    }
}

void check_unit_column(Oid relation, AttrNumber column) {
    Oid type, collation;
    int32 typmod;
    get_atttypetypmodcoll(relation, column, &type, &typmod, &collation);
    const char *name = get_attname(relation, column, false);
    if (!is_unit_type(type))
        refuse_form(psprintf("column \"%s\" of %s is of type %s, which no unit may have", name,
                             qualified_name(relation), format_type_be(type)),
                    "Units are of smallint, integer, bigint, numeric, uuid, date, text or varchar.");
    if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
        refuse_form(psprintf("column \"%s\" of %s has a nondeterministic collation, which no unit may have", name,
                             qualified_name(relation)),
                    psprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s COLLATE \"C\";", qualified_name(relation),
                             quote_identifier(name), format_type_with_typemod(type, typmod)));
}

// ---- what it still is ----------------------------------------------------------------------------------------------

[[noreturn]] static void refuse(const UnitPath *path, const char *reason, const char *remedy) {
    refuse_state(psprintf("the unit of a row of %s is not known: %s", qualified_name(path->relation), reason), remedy);
}

static void check_names(const UnitPath *path, Oid relation, const char *const *names, const AttrNumber *columns,
                        int n) {
    for (int i = 0; i < n; i++)
        if (columns[i] <= 0)
            refuse(path, psprintf("column %s of %s is gone", quote_identifier(names[i]), qualified_name(relation)),
                   "It was dropped, or has another name: ALTER TABLE ... RENAME COLUMN gives it its name again.");
}

static void check_type(const UnitPath *path, Oid relation, AttrNumber column, Oid type) {
    if (get_atttype(relation, column) != type)
        refuse(path,
               psprintf("column %s of %s is of type %s now, no longer of %s",
                        quote_identifier(get_attname(relation, column, false)), qualified_name(relation),
                        format_type_be(get_atttype(relation, column)), format_type_be(type)),
               "All columns that hold or refer to it have one type: change the others as well, or this one back.");
    check_unit_column(relation, column);
}

static void check_parent(const UnitPath *path, const UnitPath *step) {
    Oid parent = step->parent_relation;
    if (step->parent == nullptr || get_rel_name(parent) == nullptr ||
        memcmp(&step->parent->domain, &path->domain, UUID_LEN) != 0)
        refuse(path,
               get_rel_name(parent) == nullptr ? psprintf("the table that %s of %s refers to is gone", step->names[0],
                                                          qualified_name(step->relation))
                                               : psprintf("%s is no longer protected with it", qualified_name(parent)),
               psprintf("Protect it again with dp_protect(..., unit => ...), then call dp_set_unit(%s, ...).",
                        quote_literal_cstr(qualified_name(step->relation))));
    if (relation_owner(parent) != relation_owner(path->relation))
        refuse(path, psprintf("%s belongs to another role", qualified_name(parent)),
               psprintf("ALTER TABLE %s OWNER TO %s;", qualified_name(parent),
                        quote_identifier(GetUserNameFromId(relation_owner(path->relation), false))));
}

// Whoever owns one of the tables sets the totals that all share.
static void check_owners(const UnitPath *path) {
    Oid owner = relation_owner(path->relation);
    for (Oid other : border::each_oid(path->tables)) {
        if (get_rel_name(other) != nullptr && relation_owner(other) != owner)
            refuse(path, psprintf("%s, with data of the same people, belongs to another role", qualified_name(other)),
                   psprintf("ALTER TABLE %s OWNER TO %s; or the reverse.", qualified_name(other),
                            quote_identifier(GetUserNameFromId(owner, false))));
    }
}

// A step to a row of the parent: at most one, of equal values.
static void check_step(const UnitPath *path, const UnitPath *step) {
    check_names(path, step->parent_relation, step->key_names, step->parent_key, step->ncolumns);
    for (int i = 0; i < step->ncolumns; i++)
        check_type(path, step->relation, step->columns[i], get_atttype(step->parent_relation, step->parent_key[i]));
    if (covers_key(step->parent_relation, step->ncolumns, step->parent_key))
        return;
    const char *columns = border::listed_names(step->key_names, step->ncolumns);
    refuse(path, psprintf("(%s) is no key of %s", columns, qualified_name(step->parent_relation)),
           psprintf("CREATE UNIQUE INDEX ON %s (%s); a key counts in transactions that begin after it, and not on a "
                    "table with inheritance children.",
                    qualified_name(step->parent_relation), columns));
}

static void check_units(const UnitPath *path, const UnitPath *step) {
    if (step->ncolumns != path->ntypes)
        refuse(path, "its domain is gone", "Protect the table again with dp_protect(), for a further view.");
    for (int i = 0; i < step->ncolumns; i++)
        check_type(path, step->relation, step->columns[i], path->types[i]);
}

// In one order for all; then each is there, and still a part of the way.
static List *lock_ancestors(const UnitPath *path) {
    List *ancestors = hidden_ancestors(path);
    list_sort(ancestors, list_oid_cmp);
    for (Oid ancestor : border::each_oid(ancestors))
        LockRelationOid(ancestor, AccessShareLock);
    // (Of a table that is gone the lock is one on nothing.)
    for (const UnitPath *step = path; !step->direct; step = step->parent)
        check_parent(path, step);
    check_owners(path);
    return ancestors;
}

static void check_limit(const UnitPath *path, const List *parts) {
    if (path->keyed)
        return;
    if (path->max_rows == 0)
        refuse_state(psprintf("how many rows of %s one unit may have is not known: the key that said one is gone",
                              qualified_name(path->relation)),
                     psprintf("dp_set_contribution(%s, max_rows => ...) sets a limit; or make the unique index "
                              "again.",
                              quote_literal_cstr(qualified_name(path->relation))));
    check_whole(path, parts);
}

List *check_unit_path(UnitPath *path) {
    List *parts = NIL;
    for (Oid table : border::each_oid(lock_ancestors(path)))
        parts = list_concat(parts, check_protectable(table));
    // Columns were named before the locks were taken.
    for (UnitPath *step = path; step != nullptr; step = step->parent) {
        step->columns = columns_named(step->relation, step->names, step->ncolumns);
        check_names(path, step->relation, step->names, step->columns, step->ncolumns);
        if (step->direct) {
            check_units(path, step);
            break;
        }
        step->parent_key = columns_named(step->parent_relation, step->key_names, step->ncolumns);
        check_step(path, step);
    }
    path->keyed = path->direct && covers_key(path->relation, path->ncolumns, path->columns);
    check_limit(path, list_concat_copy(find_all_inheritors(path->relation, AccessShareLock, nullptr), parts));
    return parts;
}

} // namespace dp::catalog
