// What the client tests share: libpq with owners, and a database of its own with one protected table.
// Connections follow the usual PG* environment variables, as a superuser.
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <libpq-fe.h>

namespace client {

inline constexpr const char *database = "regress_dp_client";
inline constexpr const char *analyst = "regress_dp_analyst";

// 0.1 at the preference that the analyst has here.
inline constexpr const char *count_question =
    "SELECT * FROM dp_query('SELECT count(*) FROM people_dp WHERE age > 40') AS (n bigint)";

class Result {
  public:
    explicit Result(PGresult *result) : result_(result, PQclear) {}

    bool present() const { return result_ != nullptr; }
    bool answered() const { return PQresultStatus(result_.get()) == PGRES_TUPLES_OK && PQntuples(result_.get()) > 0; }
    bool failed() const { return PQresultStatus(result_.get()) == PGRES_FATAL_ERROR; }
    // Five characters, or "" where there was no error.
    std::string sqlstate() const { return text(PQresultErrorField(result_.get(), PG_DIAG_SQLSTATE)); }
    std::string detail() const { return text(PQresultErrorField(result_.get(), PG_DIAG_MESSAGE_DETAIL)); }
    std::string message() const { return PQresultErrorMessage(result_.get()); }
    std::string value(int column = 0) const { return answered() ? text(PQgetvalue(result_.get(), 0, column)) : ""; }
    const PGresult *get() const { return result_.get(); }

  private:
    static std::string text(const char *s) { return s == nullptr ? "" : s; }

    std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

class Session {
  public:
    explicit Session(const std::string &name) : connection_(PQconnectdb(("dbname=" + name).c_str()), PQfinish) {
        if (PQstatus(get()) != CONNECTION_OK)
            throw std::runtime_error(PQerrorMessage(get()));
        PQsetNoticeProcessor(
            get(), [](void *, const char *) {}, nullptr);
    }

    PGconn *get() const { return connection_.get(); }
    void close() { connection_.reset(); }

    Result run(const std::string &sql) { return Result(PQexec(get(), sql.c_str())); }

    // The single value of a statement that must succeed.
    std::string must(const std::string &sql) {
        Result result = run(sql);
        if (result.failed())
            throw std::runtime_error(sql + ": " + result.message());
        return result.value();
    }

    // Starts a statement; finish() waits for its first result and swallows the rest.
    void start(const std::string &sql) {
        if (PQsendQuery(get(), sql.c_str()) != 1)
            throw std::runtime_error(PQerrorMessage(get()));
    }
    Result finish() {
        Result first(PQgetResult(get()));
        while (Result(PQgetResult(get())).present()) {
        }
        return first;
    }

    void cancel() {
        std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> handle(PQgetCancel(get()), PQfreeCancel);
        char error[256];
        if (PQcancel(handle.get(), error, sizeof error) != 1)
            throw std::runtime_error(error);
    }

  private:
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

// A fresh database for every test: table people, view people_dp, a preference of 0.9 (0.1 for a count) for the analyst.
class ProtectedTable : public ::testing::Test {
  protected:
    void SetUp() override {
        drop();
        maintenance_.must(std::string("CREATE DATABASE ") + database);
        maintenance_.must(std::string("CREATE ROLE ") + analyst);
        owner_ = std::make_unique<Session>(database);
        owner_->must("CREATE EXTENSION dp_rdr");
        owner_->must("CREATE TABLE people AS SELECT g % 90 AS age FROM generate_series(1, 1000) g");
        owner_->must("SELECT dp_protect('people', 'people_dp')");
        owner_->must(std::string("SELECT dp_grant('people_dp', '") + analyst + "', tau => 0.9)");
    }

    void TearDown() override {
        owner_.reset();
        drop();
    }

    Session &owner() { return *owner_; }

    // A new connection that asks as the analyst.
    static Session analyst_session() {
        Session session(database);
        session.must(std::string("SET ROLE ") + analyst);
        return session;
    }

    void count_without_bound() { owner().must("SELECT dp_set_odometer('people', 'none')"); }

    // A column of the public account, as PostgreSQL prints it.
    std::string account(const std::string &column) {
        return owner().must("SELECT " + column + " FROM dp_odometer('people') WHERE account = 'public'");
    }
    int releases() { return std::stoi(account("releases")); }

    bool verified() { return owner().must("SELECT dp_verify_ledger('people')") == "t"; }

    // Waits until the condition (SQL) holds; false if that takes longer than the time given.
    bool wait_until(const std::string &condition, std::chrono::milliseconds limit = std::chrono::seconds(30)) {
        const auto deadline = std::chrono::steady_clock::now() + limit;
        while (std::chrono::steady_clock::now() < deadline) {
            if (maintenance_.must("SELECT " + condition) == "t")
                return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        return false;
    }

    // Charges whose client has gone may still commit: wait for the other sessions, and until all keepers have nothing to do,
    // twice, since one may just be between two transactions.
    bool quiet() {
        for (int looks = 0; looks < 2; looks++) {
            if (!wait_until("NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = '" + std::string(database) +
                            "' AND CASE backend_type WHEN 'dp_rdr keeper' THEN wait_event_type IS DISTINCT FROM 'Extension' "
                            "ELSE state IS DISTINCT FROM 'idle' END)"))
                return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        return true;
    }

    // Until somebody waits for a keeper, and for some tries of its charge more.
    bool charge_waits() {
        if (!wait_until("EXISTS (SELECT FROM pg_stat_activity WHERE datname = '" + std::string(database) +
                        "' AND backend_type = 'client backend' AND state = 'active' AND wait_event_type = 'Extension')"))
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        return true;
    }

  private:
    void drop() {
        maintenance_.must(std::string("DROP DATABASE IF EXISTS ") + database + " WITH (FORCE)");
        maintenance_.must(std::string("DROP ROLE IF EXISTS ") + analyst);
    }

    Session maintenance_{"postgres"};
    std::unique_ptr<Session> owner_;
};

} // namespace client
