// Implements dp_audit: it names what in this database weakens the protection of the caller's tables (A32, A33, C06, C08, C25, X). The
// checks run as the owner of the extension under pinned settings, in one statement.
#include "border/guard.hpp"
#include "catalog/access.hpp"
#include "catalog/facade.hpp"
#include "catalog/row_access_paths.hpp"
#include "sql/audit.hpp"
#include "sql/domain_members.hpp"
#include "sql/refusal.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

using catalog::Visit;

static void add_check(StringInfo sql, int place, const Check &check) {
    appendStringInfo(sql,
                     "%s SELECT %d AS place, %s AS severity, object::text, finding::text, remedy::text "
                     "FROM (%s\n) x (object, finding, remedy)\n",
                     place == 0 ? "SELECT severity, object, finding, remedy FROM (" : "UNION ALL", place,
                     quote_literal_cstr(check.severity), check.sql);
}

// Returns all checks in one statement, so that all of them see one state of the database. Severe findings come first.
static const char *all_checks() {
    const Chapter *const chapters[] = {&citus_chapter, &rights_chapter, &server_chapter, &transport_chapter};
    const size_t first = OidIsValid(get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE)) ? 0 : 1;
    StringInfoData names, sql;
    initStringInfo(&names);
    initStringInfo(&sql);
    for (size_t c = first; c < lengthof(chapters); c++)
        appendStringInfoString(&names, chapters[c]->subject);
    int place = 0;
    for (const char *severity : {"critical", "warning", "info"})
        for (size_t c = first; c < lengthof(chapters); c++)
            for (int i = 0; i < chapters[c]->nchecks; i++)
                if (strcmp(chapters[c]->checks[i].severity, severity) == 0)
                    add_check(&sql, place++, chapters[c]->checks[i]);
    return psprintf("%s%s) x ORDER BY place, object COLLATE \"C\", finding COLLATE \"C\", remedy COLLATE \"C\"",
                    names.data, sql.data);
}

DP_CALL(dp_audit) {
    Oid caller = GetUserId(), owner = border::extension_owner();
    const ResultRows rows(fcinfo);
    if (!superuser_arg(owner)) {
        // Every look at the catalog runs as this role: it cannot be trusted, and may not even be able to look.
        rows.put("critical", "schema dp_rdr",
                 psprintf("belongs to %s, who is not a superuser", quote_identifier(GetUserNameFromId(owner, false))),
                 psprintf("ALTER SCHEMA dp_rdr OWNER TO %s;",
                          quote_identifier(GetUserNameFromId(BOOTSTRAP_SUPERUSERID, false))));
        return Datum(0);
    }
    Visit visit = Visit::read();
    bool controls = run(visit, psprintf("%sSELECT FROM controlled", catalog::subject_sql()), caller) > 0;
    if (!controls && !superuser_arg(caller))
        refuse_right("must be owner of a protected table", "The controller of a table is its owner.");
    rows.put_all(visit, run(visit, psprintf("%s%s", catalog::subject_sql(), all_checks()), caller));
    visit.leave();
    return Datum(0);
}

// ---- for the checks ------------------------------------------------------------------------------------------------

DP_FUNCTION(dp_is_facade) {
    bool is_facade = false;
    // For the lock on the view, which a look does not keep.
    const char *refusal =
        refusal_of([&] { is_facade = catalog::table_of_facade(PG_GETARG_OID(0)) == PG_GETARG_OID(1); });
    PG_RETURN_BOOL(refusal == nullptr && is_facade);
}

DP_FUNCTION(dp_facade_fault) {
    Oid view = PG_GETARG_OID(0), relation = PG_GETARG_OID(1);
    const ErrorData *refusal = refusal_by([&] {
        LockRelationOid(view, AccessShareLock);
        LockRelationOid(relation, AccessShareLock);
        catalog::check_protectable(relation);
        catalog::map_columns(view, relation);
        catalog::UnitPath *path = declared_unit(relation);
        if (path != nullptr)
            (void)catalog::check_unit_path(path);
    });
    if (refusal == nullptr)
        PG_RETURN_NULL();
    return CStringGetTextDatum(psprintf("%s\n%s", refusal->message, refusal->hint == nullptr ? "" : refusal->hint));
}

} // namespace dp::sql
