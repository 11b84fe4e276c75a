// Clients that stop waiting in the middle of a charge: no answer without a charge, whenever it happens.
#include <chrono>
#include <string>
#include <thread>

#include "session.hpp"

namespace {

using namespace client;
using namespace std::chrono_literals;

class Cancel : public ProtectedTable {
  protected:
    // Keeps every charge waiting until the session commits.
    void hold_the_odometer(Session &holder) {
        holder.must("BEGIN");
        holder.must("SELECT id FROM dp_rdr.odometer FOR UPDATE");
    }
};

TEST_F(Cancel, WhileTheChargeWaits) {
    Session holder(database);
    Session asking = analyst_session();
    hold_the_odometer(holder);
    asking.start(count_question);
    ASSERT_TRUE(charge_waits());
    asking.cancel();
    EXPECT_EQ(asking.finish().sqlstate(), "57014");
    holder.must("COMMIT");
    holder.close();

    // The charge may still have committed: without an answer, which is the safe side.
    ASSERT_TRUE(quiet());
    const int before = releases();
    EXPECT_LE(before, 1);
    EXPECT_TRUE(asking.run(count_question).answered());
    EXPECT_EQ(releases(), before + 1);
    EXPECT_TRUE(verified());
}

// Who waits for a table that somebody has locked is not charged when he stops waiting, and nothing else is said.
TEST_F(Cancel, WhileTheQuestionIsPrepared) {
    Session holder(database);
    Session asking = analyst_session();
    holder.must("BEGIN");
    holder.must("LOCK TABLE people IN ACCESS EXCLUSIVE MODE");
    asking.start(count_question);
    std::this_thread::sleep_for(1s);
    asking.cancel();
    const Result result = asking.finish();
    EXPECT_EQ(result.sqlstate(), "57014") << result.message();
    EXPECT_EQ(result.detail(), "");
    holder.must("COMMIT");
    holder.close();
    ASSERT_TRUE(quiet());
    EXPECT_EQ(releases(), 0);
    EXPECT_TRUE(verified());
}

TEST_F(Cancel, ChargeThatCannotCommit) {
    Session holder(database);
    Session asking = analyst_session();
    hold_the_odometer(holder);
    const Result result = asking.run(count_question); // ends when nobody waits for the charge any longer
    EXPECT_FALSE(result.answered());
    EXPECT_EQ(result.sqlstate(), "55P03") << result.message();
    holder.must("ROLLBACK");
    EXPECT_EQ(releases(), 0);
    EXPECT_TRUE(verified());
}

// At any moment, from before the charge to after the answer.
TEST_F(Cancel, AtAnyMoment) {
    constexpr int attempts = 80;
    count_without_bound();
    Session asking = analyst_session();
    int answers = 0;
    for (int i = 0; i < attempts; ++i) {
        asking.start(count_question);
        std::this_thread::sleep_for(i * 200us);
        asking.cancel();
        const Result result = asking.finish();
        answers += result.answered();
        EXPECT_TRUE(result.answered() || result.sqlstate() == "57014") << result.message();
        // A cancel request that arrived late must not hit the next question.
        asking.run("SELECT pg_sleep(0.01)");
    }
    ASSERT_TRUE(quiet());
    EXPECT_LE(answers, releases());
    EXPECT_LE(releases(), attempts);
    EXPECT_TRUE(verified());
}

// More clients give up than there are places for requests: each gives its place back, before the charge and after it.
TEST_F(Cancel, PlacesOfThoseWhoWentComeFree) {
    constexpr int attempts = 140;
    count_without_bound();
    Session holder(database);
    Session asking = analyst_session();
    hold_the_odometer(holder);
    asking.must("SET statement_timeout = '15ms'");
    for (int i = 0; i < attempts; ++i)
        EXPECT_EQ(asking.run(count_question).sqlstate(), "57014") << i;
    holder.must("ROLLBACK");
    ASSERT_TRUE(quiet());
    owner().must("INSERT INTO people SELECT g % 90 FROM generate_series(1, 100000) g");
    asking.must("SET statement_timeout = '5ms'");
    int answers = 0;
    for (int i = 0; i < attempts; ++i)
        answers += asking.run(count_question).answered();
    asking.must("SET statement_timeout = '20s'");
    EXPECT_TRUE(asking.run(count_question).answered());
    ASSERT_TRUE(quiet());
    EXPECT_LE(answers + 1, releases());
    EXPECT_TRUE(verified());
}

TEST_F(Cancel, ConnectionThatGoesAway) {
    constexpr int attempts = 20;
    count_without_bound();
    for (int i = 0; i < attempts; ++i) {
        Session asking = analyst_session();
        asking.start(count_question);
        std::this_thread::sleep_for(i * 1ms);
        asking.close();
    }
    ASSERT_TRUE(quiet());
    const int before = releases();
    EXPECT_LE(before, attempts);
    EXPECT_TRUE(analyst_session().run(count_question).answered());
    EXPECT_EQ(releases(), before + 1);
    EXPECT_TRUE(verified());
}

} // namespace
