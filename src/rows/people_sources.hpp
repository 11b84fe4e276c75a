// Sub-SELECTs with rows of units as sources of a question (formulas.md, 9.12): each is a question of its own, whose keys are its columns, and
// stands in the internal statement as a sub-SELECT. Above it, it is a table of the domain.
#pragma once

#include "rows/groups.hpp"
#include "query/range.hpp"
#include "rows/question.hpp"

namespace dp::rows {

// Resolves the source of this number (rows/open_people), and leaves what is declared of what it reads in its settings.
void open_people(const catalog::Reading &reading, Question *question, int number, ParamListInfo parameters);

// Repeats the checks of its sources (rows/sources), and returns their tables.
const List *check_sources(const Question *people);

// Returns the numbers of the columns that tell its rows apart; among them 0 for a key that it does not show, or where
// nothing does.
List *key_of_people(const Source &source);
// Returns what a source is called in messages.
const char *name_of_source(const Question *question, const Source &source);
// Lists the tables that are read, each as often as it is: oid.
List *tables_of(const Question *question);

// Returns the source that is all that a question reads, if a person has one row of it; else null.
const Question *only_people(const Question *question);
// How many rows of a person the counts and sums of its sub-SELECTs stop at: the most, of them and of the question itself if it is one.
int rows_below(const Question *question);
// Tells whether a unit may have more rows than count: keys, and the rows of public tables, do not say that none has.
bool may_exceed_limit(const Question *question);
// Returns a sub-SELECT, at any depth, whose counts or sums of a person's rows may stop short of all of them; null: there is none.
const Question *stopped_below(const Question *question);

// Where a column of it lies (rows/aggregate_arguments), and its groups (rows/key_domains); false: they do not follow.
query::Range range_of_people(const Source &source, AttrNumber column);
bool groups_of_people(const Question *people, AttrNumber column, KeyDomain *domain);

// Makes the sub-SELECT (rows/people_statement): its columns, and behind them those of the unit.
Query *select_people(const Question *people);
// Refuses a column of it that is no whole key, of which a unit may have several values, and a key that has no one spelling (0A000).
void check_columns(const Question *people);

} // namespace dp::rows
