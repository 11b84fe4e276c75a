#include "catalog/suspension.hpp"

#include "catalog/lookup.hpp"

namespace dp::catalog {

[[noreturn]] static void refuse(const Settings &settings, const char *grantee, const char *whose) {
    refuse_state(psprintf("%s on %s are suspended", whose, settings.view_name),
                 psprintf("The owner of the table, \"%s\", lifts the suspension with dp_resume(%s, %s).",
                          GetUserNameFromId(settings.owner, false), quote_literal_cstr(settings.view_name),
                          quote_literal_cstr(grantee)),
                 "A query failed while it read rows, which might tell something about them.");
}

// The grantee, as it is quoted, of the policy under which one of these roles has failed; or null.
static const char *suspended_under(List *rows, const Asker &asker) {
    for (auto *row : border::each<const Row>(rows)) {
        for (const char *column : {"role", "session_role"})
            if (Oid role = DatumGetObjectId(row->value(column)); role == asker.role || role == asker.session_role)
                return DatumGetCString(DirectFunctionCall1(regroleout, row->value("grantee")));
    }
    return nullptr;
}

static int failures_under(List *rows, Oid grantee) {
    int failures = 0;
    for (auto *row : border::each<const Row>(rows))
        if (DatumGetObjectId(row->value("grantee")) == grantee)
            failures++;
    return failures;
}

void check_not_suspended(const Reading &reading, const Settings &settings, const Policy &policy, const Asker &asker) {
    Lookup lookup = Lookup::open("suspension", reading);
    List *rows = lookup.rows(ObjectIdGetDatum(settings.view));
    const char *grantee = suspended_under(rows, asker);
    int failures = failures_under(rows, policy.grantee);
    lookup.close();
    if (grantee != nullptr)
        refuse(settings, grantee, psprintf("queries of role \"%s\"", GetUserNameFromId(asker.role, false)));
    if (failures >= suspended_members)
        refuse(settings, quote_identifier(policy.grantee_name),
               psprintf("queries under the policy of \"%s\"", policy.grantee_name));
}

} // namespace dp::catalog
