#include "keeper/waiters.hpp"

#include "border/each.hpp"

namespace dp::keeper {

// Tells whether one of the relations has an entry in the shared table of locks. Fast-path locks have none: nobody waits for them.
static bool has_entry(const List *relations) {
    bool any = false;
    for (Oid relation : border::each_oid(relations)) {
        LOCKTAG tag;
        SET_LOCKTAG_RELATION(tag, MyDatabaseId, relation);
        any = any || LockWaiterCount(&tag) > 0;
    }
    return any;
}

static bool waits_for(const LockInstanceData &lock, const List *relations) {
    return lock.waitLockMode != NoLock && lock.locktag.locktag_type == LOCKTAG_RELATION &&
           lock.locktag.locktag_field1 == MyDatabaseId && DoLockModesConflict(lock.waitLockMode, AccessShareLock) &&
           list_member_oid(relations, lock.locktag.locktag_field2);
}

bool is_waited_for(const List *relations) {
    if (!has_entry(relations))
        return false;
    const LockData *all = GetLockStatusData();
    bool waited = false;
    for (int i = 0; i < all->nelements && !waited; i++)
        waited = waits_for(all->locks[i], relations);
    return waited;
}

} // namespace dp::keeper
