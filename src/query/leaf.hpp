// A leaf: the part of a statement that reads private rows, one filtered and grouped aggregation over one facade, as
// plain data (architecture.md, 1 and 3.2). Backend region: lives in a memory context.
#pragma once

#include "privacy/mechanism.hpp"

#include "border/postgres.hpp"

namespace dp::query {

// A group key: an expression over the facade.
struct Key {
    Node *expression; // as parsed
    AttrNumber attno; // of the facade, if the key is a column; its groups may be declared. Otherwise 0
    Oid type;
    int32 typmod;
    Oid collation;
    SortGroupClause *clause; // its grouping operators, as the parser chose them
};

struct Aggregate {
    privacy::Aggregate fn;
    AttrNumber attno; // argument column of the facade; 0 for count(*) and expressions
    int argument;     // into Leaf::arguments, or -1
    int filter;       // index into Leaf::filters, or -1
    Node *fraction;   // of a percentile, as parsed; else null
    bool descending;  // a percentile of values in descending order
    Oid result_type;
    Aggref *node; // as parsed
};

// What a column shows of an aggregate: the number, or an end of its interval (dp_low, dp_high).
enum class Part { value, low, high };

// One column of the leaf's result.
struct Output {
    bool is_key;
    int index; // into keys or aggregates
    const char *name;
    Part part;
};

// What tells the argument of one aggregate from that of another (privacy::AggregateCall); -1: rows are counted.
inline int argument_number(const Aggregate &aggregate) {
    constexpr int behind_columns = 65536;
    return aggregate.attno > 0 ? aggregate.attno : aggregate.argument >= 0 ? behind_columns + aggregate.argument : -1;
}

// How much of one unit is wanted, where a unit may have several rows (query/units); 0: what is declared.
struct Limits {
    int max_rows, max_groups;
};

struct Leaf {
    Oid view;
    const Query *query; // as parsed; its permission check is that of the facade, with the columns that it selects
    int nkeys;
    Key *keys;
    int naggregates;
    Aggregate *aggregates; // distinct
    List *arguments;       // Node *: what is summed or averaged and is no column, distinct, as parsed
    List *filters;         // Node *: FILTER conditions, distinct
    Node *where;           // or null; Vars are of level 0, varno 1, attribute numbers of the facade
    int noutputs;
    Output *outputs;
    List *counted; // int: columns of the facade that count(DISTINCT ..) is about; NIL: it is not asked for
    Limits limits; // of whoever asks
};

} // namespace dp::query
