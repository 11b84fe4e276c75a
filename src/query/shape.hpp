// What may be asked (architecture.md, 5; K2): a closed grammar over checked nodes, by OID. Everything that is not named here
// is refused, with the part named and the same text whatever the rows.
#pragma once

#include "query/leaf.hpp"

namespace dp::query {

// Parses and analyses one SELECT without any other extension's hooks seeing it. Parameter i has type types[i - 1].
// Errors: 42601 several statements; 0A000 not a SELECT, INTO, data-modifying WITH; those of the parser.
struct Parsed {
    Query *query;
    ParseState *source; // for error positions
};
Parsed parse_select(const char *text, const Oid *types = nullptr, int ntypes = 0);
// The same for a leaf's text, which names nothing but the server's own (query/names) and its view.
// only_view: it must read that and nothing else (check_reads_only); InvalidOid: whatever its shape permits.
Parsed parse_leaf(const char *text, const Oid *types, int ntypes, Oid only_view);

// Between enter and leave, error positions count in `text`, which the caller passed as an argument, and not in his statement.
// After an error the server has taken the callback off its stack itself.
struct TextScope {
    ErrorContextCallback callback;
    void enter(const char *text);
    void leave() const;
};

// The leaf that a query level is, or an error (0A000 with the offending part; 42501 for raw columns; 55000 for a relation
// that is no facade). `source` may be null.
Leaf *check_leaf(const Query *written, ParseState *source);

// What the parser casts where a function takes double precision.
Node *before_cast_to_double(Node *number);

// The column that an aggregate is of, without the casts that keep its order; null if it is of an expression.
Var *column_of_argument(const Aggref *call);

// Whether min, max or a percentile is asked for.
bool asks_quantile(const Leaf *leaf);
// Whether what is asked for is of two columns: a covariance, a correlation, a line of regression.
bool asks_joint(const Leaf *leaf);

// SELECT with this text as its one target, raw; null: the text is more than one expression.
RawStmt *only_expression(const char *text);

// A condition that a controller declares (a restricted view's filter, a group of people), over the columns of the protected
// table itself, under the rules for WHERE, and immutable. Vars have varno 1. 42601/0A000/42703 ... otherwise; `name` is what
// the errors call it.
Node *check_table_condition(const char *text, Oid relation, const char *name);
// Reads what a controller declares a total of: an expression over the columns of the table, immutable. Errors: the same.
Node *check_table_expression(const char *text, Oid relation);
// The same condition as text that means the same under every search_path.
const char *canonical_condition(const char *text, Oid relation, const char *name);

// Checks a condition or a group key: an expression over columns of varno 1. make_total (query/total) finishes it.
void check_condition(Node *condition, ParseState *source);
// Opens the collation that values are compared under. 42P22 where they need one and there is none; 0A000 for one that is nondeterministic.
void check_collation(Oid collation, List *arguments, ParseState *source, int location);

} // namespace dp::query
