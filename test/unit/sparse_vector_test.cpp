// The sparse vector selection: reference numbers, its integers, and a search for neighbours that break the sensitivity.
#include "measured.hpp"
#include "svt_statistic.hpp"

#include "privacy/sparse_vector.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include "privacy/lattice.hpp"
#include "privacy/noise_impl.hpp"
#include "reference.hpp"

namespace {

using namespace dp::privacy;
using boost::multiprecision::cpp_int;

Epsilon epsilon(const reference::json &j) {
    return *Epsilon::parse(reference::text(j));
}

cpp_int wide(int128 x) {
    return cpp_int(static_cast<__int128>(x));
}

SelectionSums sums_of(const SvtCandidate &candidate, const std::vector<double> &pis) {
    SelectionSums sums;
    for (double p : pis) {
        const int128 point = svt_point(candidate, p);
        ++sums.n;
        sums.s1 += point;
        sums.s2 += point * point;
    }
    return sums;
}

// ---- Reference numbers ----

// The shares are rounded down to 9 decimals.
TEST(Reference, SvtSplit) {
    reference::each("svt_split", [](const reference::Case &c) {
        const SvtSplit split = svt_split(epsilon(c.arg("eps_svt")));
        for (const auto &[share, name] : {std::pair(split.threshold, "eps1"), std::pair(split.comparison, "eps2")}) {
            const double rounded_off = reference::number(c.expect(name)) - share.value();
            EXPECT_GE(rounded_off, -1e-15) << name;
            EXPECT_LT(rounded_off, 1e-9) << name;
        }
        const SvtCandidate unit;
        EXPECT_NEAR(svt_threshold_scale(split).value() / 0x1p20 / reference::number(c.expect("scale_threshold")), 1,
                    1e-8);
        EXPECT_NEAR(svt_comparison_scale(split, unit).value() / reference::number(c.expect("scale_query")), 1, 1e-8);
    });
}

TEST(Reference, SvtSensitivityLaplace) {
    reference::each("svt_sensitivity_laplace", [](const reference::Case &c) {
        const SvtSensitivity s =
            svt_sensitivity_laplace(c.arg("measures"), c.arg("k1"), c.arg("eps"), c.arg("tau_var"));
        c.field(s.noise_term, "noise_term");
        c.field(s.width, "width");
        c.field(s.delta_G, "delta_G");
        EXPECT_EQ(s.always_passes, c.expect("always_passes").get<bool>());
    });
}

TEST(Reference, SvtSensitivityGaussian) {
    reference::each("svt_sensitivity_gaussian", [](const reference::Case &c) {
        const SvtSensitivity s =
            svt_sensitivity_gaussian(c.arg("measures"), c.arg("k1"), c.arg("sigma"), c.arg("tau_var"));
        c.field(s.width, "width");
        c.field(s.delta_G, "delta_G");
    });
}

TEST(Reference, SvtStatistic) {
    reference::each("svt_statistic", [](const reference::Case &c) {
        const SvtStatistic s = svt_statistic(c.arg("n"), c.arg("sum_pis"), c.arg("sum_pis2"), c.arg("measures"),
                                             c.arg("k1"), c.arg("eps"), c.arg("tau_var"), c.arg("eps_svt"));
        c.field(s.n_var_minus_n_tau, "n_var_minus_n_tau");
        c.field(s.delta_G, "delta_G");
        c.field(s.scaled_query, "scaled_query");
        c.field(s.accept_probability, "accept_probability");
    });
}

TEST(Reference, SvtInteger) {
    reference::each("svt_integer", [](const reference::Case &c) {
        const int m = c.arg("measures"), k1 = c.arg("k1");
        const SvtCandidate candidate = svt_candidate_laplace(epsilon(c.arg("eps")), m, k1, c.arg("tau_var"));
        const SelectionSums sums = sums_of(candidate, c.arg("pis").get<std::vector<double>>());
        const int128 margin = svt_margin(candidate, sums);
        EXPECT_EQ(std::floor(std::ldexp(candidate.noise_term / m, 30)), reference::number(c.expect("beta")));
        EXPECT_EQ(sums.n, c.expect("n").get<std::int64_t>());
        c.field(static_cast<double>(sums.s1), "S1");
        c.field(static_cast<double>(sums.s2), "S2");
        c.field(static_cast<double>(candidate.tolerance), "C");
        c.field(static_cast<double>(candidate.sensitivity), "delta_G");
        c.field(static_cast<double>(margin), "h");
        c.field(static_cast<double>(margin) / static_cast<double>(candidate.sensitivity), "scaled_query");
    });
}

// ---- Candidates ----

TEST(SvtSplit, NeverMoreThanTheWhole) {
    for (int units : {3, 4, 7, 1000, 100000000, 999999999}) {
        const Epsilon whole = Epsilon::from_units(units);
        const SvtSplit split = svt_split(whole);
        EXPECT_TRUE(split.threshold + split.comparison <= whole) << units;
        EXPECT_TRUE(whole.units() - (split.threshold + split.comparison).units() <= 2) << units;
    }
    EXPECT_THROW(svt_split(Epsilon::from_units(2)), InvalidParameter);
    EXPECT_THROW(svt_split(Epsilon()), InvalidParameter);
    EXPECT_THROW(svt_split(*Epsilon::parse("100.000000001")), InvalidParameter);
}

// t/s of the noise, worked out here: 2^20 / eps1 and 2 Delta / eps2, in lowest terms.
TEST(SvtScales, AreTheFormulas) {
    for (const char *text : {"0.000000003", "0.1", "1", "7.3"}) {
        const SvtSplit split = svt_split(*Epsilon::parse(text));
        for (int k1 : {1, 3}) {
            const SvtCandidate candidate = svt_candidate_laplace(*Epsilon::parse("0.7"), 2, k1, 0.001);
            const auto is = [](const LaplaceScale &scale, const cpp_int &t, const cpp_int &s) {
                const cpp_int got_t = static_cast<unsigned __int128>(scale.t),
                              got_s = static_cast<unsigned __int128>(scale.s);
                return got_t * s == t * got_s && gcd(got_t, got_s) == 1;
            };
            const cpp_int billion = 1000000000;
            EXPECT_TRUE(is(svt_threshold_scale(split), (cpp_int(1) << 20) * billion, wide(split.threshold.units())))
                << text;
            EXPECT_TRUE(is(svt_comparison_scale(split, candidate), 2 * wide(candidate.sensitivity) * billion,
                           wide(split.comparison.units())))
                << text;
        }
    }
}

// Largest epsilon that passes on every table: m asinh( k1 w / (m (1-w)) ), w = 2 sqrt(tau_var).
TEST(SvtCandidates, EndBeforeTheFirstThatAlwaysPasses) {
    for (int m : {1, 3})
        for (int k1 : {m, 2 * m})
            for (double tau_var : {1e-6, 0.001, 0.04, 0.2}) {
                const double w = 2 * std::sqrt(tau_var), largest = m * std::asinh(k1 * w / (m * (1 - w)));
                const auto above = Epsilon::from_double(largest * 1.00001, Rounding::up);
                const auto below = Epsilon::from_double(largest * 0.99999, Rounding::down);
                EXPECT_FALSE(svt_candidate_laplace(above, m, k1, tau_var).always_passes)
                    << m << " " << k1 << " " << tau_var;
                EXPECT_TRUE(svt_candidate_laplace(below, m, k1, tau_var).always_passes)
                    << m << " " << k1 << " " << tau_var;
                EXPECT_EQ(tested_candidates({svt_candidate_laplace(above, m, k1, tau_var),
                                             svt_candidate_laplace(below, m, k1, tau_var)}),
                          1U);
            }
    EXPECT_EQ(tested_candidates({}), 0U);
}

// The noise term of a release in Gaussian noise: the variance of the law that is drawn, in scaled units.
TEST(SvtCandidates, GaussianNoiseIsThatOfTheRelease) {
    AggregateCall count, avg;
    avg.fn = Aggregate::avg;
    avg.argument = 1;
    const auto measures = leaf_measures({count, avg}, false);
    const std::vector<std::uint64_t> sensitivities = {1, std::uint64_t{1} << 30};
    const Epsilon eps = *Epsilon::parse("2");
    const Delta delta = *Delta::parse("1e-5");
    const SvtCandidate candidate =
        svt_candidate(Mechanism::gaussian, measured(measures, sensitivities), false, eps, delta, 0.0001);
    const ReleasePlan plan = plan_release(Mechanism::gaussian, measured(measures, sensitivities), false, eps, delta);
    const double narrow = std::pow(plan.noise[0].stddev(), 2), pair = std::pow(plan.noise[1].stddev() / 0x1p30, 2);
    EXPECT_NEAR(candidate.noise_term / (narrow + 2 * pair), 1, 1e-12);
    const double width = 1 - std::sqrt(candidate.noise_term / (2 + candidate.noise_term));
    EXPECT_NEAR(static_cast<double>(candidate.sensitivity) / 0x1p60 / (width * width - 0.0001), 1, 1e-6);
}

TEST(SvtPoint, StaysWithinItsRange) {
    const SvtCandidate laplace = svt_candidate_laplace(*Epsilon::parse("1"), 3, 4, 0.001);
    const SvtCandidate gaussian = svt_candidate_gaussian(*Epsilon::parse("1"), 3, 2.5, 0.001);
    for (const SvtCandidate &candidate : {laplace, gaussian}) {
        EXPECT_EQ(svt_point(candidate, 0), static_cast<std::int64_t>(candidate.least));
        EXPECT_EQ(svt_point(candidate, 1e9), std::int64_t{1} << 30);
    }
    EXPECT_EQ(laplace.least, 0);
    EXPECT_EQ(svt_point(laplace, 3), std::int64_t{1} << 30);
    EXPECT_EQ(svt_point(gaussian, std::sqrt(3.0)), std::int64_t{1} << 30);
    EXPECT_EQ(svt_point(laplace, 1.5), std::int64_t{1} << 29);
}

// ---- The margin ----

cpp_int floor_divided(const cpp_int &a, const cpp_int &b) {
    return a >= 0 ? cpp_int(a / b) : cpp_int(-((-a + b - 1) / b));
}

// Up to 2^33 records the 128-bit integers must not overflow.
TEST(SvtMargin, IsExactForEveryNumberOfRecords) {
    std::mt19937_64 random(11);
    const int128 largest_point = int128{1} << 30;
    for (int i = 0; i < 2000; ++i) {
        const SvtCandidate candidate = svt_candidate_laplace(*Epsilon::parse("1"), 1, 1, i % 2 == 0 ? 1e-9 : 0.072);
        ASSERT_FALSE(candidate.always_passes);
        SelectionSums sums;
        sums.n = i < 4 ? (std::int64_t{1} << 33) - 1
                       : static_cast<std::int64_t>(random() % (std::uint64_t{1} << (i % 33 + 1))) + 1;
        const auto exposed = static_cast<std::int64_t>(i < 4 ? sums.n / (i + 1) : random() % (sums.n + 1));
        sums.s1 = exposed * largest_point;
        sums.s2 = sums.s1 * largest_point;
        const cpp_int n = sums.n;
        const cpp_int excess = n * wide(sums.s2) - wide(sums.s1) * wide(sums.s1) - n * n * wide(candidate.tolerance);
        EXPECT_TRUE(wide(svt_margin(candidate, sums)) == floor_divided(-excess, n)) << sums.n << " " << exposed;
    }
    EXPECT_EQ(svt_margin(svt_candidate_laplace(*Epsilon::parse("1"), 1, 1, 0.01), SelectionSums{}), 0);
}

// margin / sensitivity is the query of 3.3, up to the rounding of points.
TEST(SvtMargin, FollowsTheRealQuery) {
    std::mt19937_64 random(12);
    std::uniform_real_distribution<double> part(0, 1);
    for (int i = 0; i < 200; ++i) {
        const int m = 1 + i % 3;
        std::vector<double> pis(static_cast<std::size_t>(1 + i));
        double sum = 0, squares = 0;
        for (double &p : pis) {
            p = m * part(random);
            sum += p;
            squares += p * p;
        }
        const SvtCandidate candidate = svt_candidate_laplace(*Epsilon::parse("0.8"), m, m + 1, 0.002);
        const SvtStatistic real = svt_statistic(static_cast<double>(pis.size()), sum, squares, m, m + 1, 0.8, 0.002, 1);
        const double scaled = static_cast<double>(svt_margin(candidate, sums_of(candidate, pis))) /
                              static_cast<double>(candidate.sensitivity);
        EXPECT_NEAR(scaled, real.scaled_query, 1e-6 * static_cast<double>(pis.size())) << i;
    }
}

// ---- Sensitivity: a search over neighbours ----

double log_uniform(std::mt19937_64 &random, double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
}

SvtCandidate random_candidate(std::mt19937_64 &random, Mechanism mechanism) {
    const int m = 1 + static_cast<int>(random() % 4),
              k1 = m + static_cast<int>(random() % static_cast<unsigned>(m + 1));
    const double tau_var = random() % 16 == 0 ? 0 : log_uniform(random, 1e-7, 0.2);
    const Epsilon eps = Epsilon::from_double(log_uniform(random, 0.01, 20), Rounding::up);
    if (mechanism == Mechanism::laplace)
        return svt_candidate_laplace(eps, m, k1, tau_var);
    const double sigma = log_uniform(random, 0.05, 30);
    return svt_candidate_gaussian(eps, m, k1 * sigma * sigma, tau_var);
}

// Records at both ends of the range, which is where the worst neighbours are, and anywhere between.
double random_pis(std::mt19937_64 &random, const SvtCandidate &candidate) {
    const double largest = candidate.mechanism == Mechanism::laplace ? candidate.m : std::sqrt(candidate.m);
    switch (random() % 4) {
    case 0:
        return 0;
    case 1:
        return largest;
    default:
        return std::uniform_real_distribution<double>(0, largest)(random);
    }
}

// Largest change of the margin, in units of the declared sensitivity, among all neighbours of a table: one record less,
// or one more at either end.
double largest_change(const SvtCandidate &candidate, const std::vector<double> &table) {
    const int128 margin = svt_margin(candidate, sums_of(candidate, table));
    double largest = 0;
    const auto compare = [&](const std::vector<double> &neighbour) {
        const int128 change = svt_margin(candidate, sums_of(candidate, neighbour)) - margin;
        const int128 size = change < 0 ? -change : change;
        EXPECT_TRUE(size <= candidate.sensitivity) << candidate.epsilon.text() << ": a table of " << table.size();
        largest = std::max(largest, static_cast<double>(size) / static_cast<double>(candidate.sensitivity));
    };
    for (std::size_t i = 0; i < table.size(); ++i) {
        std::vector<double> neighbour = table;
        neighbour.erase(neighbour.begin() + static_cast<std::ptrdiff_t>(i));
        compare(neighbour);
    }
    for (double pis : {0.0, 100.0}) {
        std::vector<double> neighbour = table;
        neighbour.push_back(pis); // 100 is cut to the largest
        compare(neighbour);
    }
    return largest;
}

TEST(SvtSensitivity, HoldsForEveryNeighbour) {
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
        std::mt19937_64 random(13);
        double largest = 0;
        for (int i = 0; i < 2000; ++i) {
            const SvtCandidate candidate = random_candidate(random, mechanism);
            std::vector<double> table(random() % 13);
            const bool alike = random() % 3 == 0; // all records at one end
            const double end = random_pis(random, candidate);
            for (double &pis : table)
                pis = alike ? end : random_pis(random, candidate);
            largest = std::max(largest, largest_change(candidate, table));
        }
        EXPECT_GT(largest, 0.9); // the search comes close: it would see a sensitivity that is too small
    }
}

