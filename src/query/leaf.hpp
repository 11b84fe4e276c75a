// A leaf: the part of a statement that reads private rows, one filtered and grouped aggregation over one facade or a join of
// several, as plain data (architecture.md, 1 and 3.2). Backend region: lives in a memory context.
#pragma once

#include "privacy/mechanism.hpp"

#include "border/postgres.hpp"

namespace dp::query {

// ---- what it is read from ----

// Limits the sources of a leaf. Joins and tests of EXISTS are at most seven more entries of its range table.
constexpr int max_sources = 8;

struct Leaf;

// One item of FROM: a facade, a public table, or a sub-SELECT with rows of units. Columns of it are Vars with this varno, all of level 0;
// the internal statement has what is behind it at the same place.
struct Source {
    Oid relation;   // the restricted view; of a public source the table
    int varno;      // in the range table of Leaf::query
    bool is_public; // its rows are nobody's: no unit, no policy, no bounds
    bool nullable;  // on the nullable side of an outer join: all of its columns may be NULL together
    bool tested;    // only sub-SELECTs read it: it is in no item of FROM, and stands behind those that are
    Oid reader;     // of a public source: whose rights read it before the charge; InvalidOid: those of whoever asks
    const RangeTblEntry *rows; // public ones that the statement passes (query/passed_rows); null: those of `relation`
    Leaf *people;   // the sub-SELECT, whose columns are its keys (query/per_unit); null: a relation. It has none
};

// A column of a leaf's sources as one number: that of its table where it is of the first entry, as in every leaf over one facade.
// 0: no column.
constexpr int columns_of_source = 2048; // more than a table has

inline AttrNumber column_number(int varno, AttrNumber attno) {
    return static_cast<AttrNumber>((varno - 1) * columns_of_source + attno);
}
inline AttrNumber column_number(const Var *column) {
    return column_number(column->varno, column->varattno);
}
inline int varno_of(AttrNumber column) {
    return column / columns_of_source + 1;
}
inline AttrNumber attno_of(AttrNumber column) {
    return static_cast<AttrNumber>(column % columns_of_source);
}
static_assert((2 * max_sources - 1) * columns_of_source <= 32767, "the columns of all sources are numbered");

// ---- its parts ----

// A group key: an expression over the sources.
struct Key {
    Node *expression; // as parsed
    AttrNumber attno; // column_number of a facade's column, if the key is one; its groups may be declared. Otherwise 0
    Oid type;
    int32 typmod;
    Oid collation;
    SortGroupClause *clause; // its grouping operators, as the parser chose them
};

struct Aggregate {
    privacy::Aggregate fn;
    Var *column;     // the argument, if it is a column; null for count(*) and expressions
    int argument;    // into Leaf::arguments, or -1
    int filter;      // index into Leaf::filters, or -1
    Node *fraction;  // of a percentile, as parsed; else null
    bool descending; // a percentile of values in descending order
    Oid result_type;
    Aggref *node; // as parsed
};

// Tells the part of an aggregate that a column shows: the number, or an end of its interval (dp_low, dp_high).
enum class Part { value, low, high };

// One column of the leaf's result.
struct Output {
    bool is_key;
    int index; // into keys or aggregates
    const char *name;
    Part part;
};

// Returns a number that tells the argument of one aggregate from that of another (privacy::AggregateCall); -1: rows are counted.
inline int argument_number(const Aggregate &aggregate) {
    constexpr int behind_columns = 65536;
    return aggregate.column != nullptr ? column_number(aggregate.column)
           : aggregate.argument >= 0   ? behind_columns + aggregate.argument
                                       : -1;
}

// How much of one unit is wanted, where a unit may have several rows (query/asked_limits); 0: what is declared.
struct Limits {
    int max_rows, max_groups, max_rows_per_group;
    bool by_setting; // nobody wrote them: a table where a row is a unit has none
};

// EXISTS (SELECT FROM source WHERE condition): a conjunct of WHERE, or a test, a value that stands in expressions as a boolean column
// of an entry of its own (query/exists).
struct SemiJoin {
    int source;       // into the sources: the first that it reads
    int nsources;     // others follow it
    Node *condition;  // over all sources
    bool negated;     // of a conjunct
    Node *unless;     // the conjunct holds where this does as well; or null
    int test;         // that entry; 0: it is a conjunct
    SubLink *written; // a test, over the views
    List *present;    // Node *: of these none may be NULL, or the test might be
};

// A sub-SELECT with rows of units (query/per_unit) aggregates these columns: a varno that no entry of a range table has.
constexpr int unit_varno = 2 * max_sources;

// A window of a level that keeps its rows (query/windows). Its partition holds the unit's columns.
struct Window {
    List *partition; // Node *: over the sources, what it holds beside these; distinct
    List *order;     // Node *: likewise, by which its rows are numbered; NIL for functions that see the whole partition
    List *clauses;   // SortGroupClause *: of each of them, how
    bool numbered;   // a function depends on the order, which ends with all columns that the level reads
};

// Tells a sub-SELECT that groups by the unit, and one that keeps rows and has windows over them, from the parts of UNION ALL: one that shows
// rows as they are, and all of them below each other, which are its sources. Its columns are those of the first.
enum class PeopleForm : uint8 { grouped, windows, rows, branches };

struct PerUnit {
    PeopleForm form;
    List *columns; // Aggref *, or WindowFunc * whose winref is the place of its window: over the sources; distinct
    List *windows; // Window *: of the form of this name; else NIL
    List *keys;    // Node *: over the sources, what it is grouped by beside the unit's columns
    List *carried; // Var *: columns of the sources that stand above it as they are; distinct
    Node *where;   // which units there are: over these, or null
    List *unit;    // int: of a source, the numbers of its columns that are the unit's; what it does not show comes behind its keys
    int hidden;    // how many these are, where it groups by none of them but by a step to the unit; else 0
};

// Whether columns of it are computed from rows of the unit, not only shown.
inline bool computes_columns(const PerUnit *rows) {
    return rows->form == PeopleForm::grouped || rows->form == PeopleForm::windows;
}

struct Leaf {
    Oid view;           // of the first source that is private
    const Query *query; // as parsed; its permission check is that of the facades, with the columns that it selects
    int nsources;
    Source sources[max_sources]; // as they stand in FROM, from left to right; then those of sub-SELECTs
    int njoined;                 // sources of FROM
    // Holds the joined items (query/join): RangeTblRef and LEFT JoinExpr *, below which inner ones stand on nullable sides alone; all other
    // conditions of inner joins are in `where`. One source: its RangeTblRef.
    List *from;
    int nkeys;
    Key *keys;
    int naggregates;
    Aggregate *aggregates; // distinct
    List *arguments;       // Node *: what is summed or averaged and is no column, distinct, as parsed
    List *filters;         // Node *: FILTER conditions, distinct
    Node *where;           // or null; Vars are of level 0, attribute numbers of the facades
    List *semi_joins;      // SemiJoin *: what stands beside it, and tests (query/exists)
    int noutputs;
    Output *outputs;
    PerUnit *per_unit; // of a sub-SELECT with rows of units: keys and its `where` are over Vars of unit_varno, and what it carries; or null
    List *counted; // List * of int: the columns (column_number) of each count(DISTINCT ..); NIL: none is asked for
    Limits limits; // of whoever asks
};

// The source of a column.
inline const Source *source_of(const Leaf *leaf, int varno) {
    for (int i = 0; i < leaf->nsources; i++)
        if (leaf->sources[i].varno == varno)
            return &leaf->sources[i];
    return nullptr;
}

} // namespace dp::query
