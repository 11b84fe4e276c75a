// Requests (architecture.md, 3.11): the rows of dp_rdr.request and dp_rdr.reviewer, who may do what with them, and what a keeper
// writes there.
#pragma once

#include "border/spi.hpp"
#include "catalog/parameters.hpp"
#include "catalog/settings.hpp"

namespace dp::catalog {

// A request as it is stored.
struct Requested {
    int64 id;
    pg_uuid_t table;
    Asker asker; // who asks
    Oid view;
    const char *kind, *decider, *state;
    int64 parent;      // of a signal: whose answer it goes on from; else 0
    Datum task;        // of a signal: a jsonb
    const char *basis; // null: not decided
    const char *query; // a leaf; and as it is shown
    const char *shown;
    Datum parameters; // a jsonb
    TimestampTz expires;
    std::optional<privacy::Epsilon> wanted; // asks for less
    std::optional<Moment> looked_at;
    bool open; // written by the transaction that reads it
    ArrayType *names, *types;
    // With the answer, or null:
    ArrayType *rows;        // text[]
    ArrayType *coordinates; // numeric[]; null as well where there are too many
    ArrayType *error95;     // float8[]
    const char *law;        // of its noise (release/redraw)

    bool is_signal() const { return parent != 0; }
};

// Null: there is none. with_rows: the answer as well.
const Requested *find_request(const Reading &reading, int64 id, bool with_rows);

// Says what a role is to a request.
struct Access {
    bool requester, owner, reviewer;
    const Settings *settings; // of its view; null: it is not registered any more
};
Access access_to(const Reading &reading, const Requested &request, Oid role);

// 42501, with the same words whether there is none or it is another's.
[[noreturn]] void refuse_unknown(int64 id);
// 42501: nobody decides on what he has asked himself, nor on what a role asked that he may become.
void check_not_own(const Requested &request, const Asker &approver);
// 55000 unless it is pending and the caller's own transaction has not touched it.
void check_pending(const Requested &request);
// `expired` is what a pending one becomes by itself.
const char *shown_state(const Requested &request);
// Whether the table has reviewers.
bool has_reviewers(const Reading &reading, Oid relation);
// Whether the role is a reviewer of the table, or a member of one that inherits from it. Superusers need a membership, too.
bool is_reviewer(const Reading &reading, Oid relation, Oid role);

// Writes down that an owner is shown rows for it, in his transaction: once it is committed he declares no decision on it to be one on public
// facts. Nor on any signal on the same answer, which is about the same rows: those that wait are marked with it, and the answer for those
// that are asked for later. Of what is decided nothing else is written: the charge was before.
void record_look(const Requested &request);
// Which of the two somebody was shown rows for; or null. parent: of a signal; or null.
const Requested *seen_of(const Requested &request, const Requested *parent);

// 42501 for a reviewer who is not blind, with the way by which he is not.
void check_blind(const Settings &settings, const Asker &reviewer);

// ---- what a keeper writes ----

// Goes with a charge: the request is taken under the odometer's lock, and is `charged` by the row that is written. Nobody waits
// for who has it: then it is gone.
struct Claim {
    int64 request;
    const char *terms; // a JSON object, to which the price is added
    const char *basis, *approver;
    // Says of the charges before, of a selection:
    bool taken;               // there is one
    int64 ledger_row;         // of the last; 0: none was written
    privacy::Epsilon charged; // of all of them
    bool unseen;              // nobody may have looked at rows for it
};

// The answer to a request that a charge has paid, or that there is none.
struct Settling {
    int64 request;
    int64 ledger_row; // the last charge for it
    const char *state;
    ArrayType *rows, *coordinates, *error95; // or null
    const char *law;                         // JSON; or null
};

// Takes it as the extension's owner, in the writer's transaction. False: it is decided, expired, or somebody else has it.
bool take_request(const border::Spi &spi, const Claim &claim);
void mark_charged(const border::Spi &spi, const Claim &claim, privacy::Epsilon epsilon, int64 ledger_row);
// False: it is not in the state in which that charge has left it.
bool settle_request(const border::Spi &spi, const Settling &settling);

} // namespace dp::catalog
