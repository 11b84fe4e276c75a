// Says what one unit brings to a leaf, as the aggregate dp_rdr.cells adds it up in the internal statement GROUP BY the unit.
//
// Where there are keys, or values are counted, the unit's columns are among its arguments (Units::values; they seed the order of
// both), then the keys, canonical, and where quantiles are asked for the cell of their argument, as one more key. Of a count of
// different values the argument is their digest.
#pragma once

#include "privacy/distinct_values.hpp"

#include "rows/question.hpp"

namespace dp::rows {

// How many columns of the unit the aggregate takes behind the facts: all of them, or none where there are no keys.
int contribution_units(const Question *question);
// Whether what a unit brings is a list of groups; else it is one vector.
bool has_entries(const Question *question);
// Whether keys of rows may look different in one declared group ('1 month' and '30 days').
bool has_spellings(const Question *question);
// Makes the specification of what a unit brings.
Node *contribution_spec(const Question *question);
// Most bytes of the states of one unit (public): above 2^11 units are sorted, not hashed.
int64 contribution_size(const Question *question);
// 54000 where it is above 2^26, or where there are more keys and measures than an aggregate takes.
void check_contribution_size(const Question *question);

// Lists the different values that one measure counts of a unit, each with its group (the place in UnitContribution).
struct UnitValues {
    int coordinate; // of the measure
    int n;
    privacy::UnitValue *pairs;
};

// Holds what a unit brought, by kept group: its number in the answer where groups are declared, its keys, a value for each
// coordinate.
struct CellOfGroup {
    int group, cell;
};
struct UnitContribution {
    int ngroups;
    int *groups; // ascending; of discovered ones nobody reads them
    Datum *keys; // ngroups x nkeys
    bool *nulls;
    privacy::int128 *values; // ngroups x ncoordinates; of quantiles and of counts of different values 0
    int ncounts;             // measures that count different values
    UnitValues *counts;
    // Counts of quantiles by group and cell, ascending.
    int ncells, nquantiles;
    CellOfGroup *cells;
    privacy::int128 *cell_counts; // ncells x nquantiles
};

// Reads what the aggregate returned, as it was added up, into the current context. Where groups are declared, what is in none of
// them is left out, and keys that mean the same group are one.
UnitContribution read_contribution(const Question *question, Datum bytes);
// Each measure's part over all groups to its D (privacy/contribution), different values to as many (privacy/distinct_values). In
// place; allocates nothing.
void clip_contribution(const Question *question, UnitContribution *unit);

} // namespace dp::rows
