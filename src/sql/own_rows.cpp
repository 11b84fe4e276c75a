// Implements dp_rdr.own_ledger() and dp_rdr.own_denials(), the rows that dp_rdr.ledger and dp_rdr.denials show, and dp_ledger(), which
// finds some of the former by an index. They leave out rows that the caller may not see. A condition of a view would stand beside the
// caller's own ones: the executor counts what each of them leaves out, and the planner has statistics of all rows (architecture.md, 7.1).
#include "border/guard.hpp"
#include "border/listed.hpp"
#include "border/versions.hpp"
#include "catalog/parameters.hpp"
#include "sql/ledger_pages.hpp"
extern "C" {
#include <access/heaptoast.h>
}

namespace dp::sql {

using catalog::Visit;

// Names the domains whose rows the caller ($1) may see: $2, or those with a table of his. A superuser sees all that there are.
static constexpr char own_sql[] = R"sql(
WITH RECURSIVE own AS (
  SELECT $2 AS id WHERE $2 IS NOT NULL
  UNION SELECT t.domain FROM dp_rdr.protected_table t JOIN pg_class c ON c.oid = t.relation::oid
  WHERE $2 IS NULL AND pg_has_role($1, c.relowner, 'USAGE')))sql";

// Shows charges of these and of what was joined into them. A table that is no longer protected shows its rows to whoever controls it, if oid
// and name match: after a restore another table may have the oid. $3: the only one that is wanted.
static constexpr char ledger_sql[] = R"sql(,
known AS ( -- of all rows that there are
  (SELECT l.table_id AS id FROM dp_rdr.ledger_row l ORDER BY l.table_id LIMIT 1)
  UNION ALL
  SELECT (SELECT l.table_id FROM dp_rdr.ledger_row l WHERE l.table_id > k.id ORDER BY l.table_id LIMIT 1) FROM known k WHERE k.id IS NOT NULL),
shown AS (
  SELECT id FROM own UNION SELECT d.id FROM dp_rdr.privacy_domain d WHERE d.joined_into IN (SELECT id FROM own)
  UNION SELECT k.id FROM known k WHERE $2 IS NULL AND (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = $1)),
left_behind AS (
  SELECT o.id FROM dp_rdr.odometer o WHERE $2 IS NULL AND pg_has_role($1, o.owner::oid, 'USAGE') AND o.id NOT IN (SELECT id FROM shown WHERE id IS NOT NULL)
    AND NOT EXISTS (SELECT FROM dp_rdr.protected_table t WHERE t.domain = o.id))
SELECT %1$s FROM shown s JOIN dp_rdr.ledger_row l ON l.table_id = s.id AND l.id BETWEEN coalesce($3, 0) AND coalesce($3, 9223372036854775807)
UNION ALL
SELECT %1$s FROM left_behind s JOIN dp_rdr.ledger_row l ON l.table_id = s.id AND l.id BETWEEN coalesce($3, 0) AND coalesce($3, 9223372036854775807)
JOIN pg_class c ON c.oid = l.relation_oid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE pg_has_role($1, c.relowner, 'USAGE') AND l.relation = format('%%I.%%I', n.nspname, c.relname))sql";

static constexpr char denials_sql[] = " SELECT %1$s FROM own s JOIN dp_rdr.denial l ON l.table_id = s.id";

// Long values come along: what is read later would be read, and counted, by the caller.
static void put_rows(ReturnSetInfo *result) {
    for (uint64 i = 0; i < SPI_processed; i++) {
        HeapTuple row = SPI_tuptable->vals[i];
        HeapTuple whole = HeapTupleHasExternal(row) ? toast_flatten_tuple(row, SPI_tuptable->tupdesc) : row;
        tuplestore_puttuple(result->setResult, whole);
        if (whole != row)
            heap_freetuple(whole);
    }
}

// Runs own_sql and what follows it, whose columns, %1$s, are those of the result, part by part: there may be too many rows to hold.
static Datum put_own(FunctionCallInfo fcinfo, const char *sql, Datum domain, std::optional<int64> id) {
    constexpr long part = 100;
    const Oid caller = GetUserId();
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    const char *columns = border::listed(0, result->setDesc->natts, [&](int i) {
        return psprintf("l.%s", quote_identifier(NameStr(TupleDescAttr(result->setDesc, i)->attname)));
    });
    catalog::Parameters values = catalog::Parameters::of(caller, catalog::Typed{UUIDOID, domain}, id);
    const Visit visit = Visit::read(catalog::Reading{GetActiveSnapshot()});
    border::prefer_indexes(true);
    Portal rows = SPI_cursor_open_with_args(nullptr, psprintf("%s%s", own_sql, psprintf(sql, columns)), values.n, values.types,
                                            values.values, values.nulls, true, 0);
    do {
        SPI_cursor_fetch(rows, true, part);
        put_rows(result);
        SPI_freetuptable(SPI_tuptable);
    } while (SPI_processed > 0);
    SPI_cursor_close(rows);
    visit.leave();
    return Datum(0);
}

DP_CALL(dp_own_ledger) {
    return put_own(fcinfo, ledger_sql, Datum(0), std::nullopt);
}

// Returns the rows of a protected table's domain, or the row with a number.
DP_CALL(dp_ledger) {
    const Datum domain = PG_ARGISNULL(0) ? Datum(0) : controlled_table(PG_GETARG_OID(0)).id;
    return put_own(fcinfo, ledger_sql, domain, catalog::if_given(!PG_ARGISNULL(1), PG_ARGISNULL(1) ? int64{0} : PG_GETARG_INT64(1)));
}

// Returns the denials of those tables of the caller that are protected now.
DP_CALL(dp_own_denials) {
    return put_own(fcinfo, denials_sql, Datum(0), std::nullopt);
}

} // namespace dp::sql
