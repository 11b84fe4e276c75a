// The risk of a unit with several rows (formulas.md 9.6).
#include "find_eps.hpp"
#include "privacy/unit_risk.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "privacy/risk.hpp"
#include "reference.hpp"

namespace {

using namespace dp::privacy;

Measure measure(MeasureKind kind, std::uint64_t grain = 1) {
    Measure m;
    m.kind = kind;
    m.grain = grain;
    return m;
}

// What clipping means (9.2), written once more: v if its l1 norm is at most D, else each part times D / norm, rounded to 0.
void clip_by_definition(std::vector<__int128> &values, std::size_t width, std::size_t first, std::size_t n,
                        std::uint64_t D) {
    unsigned __int128 norm = 0;
    const std::size_t groups = values.size() / width;
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t c = first; c < first + n; ++c)
            norm += static_cast<unsigned __int128>(values[g * width + c] < 0 ? -values[g * width + c]
                                                                             : values[g * width + c]);
    if (norm <= D)
        return;
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t c = first; c < first + n; ++c)
            values[g * width + c] = values[g * width + c] * static_cast<int128>(D) / static_cast<int128>(norm);
}

// Three groups; a count of grain 4, a sum, a pair, a triple.
TEST(UnitRisk, NormsOverGroups) {
    const std::vector<Measure> measures = {measure(MeasureKind::count, 4), measure(MeasureKind::sum),
                                           measure(MeasureKind::pair), measure(MeasureKind::triple)};
    const std::vector<__int128> values = {
        4, -30, 100, 200, 10, 20, 30, //
        8, 40,  0,   0,   0,  0,  0,  //
        0, 0,   50,  150, 90, 0,  0,
    };
    double sizes[4];
    measure_norms(measures, values.data(), 3, sizes);
    EXPECT_EQ(sizes[0], 12);
    EXPECT_EQ(sizes[1], 70);
    EXPECT_EQ(sizes[2], 500);
    EXPECT_EQ(sizes[3], 150);
}

TEST(UnitRisk, AtMostOneOfEachMeasure) {
    std::mt19937_64 random(11);
    const std::vector<Measure> measures = {measure(MeasureKind::count), measure(MeasureKind::sum),
                                           measure(MeasureKind::pair)};
    constexpr std::size_t width = 4;
    for (int round = 0; round < 2000; ++round) {
        const std::vector<std::uint64_t> D = {1 + random() % 20, 1 + random() % 1000, 1 + random() % 100000};
        std::vector<__int128> values(width * (1 + random() % 5));
        for (__int128 &value : values)
            value = static_cast<std::int64_t>(random() % 5000);
        for (std::size_t g = 0; g < values.size(); g += width)
            values[g + 1] -= 2500;
        double brought[3], kept[3];
        measure_norms(measures, values.data(), values.size() / width, brought);
        clip_by_definition(values, width, 0, 1, D[0]);
        clip_by_definition(values, width, 1, 1, D[1]);
        clip_by_definition(values, width, 2, 2, D[2]);
        measure_norms(measures, values.data(), values.size() / width, kept);
        double share = 1;
        for (std::size_t j = 0; j < 3; ++j) {
            EXPECT_LE(kept[j], static_cast<double>(D[j]));
            share = brought[j] > 0 ? std::min(share, kept[j] / brought[j]) : share;
        }
        EXPECT_EQ(share_left(3, brought, kept), share);
    }
}

TEST(UnitRisk, ShareLeftOfNothing) {
    const double nothing[2] = {0, 0}, brought[2] = {10, 0}, kept[2] = {4, 0};
    EXPECT_EQ(share_left(2, nothing, nothing), 1);
    EXPECT_EQ(share_left(2, brought, kept), 0.4);
}

// 4: the price is that of rows, with the coordinates of one group, however many groups a unit may be in: some unit is at the far
// bound of all measures in them, another one is in none. Noise of D = kappa and more is wide enough for tau.
TEST(UnitRisk, PriceOfOneGroupIsEnough) {
    for (double tau : {0.5, 0.9, 0.95, 0.99})
        for (int m : {1, 2, 5})
            for (std::uint64_t D : {1, 5, 20, 1 << 20, 1 << 30}) {
                const double eps = within_domain_eps_star(tau, 1, m, m);
                const std::vector<NoiseMeasure> measures(static_cast<std::size_t>(m), {1, static_cast<double>(D)});
                const double noise = rdr_noise_term(eps, measures);
                EXPECT_GE(noise / (m + noise), tau * (1 - 1e-12)) << tau << " " << m << " " << D;
            }
    // Of kappa = 5 groups in the place of one, the papers' S 9: the people of one group would have this ratio.
    const double wrong = std::asinh(5 * 0.05 / 0.95), noise = 1 / std::sinh(wrong);
    EXPECT_LT(noise / (1 + noise), 0.8);
}

} // namespace
