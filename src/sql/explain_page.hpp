// Leads the leaves of a statement up to the charge (dp_explain, dp_about, dp_remaining). Nothing is charged or read.
#pragma once

#include "catalog/partition.hpp"
#include "query/rewrite.hpp"
#include "release/ask.hpp"
#include "release/estimate.hpp"

namespace dp::sql {

// One call of release() in the rewritten statement.
struct Call {
    const FuncExpr *function;
    const Query *around; // reads it
    int ncolumns;
    const char **names; // of its columns in the statement's result; null where a column is not handed through
};

struct Verdict {
    bool used;  // the statement computes with its groups
    bool cases; // the policy has a delta: groups may be discovered
    bool known; // false: what it asks for is known when the statement is executed
    const char *mechanism;
    release::Estimate estimate;
    Datum replayable; // the key under which the answer would be stored; 0: it would not be
    bool uncharged;
    const rows::Units *units; // null: a row is a unit
    int rows_per_group;       // C, where the clip is that of 9.14; else 0
    const char *cells;        // that it would be charged to; null: there are none, or nobody could name one
    const rows::Question *question;
    const char *clipped;    // says which rows of a unit do not count; null: all do
    const char *style;      // by which DateStyle texts are read as dates; null: none is
    const char *beyond;     // rows::text_of_beyond()
    const char *narrowed;   // rows::text_of_narrowed()
    const char *lacks_null; // release::null_text()
};

// List of Call *. Errors: those of the statement, and of who may not run it.
List *find_leaves(const char *text, const query::Request *request);
// Reads the arguments of a call as release() reads its own, and evaluates values and rows of the caller's own; false where they follow from
// other answers, change with each look, or run somebody else's code.
bool ask_of_call(const Call *call, release::Ask *ask);
// `earlier`: of release::Earlier *, what the leaves before it would be charged; `asked_before`: keys (bytea) of those that would be
// stored; *charge: what this one would be.
void explain_leaf(Call *call, const List *earlier, const List *asked_before, const double *magnitude, Verdict *verdict,
                  release::Earlier *charge);

// Says how often a statement would be answered. Without a number it says why there is none.
struct Left {
    bool known;
    int64 answers;
    const char *reason;
};
// fresh: each time a new draw, also under a policy with a replay.
Left answers_left(const char *text, bool fresh);
query::Request plain_request(bool fresh);

// Names those of the touched cells that have spent most, of the table or of a role; null: all have spent the same, or nobody could name one.
// Beyond three ranges of them it says so.
const char *poorest_cells(const rows::Question *question, const char *grantee, bool by_rho);

// Describes the cells: "by month since 2025-01-01".
const char *partition_text(const catalog::Partition &partition);

constexpr char no_epsilon[] = "no epsilon meets the preference";

} // namespace dp::sql
