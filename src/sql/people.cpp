// How many people there are, by declaration, and whether rows of one may be many, as far as keys tell. No row is read.
#include "sql/arguments.hpp"
#include "sql/controller.hpp"
#include "privacy/row_limit.hpp"
#include "sql/domain.hpp"

using dp::catalog::Visit;

namespace dp::sql {

namespace {
struct Hint {
    bool certain;
    const char *finding, *remedy;
};
} // namespace

// Rounds to one digit, so that it may be published; 0 for none.
static int64 of_one_digit(int64 n) {
    constexpr int64 most = 1000000000000;
    if (n < 0 || n > most)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the number of people must be from 0 to " INT64_FORMAT ", not " INT64_FORMAT, most, n),
                        errhint("About how many is enough: it is rounded to one digit. 0 takes it back.")));
    int64 unit = 1;
    while (n / unit >= 10)
        unit *= 10;
    return (n + unit / 2) / unit * unit;
}

DP_CALL(dp_set_people) {
    require(fcinfo, 0, "relation");
    require(fcinfo, 1, "n");
    Oid relation = protected_relation(PG_GETARG_OID(0)), caller = GetUserId();
    const int64 n = PG_GETARG_INT64(1), people = of_one_digit(n);
    Oid types[2] = {OIDOID, INT8OID};
    Datum values[2] = {ObjectIdGetDatum(relation), Int64GetDatum(people)};
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    check_owns_domain(visit, relation, caller);
    visit.run("UPDATE dp_rdr.privacy_domain d SET people = nullif($2, 0) FROM dp_rdr.protected_table t "
              "WHERE t.relation::oid = $1 AND d.id = t.domain",
              2, types, values);
    visit.leave();
    if (people != n)
        ereport(NOTICE, (errmsg(INT64_FORMAT " is kept as about " INT64_FORMAT " people", n, people)));
    PG_RETURN_VOID();
}

double strictest_tau(Oid relation) {
    Visit visit = Visit::read();
    (void)run_with_oid(visit,
                       "SELECT max(p.tau) FROM dp_rdr.restricted_view v JOIN dp_rdr.policy p ON p.view = v.view "
                       "WHERE v.relation::oid = $1 AND p.tau < 1",
                       relation);
    bool isnull;
    const Datum tau = border::Spi::value(0, 1, &isnull);
    const double strictest = isnull ? tau_where_none_is_granted : DatumGetFloat8(tau);
    visit.leave();
    return strictest;
}

void tell_accuracy(Oid relation) {
    const catalog::UnitPath *path = declared_unit(relation);
    if (path == nullptr || (path->direct && catalog::covers_key(relation, path->ncolumns, path->columns)))
        return;
    const double tau = strictest_tau(relation);
    const double people = border::core([&] { return privacy::error95_of_people(tau); });
    if (people < 1) // other limits of epsilon decide
        return;
    const char *name = catalog::qualified_name(relation);
    ereport(NOTICE,
            (errmsg("at tau %s a count of people will be right to about %.0f, and one of rows of %s to about %.0f",
                    float8out_internal(tau), rint(people), name, rint(people * path->max_rows)),
             errdetail("95 of 100 answers are as close. Noise hides %d rows, as many as one person may have (max_rows).",
                       path->max_rows),
             errhint("What most people have is enough: dp_set_contribution('%s', max_rows => ...) lowers it.", name)));
}

void warn_of_many_rows(Oid relation) {
    Visit visit = Visit::read();
    uint64 rows = run_with_oid(
        visit, "SELECT h.severity = 'warning', h.finding, h.remedy FROM dp_rdr.people_hints($1) h", relation);
    auto *hints = static_cast<Hint *>(MemoryContextAlloc(visit.spi.caller, sizeof(Hint) * (rows + 1)));
    for (uint64 i = 0; i < rows; i++) {
        bool isnull;
        hints[i] = Hint{DatumGetBool(border::Spi::value(i, 1, &isnull)), visit.spi.text(i, 2), visit.spi.text(i, 3)};
    }
    bool units =
        run_with_oid(visit, "SELECT 1 FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 AND t.unit IS NOT NULL",
                     relation) == 1;
    visit.leave(); // under its settings nothing is printed
    for (uint64 i = 0; i < rows; i++)
        ereport(hints[i].certain ? WARNING : NOTICE,
                (errmsg(units ? "a unit of %s is one individual here: %s" : "one row of %s is one individual here: %s",
                        catalog::qualified_name(relation), hints[i].finding),
                 errhint("%s", hints[i].remedy)));
}

} // namespace dp::sql
