// The samplers against their laws by enumeration of all bit strings, and the facts about the laws.
#include "privacy/noise_impl.hpp"

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "reference.hpp"

namespace {

using dp::privacy::BitSource;
using dp::privacy::GaussianScale;
using dp::privacy::int128;
using dp::privacy::LaplaceScale;
using dp::privacy::uint128;
namespace detail = dp::privacy::detail;

// ---- Enumeration ----

// One bit a call, from a path through the tree of all bit strings; new bits on the path start as 0. Past the longest
// string it goes on with arbitrary bits, so that the sampler ends, and remembers it.
class Path {
  public:
    using result_type = unsigned;
    explicit Path(std::size_t longest) : longest_(longest) {}
    static constexpr unsigned(min)() { return 0; }
    static constexpr unsigned(max)() { return 1; }
    unsigned operator()() {
        if (used_ == longest_) {
            too_long_ = true;
            arbitrary_ = arbitrary_ * 6364136223846793005U + 1442695040888963407U;
            return static_cast<unsigned>(arbitrary_ >> 63);
        }
        if (used_ == bits_.size())
            bits_.push_back(0);
        return bits_[used_++];
    }
    bool too_long() const { return too_long_; }
    double probability() const { return std::ldexp(1.0, -static_cast<int>(used_)); }
    // To the next string; false after the last.
    bool next() {
        bits_.resize(used_);
        used_ = 0;
        too_long_ = false;
        while (!bits_.empty() && bits_.back() == 1)
            bits_.pop_back();
        if (bits_.empty())
            return false;
        bits_.back() = 1;
        return true;
    }

