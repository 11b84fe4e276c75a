#include "core/query_plan.hpp"

namespace dp::plan {
namespace {

[[noreturn]] void refuse(const char *what) {
    throw InvalidPlan(std::string("it is no plan: ") + what);
}

// The node without casts and collations above it.
std::size_t bare(const Expression &expression, std::size_t node) {
    while (expression[node].op == Op::cast || expression[node].op == Op::collate)
        node--;
    return node;
}

} // namespace

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

} // namespace dp::plan
