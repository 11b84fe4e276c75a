// Knows what a call of dp_rdr.cells, dp_rdr.point or dp_rdr.cell adds up, once its specification is read.
#pragma once

#include "privacy/joint_points.hpp"
#include "privacy/quantile.hpp"
#include "privacy/sparse_vector.hpp"

#include "rows/cell_spec.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

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
    privacy::int128 *sums; // room for those of one row
    PGFunction step;       // the transition function of states without keys
};

} // namespace dp::rows