  private:
    std::size_t longest_, used_ = 0;
    bool too_long_ = false;
    std::uint64_t arbitrary_ = 1;
    std::vector<unsigned char> bits_;
};

struct Law {
    std::map<long, double> mass;
    double unexplored = 0;
};

// The exact law of what `sampler` draws, up to the strings that do not suffice for a draw.
template <class Sampler> Law enumerate(std::size_t longest, Sampler sampler) {
    Law law;
    Path path(longest);
    do {
        const long z = static_cast<long>(sampler(path));
        if (path.too_long())
            law.unexplored += path.probability();
        else
            law.mass[z] += path.probability();
    } while (path.next());
    return law;
}

// What was found must lie below the law, by no more than what was not explored.
template <class Pmf> bool agrees(const Law &law, Pmf pmf) {
    double total = law.unexplored;
    for (const auto &[z, mass] : law.mass) {
        total += mass;
        const double want = pmf(static_cast<double>(z));
        if (mass > want + 1e-12 || mass < want - law.unexplored - 1e-12)
            return false;
    }
    return std::fabs(total - 1) < 1e-9;
}

LaplaceScale laplace(uint128 t, uint128 s) {
    LaplaceScale scale;
    scale.t = t;
    scale.s = s;
    return scale;
}

GaussianScale gaussian(unsigned a, unsigned b) {
    GaussianScale scale;
    scale.a = a;
    scale.b = b;
    return scale;
}

// Sanitizers see all paths of the code in shorter strings; those leave more of the law unexplored.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t string_length = 18;
constexpr double slack = 2;
#else
constexpr std::size_t string_length = 24;
constexpr double slack = 1;
#endif

TEST(DiscreteLaplace, LawOnAllBitStrings) {
    for (const auto &[t, s] : std::vector<std::pair<unsigned, unsigned>>{{1, 1}, {1, 2}, {2, 1}, {3, 1}, {2, 3}}) {
        const LaplaceScale scale = laplace(t, s);
        const Law law = enumerate(string_length, [&](Path &bits) { return dp::privacy::discrete_laplace(bits, scale); });
        EXPECT_LT(law.unexplored, slack * 0.22) << t << "/" << s;
        EXPECT_TRUE(agrees(law, [&](double z) { return dp::privacy::discrete_laplace_pmf(scale.value(), z); })) << t << "/" << s;
    }
}

// A round that starts again leaves the law of what comes out as it is: one round shows it with far fewer bits.
TEST(DiscreteLaplace, LawOfOneRound) {
    constexpr long again = 1000000;
    for (const auto &[t, s] : std::vector<std::pair<unsigned, unsigned>>{{1, 1}, {1, 2}, {1, 5}, {2, 1}, {3, 1}, {2, 3}, {4, 3}, {8, 1}}) {
        const LaplaceScale scale = laplace(t, s);
        const Law law = enumerate(24, [&](Path &bits) {
            const auto z = detail::attempt_laplace(bits, scale.t, scale.s);
            return z ? static_cast<long>(*z) : again;
        });
        // u passes with probability (1 - e^-1)/(t (1 - e^(-1/t))); then all but the negative zeros come out.
        const double u = std::exp(-1.0 / t);
        const double passes = (1 - std::exp(-1.0)) / (t * (1 - u));
        const double zero = 1 - std::pow(u, s);
        const double comes_out = passes * (1 - zero / 2);
        EXPECT_LT(law.unexplored, 0.05) << t << "/" << s;
        EXPECT_TRUE(agrees(law, [&](double z) {
            return z == again ? 1 - comes_out : comes_out * dp::privacy::discrete_laplace_pmf(scale.value(), z);
        })) << t << "/" << s;
    }
}

TEST(DiscreteGaussian, LawOnAllBitStrings) {
    for (const auto &[a, b] : std::vector<std::pair<unsigned, unsigned>>{{1, 1}, {1, 2}, {2, 1}}) {
        const GaussianScale scale = gaussian(a, b);
        const Law law = enumerate(string_length, [&](Path &bits) { return dp::privacy::discrete_gaussian(bits, scale); });
        EXPECT_LT(law.unexplored, slack * 0.42) << a << "/" << b;
        EXPECT_TRUE(agrees(law, [&](double z) { return dp::privacy::discrete_gaussian_pmf(scale.sigma(), z); })) << a << "/" << b;
    }
}

// With the Laplace law above, this makes the Gaussian one: P(y) exp(-(|y| - s2/t)^2 / (2 s2)) ~ exp(-y^2 / (2 s2)).
TEST(DiscreteGaussian, AcceptanceOnAllBitStrings) {
    for (const auto &[a, b] : std::vector<std::pair<unsigned, unsigned>>{{1, 1}, {1, 2}, {1, 4}, {2, 1}, {3, 1}}) {
        const double s2 = static_cast<double>(a) / b;
        const auto t = static_cast<unsigned>(std::sqrt(s2)) + 1;
        for (unsigned y = 0; y <= 6; ++y) {
            const double want = std::exp(-(y - s2 / t) * (y - s2 / t) / (2 * s2));
            const Law law = enumerate(string_length, [&, a = a, b = b](Path &bits) { return detail::accept_gaussian<detail::native128>(bits, y, t, a, b); });
            EXPECT_LT(law.unexplored, slack * 0.06) << s2 << " " << y;
            EXPECT_TRUE(agrees(law, [&](double z) { return z == 1 ? want : 1 - want; })) << s2 << " " << y;
        }
    }
}

TEST(Enumeration, CatchesASamplerThatKeepsNegativeZero) {
    const auto faulty = [](Path &bits) {
        long v = 0;
        while (detail::exponential_one(bits))
            ++v;
        return detail::uniform_to(bits, 1) == 1 ? -v : v;
    };
    const Law law = enumerate(string_length, faulty);
    EXPECT_FALSE(agrees(law, [](double z) { return dp::privacy::discrete_laplace_pmf(1, z); }));
}

TEST(Uniform, LawOnAllBitStrings) {
    for (std::uint64_t n : {1, 2, 3, 5, 6, 7, 8, 60}) {
        const Law law = enumerate(string_length, [&](Path &bits) { return detail::uniform_below(bits, n); });
        EXPECT_LT(law.unexplored, slack * 0.01) << n;
        EXPECT_EQ(law.mass.size(), n);
        EXPECT_TRUE(agrees(law, [&](double) { return 1.0 / static_cast<double>(n); })) << n;
    }
}

TEST(Exponential, LawOnAllBitStrings) {
    for (const auto &[p, q] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 1}, {1, 1}, {1, 2}, {2, 3}, {5, 2}, {3, 1}}) {
        const double want = std::exp(-static_cast<double>(p) / static_cast<double>(q));
        const auto law = enumerate(string_length, [&, p = p, q = q](Path &bits) {
            return detail::exponential<Path, std::uint64_t>(bits, p, q) ? 1 : 0;
        });
        EXPECT_LT(law.unexplored, slack * 0.01) << p << "/" << q;
        EXPECT_TRUE(agrees(law, [&](double z) { return z == 1 ? want : 1 - want; })) << p << "/" << q;
    }
}

