// Exact integer noise (formulas.md 8.1; Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy").
// Integers only on the sampling path: no floating point decides anything that is drawn.
#pragma once

#include <cstdint>

#include "privacy/decimal.hpp"
#include "privacy/words256.hpp"

namespace dp::privacy {

// A uniform random bit generator in the sense of Boost.Random: 64 independent fair bits a call.
// The server's comes from pg_strong_random (release/random), tests pass their own.
class BitSource {
  public:
    using result_type = std::uint64_t;
    static constexpr result_type(min)() { return 0; }
    static constexpr result_type(max)() { return ~result_type{0}; }
    virtual result_type operator()() = 0;

  protected:
    ~BitSource() = default;
};

// Scale b = t/s of P(z) ~ exp(-|z| s/t); 0 < t < 2^100, s > 0, in lowest terms.
struct LaplaceScale {
    uint128 t = 1;
    uint128 s = 1;
    double value() const;
};

// sigma^2 = a/b of P(z) ~ exp(-z^2 / (2 a/b)); b = 2^20, or 1 when sigma >= 1000.
struct GaussianScale {
    Words256 a = 1;
    std::uint32_t b = 1;
    double sigma() const;
};

// One draw. Any URBG works as Generator (a one-bit generator enumerates the law exactly in the tests); the definitions are in
// noise_impl.hpp, those for the server's generator in release/random.cpp.
template <class Generator> int128 discrete_laplace(Generator &bits, const LaplaceScale &scale);
template <class Generator> int128 discrete_gaussian(Generator &bits, const GaussianScale &scale);

// Facts about the laws (for RDR, intervals, thresholds): double precision, never used for drawing.
double discrete_laplace_pmf(double b, double z);
double discrete_laplace_variance(double b);
// E|Z| = 1/sinh(1/b).
double discrete_laplace_mean_abs(double b);
double discrete_gaussian_pmf(double sigma, double z);
double discrete_gaussian_variance(double sigma);
// P[X >= m] for the discrete Gaussian of parameter sigma, m any integer (as a double).
double discrete_gaussian_tail(double sigma, double m);
// Phi^-1(1 - p), 0 < p < 1.
double normal_upper_quantile(double p);

// 95 % half-widths in lattice units (8.7): smallest integer h with P(|Z| > h) <= beta.
double discrete_laplace_halfwidth(double b, double beta = 0.05);
double discrete_gaussian_halfwidth(double sigma, double beta = 0.05);

} // namespace dp::privacy
