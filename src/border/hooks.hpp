// Hooks of other extensions, and which of them what we run may call (architecture.md, 9.1).
//
// A hook expects that the server called it on its own way, with a statement of a client's around it. Internal statements have
// none: pgaudit, for one, ended the server when it was asked for permissions outside an executor's run. They also must not be
// counted or shown by anybody.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// Defines the setting by which the parallel workers of an internal statement drop their hooks (border/scope pins it). Shown to
// nobody: it weakens nothing, and says nothing but what becomes of these workers.
void define_hook_setting();

// Takes all hooks out of this process, for the rest of its life; those that a library has brought since the last call, too.
// Not emit_log_hook: it sees what goes to the server's log.
void drop_hooks();

// Runs one statement through this process's SPI, or a planner, with the hooks that a keeper has dropped: Citus plans by one.
// Elsewhere they are there anyway.
PlannedStmt *plan_hooked(Query *query, int options);
void set_hooked(const char *statement);

// The plan by the server's own planner, past all hooks but `own`.
PlannedStmt *plan_unhooked(Query *query, int options, set_rel_pathlist_hook_type own = nullptr);

// Runs a plan to its end, past the executor's hooks, under the active snapshot. The result holds its counts until
// end_unhooked() is called.
QueryDesc *run_unhooked(PlannedStmt *plan, DestReceiver *receiver, ParamListInfo parameters = nullptr,
                        QueryEnvironment *environment = nullptr, int counted = 0);
void end_unhooked(QueryDesc *desc);

} // namespace dp::border
