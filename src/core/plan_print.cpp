#include "core/plan_print.hpp"

#include <algorithm>
#include <utility>

#include "core/plan_words.hpp"

namespace dp::plan {
namespace {

constexpr std::string_view test_texts[] = {" IS NULL)",  " IS NOT NULL)",  " IS TRUE)",    " IS NOT TRUE)",
                                           " IS FALSE)", " IS NOT FALSE)", " IS UNKNOWN)", " IS NOT UNKNOWN)"};

// By kind: an aggregate that takes just this measure.
constexpr std::string_view names_of_kinds[] = {"count", "count",  "count",     "count", "sum",
                                               "avg",   "stddev", "covar_pop", "corr",  "percentile_disc"};

std::string printed_fraction(std::int64_t fraction) {
    char text[16];
    std::snprintf(text, sizeof text, "0.%09d", static_cast<int>(fraction));
    std::string out = text;
    return out.substr(0, out.find_last_not_of('0') + 1);
}

struct Printer {
    const Plan &plan;
    const Words words;
    bool aliased = false;

    Printer(const Plan &printed_plan, bool utf8) : plan(printed_plan), words{utf8} {
        for (std::size_t i = 0; i < plan.sources.size(); i++) {
            aliased = aliased || !plan.sources[i].columns.empty() || !plan.sources[i].people.empty();
            for (std::size_t j = 0; j < i; j++)
                aliased = aliased || plan.sources[i].name.name == plan.sources[j].name.name;
        }
    }

    std::string alias_of(std::uint32_t source) const {
        return aliased ? "s" + std::to_string(source + 1) : words.quoted_name(plan.sources[source].name.name);
    }

    std::string printed_column(std::uint32_t source, const std::string &name) const {
        return plan.sources.size() > 1 ? alias_of(source) + "." + words.quoted_name(name) : words.quoted_name(name);
    }

    // A part of an expression that is still to be printed: a text, or a node.
    struct Piece {
        std::string text;
        std::size_t node = 0;
        bool is_node = false;
    };
    static Piece words_of(std::string text) { return {std::move(text), 0, false}; }
    static Piece node_of(std::size_t node) { return {{}, node, true}; }

    static std::vector<Piece> joined(std::string before, const std::vector<std::size_t> &parts, const char *between,
                                     const char *behind) {
        std::vector<Piece> pieces = {words_of(std::move(before))};
        for (std::size_t i = 0; i < parts.size(); i++) {
            if (i > 0)
                pieces.push_back(words_of(between));
            pieces.push_back(node_of(parts[i]));
        }
        pieces.push_back(words_of(behind));
        return pieces;
    }

    std::vector<Piece> pieces_of_call(const Node &node, const std::vector<std::size_t> &parts) const {
        std::vector<Piece> pieces = joined(words.printed(node.name) + "(", parts, ", ", ")");
        if (node.flag && !parts.empty()) // the last argument is the last piece but one
            pieces.insert(pieces.end() - 2, words_of("VARIADIC "));
        return pieces;
    }

    static std::vector<Piece> pieces_of_choice(const Expression &expression, const std::vector<std::size_t> &begins,
                                               const Node &node, const std::vector<std::size_t> &parts) {
        std::vector<Piece> pieces = {words_of("CASE")};
        std::size_t at = 0;
        if (node.flag) {
            pieces.push_back(words_of(" "));
            pieces.push_back(node_of(parts[at++]));
        }
        for (; at + 1 < parts.size(); at += 2) {
            const Compared with =
                node.flag ? compared(expression, begins, parts[at]) : Compared{Compared::with_node, parts[at]};
            pieces.push_back(words_of(" WHEN "));
            pieces.push_back(with.how == Compared::with_node   ? node_of(with.node)
                             : with.how == Compared::with_true ? words_of("true")
                                                               : words_of("false"));
            pieces.push_back(words_of(" THEN "));
            pieces.push_back(node_of(parts[at + 1]));
        }
        pieces.push_back(words_of(" ELSE "));
        pieces.push_back(node_of(parts[at]));
        pieces.push_back(words_of(" END"));
        return pieces;
    }

