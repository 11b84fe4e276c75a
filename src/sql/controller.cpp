#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "sql/controller.hpp"

using dp::catalog::Visit;

namespace dp::sql {

void check_exists(Oid relation) {
    if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
        refuse_with(ERRCODE_UNDEFINED_TABLE, psprintf("relation with OID %u does not exist", relation));
}

AttrNumber checked_column(Oid relation, const char *name, const char *remedy) {
    const AttrNumber column = get_attnum(relation, name);
    if (remedy == nullptr && name[0] == '"')
        remedy = "Write the name as the column has it, without double quotes.";
    if (column <= 0)
        refuse_with(ERRCODE_UNDEFINED_COLUMN,
                    psprintf("column \"%s\" of %s does not exist", name, catalog::qualified_name(relation)), remedy);
    return column;
}

void check_owner(Oid relation) {
    check_exists(relation);
    if (!border::owns_relation(relation, GetUserId()))
        refuse_right(psprintf("must be owner of %s", catalog::qualified_name(relation)),
                     "The controller of a table is its owner.");
}

Oid protected_relation(Oid relation) {
    check_owner(relation);
    Oid table = catalog::table_of_facade(relation);
    if (OidIsValid(table)) {
        check_owner(table);
        relation = table;
    }
    if (!catalog::is_protected_table(relation))
        refuse_state(psprintf("%s is not protected", catalog::qualified_name(relation)),
                     "Protect it first with dp_protect().");
    return relation;
}

// Asks for the owner of the table: the views may still be another's (ALTER TABLE ... OWNER TO).
catalog::Settings *settings_of_view(Oid view) {
    catalog::Reading reading = catalog::Reading::open();
    catalog::Settings *settings = catalog::read_settings(reading, view);
    reading.close();
    check_owner(settings == nullptr ? view : settings->relation);
    if (settings == nullptr)
        refuse_state(psprintf("%s is not a restricted view", catalog::qualified_name(view)),
                     "Restricted views are made with dp_protect().");
    return settings;
}

void refuse_moving(Oid relation) {
    refuse_with(ERRCODE_LOCK_NOT_AVAILABLE,
                psprintf("the domain of %s is being changed by another call", catalog::qualified_name(relation)),
                "Try again.");
}

// Looks twice: after waiting for a join the domain has no tables any more. (A table whose domain was lost in a restore has none.)
void lock_declarations(const Visit &visit, Oid relation) {
    const char *const lock = "SELECT 1 FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain "
                             "WHERE t.relation::oid = $1 AND d.joined_into IS NULL FOR UPDATE OF d";
    if (run(visit, lock, relation) == 0 && run(visit, lock, relation) == 1)
        refuse_moving(relation);
}

void check_owns_domain(const Visit &visit, Oid relation, Oid role) {
    const uint64 n =
        run(visit,
            "SELECT o.relation::oid FROM dp_rdr.protected_table t JOIN dp_rdr.protected_table o ON o.domain = t.domain "
            "JOIN pg_class c ON c.oid = o.relation WHERE t.relation::oid = $1 ORDER BY 1",
            relation);
    for (uint64 i = 0; i < n; i++) {
        const Oid other = catalog::value_at<Oid>(i, 1);
        if (!border::owns_relation(other, role))
            refuse_right(
                psprintf("must be owner of %s as well, whose totals these are", catalog::qualified_name(other)),
                "All tables with data of the same people have one owner.");
    }
}

void run_as(Oid role, const char *sql) {
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope scope = border::RoleScope::enter(role);
    border::Spi spi = border::Spi::connect();
    spi.run(sql, false);
    spi.finish();
    scope.leave();
    settings.leave();
}

// ---- refusals and reports -------------------------------------------------------------------------------------------

void refuse_row(const Visit &visit, uint64 rows) {
    const char *state = rows == 0 ? nullptr : visit.spi.text(0, 1);
    if (state != nullptr)
        refuse_with(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]), visit.spi.text(0, 2),
                    visit.spi.text(0, 4), visit.spi.text(0, 3));
}

Reports kept_reports(const Visit &visit, uint64 n) {
    auto **texts = static_cast<char **>(MemoryContextAlloc(visit.spi.caller, sizeof(char *) * (4 * n + 1)));
    for (uint64 i = 0; i < 4 * n; i++)
        texts[i] = visit.spi.text(i / 4, static_cast<int>(i % 4) + 1);
    return Reports{n, texts};
}

void tell(const Reports &reports) {
    for (char **row = reports.texts; row < reports.texts + 4 * reports.n; row += 4)
        ereport(strcmp(row[0], "warning") == 0 ? WARNING : NOTICE,
                (errmsg("%s", row[1]), row[2] == nullptr ? 0 : errdetail("%s", row[2]),
                 row[3] == nullptr ? 0 : errhint("%s", row[3])));
}

} // namespace dp::sql
