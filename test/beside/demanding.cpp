// A neighbour that takes the server at its word: its hooks are called on the server's own way, with a statement of somebody's
// around them, and in no process of dp_rdr's. Where that is not so it says "demanding:" in the log, and raises an error.
// test/beside/run loads it with other extensions, each of which demands a part of this.
#include "border/postgres.hpp"

extern "C" {
#include <catalog/objectaccess.h>
#include <rewrite/rowsecurity.h>
#include <utils/selfuncs.h>
PG_MODULE_MAGIC;
PGDLLEXPORT void _PG_init(void);
}

namespace {

int starting = 0; // executors that start, and utilities that run, by way of the hooks

[[noreturn]] void raise(const char *hook, const char *demand) {
    ereport(LOG, (errmsg_internal("demanding: %s: %s", hook, demand)));
    elog(ERROR, "demanding: %s: %s", hook, demand);
}

bool is_internal(const char *text) {
    return text == nullptr || strcmp(text, "(dp_rdr)") == 0;
}

void look(const char *hook) {
    if (MyBgworkerEntry != nullptr && strstr(MyBgworkerEntry->bgw_type, "dp_rdr") != nullptr)
        raise(hook, "called in a keeper");
    if (IsParallelWorker() && strcmp(GetConfigOption("dp_rdr.without_hooks", false, false), "on") == 0)
        raise(hook, "called in a parallel worker of an internal statement");
}

// ---- the way of a statement ----------------------------------------------------------------------------------------

planner_hook_type planner_before;
ExecutorStart_hook_type start_before;
ExecutorRun_hook_type run_before;
ExecutorFinish_hook_type finish_before;
ExecutorEnd_hook_type end_before;
ExecutorCheckPerms_hook_type permissions_before;
ProcessUtility_hook_type utility_before;
post_parse_analyze_hook_type analyze_before;

PlannedStmt *plan(Query *query, const char *text, int options, ParamListInfo parameters) {
    look("planner_hook");
    if (is_internal(text))
        raise("planner_hook", "called for no statement of anybody's");
    return planner_before != nullptr ? planner_before(query, text, options, parameters)
                                     : standard_planner(query, text, options, parameters);
}

void start(QueryDesc *desc, int flags) {
    look("ExecutorStart_hook");
    if (is_internal(desc->sourceText))
        raise("ExecutorStart_hook", "called for no statement of anybody's");
    starting++;
    PG_TRY();
    {
        if (start_before != nullptr)
            start_before(desc, flags);
        else
            standard_ExecutorStart(desc, flags);
    }
    PG_FINALLY();
    { starting--; }
    PG_END_TRY();
}

#if PG_VERSION_NUM >= 180000
void run(QueryDesc *desc, ScanDirection direction, uint64 count) {
    look("ExecutorRun_hook");
    run_before != nullptr ? run_before(desc, direction, count) : standard_ExecutorRun(desc, direction, count);
}
#else
void run(QueryDesc *desc, ScanDirection direction, uint64 count, bool once) {
    look("ExecutorRun_hook");
    run_before != nullptr ? run_before(desc, direction, count, once)
                          : standard_ExecutorRun(desc, direction, count, once);
}
#endif

void finish(QueryDesc *desc) {
    look("ExecutorFinish_hook");
    finish_before != nullptr ? finish_before(desc) : standard_ExecutorFinish(desc);
}

void end(QueryDesc *desc) {
    look("ExecutorEnd_hook");
    end_before != nullptr ? end_before(desc) : standard_ExecutorEnd(desc);
}

#if PG_VERSION_NUM >= 160000
bool check_permissions(List *entries, List *infos, bool raises) {
    look("ExecutorCheckPerms_hook");
    if (starting == 0)
        raise("ExecutorCheckPerms_hook", "called while no statement starts");
    return permissions_before == nullptr || permissions_before(entries, infos, raises);
}
#else
bool check_permissions(List *entries, bool raises) {
    look("ExecutorCheckPerms_hook");
    if (starting == 0)
        raise("ExecutorCheckPerms_hook", "called while no statement starts");
    return permissions_before == nullptr || permissions_before(entries, raises);
}
#endif

void process(PlannedStmt *statement, const char *text, bool read_only, ProcessUtilityContext context,
             ParamListInfo parameters, QueryEnvironment *environment, DestReceiver *to, QueryCompletion *completion) {
    look("ProcessUtility_hook");
    if (is_internal(text))
        raise("ProcessUtility_hook", "called for no statement of anybody's");
    starting++; // COPY checks permissions by itself
    PG_TRY();
    {
        if (utility_before != nullptr)
            utility_before(statement, text, read_only, context, parameters, environment, to, completion);
        else
            standard_ProcessUtility(statement, text, read_only, context, parameters, environment, to, completion);
    }
    PG_FINALLY();
    { starting--; }
    PG_END_TRY();
}

void analyze(ParseState *state, Query *query, JumbleState *jumble) {
    look("post_parse_analyze_hook");
    if (is_internal(state->p_sourcetext))
        raise("post_parse_analyze_hook", "called for no statement of anybody's");
    if (analyze_before != nullptr)
        analyze_before(state, query, jumble);
}

// ---- on the way ----------------------------------------------------------------------------------------------------

set_rel_pathlist_hook_type paths_before;
get_relation_info_hook_type info_before;
object_access_hook_type access_before;
needs_fmgr_hook_type fmgr_before;

void add_paths(PlannerInfo *root, RelOptInfo *relation, Index index, RangeTblEntry *entry) {
    look("set_rel_pathlist_hook");
    if (paths_before != nullptr)
        paths_before(root, relation, index, entry);
}

void get_info(PlannerInfo *root, Oid relation, bool inherited, RelOptInfo *info) {
    look("get_relation_info_hook");
    if (info_before != nullptr)
        info_before(root, relation, inherited, info);
}

void access(ObjectAccessType type, Oid of, Oid object, int part, void *argument) {
    look("object_access_hook");
    if (access_before != nullptr)
        access_before(type, of, object, part, argument);
}

bool needs_hook(Oid function) {
    look("needs_fmgr_hook");
    return fmgr_before != nullptr && fmgr_before(function);
}

template <class Hook> void take(Hook &hook, Hook &before, Hook ours) {
    before = hook;
    hook = ours;
}

} // namespace

extern "C" void _PG_init(void) {
    take<planner_hook_type>(planner_hook, planner_before, plan);
    take<ExecutorStart_hook_type>(ExecutorStart_hook, start_before, start);
    take<ExecutorRun_hook_type>(ExecutorRun_hook, run_before, run);
    take<ExecutorFinish_hook_type>(ExecutorFinish_hook, finish_before, finish);
    take<ExecutorEnd_hook_type>(ExecutorEnd_hook, end_before, end);
    take<ExecutorCheckPerms_hook_type>(ExecutorCheckPerms_hook, permissions_before, check_permissions);
    take<ProcessUtility_hook_type>(ProcessUtility_hook, utility_before, process);
    take<post_parse_analyze_hook_type>(post_parse_analyze_hook, analyze_before, analyze);
    take<set_rel_pathlist_hook_type>(set_rel_pathlist_hook, paths_before, add_paths);
    take<get_relation_info_hook_type>(get_relation_info_hook, info_before, get_info);
    take<object_access_hook_type>(object_access_hook, access_before, access);
    take<needs_fmgr_hook_type>(needs_fmgr_hook, fmgr_before, needs_hook);
}
