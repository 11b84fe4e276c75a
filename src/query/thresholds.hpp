// The ends of the buckets of width_bucket(x, array).
#pragma once

#include "privacy/interval.hpp"

#include "border/postgres.hpp"

namespace dp::query {

struct Thresholds {
    int n;
    privacy::Span *ends; // where each lies, as ranges count (query/range.hpp)
    bool ascending;      // each is above the one before it
};

// Reads a constant array that accepted::is_of_buckets() permits, with span_of_constant() of query/range.hpp; n = 0: it is none.
Thresholds thresholds_of(Node *array, privacy::Span (*span_of)(const Const *));

// Returns the buckets that values of a range fall into: 0 is below the first threshold, n from the last on.
privacy::Span span_of_places(const Thresholds &thresholds, const privacy::Span &values);

// Tells whether values that are at most `gap` apart fall into each bucket between two that have some. A gap of one unit of the last of
// `decimals` means that there is each such number.
bool has_each_place(const Thresholds &thresholds, double gap, int decimals);

} // namespace dp::query
