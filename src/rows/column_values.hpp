// All values that a column has by what is declared of it, or moments of it that show all that a key makes of them (formulas.md, 8.11).
#pragma once

#include "rows/aggregate_arguments.hpp"

namespace dp::rows {

constexpr int64 most_tried = 40000; // combinations of values of columns: the days of a century are fewer

// Values, with repetitions.
struct Values {
    Oid type;
    int n, room;
    Datum *values;
    bool *nulls;
    bool too_many;
    bool stand_in; // moments that stand for others, of which a condition may say something else
};
Values no_values(Oid type);
void add_value(Values *values, Datum value, bool isnull);

// Adds the multiples of a step within a range. False: it has other values than whole numbers, no ends, or too many.
bool add_whole_numbers(const privacy::Span &span, Oid type, Values *values, double step = 1);
// Reads what is declared of a column: groups, or bounds of whole numbers, or of moments of which the key needs these. NULL is among them
// where it may be. False: nothing, or too much.
bool column_values(ColumnRanges *columns, Node *key, Var *column, Values *values);
// Tells a date, or a moment.
bool has_calendar(Oid type);

// Tells buckets, and fields of dates: whole numbers between bounds that are known without the column's.
bool is_numbered(Node *node);
// Adds the values that the expression gives whatever its columns hold between their bounds. The caller adds NULL where it can be. False:
// too many, or nobody knows.
bool add_by_form(Node *node, ColumnRanges *columns, Values *values);

} // namespace dp::rows
