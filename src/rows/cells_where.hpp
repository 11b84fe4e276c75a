// Which cells of a partition a condition may be true or false in (formulas.md, 5.9).
#pragma once

#include "rows/compared.hpp"

namespace dp::rows {

// Holds the cells as members of sets, from 0 (everything else) on. Of numbers, everything else lies on two sides, and is two members: 0 is
// what lies before the first cell, with NULL, and n what lies behind the last one.
struct Cells {
    const catalog::Partition *partition;
    Var *column;
    List *same; // Var *: columns that hold the same value in every joined row
    int n;
    Datum *values; // of a list, from its first cell on; null until somebody asks for them
    bool *nulls;
    double spent; // on evaluating atoms
    int last() const { return partition->width > 0 ? n : n - 1; }
    Bitmapset *all() const { return bms_add_range(nullptr, 0, last()); }
};

// Returns the cells with a value of which the condition may be true, or false. It is never too few.
Bitmapset *cells_where(Cells *cells, Node *condition, bool truth);
// Returns those in which all of the conditions may be true.
Bitmapset *cells_where_all(Cells *cells, const List *conditions);
// Returns those in which a comparison of a rising expression (rows/rising) may be true, or false.
Bitmapset *cells_of_rising(const Cells &cells, const Comparison &comparison, bool truth);
// Puts the column in the place of each that has the same value. context: Cells.
Node *as_column(Node *node, void *context);
// Reads the values of a list.
void read_values(Cells *cells);

} // namespace dp::rows
