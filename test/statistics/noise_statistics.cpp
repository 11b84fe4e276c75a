// Statistical tests of the samplers on bits from the operating system: chi-square and Kolmogorov-Smirnov.
//
// False alarms. Each statistic fails below a p-value of 1e-9. The binary computes fewer than 60 of them on good samplers,
// so it fails by chance with probability below 6e-8. The Kolmogorov-Smirnov bound (Dvoretzky-Kiefer-Wolfowitz, Massart's
// constant) holds for every law and every n. The chi-square one is asymptotic; with at least 1000 expected draws per cell it
// is wrong by less than the factor of 16 that is left to one in a million.
#include "../unit/measured.hpp"
#include "privacy/calibration.hpp"
#include "privacy/mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <boost/math/special_functions/gamma.hpp>
#include <gtest/gtest.h>

#include "system_bits.hpp"

namespace {

using namespace dp::privacy;

constexpr double level = 1e-9;
constexpr std::size_t draws = 300000;
constexpr double least_expected = 1000;

// ---- Laws ----

using Tail = std::function<double(double)>; // P(Z >= m), m an integer

Tail laplace_law(double b) {
    return [b](double m) {
        const auto upper = [b](double n) { return std::exp(-n / b) / (1 + std::exp(-1 / b)); };
        return m >= 1 ? upper(m) : 1 - upper(1 - m);
    };
}

Tail gaussian_law(double sigma) {
    return [sigma](double m) { return discrete_gaussian_tail(sigma, m); };
}

// ---- Statistics: p-values ----

double chi_square_p(const std::vector<double> &observed, const std::vector<double> &expected) {
    double statistic = 0;
    for (std::size_t i = 0; i < observed.size(); ++i)
        statistic += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
    return boost::math::gamma_q(0.5 * static_cast<double>(observed.size() - 1), 0.5 * statistic);
}

// Smallest integer m with P(Z >= m) <= p.
double edge(const Tail &tail, double p) {
    double width = 1;
    while (tail(width) > p || tail(-width) <= p)
        width *= 2;
    double low = -width, high = width;
    while (high - low > 1) {
        const double middle = std::floor(0.5 * (low + high));
        if (middle <= low || middle >= high)
            break; // beyond 2^53 neighbouring doubles are as close as it gets
        (tail(middle) > p ? low : high) = middle;
    }
    return high;
}

// First integers of the cells after the first one: about `cells` cells of equal probability, fewer if the law is narrow.
std::vector<double> edges(const Tail &tail, int cells, double n) {
    std::vector<double> result;
    double last = 1; // tail at the last edge
    for (int i = 1; i < cells; ++i) {
        const double m = edge(tail, 1 - static_cast<double>(i) / cells), p = tail(m);
        if ((last - p) * n < least_expected || p * n < least_expected)
            continue;
        result.push_back(m);
        last = p;
    }
    return result;
}

std::size_t cell_of(const std::vector<double> &edges, double z) {
    return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), z) - edges.begin());
}

double chi_square_p(const std::vector<double> &sample, const Tail &tail) {
    const auto n = static_cast<double>(sample.size());
    // Cells of single integers, too, where the law is narrow: 200 cells are asked for, 1000 draws each are kept.
    const std::vector<double> e = edges(tail, 200, n);
    std::vector<double> observed(e.size() + 1), expected;
    for (double z : sample)
        ++observed[cell_of(e, z)];
    double before = 1;
    for (double m : e) {
        expected.push_back(n * (before - tail(m)));
        before = tail(m);
    }
    expected.push_back(n * before);
    return chi_square_p(observed, expected);
}

double kolmogorov_smirnov_p(std::vector<double> sample, const Tail &tail) {
    std::sort(sample.begin(), sample.end());
    const auto n = static_cast<double>(sample.size());
    double distance = 0;
    for (auto first = sample.begin(); first != sample.end();) {
        const auto last = std::upper_bound(first, sample.end(), *first);
        const double below = static_cast<double>(first - sample.begin()) / n, upto = static_cast<double>(last - sample.begin()) / n;
        distance = std::max({distance, std::fabs(1 - tail(*first) - below), std::fabs(1 - tail(*first + 1) - upto)});
        first = last;
    }
    return std::min(1.0, 2 * std::exp(-2 * n * distance * distance));
}

