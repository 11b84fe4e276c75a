#include "privacy/contribution.hpp"

#include <algorithm>
#include <cstring>

#include "privacy/exact.hpp"
#include "privacy/lattice.hpp"

namespace dp::privacy {

namespace {

uint128 magnitude(int128 v) {
    return v < 0 ? -static_cast<uint128>(v) : static_cast<uint128>(v);
}

int128 with_sign_of(int128 v, uint128 size) {
    return v < 0 ? -static_cast<int128>(size) : static_cast<int128>(size);
}

// floor(v D / n), where v <= n.
uint128 share_of(uint128 v, std::uint64_t d, uint128 n) {
    uint128 product = 0;
    if (!__builtin_mul_overflow(v, uint128{d}, &product))
        return product / n;
    const exact::cpp_int share = exact::integer(v) * d / exact::integer(n);
    return share.convert_to<unsigned __int128>();
}

// Sums so large that not even their norm has 128 bits, which no table has: the same in numbers of any size.
void clip_any(int128 *values, std::size_t groups, std::size_t stride, std::size_t coordinates, std::uint64_t d) {
    exact::cpp_int n = 0;
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t c = 0; c < coordinates; ++c)
            n += exact::integer(magnitude(values[g * stride + c]));
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t c = 0; c < coordinates; ++c) {
            int128 &v = values[g * stride + c];
            const exact::cpp_int share = exact::integer(magnitude(v)) * d / n;
            v = with_sign_of(v, share.convert_to<unsigned __int128>());
        }
}

std::uint64_t at_most(uint128 sensitivity) {
    return static_cast<std::uint64_t>(std::max<uint128>(1, std::min<uint128>(sensitivity, largest_sensitivity)));
}

} // namespace

void clip(int128 *values, std::size_t groups, std::size_t stride, std::size_t coordinates, std::uint64_t sensitivity) {
    uint128 n = 0;
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t c = 0; c < coordinates; ++c)
            if (__builtin_add_overflow(n, magnitude(values[g * stride + c]), &n))
                return clip_any(values, groups, stride, coordinates, sensitivity);
    if (n <= sensitivity)
        return;
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t c = 0; c < coordinates; ++c) {
            int128 &v = values[g * stride + c];
            v = with_sign_of(v, share_of(magnitude(v), sensitivity, n));
        }
}

// Words of 64 bits one after the other, each step a bijection; then the bits are mixed, since the smallest are kept.
std::uint64_t group_hash(std::uint64_t seed, const unsigned char *bytes, std::size_t size) {
    const auto step = [](std::uint64_t hash, std::uint64_t word) {
        hash = (hash ^ word) * 0xd6e8feb86659fd93U;
        return hash ^ (hash >> 32);
    };
    std::uint64_t hash = step(step(0x9e3779b97f4a7c15U, seed), size);
    for (; size >= sizeof hash; bytes += sizeof hash, size -= sizeof hash) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes, sizeof word);
        hash = step(hash, word);
    }
    if (size > 0) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes, size);
        hash = step(hash, word);
    }
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
    return hash ^ (hash >> 31);
}

std::uint64_t count_sensitivity(int max_rows, std::uint64_t grain) {
    return at_most(static_cast<uint128>(max_rows) * grain);
}

std::uint64_t sum_sensitivity(int max_rows, std::uint64_t row_sensitivity) {
    return at_most(static_cast<uint128>(max_rows) * row_sensitivity);
}

std::uint64_t pair_sensitivity(int max_rows) {
    return at_most(static_cast<uint128>(max_rows) * static_cast<std::uint64_t>(pair_one));
}

std::uint64_t units_sensitivity(int max_groups, std::uint64_t grain) {
    return at_most(static_cast<uint128>(max_groups) * grain);
}

} // namespace dp::privacy
