#include "catalog/suspension.hpp"

#include "border/attempt.hpp"
#include "catalog/ledger.hpp"
#include "catalog/lookup.hpp"

namespace dp::catalog {

// About a minute in which worker slots, locks and segments may come free.
constexpr int suspension_tries = 30;
constexpr long pause_us = 100 * 1000;

void suspend(const Settings &settings, const Asker &asker, const char *query, const char *grantee) {
    for (int i = 0; i < suspension_tries; i++) {
        bool committed = false;
        ErrorData *error = border::attempt([&] { committed = commit_suspension(settings, asker, query, grantee); });
        if (error != nullptr) // its hold of interrupts takes the place of the caller's, which an error clears
            FreeErrorData(error);
        if (committed)
            return;
        pg_usleep(pause_us);
    }
    ereport(LOG, (errmsg("role \"%s\" could not be suspended on %s", GetUserNameFromId(asker.role, true),
                         settings.view_name),
                  errdetail("A query of it failed while it read rows, and its suspension was not committed."),
                  errhint("Look at what stopped the background worker, and dp_revoke() the policy meanwhile.")));
}

[[noreturn]] static void refuse(const Settings &settings, const char *grantee, const char *whose) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s on %s are suspended", whose, settings.view_name),
                    errdetail("A query failed while it read rows, which might tell something about them."),
                    errhint("The owner of the table, \"%s\", lifts the suspension with dp_resume('%s', '%s').",
                            GetUserNameFromId(settings.owner, false), settings.view_name, grantee)));
    pg_unreachable();
}

// The grantee, as it is quoted, of the policy under which one of these roles has failed; or null.
static const char *suspended_under(List *rows, const char *role, const char *session_role) {
    ListCell *cell;
    foreach (cell, rows) {
        auto *row = static_cast<const Row *>(lfirst(cell));
        const char *names[] = {row->string("role_name"), row->string("session_role")};
        for (const char *name : names)
            if (strcmp(name, role) == 0 || strcmp(name, session_role) == 0)
                return DatumGetCString(DirectFunctionCall1(regroleout, row->value("grantee")));
    }
    return nullptr;
}

static int failures_under(List *rows, Oid grantee) {
    int failures = 0;
    ListCell *cell;
    foreach (cell, rows)
        if (DatumGetObjectId(static_cast<const Row *>(lfirst(cell))->value("grantee")) == grantee)
            failures++;
    return failures;
}

void check_not_suspended(const Reading &reading, const Settings &settings, const Policy &policy, const Asker &asker) {
    const char *role_name = GetUserNameFromId(asker.role, false);
    Lookup lookup = Lookup::open("suspension", reading);
    List *rows = lookup.rows(ObjectIdGetDatum(settings.view));
    const char *grantee = suspended_under(rows, role_name, GetUserNameFromId(asker.session_role, false));
    int failures = failures_under(rows, policy.grantee);
    lookup.close();
    if (grantee != nullptr)
        refuse(settings, grantee, psprintf("queries of role \"%s\"", role_name));
    if (failures >= suspended_members)
        refuse(settings, quote_identifier(policy.grantee_name),
               psprintf("queries under the policy of \"%s\"", policy.grantee_name));
}

} // namespace dp::catalog
