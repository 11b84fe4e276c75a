// Implements dp_rdr.own_ledger() and dp_rdr.own_denials(), the rows that dp_rdr.ledger and dp_rdr.denials show, and dp_ledger(), which
// finds some of the former by an index. They leave out rows that the caller may not see. A condition of a view would stand beside the
// caller's own ones: the executor counts what each of them leaves out, and the planner has statistics of all rows (architecture.md, 7.1).
#include "border/guard.hpp"
#include "border/versions.hpp"
#include "catalog/lookup.hpp"
#include "sql/ledger_pages.hpp"
extern "C" {
#include <access/heaptoast.h>
#include <access/tupconvert.h>
}

namespace dp::sql {

using catalog::Lookup;
using catalog::Row;

namespace {

// Holds the domains whose rows the caller may see, and the result that they go to.
struct Shown {
    ReturnSetInfo *result;
    List *own;               // domains with a table of his: pg_uuid_t *
    const int64 *id;         // of the only row of the ledger that is wanted; null: all are
    TupleConversionMap *map; // from the table's columns to the result's; null where they are the same, and before the first row
    MemoryContext row;
};

} // namespace

static bool contains(const List *ids, Datum id) {
    ListCell *cell;
    foreach (cell, ids)
        if (memcmp(lfirst(cell), DatumGetUUIDP(id), sizeof(pg_uuid_t)) == 0)
            return true;
    return false;
}

// Returns the ids in a column of those rows of a table for which `holds` does, each once.
template <class Holds>
static List *domains_in(const char *table, const char *column, const catalog::Reading &reading, Holds holds) {
    Lookup rows = Lookup::open(table, reading);
    List *ids = NIL;
    for (auto *row : border::each<const Row>(rows.all_rows()))
        if (!contains(ids, row->value(column)) && holds(*row))
            ids = lappend(ids, DatumGetUUIDP(row->value(column)));
    rows.close();
    return ids;
}

static bool controls(Oid relation, Oid role) {
    return get_rel_name(relation) != nullptr && border::owns_relation(relation, role);
}

static Shown shown_to_caller(FunctionCallInfo fcinfo, const catalog::Reading &reading) {
    InitMaterializedSRF(fcinfo, 0);
    Shown shown = {};
    shown.result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    shown.row = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr own row", ALLOCSET_DEFAULT_SIZES);
    shown.own = domains_in("protected_table", "domain", reading, [&](const Row &row) {
        return controls(DatumGetObjectId(row.value("relation")), GetUserId());
    });
    return shown;
}

// ---- a row ---------------------------------------------------------------------------------------------------------

// Long values come along: what is read later would be read, and counted, by the caller.
static void put(const Row &row, void *argument) {
    auto *shown = static_cast<Shown *>(argument);
    if (shown->map == nullptr)
        shown->map = convert_tuples_by_name(row.columns, shown->result->setDesc);
    MemoryContext before = MemoryContextSwitchTo(shown->row);
    HeapTuple whole = HeapTupleHasExternal(row.tuple) ? toast_flatten_tuple(row.tuple, row.columns) : row.tuple;
    tuplestore_puttuple(shown->result->setResult,
                        shown->map == nullptr ? whole : execute_attr_map_tuple(whole, shown->map));
    MemoryContextSwitchTo(before);
    MemoryContextReset(shown->row);
}

// ---- the ledger ----------------------------------------------------------------------------------------------------

static bool has_name(Oid relation, const char *qualified) {
    List *names = border::qualified_name_list(qualified);
    return list_length(names) == 2 &&
           strcmp(strVal(linitial(names)), get_namespace_name(get_rel_namespace(relation))) == 0 &&
           strcmp(strVal(lsecond(names)), get_rel_name(relation)) == 0;
}

// Shows a row of a table that is no longer protected, if the caller controls that table. Oid and name must both match: after a
// restore another table may have the oid.
static void put_if_table_is_own(const Row &row, void *argument) {
    auto *shown = static_cast<Shown *>(argument);
    MemoryContext before = MemoryContextSwitchTo(shown->row);
    Oid relation = DatumGetObjectId(row.value("relation_oid"));
    bool own = controls(relation, GetUserId()) && has_name(relation, row.string("relation"));
    MemoryContextSwitchTo(before);
    MemoryContextReset(shown->row);
    if (own)
        put(row, shown);
}

// Domains that were joined into one of the caller's.
static void add_joined(Shown *shown, const catalog::Reading &reading) {
    List *joined = domains_in("privacy_domain", "id", reading, [&](const Row &row) {
        bool isnull;
        Datum into = row.value("joined_into", &isnull);
        return !isnull && contains(shown->own, into) && !contains(shown->own, row.value("id"));
    });
    shown->own = list_concat(shown->own, joined);
}

// Domains without a protected table whose owner, when they were last charged, the caller may act for.
static List *left_behind(const Shown &shown, const catalog::Reading &reading) {
    const List *known = domains_in("protected_table", "domain", reading, [](const Row &) { return true; });
    return domains_in("odometer", "id", reading, [&](const Row &row) {
        return has_privs_of_role(GetUserId(), DatumGetObjectId(row.value("owner"))) &&
               !contains(known, row.value("id")) && !contains(shown.own, row.value("id"));
    });
}

static void put_each(const char *table, const char *index, const catalog::Reading &reading, const List *ids,
                     catalog::SeeRow see, Shown *shown) {
    if (ids == NIL)
        return;
    Lookup rows = Lookup::open(table, reading);
    for (auto *item : border::each<pg_uuid_t>(ids))
        rows.each_with("table_id", UUIDPGetDatum(item), index, see, shown, shown->id);
    rows.close();
}

// Shows the rows of a domain, or of all that the caller may see if that is 0.
static void put_ledger(Datum domain, Shown *shown, const catalog::Reading &reading) {
    const bool all = domain == 0 && superuser_arg(GetUserId());
    if (all && shown->id == nullptr) {
        Lookup rows = Lookup::open("ledger_row", reading);
        rows.each(put, shown);
        rows.close();
        return;
    }
    if (domain != 0)
        shown->own = list_make1(DatumGetUUIDP(domain));
    else if (all)
        for (const char *table : {"privacy_domain", "odometer"})
            shown->own = list_concat(shown->own, domains_in(table, "id", reading, [&](const Row &row) {
                                         return !contains(shown->own, row.value("id"));
                                     }));
    add_joined(shown, reading);
    put_each("ledger_row", "ledger_row_pkey", reading, shown->own, put, shown);
    if (domain == 0)
        put_each("ledger_row", "ledger_row_pkey", reading, left_behind(*shown, reading), put_if_table_is_own, shown);
}

DP_CALL(dp_own_ledger) {
    catalog::Reading reading{GetActiveSnapshot()};
    Shown shown = shown_to_caller(fcinfo, reading);
    put_ledger(Datum(0), &shown, reading);
    return Datum(0);
}

// Returns the rows of a protected table's domain, or the row with a number.
DP_CALL(dp_ledger) {
    Datum domain = PG_ARGISNULL(0) ? Datum(0) : controlled_table(PG_GETARG_OID(0)).id;
    const int64 id = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1);
    catalog::Reading reading{GetActiveSnapshot()};
    Shown shown = shown_to_caller(fcinfo, reading);
    shown.id = PG_ARGISNULL(1) ? nullptr : &id;
    put_ledger(domain, &shown, reading);
    return Datum(0);
}

// Returns the denials of those tables of the caller that are protected now.
DP_CALL(dp_own_denials) {
    border::UsageScope usage = border::UsageScope::enter();
    catalog::Reading reading{GetActiveSnapshot()};
    Shown shown = shown_to_caller(fcinfo, reading);
    put_each("denial", "denial_table_id_idx", reading, shown.own, put, &shown);
    usage.leave();
    return Datum(0);
}

} // namespace dp::sql
