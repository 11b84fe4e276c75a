// The planner hook: a query level that aggregates over one facade becomes the same query over dp_rdr.release(leaf)
// (architecture.md, 3.2). Comfort, never the wall: release checks everything again.
#pragma once

#include "privacy/refinement.hpp"

#include "query/leaf.hpp"

namespace dp::query {

void install_planner_hook();
// Whether the statement that runs had been planned before the hook was there.
bool loaded_by_this_statement();

// The text of a leaf, on one line, as it is read under the pinned settings. It may be longer than a text may be.
const char *text_of_leaf(const Query *leaf);

// Holds the options that dp_query passes on to the leaves of its statement; it applies to the next statement planned and to that alone.
struct Request {
    bool has_epsilon;
    privacy::Epsilon epsilon; // ask for less
    double weight;
    privacy::Wanted wanted; // asks by accuracy
    bool anew;              // not answered by what is stored
    Limits limits;
};
// Runs the rewrite on an analysed and rewritten query in place; returns the number of leaves that became releases.
int rewrite_statement(Query *query, const char *text, const Request *request);
// Keeps the plan of a rewritten statement from being compiled: that takes longer than all that it computes with answers, and
// whoever cancels it waits.
PlannedStmt *compile_nothing(PlannedStmt *plan);

} // namespace dp::query
