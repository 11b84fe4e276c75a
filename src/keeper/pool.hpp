// Holds the memory that clients and keepers of one database share: slots for requests, a table of keepers (architecture.md, 3.8).
//
// All that is written here is written under the pool's one LWLock, and nothing that can raise an error runs under it.
// The pool lies in a pinned dynamic shared memory area of its database; a small directory in the main shared memory, found
// by name, says where. Neither needs the library to be preloaded.
#pragma once

#include "privacy/decimal.hpp"
#include "privacy/period.hpp"

#include "border/postgres.hpp"

extern "C" {
#include <common/sha2.h>
}

namespace dp::keeper {

// A session may have another library than a keeper: the file was replaced while it ran. Whatever changes in this file or in
// a message raises this number, which is part of the directory's name: each layout has a pool of its own.
constexpr uint32 layout_number = 14;

constexpr int max_databases = 64; // that have a pool at the same time
constexpr int max_keepers = 16;   // of a database
constexpr int nslots = 128;       // requests of a database at the same time; who finds none waits
constexpr int slots_of_login = 96;
constexpr int slots_kept = 16;                // for logins that hold none
constexpr Size area_limit = 64 * 1024 * 1024; // bytes of all requests and answers under way
constexpr Size request_limit = 8 * 1024 * 1024;

// free -> writing -> pending -> charging -> charged -> running -> done -> free. From `charging` on a slot belongs to a keeper,
// before and after to its client. Back to pending: locks that are in the way.
enum class State : uint32 { free, writing, pending, charging, charged, running, done };

enum class Kind : uint32 {
    answer,  // of a policy
    approve, // of a request: its requester is asked for in its row
    limit,   // how many rows of a unit shall count, of a controller's own call
    charge   // of a controller's own call, or another entry of the ledger
};

// Says whether a request was charged, when its keeper has ended. 0 (none): no keeper of it has.
enum class Loss : uint32 { none, uncharged, unknown, charged };

struct Slot {
    pg_atomic_uint32 state; // State; read without the lock, written under it
    Kind kind;
    bool cancelled; // its client has gone: nobody reads the answer
    bool alone;     // it may take long before its charge, or wait for a lock: no other request waits for it
    bool elsewhere; // other servers keep rows of its table, and any of them may hang
    int keeper;     // that has it
    int charger;    // the keeper that has charged it, and holds its locks; -1
    PGPROC *client; // whose latch is set
    Oid login, role, session_role;
    uint64 ticket;     // order of arrival
    TimestampTz asked; // when its client had a slot for it
    TimestampTz since; // when it was put, or first put back
    TimestampTz retry; // not taken before
    int64 clock;       // batch_clock() when it was put
    int64 left;        // microseconds for which it was left in the queue because a batch was charged
    // Tells the keeper that reads, which need not be the one that has charged, what the charge was for.
    unsigned char charged[PG_SHA256_DIGEST_LENGTH]; // release::hash_of_charge
    privacy::Epsilon epsilon;
    privacy::Day period; // that it was charged in
    int64 begun;         // the last cell of a partition by the clock of its question; 0 without one
    // The request, then the answer, part by part: the client takes one, the keeper writes the next.
    dsa_pointer buffer;
    Size capacity, filled;
    bool last;       // no other part follows
    bool taken;      // the client has what was there
    bool locked;     // it was put or given back because of a lock
    bool committing; // its charge is being committed
    Loss lost;       // nothing follows, not even what is in the buffer
    Oid relation;    // the view or table that it is about, where its client can tell
};

enum class Life : uint32 { none, starting, idle, woken, busy };

struct Keeper {
    Life life;
    int pid;
    PGPROC *process;
    TimestampTz since; // of `starting`
    Oid reading_for;   // the login whose request it reads rows for
    int slot;          // that it is at, -1
    uint64 turn;       // ticket of its wait for the turn to charge, 0: it does not wait
    bool batch;        // it charges a batch, or waits to
    uint64 charges, commits;
};

// How long charges took, from the end of their preparation to their being durable, and for how long they were left in the queue
// because a batch was charged: four classes to each doubling, from a microsecond on. Of all keepers together, since the pool was
// made.
constexpr int nclasses = 96;

struct Pool {
    LWLock lock;
    bool closed; // its place in the directory is another database's; whoever is still here looks for the new one
    uint64 tickets;
    int charging;            // the keeper that commits charges; -1
    TimestampTz no_worker;   // when a client last wanted one more keeper, and the server had no worker slot
    TimestampTz batch_since; // for so long there has been a batch that is charged or waits to be; 0: there is none
    int64 batch_time;        // microseconds for which there was one before
    ConditionVariable slot_freed;
    Keeper keepers[max_keepers];
    uint64 charge_times[nclasses];
    Slot slots[nslots];
};

struct DatabaseEntry {
    Oid database;
    dsa_handle area;
    dsa_pointer pool;
    int keepers;         // that live or start
    TimestampTz waiting; // when a client last found no worker slot
};

struct Directory {
    LWLock lock;
    int tranche;
    DatabaseEntry databases[max_databases];
};

// Holds a lock for as long as it lives. Nothing may raise an error meanwhile: it would skip the destructor.
class Locked {
  public:
    explicit Locked(LWLock &lock, LWLockMode mode = LW_EXCLUSIVE) : lock_(lock) { LWLockAcquire(&lock, mode); }
    ~Locked() { LWLockRelease(&lock_); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;

  private:
    LWLock &lock_;
};

// The directory, made by whoever comes first. Needs no transaction.
Directory *directory();
// So much shared memory is asked for where the library is preloaded; elsewhere it fits into what the server leaves over.
Size directory_size();

// The pool of this process's database, attached for the life of the process. 53200 when there is no room for it.
Pool *pool();
// Returns the pool as pool() does, and leaves one first that was closed for another database. Not while this process has a slot in it.
Pool *live_pool();
dsa_area *area();
DatabaseEntry *database_entry();

inline State state_of(const Slot &slot) {
    auto state = static_cast<State>(pg_atomic_read_u32(const_cast<pg_atomic_uint32 *>(&slot.state)));
    pg_read_barrier();
    return state;
}
inline void set_state(Slot &slot, State state) {
    pg_write_barrier();
    pg_atomic_write_u32(&slot.state, static_cast<uint32>(state));
}
inline char *buffer_of(const Slot &slot) {
    return static_cast<char *>(dsa_get_address(area(), slot.buffer));
}

} // namespace dp::keeper
