// What drivers send for an analyst: statements with parameters of the common types, typed or not, as text and binary, by
// custom and by generic plans; descriptions before anything is executed; answers that are read by a fetch size.
#include <string>

#include "session.hpp"

namespace {

using namespace client;

// A condition with one parameter. Its column has the parameter's type, or one of the same family.
struct Case {
    const char *type;
    const char *condition;
    const char *value;
};

constexpr Case cases[] = {
    {"int2", "small >= $1", "50"},
    {"int4", "whole >= $1", "50"},
    {"int8", "big >= $1", "50"},
    {"int8", "whole >= $1", "3000000000"},
    {"float4", "coarse < $1", "12.25"},
    {"float8", "fine < $1", "12.25"},
    {"numeric", "price < $1", "12.25"},
    {"text", "city = $1", "city 3"},
    {"varchar", "city = $1", "city 3"},
    {"varchar", "code <> $1", "code 3"},
    {"bpchar", "letter = $1", "b"},
    {"date", "day >= $1", "2024-02-01"},
    {"timestamp", "at < $1", "2024-01-03 04:05:06.789"},
    {"timestamptz", "at_tz < $1", "2024-01-03 04:05:06.789+05:30"},
    {"bool", "flag = $1", "true"},
    {"uuid", "ref <> $1", "00000000-0000-0000-0000-000000000007"},
    {"int4[]", "whole = ANY ($1)", "{1,2,3,NULL}"},
    {"text[]", "city = ANY ($1)", "{city 1,city 3}"},
};

constexpr Oid int8_oid = 20;
constexpr int binary = 1;

// Answers without noise, to compare with the truth: epsilon 50 for one measure errs with probability below 1e-20.
class Parameters : public ProtectedTable {
  protected:
    void SetUp() override {
        ProtectedTable::SetUp();
        // Every connection has the library from its start, so that the first SELECT on a view is answered.
        owner().must(std::string("ALTER DATABASE ") + database + " SET session_preload_libraries = 'dp_rdr'");
        owner().must(
            "CREATE TABLE typed AS SELECT g::int2 AS small, g AS whole, g::int8 AS big, (g / 4.0)::float4 AS coarse,"
            " (g / 4.0)::float8 AS fine, (g / 4.0)::numeric(8,2) AS price, 'city ' || g % 5 AS city,"
            " ('code ' || g % 5)::varchar(10) AS code, chr(97 + g % 3)::char(2) AS letter,"
            " date '2024-01-01' + g AS day, timestamp '2024-01-01' + g * interval '1 hour' AS at,"
            " timestamptz '2024-01-01 00:00+00' + g * interval '1 hour' AS at_tz, g % 2 = 0 AS flag,"
            " lpad((g % 9)::text, 32, '0')::uuid AS ref FROM generate_series(1, 100) g");
        owner().must("SELECT dp_protect('typed', 'typed_dp')");
        owner().must("SELECT dp_set_odometer('typed', 'none')");
        owner().must(std::string("SELECT dp_grant('typed_dp', '") + analyst +
                     "', tau => 0, epsilon_max => 100, candidates => '{50}')");
    }

    int charges() {
        return std::stoi(owner().must("SELECT releases FROM dp_odometer('typed') WHERE account = 'public'"));
    }

    static std::string statement(const Case &c) {
        return std::string("SELECT count(*) FROM typed_dp WHERE ") + c.condition;
    }

    // The same on the table, by a constant.
    std::string truth(const Case &c) {
        std::string condition = c.condition;
        condition.replace(condition.find("$1"), 2, std::string("'") + c.value + "'::" + c.type);
        return owner().must("SELECT count(*) FROM typed WHERE " + condition);
    }

    Oid oid(const Case &c) {
        return static_cast<Oid>(std::stoul(owner().must(std::string("SELECT '") + c.type + "'::regtype::oid")));
    }

    // The value as the server itself sends it in binary.
    std::string in_binary(const Case &c) {
        const std::string sql = std::string("SELECT '") + c.value + "'::" + c.type;
        const Result sent(PQexecParams(owner().get(), sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, binary));
        return {PQgetvalue(sent.get(), 0, 0), static_cast<size_t>(PQgetlength(sent.get(), 0, 0))};
    }

    static std::string named(Session &session, const std::string &value, int format) {
        const char *values[] = {value.data()};
        const int lengths[] = {static_cast<int>(value.size())};
        const Result result(PQexecPrepared(session.get(), "named", 1, values, lengths, &format, 0));
        return result.answered() ? result.value() : result.sqlstate();
    }

