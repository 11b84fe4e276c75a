#include "release/last.hpp"

namespace dp::release {

// One context for the one release that is remembered; lives as long as the connection.
static MemoryContext context = nullptr;
static LastRelease *last = nullptr;

static void copy_columns(const query::Leaf *leaf, const double *error95, LastRelease *release) {
    release->columns = static_cast<LastColumn *>(palloc0(sizeof(LastColumn) * (leaf->noutputs + 1)));
    for (int i = 0; i < leaf->noutputs; i++)
        if (!leaf->outputs[i].is_key)
            release->columns[release->ncolumns++] = LastColumn{pstrdup(leaf->outputs[i].name), error95[i]};
}

void remember(const query::Leaf *leaf, const Facts &facts) {
    if (context == nullptr)
        context = AllocSetContextCreate(TopMemoryContext, "dp_rdr last release", ALLOCSET_SMALL_SIZES);
    last = nullptr; // should the copy fail
    MemoryContextReset(context);
    MemoryContext old = MemoryContextSwitchTo(context);
    auto *release = static_cast<LastRelease *>(palloc0(sizeof(LastRelease)));
    release->role = GetUserId();
    release->is_public = is_public(facts.algorithm);
    release->mechanism = facts.mechanism;
    if (release->is_public) {
        release->paid = facts.paid;
        release->delta = facts.delta;
    }
    copy_columns(leaf, facts.error95, release);
    MemoryContextSwitchTo(old);
    last = release;
}

void remember_use_of_groups() {
    if (last != nullptr)
        last->groups_used = true;
}

const LastRelease *last_release() {
    return last;
}

} // namespace dp::release
