// The types dp_rdr.role and dp_rdr.relation: oids like regrole and regclass, which a dump carries as names. A name of nothing is no
// error here: COPY fails as a whole, and one role or table that is missing where a dump is restored would take along all policies,
// requests and suspensions.
#include "border/versions.hpp"
#include "catalog/parameters.hpp"
#include "sql/role_type.hpp"
extern "C" {
#include <common/hashfn.h>
}

namespace dp::sql {

// From here on no number of the catalog is that of a role or a relation. One that PostgreSQL gives to a role so late is not served.
constexpr Oid first_absent = 0xF0000000;

static Oid absent(uint32 number) {
    return first_absent | (number & ~first_absent);
}

static Oid warn_absent(const char *what, const char *name) {
    ereport(WARNING, (errmsg("%s \"%s\" does not exist", what, name),
                      errdetail("What the catalog of dp_rdr has of it is kept, and matches nobody.")));
    return absent(string_hash(name, static_cast<Size>(strlen(name)) + 1));
}

// A number stands for itself, as in regrole: what is absent comes from dump to dump as one.
static bool is_number(const char *text) {
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

DP_FUNCTION(dp_role_in) {
    const char *text = PG_GETARG_CSTRING(0);
    if (is_number(text))
        PG_RETURN_DATUM(DirectFunctionCall1(oidin, CStringGetDatum(text)));
    List *names = border::qualified_name_list(text);
    const char *name = strVal(llast(names));
    Oid role = list_length(names) == 1 ? get_role_oid(name, true) : InvalidOid;
    PG_RETURN_OID(OidIsValid(role) ? role : warn_absent("role", name));
}

// The number of a role that was dropped is not shown: elsewhere it may be another's.
DP_FUNCTION(dp_role_out) {
    Oid role = PG_GETARG_OID(0);
    const char *name = GetUserNameFromId(role, true);
    PG_RETURN_CSTRING(name == nullptr ? psprintf("%u", absent(role)) : pstrdup(quote_identifier(name)));
}

DP_FUNCTION(dp_relation_in) {
    const char *text = PG_GETARG_CSTRING(0);
    if (is_number(text))
        PG_RETURN_DATUM(DirectFunctionCall1(oidin, CStringGetDatum(text)));
    Oid relation = RangeVarGetRelid(makeRangeVarFromNameList(border::qualified_name_list(text)), NoLock, true);
    PG_RETURN_OID(OidIsValid(relation) ? relation : warn_absent("relation", text));
}

DP_FUNCTION(dp_relation_out) {
    Oid relation = PG_GETARG_OID(0);
    if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
        PG_RETURN_DATUM(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relation)));
    PG_RETURN_CSTRING(psprintf("%u", absent(relation)));
}

// Nobody but a keeper locks an odometer.
List *for_columns(const catalog::Visit &visit, const char *type, const char *format) {
    const uint64 n =
        run(visit,
            "SELECT format($2, c.relname, a.attname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'dp_rdr'::regnamespace AND c.relkind = 'r' AND c.relname <> 'odometer' "
            "AND NOT a.attisdropped AND a.atttypid = ('dp_rdr.' || $1)::regtype",
            type, format);
    List *statements = NIL;
    for (uint64 i = 0; i < n; i++)
        statements = lappend(statements, visit.spi.text(i, 1));
    return statements;
}

// catalog: where what is there is listed.
static void forget_dropped(const catalog::Visit &visit, const char *type, const char *listed) {
    const char *format =
        psprintf("UPDATE dp_rdr.%%1$I SET %%2$I = (%u | (%%2$I::oid::bigint & %u))::oid WHERE ctid = ANY (ARRAY("
                 "SELECT x.ctid FROM dp_rdr.%%1$I x WHERE x.%%2$I::oid < %u::oid "
                 "AND NOT EXISTS (SELECT FROM %s r WHERE r.oid = x.%%2$I) FOR UPDATE SKIP LOCKED))",
                 first_absent, ~first_absent, first_absent, listed);
    for (auto *statement : border::each<const char>(for_columns(visit, type, format)))
        visit.run(statement);
}

void forget_dropped_relations(const catalog::Visit &visit) {
    forget_dropped(visit, "relation", "pg_class");
}

void forget_dropped_roles(const catalog::Visit &visit) {
    forget_dropped(visit, "role", "pg_roles");
    visit.run("DELETE FROM dp_rdr.stored_answer a WHERE a.ctid = ANY (ARRAY(SELECT x.ctid FROM dp_rdr.stored_answer x "
              "WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = x.grantee) FOR UPDATE SKIP LOCKED))");
}

} // namespace dp::sql