// With nobody exposed, one exposed record among n changes the margin by (n-1)/n of the width: the sensitivity is tight.
TEST(SvtSensitivity, IsTight) {
    const SvtCandidate candidate = svt_candidate_laplace(*Epsilon::parse("1"), 1, 1, 0.001);
    const int128 point = int128{1} << 30;
    SelectionSums without;
    without.n = 1000000;
    SelectionSums with = without;
    ++with.n;
    with.s1 = point;
    with.s2 = point * point;
    const int128 change = svt_margin(candidate, without) - svt_margin(candidate, with);
    EXPECT_NEAR(static_cast<double>(change) / static_cast<double>(candidate.sensitivity), 1, 1e-5);
    EXPECT_TRUE(change <= candidate.sensitivity);
}

// ---- The selection ----

TEST(SvtAccepts, ComparesWithoutRounding) {
    SvtCandidate candidate;
    candidate.sensitivity = int128{1} << 59;
    const int128 threshold = 12345;
    const int128 needed = (candidate.sensitivity * threshold) >> 20; // exact: 2^39 * 12345
    EXPECT_TRUE(svt_accepts(candidate, needed, 0, threshold));
    EXPECT_TRUE(svt_accepts(candidate, 0, needed, threshold));
    EXPECT_FALSE(svt_accepts(candidate, needed - 1, 0, threshold));
    EXPECT_TRUE(svt_accepts(candidate, -needed, 0, -threshold));
    EXPECT_FALSE(svt_accepts(candidate, -needed, -1, -threshold));
}

