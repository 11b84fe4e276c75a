// Reads the texts of queries, without any other extension's hooks seeing them.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// Parses and analyses one SELECT. Parameter i has type types[i - 1].
// Errors: 42601 several statements; 0A000 not a SELECT, INTO, data-modifying WITH; those of the parser.
struct Parsed {
    Query *query;
    ParseState *source; // for error positions
};
Parsed parse_select(const char *text, const Oid *types = nullptr, int ntypes = 0);
// Parses and analyses a leaf's text, which names nothing but the server's own (query/names) and its view.
// only_view: it must read that and nothing else (check_reads_only); InvalidOid: whatever its shape permits.
Parsed parse_leaf(const char *text, const Oid *types, int ntypes, Oid only_view);

// Counts error positions in `text`, between enter and leave: the caller passed it as an argument, and it is not their statement.
// After an error the server has taken the callback off its stack itself.
struct TextScope {
    ErrorContextCallback callback;
    void enter(const char *text);
    void leave() const;
};

// Parses a text as the only target of a SELECT. Returns null for a text that is more than one expression.
RawStmt *only_expression(const char *text);

} // namespace dp::query
