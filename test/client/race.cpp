// Sixteen clients at once for a total that suffices for ten.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "session.hpp"

namespace {

using namespace client;

constexpr int clients = 16;

// Holds the threads back until all have arrived.
class StartingLine {
  public:
    void arrive() {
        std::unique_lock lock(mutex_);
        if (++arrived_ == clients)
            all_there_.notify_all();
        else
            all_there_.wait(lock, [&] { return arrived_ == clients; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable all_there_;
    int arrived_ = 0;
};

class Race : public ProtectedTable {
  protected:
    // The SQLSTATE that each client got for one question, "" for an answer.
    std::array<std::string, clients> outcomes(const char *before = "SELECT 1") {
        std::array<std::string, clients> outcome;
        StartingLine line;
        std::vector<std::thread> threads;
        for (std::string &mine : outcome)
            threads.emplace_back([&line, &mine, before] {
                Session session = analyst_session();
                session.must(before);
                line.arrive();
                Result result = session.run(count_question);
                mine = result.answered() ? "" : result.sqlstate();
            });
        for (std::thread &thread : threads)
            thread.join();
        return outcome;
    }

    void expect_ten_answers(const std::array<std::string, clients> &outcome) {
        EXPECT_EQ(std::count(outcome.begin(), outcome.end(), ""), 10);
        EXPECT_EQ(std::count(outcome.begin(), outcome.end(), "53400"), 6);
        // Ten times 0.1 is exactly one.
        EXPECT_EQ(account("trim_scale(epsilon)"), "1");
        EXPECT_EQ(account("releases"), "10");
        EXPECT_EQ(account("denials"), "6");
        EXPECT_TRUE(verified());
    }
};

TEST_F(Race, TenOfSixteenFitIntoTheTotal) {
    expect_ten_answers(outcomes());
}

// A snapshot from before the race must not hide the other charges.
TEST_F(Race, OldSnapshotsSeeTheCharges) {
    expect_ten_answers(outcomes("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class"));
}

// Each denial is final for all: the total does not come back with another role or connection.
TEST_F(Race, NothingIsLeftAfterwards) {
    outcomes();
    Session late = analyst_session();
    EXPECT_EQ(late.run(count_question).sqlstate(), "53400");
    EXPECT_EQ(account("trim_scale(epsilon)"), "1");
}

} // namespace
