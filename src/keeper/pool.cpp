#include "keeper/pool.hpp"

#include "border/refuse.hpp"

namespace dp::keeper {

static Directory *the_directory = nullptr;
static dsa_area *the_area = nullptr;
static Pool *the_pool = nullptr;
static DatabaseEntry *the_entry = nullptr;

Size directory_size() {
    return sizeof(Directory);
}

Directory *directory() {
    if (the_directory != nullptr)
        return the_directory;
    bool found;
    char name[SHMEM_INDEX_KEYSIZE];
    snprintf(name, sizeof name, "dp_rdr keepers %u", layout_number);
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    auto *made = static_cast<Directory *>(ShmemInitStruct(name, sizeof(Directory), &found));
    if (!found) {
        memset(made, 0, sizeof *made);
        made->tranche = LWLockNewTrancheId();
        LWLockInitialize(&made->lock, made->tranche);
    }
    LWLockRelease(AddinShmemInitLock);
    LWLockRegisterTranche(made->tranche, "dp_rdr");
    return the_directory = made;
}

static void initialize(Pool *pool, int tranche) {
    memset(static_cast<void *>(pool), 0, sizeof *pool);
    LWLockInitialize(&pool->lock, tranche);
    ConditionVariableInit(&pool->slot_freed);
    pool->charging = -1;
    for (Keeper &keeper : pool->keepers)
        keeper.slot = -1;
    for (Slot &slot : pool->slots)
        pg_atomic_init_u32(&slot.state, static_cast<uint32>(State::free));
}

// Under the directory's lock. An error leaves an area that nobody knows, pinned or not, and gives the lock back.
static void make_pool(Directory *directory, DatabaseEntry *entry) {
    if (entry->area == 0) {
        dsa_area *made = dsa_create(directory->tranche);
        dsa_set_size_limit(made, area_limit);
        dsa_pin(made);
        dsa_pin_mapping(made);
        entry->pool = dsa_allocate(made, sizeof(Pool));
        entry->area = dsa_get_handle(made);
        the_area = made;
    }
}

// The entry of the database, else a free one, else that of a database that was dropped, whose memory serves again: it was
// dropped when the last process had left it, and one that was still to come never came in.
static DatabaseEntry *find_entry(Directory *directory, Oid *gone, int ngone) {
    DatabaseEntry *free = nullptr;
    for (DatabaseEntry &entry : directory->databases) {
        if (entry.database == MyDatabaseId)
            return &entry;
        bool dropped = false;
        for (int i = 0; i < ngone; i++)
            dropped = dropped || entry.database == gone[i];
        if (free == nullptr && (!OidIsValid(entry.database) || dropped))
            free = &entry;
    }
    return free;
}

// Looked up outside the lock.
static int dropped_databases(const Directory *directory, Oid *gone) {
    int n = 0;
    for (const DatabaseEntry &entry : directory->databases)
        if (OidIsValid(entry.database) && entry.database != MyDatabaseId && IsTransactionState() &&
            !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(entry.database)))
            gone[n++] = entry.database;
    return n;
}

// Under the pool's lock.
static bool is_used(const Pool *pool) {
    bool used = false;
    for (const Keeper &keeper : pool->keepers)
        used = used || keeper.life != Life::none;
    for (const Slot &slot : pool->slots)
        used = used || state_of(slot) != State::free;
    return used;
}

// Under the directory's lock. Whether it is closed now: nobody asks in it, and no keeper is there to answer.
static bool close_unused(DatabaseEntry *entry) {
    if (entry->keepers > 0)
        return false;
    dsa_area *area = dsa_attach(entry->area);
    auto *pool = static_cast<Pool *>(dsa_get_address(area, entry->pool));
    LWLockAcquire(&pool->lock, LW_EXCLUSIVE);
    bool closed = pool->closed = !is_used(pool);
    LWLockRelease(&pool->lock);
    if (closed)
        dsa_unpin(area); // its memory goes with the last session that has it
    dsa_detach(area);
    return closed;
}

// Under the directory's lock. The place of a database that does not use it; 53000: all do.
static DatabaseEntry *take_unused(Directory *directory) {
    for (DatabaseEntry &entry : directory->databases)
        if (close_unused(&entry)) {
            entry = DatabaseEntry{};
            return &entry;
        }
    refuse_with(ERRCODE_INSUFFICIENT_RESOURCES,
                psprintf("more than %d databases use restricted views at the same time", max_databases),
                "Ask again when the background workers of one of them have had nothing to do for a minute.",
                "Nothing was charged.");
}

static void leave_closed_pool() {
    dsa_detach(the_area);
    the_area = nullptr;
    the_pool = nullptr;
    the_entry = nullptr;
}

static void attach(Directory *directory) {
    Oid gone[max_databases];
    int ngone = dropped_databases(directory, gone);
    MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
    LWLockAcquire(&directory->lock, LW_EXCLUSIVE);
    DatabaseEntry *entry = find_entry(directory, gone, ngone);
    if (entry == nullptr)
        entry = take_unused(directory);
    bool fresh = entry->database != MyDatabaseId;
    make_pool(directory, entry);
    if (the_area == nullptr) {
        the_area = dsa_attach(entry->area);
        dsa_pin_mapping(the_area);
    }
    auto *pool = static_cast<Pool *>(dsa_get_address(the_area, entry->pool));
    if (fresh) {
        initialize(pool, directory->tranche);
        entry->database = MyDatabaseId;
        entry->waiting = 0;
        entry->keepers = 0;
    }
    LWLockRelease(&directory->lock);
    MemoryContextSwitchTo(old);
    the_entry = entry;
    the_pool = pool;
}

Pool *pool() {
    if (the_pool == nullptr)
        attach(directory());
    return the_pool;
}

Pool *live_pool() {
    if (pool()->closed)
        leave_closed_pool();
    return pool();
}

dsa_area *area() {
    return the_area;
}

DatabaseEntry *database_entry() {
    return the_entry;
}

} // namespace dp::keeper
