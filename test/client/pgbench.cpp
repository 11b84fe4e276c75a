// pgbench as an analyst, in each of its query modes: as many charges as answers.
#include <cstdio>
#include <string>

#include "session.hpp"

namespace {

using namespace client;

class Pgbench : public ProtectedTable, public ::testing::WithParamInterface<const char *> {
  protected:
    void SetUp() override {
        ProtectedTable::SetUp();
        count_without_bound();
        owner().must(std::string("ALTER DATABASE ") + database + " SET session_preload_libraries = 'dp_rdr'");
    }

    // Two clients, ten transactions each; the exit status, which says whether a client met an error.
    static int run(const std::string &script) {
        const std::string command = std::string("pgbench --no-vacuum --protocol=") + GetParam() + " -c 2 -t 10 -f - " +
                                    database + " >/dev/null 2>&1";
        FILE *pgbench = popen(command.c_str(), "w");
        if (pgbench == nullptr)
            return -1;
        std::fputs((std::string("SET ROLE ") + analyst + ";\n" + script).c_str(), pgbench);
        return pclose(pgbench);
    }
};

TEST_P(Pgbench, OneAnswerInATransaction) {
    EXPECT_EQ(run("\\set age random(20, 60)\nSELECT count(*) FROM people_dp WHERE age > :age;\n"), 0);
    EXPECT_EQ(releases(), 20);
    EXPECT_TRUE(verified());
}

TEST_P(Pgbench, AnswersThatAreUsedAndRolledBack) {
    EXPECT_EQ(run("\\set age random(20, 60)\n"
                  "BEGIN;\n"
                  "SELECT count(*) AS n FROM people_dp WHERE age > :age \\gset\n"
                  "SELECT (SELECT count(*) FROM people_dp) - :n;\n"
                  "ROLLBACK;\n"),
              0);
    EXPECT_EQ(releases(), 40);
    EXPECT_TRUE(verified());
}

TEST_P(Pgbench, Refusal) {
    EXPECT_NE(run("SELECT * FROM people_dp WHERE age > 60;\n"), 0);
    EXPECT_EQ(releases(), 0);
}

INSTANTIATE_TEST_SUITE_P(, Pgbench, ::testing::Values("simple", "extended", "prepared"),
                         [](const auto &mode) { return std::string(mode.param); });

} // namespace