// Far above tolerance nothing is accepted, far below the first is; sums decide how many are tested.
TEST(SvtSelect, TakesTheFirstThatPasses) {
    std::mt19937_64 random(14);
    const Epsilon svt = *Epsilon::parse("1");
    std::vector<SvtCandidate> candidates;
    for (const char *text : {"3", "1", "0.3"})
        candidates.push_back(svt_candidate_laplace(*Epsilon::parse(text), 1, 1, 0.0001));
    SelectionSums nobody, half;
    nobody.n = half.n = 100000000;
    half.s1 = int128{50000000} << 30;
    half.s2 = int128{50000000} << 60;
    EXPECT_FALSE(svt_select(random, svt, candidates, {half, half, half}).has_value());
    EXPECT_EQ(svt_select(random, svt, candidates, {nobody, nobody, nobody}), std::size_t{0});
    EXPECT_EQ(svt_select(random, svt, candidates, {half, half, nobody}), std::size_t{2});
    EXPECT_FALSE(svt_select(random, svt, candidates, {half, half}).has_value());
    EXPECT_FALSE(svt_select(random, svt, candidates, {}).has_value());
}

// More rows than any table has: nothing overflows, neighbours stay within the sensitivity, and the comparison fits 128 bits.
TEST(SparseVector, AnyNumberOfRows) {
    const SvtCandidate candidate = svt_candidate_laplace(*Epsilon::parse("1"), 1, 1, 0.01);
    const int128 unit = int128{1} << 30;
    for (int bits : {32, 33, 34, 40, 50, 62}) {
        SelectionSums sums;
        sums.n = std::int64_t{1} << bits;
        for (int exposed : {0, 1, 2}) { // nobody, half, everybody
            sums.s1 = int128(sums.n / 2) * exposed * unit;
            sums.s2 = sums.s1 * unit;
            SelectionSums neighbour = sums;
            neighbour.n++;
            neighbour.s1 += unit;
            neighbour.s2 += unit * unit;
            const int128 margin = svt_margin(candidate, sums), change = svt_margin(candidate, neighbour) - margin;
            EXPECT_TRUE(change <= candidate.sensitivity && change >= -candidate.sensitivity) << bits << " " << exposed;
            EXPECT_TRUE(margin <= int128{1} << 97 && margin >= -(int128{1} << 97)) << bits;
            EXPECT_EQ(svt_accepts(candidate, margin, 0, 0), exposed != 1) << bits << " " << exposed;
        }
    }
}

} // namespace
