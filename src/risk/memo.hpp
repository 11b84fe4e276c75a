// Describes what leave-one-out keeps of the people that it has read: rows, or units that may have several. For the controller alone: all of
// it depends on the private rows.
#pragma once

#include "privacy/printed_numbers.hpp"
#include "privacy/quantile_law.hpp"
#include "privacy/risk.hpp"

#include "border/spill.hpp"
#include "rows/question.hpp"

namespace dp::risk {

using native128 = __int128; // as a template takes it

// One distinct projected record and its multiplicity, or a unit.
struct Record {
    int64 individuals;
    double pis;
    int64 first_part;
    int nparts; // groups that it changes: of a row one, or none if nobody declared its key
    bool in_a, in_b;
};

// Says what a record brings to one group: its changes, and its cells of quantiles.
struct Part {
    int group, ncells;
    int64 first_cell;
};

// Holds the sums of one group, and how many rows are at or below each of its cells.
struct Group {
    const privacy::int128 *sums;
    const int64 *upto;
};

constexpr int most_group_keys = 50; // of so many groups the keys are kept

// Lists as long as the table may have rows are on disk beyond their share of work_mem (border/spill).
struct Memo {
    int64 rows;                    // n: people of the protected table
    int64 groups_present;          // groups of the query's result
    int64 smallest_group;          // fewest contributing rows of any group and average (0: none)
    int64 nrecords;                // 0 with Detail::profile where the profile needs no second look
    border::Spill<Record> records; // inside the WHERE, in no order; group by group where by_group
    Tuplestorestate *kept;         // if they are to be shown: their columns (desc), in the order of records
    int64 outside;                 // people outside the WHERE: PIS 0
    TupleDesc desc;                // of the columns, with their names
    const privacy::PisProfile *profile;

    // Where the sensitivities come from. Groups of the result: the declared ones (`sound`), else those present, in canonical
    // order.
    int ngroups;
    bool by_group;
    border::Spill<Part> parts;
    border::Spill<native128> changes; // per part, of each coordinate: what the answer loses with the record
    border::Spill<privacy::CellCount> cells; // of parts: counted among all cells of one group, ascending
    border::Spill<native128> sums;     // per group, of each coordinate
    border::Spill<int64> counts;   // by group ncells: rows of each cell, and then rows at or below; none without quantiles
    border::Spill<double> excess;  // of exact_risks

    // Keys of discovered groups, in the order of their numbers, where they are few and records are kept.
    Tuplestorestate *group_keys; // or null
    TupleDesc key_desc;

    // With people's groups: members among the records, and in the whole table.
    int64 members_a, members_b, members_both;
    const privacy::PisProfile *profile_a, *profile_b;
};

// Says what is kept of the records, which may be as many as the table has rows.
// range: the range and the variance of their PIS, and the groups' sums. profile: also each different PIS, for Gaussian noise.
// changes: also what each record contributes, and to which group. records: its columns as well, all that the query mentions, on disk beyond
// work_mem. everything: records, and each one's groups wherever a unit may have several.
enum class Detail { range, profile, changes, records, everything };

} // namespace dp::risk