// ---- Wide integers ----

// Repeats a list of words.
class Words final : public BitSource {
  public:
    explicit Words(std::vector<std::uint64_t> words) : words_(std::move(words)) {}
    result_type operator()() override { return words_[next_++ % words_.size()]; }
    std::size_t used() const { return next_; }

  private:
    std::vector<std::uint64_t> words_;
    std::size_t next_ = 0;
};

constexpr std::uint64_t all = ~std::uint64_t{0};

TEST(Uniform, WideNumbersAreDrawnAgainUntilTheyFit) {
    using detail::native128;
    const native128 n = (static_cast<native128>(1) << 64) + 1; // last = 2^64: 65 bits
    Words reject({all, 0, all, 1, 0, 7});
    EXPECT_TRUE(detail::uniform_below(reject, n) == (static_cast<native128>(1) << 64)); // one bit, then 64: the very last value
    EXPECT_EQ(reject.used(), 2U);
    EXPECT_TRUE(detail::uniform_below(reject, n) == 7); // 2^64 + 1 is one too many
    EXPECT_EQ(reject.used(), 6U);
    Words power({1, 2});
    EXPECT_TRUE(detail::uniform_below(power, static_cast<native128>(1) << 127) == 2); // 63 bits of the word 1 are its upper ones
    Words whole({3, 4, 5, 6, 7, 8, 9, 10});
    dp::privacy::uint512 want = 0;
    for (int word = 3; word <= 10; ++word)
        want = (want << 64) | word;
    EXPECT_TRUE(detail::uniform_below(whole, dp::privacy::uint512((dp::privacy::uint512(1) << 511) * 2 - 1)) == want);
}

TEST(Root, LargestIntegerWhoseSquareFits) {
    for (std::uint64_t n = 0; n < 2000; ++n) {
        const std::uint64_t r = detail::root(n);
        EXPECT_TRUE(r * r <= n && n < (r + 1) * (r + 1)) << n;
    }
    EXPECT_EQ(detail::root(all), 0xffffffffU);
    EXPECT_EQ(detail::root(std::uint64_t{0xfffffffe00000001}), 0xffffffffU);
    EXPECT_EQ(detail::root(std::uint64_t{0xfffffffe00000000}), 0xfffffffeU);
    using boost::multiprecision::uint256_t;
    std::mt19937_64 random(2);
    for (int i = 0; i < 200; ++i) {
        const uint256_t x = (uint256_t(random()) << (random() % 36)) + random();
        EXPECT_TRUE(detail::root(uint256_t(x * x)) == x);
        EXPECT_TRUE(detail::root(uint256_t(x * x - 1)) == x - 1);
        EXPECT_TRUE(detail::root(uint256_t(x * x + x)) == x);
    }
}

// ---- Extremes ----

TEST(DiscreteLaplace, TheLargestDrawDoesNotOverflow) {
    // Smallest, largest, smallest ... lets every factor exp(-1) succeed: v runs into its cap.
    Words words({0, all - 1});
    const uint128 t = (static_cast<uint128>(1) << 100) - 1;
    const int128 z = dp::privacy::discrete_laplace(words, laplace(t, 1));
    EXPECT_TRUE(z == static_cast<int128>(all - 1 + (t << 26)));
    EXPECT_TRUE(z > 0);
}

TEST(Samplers, RefuseScalesOutOfRange) {
    Words words({0, all});
    EXPECT_THROW(dp::privacy::discrete_laplace(words, laplace(0, 1)), std::domain_error);
    EXPECT_THROW(dp::privacy::discrete_laplace(words, laplace(1, 0)), std::domain_error);
    EXPECT_THROW(dp::privacy::discrete_laplace(words, laplace(static_cast<uint128>(1) << 100, 1)), std::domain_error);
    EXPECT_THROW(dp::privacy::discrete_gaussian(words, gaussian(0, 1)), std::domain_error);
    EXPECT_THROW(dp::privacy::discrete_gaussian(words, gaussian(1, 0)), std::domain_error);
    GaussianScale huge;
    huge.a = dp::privacy::words(dp::privacy::uint256(1) << 199);
    EXPECT_THROW(dp::privacy::discrete_gaussian(words, huge), std::domain_error);
}

