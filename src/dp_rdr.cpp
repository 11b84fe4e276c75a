// dp_rdr: differentially private answers over protected tables, at a price set by relative disclosure risk.
#include "border/postgres.hpp"
#include "catalog/ledger_worker.hpp"
#include "query/estimates.hpp"
#include "query/rewrite.hpp"

extern "C" {
PG_MODULE_MAGIC;
PGDLLEXPORT void _PG_init(void);
}

// Whenever the library is loaded: shared or session preload, LOAD, first call of a function. Never raises: pg_upgrade and
// LOAD come here as well. There are no settings: none may weaken privacy.
extern "C" void _PG_init(void) {
    MarkGUCPrefixReserved("dp_rdr");
    dp::catalog::deliver_by(dp::catalog::deliver_by_worker);
    dp::query::install_planner_hook();
    dp::query::install_relation_hook();
    // What this session planned before it had the hook would be refused by deny() for ever. Only marks plans; there are none
    // in the postmaster or a parallel worker.
    ResetPlanCache();
}
