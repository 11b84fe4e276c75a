// Tells dp_rdr.cells and dp_rdr.cell what to add up, and how keys are written in their results.
//
// A specification is a header, a record for each measure, and one for each candidate of a selection of epsilon. It consists of
// words of 64 bits in network order, since other nodes may read it.
#pragma once

#include "privacy/joint_points.hpp"
#include "privacy/lattice.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/quantile.hpp"
#include "privacy/sparse_vector.hpp"

#include "border/postgres.hpp"
#include "rows/canonical.hpp"
#include "rows/contribution_state.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

constexpr int64 largest_contribution = int64{1} << 26; // bytes that the states of one unit take
constexpr int most_candidates = 64;                    // of one call

struct SpecHeader {
    int64 units = 0, keys = 0, measures = 0; // arguments, in this order
    int64 candidates = 0;                    // 0: the measures are added up, else the points of a selection over them
    int64 gaussian = 0;                      // of a selection
    int64 limit = 1;                         // groups of a unit that are kept
    uint64 seed = 0;                         // of the domain
    int64 cell = 0;                          // the last key is a cell: groups are chosen without it
};

struct MeasureWords {
    int64 kind;         // privacy::MeasureKind
    int64 once;         // a count of units
    int64 grain;        // of a count
    int64 values;       // a count of different values: so many are kept; else 0
    double sensitivity; // in lattice units; a selection reads it
    uint64 lattice[7];  // privacy::SumLattice, PairLattice, JointLattice, or GridWords
};

// Holds a privacy::Grid as words.
struct GridWords {
    int64 of_points, cells, first, last;
    double scale, low, high;
};

struct CandidateWords {
    double noise_term;
    int64 least;
};

static_assert(sizeof(SpecHeader) == 8 * sizeof(uint64) && sizeof(MeasureWords) == 12 * sizeof(uint64) &&
                  sizeof(GridWords) == 7 * sizeof(uint64) && sizeof(CandidateWords) == 2 * sizeof(uint64),
              "words, and nothing between them");

// Turns words from the order of this machine to that of the network, or back.
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

// Returns the place behind the copy.
inline char *put_bytes(char *at, const void *bytes, Size size) {
    memcpy(at, bytes, size);
    return at + size;
}

// Says how a key is written: for each column whether it is there, and the value; a value of variable length behind its length.
struct KeySite {
    int16 length; // as in pg_type
    bool by_value;
};

inline Size key_size(const KeySite &key) {
    return 1 + (key.length > 0 ? key.length : sizeof(uint16) + longest_key);
}

constexpr KeySite cell_key = {sizeof(int32), true}; // of a quantile, the last one

// Returns the bytes of one group, at most.
inline int64 largest_entry(Size keys, int ncoordinates) {
    return static_cast<int64>(sizeof(uint64) + sizeof(GroupEntry) + keys + sizeof(privacy::int128) * ncoordinates);
}

// ---- once it is read -------------------------------------------------------------------------------------------------

// Knows one measure of a call. Once per row: add() adds what a value brings to the measure's coordinates, and says whether it brings
// anything.
struct MeasureSite {
    MeasureWords words;
    ValueKind kind;
    int first; // of its coordinates
    privacy::SumLattice sum;
    privacy::JointLattice pair; // of one column its first part
    privacy::Grid grid;
    bool (*add)(const MeasureSite &site, Datum value, privacy::int128 *sums);
    PGFunction step; // the transition function of a call that has no other measure
};

// Knows all of a call before its first row.
struct CellSite {
    CellShape *shape;
    int first_unit, first_key, first_measure; // arguments
    int nkeys, nmeasures;
    uint64 seed;
    FmgrInfo *hash_units; // extended hash functions, by unit column
    KeySite *keys;
    char *key; // room for the longest one
    MeasureSite *measures;
    bool keeps_values; // of some measure
    int ncandidates; // of a selection
    privacy::SvtCandidate *candidates;
    PGFunction step; // the transition function of states without keys
};

// Reads the specification, once for each call, into fn_extra. first: the first argument behind it. Anybody may call the functions on
// rows of his own: whatever he gives, sums have 128 bits, and no state is larger than that of a question may be. Errors: 22023,
// 0A000 for values that are no numbers.
CellSite *read_site(FunctionCallInfo fcinfo, int spec, int first);
[[noreturn]] void refuse_spec();

} // namespace dp::rows
