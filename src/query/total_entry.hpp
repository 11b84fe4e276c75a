// An entry of the table of total functions (query/total_table).
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
constexpr int longest_pattern = 1000;
constexpr int longest_value = 64 * 1024;
constexpr int longest_array = 4 * longest_value; // of IN (...): short texts take four times what is written

} // namespace dp::query
