// Proves that the joins of a leaf keep the rows of different units apart (formulas.md, 9.7).
#pragma once

#include "query/links.hpp"

namespace dp::query {

// Holds the conclusions from the joins. Sources are numbered as they were passed.
struct Joined {
    int n;
    int64 max_rows; // R: the smallest product, as far as it is below 2^40
    bool keyed;     // it is 1, by keys alone
    int anchor;     // where the unit is looked for: on no nullable side; its columns hold the unit, if those of one do
    int several;    // the only one that a unit may have several rows of; -1: none, or several
    bool one_row
        [max_sources]; // of each unit one row at most, and that in all that is joined: its columns are one group. Also where
    // such rows lead to it by a key; and where an outer join adds it to all of a unit's rows or to none
    List *equalities; // Equality *
};

// njoined: how many of the sources, the first, stand in FROM. 0A000, with the columns to use, where a private source is not linked to the
// others (9.7), or a public one of a sub-SELECT is joined by no equality (9.9).
Joined *join_sources(const Linked *sources, int n, int njoined, const List *items, List *equalities);

} // namespace dp::query
