// Which functions may touch a private row: those that cannot fail, have no effects and cost O(row) (K3; architecture.md, 5).
// An error, a notice or a delay that only some rows cause would be an answer without noise.
//
// Each is named in total_table.cpp, or in a file of query/total_rows, as it is, or with a replacement, a function of ours that returns NULL where the built-in
// raises an error. Replacements are swapped in when the internal statement is built, and nowhere else: texts that people see
// say what they wrote. What a call may cost stands there too, and query/cost.hpp bounds it over the statement.
#pragma once

#include "query/total_entry.hpp"

namespace dp::query {

// The table, for documentation and tests; null behind the last entry.
const TotalFunction *total_function(int index);
// The replacement of a function of the table.
Oid replacement_of(Oid function);

// The entry of a function that may be applied to columns, or null.
const TotalFunction *find_total(Oid function);
// The rule of a function, or of a call; none for what is not in the table.
Rule rule_of(Oid function);
Rule rule_of(Node *call);
// Returns the function that a call or an operator calls, with its arguments; InvalidOid: the node is neither.
struct Called {
    Oid function;
    List *arguments;
};
Called called(Node *node);

inline bool is_arithmetic(Rule rule) {
    return rule >= Rule::plus && rule <= Rule::absolute;
}
// May the function be applied to constants and parameters alone: it is evaluated once, as the caller, before the charge.
bool is_harmless_on_constants(Oid function);
// True for columns, and for what stands for one (the operand of CASE x WHEN ...).
bool contains_column(Node *expression);

// Why the function is not total under a collation, or null.
const char *collation_problem(const TotalFunction *entry, Oid collation);
// Raises 0A000 for a nondeterministic collation (functions refuse it at the first row that they meet, and what it calls equal
// differs in print). Loads any other one: its first use warns of another version of the library, or fails, and a row must not
// decide when that is.
void open_collation(Oid collation, ParseState *source = nullptr, int location = -1);
// Raises 54000 for a constant that is too long.
void check_length(const Const *value, ParseState *source = nullptr, int most_of_array = longest_array);

// Raises 22023 if a constant is none of the values that this argument may have; the source tells where it stands.
void check_constant(const TotalFunction *entry, int argument, const Const *value, ParseState *source = nullptr);

} // namespace dp::query
