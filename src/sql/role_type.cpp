// The type dp_rdr.role: an oid like regrole, which a dump carries as a name. A name without a role is no error here: COPY fails as a
// whole, and one role that is missing where a dump is restored would take along all policies, requests and suspensions.
#include "border/guard.hpp"
#include "border/versions.hpp"
#include "sql/role_type.hpp"
extern "C" {
#include <common/hashfn.h>
}

namespace dp::sql {

// From here on no number of the catalog is that of a role. One that PostgreSQL gives to a role so late is not served.
constexpr Oid first_absent = 0xF0000000;

static Oid absent(uint32 number) {
    return first_absent | (number & ~first_absent);
}

// A number stands for itself, as in regrole: what is absent comes from dump to dump as one.
DP_FUNCTION(dp_role_in) {
    const char *text = PG_GETARG_CSTRING(0);
    if (text[0] != '\0' && strspn(text, "0123456789") == strlen(text))
        PG_RETURN_DATUM(DirectFunctionCall1(oidin, CStringGetDatum(text)));
    List *names = border::qualified_name_list(text);
    const char *name = strVal(llast(names));
    Oid role = list_length(names) == 1 ? get_role_oid(name, true) : InvalidOid;
    if (OidIsValid(role))
        PG_RETURN_OID(role);
    ereport(WARNING, (errmsg("role \"%s\" does not exist", name),
                      errdetail("What the catalog of dp_rdr has of it is kept, and matches nobody.")));
    PG_RETURN_OID(absent(string_hash(name, static_cast<Size>(strlen(name)) + 1)));
}

// The number of a role that was dropped is not shown: elsewhere it may be another's.
DP_FUNCTION(dp_role_out) {
    Oid role = PG_GETARG_OID(0);
    const char *name = GetUserNameFromId(role, true);
    PG_RETURN_CSTRING(name == nullptr ? psprintf("%u", absent(role)) : pstrdup(quote_identifier(name)));
}

void forget_dropped_roles(const catalog::Visit &visit) {
    static const char *const columns[][2] = {{"policy", "grantee"},
                                             {"suspension", "grantee"},
                                             {"suspension", "role"},
                                             {"suspension", "session_role"},
                                             {"reviewer", "reviewer"},
                                             {"request", "requester"},
                                             {"request", "session_role"}};
    for (auto &[table, column] : columns)
        visit.run(psprintf(
            "UPDATE dp_rdr.%1$s t SET %2$s = (%3$u | (t.%2$s::oid::bigint & %4$u))::oid WHERE t.ctid = ANY (ARRAY("
            "SELECT x.ctid FROM dp_rdr.%1$s x WHERE x.%2$s::oid < %3$u::oid "
            "AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = x.%2$s) FOR UPDATE SKIP LOCKED))",
            table, column, first_absent, ~first_absent));
    visit.run("DELETE FROM dp_rdr.stored_answer a WHERE a.ctid = ANY (ARRAY(SELECT x.ctid FROM dp_rdr.stored_answer x "
              "WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = x.grantee) FOR UPDATE SKIP LOCKED))");
}

} // namespace dp::sql