    static std::string unnamed(Session &session, const std::string &sql, Oid type, const std::string &value,
                               int format) {
        const char *values[] = {value.data()};
        const int lengths[] = {static_cast<int>(value.size())};
        const Result result(PQexecParams(session.get(), sql.c_str(), 1, &type, values, lengths, &format, 0));
        return result.answered() ? result.value() : result.sqlstate();
    }
};

TEST_F(Parameters, UnnamedStatement) {
    Session session = analyst_session();
    for (const Case &c : cases) {
        SCOPED_TRACE(statement(c) + " with " + c.type);
        const int before = charges();
        EXPECT_EQ(unnamed(session, statement(c), oid(c), c.value, 0), truth(c));
        EXPECT_EQ(unnamed(session, statement(c), oid(c), in_binary(c), binary), truth(c));
        EXPECT_EQ(charges(), before + 2);
    }
}

// The server finds the type of a parameter that the driver leaves open; that is the column's.
TEST_F(Parameters, TypesThatAreLeftOpen) {
    Session session = analyst_session();
    for (const Case &c : cases) {
        if (std::string(c.value) == "3000000000") // beyond the column's type, which would be inferred
            continue;
        SCOPED_TRACE(statement(c));
        EXPECT_EQ(unnamed(session, statement(c), 0, c.value, 0), truth(c));
    }
}

// Drivers prepare by name after some executions; the server changes from custom plans to a generic one after five.
TEST_F(Parameters, NamedStatement) {
    for (const Case &c : cases) {
        SCOPED_TRACE(statement(c) + " with " + c.type);
        Session session = analyst_session();
        const int before = charges();
        const Oid type = oid(c);
        ASSERT_FALSE(Result(PQprepare(session.get(), "named", statement(c).c_str(), 1, &type)).failed());
        const Result description(PQdescribePrepared(session.get(), "named"));
        ASSERT_EQ(PQnparams(description.get()), 1) << description.message();
        EXPECT_EQ(PQparamtype(description.get(), 0), type);
        ASSERT_EQ(PQnfields(description.get()), 1);
        EXPECT_STREQ(PQfname(description.get(), 0), "count");
        EXPECT_EQ(PQftype(description.get(), 0), int8_oid);
        EXPECT_EQ(charges(), before) << "a description costs nothing";
        for (int i = 0; i < 7; ++i)
            EXPECT_EQ(i % 2 == 0 ? named(session, c.value, 0) : named(session, in_binary(c), binary), truth(c));
        EXPECT_EQ(charges(), before + 7);
    }
}

// NULL satisfies no comparison, and the answer is a number all the same.
TEST_F(Parameters, Null) {
    Session session = analyst_session();
    const char *values[] = {nullptr};
    for (const Case &c : cases) {
        const Oid type = oid(c);
        const Result result(
            PQexecParams(session.get(), statement(c).c_str(), 1, &type, values, nullptr, nullptr, binary));
        ASSERT_TRUE(result.answered()) << result.message();
        EXPECT_EQ(std::string(PQgetvalue(result.get(), 0, 0), 8), std::string(8, '\0')) << c.type;
    }
}

// A value that is none of its type is the caller's error, before anything is charged.
TEST_F(Parameters, ValuesThatAreNone) {
    Session session = analyst_session();
    EXPECT_EQ(unnamed(session, "SELECT count(*) FROM typed_dp WHERE whole > $1", 0, "many", 0), "22P02");
    EXPECT_EQ(unnamed(session, "SELECT count(*) FROM typed_dp WHERE day > $1", 0, "2024-02-30", 0), "22008");
    EXPECT_EQ(unnamed(session, "SELECT count(*) FROM typed_dp WHERE big > $1", int8_oid, "xyz", binary), "08P01");
    EXPECT_EQ(charges(), 0);
}

// Parameters beside the leaf, and several leaves of one statement.
TEST_F(Parameters, AroundTheLeaf) {
    Session session = analyst_session();
    const char *sql =
        "SELECT $1 || city, count(*) FILTER (WHERE whole > $2) FROM typed_dp GROUP BY city"
        " HAVING count(*) > $3 UNION ALL SELECT 'all', count(*) + $2 FROM typed_dp ORDER BY 2 DESC LIMIT $4";
    const char *values[] = {"in ", "50", "1", "1"};
    owner().must("SELECT dp_set_groups('typed', 'city', '{city 1,city 3}')");
    const Result result(PQexecParams(session.get(), sql, 4, nullptr, values, nullptr, nullptr, 0));
    ASSERT_TRUE(result.answered()) << result.message();
    EXPECT_EQ(result.value(0), "all");
    EXPECT_EQ(result.value(1), "150");
    EXPECT_EQ(charges(), 2);
}

} // namespace