// Mean of |z| / scale over many draws; only a rough check that no width of integers breaks the law.
template <class Draw> double mean_abs(Draw draw) {
    double sum = 0;
    constexpr int draws = 20000;
    for (int i = 0; i < draws; ++i)
        sum += std::fabs(static_cast<double>(draw()));
    return sum / draws;
}

TEST(Samplers, EveryWidthOfIntegers) {
    std::mt19937_64 random(3);
    for (int bits = 0; bits < 100; bits += 3) {
        const LaplaceScale scale = laplace(static_cast<uint128>(1) << bits, 1);
        EXPECT_NEAR(mean_abs([&] { return dp::privacy::discrete_laplace(random, scale); }) /
                        dp::privacy::discrete_laplace_mean_abs(scale.value()), 1, 0.05) << bits;
    }
    for (int bits = 6; bits < 198; bits += 6) {
        GaussianScale scale;
        scale.a = dp::privacy::words(dp::privacy::uint256(1) << bits);
        const double want = std::sqrt(2 / 3.14159265358979) * scale.sigma();
        EXPECT_NEAR(mean_abs([&] { return dp::privacy::discrete_gaussian(random, scale); }) / want, 1, 0.05) << bits;
    }
}

// ---- Facts ----

TEST(Reference, DiscreteLaplace) {
    reference::each("discrete_laplace", [](const reference::Case &c) {
        const double b = c.arg("b");
        c.field(dp::privacy::discrete_laplace_pmf(b, c.arg("z")), "pmf");
        c.field(dp::privacy::discrete_laplace_variance(b), "variance");
        c.field(dp::privacy::discrete_laplace_halfwidth(b), "ci95_halfwidth");
    });
}

TEST(Reference, DiscreteGaussian) {
    reference::each("discrete_gaussian", [](const reference::Case &c) {
        const double sigma = c.arg("sigma");
        c.field(dp::privacy::discrete_gaussian_pmf(sigma, c.arg("z")), "pmf");
        c.field(dp::privacy::discrete_gaussian_variance(sigma), "variance");
        c.field(dp::privacy::discrete_gaussian_halfwidth(sigma), "ci95_halfwidth");
    });
}

TEST(Reference, GeometricMechanism) {
    reference::each("geometric_mechanism", [](const reference::Case &c) {
        const double b = 1 / c.arg("eps").get<double>();
        c.field(dp::privacy::discrete_laplace_pmf(b, c.arg("z")), "pmf");
        c.field(dp::privacy::discrete_laplace_variance(b), "variance");
        c.field(dp::privacy::discrete_laplace_mean_abs(b), "mean_abs");
        c.field((1 - dp::privacy::discrete_laplace_pmf(b, 0)) / 2, "tail_ge_1");
    });
}

TEST(Facts, LawsAddUpToOne) {
    for (double scale : {0.05, 0.3, 0.99, 1.0, 1.01, 5.0, 40.0}) {
        double laplace_sum = 0, gaussian_sum = 0, gaussian_square = 0;
        for (double z = -2000; z <= 2000; ++z) {
            laplace_sum += dp::privacy::discrete_laplace_pmf(scale, z);
            gaussian_sum += dp::privacy::discrete_gaussian_pmf(scale, z);
            gaussian_square += z * z * dp::privacy::discrete_gaussian_pmf(scale, z);
        }
        EXPECT_NEAR(laplace_sum, 1, 1e-12) << scale;
        EXPECT_NEAR(gaussian_sum, 1, 1e-12) << scale;
        const double variance = dp::privacy::discrete_gaussian_variance(scale);
        EXPECT_NEAR(gaussian_square, variance, 1e-10 * variance + 1e-80) << scale;
        EXPECT_LE(variance, scale * scale * (1 + 1e-12)) << scale;
    }
}

