// Declarations of a table and its people: how many they are, limits of their rows, public tables, and the end of stored answers. No row is
// read.
#include "catalog/co_located.hpp"
#include "catalog/public_table.hpp"
#include "sql/call_arguments.hpp"
#include "sql/domain_members.hpp"
#include "sql/refusal.hpp"

using dp::catalog::Visit;

namespace dp::sql {

using catalog::qualified_name;

// ---- people --------------------------------------------------------------------------------------------------------

// Rounds to one digit, so that it may be published; 0 for none.
static int64 of_one_digit(int64 n) {
    constexpr int64 most = 1000000000000;
    if (n < 0 || n > most)
        refuse_value(psprintf("the number of people must be from 0 to " INT64_FORMAT ", not " INT64_FORMAT, most, n),
                     "About how many is enough: it is rounded to one digit. 0 takes it back.");
    int64 unit = 1;
    while (n / unit >= 10)
        unit *= 10;
    return (n + unit / 2) / unit * unit;
}

DP_CALL(dp_set_people) {
    require_first(fcinfo, 2);
    Oid relation = protected_relation(PG_GETARG_OID(0)), caller = GetUserId();
    const int64 n = PG_GETARG_INT64(1), people = of_one_digit(n);
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    check_owns_domain(visit, relation, caller);
    run(visit,
        "UPDATE dp_rdr.privacy_domain d SET people = nullif($2, 0) FROM dp_rdr.protected_table t "
        "WHERE t.relation::oid = $1 AND d.id = t.domain",
        relation, people);
    visit.leave();
    if (people != n)
        ereport(NOTICE, (errmsg(INT64_FORMAT " is kept as about " INT64_FORMAT " people", n, people)));
    PG_RETURN_VOID();
}

void warn_of_many_rows(Oid relation) {
    tell_by("SELECT h.severity, format('%s of %s is one individual here: %s', "
            "CASE WHEN t.unit IS NULL THEN 'one row' ELSE 'a unit' END, t.relation, h.finding), NULL, h.remedy "
            "FROM dp_rdr.protected_table t, dp_rdr.people_hints($1) h WHERE t.relation::oid = $1",
            relation);
}

// ---- limits --------------------------------------------------------------------------------------------------------

static int limit_argument(FunctionCallInfo fcinfo, int argument, const char *name, bool takes_away) {
    if (PG_ARGISNULL(argument))
        return 0;
    int limit = PG_GETARG_INT32(argument);
    if (limit == 0 && takes_away)
        return no_limit;
    if (limit < 1 || limit > catalog::max_declared_rows)
        refuse_value(psprintf("%s is %d, and must be from 1 to %d", name, limit, catalog::max_declared_rows),
                     "Choose what most people do not exceed, without looking at the rows.");
    return limit;
}

Limits limit_arguments(FunctionCallInfo fcinfo, int first, bool takes_away) {
    Limits limits;
    limits.max_rows = limit_argument(fcinfo, first, "max_rows", takes_away);
    limits.max_groups = limit_argument(fcinfo, first + 1, "max_groups", takes_away);
    limits.max_rows_per_group = limit_argument(fcinfo, first + 2, "max_rows_per_group", takes_away);
    return limits;
}

void check_limits(Oid relation, const Unit *unit, const Limits &limits) {
    if (unit == nullptr) {
        if (limits.max_rows > 0 || limits.max_groups > 0 || limits.max_rows_per_group > 0)
            refuse_value(psprintf("max_rows, max_groups and max_rows_per_group go with a unit, and a row of %s is one",
                                  catalog::qualified_name(relation)),
                         "Pass unit => 'column' as well.");
        return;
    }
    if (!unit->keyed && limits.max_rows == 0)
        refuse_with(ERRCODE_NULL_VALUE_NOT_ALLOWED,
                    psprintf("max_rows must not be null: no key of %s says that a unit has one row",
                             catalog::qualified_name(relation)),
                    "Pass how many rows of one unit shall count, max_rows => 20, chosen without looking at the rows.");
    const int most = Max(limits.max_rows, 1);
    if (limits.max_groups > most)
        refuse_value(psprintf("max_groups is %d, above max_rows, %d", limits.max_groups, most),
                     "A unit is in no more groups than it has rows.");
    if (limits.max_rows_per_group > most)
        refuse_value(psprintf("max_rows_per_group is %d, above max_rows, %d", limits.max_rows_per_group, most),
                     "A unit has no more rows in a group than in all.");
    if (unit->keyed)
        return;
    catalog::check_whole(unit, find_all_inheritors(relation, AccessShareLock, nullptr));
}

// ---- public tables --------------------------------------------------------------------------------------------------

namespace {
struct PublicCall {
    Oid relation;
    Oid table; // protected
};
} // namespace

static PublicCall arguments_of(FunctionCallInfo fcinfo) {
    require_first(fcinfo, 2);
    PublicCall call = {PG_GETARG_OID(0), protected_relation(PG_GETARG_OID(1))};
    check_exists(call.relation);
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
    return text_of_fault(fcinfo, refusal, "%s\n%s");
}

// ---- stored answers -------------------------------------------------------------------------------------------------

// In the caller's transaction, with what he has loaded in it. An answer that is drawn meanwhile is stored under a key with the
// number from before, and is not found any more once this is committed.
DP_CALL(dp_forget) {
    require(fcinfo, 0, "relation");
    Oid relation = protected_relation(PG_GETARG_OID(0));
    Visit visit = Visit::write();
    run(visit,
        "INSERT INTO dp_rdr.forgotten AS f (table_id, times) "
        "SELECT t.domain, 1 FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 "
        "ON CONFLICT (table_id) DO UPDATE SET times = f.times + 1",
        relation);
    const uint64 answers = run(visit,
                               "DELETE FROM dp_rdr.stored_answer a USING dp_rdr.protected_table t "
                               "WHERE t.domain = a.table_id AND t.relation::oid = $1",
                               relation);
    visit.leave();
    PG_RETURN_INT64(static_cast<int64>(answers));
}

} // namespace dp::sql
