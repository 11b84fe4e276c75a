// Takes the people of a question one by one, rows or units, and keeps of them what their risks follow from. For the controller alone: all of
// it depends on the private rows.
#pragma once

#include "risk/alone_values.hpp"
#include "risk/change.hpp"
#include "risk/scan_statement.hpp"
#include "rows/engine.hpp"

namespace dp::risk {

// Holds the people so far, and the one that is being added.
struct PeopleRead {
    const rows::Question *question;
    privacy::Mechanism mechanism;
    privacy::Calibration calibration;
    Memo *memo;
    bool keep;       // records, groups and changes: there is a second look at each
    bool has_sums;   // the sums of groups are there already
    Record current;  // what of it is known
    AloneValues *alone;
    int64 inside, inside_a, inside_b; // individuals
    privacy::PisProfile *profile, *profile_a, *profile_b;
    uint64 kept_when_checked; // values of the profiles
};

// groups_memory: of begin_parts.
PeopleRead begin_people(const rows::Question *question, privacy::Mechanism mechanism, privacy::Calibration calibration,
                        Memo *memo, Detail detail, Size groups_memory);
// Adds what the person brings to one group. The cells are ascending.
void add_part(PeopleRead *people, int group, const privacy::int128 *change, const privacy::CellCount *cells, int ncells,
              int64 individuals);
// Adds a value that a coordinate counts, to the part that was added last.
void add_value(PeopleRead *people, int group, int coordinate, const void *digest, int64 individuals);
// individuals: rows that are the same.
void end_person(PeopleRead *people, int64 individuals, bool in_a, bool in_b);
// Computes the risks of all, and joins people outside: memo->rows, and members of groups, are known.
void finish_people(PeopleRead *people);

// Calls `read` as the tables' owner, under pinned settings and the active snapshot.
template <class Read> void as_reader(const rows::Question *question, Read &&read) {
    as_owner(question->settings->owner, [&] {
        border::PathScope path = border::PathScope::enter(); // an analyst comes here, too, under within_data
        rows::pin_nodes(question->settings->relation);
        read();
        path.leave();
    });
}

} // namespace dp::risk
