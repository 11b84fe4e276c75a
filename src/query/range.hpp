// Where the values of an expression over columns lie (formulas.md, 8.8), from the expression and from declarations alone: bounds of
// its columns, their types, constants. Dates count in days, timestamps in microseconds, both from 2000-01-01; booleans are 0 and 1.
#pragma once

#include "privacy/interval.hpp"

#include "border/postgres.hpp"

namespace dp::query {

struct Range {
    privacy::Span
        span; // of the values that are there; of other types than numbers, dates, timestamps and booleans unbounded
    bool nullable; // some value may be NULL
};

// Returns the declared range of a column.
using ColumnRange = Range (*)(const Var *column, void *context);

// Narrows the range of an expression, or of a part of one, by what else is known of it.
using NarrowRange = void (*)(Node *expression, Range *range, void *context);

// Returns the range of an expression whose constants are folded, and which was checked by query/condition. Never an error: values
// that it does not know are not bounded.
Range range_of(Node *expression, ColumnRange of_column, void *context, NarrowRange narrow = nullptr);

// Returns where a value that is not NULL lies.
privacy::Span span_of_constant(const Const *constant);
// Returns the span that follows from a type, without a declaration.
privacy::Span span_of_type(Oid type);
// Decimals that its values have at most; -1: nobody knows.
int decimals_of_type(Oid type, int32 typmod);

// Tells whether some column in an expression may be NaN: no upper bound keeps it out.
bool gives_nan(Node *expression, ColumnRange of_column, void *context, NarrowRange narrow = nullptr);

} // namespace dp::query
