// count(DISTINCT x): which values of one unit are counted (formulas.md, 9.11). A value stands here as 128 bits of its canonical form.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dp::privacy {

struct ValueDigest {
    std::uint64_t words[2];
};

inline bool operator==(const ValueDigest &a, const ValueDigest &b) {
    return a.words[0] == b.words[0] && a.words[1] == b.words[1];
}

// A pair of a unit: a group (any number that tells it from others) and a value in it.
struct UnitValue {
    std::uint64_t hash;
    std::int64_t group;
    ValueDigest value;
};

// The order in which the pairs of a unit are kept: seeded with the group's hash (contribution.hpp), which holds domain and unit.
std::uint64_t value_hash(std::uint64_t group, const ValueDigest &value);

// The `limit` different pairs of smallest hash, ties by group and value, in that order, at the front; returns how many there are. In
// place. The same whatever the order of the pairs, and however often each is there: a pair that comes with several hashes (a group of
// several spellings) has the smallest of them.
std::size_t keep_values(UnitValue *pairs, std::size_t n, std::size_t limit);

} // namespace dp::privacy
