// The last release of this connection, as far as it is public: what dp_last_release shows to whom it was made.
#pragma once

#include "release/facts.hpp"

namespace dp::release {

struct LastColumn {
    const char *name;
    double error95; // NaN: not known
    double rank95;  // of min, max and percentiles; 0: not known
    Seen seen;      // of no number where nothing is judged
};

struct LastRelease {
    uint64 turn;    // of the session (border/session)
    Oid role;       // that asked
    bool is_public; // false: epsilon was chosen from the data, and nothing may be said
    Charged paid;
    privacy::Delta delta;
    privacy::Mechanism mechanism;
    int ncolumns; // answered columns; keys are not among them
    LastColumn *columns;
    bool groups_used; // its statement computed with groups of which small ones were withheld
    Reached reached;
    // For dp_refine. The mean is null where the answer cannot be refined.
    Refinable refinable;
    const char *request; // what the keeper was asked
    Size request_size;
    bool alone;                // its statement made no other
    bool uncharged;            // it was given again
    const LastRelease *before; // of the same statement
    int number;                // in it
    int64 hidden;   // rows that dp_rdr.noise left out; below 0: nothing is judged
};

// After the last row, when nothing can fail any more. request: what was asked, if it may be asked again; estate: of the statement
// that the answer is part of, if there may be others in it.
void remember(const query::Leaf *leaf, const Facts &facts, const StringInfoData *request, EState *estate);

// Returns how many answers were charged before in the client's command, or in the statement of estate (null: none).
int charged_before(EState *estate);

// What was remembered last is not what the statement shows.
void remember_use_of_groups();

// Null when this connection has made none since its session began, or since RESET ALL.
const LastRelease *last_release();

} // namespace dp::release
