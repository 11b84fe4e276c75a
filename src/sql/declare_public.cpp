// dp_set_public, dp_unset_public: what protected tables may be joined with (doc/controller.md).
#include "catalog/public_table.hpp"
#include "sql/call_arguments.hpp"
#include "sql/domain_members.hpp"
#include "sql/setter.hpp"
#include "sql/refusal.hpp"

namespace dp::sql {

using catalog::qualified_name;

namespace {
struct PublicCall {
    Oid relation;
    Oid table; // protected
};
} // namespace

static PublicCall arguments_of(FunctionCallInfo fcinfo) {
    require_first(fcinfo, 2);
    PublicCall call = {PG_GETARG_OID(0), protected_relation(PG_GETARG_OID(1))};
    if (get_rel_name(call.relation) == nullptr)
        refuse_with(ERRCODE_UNDEFINED_TABLE, psprintf("relation with OID %u does not exist", call.relation));
    return call;
}

// Joins need whose rows they are, and the first charge settles that.
static void warn_without_unit(const PublicCall &call) {
    if (declared_unit(call.table) != nullptr)
        return;
    const char *name = qualified_name(call.table);
    ereport(WARNING,
            (errmsg("nothing can be joined with %s: each row of it is a person of its own", name),
             errdetail("A unit can be set until the first charge or denial, and not afterwards."),
             errhint("SELECT dp_set_unit(%s, 'key column'); -- and max_rows => ... where no unique index covers it",
                     quote_literal_cstr(name))));
}

DP_CALL(dp_set_public) {
    const PublicCall call = arguments_of(fcinfo);
    LockRelationOid(call.relation, AccessShareLock);
    (void)catalog::check_public(call.relation, catalog::relation_owner(call.table));
    change(call.table,
           "INSERT INTO dp_rdr.public_table (domain, relation) SELECT t.domain, $1::regclass "
           "FROM dp_rdr.protected_table t WHERE t.relation::oid = $2 ON CONFLICT DO NOTHING",
           call.relation, call.table);
    warn_without_unit(call);
    PG_RETURN_VOID();
}

DP_CALL(dp_unset_public) {
    const PublicCall call = arguments_of(fcinfo);
    if (change(call.table,
               "DELETE FROM dp_rdr.public_table p USING dp_rdr.protected_table t "
               "WHERE p.domain = t.domain AND p.relation::oid = $1 AND t.relation::oid = $2",
               call.relation, call.table) == 0)
        refuse_state(
            psprintf("%s is not a public table for %s", qualified_name(call.relation), qualified_name(call.table)),
            psprintf("dp_domain(%s) shows which are.", quote_literal_cstr(qualified_name(call.table))));
    PG_RETURN_VOID();
}

// For dp_audit, which waits for nobody who may lock the table because he may write it.
DP_FUNCTION(dp_public_fault) {
    const ErrorData *refusal = refusal_by([&] {
        if (!ConditionalLockRelationOid(PG_GETARG_OID(0), AccessShareLock))
            return;
        (void)catalog::check_public(PG_GETARG_OID(0), catalog::relation_owner(PG_GETARG_OID(1)));
    });
    if (refusal == nullptr)
        PG_RETURN_NULL();
    return CStringGetTextDatum(psprintf("%s\n%s", refusal->message, refusal->hint == nullptr ? "" : refusal->hint));
}

} // namespace dp::sql
