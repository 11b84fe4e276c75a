// Describes what leave-one-out keeps of the rows that it has read. For the controller alone: all of it depends on the private rows.
#pragma once

#include "privacy/risk.hpp"

#include "border/spill.hpp"
#include "risk/averages.hpp"

namespace dp::risk {

// One distinct projected record and its multiplicity.
struct Record {
    int64 individuals;
    double pis;
    int group; // -1: a key that nobody declared, the record changes nothing
    bool in_a, in_b;
};

// Holds what one record brings to one measure.
struct Contribution {
    bool there;   // contributes a row (passes FILTER, argument not NULL nor NaN)
    double value; // argument, clamped to the bounds
    int64 point;  // lattice point of a SUM; z1 of an AVG pair (8.6)
};

// Lists as long as the table may have rows are on disk beyond their share of work_mem (border/spill).
struct Memo {
    int64 rows;                    // n: rows of the protected table
    int64 groups_present;          // groups of the query's result
    int64 smallest_group;          // fewest contributing rows of any group and AVG argument (0: none)
    int64 nrecords;                // 0 with Detail::profile where the profile needs no second look
    border::Spill<Record> records; // inside the WHERE, in no order; group by group where by_group
    Tuplestorestate *kept;         // if they are to be shown: their columns (desc), in the order of records
    int64 outside;                 // rows outside the WHERE: PIS 0
    TupleDesc desc;                // of the projected columns, with their names
    const privacy::PisProfile *profile;

    // Where the sensitivities come from. Groups of the result: the declared ones (`sound`), else those present, in canonical
    // order.
    int ngroups;
    bool by_group;
    border::Spill<Contribution> contributions; // per record, of each measure
    border::Spill<privacy::GroupState> states; // per group, of each measure: what it adds up to
    border::Spill<double> excess;              // of exact_printed_risks
    const Averages *averages;                  // where the least error of one average is looked for (printed); or null

    // With people's groups: members among the records, and in the whole table.
    int64 members_a, members_b, members_both;
    const privacy::PisProfile *profile_a, *profile_b;
};

// Says what is kept of the records, which may be as many as the table has rows.
// range: the range and the variance of their PIS, and the groups' states. profile: also each different PIS, for Gaussian noise.
// changes: also what each record contributes. records: its columns as well, all that the query mentions, on disk beyond work_mem.
enum class Detail { range, profile, changes, records };

} // namespace dp::risk
