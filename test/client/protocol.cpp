// The extended protocol: parameters, binary results, prepared statements, pipelines, portals that are read in part.
#include <string>

#include "session.hpp"

namespace {

using namespace client;

class Protocol : public ProtectedTable {
  protected:
    void SetUp() override {
        ProtectedTable::SetUp();
        count_without_bound();
    }
};

TEST_F(Protocol, ParameterAndBinaryResult) {
    Session session = analyst_session();
    const char *values[] = {"SELECT count(*) FROM people_dp WHERE age > 40"};
    const Result result(PQexecParams(session.get(), "SELECT * FROM dp_query($1) AS (n bigint)", 1, nullptr, values,
                                     nullptr, nullptr, 1));
    ASSERT_TRUE(result.answered()) << result.message();
    EXPECT_EQ(PQfformat(result.get(), 0), 1);
    EXPECT_EQ(PQgetlength(result.get(), 0, 0), 8);
    EXPECT_EQ(releases(), 1);
}

// What a driver sees of an interval: names and types, of a plan that is cached and of a parameter as well.
TEST_F(Protocol, EndsOfAnInterval) {
    Session session = analyst_session();
    session.must("SET plan_cache_mode = force_generic_plan");
    session.must("SELECT count(*) FROM dp_last_release()"); // the library is there when the question is planned
    const char *question = "SELECT count(*), dp_low(count(*)), dp_high(count(*)) FROM people_dp WHERE age > $1";
    ASSERT_FALSE(Result(PQprepare(session.get(), "i", question, 0, nullptr)).failed());
    const Result shape(PQdescribePrepared(session.get(), "i"));
    ASSERT_EQ(PQnfields(shape.get()), 3);
    const char *names[] = {"count", "dp_low", "dp_high"};
    constexpr Oid bigint = 20;
    for (int i = 0; i < 3; ++i) {
        EXPECT_STREQ(PQfname(shape.get(), i), names[i]);
        EXPECT_EQ(PQftype(shape.get(), i), bigint);
    }
    for (const char *age : {"40", "60"}) {
        const char *values[] = {age};
        const Result result(PQexecPrepared(session.get(), "i", 1, values, nullptr, nullptr, 0));
        ASSERT_TRUE(result.answered()) << result.message();
        const long long count = std::stoll(result.value()), error95 = 30; // epsilon 0.1
        EXPECT_EQ(count - std::stoll(result.value(1)), error95);
        EXPECT_EQ(std::stoll(result.value(2)) - count, error95);
    }
    EXPECT_EQ(releases(), 2);
}

// One preparation, many executions: each is charged, and each draws new noise, also when the plan is cached.
TEST_F(Protocol, PreparedStatement) {
    constexpr int executions = 12;
    Session session = analyst_session();
    session.must("SET plan_cache_mode = force_generic_plan");
    ASSERT_FALSE(Result(PQprepare(session.get(), "p", count_question, 0, nullptr)).failed());
    int different = 0;
    std::string first;
    for (int i = 0; i < executions; ++i) {
        const Result result(PQexecPrepared(session.get(), "p", 0, nullptr, nullptr, nullptr, 0));
        ASSERT_TRUE(result.answered()) << result.message();
        if (i == 0)
            first = result.value();
        different += result.value() != first;
    }
    EXPECT_EQ(releases(), executions);
    // At epsilon 0.1 two draws agree with probability 1/40; eleven never do.
    EXPECT_GT(different, 0);
}

// The second statement of a pipeline fails and takes the transaction with it; the first one's answer had left.
TEST_F(Protocol, PipelineThatFails) {
    Session session = analyst_session();
    ASSERT_EQ(PQenterPipelineMode(session.get()), 1);
    for (const char *sql : {count_question, "SELECT 1 / 0"})
        ASSERT_EQ(PQsendQueryParams(session.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 0), 1);
    ASSERT_EQ(PQpipelineSync(session.get()), 1);
    EXPECT_TRUE(Result(PQgetResult(session.get())).answered());
    EXPECT_FALSE(Result(PQgetResult(session.get())).present());
    EXPECT_EQ(Result(PQgetResult(session.get())).sqlstate(), "22012");
    EXPECT_EQ(releases(), 1);
}

// The answer's first row is on its way when the client rolls back.
TEST_F(Protocol, SingleRowsAndRollback) {
    owner().must("ALTER TABLE people ADD COLUMN city text");
    owner().must("SELECT dp_unprotect('people_dp'); SELECT dp_protect('people', 'people_dp');"
                 "SELECT dp_set_groups('people', 'city', '{Oslo,Pisa,Rome}');"
                 "SELECT dp_grant('people_dp', 'regress_dp_analyst', tau => 0.9)");
    Session session = analyst_session();
    session.must("BEGIN");
    session.start("SELECT * FROM dp_query('SELECT city, count(*) FROM people_dp GROUP BY city') AS (c text, n bigint)");
    ASSERT_EQ(PQsetSingleRowMode(session.get()), 1);
    const Result first = session.finish();
    EXPECT_EQ(PQresultStatus(first.get()), PGRES_SINGLE_TUPLE) << first.message();
    session.must("ROLLBACK");
    EXPECT_EQ(releases(), 1);
    EXPECT_TRUE(verified());
}

} // namespace
