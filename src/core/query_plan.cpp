#include "core/query_plan.hpp"

#include <algorithm>

namespace dp::plan {
namespace {

[[noreturn]] void refuse(const char *what) {
    throw InvalidPlan(std::string("the bytes are no plan: ") + what);
}

// ---- checks --------------------------------------------------------------------------------------------------------

struct Checker {
    const Plan &plan;

    void check_source(std::uint32_t source) const {
        if (source >= plan.sources.size())
            refuse("a source is missing");
    }
    void check_column(const Column &column) const { check_source(column.source); }

    void check_node(const Node &node, bool in_exists, bool above) const {
        if (node.op == Op::column)
            check_source(node.number);
        if ((node.op == Op::conjunction || node.op == Op::disjunction) && node.number < 2)
            refuse("a condition has too few parts");
        if ((node.op == Op::coalesce || node.op == Op::greatest || node.op == Op::least) && node.number == 0)
            refuse("a function has no argument");
        if (node.op == Op::person_column && (!above || node.number >= plan.per_person->aggregates.size()))
            refuse("a column of a person's row is missing");
        if (node.op == Op::exists &&
            (in_exists || above || node.number >= plan.exists.size() || !plan.exists[node.number].is_value))
            refuse("a sub-SELECT is missing");
        if (node.op == Op::test && node.number >= tests)
            refuse("a test is unknown");
        if (node.op == Op::infix && node.number != 1 && node.number != 2)
            refuse("an operator has one argument or two");
    }

    // in_exists: of a sub-SELECT. above: over the rows of people, where there are some.
    void check_expression(const Expression &expression, bool in_exists, bool above) const {
        if (expression.empty())
            return;
        const std::vector<std::size_t> begins = beginnings(expression);
        std::size_t operands_met = 0, operands_named = 0;
        for (std::size_t i = 0; i < expression.size(); i++) {
            const Node &node = expression[i];
            check_node(node, in_exists, above && plan.per_person.has_value());
            operands_met += node.op == Op::operand;
            if (node.op != Op::choice || !node.flag)
                continue;
            const std::vector<std::size_t> parts = operands(expression, begins, i);
            for (std::size_t arm = 0; arm < node.number; arm++)
                (void)compared(expression, begins, parts[1 + 2 * arm]);
            operands_named += node.number;
        }
        if (operands_met != operands_named)
            refuse("an operand of CASE stands outside of it");
    }

    void check_from() const {
        std::size_t depth = 0;
        for (const Item &item : plan.from) {
            if (item.kind == Item::source)
                check_source(item.number);
            else if (depth < 2)
                refuse("a join has two sides");
            check_expression(item.on, false, false);
            depth = item.kind == Item::source ? depth + 1 : depth - 1;
        }
        if (depth == 0)
            refuse("nothing is read");
    }

    void check_measure(const Measure &measure) const {
        const bool joint = measure.kind == Kind::products || measure.kind == Kind::moments;
        const bool none = measure.kind == Kind::rows || measure.kind == Kind::people;
        if (measure.arguments.size() != (none ? 0 : joint ? 2 : 1))
            refuse("a measure has another number of arguments");
        if (measure.person.empty() == (measure.kind == Kind::people) || measure.fraction < 0 ||
            measure.fraction > fraction_one)
            refuse("a measure has a field of another kind");
        for (const Expression &argument : measure.arguments) {
            if (argument.empty())
                refuse("a measure has no argument");
            check_expression(argument, false, true);
        }
        std::for_each(measure.person.begin(), measure.person.end(), [&](const Column &c) { check_column(c); });
        check_expression(measure.filter, false, true);
    }

    void check_per_person(const PerPerson &per_person) const {
        if (per_person.person.empty())
            refuse("nothing names a person");
        for (const std::vector<Column> *columns : {&per_person.person, &per_person.carried})
            std::for_each(columns->begin(), columns->end(), [&](const Column &c) { check_column(c); });
        for (const Aggregate &aggregate : per_person.aggregates) {
            check_expression(aggregate.argument, false, false);
            check_expression(aggregate.filter, false, false);
        }
        check_expression(per_person.where, false, true);
        for (const Expression &key : per_person.keys)
            check_expression(key, false, false);
    }

