// What the caller of a charge and its background worker tell each other: one dynamic shared memory segment per charge,
// with a table of contents (shm_toc). Private to ledger.cpp and ledger_worker.cpp.
#pragma once

#include <type_traits>

#include "privacy/accounting.hpp"
#include "privacy/mechanism.hpp"

#include "border/postgres.hpp"
extern "C" {
#include <storage/shm_toc.h>
}

namespace dp::catalog {

enum class RequestKind : uint32 { charge, selection, create_odometer, suspension };

// A session may have an older library than the worker that it asks for: the file was replaced meanwhile. Whatever changes in
// this file or in what the segment holds raises this number; a worker serves requests of its own layout alone.
constexpr uint32 layout_number = 1;

// Only `committed` lets the caller go on. A worker that failed, wherever, leaves `pending`. The numbers stay what they are.
enum class Status : uint32 { pending = 0, committed = 1, denied = 2, changing = 3, other_layout = 4 };

// Keys of the table of contents. A text that is not there is NULL.
enum Key : uint64 {
    key_request,
    key_id, // of the odometer
    key_relation_name,
    key_owner, // of the relation
    key_view_name,
    key_fingerprint,
    key_query,
    key_grantee,
    key_algorithm,
    key_guarantee,
    key_kind,
    key_parameters,
    key_candidates,   // Epsilon[]
    key_measures,     // PlannedMeasure[]
    key_sensitivities // uint64[], one per measure
};

// What plan_release needs of a privacy::Measure.
struct PlannedMeasure {
    privacy::MeasureKind kind;
    int argument;
    int filter;
};

// Why a controller's own call was denied.
struct Reason {
    privacy::Denial denial;
    privacy::Epsilon asked, spent, total;
    privacy::Delta delta_spent, delta_total;
};

// The fixed part. The worker writes the answer, then status, after its commit.
struct Request {
    // These three, key_request and WorkerArguments are the same in every layout.
    uint32 layout; // layout_number
    uint32 size;   // of this struct
    pg_atomic_uint32 status;

    RequestKind kind;
    Oid relation, view;
    Oid role, session_role;
    privacy::Mechanism mechanism;
    privacy::Account account;
    double eps_star, slack;
    bool has_epsilon_max, has_requested, has_share, thresholded;
    privacy::Epsilon epsilon_max, requested, share;
    privacy::Delta delta, delta_noise, delta_groups;
    // Of a selection: what it costs, how many candidates are tested, the delta of the release that follows. Of the charge
    // that follows one: what it did cost, and the most that the round could have come to (0: not the end of a round).
    privacy::Epsilon selection, worst;
    uint64 tested;
    privacy::Delta delta_after;
    uint64 candidates, measures; // numbers of elements
    privacy::Epsilon epsilon;    // the answer: what was charged
    uint64 first, last;          // the answer to a selection: candidates [first, last) are left
    Reason reason;               // the answer when it is denied; of an analyst's request it stays empty
};

static_assert(offsetof(Request, layout) == 0 && offsetof(Request, size) == 4 && offsetof(Request, status) == 8);

// Memory is shared by copying bytes.
static_assert(std::is_trivially_copyable_v<privacy::Epsilon> && std::is_trivially_copyable_v<privacy::Delta>);

// What the worker needs before it can see the segment (bgw_extra). The segment is found by a handle that the server may
// give to another segment once the caller has gone: the nonce, its magic number, tells the two apart.
struct WorkerArguments {
    Oid database;
    uint64 nonce;
};

} // namespace dp::catalog
