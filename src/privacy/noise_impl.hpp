// Defines the samplers of noise.hpp (formulas.md 8.1). Integers only.
//
// Loops that have no bound in the algorithms are either counted in 64 bits (a counter that advances at most once per random bit
// cannot overflow) or capped where reaching the cap has probability below e^-60000000.
#pragma once

#include <optional>
#include <stdexcept>

#include <boost/random/uniform_int_distribution.hpp>

#include "privacy/noise.hpp"
#include "privacy/wide.hpp"

namespace dp::privacy {

namespace detail {

// 128 bits with the alignment that references and templates expect (uint128 is aligned like 64 bits, for storage).
using native128 = unsigned __int128;
using signed_native128 = __int128;

// Number of binary digits.
inline unsigned width(std::uint64_t n) {
    return n == 0 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(n));
}
inline unsigned width(native128 n) {
    const auto high = static_cast<std::uint64_t>(n >> 64);
    return high != 0 ? 64 + width(high) : width(static_cast<std::uint64_t>(n));
}
template <class Number> unsigned width(const Number &n) {
    return n == 0 ? 0 : static_cast<unsigned>(msb(n)) + 1;
}

template <class Generator> std::uint64_t uniform_to(Generator &bits, std::uint64_t last) {
    return boost::random::uniform_int_distribution<std::uint64_t>(0, last)(bits);
}

// Uniform on {0 .. n-1}, n > 0. Beyond 64 bits: as many bits as n-1 has, drawn again until they are below n.
template <class Generator, class Unsigned> Unsigned uniform_below(Generator &bits, const Unsigned &n) {
    const Unsigned last = n - 1;
    const unsigned digits = width(last);
    if (digits <= 64)
        return Unsigned(uniform_to(bits, static_cast<std::uint64_t>(last)));
    for (;;) {
        const unsigned first = digits % 64;
        Unsigned draw = first == 0 ? 0 : uniform_to(bits, ~std::uint64_t{0} >> (64 - first));
        for (unsigned words = digits / 64; words > 0; --words) {
            draw = (draw << 32) << 32; // in two steps: 64 is too far for the narrowest type
            draw |= Unsigned(uniform_to(bits, ~std::uint64_t{0}));
        }
        if (draw <= last)
            return draw;
    }
}

// True with probability p/q, q > 0.
template <class Generator, class Unsigned> bool bernoulli(Generator &bits, const Unsigned &p, const Unsigned &q) {
    if (p == 0 || p >= q)
        return p != 0;
    return uniform_below(bits, q) < p;
}

// True with probability exp(-p/q), p <= q. Bernoulli(g/K) is drawn as Bernoulli(g) and Bernoulli(1/K): q*K could overflow.
template <class Generator, class Unsigned>
bool exponential_up_to_one(Generator &bits, const Unsigned &p, const Unsigned &q) {
    std::uint64_t k = 1;
    while (bernoulli(bits, p, q) && bernoulli(bits, std::uint64_t{1}, k))
        ++k;
    return k % 2 == 1;
}

template <class Generator> bool exponential_one(Generator &bits) {
    return exponential_up_to_one(bits, std::uint64_t{1}, std::uint64_t{1});
}

// True with probability exp(-p/q).
template <class Generator, class Unsigned> bool exponential(Generator &bits, const Unsigned &p, const Unsigned &q) {
    for (Unsigned whole = p / q; whole != 0; --whole)
        if (!exponential_one(bits))
            return false;
    return exponential_up_to_one(bits, Unsigned(p % q), q);
}

// One round of the sampler: no value where it must start again. t < 2^100.
template <class Generator> std::optional<signed_native128> attempt_laplace(Generator &bits, native128 t, native128 s) {
    constexpr std::uint64_t cap = std::uint64_t{1} << 26; // u + t v < 2^127; reached with probability e^-67108864
    const native128 u = uniform_below(bits, t);
    if (!exponential_up_to_one(bits, u, t))
        return std::nullopt;
    std::uint64_t v = 0;
    while (v < cap && exponential_one(bits))
        ++v;
    const native128 magnitude = (u + t * v) / s;
    const bool negative = uniform_to(bits, 1) == 1;
    if (negative && magnitude == 0)
        return std::nullopt; // else zero would come up twice as often as it must
    return negative ? -static_cast<signed_native128>(magnitude) : static_cast<signed_native128>(magnitude);
}

// Largest integer whose square is at most n (Newton's method from above).
template <class Unsigned> Unsigned root(const Unsigned &n) {
    if (n == 0)
        return n;
    Unsigned x = Unsigned(1) << ((width(n) + 1) / 2);
    for (;;) {
        const Unsigned next = (x + n / x) >> 1;
        if (next >= x)
            return x;
        x = next;
    }
}

// True with probability exp( -(y - s2/t)^2 / (2 s2) ), s2 = a/b.
template <class Unsigned, class Generator>
bool accept_gaussian(Generator &bits, const Unsigned &y, const Unsigned &t, const Unsigned &a, const Unsigned &b) {
    const Unsigned ytb = y * t * b;
    const Unsigned distance = ytb > a ? Unsigned(ytb - a) : Unsigned(a - ytb);
    return exponential(bits, Unsigned(distance * distance), Unsigned(2 * t * t * a * b));
}

} // namespace detail

template <class Generator> int128 discrete_laplace(Generator &bits, const LaplaceScale &scale) {
    if (scale.t == 0 || scale.s == 0 || detail::width(scale.t) > 100)
        throw std::domain_error("noise scale out of range");
    for (;;)
        if (const std::optional<detail::signed_native128> z = detail::attempt_laplace(bits, scale.t, scale.s))
            return *z;
}

template <class Generator> int128 discrete_gaussian(Generator &bits, const GaussianScale &scale) {
    using detail::native128;
    using detail::width;
    // a < 2^200: t < 2^100 + 1, and (|y| t b - a)^2 < 2^487 and 2 t^2 a b < 2^434 fit 512 bits.
    const uint256 numerator = wide(scale.a);
    if (numerator == 0 || scale.b == 0 || width(numerator) > 200 || width(numerator / scale.b) > 198)
        throw std::domain_error("noise scale out of range");
    const native128 b = scale.b;
    const bool narrow_scale = width(numerator) <= 63;
    const native128 a = narrow_scale ? static_cast<native128>(numerator) : 0;
    const native128 t = 1 + (narrow_scale ? native128(detail::root(static_cast<std::uint64_t>(a / b)))
                                          : static_cast<native128>(detail::root(uint256(numerator / scale.b))));
    const bool narrow = narrow_scale && 1 + 2 * width(t) + width(a) + width(b) <= 128;
    for (;;) {
        const int128 z = discrete_laplace(bits, LaplaceScale{t, 1});
        const native128 y = z < 0 ? -static_cast<native128>(z) : static_cast<native128>(z);
        const bool accepted =
            narrow && width(y) + width(t) + width(b) <= 63
                ? detail::accept_gaussian<native128>(bits, y, t, a, b)
                : detail::accept_gaussian<uint512>(bits, uint512(y), uint512(t), uint512(numerator), uint512(b));
        if (accepted)
            return z;
    }
}

} // namespace dp::privacy