// Consecutive draws in one of 4 x 4 cells: they must not depend on each other.
double independence_p(const std::vector<double> &sample, const Tail &tail) {
    const std::vector<double> e = edges(tail, 4, static_cast<double>(sample.size()));
    const std::size_t cells = e.size() + 1;
    std::vector<double> probability, observed(cells * cells), expected(cells * cells);
    for (std::size_t i = 0; i < cells; ++i)
        probability.push_back((i == 0 ? 1 : tail(e[i - 1])) - (i == e.size() ? 0 : tail(e[i])));
    for (std::size_t i = 0; i + 1 < sample.size(); i += 2)
        ++observed[cell_of(e, sample[i]) * cells + cell_of(e, sample[i + 1])];
    for (std::size_t i = 0; i < cells * cells; ++i)
        expected[i] = static_cast<double>(sample.size() / 2) * probability[i / cells] * probability[i % cells];
    return chi_square_p(observed, expected);
}

// ---- Sampling ----

template <class Draw> std::vector<double> sample_of(Draw draw) {
    SystemBits bits;
    std::vector<double> sample;
    sample.reserve(draws);
    for (std::size_t i = 0; i < draws; ++i)
        sample.push_back(static_cast<double>(draw(bits)));
    return sample;
}

void expect_law(const std::vector<double> &sample, const Tail &tail, const std::string &what) {
    EXPECT_GT(chi_square_p(sample, tail), level) << what;
    EXPECT_GT(kolmogorov_smirnov_p(sample, tail), level) << what;
}

// The last six bits, uniform in a wide law: where a sampler that cuts digits would show it.
template <class Draw> double low_bits_p(Draw draw) {
    SystemBits bits;
    std::vector<double> observed(64), expected(64, static_cast<double>(draws) / 64);
    for (std::size_t i = 0; i < draws; ++i)
        ++observed[static_cast<std::size_t>(draw(bits) & 63)];
    return chi_square_p(observed, expected);
}

LaplaceScale laplace(uint128 t, uint128 s) {
    LaplaceScale scale;
    scale.t = t;
    scale.s = s;
    return scale;
}

// ---- The samplers: 2 statistics a scale ----

TEST(Statistics, DiscreteLaplace) {
    const std::vector<LaplaceScale> scales = {laplace(3, 10), laplace(1, 1), laplace(20, 1), laplace(10000, 3),
                                              laplace(static_cast<uint128>(1 << 30) * 100000000, 5260731), laplace(static_cast<uint128>(1) << 90, 1)};
    for (const LaplaceScale &scale : scales) {
        const auto sample = sample_of([&](BitSource &bits) { return discrete_laplace(bits, scale); });
        expect_law(sample, laplace_law(scale.value()), "scale " + std::to_string(scale.value()));
    }
}

TEST(Statistics, DiscreteGaussian) {
    for (double sigma : {0.5, 1.0, 3.730632, 150.0, 12345.678, 1e9, 0x1p80}) {
        const GaussianScale scale = gaussian_scale_up(sigma);
        const auto sample = sample_of([&](BitSource &bits) { return discrete_gaussian(bits, scale); });
        expect_law(sample, gaussian_law(scale.sigma()), "sigma " + std::to_string(sigma));
    }
}

TEST(Statistics, DrawsAreIndependent) {
    const auto laplace_sample = sample_of([](BitSource &bits) { return discrete_laplace(bits, laplace(20, 1)); });
    EXPECT_GT(independence_p(laplace_sample, laplace_law(20)), level);
    const GaussianScale scale = gaussian_scale_up(20);
    const auto gaussian_sample = sample_of([&](BitSource &bits) { return discrete_gaussian(bits, scale); });
    EXPECT_GT(independence_p(gaussian_sample, gaussian_law(scale.sigma())), level);
}

TEST(Statistics, EveryLatticePointIsReached) {
    const LaplaceScale scale = laplace(static_cast<uint128>(1 << 30) * 100000000, 5260731);
    const GaussianScale gaussian = gaussian_scale_up(1e9);
    EXPECT_GT(low_bits_p([&](BitSource &bits) { return discrete_laplace(bits, scale); }), level);
    EXPECT_GT(low_bits_p([&](BitSource &bits) { return discrete_gaussian(bits, gaussian); }), level);
}

// ---- A release: the scale is worked out here from epsilon, shares and sensitivity ----

