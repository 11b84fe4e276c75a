// Whether rows of one person may be many, as far as the keys of the tables tell. No row is read.
#include "sql/controller.hpp"

using dp::catalog::Visit;

namespace dp::sql {

namespace {
struct Hint {
    bool certain;
    const char *finding, *remedy;
};
} // namespace

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
