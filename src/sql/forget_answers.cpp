// dp_forget: ends that stored answers are given again (doc/controller.md).
#include "catalog/access.hpp"
#include "sql/call_arguments.hpp"
#include "sql/setter.hpp"

using dp::catalog::Visit;

namespace dp::sql {

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
