// Reads the texts of queries, without any other extension's hooks seeing them. The names in a leaf's text are checked before it is
// analysed: analysis reads literals, and runs the code behind their types.
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
// Parses and analyses a leaf's text, which names nothing but the server's own and its view.
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

// 0A000 for a type, function, operator or collation that is not the server's own; enums may be named. `statement` is raw.
void check_names(RawStmt *statement);

// Returns the type of a name, whatever rights the caller has on its schema: pg_catalog shows both to everybody. InvalidOid: there is none.
// In place of the name of an enum, or of an array of one, puts its oid. So the text of a leaf, and the condition of a view, can name
// an enum of a schema that the asker may not use.
Oid resolve_type(TypeName *name);

// Does what must come before resolve_type() for names below a raw node: names the columns of a SELECT. 0A000 for a cast in FROM.
void name_columns(Node *node);

// Returns the type that values of arrays, ranges and multiranges are made of.
Oid part_of(Oid type);

// Whether reading a literal of the type may take much longer than it is to write: a path of jsonpath holds regular expressions, which are
// compiled, and XML has entities.
bool is_slow_to_read(Oid type);

// Returns the type that a parameter is read as: of a domain its base type. 0A000 for what is not the server's own nor an enum, for
// records, and for arrays and ranges of either: their values mean something in the process that made them alone, or
// reading a literal beside them would run code of whoever made the type.
Oid parameter_type(Oid type);

} // namespace dp::query
