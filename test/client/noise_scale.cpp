// The scale of the noise that leaves the server follows from declared bounds, and is the same on neighbouring tables. A scale
// taken from the data (largest value, local sensitivity, number of rows) fails here by a factor of 2 to 1000.
//
// |noise| is exponential to within the lattice, so the mean of 400 draws leaves 1 +- 0.45 with probability below
// exp(-400 (0.45 - ln 1.45)) < 1e-13; for the counts, which are coarser, Chernoff's bound is below 1e-9.
#include <cmath>
#include <string>

#include "session.hpp"

namespace {

using namespace client;

class NoiseScale : public ProtectedTable {
  protected:
    void SetUp() override {
        ProtectedTable::SetUp();
        // Ten records of 1, and the same with one more record of 100; public bounds 0 and 1000.
        owner().must("CREATE TABLE without AS SELECT 1 AS v FROM generate_series(1, 10)");
        owner().must("CREATE TABLE with_one AS SELECT 1 AS v FROM generate_series(1, 10) UNION ALL SELECT 100");
        for (const char *table : {"without", "with_one"}) {
            const std::string name = table;
            owner().must("SELECT dp_protect('" + name + "', '" + name + "_dp')");
            owner().must("SELECT dp_set_bounds('" + name + "', 'v', 0, 1000)");
            owner().must("SELECT dp_set_odometer('" + name + "', 'none')");
            owner().must("SELECT dp_grant('" + name + "_dp', '" + analyst + "', tau => 0.25)"); // epsilon 1
        }
    }

    // Mean of |answer - truth| over the draws.
    static double mean_noise(const std::string &aggregate, const std::string &table, double truth) {
        constexpr int draws = 400;
        Session session = analyst_session();
        const std::string query = "SELECT * FROM dp_query('SELECT " + aggregate + " FROM " + table + "_dp') AS (x bigint)";
        double total = 0;
        for (int i = 0; i < draws; ++i)
            total += std::fabs(std::stod(session.must(query)) - truth);
        return total / draws;
    }
};

TEST_F(NoiseScale, OfASumComesFromItsBounds) {
    EXPECT_NEAR(mean_noise("sum(v)", "without", 10) / 1000, 1, 0.45);
    EXPECT_NEAR(mean_noise("sum(v)", "with_one", 110) / 1000, 1, 0.45);
}

TEST_F(NoiseScale, OfACountIsThatOfOneRecord) {
    const double expected = 1 / std::sinh(1.0);
    EXPECT_NEAR(mean_noise("count(*)", "without", 10) / expected, 1, 0.45);
    EXPECT_NEAR(mean_noise("count(*)", "with_one", 11) / expected, 1, 0.45);
}

} // namespace
