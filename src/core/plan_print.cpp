#include "core/plan_print.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace dp::plan {
namespace {

// ---- names and texts -----------------------------------------------------------------------------------------------

// Words that stand for themselves where a name is meant, of all versions of PostgreSQL; in order.
constexpr std::string_view words[] = {
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "authorization", "between", "bigint",
    "binary", "bit", "boolean", "both", "case", "cast", "char", "character", "check", "coalesce", "collate",
    "collation", "column", "concurrently", "constraint", "create", "cross", "current_catalog", "current_date",
    "current_role", "current_schema", "current_time", "current_timestamp", "current_user", "dec", "decimal", "default",
    "deferrable", "desc", "distinct", "do", "else", "end", "except", "exists", "extract", "false", "fetch", "float",
    "for", "foreign", "freeze", "from", "full", "grant", "greatest", "group", "grouping", "having", "ilike", "in",
    "initially", "inner", "inout", "int", "integer", "intersect", "interval", "into", "is", "isnull", "join", "json",
    "json_array", "json_arrayagg", "json_exists", "json_object", "json_objectagg", "json_query", "json_scalar",
    "json_serialize", "json_table", "json_value", "lateral", "leading", "least", "left", "like", "limit", "localtime",
    "localtimestamp", "merge_action", "national", "natural", "nchar", "none", "normalize", "not", "notnull", "null",
    "nullif", "numeric", "offset", "on", "only", "or", "order", "out", "outer", "overlaps", "overlay", "placing",
    "position", "precision", "primary", "real", "references", "returning", "right", "row", "select", "session_user",
    "setof", "similar", "smallint", "some", "substring", "symmetric", "system_user", "table", "tablesample", "then",
    "time", "timestamp", "to", "trailing", "treat", "trim", "true", "union", "unique", "user", "using", "values",
    "varchar", "variadic", "verbose", "when", "where", "window", "with", "xmlattributes", "xmlconcat", "xmlelement",
    "xmlexists", "xmlforest", "xmlnamespaces", "xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmltable"};

bool is_plain(std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    const auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), inner) &&
           !std::binary_search(std::begin(words), std::end(words), name);
}

struct Range {
    std::uint32_t first, last;
};

