#include "border/hooks.hpp"

#include "border/permissions.hpp"
#include "border/spi.hpp"

extern "C" {
#include <catalog/objectaccess.h>
#include <rewrite/rowsecurity.h>
#include <utils/selfuncs.h>
}

namespace dp::border {

// Lists the hooks that a statement may call on its way. test/docs/hooks.py compares the list with the server's headers.
#define FOR_EACH_HOOK(DO)                                                                                              \
    DO(planner_hook)                                                                                                   \
    DO(join_search_hook)                                                                                               \
    DO(set_rel_pathlist_hook)                                                                                          \
    DO(set_join_pathlist_hook)                                                                                         \
    DO(create_upper_paths_hook)                                                                                        \
    DO(get_relation_info_hook)                                                                                         \
    DO(get_relation_stats_hook)                                                                                        \
    DO(get_index_stats_hook)                                                                                           \
    DO(get_attavgwidth_hook)                                                                                           \
    DO(post_parse_analyze_hook)                                                                                        \
    DO(row_security_policy_hook_permissive)                                                                            \
    DO(row_security_policy_hook_restrictive)                                                                           \
    DO(ExecutorStart_hook)                                                                                             \
    DO(ExecutorRun_hook)                                                                                               \
    DO(ExecutorFinish_hook)                                                                                            \
    DO(ExecutorEnd_hook)                                                                                               \
    DO(ExecutorCheckPerms_hook)                                                                                        \
    DO(ProcessUtility_hook)                                                                                            \
    DO(object_access_hook)                                                                                             \
    DO(object_access_hook_str)                                                                                         \
    DO(needs_fmgr_hook)                                                                                                \
    DO(fmgr_hook)

namespace {
struct Hooks {
#define HOOK_MEMBER(hook) decltype(::hook) of_##hook;
    FOR_EACH_HOOK(HOOK_MEMBER)
#undef HOOK_MEMBER
};

constexpr Hooks none = {};
Hooks dropped = {}; // as the keeper found them
bool without_hooks = false;
} // namespace

// The hooks that were there.
static Hooks exchange(const Hooks &hooks) {
    Hooks before;
#define EXCHANGE_HOOK(hook)                                                                                            \
    before.of_##hook = ::hook;                                                                                         \
    ::hook = hooks.of_##hook;
    FOR_EACH_HOOK(EXCHANGE_HOOK)
#undef EXCHANGE_HOOK
    return before;
}

template <class Work> static void under(const Hooks &hooks, Work &&work) {
    const Hooks before = exchange(hooks);
    PG_TRY();
    { work(); }
    PG_FINALLY();
    { (void)exchange(before); }
    PG_END_TRY();
}

template <class Work> static void hooked(Work &&work) {
    if (without_hooks)
        under(dropped, work);
    else
        work();
}

// ---- for good ------------------------------------------------------------------------------------------------------

// A parallel worker has the settings of its leader before it has anything to run.
static void assign_setting(bool value, void *) {
    if (value && InitializingParallelWorker)
        (void)exchange(none);
}

void define_hook_setting() {
    static bool setting = false;
    DefineCustomBoolVariable("dp_rdr.without_hooks",
                             "Parallel workers call no hook of other extensions: for statements of dp_rdr's own.",
                             nullptr, &setting, false, PGC_SUSET,
                             GUC_NO_SHOW_ALL | GUC_NO_RESET_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, nullptr,
                             assign_setting, nullptr);
}

void drop_hooks() {
    const Hooks before = exchange(none);
    if (without_hooks)
        return;
    dropped = before;
    without_hooks = true;
}

PlannedStmt *plan_hooked(Query *query, int options) {
    PlannedStmt *plan = nullptr;
    hooked([&] { plan = pg_plan_query(query, "(dp_rdr)", options, nullptr); });
    forget_empty_permissions(plan);
    return plan;
}

void set_hooked(const char *statement) {
    hooked([&] {
        Spi spi = Spi::connect();
        (void)spi.run(statement, false);
        spi.finish();
    });
}

// ---- everywhere ----------------------------------------------------------------------------------------------------

PlannedStmt *plan_unhooked(Query *query, int options, set_rel_pathlist_hook_type own) {
    PlannedStmt *plan = nullptr;
    Hooks hooks = none;
    hooks.of_set_rel_pathlist_hook = own;
    // No text: nothing of the caller's in the log.
    under(hooks, [&] { plan = standard_planner(query, "(dp_rdr)", options, nullptr); });
    forget_empty_permissions(plan); // once: a plan may be run again in a context that is shorter than its own
    return plan;
}

QueryDesc *run_unhooked(PlannedStmt *plan, DestReceiver *receiver, ParamListInfo parameters,
                        QueryEnvironment *environment, int counted) {
    QueryDesc *desc = CreateQueryDesc(plan, "(dp_rdr)", GetActiveSnapshot(), InvalidSnapshot, receiver, parameters,
                                      environment, counted);
    under(none, [&] { standard_ExecutorStart(desc, 0); }); // or it calls ExecutorCheckPerms_hook
#if PG_VERSION_NUM >= 180000
    standard_ExecutorRun(desc, ForwardScanDirection, 0);
#else
    standard_ExecutorRun(desc, ForwardScanDirection, 0, true);
#endif
    return desc;
}

void end_unhooked(QueryDesc *desc) {
    standard_ExecutorFinish(desc);
    standard_ExecutorEnd(desc);
    FreeQueryDesc(desc);
}

} // namespace dp::border
