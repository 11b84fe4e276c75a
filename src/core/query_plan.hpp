// A checked question as data: which rows are read, how they are grouped, and which measures are taken of them. It needs no server: what
// users own is named, constants are texts of their types, and expressions are in postfix order, so no node is shared.
//
// Two plans are equal if their bytes are. A later version adds fields behind those of a record.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dp::plan {

// ---- expressions ---------------------------------------------------------------------------------------------------

// Names an object. The schema is empty for one of the server's own.
struct Name {
    std::string schema, name;
};

struct Type {
    Name name; // of the elements of an array
    bool is_array = false;
    std::int32_t modifier = -1; // as the server stores it: a length, a precision
};

enum class Op : std::uint8_t {
    column,        // of source `number`; its name is `text`, of a sub-SELECT "c" and its number
    constant,      // `text`, read by the input function of `type`, or NULL if `flag`
    person_column, // aggregate `number` of one person's rows
    exists,        // whether sub-SELECT `number` has a row
    operand,       // of the CASE around it, in its conditions
    call,          // `name` of `number` arguments; `flag`: the last one is VARIADIC
    infix,         // operator `name` of one or two arguments
    cast,          // to `type`
    collate,       // under collation `name`
    conjunction,   // of `number` conditions
    disjunction,
    negation,
    test,       // IS ..: the Test `number`
    choice,     // CASE with `number` pairs of a condition and a result, then ELSE; `flag`: an operand comes before them
    coalesce,   // of `number` values
    greatest,   // of `number` values
    least,      //
    nullif,     // of two values
    distinct,   // IS DISTINCT FROM
    any_of,     // operator `name` holds for one element of an array
    all_of,     // or for all
};

enum Test : std::uint32_t { is_null, is_not_null, is_true, is_not_true, is_false, is_not_false, is_unknown, is_not_unknown };

struct Node {
    Op op = Op::constant;
    std::uint32_t number = 0;
    bool flag = false;
    std::string text;
    Name name;
    Name collation; // that texts are compared or mapped under; empty: none
    Type type;
};

// How many values a node takes.
std::size_t arity(const Node &node);

// Nodes in postfix order; none: there is no expression.
using Expression = std::vector<Node>;

// ---- the plan ------------------------------------------------------------------------------------------------------

struct Plan;

struct Source {
    Name name; // of a restricted view, or of a public table
    bool is_public = false;
    std::vector<Expression> columns; // of rows that the statement passes, which have no name: arrays, each a constant
    // One: a sub-SELECT with rows of people, whose columns are its keys; else none. Without per_person its rows stand as they are; without
    // FROM they are those of all its sources.
    std::vector<Plan> people;
};

struct Column {
    std::uint32_t source = 0;
    std::string name;
};

// FROM in postfix order: a source, or a join of the two items before it. What is left at the end is a list.
struct Item {
    enum Kind : std::uint8_t { source, inner, left } kind = source;
    std::uint32_t number = 0; // of the source
    Expression on;            // of a join
};

// A sub-SELECT over `count` sources from `first` on.
struct Exists {
    std::uint32_t first = 0, count = 0;
    bool is_value = false; // it stands in expressions; else it is a condition beside WHERE
    bool negated = false;
    Expression condition;
    Expression unless; // of a condition: it holds where this does as well
};

struct Order {
    Expression by;
    bool descending = false, nulls_first = false;
};

// Where rows of a person are kept: the window of a function, and what it takes beside its first argument.
struct Over {
    std::vector<Expression> arguments;
    std::vector<Expression> partition; // beside what names a person, in the order of their bytes
    std::vector<Order> order;
};

// An aggregate of one person's rows, or a function over a window of these.
struct Aggregate {
    Name function;
    Name collation;
    bool distinct = false;
    Expression argument; // none: rows
    Expression filter;
    std::optional<Over> over;
};

// One row for each person between FROM and the measures; or each of a person's rows, where the aggregates are over windows.
struct PerPerson {
    std::vector<Column> person;  // what names a person
    std::vector<Column> carried; // columns with one value for a person, in the order of their bytes
    std::vector<Aggregate> aggregates;
    Expression where;
    std::vector<Expression> keys; // of a source: what else its rows are told apart by
};

enum class Kind : std::uint8_t { rows, present, people, values, sum, pair, triple, products, moments, quantile };

struct Measure {
    Kind kind = Kind::rows;
    std::vector<Expression> arguments; // of products and moments y and x
    std::vector<Column> person;        // what names the people that are counted
    std::int64_t fraction = 0;         // 10^-9 of a quantile
    Expression filter;
};

struct Plan {
    std::vector<Source> sources; // of FROM, then of sub-SELECTs
    std::vector<Item> from;
    Expression where;
    std::vector<Exists> exists;
    std::optional<PerPerson> per_person;
    std::vector<Expression> keys;
    std::vector<Measure> measures; // in the order of their bytes
};

constexpr std::int64_t fraction_one = 1000000000;

// ---- bytes ---------------------------------------------------------------------------------------------------------

// Raised for what is no plan.
struct InvalidPlan : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::string encode(const Plan &plan);
std::string encode(const Measure &measure);
std::string encode(const Aggregate &aggregate);
std::string encode(const Column &column);

// Returns for each node where its first operand's subtree begins. Errors: InvalidPlan for nodes that are no single expression.
std::vector<std::size_t> beginnings(const Expression &expression);
// Returns the operands of a node, from left to right.
std::vector<std::size_t> operands(const Expression &expression, const std::vector<std::size_t> &begins, std::size_t node);

// The value that a condition of a CASE compares the operand with: a node, or a truth value that folding has left out.
struct Compared {
    enum { with_node, with_true, with_false } how = with_node;
    std::size_t node = 0;
};
// Errors: InvalidPlan for a condition that is none of these.
Compared compared(const Expression &expression, const std::vector<std::size_t> &begins, std::size_t condition);

} // namespace dp::plan
