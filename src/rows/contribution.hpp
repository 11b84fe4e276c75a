// What one unit brings to a leaf, as an aggregate of the internal statement:
//
//   dp_rdr.contribution(facts bytea, VARIADIC "any") -> bytea     GROUP BY the unit
//
// arguments behind the facts: where there are keys, or values are counted, the unit's columns (Units::values; they seed the order of
// both), then the keys, canonical, and where quantiles are asked for the cell of their argument, as one more key, then one for each
// measure (NULL where FILTER or value is absent; of count(*) and of a count of units any constant; of a count of different values
// their digest).
// State: entries (group, 128-bit sum per coordinate), at most kappa of smallest hash, ties by bytes: an evicted group never
// returns, since kappa smaller ones stay; partial states merge exactly. The same whatever the order of rows or the plan.
#pragma once

#include "privacy/distinct_values.hpp"

#include "rows/question.hpp"

namespace dp::rows {

// How many columns of the unit the aggregate takes behind the facts: all of them, or none where there are no keys.
int contribution_units(const Question *question);
// The public constant of a question: kappa, seed, measures with their lattices.
Datum contribution_facts(const Question *question);
// Most bytes of the states of one unit (public): above 2^16 units are sorted, not hashed.
int64 contribution_size(const Question *question);
// 54000 where it is above 2^26, or where there are more keys and measures than an aggregate takes.
void check_contribution_size(const Question *question);

// What one measure counts of a unit: different values, each with its group (the place in UnitContribution).
struct UnitValues {
    int coordinate; // of the measure
    int n;
    privacy::UnitValue *pairs;
};

// What a unit brought, by kept group: its number in the answer where groups are declared, its keys, a value for each
// coordinate.
struct CellOfGroup {
    int group, cell;
};
struct UnitContribution {
    int ngroups;
    int *groups; // ascending; null where groups are discovered
    Datum *keys; // ngroups x nkeys
    bool *nulls;
    privacy::int128 *values; // ngroups x ncoordinates; of quantiles and of counts of different values 0
    int ncounts;             // measures that count different values
    UnitValues *counts;
    // Of quantiles what it brought to each cell, by group and cell, ascending.
    int ncells, nquantiles;
    CellOfGroup *cells;
    privacy::int128 *cell_counts; // ncells x nquantiles
};

// What the aggregate returned, as it was added up, in the current context. Where groups are declared, what is in none of
// them is left out, and keys that mean the same group are one.
UnitContribution read_contribution(const Question *question, Datum bytes);
// Each measure's part over all groups to its D (privacy/contribution), different values to as many (privacy/distinct_values). In
// place; allocates nothing.
void clip_contribution(const Question *question, UnitContribution *unit);

} // namespace dp::rows
