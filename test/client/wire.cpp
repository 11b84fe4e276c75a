// Clients that keep an answer and then undo, abort or abandon what brought it: each answer stays charged (attacks B20 to B23).
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "session.hpp"

namespace {

using namespace client;

// An answer that is longer than any buffer between server and client, so that its first bytes leave before its end.
constexpr const char *long_answer =
    "SELECT n, repeat('x', 100000) FROM dp_query('SELECT count(*) FROM people_dp') AS (n bigint),"
    " generate_series(1, 2) g WHERE g = 1 OR pg_sleep(2) IS NOT NULL";
constexpr const char *plain_question = "SELECT count(*) FROM people_dp WHERE age > 40";

class Wire : public ProtectedTable {
  protected:
    void SetUp() override {
        ProtectedTable::SetUp();
        count_without_bound();
    }

    void expect_charges(int expected) {
        ASSERT_TRUE(quiet());
        EXPECT_EQ(releases(), expected);
        EXPECT_TRUE(verified());
    }
};

// One portal at a time, read in parts: libpq has no call for it, so these messages are written by hand.
class RawMessages {
  public:
    explicit RawMessages(Session &session) : socket_(PQsocket(session.get())) {}

    void parse(const std::string &sql) { add('P', zero("") + zero(sql) + int16(0)); }
    void bind(const std::string &portal) { add('B', zero(portal) + zero("") + int16(0) + int16(0) + int16(0)); }
    void describe(const std::string &portal) { add('D', 'P' + zero(portal)); }
    void execute(const std::string &portal, int32_t rows) { add('E', zero(portal) + int32(rows)); }
    void flush() { add('H', ""); }
    void sync() { add('S', ""); }

    void send() {
        ASSERT_EQ(::send(socket_, out_.data(), out_.size(), 0), static_cast<ssize_t>(out_.size()));
        out_.clear();
    }

    // The types of the messages that arrive, up to and including one of the given types.
    std::string receive_until(const std::string &types) {
        std::string seen;
        while (seen.empty() || types.find(seen.back()) == std::string::npos) {
            const std::string header = read(5);
            if (header.empty())
                return seen;
            uint32_t length = 0;
            for (int i = 1; i < 5; ++i)
                length = length << 8 | static_cast<unsigned char>(header[i]);
            read(length - 4);
            seen += header[0];
        }
        return seen;
    }

  private:
    static std::string zero(const std::string &text) { return text + '\0'; }
    static std::string int16(int value) { return {static_cast<char>(value >> 8), static_cast<char>(value)}; }
    static std::string int32(int32_t value) { return int16(value >> 16) + int16(value & 0xffff); }

    void add(char type, const std::string &body) { out_ += type + int32(static_cast<int32_t>(body.size() + 4)) + body; }

    std::string read(size_t size) {
        std::string data;
        while (data.size() < size) {
            char buffer[4096];
            pollfd readable = {socket_, POLLIN, 0}; // libpq has made it non-blocking
            if (poll(&readable, 1, 10000) != 1)
                return "";
            const ssize_t got = recv(socket_, buffer, std::min(sizeof buffer, size - data.size()), 0);
            if (got <= 0)
                return "";
            data.append(buffer, got);
        }
        return data;
    }