// Control characters, line separators, and what has no width or turns the direction of what follows.
constexpr Range hidden[] = {{0x01, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                            {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                            {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};

bool is_hidden(std::uint32_t point) {
    return std::any_of(std::begin(hidden), std::end(hidden),
                       [&](const Range &range) { return point >= range.first && point <= range.last; });
}

struct Point {
    std::uint32_t value;
    std::size_t bytes;
};

// A byte that begins no character of UTF-8 stands for itself: a database may hold such texts.
Point first_point(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::size_t bytes = byte(0) < 0xc0 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : byte(0) < 0xf8 ? 4 : 1;
    if (bytes == 1 || bytes > text.size())
        return {byte(0) < 0x80 ? byte(0) : 0u, 1};
    std::uint32_t value = byte(0) & (0x7f >> bytes);
    for (std::size_t i = 1; i < bytes; i++) {
        if ((byte(i) & 0xc0) != 0x80)
            return {0, 1};
        value = value << 6 | (byte(i) & 0x3f);
    }
    return {value, bytes};
}

template <class F> void each_point(std::string_view text, F take) {
    while (!text.empty()) {
        const Point point = first_point(text);
        take(point.value, text.substr(0, point.bytes));
        text.remove_prefix(point.bytes);
    }
}

std::string escape_of(std::uint32_t point) {
    char text[16];
    std::snprintf(text, sizeof text, point > 0xffff ? "\\+%06X" : "\\%04X", static_cast<unsigned>(point));
    return text;
}

std::string quoted(std::string_view text, char quote) {
    bool escapes = false;
    each_point(text, [&](std::uint32_t point, std::string_view) { escapes = escapes || is_hidden(point); });
    std::string out = escapes ? "U&" : "";
    out += quote;
    each_point(text, [&](std::uint32_t point, std::string_view bytes) {
        if (is_hidden(point))
            out += escape_of(point);
        else if (bytes[0] == quote || (escapes && bytes[0] == '\\'))
            out.append(2, bytes[0]);
        else
            out += bytes;
    });
    return out + quote;
}

std::string qualified(const Name &name) {
    return name.schema.empty() ? quoted_name(name.name) : quoted_name(name.schema) + "." + quoted_name(name.name);
}

// ---- types ---------------------------------------------------------------------------------------------------------

constexpr std::int32_t header = 4; // that lengths of texts and numbers are stored with

std::string in_parentheses(std::int64_t value) {
    return "(" + std::to_string(value) + ")";
}

// Precision and scale, a number of 11 bits with a sign.
std::string modifier_of_numeric(std::int32_t modifier) {
    const std::int32_t both = modifier - header, scale = ((both & 0x7ff) ^ 1024) - 1024;
    return "(" + std::to_string((both >> 16) & 0xffff) + "," + std::to_string(scale) + ")";
}

// Which fields, in the upper half, and how many decimals of seconds.
std::string modifier_of_interval(std::int32_t modifier) {
    constexpr std::pair<std::int32_t, std::string_view> fields[] = {
        {0x0004, " year"},          {0x0002, " month"},         {0x0008, " day"},           {0x0400, " hour"},
        {0x0800, " minute"},        {0x1000, " second"},        {0x0006, " year to month"}, {0x0408, " day to hour"},
        {0x0c08, " day to minute"}, {0x1c08, " day to second"}, {0x0c00, " hour to minute"}, {0x1c00, " hour to second"},
        {0x1800, " minute to second"}};
    constexpr std::int32_t all_decimals = 0xffff;
    const std::int32_t mask = (modifier >> 16) & 0x7fff, decimals = modifier & 0xffff;
    std::string out;
    for (const auto &[value, text] : fields)
        if (value == mask)
            out = text;
    return decimals == all_decimals ? out : out + in_parentheses(decimals);
}

struct TypeName {
    std::string_view stored, printed;
};

constexpr TypeName type_names[] = {
    {"bool", "boolean"},   {"int2", "smallint"},   {"int4", "integer"},         {"int8", "bigint"},
    {"float4", "real"},    {"numeric", "numeric"}, {"float8", "double precision"}, {"interval", "interval"},
    {"varchar", "varchar"}, {"time", "time"},       {"timestamp", "timestamp"}};

std::string printed_modifier(const Type &type) {
    const std::string &name = type.name.name;
    if (type.modifier < 0)
        return "";
    if (!type.name.schema.empty())
        return "(" + std::to_string(type.modifier) + ")";
    if (name == "numeric")
        return modifier_of_numeric(type.modifier);
    if (name == "interval")
        return modifier_of_interval(type.modifier);
    return in_parentheses(name == "varchar" || name == "bpchar" ? type.modifier - header : type.modifier);
}

std::string printed(const Type &type) {
    std::string name = qualified(type.name);
    if (type.name.schema.empty())
        for (const TypeName &known : type_names)
            if (known.stored == type.name.name)
                name = known.printed;
    if (type.name.name == "bit" && type.name.schema.empty() && type.modifier >= 0)
        name = "bit"; // in quotes it has no length
    return name + printed_modifier(type) + (type.is_array ? "[]" : "");
}

bool is_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A number whose spelling tells its type, or a text with its type behind it.
std::string printed_constant(const Node &node) {
    const bool plain = node.type.name.schema.empty() && !node.type.is_array && node.type.modifier < 0;
    const std::string &type = node.type.name.name;
    if (node.flag)
        return "NULL::" + printed(node.type);
    if (plain && type == "bool")
        return node.text == "t" || node.text == "true" ? "true" : "false";
    constexpr std::size_t digits_of_integer = 9;
    if (plain && type == "int4" && is_digits(node.text) && node.text.size() <= digits_of_integer)
        return node.text;
    const std::size_t point = node.text.find('.');
    if (plain && type == "numeric" && point != std::string::npos && is_digits(node.text.substr(0, point)) &&
        is_digits(node.text.substr(point + 1)))
        return node.text;
    return quoted_text(node.text) + "::" + printed(node.type);
}

// A number by itself in GROUP BY is the place of a column.
std::string printed_key_constant(const Node &node) {
    return (node.flag ? "NULL" : quoted_text(node.text)) + "::" + printed(node.type);
}

// ---- expressions ---------------------------------------------------------------------------------------------------

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
    bool aliased = false;
    std::string out = {};

    explicit Printer(const Plan &printed_plan) : plan(printed_plan) {
        for (std::size_t i = 0; i < plan.sources.size(); i++)
            for (std::size_t j = 0; j < i; j++)
                aliased = aliased || plan.sources[i].name.name == plan.sources[j].name.name;
    }

    std::string alias_of(std::uint32_t source) const {
        return aliased ? "s" + std::to_string(source + 1) : quoted_name(plan.sources[source].name.name);
    }

    std::string printed_column(std::uint32_t source, const std::string &name) const {
        return plan.sources.size() > 1 ? alias_of(source) + "." + quoted_name(name) : quoted_name(name);
    }

    std::string column_above(const Node &node) const {
        for (std::size_t i = 0; i < plan.per_person->carried.size(); i++)
            if (is_column(node, plan.per_person->carried[i]))
                return "k" + std::to_string(i + 1);
        throw InvalidPlan("a column does not stand above the rows of people");
    }

    // What is still to be printed of an expression: a text, or a node.
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

    static std::vector<Piece> pieces_of_call(const Node &node, const std::vector<std::size_t> &parts) {
        std::vector<Piece> pieces = joined(qualified(node.name) + "(", parts, ", ", ")");
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

    static std::vector<Piece> pieces_of_infix(const Node &node, const std::vector<std::size_t> &parts) {
        const std::string sign = node.name.schema.empty()
                                     ? node.name.name
                                     : "OPERATOR(" + quoted_name(node.name.schema) + "." + node.name.name + ")";
        if (parts.size() == 1)
            return joined("(" + sign + " ", parts, "", ")");
        return {words_of("("), node_of(parts[0]), words_of(" " + sign + " "), node_of(parts[1]), words_of(")")};
    }

    std::vector<Piece> pieces_of(const Expression &expression, const std::vector<std::size_t> &begins, std::size_t i,
                                 bool above) {
        const Node &node = expression[i];
        const std::vector<std::size_t> parts = operands(expression, begins, i);
        switch (node.op) {
        case Op::column:
            return {words_of(above ? column_above(node) : printed_column(node.number, node.text))};
        case Op::constant:
            return {words_of(printed_constant(node))};
        case Op::person_column:
            return {words_of("c" + std::to_string(node.number + 1))};
        case Op::exists:
            return {words_of(printed_exists(plan.exists[node.number]))};
        case Op::call:
            return pieces_of_call(node, parts);
        case Op::infix:
            return pieces_of_infix(node, parts);
        case Op::cast:
            return joined("(", parts, "", (")::" + printed(node.type)).c_str());
        case Op::collate:
            return joined("(", parts, "", (" COLLATE " + qualified(node.name) + ")").c_str());
        case Op::conjunction:
            return joined("(", parts, " AND ", ")");
        case Op::disjunction:
            return joined("(", parts, " OR ", ")");
        case Op::negation:
            return joined("(NOT ", parts, "", ")");
        case Op::test:
            return joined("(", parts, "", std::string(test_texts[node.number]).c_str());
        case Op::choice:
            return pieces_of_choice(expression, begins, node, parts);
        case Op::coalesce:
            return joined("COALESCE(", parts, ", ", ")");
        case Op::greatest:
            return joined("GREATEST(", parts, ", ", ")");
        case Op::least:
            return joined("LEAST(", parts, ", ", ")");
        case Op::nullif:
            return joined("NULLIF(", parts, ", ", ")");
        case Op::distinct:
            return joined("(", parts, " IS DISTINCT FROM ", ")");
        case Op::any_of:
            return joined("(", parts, (" " + node.name.name + " ANY (").c_str(), "))");
        case Op::all_of:
            return joined("(", parts, (" " + node.name.name + " ALL (").c_str(), "))");
        case Op::operand:
            break;
        }
        throw InvalidPlan("an operand of CASE stands outside of it");
    }

    // Depth is on a list of ours: whoever writes an expression says how deep it is.
    std::string printed_expression(const Expression &expression, bool above) {
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
            std::vector<Piece> pieces = pieces_of(expression, begins, piece.node, above);
            left.insert(left.end(), std::make_move_iterator(pieces.rbegin()), std::make_move_iterator(pieces.rend()));
        }
        return text;
    }

    // ---- parts -----------------------------------------------------------------------------------------------------

    std::string printed_source(std::uint32_t source) const {
        return qualified(plan.sources[source].name) + (aliased ? " AS " + alias_of(source) : "");
    }

    std::string printed_exists(const Exists &exists) {
        std::string text = exists.negated ? "(NOT EXISTS (SELECT FROM " : "EXISTS (SELECT FROM ";
        for (std::uint32_t i = 0; i < exists.count; i++)
            text += (i > 0 ? ", " : "") + printed_source(exists.first + i);
        if (!exists.condition.empty())
            text += " WHERE " + printed_expression(exists.condition, false);
        text += exists.negated ? "))" : ")";
        return exists.unless.empty() ? text : "(" + printed_expression(exists.unless, false) + " OR " + text + ")";
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
            const std::string on = item.on.empty() ? "true" : printed_expression(item.on, false);
            items.back() = "(" + items.back() + (item.kind == Item::left ? " LEFT" : "") + " JOIN " + right + " ON " + on + ")";
        }
        std::string text = " FROM ";
        for (std::size_t i = 0; i < items.size(); i++)
            text += (i > 0 ? ", " : "") + items[i];
        return text;
    }

    // WHERE, with the sub-SELECTs that are conditions.
    std::string printed_where() {
        std::vector<std::string> conditions;
        if (!plan.where.empty())
            conditions.push_back(printed_expression(plan.where, false));
        for (const Exists &exists : plan.exists)
            if (!exists.is_value)
                conditions.push_back(printed_exists(exists));
        std::string text;
        for (std::size_t i = 0; i < conditions.size(); i++)
            text += (i > 0 ? " AND " : " WHERE ") + conditions[i];
        return text;
    }

    std::string printed_filter(const Expression &filter, bool above) {
        return filter.empty() ? "" : " FILTER (WHERE " + printed_expression(filter, above) + ")";
    }

    std::string printed_aggregate(const Aggregate &aggregate) {
        return qualified(aggregate.function) + (aggregate.distinct ? "(DISTINCT " : "(") +
               (aggregate.argument.empty() ? "*" : printed_expression(aggregate.argument, false)) + ")" +
               printed_filter(aggregate.filter, false);
    }

    // FROM (SELECT .. GROUP BY ..) AS person WHERE ..
    std::string printed_per_person(const PerPerson &per_person) {
        std::vector<std::string> outputs, keys;
        for (const Column &column : per_person.person)
            keys.push_back(printed_column(column.source, column.name));
        for (std::size_t i = 0; i < keys.size(); i++)
            outputs.push_back(keys[i] + " AS u" + std::to_string(i + 1));
        for (std::size_t i = 0; i < per_person.carried.size(); i++) {
            keys.push_back(printed_column(per_person.carried[i].source, per_person.carried[i].name));
            outputs.push_back(keys.back() + " AS k" + std::to_string(i + 1));
        }
        for (std::size_t i = 0; i < per_person.aggregates.size(); i++)
            outputs.push_back(printed_aggregate(per_person.aggregates[i]) + " AS c" + std::to_string(i + 1));
        const std::string inner = "SELECT " + list_of(outputs) + printed_from() + printed_where() + " GROUP BY " + list_of(keys);
        return " FROM (" + inner + ") AS person" +
               (per_person.where.empty() ? "" : " WHERE " + printed_expression(per_person.where, true));
    }

    static std::string list_of(const std::vector<std::string> &texts) {
        std::string text;
        for (std::size_t i = 0; i < texts.size(); i++)
            text += (i > 0 ? ", " : "") + texts[i];
        return text;
    }

    std::string arguments_of(const Measure &measure) {
        std::vector<std::string> texts;
        for (const Column &column : measure.person)
            texts.push_back(printed_column(column.source, column.name));
        for (const Expression &argument : measure.arguments)
            texts.push_back(printed_expression(argument, plan.per_person.has_value()));
        const std::string list = list_of(texts);
        if (measure.kind == Kind::rows)
            return "*";
        if (measure.kind == Kind::people || measure.kind == Kind::values)
            return texts.size() > 1 ? "DISTINCT (" + list + ")" : "DISTINCT " + list;
        return list;
    }

    std::string printed_measure(const Measure &measure) {
        const std::string filter = printed_filter(measure.filter, plan.per_person.has_value());
        const std::string arguments = arguments_of(measure);
        if (measure.kind == Kind::quantile && measure.fraction > 0 && measure.fraction < fraction_one)
            return "percentile_disc(" + printed_fraction(measure.fraction) + ") WITHIN GROUP (ORDER BY " + arguments + ")" +
                   filter;
        const std::string_view name = measure.kind != Kind::quantile ? names_of_kinds[static_cast<std::size_t>(measure.kind)]
                                      : measure.fraction == 0        ? "min"
                                                                     : "max";
        return std::string(name) + "(" + arguments + ")" + filter;
    }

    std::string printed_plan() {
        std::vector<std::string> keys, outputs;
        for (const Expression &key : plan.keys)
            keys.push_back(key.size() == 1 && key.front().op == Op::constant
                               ? printed_key_constant(key.front())
                               : printed_expression(key, plan.per_person.has_value()));
        outputs = keys;
        for (const Measure &measure : plan.measures)
            outputs.push_back(printed_measure(measure));
        return "SELECT " + list_of(outputs) +
               (plan.per_person ? printed_per_person(*plan.per_person) : printed_from() + printed_where()) +
               (keys.empty() ? "" : " GROUP BY " + list_of(keys));
    }
};

} // namespace

std::string quoted_name(std::string_view name) {
    return is_plain(name) ? std::string(name) : quoted(name, '"');
}

std::string quoted_text(std::string_view text) {
    return quoted(text, '\'');
}

std::string print(const Plan &plan) {
    return Printer(plan).printed_plan();
}

} // namespace dp::plan
