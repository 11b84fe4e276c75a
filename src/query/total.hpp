// Which functions may touch a private row: those that cannot fail, have no effects and cost O(row) (K3; architecture.md, 5).
// An error, a notice or a delay that only some rows cause would be an answer without noise.
//
// Three ways to be one of them: leakproof by PostgreSQL's own account; in the table of total.cpp as it is; in that table
// with a replacement, a function of ours that returns NULL where the built-in raises an error. Replacements are swapped in
// when the internal statement is built, and nowhere else: texts that people see say what they wrote.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

enum class Total : uint8 {
    as_it_is, // the built-in cannot fail
    replaced, // by the function of the same name and arguments in the schema dp_rdr
    inlined   // an SQL function of the server; folding opens it into functions of this table
};

struct TotalFunction {
    Oid function;
    Total how;
    uint8 constants;                // bit i: argument i must be free of columns
    bool (*accepts)(const Const *); // the values of these arguments (not NULL), after folding; null: any
    const char *why;                // it cannot fail on any stored value
};

// A cast through text (value::text, text::integer), for which PostgreSQL has no function of its own.
struct TotalCast {
    Oid from; // TEXTOID: all character types; ANYENUMOID: all enum types
    Oid to;
    const char *function; // of the schema dp_rdr
    const char *why;
};

// The tables, for documentation and tests; null behind the last entry.
const TotalFunction *total_function(int index);
const TotalCast *total_cast(int index);
// The replacement of a function of the table.
Oid replacement_of(Oid function);
Oid replacement_of(const TotalCast &cast);

// The entry of a function that may be applied to columns, or null. A leakproof built-in has one as well.
const TotalFunction *find_total(Oid function);
const TotalCast *find_total_cast(Oid from, Oid to);
// May the function be applied to constants and parameters alone: it is evaluated once, as the caller, before the charge.
bool is_harmless_on_constants(Oid function);
// True for columns, and for what stands for one (the operand of CASE x WHEN ...).
bool contains_column(Node *node, void *context = nullptr);

// Why the function is not total under a collation, or null.
const char *collation_problem(const TotalFunction *entry, Oid collation);

// Raises 22023 if a constant is none of the values that this argument may have; the source tells where it stands.
void check_constant(const TotalFunction *entry, int argument, const Const *value, ParseState *source = nullptr);

// What a refusal of a function says.
inline constexpr char total_hint[] =
    "SELECT * FROM dp_rdr.total_functions() shows what may be applied to columns, besides comparisons.";

// What the internal statement may contain, from a checked expression: parameters replaced by their values, functions of
// constants evaluated (now() and current_date too), partial functions swapped for total ones. Errors, all of them before
// the charge: 0A000 for what is not total after all, 22023 for a constant argument that is not accepted; the natural ones
// of functions of constants (division by zero ...).
Node *make_total(Node *expression, ParamListInfo parameters);

} // namespace dp::query
