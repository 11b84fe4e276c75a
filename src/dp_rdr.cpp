// dp_rdr: differentially private answers over protected tables, at a price set by relative disclosure risk.
#include "border/hooks.hpp"
#include "border/postgres.hpp"
#include "border/session.hpp"
#include "catalog/ledger.hpp"
#include "keeper/client.hpp"
#include "keeper/pool.hpp"
#include "keeper/start.hpp"
#include "query/estimates.hpp"
#include "query/outer_query.hpp"
#include "query/rewrite.hpp"
#include "query/asked_limits.hpp"

extern "C" {
PG_MODULE_MAGIC;
PGDLLEXPORT void _PG_init(void);
}

static shmem_request_hook_type previous_request_hook = nullptr;

static void request_memory() {
    if (previous_request_hook != nullptr)
        previous_request_hook();
    RequestAddinShmemSpace(dp::keeper::directory_size());
}

// Whenever the library is loaded: shared or session preload, LOAD, first call of a function. Never raises: pg_upgrade and
// LOAD come here as well. One setting says how many processes answer, two how much of a person counts, whose noise follows, one which
// noisy rows are shown; none may weaken privacy.
extern "C" void _PG_init(void) {
    dp::keeper::define_settings();
    dp::border::define_hook_setting();
    dp::border::define_session_mark();
    dp::query::define_limit_settings();
    dp::query::define_noise_setting();
    MarkGUCPrefixReserved("dp_rdr");
    if (process_shared_preload_libraries_in_progress) {
        previous_request_hook = shmem_request_hook;
        shmem_request_hook = request_memory;
    }
    dp::catalog::deliver_by(dp::keeper::deliver);
    dp::query::install_planner_hook();
    dp::query::install_relation_hook();
    // What this session planned before it had the hook would be refused by deny() for ever. Only marks plans; there are none
    // in the postmaster or a parallel worker.
    ResetPlanCache();
}
