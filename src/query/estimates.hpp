// Keeps the estimates of a protected table for those who may read it (architecture.md, 11: C04, C09).
//
// Privileges are checked when a plan starts to run, but a planner that was asked to print its plan (debug_print_plan) has
// shown by then how many rows of the table it expects. So whoever may not read a protected table, or a part or a parent of
// one, gets the executor's error before.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// An entry of a statement that the planner is about to see.
void check_protected(const Query *query, const RangeTblEntry *entry);

// Hides the estimates of tables that the planner finds by itself: in a SQL function that it inlines, partitions, children.
void install_relation_hook();

} // namespace dp::query
