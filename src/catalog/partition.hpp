// The declared partition of a domain's units into cells, each with the totals for itself (formulas.md, 5.9).
//
// Cells have numbers. That before the first holds whatever belongs to no other: other values, earlier days, NULL. Periods are numbered as
// by privacy::place_of; the last one that has begun is the clock's.
#pragma once

#include "catalog/json_text.hpp"
#include "catalog/access.hpp"
#include "privacy/period.hpp"

namespace dp::catalog {

constexpr int most_cells = 10000; // that may be declared
constexpr int most_ranges = 100;  // of cells that one question touches

struct Partition {
    int version;        // of the domain's declarations, from 1 on
    int base;           // that since which its list has only grown
    bool declared;      // false: it was taken away
    bool fresh;         // cells to come begin with nothing
    Oid relation;
    const char *column, *type;                 // by names
    int place;                                 // of the column among those that name a unit, from 1 on; 0: it is none of them
    std::optional<privacy::PeriodKind> period; // of a date or a timestamp; else
    int64 width;                               // of an integer; 0: cells are values
    int64 first, last;                         // cells; of periods there is no last
    ArrayType *values;                         // text[]: of the cells from first on
    int64 others() const { return first - 1; } // the cell of everything else
};

// Reads the partition of a domain and appends the version of its row. Null: none was ever declared.
const Partition *read_partition(const Reading &reading, Datum domain, StringInfo versions);

// Holds which cells a question touches: what is read, and what is charged.
struct Touched {
    int32 partition; // its version; 0: nobody said, so all cells, and those to come
    int64 others;    // the first cell
    int64 begun;     // the last one, by the clock of the question
    int32 n;         // ranges, ascending, with gaps between them
    int64 first[most_ranges], last[most_ranges];
    bool shown; // the view has the column; it does not travel
    bool is_all() const { return n == 1 && first[0] == others && last[0] == begun; }
};
template <class V> void fields(V &visit, Touched &touched) {
    visit(touched.partition, touched.others, touched.begun, touched.n);
    for (int i = 0; i < touched.n && i < most_ranges; i++)
        visit(touched.first[i], touched.last[i]);
}

// Holds the touched cells that have nothing left for a charge, at most three ranges of them.
struct DeniedCells {
    static constexpr int most = 3;
    int n;
    bool more; // there are others
    int64 first[most], last[most];
};

// Returns the last cell that has begun on a day.
int64 last_cell(const Partition &partition, privacy::Day today);
// Returns the first value of a cell of periods or of integers, as a literal of the column's type.
const char *first_value(const Partition &partition, int64 cell);
// Returns a value of a list as a literal; null: the cell is that of NULL.
const char *listed_value(const Partition &partition, int64 cell);
// Names the cells of a range: "2025-03 .. 2025-05".
const char *name_of_cells(const Partition &partition, int64 first, int64 last);
// Names all cells that are touched, at most three ranges of them.
const char *name_of_touched(const Partition &partition, const Touched &touched);
// Says which cells have nothing left.
const char *text_of_denied(const Partition &partition, const DeniedCells &denied);
// Returns a condition that leaves them out of what is touched; null: there is no short one, or it would leave nothing.
const char *condition_without(const Partition &partition, const Touched &touched, const DeniedCells &denied);
// Returns the condition on a column of this name that only the touched cells meet; null: all rows meet it, or it is too long.
const char *condition_on(const Partition &partition, const Touched &touched, const char *name);
// Describes what is touched for the ledger.
void describe_cells(const JsonText &json, const Partition &partition, const Touched &touched);

} // namespace dp::catalog
