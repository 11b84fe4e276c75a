#include "core/plan_words.hpp"

#include <algorithm>
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

// Lists control characters, separators, blanks other than U+0020, and what has no width or turns the direction of what follows.
constexpr Range hidden[] = {{0x01, 0x1f},       {0x7f, 0xa0},       {0xad, 0xad},       {0x34f, 0x34f},
                            {0x61c, 0x61c},     {0x115f, 0x1160},   {0x1680, 0x1680},   {0x17b4, 0x17b5},
                            {0x180b, 0x180f},   {0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x206f},
                            {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},
                            {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff9, 0xfffb},   {0x13430, 0x1343f},
                            {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

bool is_hidden(std::uint32_t point) {
    return std::any_of(std::begin(hidden), std::end(hidden),
                       [&](const Range &range) { return point >= range.first && point <= range.last; });
}

struct Point {
    std::uint32_t value;
    std::size_t bytes;
};

// A byte that begins no character of UTF-8 stands for itself: a database may hold such texts.
Point first_point(std::string_view text, bool utf8) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::size_t bytes = byte(0) < 0xc0 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : byte(0) < 0xf8 ? 4 : 1;
    if (!utf8 || bytes == 1 || bytes > text.size())
        return {byte(0) < 0x80 ? byte(0) : 0u, 1};
    std::uint32_t value = byte(0) & (0x7f >> bytes);
    for (std::size_t i = 1; i < bytes; i++) {
        if ((byte(i) & 0xc0) != 0x80)
            return {0, 1};
        value = value << 6 | (byte(i) & 0x3f);
    }
    return {value, bytes};
}

template <class F> void each_point(std::string_view text, bool utf8, F take) {
    while (!text.empty()) {
        const Point point = first_point(text, utf8);
        take(point.value, text.substr(0, point.bytes));
        text.remove_prefix(point.bytes);
    }
}

std::string escape_of(std::uint32_t point) {
    char text[16];
    std::snprintf(text, sizeof text, point > 0xffff ? "\\+%06X" : "\\%04X", static_cast<unsigned>(point));
    return text;
}

std::string quoted(std::string_view text, char quote, bool utf8) {
    bool escapes = false;
    each_point(text, utf8, [&](std::uint32_t point, std::string_view) { escapes = escapes || is_hidden(point); });
    std::string out = escapes ? "U&" : "";
    out += quote;
    each_point(text, utf8, [&](std::uint32_t point, std::string_view bytes) {
        if (is_hidden(point))
            out += escape_of(point);
        else if (bytes[0] == quote || (escapes && bytes[0] == '\\'))
            out.append(2, bytes[0]);
        else
            out += bytes;
    });
    return out + quote;
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

bool is_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace

std::string Words::quoted_name(std::string_view name) const {
    return is_plain(name) ? std::string(name) : quoted(name, '"', utf8);
}

std::string Words::quoted_text(std::string_view text) const {
    return quoted(text, '\'', utf8);
}

std::string Words::printed(const Name &name) const {
    return name.schema.empty() ? quoted_name(name.name) : quoted_name(name.schema) + "." + quoted_name(name.name);
}

std::string Words::printed(const Type &type) const {
    std::string name = printed(type.name);
    if (type.name.schema.empty())
        for (const TypeName &known : type_names)
            if (known.stored == type.name.name)
                name = known.printed;
    if (type.name.name == "bit" && type.name.schema.empty() && type.modifier >= 0)
        name = "bit"; // in quotes it has no length
    return name + printed_modifier(type) + (type.is_array ? "[]" : "");
}

std::string Words::printed_constant(const Node &node, bool is_key) const {
    const bool plain = !is_key && node.type.name.schema.empty() && !node.type.is_array && node.type.modifier < 0;
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

} // namespace dp::plan
