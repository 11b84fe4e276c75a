// The server stays up, listens, and keeps its worker processes for everybody, whatever one analyst sends it.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "session.hpp"

namespace {

using namespace client;
using namespace std::chrono_literals;

class Server : public ProtectedTable {
  protected:
    void SetUp() override {
        ProtectedTable::SetUp();
        backend_ = owner().must("SELECT pg_backend_pid()");
    }

    // A crash of any process would have ended the owner's session.
    void expect_up() { EXPECT_EQ(owner().must("SELECT pg_backend_pid()"), backend_); }

    static std::string repeated(const std::string &part, int n, const std::string &separator = "") {
        std::string text;
        for (int i = 0; i < n; i++)
            text += (i > 0 ? separator : "") + part;
        return text;
    }
    static std::string aggregates(int n) {
        std::string text;
        for (int i = 0; i < n; i++)
            text +=
                (i > 0 ? ", count(*) FILTER (WHERE age = " : "count(*) FILTER (WHERE age = ") + std::to_string(i) + ")";
        return text;
    }

  private:
    std::string backend_;
};

constexpr auto soon = 120s;

// Any function of it does.
constexpr const char *load_library = "SELECT accepted FROM dp_explain('SELECT count(*) FROM people_dp')";

// Refused before anything is planned, and long before the timeout.
TEST_F(Server, RefusesManyAggregatesAtOnce) {
    for (int n : {1001, 1665, 10000, 33000, 66000}) {
        Session session = analyst_session();
        session.must(load_library);
        const auto begun = std::chrono::steady_clock::now();
        Result result = session.run("SELECT cardinality(ARRAY[" + aggregates(n) + "]) FROM people_dp");
        EXPECT_EQ(result.sqlstate(), "54000") << n << ": " << result.message();
        EXPECT_LT(std::chrono::steady_clock::now() - begun, soon) << n;
        expect_up();
    }
    EXPECT_EQ(account("releases"), "0");
}

// Whatever the hook looks at can be interrupted.
TEST_F(Server, HearsTheTimeoutInLargeStatements) {
    const std::vector<std::string> statements = {
        "SELECT cardinality(ARRAY[" + repeated("count(*)", 60000, ", ") + "]) FROM people_dp",
        "SELECT count(*) FROM people_dp WHERE age IN (" + repeated("1", 1000000, ", ") + ")",
        "SELECT count(*) FROM people_dp WHERE CASE " + repeated("WHEN age = 1 THEN true ", 100000) + " END",
        "SELECT count(*) FROM people_dp WHERE " + repeated("age <> 1", 300000, " AND "),
        "SELECT count(*) FROM people_dp WHERE " + repeated("NOT ", 100000) + "true",
        "SELECT count(*) FROM people_dp WHERE age > " + repeated("1", 100000, " + "),
        repeated("SELECT count(*) FROM people_dp", 3000, " UNION ALL "),
        repeated("SELECT * FROM (", 2000) + "SELECT count(*) FROM people_dp" + repeated(") s", 2000),
    };
    for (const std::string &statement : statements) {
        Session session = analyst_session();
        session.must(load_library);
        session.must("SET statement_timeout = '2s'");
        const auto begun = std::chrono::steady_clock::now();
        Result result = session.run(statement);
        EXPECT_LT(std::chrono::steady_clock::now() - begun, soon) << statement.substr(0, 60);
        EXPECT_NE(result.sqlstate(), "XX000") << statement.substr(0, 60) << result.message();
        EXPECT_EQ(session.must("SELECT 1"), "1") << statement.substr(0, 60);
        expect_up();
    }
}

// Sixteen connections that are denied all the time share a few keepers, so that the other worker slots are free, and another
// table's charge is not kept waiting by them.
TEST_F(Server, ChargesOfATableTakeFewWorkers) {
    owner().must("SELECT dp_set_odometer('people', 'filter', 0.01)"); // not enough for a single answer
    owner().must("CREATE TABLE others AS SELECT 1 AS age");
    owner().must("SELECT dp_protect('others', 'others_dp')");
    owner().must(std::string("SELECT dp_grant('others_dp', '") + analyst + "', tau => 0.9)");
    std::atomic<bool> over{false};
    std::atomic<int> denials{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; i++)
        threads.emplace_back([&] {
            Session session = analyst_session();
            while (!over)
                denials += session.run(count_question).sqlstate() == "53400" ? 1 : 0;
        });
    int most = 0;
    for (int i = 0; i < 100; i++) {
        most = std::max(most, std::stoi(owner().must("SELECT count(*) FROM pg_stat_activity "
                                                     "WHERE backend_type = 'dp_rdr keeper'")));
        std::this_thread::sleep_for(10ms);
    }
    Session session = analyst_session();
    const auto begun = std::chrono::steady_clock::now();
    Result other = session.run("SELECT * FROM dp_query('SELECT count(*) FROM others_dp') AS (n bigint)");
    EXPECT_LT(std::chrono::steady_clock::now() - begun, soon);
    over = true;
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_LE(most, std::stoi(owner().must("SHOW dp_rdr.keepers")));
    EXPECT_GT(most, 0);
    EXPECT_GT(denials, 0);
    EXPECT_TRUE(other.answered()) << other.message();
}

// A statement that waits for its turn can be cancelled, and has been charged nothing.
TEST_F(Server, TheWaitForATurnCanBeCancelled) {
    count_without_bound();
    owner().must("BEGIN");
    owner().must("SELECT id FROM dp_rdr.odometer FOR UPDATE"); // nobody waits longer than two seconds for it
    Session first = analyst_session(), second = analyst_session();
    second.must("SET statement_timeout = '300ms'");
    first.start(count_question);
    ASSERT_TRUE(charge_waits());
    EXPECT_EQ(second.run(count_question).sqlstate(), "57014");
    EXPECT_EQ(first.finish().sqlstate(), "55P03");
    owner().must("ROLLBACK");
    EXPECT_TRUE(quiet());
    EXPECT_EQ(account("releases"), "0");
}

} // namespace