    std::vector<Piece> pieces_of_infix(const Node &node, const std::vector<std::size_t> &parts) const {
        const std::string sign = node.name.schema.empty()
                                     ? node.name.name
                                     : "OPERATOR(" + words.quoted_name(node.name.schema) + "." + node.name.name + ")";
        if (parts.size() == 1)
            return joined("(" + sign + " ", parts, "", ")");
        return {words_of("("), node_of(parts[0]), words_of(" " + sign + " "), node_of(parts[1]), words_of(")")};
    }

    // The text around the operands of a node, where it is one for all nodes of a kind.
    struct Frame {
        Op op;
        const char *before, *between, *behind;
    };
    static constexpr Frame frames[] = {
        {Op::conjunction, "(", " AND ", ")"},   {Op::disjunction, "(", " OR ", ")"},
        {Op::negation, "(NOT ", "", ")"},       {Op::coalesce, "COALESCE(", ", ", ")"},
        {Op::greatest, "GREATEST(", ", ", ")"}, {Op::least, "LEAST(", ", ", ")"},
        {Op::nullif, "NULLIF(", ", ", ")"},     {Op::distinct, "(", " IS DISTINCT FROM ", ")"}};

    std::vector<Piece> pieces_of(const Expression &expression, const std::vector<std::size_t> &begins, std::size_t i) {
        const Node &node = expression[i];
        const std::vector<std::size_t> parts = operands(expression, begins, i);
        for (const Frame &frame : frames)
            if (frame.op == node.op)
                return joined(frame.before, parts, frame.between, frame.behind);
        switch (node.op) {
        case Op::column:
            return {words_of(printed_column(node.number, node.text))};
        case Op::constant:
            return {words_of(words.printed_constant(node, false))};
        case Op::person_column:
            return {words_of(printed_aggregate(plan.per_person->aggregates[node.number]))};
        case Op::exists:
            return {words_of(printed_exists(plan.exists[node.number]))};
        case Op::call:
            return pieces_of_call(node, parts);
        case Op::infix:
            return pieces_of_infix(node, parts);
        case Op::cast:
            return joined("(", parts, "", (")::" + words.printed(node.type)).c_str());
        case Op::collate:
            return joined("(", parts, "", (" COLLATE " + words.printed(node.name) + ")").c_str());
        case Op::test:
            return joined("(", parts, "", std::string(test_texts[node.number]).c_str());
        case Op::choice:
            return pieces_of_choice(expression, begins, node, parts);
        case Op::any_of:
            return joined("(", parts, (" " + node.name.name + " ANY (").c_str(), "))");
        case Op::all_of:
            return joined("(", parts, (" " + node.name.name + " ALL (").c_str(), "))");
        default:
            break;
        }
        throw InvalidPlan("an operand of CASE stands outside of it");
    }

    // Depth is on a list of ours: whoever writes an expression says how deep it is.
    std::string printed_expression(const Expression &expression) {
        const std::vector<std::size_t> begins = beginnings(expression);
        std::string text;
        std::vector<Piece> left = {node_of(expression.size() - 1)};
        while (!left.empty()) {
            const Piece piece = std::move(left.back());
            left.pop_back();
            if (!piece.is_node) {
                text += piece.text;
                continue;
            }
            std::vector<Piece> pieces = pieces_of(expression, begins, piece.node);
            left.insert(left.end(), std::make_move_iterator(pieces.rbegin()), std::make_move_iterator(pieces.rend()));
        }
        return text;
    }

    // ---- parts -----------------------------------------------------------------------------------------------------