std::vector<Measure> measures_of(bool thresholded) {
    AggregateCall sum, avg;
    sum.fn = Aggregate::sum;
    sum.argument = 1;
    avg.fn = Aggregate::avg;
    avg.argument = 2;
    return leaf_measures({sum, avg}, thresholded);
}

TEST(Statistics, LaplaceRelease) {
    const std::vector<std::uint64_t> sensitivities = {1, 99999, 1U << 30};
    const ReleasePlan plan = plan_release(Mechanism::laplace, measured(measures_of(true), sensitivities), true,
                                          *Epsilon::parse("0.3"), *Delta::parse("1e-6"));
    for (std::size_t i = 0; i < sensitivities.size(); ++i) {
        const auto sample = sample_of([&](BitSource &bits) { return draw(bits, plan.noise[i]); });
        expect_law(sample, laplace_law(static_cast<double>(sensitivities[i]) * 3 / 0.3), "measure " + std::to_string(i));
    }
}

TEST(Statistics, GaussianRelease) {
    const std::vector<std::uint64_t> sensitivities = {1, 99999, 1U << 30};
    const ReleasePlan plan = plan_release(Mechanism::gaussian, measured(measures_of(true), sensitivities), true,
                                          *Epsilon::parse("1"), *Delta::parse("1e-5"));
    const double scaled = std::sqrt(3 / (2 * rho_cap_tight(1, 5e-6)));
    for (std::size_t i = 0; i < sensitivities.size(); ++i) {
        const auto sample = sample_of([&](BitSource &bits) { return draw(bits, plan.noise[i]); });
        expect_law(sample, gaussian_law(static_cast<double>(sensitivities[i]) * scaled), "measure " + std::to_string(i));
    }
}

// ---- Planted mistakes: the same statistics find them ----

TEST(Planted, KeepingNegativeZero) {
    for (unsigned t : {1U, 2U, 5U}) {
        const auto faulty = sample_of([&](BitSource &bits) {
            for (;;) {
                const std::uint64_t u = detail::uniform_below(bits, std::uint64_t{t});
                if (!detail::exponential_up_to_one(bits, u, std::uint64_t{t}))
                    continue;
                int128 v = 0;
                while (detail::exponential_one(bits))
                    ++v;
                const int128 y = static_cast<int128>(u) + t * v;
                return detail::uniform_to(bits, 1) == 1 ? -y : y;
            }
        });
        EXPECT_LT(chi_square_p(faulty, laplace_law(t)), level) << t;
        EXPECT_LT(kolmogorov_smirnov_p(faulty, laplace_law(t)), level) << t;
    }
}

TEST(Planted, ScaleWrongByTenPercent) {
    for (unsigned t : {1U, 20U, 1000000000U})
        for (unsigned wrong : {9U, 11U}) {
            const auto faulty = sample_of([&](BitSource &bits) { return discrete_laplace(bits, laplace(uint128{t} * wrong, 10)); });
            EXPECT_LT(chi_square_p(faulty, laplace_law(t)), level) << t << " " << wrong;
            EXPECT_LT(kolmogorov_smirnov_p(faulty, laplace_law(t)), level) << t << " " << wrong;
        }
    for (double sigma : {1.0, 20.0, 1e9})
        for (double wrong : {0.9, 1.1}) {
            const GaussianScale scale = gaussian_scale_up(sigma * wrong);
            const auto faulty = sample_of([&](BitSource &bits) { return discrete_gaussian(bits, scale); });
            EXPECT_LT(chi_square_p(faulty, gaussian_law(sigma)), level) << sigma << " " << wrong;
            EXPECT_LT(kolmogorov_smirnov_p(faulty, gaussian_law(sigma)), level) << sigma << " " << wrong;
        }
}

TEST(Planted, RepeatedDraws) {
    int128 last = 0;
    int count = 0;
    const auto faulty = sample_of([&](BitSource &bits) {
        if (count++ % 20 != 1) // one pair in ten holds the same draw twice
            last = discrete_laplace(bits, laplace(20, 1));
        return last;
    });
    EXPECT_LT(independence_p(faulty, laplace_law(20)), level);
}

TEST(Planted, EvenNumbersOnly) {
    EXPECT_LT(low_bits_p([](BitSource &bits) { return 2 * discrete_laplace(bits, laplace(1000000, 1)); }), level);
}

} // namespace
