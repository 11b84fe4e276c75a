#include "catalog/suspension.hpp"

#include "catalog/ledger.hpp"

namespace dp::catalog {

[[noreturn]] static void refuse(const Settings &settings, const char *grantee, const char *whose) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s on %s are suspended", whose, settings.view_name),
                    errdetail("A query failed while it read rows, which might tell something about them."),
                    errhint("The owner of the table, \"%s\", lifts the suspension with dp_resume('%s', '%s').",
                            GetUserNameFromId(settings.owner, false), settings.view_name, grantee)));
    pg_unreachable();
}

void check_not_suspended(const Reading &reading, const Settings &settings, const Policy &policy, const Asker &asker) {
    static border::Statement statement(
        "SELECT min(s.grantee::text) FILTER (WHERE $3 IN (s.role_name, s.session_role) OR "
        "$4 IN (s.role_name, s.session_role)), count(*) FILTER (WHERE s.grantee::oid = $2) "
        "FROM dp_rdr.suspension s WHERE s.view::oid = $1");
    const char *role_name = GetUserNameFromId(asker.role, false);
    Oid types[4] = {OIDOID, OIDOID, TEXTOID, TEXTOID};
    Datum values[4] = {ObjectIdGetDatum(settings.view), ObjectIdGetDatum(policy.grantee),
                       CStringGetTextDatum(role_name),
                       CStringGetTextDatum(GetUserNameFromId(asker.session_role, false))};
    Visit visit = Visit::read(reading);
    visit.run(statement, 4, types, values);
    const char *grantee = visit.spi.text(0, 1); // of the policy under which this role or this session has failed
    bool isnull;
    int64 members = DatumGetInt64(border::Spi::value(0, 2, &isnull));
    visit.leave();
    if (grantee != nullptr)
        refuse(settings, grantee, psprintf("queries of role \"%s\"", role_name));
    if (members >= suspended_members)
        refuse(settings, quote_identifier(policy.grantee_name),
               psprintf("queries under the policy of \"%s\"", policy.grantee_name));
}

} // namespace dp::catalog