    void check_exists(const Exists &exists) const {
        if (exists.count == 0 || exists.first > plan.sources.size() ||
            exists.count > plan.sources.size() - exists.first)
            refuse("a sub-SELECT reads sources that are missing");
        check_expression(exists.condition, true, false);
        check_expression(exists.unless, true, false);
    }
};

// The node without casts and collations above it.
std::size_t bare(const Expression &expression, std::size_t node) {
    while (expression[node].op == Op::cast || expression[node].op == Op::collate)
        node--;
    return node;
}

} // namespace

bool is_column(const Node &node, const Column &column) {
    return node.op == Op::column && node.number == column.source && node.text == column.name;
}

std::size_t arity(const Node &node) {
    switch (node.op) {
    case Op::column:
    case Op::constant:
    case Op::person_column:
    case Op::exists:
    case Op::operand:
        return 0;
    case Op::call:
    case Op::infix:
    case Op::conjunction:
    case Op::disjunction:
    case Op::coalesce:
    case Op::greatest:
    case Op::least:
        return node.number;
    case Op::cast:
    case Op::collate:
    case Op::negation:
    case Op::test:
        return 1;
    case Op::nullif:
    case Op::distinct:
    case Op::any_of:
    case Op::all_of:
        return 2;
    case Op::choice:
        return (node.flag ? 1 : 0) + 2 * static_cast<std::size_t>(node.number) + 1;
    }
    return 0;
}

std::vector<std::size_t> beginnings(const Expression &expression) {
    std::vector<std::size_t> begins(expression.size()), open; // of values that nothing has taken yet
    for (std::size_t i = 0; i < expression.size(); i++) {
        const std::size_t taken = arity(expression[i]);
        if (taken > open.size())
            refuse("an operand is missing");
        begins[i] = taken == 0 ? i : open[open.size() - taken];
        open.resize(open.size() - taken);
        open.push_back(begins[i]);
    }
    if (open.size() != 1)
        refuse("an expression is not one");
    return begins;
}

std::vector<std::size_t> operands(const Expression &expression, const std::vector<std::size_t> &begins,
                                  std::size_t node) {
    std::vector<std::size_t> found(arity(expression[node]));
    std::size_t behind = node;
    for (auto place = found.rbegin(); place != found.rend(); ++place) {
        *place = behind - 1;
        behind = begins[behind - 1];
    }
    return found;
}

Compared compared(const Expression &expression, const std::vector<std::size_t> &begins, std::size_t condition) {
    const Node &node = expression[condition];
    if (node.op == Op::infix && node.number == 2 && node.name.name == "=") {
        const std::vector<std::size_t> sides = operands(expression, begins, condition);
        if (expression[bare(expression, sides[0])].op == Op::operand)
            return {Compared::with_node, sides[1]};
    }
    const bool negated = node.op == Op::negation;
    if (expression[bare(expression, negated ? condition - 1 : condition)].op == Op::operand)
        return {negated ? Compared::with_false : Compared::with_true, 0};
    refuse("a condition of CASE does not compare its operand");
}

void check(const Plan &plan) {
    const Checker checker{plan};
    if (plan.sources.empty() || plan.sources.size() > most_sources)
        refuse("it has no source, or too many");
    for (const Source &source : plan.sources) {
        for (const Expression &column : source.columns)
            checker.check_expression(column, false, false);
        if (source.people.size() > 1 || (!source.people.empty() && !source.people.front().per_person))
            refuse("a sub-SELECT has no rows of people");
        else if (!source.people.empty())
            check(source.people.front());
    }
    checker.check_from();
    checker.check_expression(plan.where, false, false);
    for (const Exists &exists : plan.exists)
        checker.check_exists(exists);
    if (plan.per_person)
        checker.check_per_person(*plan.per_person);
    for (const Expression &key : plan.keys) {
        if (key.empty())
            refuse("a key is missing");
        checker.check_expression(key, false, true);
    }
    for (const Measure &measure : plan.measures)
        checker.check_measure(measure);
    for (std::size_t i = 1; i < plan.measures.size(); i++)
        if (encode(plan.measures[i]) < encode(plan.measures[i - 1]))
            refuse("its measures are in another order");
    if (plan.keys.empty() && plan.measures.empty())
        refuse("nothing is asked");
}

} // namespace dp::plan
