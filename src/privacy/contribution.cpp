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

// Replaces the magnitude of each number by its share.
template <class Share>
void scale(int128 *values, std::size_t groups, std::size_t stride, std::size_t coordinates, Share share) {
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t c = 0; c < coordinates; ++c) {
            int128 &v = values[g * stride + c];
            v = with_sign_of(v, share(magnitude(v)));
        }
}

// Sums so large that their norm, or its square, has more than 128 bits, which no table has: the same in numbers of any size.
void clip_any(Norm norm, int128 *values, std::size_t groups, std::size_t stride, std::size_t coordinates, std::uint64_t d) {
    exact::cpp_int n = 0, squares = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        exact::cpp_int of_group = 0;
        for (std::size_t c = 0; c < coordinates; ++c)
            of_group += exact::integer(magnitude(values[g * stride + c]));
        n += of_group;
        squares += of_group * of_group;
    }
    if (norm == Norm::groups) {
        if (squares <= exact::cpp_int(d) * d)
            return;
        n = sqrt(squares);
        n += n * n < squares ? 1 : 0;
    }
    scale(values, groups, stride, coordinates, [&](uint128 v) {
        return exact::cpp_int(exact::integer(v) * d / n).convert_to<unsigned __int128>();
    });
}

// The smallest r with r^2 >= x, bit by bit: no floating point has a part in what is proved of it.
uint128 root_up(uint128 x) {
    uint128 root = 0, rest = x;
    for (uint128 bit = uint128{1} << 126; bit != 0; bit >>= 2) {
        const uint128 next = root + bit;
        root >>= 1;
        if (rest >= next) {
            rest -= next;
            root += bit;
        }
    }
    return rest == 0 ? root : root + 1;
}

void scale_down(int128 *values, std::size_t groups, std::size_t stride, std::size_t coordinates, std::uint64_t d,
                uint128 n) {
    scale(values, groups, stride, coordinates, [&](uint128 v) { return share_of(v, d, n); });
}

void clip_groups(int128 *values, std::size_t groups, std::size_t stride, std::size_t coordinates, std::uint64_t d) {
    uint128 squares = 0;
    bool large = false;
    for (std::size_t g = 0; g < groups && !large; ++g) {
        uint128 of_group = 0, square = 0;
        for (std::size_t c = 0; c < coordinates; ++c)
            large |= __builtin_add_overflow(of_group, magnitude(values[g * stride + c]), &of_group);
        large |= __builtin_mul_overflow(of_group, of_group, &square);
        large |= __builtin_add_overflow(squares, square, &squares);
    }
    if (large)
        return clip_any(Norm::groups, values, groups, stride, coordinates, d);
    if (squares > uint128{d} * d)
        scale_down(values, groups, stride, coordinates, d, root_up(squares));
}

std::uint64_t at_most(uint128 sensitivity) {
    const std::uint64_t least = sensitivity < largest_sensitivity ? static_cast<std::uint64_t>(sensitivity) : largest_sensitivity;
    return std::max<std::uint64_t>(1, least);
}

} // namespace

void clip(Norm norm, int128 *values, std::size_t groups, std::size_t stride, std::size_t coordinates,
          std::uint64_t sensitivity) {
    if (norm == Norm::groups)
        return clip_groups(values, groups, stride, coordinates, sensitivity);
    uint128 n = 0;
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t c = 0; c < coordinates; ++c)
            if (__builtin_add_overflow(n, magnitude(values[g * stride + c]), &n))
                return clip_any(norm, values, groups, stride, coordinates, sensitivity);
    if (n > sensitivity)
        scale_down(values, groups, stride, coordinates, sensitivity, n);
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

// R C is at most 2^40 (catalog::max_declared_rows): up to 2^43 of a row the square has 126 bits; beyond, the root of R C alone is
// rounded up, which is no less.
std::uint64_t spread_sensitivity(int max_rows, int max_rows_per_group, std::uint64_t row_sensitivity) {
    const uint128 rows = static_cast<uint128>(max_rows) * static_cast<uint128>(max_rows_per_group);
    if (row_sensitivity <= std::uint64_t{1} << 43)
        return at_most(root_up(rows * row_sensitivity * row_sensitivity));
    return at_most(root_up(rows) * row_sensitivity);
}

// Below 2^50 2^20 2^50.
std::uint64_t spread_of_total(std::uint64_t total, int max_rows_per_group, std::uint64_t row_sensitivity) {
    const uint128 square =
        static_cast<uint128>(total) * static_cast<uint128>(max_rows_per_group) * static_cast<uint128>(row_sensitivity);
    return std::min(total, at_most(root_up(square)));
}

} // namespace dp::privacy