    // unnest(..) AS s1(c1, ..): a statement that passes rows numbers their columns.
    std::string printed_rows(std::uint32_t source) {
        std::vector<std::string> arrays, names;
        for (const Expression &column : plan.sources[source].columns) {
            arrays.push_back(printed_expression(column));
            names.push_back("c" + std::to_string(arrays.size()));
        }
        return "unnest(" + list_of(arrays) + ") AS " + alias_of(source) + "(" + list_of(names) + ")";
    }

    std::string printed_source(std::uint32_t source) {
        if (!plan.sources[source].columns.empty())
            return printed_rows(source);
        if (!plan.sources[source].people.empty())
            return "(" + Printer(plan.sources[source].people.front(), words.utf8).printed_people() + ") AS " +
                   alias_of(source);
        return words.printed(plan.sources[source].name) + (aliased ? " AS " + alias_of(source) : "");
    }

    std::string printed_exists(const Exists &exists) {
        std::vector<std::string> sources;
        for (std::uint32_t i = 0; i < exists.count; i++)
            sources.push_back(printed_source(exists.first + i));
        std::string text = (exists.negated ? "(NOT EXISTS (SELECT FROM " : "EXISTS (SELECT FROM ") + list_of(sources);
        if (!exists.condition.empty())
            text += " WHERE " + printed_expression(exists.condition);
        text += exists.negated ? "))" : ")";
        return exists.unless.empty() ? text : "(" + printed_expression(exists.unless) + " OR " + text + ")";
    }

    std::string printed_from() {
        std::vector<std::string> items;
        for (const Item &item : plan.from) {
            if (item.kind == Item::source) {
                items.push_back(printed_source(item.number));
                continue;
            }
            const std::string right = std::move(items.back());
            items.pop_back();
            const std::string on = item.on.empty() ? "true" : printed_expression(item.on);
            items.back() =
                "(" + items.back() + (item.kind == Item::left ? " LEFT" : "") + " JOIN " + right + " ON " + on + ")";
        }
        return " FROM " + list_of(items);
    }

    // WHERE, with the sub-SELECTs that are conditions.
    std::string printed_where() {
        std::vector<std::string> conditions;
        if (!plan.where.empty())
            conditions.push_back(printed_expression(plan.where));
        for (const Exists &exists : plan.exists)
            if (!exists.is_value)
                conditions.push_back(printed_exists(exists));
        return conditions.empty() ? "" : " WHERE " + list_of(conditions, " AND ");
    }

    std::string printed_filter(const Expression &filter) {
        return filter.empty() ? "" : " FILTER (WHERE " + printed_expression(filter) + ")";
    }

    std::string printed_aggregate(const Aggregate &aggregate) {
        const bool rows = !aggregate.over || aggregate.function.name == "count"; // row_number() takes none
        std::string arguments = !aggregate.argument.empty() ? printed_expression(aggregate.argument) : rows ? "*" : "";
        if (aggregate.over)
            for (const Expression &argument : aggregate.over->arguments)
                arguments += ", " + printed_expression(argument);
        return words.printed(aggregate.function) + (aggregate.distinct ? "(DISTINCT " : "(") + arguments + ")" +
               printed_filter(aggregate.filter) + (aggregate.over ? printed_over(*aggregate.over) : "");
    }

    std::string printed_over(const Over &over) {
        std::vector<std::string> partition, order;
        for (const Column &column : plan.per_person->person)
            partition.push_back(printed_column(column.source, column.name));
        for (const Expression &key : over.partition)
            partition.push_back(printed_expression(key));
        for (const Order &key : over.order)
            order.push_back(printed_expression(key.by) + (key.descending ? " DESC" : "") +
                            (key.descending == key.nulls_first ? "" : key.nulls_first ? " NULLS FIRST" : " NULLS LAST"));
        return " OVER (PARTITION BY " + list_of(partition) + (order.empty() ? "" : " ORDER BY " + list_of(order)) + ")";
    }

