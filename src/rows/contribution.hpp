// What one unit brings to a leaf, as an aggregate of the internal statement:
//
//   dp_rdr.contribution(facts bytea, VARIADIC "any") -> bytea     GROUP BY the unit
//
// arguments behind the facts: the group keys, canonical, then one for each measure (NULL where FILTER or value is absent).
// State: entries (group, 128-bit sum per coordinate), at most kappa of smallest hash, ties by bytes: an evicted group never
// returns, since kappa smaller ones stay; partial states merge exactly. The same whatever the order of rows or the plan.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// The public constant of a question: types of keys, kappa, seed, measures with their lattices.
Datum contribution_facts(const Question *question);
// Most bytes of the states of one unit (public): above 2^26 the leaf is refused, above 2^16 units are sorted, not hashed.
int64 contribution_size(const Question *question);

// Of one unit, decoded and clipped: by kept group its keys and a value for each coordinate.
struct UnitContribution {
    int ngroups;
    Datum *keys; // ngroups x nkeys
    bool *nulls;
    privacy::int128 *values; // ngroups x ncoordinates
};

// What the aggregate returned, as it was added up, in the current context.
UnitContribution read_contribution(const Question *question, Datum bytes);
// Each measure's part over all groups to its D (privacy/contribution).
void clip_contribution(const Question *question, UnitContribution *unit);

} // namespace dp::rows
