// Statistical tests of the selection on bits from the operating system: how often each candidate is selected, against the
// closed form and against an integral over the noise on the threshold.
//
// False alarms. A frequency of `runs` runs is compared with the bounds within which it lies with probability 1 - 1e-9
// (Clopper-Pearson, exact for every law). The binary compares fewer than 40: below one in ten million together.
#include "svt_statistic.hpp"

#include "privacy/sparse_vector.hpp"

#include <cmath>
#include <vector>

#include <boost/math/special_functions/beta.hpp>
#include <gtest/gtest.h>

#include "system_bits.hpp"

namespace {

using namespace dp::privacy;

constexpr int runs = 20000;
constexpr double level = 1e-9;

// Whether `hits` of `runs` may come from this probability.
bool plausible(int hits, double probability) {
    const double lower = hits == 0 ? 0 : boost::math::ibeta_inv(hits, runs - hits + 1.0, level / 2);
    const double upper = hits == runs ? 1 : boost::math::ibetac_inv(hits + 1.0, runs - hits, level / 2);
    return lower <= probability && probability <= upper;
}

// Records of which `exposed` have the largest PIS, the others 0.
SelectionSums records(std::int64_t n, std::int64_t exposed) {
    SelectionSums sums;
    sums.n = n;
    sums.s1 = int128{exposed} << 30;
    sums.s2 = int128{exposed} << 60;
    return sums;
}

// hits[j]: how often candidate j was selected; the last: none.
std::vector<int> frequencies(Epsilon svt, const std::vector<SvtCandidate> &candidates, const SelectionSums &sums) {
    SystemBits bits;
    std::vector<int> hits(candidates.size() + 1);
    const std::vector<SelectionSums> all(candidates.size(), sums);
    for (int i = 0; i < runs; ++i)
        ++hits[svt_select(bits, svt, candidates, all).value_or(candidates.size())];
    return hits;
}

double laplace_tail(double x, double scale) {
    return x >= 0 ? 0.5 * std::exp(-x / scale) : 1 - 0.5 * std::exp(x / scale);
}

// P(candidate j is the first): integral over the noise on the threshold, which all of them share, of the probability that
// j is accepted and none before it. query: margin / sensitivity.
std::vector<double> probabilities(double eps_svt, const std::vector<double> &query) {
    const double root = std::cbrt(4.0), threshold = (1 + root) / eps_svt,
                 comparison = 2 * (1 + root) / (root * eps_svt);
    std::vector<double> result(query.size() + 1);
    constexpr int steps = 20000; // midpoints of cells of equal probability
    for (int i = 0; i < steps; ++i) {
        const double p = (i + 0.5) / steps;
        const double r = p < 0.5 ? threshold * std::log(2 * p) : -threshold * std::log(2 * (1 - p));
        double rejected = 1;
        for (std::size_t j = 0; j < query.size(); ++j) {
            const double accepted = laplace_tail(r - query[j], comparison);
            result[j] += rejected * accepted / steps;
            rejected *= 1 - accepted;
        }
        result.back() += rejected / steps;
    }
    return result;
}

// One candidate, from far above tolerance to far below it.
TEST(SvtStatistics, OneCandidateFollowsTheClosedForm) {
    const double tau_var = 0.001;
    for (double svt : {0.5, 2.0})
        for (int exposed : {0, 1, 3, 8, 40}) {
            const SvtCandidate candidate = svt_candidate_laplace(*Epsilon::parse("1"), 1, 1, tau_var);
            const SvtStatistic want = svt_statistic(1000, exposed, exposed, 1, 1, 1, tau_var, svt);
            const int hits =
                frequencies(Epsilon::from_double(svt, Rounding::down), {candidate}, records(1000, exposed))[0];
            EXPECT_TRUE(plausible(hits, want.accept_probability))
                << svt << ", " << exposed << ": " << hits << " of " << runs << ", not " << want.accept_probability;
        }
}

// Gaussian release: the noise of the selection is the same, its query another.
TEST(SvtStatistics, GaussianCandidateFollowsTheClosedForm) {
    for (int exposed : {0, 5}) {
        const SvtCandidate candidate = svt_candidate_gaussian(*Epsilon::parse("1"), 1, 2.25, 0.001);
        SelectionSums sums;
        sums.n = 1000;
        const int128 low = svt_point(candidate, 0), high = svt_point(candidate, 1);
        sums.s1 = (1000 - exposed) * low + exposed * high;
        sums.s2 = (1000 - exposed) * low * low + exposed * high * high;
        const double gap =
            -static_cast<double>(svt_margin(candidate, sums)) / static_cast<double>(candidate.sensitivity);
        const double p = exposed / 1000.0, width = 1 - std::sqrt(2.25 / 3.25);
        EXPECT_NEAR(gap, 1000 * (p * (1 - p) * width * width - 0.001) / (width * width - 0.001), 1e-4);
        const int hits = frequencies(*Epsilon::parse("1"), {candidate}, sums)[0];
        EXPECT_TRUE(plausible(hits, svt_accept_probability(gap, 1))) << exposed << ": " << hits;
    }
}

TEST(SvtStatistics, SeveralCandidatesShareTheThreshold) {
    for (double svt : {0.5, 2.0})
        for (int exposed : {0, 3, 8}) {
            std::vector<SvtCandidate> candidates;
            std::vector<double> query;
            for (const char *text : {"4", "1", "0.3"}) {
                candidates.push_back(svt_candidate_laplace(*Epsilon::parse(text), 1, 1, 0.001));
                query.push_back(svt_statistic(1000, exposed, exposed, 1, 1, std::stod(text), 0.001, svt).scaled_query);
            }
            const std::vector<double> want = probabilities(svt, query);
            const std::vector<int> hits =
                frequencies(Epsilon::from_double(svt, Rounding::down), candidates, records(1000, exposed));
            for (std::size_t j = 0; j < hits.size(); ++j)
                EXPECT_TRUE(plausible(hits[j], want[j])) << svt << ", " << exposed << ", candidate " << j << ": "
                                                         << hits[j] << " of " << runs << ", not " << want[j];
        }
}

// ---- Planted mistakes: the same bounds find them ----

// The noise on the threshold drawn anew for each candidate.
TEST(SvtPlanted, ThresholdNotShared) {
    SystemBits bits;
    std::vector<SvtCandidate> candidates(6, svt_candidate_laplace(*Epsilon::parse("1"), 1, 1, 0.001));
    const SelectionSums sums = records(1000, 8);
    const double query = svt_statistic(1000, 8, 8, 1, 1, 1, 0.001, 1).scaled_query;
    int none = 0;
    for (int i = 0; i < runs; ++i) {
        bool selected = false;
        for (const SvtCandidate &candidate : candidates)
            selected = selected || svt_select(bits, *Epsilon::parse("1"), {candidate}, {sums}).has_value();
        none += !selected;
    }
    EXPECT_FALSE(plausible(none, probabilities(1, std::vector<double>(candidates.size(), query)).back())) << none;
}

// The two shares of epsilon exchanged.
TEST(SvtPlanted, SharesExchanged) {
    SystemBits bits;
    const SvtCandidate candidate = svt_candidate_laplace(*Epsilon::parse("1"), 1, 1, 0.001);
    SvtSplit split = svt_split(*Epsilon::parse("1"));
    std::swap(split.threshold, split.comparison);
    const int128 margin = svt_margin(candidate, records(1000, 20));
    int hits = 0;
    for (int i = 0; i < runs; ++i) {
        const int128 threshold = discrete_laplace(bits, svt_threshold_scale(split));
        hits +=
            svt_accepts(candidate, margin, discrete_laplace(bits, svt_comparison_scale(split, candidate)), threshold);
    }
    EXPECT_FALSE(plausible(hits, svt_statistic(1000, 20, 20, 1, 1, 1, 0.001, 1).accept_probability)) << hits;
}

} // namespace
