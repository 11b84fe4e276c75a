// How many people there are, by declaration, and whether rows of one may be many, as far as keys tell. No row is read.
#include "catalog/co_located.hpp"
#include "sql/call_arguments.hpp"
#include "sql/domain_members.hpp"
#include "sql/setter.hpp"

using dp::catalog::Visit;

namespace dp::sql {

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
    catalog::UnitPath path = {};
    path.relation = relation;
    path.ncolumns = unit->ncolumns;
    path.columns = unit->columns;
    path.direct = unit->parent_key == nullptr;
    path.parent_relation = unit->parent;
    path.parent_key = unit->parent_key;
    path.parent = path.direct ? nullptr : declared_unit(unit->parent);
    catalog::check_whole(&path, find_all_inheritors(relation, AccessShareLock, nullptr));
}

} // namespace dp::sql
