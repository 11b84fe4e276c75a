// Looks up values in public tables before a charge. They decide what is asked, and are nobody's secret.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// How many rows agree in these columns, at most; in none, how many there are; 0 for a table without rows. Rows with a long value count as none: they are joined with
// nothing (short_key_condition). So do those with NULL, but with_null: then they agree as in a group. As the reader of the source (query/leaf), else as the current
// role, which needs SELECT on the columns; under the snapshot of `reading`, which may be null for rows that the statement passes. The caller
// has locked the table and checked it (catalog/public_table).
int64 largest_multiplicity(const catalog::Reading *reading, const query::Source &source, int ncolumns,
                           const AttrNumber *columns, bool with_null);

// The distinct values of a column; of a nullable source NULL, also where no row has it. False: there are more than `most`, or the type
// has no order.
bool public_domain(const catalog::Reading &reading, const query::Source &source, AttrNumber column, int most,
                   KeyDomain *domain);

// Between the least and the greatest value of a column, of all types that bounds are declared of; null: it has none, or one is no bound
// (NaN, infinite, from 1e250 on). Later rows may have others: values are clamped, as to declared bounds.
const privacy::Bounds *public_bounds(const catalog::Reading &reading, const query::Source &source, AttrNumber column);

// Keys that are several columns of one public table have the tuples of its rows, and on the nullable side of a join NULL in all of them.
// By source: a table under two names has the tuples of each. Sets ngroups and places of a question whose other keys are declared: all
// tuples, with all groups of the other keys. False: one of the tables has more tuples than an answer groups, or there are more than
// most_tuples of all of them.
constexpr int most_tuples = 1024 * 1024;      // before WHERE leaves some of them out
constexpr int64 most_places = int64{1} << 62; // of the product of the domains
bool has_public_tuples(const Question *question);
// derived: KeyTuples *, of other keys.
bool find_tuples(const catalog::Reading &reading, Question *question, List *derived);

// In the product of all domains, or what some of its keys add to them.
struct Places {
    int64 *at; // null: too many
    int64 n;
};
struct KeyTuples {
    List *keys; // numbers
    Places places;
};
Places no_places(int64 room);
// Per key, how far a place is from that of its next value.
const int64 *strides_of(const Question *question);
// Returns what the values of these keys add to a place; -1: one is in no domain.
int64 place_of_values(const Question *question, const int64 *strides, const List *keys, const Datum *values,
                      const bool *nulls);
void sort_places(Places *places); // and leaves repetitions out

// Question::looked_up: of groups, bounds and limits. What was charged with some of them is not drawn with others.
uint64 hash_of_looked_up(const Question *question);

} // namespace dp::rows
