// Gives one name to each thing that PostgreSQL calls differently from version to version. A difference of meaning, rather
// than of spelling, has a file of its own: permissions.hpp (16), grouping.hpp (18).
#pragma once

#include <cerrno>

#include "border/postgres.hpp"

namespace dp::border {

// A name of its own in pg_stat_activity for what is waited for.
inline uint32 wait_event(const char *name) {
#if PG_VERSION_NUM >= 170000
    return WaitEventExtensionNew(name);
#else
    (void)name;
    return PG_WAIT_EXTENSION;
#endif
}

// To be freed by its maker, whatever happens.
inline WaitEventSet *make_wait_event_set(int nevents) {
#if PG_VERSION_NUM >= 170000
    return CreateWaitEventSet(nullptr, nevents);
#else
    return CreateWaitEventSet(CurrentMemoryContext, nevents);
#endif
}

inline bool owns_relation(Oid relation, Oid role) {
#if PG_VERSION_NUM >= 160000
    return object_ownercheck(RelationRelationId, relation, role);
#else
    return pg_class_ownercheck(relation, role);
#endif
}

inline bool may_use_schema(Oid schema, Oid role) {
#if PG_VERSION_NUM >= 160000
    return object_aclcheck(NamespaceRelationId, schema, role, ACL_USAGE) == ACLCHECK_OK;
#else
    return pg_namespace_aclcheck(schema, role, ACL_USAGE) == ACLCHECK_OK;
#endif
}

// 42704 when there is none.
inline Oid type_named(const char *name) {
    Oid type;
    int32 typmod;
#if PG_VERSION_NUM >= 160000
    (void)parseTypeString(name, &type, &typmod, nullptr);
#else
    parseTypeString(name, &type, &typmod, false);
#endif
    return type;
}

// Tells whether find_nonnullable_vars() has found a column.
inline bool is_among_vars(const List *vars, const Var *column) {
#if PG_VERSION_NUM >= 160000
    return mbms_is_member(static_cast<int>(column->varno), column->varattno - FirstLowInvalidHeapAttributeNumber, vars);
#else
    return list_member(vars, column);
#endif
}

// InvalidOid when there is none (any more).
inline Oid type_if_any(const char *name) {
    Oid type = InvalidOid;
    int32 typmod;
#if PG_VERSION_NUM >= 160000
    ErrorSaveContext context = {};
    context.type = T_ErrorSaveContext;
    if (!parseTypeString(name, &type, &typmod, reinterpret_cast<Node *>(&context)))
        return InvalidOid;
#else
    parseTypeString(name, &type, &typmod, true);
#endif
    return type;
}

inline List *qualified_name_list(const char *name) {
#if PG_VERSION_NUM >= 160000
    return stringToQualifiedNameList(name, nullptr);
#else
    return stringToQualifiedNameList(name);
#endif
}

// Returns the primary key, if it is not deferrable.
inline Oid primary_key_index(Relation relation) {
#if PG_VERSION_NUM >= 180000
    return RelationGetPrimaryKeyIndex(relation, false);
#else
    return RelationGetPrimaryKeyIndex(relation);
#endif
}

// Whether a collation orders texts, or maps their cases, as C does. No collation is none of them.
inline bool orders_by_bytes(Oid collation) {
#if PG_VERSION_NUM >= 180000
    return OidIsValid(collation) && pg_newlocale_from_collation(collation)->collate_is_c;
#else
    return lc_collate_is_c(collation);
#endif
}

inline bool maps_bytes(Oid collation) {
#if PG_VERSION_NUM >= 180000
    return OidIsValid(collation) && pg_newlocale_from_collation(collation)->ctype_is_c;
#else
    return lc_ctype_is_c(collation);
#endif
}

// Loads what the collation needs, or raises what keeps it from being loaded; C needs nothing.
inline void open_locale(Oid collation) {
    bool plain = orders_by_bytes(collation);
    if (!maps_bytes(collation) || !plain)
        pg_newlocale_from_collation(collation);
}

// No row holds NULL in the column. From 18 on attnotnull does not say it: the constraint may be NOT VALID.
inline bool is_never_null(TupleDesc desc, int column) {
#if PG_VERSION_NUM >= 180000
    return TupleDescCompactAttr(desc, column)->attnullability == ATTNULLABLE_VALID;
#else
    return TupleDescAttr(desc, column)->attnotnull;
#endif
}

// Not stored, but computed whenever a row is read.
inline bool is_virtual(const FormData_pg_attribute *column) {
#if PG_VERSION_NUM >= 180000
    return column->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL;
#else
    return false;
#endif
}

// Where the column stands in a row, if that was the same in all rows so far.
inline void forget_offset(TupleDesc desc, int column) {
#if PG_VERSION_NUM >= 180000
    TupleDescCompactAttr(desc, column)->attcacheoff = -1;
#else
    TupleDescAttr(desc, column)->attcacheoff = -1;
#endif
}

// An integer as the server reads it, but without an error: from 16 on it may be hexadecimal, octal or binary, with _ between
// digits. No white space around it.
inline bool read_integer(const char *text, int64 *value) {
#if PG_VERSION_NUM >= 160000
    ErrorSaveContext errors = {};
    errors.type = T_ErrorSaveContext;
    *value = pg_strtoint64_safe(text, reinterpret_cast<Node *>(&errors));
    return !errors.error_occurred;
#else
    const char *first = text + (*text == '+' || *text == '-' ? 1 : 0), *end = first;
    while (*end >= '0' && *end <= '9')
        end++;
    errno = 0;
    *value = strtoll(text, nullptr, 10);
    return end != first && *end == '\0' && errno == 0;
#endif
}

// A date or timestamp as the server reads its fields; false where it would raise an error.
inline bool decode_moment(char **fields, int *types, int n, int *type, struct pg_tm *tm, fsec_t *microseconds) {
    int zone;
#if PG_VERSION_NUM >= 160000
    DateTimeErrorExtra extra;
    return DecodeDateTime(fields, types, n, type, tm, microseconds, &zone, &extra) == 0;
#else
    return DecodeDateTime(fields, types, n, type, tm, microseconds, &zone) == 0;
#endif
}

// All rows, and nothing runs it a second time.
inline void run_plan(QueryDesc *desc) {
#if PG_VERSION_NUM >= 180000
    ExecutorRun(desc, ForwardScanDirection, 0);
#else
    ExecutorRun(desc, ForwardScanDirection, 0, true);
#endif
}

// Columns of entry `varno` become what the target list says they are; one that it does not have is an error.
inline Node *replace_columns(Node *node, int varno, List *targets, bool *sublinks) {
#if PG_VERSION_NUM >= 180000
    return ReplaceVarsFromTargetList(node, varno, 0, nullptr, targets, 0, REPLACEVARS_REPORT_ERROR, 0, sublinks);
#else
    return ReplaceVarsFromTargetList(node, varno, 0, nullptr, targets, REPLACEVARS_REPORT_ERROR, 0, sublinks);
#endif
}

// Returns a number that is the same for statements that differ by their constants alone. The server asserts that the setting wants it.
inline uint64 shape_of(const Query *query) {
    Query copy = *query;
    const int setting = compute_query_id;
    compute_query_id = COMPUTE_QUERY_ID_ON;
    PG_TRY();
    {
#if PG_VERSION_NUM >= 160000
        (void)JumbleQuery(&copy);
#else
        (void)JumbleQuery(&copy, "");
#endif
    }
    PG_FINALLY();
    {
        compute_query_id = setting;
    }
    PG_END_TRY();
    return static_cast<uint64>(copy.queryId);
}

// Columns of the joins of a level become those of what is joined. Names no column's nulling joins: what is made of this is deparsed,
// or its columns get them anew.
inline Node *columns_of_joined(Query *query, Node *node) {
#if PG_VERSION_NUM >= 160000
    return flatten_join_alias_vars(nullptr, query, node);
#else
    return flatten_join_alias_vars(query, node);
#endif
}

// Lists the columns of an entry of a range table that are not dropped: their names, and Vars.
inline void expand_entry(RangeTblEntry *entry, int index, List **names, List **columns) {
#if PG_VERSION_NUM >= 180000
    expandRTE(entry, index, 0, VAR_RETURNING_DEFAULT, -1, false, names, columns);
#else
    expandRTE(entry, index, 0, -1, false, names, columns);
#endif
}

} // namespace dp::border
