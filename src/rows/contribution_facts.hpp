// What a question tells the aggregate contribution, and how keys are written in its results (rows/contribution).
#pragma once

#include "privacy/lattice.hpp"
#include "privacy/mechanism.hpp"

#include "border/postgres.hpp"
#include "rows/canonical.hpp"
#include "rows/contribution_state.hpp"

namespace dp::rows {

constexpr int64 largest_contribution = int64{1} << 26; // bytes that the states of one unit take

// The facts as bytes: a header, then the measures. All of it are words of 64 bits, in network order.
struct ContributionHeader {
    int64 units, keys, measures;
    int64 limit; // groups that are kept
    uint64 seed; // of the domain
};

struct MeasureWords {
    int64 kind;   // privacy::MeasureKind
    int64 once;   // a count of units
    int64 grain;  // of a count
    int64 values; // a count of different values: so many are kept; else 0
    privacy::SumLattice sum;
    privacy::PairLattice pair;   // also of a triple, and of the first of two columns
    privacy::PairLattice second; // of the second one, x
};

static_assert(sizeof(ContributionHeader) == 5 * sizeof(uint64) && sizeof(MeasureWords) == 11 * sizeof(uint64),
              "words, and nothing between them");

// One of the values that a group keeps, in results and partial states; in front of those of a group how many they are.
struct PackedValue {
    uint64 hash;
    privacy::ValueDigest value;
};

// From the order of this machine to that of the network, or back.
inline void turn_words(char *bytes, Size size) {
    for (Size i = 0; i < size; i += sizeof(uint64)) {
        uint64 word;
        memcpy(&word, bytes + i, sizeof word);
        word = pg_hton64(word);
        memcpy(bytes + i, &word, sizeof word);
    }
}

inline bytea *make_bytes(Size size) {
    auto *bytes = static_cast<bytea *>(palloc(VARHDRSZ + size));
    SET_VARSIZE(bytes, VARHDRSZ + size);
    return bytes;
}

// Returns what comes behind them.
inline char *put_bytes(char *at, const void *bytes, Size size) {
    memcpy(at, bytes, size);
    return at + size;
}

// A key's bytes: of each of its columns whether it is there, and the value; in front of one of variable length its length.
struct KeySite {
    int16 length; // as in pg_type
    bool by_value;
};

inline Size key_size(const KeySite &key) {
    return 1 + (key.length > 0 ? key.length : sizeof(uint16) + longest_key);
}

// Bytes of one group, at most.
inline int64 largest_entry(Size keys, int ncoordinates) {
    return static_cast<int64>(sizeof(uint64) + sizeof(GroupEntry) + keys + sizeof(privacy::int128) * ncoordinates);
}

} // namespace dp::rows
