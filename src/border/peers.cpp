#include "border/peers.hpp"

#include "border/versions.hpp"

#include <libpq-fe.h>

namespace dp::border {

Peer make_peer(const char *name) {
    Peer peer = {};
    peer.name = name;
    peer.keywords = static_cast<const char **>(palloc0(sizeof(char *) * (most_options + 1)));
    peer.values = static_cast<const char **>(palloc0(sizeof(char *) * (most_options + 1)));
    return peer;
}

void add_option(Peer *peer, const char *keyword, const char *value) {
    if (peer->noptions == most_options)
        elog(ERROR, "too many options for a connection");
    peer->keywords[peer->noptions] = pstrdup(keyword);
    peer->values[peer->noptions++] = pstrdup(value);
}

void add_options(Peer *peer, const char *conninfo) {
    PQconninfoOption *options = conninfo == nullptr ? nullptr : PQconninfoParse(conninfo, nullptr);
    if (options == nullptr && conninfo != nullptr)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the connection string of %s cannot be read", peer->name)));
    for (const PQconninfoOption *option = options; option != nullptr && option->keyword != nullptr; option++)
        if (option->val != nullptr && option->val[0] != 0)
            add_option(peer, option->keyword, option->val);
    PQconninfoFree(options);
}

bool has_option(const Peer &peer, const char *keyword) {
    for (int i = 0; i < peer.noptions; i++)
        if (strcmp(peer.keywords[i], keyword) == 0)
            return true;
    return false;
}

namespace {
struct Talk {
    PGconn *connection;
    PostgresPollingStatusType wants;
    bool asked, over;
};

struct Talks {
    Talk *all;
    Peer *peers;
    int n;
    WaitEventSet *set; // null unless it waits
    WaitEvent *ready;
    const char *question, *argument;
};
} // namespace

static void fail(Talk *talk, Peer *peer, const char *sqlstate, const char *words) {
    talk->over = true;
    strlcpy(peer->sqlstate, sqlstate == nullptr ? "" : sqlstate, sizeof peer->sqlstate);
    strlcpy(peer->words, words, sizeof peer->words);
}

static void begin(Talk *talk, Peer *peer) {
    peer->answers = false;
    talk->connection = PQconnectStartParams(peer->keywords, peer->values, 0);
    talk->wants = PGRES_POLLING_WRITING;
    if (PQstatus(talk->connection) == CONNECTION_BAD)
        fail(talk, peer, nullptr, PQerrorMessage(talk->connection));
}

static void connect(Talk *talk, Peer *peer, const char *question, const char *argument) {
    talk->wants = PQconnectPoll(talk->connection);
    if (talk->wants == PGRES_POLLING_FAILED)
        fail(talk, peer, nullptr, PQerrorMessage(talk->connection));
    if (talk->wants != PGRES_POLLING_OK)
        return;
    talk->wants = PGRES_POLLING_READING;
    if (question == nullptr)
        talk->over = peer->answers = true;
    else if (PQsendQueryParams(talk->connection, question, 1, nullptr, &argument, nullptr, nullptr, 0) == 1)
        talk->asked = true;
    else
        fail(talk, peer, nullptr, PQerrorMessage(talk->connection));
}

static void read(Talk *talk, Peer *peer) {
    if (PQconsumeInput(talk->connection) == 0)
        fail(talk, peer, nullptr, PQerrorMessage(talk->connection));
    else if (PQisBusy(talk->connection) == 0) {
        PGresult *result = PQgetResult(talk->connection);
        if (PQresultStatus(result) == PGRES_TUPLES_OK)
            talk->over = peer->answers = true;
        else
            fail(talk, peer, PQresultErrorField(result, PG_DIAG_SQLSTATE), PQresultErrorMessage(result));
        PQclear(result);
    }
}

// Waits until sockets are ready or the time is up, and returns for how many events. A socket may change with each step.
static int wait_for_any(Talks *talks, long milliseconds) {
    talks->set = make_wait_event_set(talks->n + 2);
    AddWaitEventToSet(talks->set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, nullptr);
    AddWaitEventToSet(talks->set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, nullptr, nullptr);
    for (int i = 0; i < talks->n; i++) {
        Talk *talk = &talks->all[i];
        if (!talk->over)
            AddWaitEventToSet(talks->set,
                              talk->wants == PGRES_POLLING_WRITING ? WL_SOCKET_WRITEABLE : WL_SOCKET_READABLE,
                              PQsocket(talk->connection), nullptr, talk);
    }
    int found = WaitEventSetWait(talks->set, milliseconds, talks->ready, talks->n + 2, PG_WAIT_EXTENSION);
    FreeWaitEventSet(talks->set);
    talks->set = nullptr;
    return found;
}

// One step of each that is ready. False: the time is up.
static bool step(Talks *talks, TimestampTz end) {
    int found = wait_for_any(talks, TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end));
    for (int i = 0; i < found; i++) {
        auto *talk = static_cast<Talk *>(talks->ready[i].user_data);
        if (talk == nullptr)
            ResetLatch(MyLatch);
        else if (talk->asked)
            read(talk, &talks->peers[talk - talks->all]);
        else
            connect(talk, &talks->peers[talk - talks->all], talks->question, talks->argument);
    }
    CHECK_FOR_INTERRUPTS();
    return GetCurrentTimestamp() < end;
}

static bool all_over(const Talks &talks) {
    bool over = true;
    for (int i = 0; i < talks.n; i++)
        over = over && talks.all[i].over;
    return over;
}

static void ask(Talks *talks, int milliseconds) {
    TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);
    for (int i = 0; i < talks->n; i++)
        begin(&talks->all[i], &talks->peers[i]);
    for (bool more = true; more && !all_over(*talks);)
        more = step(talks, end);
    for (int i = 0; i < talks->n; i++)
        if (!talks->all[i].over)
            fail(&talks->all[i], &talks->peers[i], nullptr, psprintf("nothing for %d ms", milliseconds));
}

void ask_peers(Peer *peers, int n, const char *question, const char *argument, int milliseconds) {
    Talks talks = {static_cast<Talk *>(palloc0(sizeof(Talk) * (n + 1))), peers, n, nullptr,
                   static_cast<WaitEvent *>(palloc(sizeof(WaitEvent) * (n + 2))), question, argument};
    volatile int files = 0;
    PG_TRY();
    {
        for (; files < n; files++)
            if (!AcquireExternalFD())
                ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                                errmsg("there is no room for connections to %d servers", n),
                                errdetail("Nothing was charged."), errhint("Raise max_files_per_process.")));
        ask(&talks, milliseconds);
    }
    PG_FINALLY();
    {
        if (talks.set != nullptr)
            FreeWaitEventSet(talks.set);
        for (int i = 0; i < n; i++)
            PQfinish(talks.all[i].connection);
        for (; files > 0; files--)
            ReleaseExternalFD();
    }
    PG_END_TRY();
}

} // namespace dp::border
