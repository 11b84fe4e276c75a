// Per-instance sensitivities of all individuals without running the query n times (architecture.md, 6; formulas.md, 1.4).
// For the controller alone: everything here depends on the private rows.
#pragma once

#include "risk/memo.hpp"
#include "rows/may_read.hpp"
#include "rows/question.hpp"

namespace dp::risk {

// Two groups of people whose risks are compared: conditions over the table. Both null: everybody's risks are.
struct PeopleGroups {
    Node *a, *b;
};

// calibration: `sound` measures the vector that is released (8.6), `published` the aggregates themselves (1.4).
// Runs as the table's owner.
Memo *leave_one_out(const rows::Uncharged &right, privacy::Mechanism mechanism, privacy::Calibration calibration,
                    Detail detail, const PeopleGroups &people = {});

} // namespace dp::risk