    int socket_;
    std::string out_;
};

// A connection without TLS: its bytes are written by hand.
class PlainSession : public Session {
  public:
    PlainSession() : Session(std::string(database) + " sslmode=disable gssencmode=disable") {
        must(std::string("SET ROLE ") + analyst);
        run(plain_question); // where the library is not preloaded, this loads it
    }
};

TEST_F(Wire, CancelAtTheFirstRow) {
    Session session = analyst_session();
    session.start(long_answer);
    ASSERT_EQ(PQsetSingleRowMode(session.get()), 1);
    ASSERT_TRUE(wait_until("EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')"));
    session.cancel();
    const Result row(PQgetResult(session.get()));
    EXPECT_EQ(PQresultStatus(row.get()), PGRES_SINGLE_TUPLE) << row.message();
    EXPECT_EQ(session.finish().sqlstate(), "57014");
    expect_charges(1);
}

TEST_F(Wire, TerminateItself) {
    Session session = analyst_session();
    session.must("BEGIN");
    EXPECT_TRUE(session.run(count_question).answered());
    session.must("RESET ROLE"); // the session's own role is a superuser, whom nobody else may terminate
    EXPECT_FALSE(session.run("SELECT pg_terminate_backend(pg_backend_pid())").answered());
    expect_charges(1);
}

TEST_F(Wire, TerminatedByAnotherSession) {
    Session session = analyst_session();
    const std::string pid = session.must("SELECT pg_backend_pid()");
    session.must("BEGIN");
    EXPECT_TRUE(session.run(count_question).answered());
    EXPECT_EQ(owner().must("SELECT pg_terminate_backend(" + pid + ")"), "t");
    EXPECT_FALSE(session.run("COMMIT").answered());
    expect_charges(1);
}

TEST_F(Wire, SocketClosedWithAnAnswerPending) {
    Session session = analyst_session();
    session.start(long_answer);
    ASSERT_TRUE(wait_until("EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')"));
    ::shutdown(PQsocket(session.get()), SHUT_RDWR);
    session.close();
    expect_charges(1);
}

TEST_F(Wire, PartialPortalAndRollback) {
    PlainSession session;
    const int before = releases();
    RawMessages wire(session);
    wire.parse("BEGIN");
    wire.bind("");
    wire.execute("", 0);
    wire.parse(std::string(plain_question) + " UNION ALL " + plain_question);
    wire.bind("part");
    wire.execute("part", 1);
    wire.flush();
    wire.send();
    // One row, and the portal is suspended: its second leaf has not been executed.
    EXPECT_NE(wire.receive_until("sE").find("Ds"), std::string::npos);
    EXPECT_EQ(releases(), before + 1);
    wire.parse("ROLLBACK");
    wire.bind("");
    wire.execute("", 0);
    wire.sync();
    wire.send();
    wire.receive_until("Z");
    expect_charges(before + 1);
}

TEST_F(Wire, PartialPortalAndFailure) {
    PlainSession session;
    const int before = releases();
    RawMessages wire(session);
    wire.parse(std::string(plain_question) + " UNION ALL SELECT 1 / (count(*) - count(*)) FROM people_dp");
    wire.bind("part");
    wire.execute("part", 1);
    wire.execute("part", 0);
    wire.sync();
    wire.send();
    const std::string seen = wire.receive_until("Z");
    EXPECT_NE(seen.find("Ds"), std::string::npos) << seen;
    EXPECT_NE(seen.find('E'), std::string::npos) << seen;
    expect_charges(before + 2);
}

// A fetch size, as JDBC has it: in a transaction, a named portal, described, and executed for some rows at a time.
TEST_F(Wire, PortalByFetchSize) {
    PlainSession session;
    const int before = releases();
    session.must("BEGIN");
    RawMessages wire(session);
    wire.parse("SELECT n, g FROM (SELECT count(*) AS n FROM people_dp WHERE age > 40) q, generate_series(1, 7) g");
    wire.bind("C_1");
    wire.describe("C_1");
    wire.sync();
    wire.send();
    EXPECT_EQ(wire.receive_until("Z"), "12TZ");
    EXPECT_EQ(releases(), before);
    for (const char *seen : {"DDDsZ", "DDDsZ", "DCZ"}) {
        wire.execute("C_1", 3);
        wire.sync();
        wire.send();
        EXPECT_EQ(wire.receive_until("Z"), seen);
    }
    session.close();
    expect_charges(before + 1);
}

// A row is read from a cursor, and everything is rolled back.
TEST_F(Wire, CursorAndRollback) {
    Session session = analyst_session();
    session.must("BEGIN");
    session.must(std::string("DECLARE c CURSOR FOR ") + count_question);
    EXPECT_EQ(releases(), 0);
    EXPECT_TRUE(session.run("FETCH c").answered());
    session.must("ROLLBACK");
    expect_charges(1);
}

// Two questions in one pipeline, and one synchronisation: the second is refused, the first had been answered.
TEST_F(Wire, PipelineWithARefusal) {
    Session session = analyst_session();
    ASSERT_EQ(PQenterPipelineMode(session.get()), 1);
    for (const char *sql : {count_question, "SELECT * FROM people_dp", count_question})
        ASSERT_EQ(PQsendQueryParams(session.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 0), 1);
    ASSERT_EQ(PQpipelineSync(session.get()), 1);
    EXPECT_TRUE(Result(PQgetResult(session.get())).answered());
    EXPECT_FALSE(Result(PQgetResult(session.get())).present());
    EXPECT_EQ(Result(PQgetResult(session.get())).sqlstate(), "42501");
    session.close();
    expect_charges(1);
}

// A client that never reads what it is sent, as one behind a blocked pipe does: its answer left the keeper before, which serves others,
// and nothing holds the table.
TEST_F(Wire, ClientThatReadsNothing) {
    const std::string rows = std::string("SELECT q.n, repeat('x', 100000) FROM (") + count_question +
                             ") q, generate_series(1, 1000)";
    for (const std::string &sql : {"COPY (" + rows + ") TO STDOUT", rows}) {
        const int before = releases();
        Session blocked = analyst_session();
        blocked.start(sql);
        ASSERT_TRUE(wait_until("EXISTS (SELECT FROM pg_stat_activity WHERE datname = '" + std::string(database) +
                               "' AND wait_event = 'ClientWrite')"));
        EXPECT_TRUE(analyst_session().run(count_question).answered());
        owner().must("BEGIN; SET LOCAL lock_timeout = '30s'; LOCK TABLE people IN ACCESS EXCLUSIVE MODE; COMMIT");
        blocked.close();
        expect_charges(before + 2);
    }
}

} // namespace
