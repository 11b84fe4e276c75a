// The bound of a table's odometer (README.md).
#include "catalog/decimals.hpp"
#include "sql/arguments.hpp"
#include "sql/controller.hpp"

using dp::catalog::Visit;

namespace dp::sql {

void check_epsilon_total(Datum total) {
    privacy::Epsilon value = catalog::to_epsilon(total, "epsilon_total");
    if (value.units() < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("epsilon_total must not be negative"),
                        errhint("0 closes the table, 1 is the default.")));
}

DP_FUNCTION(dp_set_odometer) {
    require(fcinfo, 0, "relation");
    require(fcinfo, 1, "bound");
    require(fcinfo, 3, "delta_total");
    Oid relation = protected_relation(PG_GETARG_OID(0));
    const char *bound = text_argument(fcinfo, 1);
    bool known = border::core([&] { return privacy::bound_from_name(bound).has_value(); });
    if (!known)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown bound: \"%s\"", bound),
                        errhint("Use 'filter', 'dynamic' or 'none'.")));
    if (PG_ARGISNULL(2) && strcmp(bound, "filter") == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bound filter needs an epsilon_total"),
                        errhint("Pass epsilon_total => 1, or use the bound 'none'.")));
    if (!PG_ARGISNULL(2))
        check_epsilon_total(PG_GETARG_DATUM(2));
    catalog::checked_delta(PG_GETARG_DATUM(3), "delta_total");
    // Under `none` no total binds, and none is shown.
    bool no_total = PG_ARGISNULL(2) || strcmp(bound, "none") == 0;
    Oid types[4] = {OIDOID, TEXTOID, NUMERICOID, NUMERICOID};
    Datum values[4] = {ObjectIdGetDatum(relation), CStringGetTextDatum(bound), no_total ? Datum(0) : PG_GETARG_DATUM(2),
                       PG_GETARG_DATUM(3)};
    Visit visit = Visit::write();
    visit.run("UPDATE dp_rdr.protected_table t SET bound = $2, epsilon_total = $3, delta_total = $4 "
              "WHERE t.relation::oid = $1",
              4, types, values, no_total ? "  n " : "    ");
    visit.leave();
    PG_RETURN_VOID();
}

} // namespace dp::sql