TEST(Facts, GaussianTailIsTheSumOfTheLaw) {
    for (double sigma : {0.2, 1.0, 3.5, 30.0})
        for (double m : {-4.0, 0.0, 1.0, 2.0, 7.0, 40.0}) {
            double sum = 0;
            for (double z = m + 1000; z >= m; --z)
                sum += dp::privacy::discrete_gaussian_pmf(sigma, z);
            EXPECT_NEAR(dp::privacy::discrete_gaussian_tail(sigma, m), sum, 1e-11 * sum) << sigma << " " << m;
        }
    EXPECT_EQ(dp::privacy::discrete_gaussian_tail(1e-9, 1), 0);
    EXPECT_EQ(dp::privacy::discrete_gaussian_tail(1e-9, 0), 1);
}

// Sums up to sigma = 1000, integrals above: both sides of the border, and far from it, where both are known.
TEST(Facts, GaussianTailIsContinuousWhereTheMethodChanges) {
    for (double x : {-3.0, 0.0, 1.0, 4.0, 8.0, 20.0}) {
        const double below = dp::privacy::discrete_gaussian_tail(1000, 1000 * x);
        const double above = dp::privacy::discrete_gaussian_tail(std::nextafter(1000.0, 1001.0), 1000 * x);
        EXPECT_NEAR(above / below, 1, 1e-11) << x;
    }
}

TEST(Facts, QuantileOfTheNormalLaw) {
    EXPECT_NEAR(dp::privacy::normal_upper_quantile(0.025), 1.959963984540054, 1e-14);
    EXPECT_NEAR(dp::privacy::normal_upper_quantile(0.5), 0, 1e-15);
    EXPECT_NEAR(std::erfc(dp::privacy::normal_upper_quantile(1e-30) / std::sqrt(2.0)) / 2e-30, 1, 1e-11);
}

TEST(Facts, HalfwidthsAreTheSmallestThatCover) {
    for (double b : {0.05, 0.2, 0.7, 1.0, 3.3, 20.0, 333.0})
        for (double beta : {0.5, 0.05, 0.025, 1e-6}) {
            const double h = dp::privacy::discrete_laplace_halfwidth(b, beta), u = std::exp(-1 / b);
            EXPECT_LE(2 * std::pow(u, h + 1) / (1 + u), beta * (1 + 1e-9)) << b << " " << beta;
            if (h > 0) {
                EXPECT_GT(2 * std::pow(u, h) / (1 + u), beta * (1 - 1e-9)) << b << " " << beta;
            }
        }
    for (double sigma : {0.05, 0.4, 1.0, 7.7, 250.0, 999.0})
        for (double beta : {0.5, 0.05, 0.025, 1e-6}) {
            const double h = dp::privacy::discrete_gaussian_halfwidth(sigma, beta);
            EXPECT_LE(2 * dp::privacy::discrete_gaussian_tail(sigma, h + 1), beta) << sigma << " " << beta;
            if (h > 0) {
                EXPECT_GT(2 * dp::privacy::discrete_gaussian_tail(sigma, h), beta) << sigma << " " << beta;
            }
        }
    EXPECT_EQ(dp::privacy::discrete_gaussian_halfwidth(1e6), std::ceil(1959963.984540) + 1);
    EXPECT_EQ(dp::privacy::discrete_laplace_halfwidth(3, 1), 0);
    EXPECT_EQ(dp::privacy::discrete_gaussian_halfwidth(3, 1), 0);
}

TEST(Facts, ExtremeScalesStayFinite) {
    EXPECT_EQ(dp::privacy::discrete_laplace_variance(1e-5), 0);
    EXPECT_EQ(dp::privacy::discrete_laplace_mean_abs(1e-5), 0);
    EXPECT_EQ(dp::privacy::discrete_laplace_halfwidth(1e-5), 0);
    EXPECT_EQ(dp::privacy::discrete_laplace_pmf(1e-5, 0), 1);
    EXPECT_NEAR(dp::privacy::discrete_laplace_variance(1e25) / 2e50, 1, 1e-9);
    EXPECT_NEAR(dp::privacy::discrete_laplace_halfwidth(1e25) / 1e25, std::log(20), 1e-9);
    EXPECT_EQ(dp::privacy::discrete_gaussian_variance(1e-5), 0);
    EXPECT_EQ(dp::privacy::discrete_gaussian_halfwidth(1e-5), 0);
    EXPECT_NEAR(dp::privacy::discrete_gaussian_halfwidth(1e25) / 1e25, 1.959964, 1e-6);
}

} // namespace
