// Functions that only the scripts of older versions name. CREATE EXTENSION ... VERSION and pg_upgrade look for them in the
// library; nobody calls them in a database that has been updated.
#include "border/guard.hpp"
#include "border/postgres.hpp"

namespace {

[[noreturn]] void retired() {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("this function belongs to an older version of extension dp_rdr"),
                    errhint("A superuser can run ALTER EXTENSION dp_rdr UPDATE in this database.")));
}

} // namespace

// 0.1.0
DP_CALL(dp_collect_final) {
    retired();
}

DP_CALL(dp_collect_step) {
    retired();
}

DP_CALL(dp_lattice_pair_final) {
    retired();
}

DP_CALL(dp_lattice_pair_step) {
    retired();
}

DP_CALL(dp_lattice_sum_step) {
    retired();
}