    std::string printed_branches() {
        std::vector<std::string> parts;
        for (const Source &part : plan.sources)
            parts.push_back(Printer(part.people.front(), words.utf8).printed_people());
        return list_of(parts, " UNION ALL ");
    }

    std::string printed_people() {
        if (plan.from.empty())
            return printed_branches();
        std::vector<std::string> outputs, keys;
        for (std::size_t i = 0; i < plan.keys.size(); i++)
            outputs.push_back(printed_expression(plan.keys[i]) + " AS c" + std::to_string(i + 1));
        if (!plan.per_person)
            return "SELECT " + list_of(outputs) + printed_from() + printed_where();
        const auto add_key = [&](std::string key) {
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
                keys.push_back(std::move(key));
        };
        for (const std::vector<Column> *columns : {&plan.per_person->person, &plan.per_person->carried})
            for (const Column &column : *columns)
                add_key(printed_column(column.source, column.name));
        for (const Expression &key : plan.per_person->keys)
            add_key(printed_expression(key));
        const std::vector<Aggregate> &aggregates = plan.per_person->aggregates;
        if (!aggregates.empty() && aggregates.front().over)
            return "SELECT " + list_of(outputs) + printed_from() + printed_where();
        return "SELECT " + list_of(outputs) + printed_from() + printed_where() + " GROUP BY " + list_of(keys) +
               (plan.per_person->where.empty() ? "" : " HAVING " + printed_expression(plan.per_person->where));
    }

    static std::string list_of(const std::vector<std::string> &texts, const char *between = ", ") {
        std::string text;
        for (std::size_t i = 0; i < texts.size(); i++)
            text += (i > 0 ? between : "") + texts[i];
        return text;
    }

    std::vector<std::string> arguments_of(const Measure &measure) {
        std::vector<std::string> texts;
        for (const Column &column : measure.person)
            texts.push_back(printed_column(column.source, column.name));
        for (const Expression &argument : measure.arguments)
            texts.push_back(printed_expression(argument));
        return texts;
    }

    std::string printed_arguments(const Measure &measure) {
        const std::vector<std::string> texts = arguments_of(measure);
        if (measure.kind == Kind::rows)
            return "*";
        const bool distinct = measure.kind == Kind::people || measure.kind == Kind::values;
        const std::string list = list_of(texts);
        return !distinct ? list : texts.size() > 1 ? "DISTINCT (" + list + ")" : "DISTINCT " + list;
    }

    std::string printed_measure(const Measure &measure) {
        const std::string filter = printed_filter(measure.filter);
        const std::string arguments = printed_arguments(measure);
        if (measure.kind == Kind::quantile && measure.fraction > 0 && measure.fraction < fraction_one)
            return "percentile_disc(" + printed_fraction(measure.fraction) + ") WITHIN GROUP (ORDER BY " + arguments +
                   ")" + filter;
        const std::string_view name = measure.kind != Kind::quantile
                                          ? names_of_kinds[static_cast<std::size_t>(measure.kind)]
                                      : measure.fraction == 0 ? "min"
                                                              : "max";
        return std::string(name) + "(" + arguments + ")" + filter;
    }

    std::string printed_plan() {
        std::vector<std::string> keys, outputs;
        for (const Expression &key : plan.keys)
            keys.push_back(key.size() == 1 && key.front().op == Op::constant ? words.printed_constant(key.front(), true)
                                                                             : printed_expression(key));
        outputs = keys;
        for (const Measure &measure : plan.measures)
            outputs.push_back(printed_measure(measure));
        return "SELECT " + list_of(outputs) + printed_from() + printed_where() +
               (keys.empty() ? "" : " GROUP BY " + list_of(keys));
    }
};

} // namespace

std::string print(const Plan &plan, bool utf8) {
    return Printer(plan, utf8).printed_plan();
}

std::string print_arguments(const Plan &plan, std::size_t measure, bool utf8) {
    return Printer::list_of(Printer(plan, utf8).arguments_of(plan.measures[measure]));
}

} // namespace dp::plan
