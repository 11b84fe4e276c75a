// GROUPING SETS, ROLLUP and CUBE: several grouped answers, one leaf for each set, shown one below the other. A sum over all rows is
// then as sharp as a cell of the finest, and costs as much as a question of its own (formulas.md, 4.6).
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

constexpr int max_grouping_sets = 64; // of one GROUP BY: each is a charge, and reads the rows

// Where each key of GROUP BY stands among the different ones. Found once: many sets name many keys, and comparing expressions for
// each of them anew would take their product.
struct KeyPlaces {
    int *places; // by tleSortGroupRef, counted from 1; 0: no key
    Index last;

    static KeyPlaces none(const Query *query);
    int of(Index reference) const { return reference <= last ? places[reference] : 0; }
};

// The sets of a level, Bitmapset * of places in its keys, there counted from 0; of a plain GROUP BY that of all of them.
// 54000: more than max_grouping_sets. 0A000: the same set twice, which would be charged twice.
List *grouping_sets(const Query *query, const KeyPlaces &places, int keys, ParseState *source);

// A level with grouping sets, as it was written: what stands for a key in its targets and HAVING becomes a mark, but for targets that are
// keys and what is aggregated. When columns of sub-SELECTs are folded, something else may become equal to a key; it has a value where
// the key is NULL.
void mark_keys(Query *query);
// The tleSortGroupRef of the key that a mark stands for; 0: the node is no mark.
Index reference_of_mark(Node *node);
// The mark of a target that is a key.
Node *mark_of_key(const TargetEntry *target);

// Holds the columns of an answer: keys, aggregates, and GROUPING(), each Node *.
struct SetColumns {
    const List *keys;
    const List *aggregates;
    const List *groupings;
    const List *names; // String *: of all of them
    KeyPlaces places;
};

// SELECT of all columns from the release of one set: keys that it does not group by are NULL. release: keys of the set, then the
// aggregates; null: one row.
Query *answer_of_set(RangeTblEntry *release, const Bitmapset *set, const SetColumns &columns);

// The answers below each other, as an item of FROM.
RangeTblEntry *all_answers(const List *answers);

} // namespace dp::query
