// Which functions may touch a private row: those that cannot fail, have no effects and cost O(row) (K3; architecture.md, 5).
// An error, a notice or a delay that only some rows cause would be an answer without noise.
//
// Each is named in total_table.cpp, as it is, or with a replacement, a function of ours that returns NULL where the built-in
// raises an error. Replacements are swapped in when the internal statement is built, and nowhere else: texts that people see
// say what they wrote. What a call may cost stands there too, and query/cost.hpp bounds it over the statement.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

enum class Total : uint8 {
    as_it_is, // the built-in cannot fail
    replaced, // by the function of the same name and arguments in the schema dp_rdr
    inlined   // folding opens it into functions of this table: an SQL function of the server, or one of query/expand_concat
};

// Tells the cost of a call beside a fixed time.
enum class Work : uint8 {
    flat,  // nothing
    bytes, // by the byte
    order, // by the byte under C; elsewhere more, and the library may take the square
    cases, // by the byte, more where the C library or ICU maps characters
    trim,  // by the byte and the length of the constant set
    like,  // by the byte and the longest piece of the pattern between two %
    ilike  // the same, behind a mapping of cases
};

struct Reason {
    const char *text; // why it cannot fail on any stored value
    Work work = Work::flat;
    int per_call = 30; // nanoseconds
    int per_byte = 0;  // nanoseconds for each byte of every value of variable length
};

// Tells how the value of a call follows from the values of its arguments: bounds, gaps and stretches are read off it (query/range,
// query/gaps, query/stretches). none: nobody says.
enum class Rule : uint8 {
    // clang-format off
    none,
    // of numbers
    plus, minus, times, over, modulo, negated, absolute, // by is_arithmetic
    sign, bucket, place,
    kept, cast,                   // in another type: without an exception; rounded to a float, or NULL where it has none
    round, trunc, floor, ceiling, // to a whole number
    round_to, trunc_to, typmod,   // to the decimals that argument 1 says
    digits_of_float4, digits_of_float8,
    // of texts
    characters, bytes, // no more than argument 0 has
    digest,
    // of moments
    days_after, days_before, days_between, time_between, age,
    shifted, shifted_in_zone, // by an interval
    other_clock, clock_of,    // read by the session's clock, by that of argument 0
    midnight, midnight_in_zone, day, day_in_zone,
    begun, bin, printed, field, field_of_interval // of a part of the calendar
    // clang-format on
};

struct TotalFunction {
    Oid function;
    Total how;
    uint8 constants;                // bit i: argument i must be free of columns
    bool (*accepts)(const Const *); // the values of these arguments (not NULL), after folding; null: any
    Reason why;
    bool (*accepts_third)(const Const *) = nullptr; // of argument 2, where it may have others
    Rule rule = Rule::none;

    bool permits(int argument, const Const *value) const {
        bool (*const judge)(const Const *) = argument == 2 && accepts_third != nullptr ? accepts_third : accepts;
        return value->constisnull || judge == nullptr || judge(value);
    }
    bool wants_constant(int argument) const { // functions of any number of arguments have more than there are bits
        return argument < 8 && (constants & (1 << argument)) != 0;
    }
};

// Limits on constants, in bytes: parameters and what folding makes included.
constexpr int longest_value = 64 * 1024;
constexpr int longest_array = 4 * longest_value; // of IN (...): short texts take four times what is written

constexpr int cost_of_cast = 4000; // nanoseconds, of a thousand characters at most

// A cast through text (value::text, text::integer), for which PostgreSQL has no function of its own.
struct TotalCast {
    Oid from; // TEXTOID: all character types; ANYENUMOID: all enum types
    Oid to;
    const char *function; // of the schema dp_rdr
    const char *why;

    bool styled() const { // the function has the DateStyle for its second argument
        return from == DATEOID || from == TIMESTAMPOID || to == DATEOID || to == TIMESTAMPOID;
    }
};

// The tables, for documentation and tests; null behind the last entry.
const TotalFunction *total_function(int index);
const TotalCast *total_cast(int index);
// The replacement of a function of the table.
Oid replacement_of(Oid function);
Oid replacement_of(const TotalCast &cast);

// The entry of a function that may be applied to columns, or null.
const TotalFunction *find_total(Oid function);
// The rule of a function, or of a call; none for what is not in the table.
Rule rule_of(Oid function);
Rule rule_of(Node *call);

inline bool is_arithmetic(Rule rule) {
    return rule >= Rule::plus && rule <= Rule::absolute;
}
const TotalCast *find_total_cast(Oid from, Oid to);
// The call that takes the place of a cast of this argument. style: null for one that has none.
Node *call_of_cast(const TotalCast &entry, Node *argument, const CoerceViaIO *cast, const char *style);
// May the function be applied to constants and parameters alone: it is evaluated once, as the caller, before the charge.
bool is_harmless_on_constants(Oid function);
// True for columns, and for what stands for one (the operand of CASE x WHEN ...).
bool contains_column(Node *node, void *context = nullptr);

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

// Holds the hint for a function that is refused.
inline constexpr char total_hint[] =
    "SELECT * FROM dp_rdr.total_functions() shows what may be applied to columns, besides comparisons.";

} // namespace dp::query
