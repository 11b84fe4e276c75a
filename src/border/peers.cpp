#include "border/peers.hpp"

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

// Until the socket is ready or the time is up.
static void wait_for(const Talk *talk, TimestampTz end) {
    int event = talk->wants == PGRES_POLLING_WRITING ? WL_SOCKET_WRITEABLE : WL_SOCKET_READABLE;
    int found = WaitLatchOrSocket(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | event,
                                  PQsocket(talk->connection),
                                  TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end), PG_WAIT_EXTENSION);
    if ((found & WL_LATCH_SET) != 0)
        ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
}

// One step of each in turn: while one is waited for the others go on where they are. False: all are through.
static bool step(Talk *talks, Peer *peers, int n, const char *question, const char *argument, TimestampTz end) {
    bool more = false;
    for (int i = 0; i < n; i++) {
        if (talks[i].over)
            continue;
        wait_for(&talks[i], end);
        if (talks[i].asked)
            read(&talks[i], &peers[i]);
        else
            connect(&talks[i], &peers[i], question, argument);
        more = more || !talks[i].over;
    }
    return more;
}

static void ask(Talk *talks, Peer *peers, int n, const char *question, const char *argument, int milliseconds) {
    TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);
    for (int i = 0; i < n; i++)
        begin(&talks[i], &peers[i]);
    while (step(talks, peers, n, question, argument, end))
        if (GetCurrentTimestamp() >= end) {
            for (int i = 0; i < n; i++)
                if (!talks[i].over)
                    fail(&talks[i], &peers[i], nullptr, psprintf("nothing for %d ms", milliseconds));
            return;
        }
}

void ask_peers(Peer *peers, int n, const char *question, const char *argument, int milliseconds) {
    auto *talks = static_cast<Talk *>(palloc0(sizeof(Talk) * (n + 1)));
    volatile int files = 0;
    PG_TRY();
    {
        for (; files < n; files++)
            if (!AcquireExternalFD())
                ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                                errmsg("there is no room for connections to %d servers", n),
                                errdetail("Nothing was charged."), errhint("Raise max_files_per_process.")));
        ask(talks, peers, n, question, argument, milliseconds);
    }
    PG_FINALLY();
    {
        for (int i = 0; i < n; i++)
            PQfinish(talks[i].connection);
        for (; files > 0; files--)
            ReleaseExternalFD();
    }
    PG_END_TRY();
}

} // namespace dp::border
