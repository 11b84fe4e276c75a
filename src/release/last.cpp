#include "release/last.hpp"

#include "border/session.hpp"
#include "privacy/quantile.hpp"

namespace dp::release {

constexpr int most_remembered = 1000; // of one statement

// One context for the releases that are remembered, those of the last statement; lives as long as the connection.
static MemoryContext context = nullptr;
static LastRelease *last = nullptr;

static void copy_columns(const query::Leaf *leaf, const Facts &facts, LastRelease *release) {
    release->columns = static_cast<LastColumn *>(palloc0(sizeof(LastColumn) * (leaf->noutputs + 1)));
    for (int i = 0; i < leaf->noutputs; i++) {
        const query::Output &output = leaf->outputs[i];
        if (output.is_key)
            continue;
        const bool drawn = privacy::is_quantile(leaf->aggregates[output.index].fn);
        release->columns[release->ncolumns++] =
            LastColumn{pstrdup(output.name), facts.error95[i], drawn ? facts.judged.rank95 : 0,
                       facts.judged.seen == nullptr ? Seen{} : facts.judged.seen[i]};
    }
}

// The statement that runs and has made a release; null when it has ended.
static EState *statement = nullptr;

static void statement_ends(void *) {
    statement = nullptr;
}

// Whether the statement has made no release before.
static bool is_first_of(EState *estate) {
    if (estate == nullptr)
        return true;
    if (estate == statement)
        return false;
    auto *callback = static_cast<MemoryContextCallback *>(
        MemoryContextAllocZero(estate->es_query_cxt, sizeof(MemoryContextCallback)));
    callback->func = statement_ends;
    MemoryContextRegisterResetCallback(estate->es_query_cxt, callback);
    statement = estate;
    return true;
}

// Counts answers that were charged, since the command that began at that time. A statement may go on over several commands
// (a cursor), and a command may run several statements (functions).
static TimestampTz command = 0;
static int ncharged = 0;

int charged_before(EState *estate) {
    TimestampTz now = GetCurrentStatementStartTimestamp();
    if (now != command && (estate == nullptr || estate != statement))
        ncharged = 0;
    command = now;
    return ncharged;
}

static void copy_request(const Facts &facts, const StringInfoData *request, LastRelease *release) {
    if (request == nullptr || !release->alone || facts.refinable.mean == nullptr)
        return;
    release->refinable = facts.refinable;
    release->refinable.mean = pstrdup(facts.refinable.mean);
    auto *copy = static_cast<char *>(palloc(request->len));
    memcpy(copy, request->data, request->len);
    release->request = copy;
    release->request_size = request->len;
}

void remember(const query::Leaf *leaf, const Facts &facts, const StringInfoData *request, EState *estate) {
    ncharged = charged_before(estate) + (facts.uncharged ? 0 : 1);
    bool first = is_first_of(estate);
    if (context == nullptr)
        context = AllocSetContextCreate(TopMemoryContext, "dp_rdr last release", ALLOCSET_SMALL_SIZES);
    const LastRelease *before = first ? nullptr : last_release();
    const int number = before == nullptr ? 1 : before->number + 1;
    last = nullptr; // should the copy fail
    if (number == 1 || number > most_remembered)
        MemoryContextReset(context);
    MemoryContext old = MemoryContextSwitchTo(context);
    auto *release = static_cast<LastRelease *>(palloc0(sizeof(LastRelease)));
    if (number > 1 && number <= most_remembered)
        release->before = before;
    release->number = release->before == nullptr ? 1 : number;
    release->turn = border::session_turn();
    release->role = GetUserId();
    release->is_public = is_public(facts.algorithm);
    release->mechanism = facts.mechanism;
    if (release->is_public) {
        release->paid = facts.paid;
        release->delta = facts.delta;
    }
    release->reached = facts.reached;
    release->uncharged = facts.uncharged;
    release->alone = first;
    copy_request(facts, request, release);
    release->hidden = facts.judged.seen == nullptr ? -1 : facts.judged.hidden;
    copy_columns(leaf, facts, release);
    MemoryContextSwitchTo(old);
    last = release;
}

void remember_use_of_groups() {
    if (last_release() != nullptr)
        last->groups_used = true;
}

const LastRelease *last_release() {
    return last != nullptr && last->turn == border::session_turn() ? last : nullptr;
}

} // namespace dp::release
