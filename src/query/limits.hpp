// How large a query on a restricted view may be (architecture.md, 5). The limits are looked at before anything else is done
// with a query, so that its size costs nobody but whoever wrote it. All errors are 54000 and name the limit.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

constexpr int max_outputs = 1000;   // group keys and distinct aggregates of a leaf: columns of its internal statement
constexpr int max_text = 64 * 1024; // bytes of a query that is read from a text: a leaf's, or an argument
constexpr int max_leaves = 1000;    // of one statement: each is a charge
constexpr int max_leaf_arguments = 80; // parameters of a leaf; a function has at most FUNC_MAX_ARGS

constexpr int max_referenced = 8 * 1024 * 1024; // bytes of parameters, at each place that names one

constexpr int max_columns = 1600; // of any internal statement; a record of PostgreSQL has at most 1664

constexpr int max_compared = 100; // equalities of EXISTS as a value

constexpr int max_people = 32; // sub-SELECTs with rows of units, at all depths of a leaf, each as often as it is named
constexpr int max_windows = 16; // over the rows of a unit, likewise: the rows are sorted for each, and may all be kept
constexpr int max_depth = 64;  // queries, one below the other, down to a restricted view

constexpr int max_public_columns = 100; // of variable length: up to a megabyte each is carried by a joined row

void check_text(const char *text);
void check_columns(int columns);
void check_sums(int columns); // of a leaf's internal statement, by what its aggregates are computed from
void check_outputs(int outputs);
void check_unit_columns(
    int columns);                 // aggregates and what is carried, distinct, below a leaf over one row for each unit
void check_sources(int sources);  // of a leaf
void check_people(int people);
// Checks how many a leaf has, and how many windows, before it is copied and read.
void check_people(Query *leaf);
void check_depth(int depth);
void check_compared(int columns); // of EXISTS as a value, by which its rows are found
void check_carried(int columns);  // of its sources, that it names, and keys that are computed
void check_public_columns(int columns); // of them those that may be long
void check_leaves(int leaves);
void check_leaf_arguments(int arguments);
// A leaf of so many parts that its text would be too long, told before the text is made.
void check_parts(Query *leaf);
// The values of parameters at all places that name them.
void check_references(Query *leaf, ParamListInfo parameters);
// Counts the parts of a node before it is copied so many times, and adds them to `parts`, those of the copies before.
void check_copies(Node *node, int copies, int *parts);

} // namespace dp::query
