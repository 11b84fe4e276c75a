#include "picture/html.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace dp::picture {

// ---- characters ----

namespace {
struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 1;
    bool valid = false; // else one byte that is no UTF-8
};
struct CodeRange {
    std::uint32_t first, last;
};
} // namespace

// Controls; characters without width or ink; those that set directions; private ones; what no document may have.
constexpr CodeRange unseen[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x034F, 0x034F},   {0x061C, 0x061C},   {0x115F, 0x1160},
    {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0x2800, 0x2800},
    {0x3164, 0x3164}, {0xD800, 0xF8FF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
    {0xFFFE, 0xFFFF}, {0x13430, 0x1345F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0x10FFFF}};

static bool is_unseen(std::uint32_t code) {
    return std::any_of(std::begin(unseen), std::end(unseen),
                       [&](const CodeRange &range) { return range.first <= code && code <= range.last; }) ||
           (code & 0xFFFE) == 0xFFFE;
}

static Character character_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned char first = byte(0);
    if (first < 0x80)
        return {first, 1, true};
    const std::size_t bytes = first >= 0xF0 && first < 0xF5   ? 4
                              : first >= 0xE0 && first < 0xF0 ? 3
                              : first >= 0xC2 && first < 0xE0 ? 2
                                                              : 0;
    if (bytes == 0 || text.size() - at < bytes)
        return {first, 1, false};
    std::uint32_t code = first & (0xFFu >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xC0) != 0x80)
            return {first, 1, false};
        code = code << 6 | (byte(i) & 0x3Fu);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return {first, 1, false};
    return {code, bytes, true};
}

static std::string printed(const char *format, unsigned number) {
    char buffer[24];
    std::snprintf(buffer, sizeof buffer, format, number);
    return buffer;
}

// Empty: the character is shown as it is.
static std::string name_of(const Character &character) {
    if (!character.valid)
        return printed("0x%02X", character.code);
    return is_unseen(character.code) ? printed("U+%04X", character.code) : std::string();
}

static void put_character(std::string &made, std::uint32_t code) {
    switch (code) {
    case '&':
        made += "&amp;";
        return;
    case '<':
        made += "&lt;";
        return;
    case '>':
        made += "&gt;";
        return;
    case '"':
        made += "&quot;";
        return;
    case '\'':
        made += "&#39;";
        return;
    default:
        if (code < 0x80)
            made += static_cast<char>(code);
        else
            made += printed("&#x%X;", code);
    }
}

std::string escaped(std::string_view text, Place place) {
    std::string made;
    made.reserve(text.size() + text.size() / 8);
    for (std::size_t at = 0; at < text.size();) {
        const Character character = character_at(text, at);
        at += character.bytes;
        const bool line = place == Place::lines && (character.code == '\n' || character.code == '\t');
        const std::string name = line ? std::string() : name_of(character);
        if (name.empty())
            put_character(made, character.code);
        else
            made += place == Place::plain ? name : "<b class=\"unseen\">" + name + "</b>";
    }
    return made;
}

std::string cut(std::string_view text, std::size_t characters) {
    std::size_t room = characters;
    for (std::size_t at = 0; at < text.size();) {
        const Character character = character_at(text, at);
        const std::size_t width = std::max<std::size_t>(name_of(character).size(), 1);
        if (width > room)
            return std::string(text.substr(0, at)) + "\xE2\x80\xA6";
        room -= width;
        at += character.bytes;
    }
    return std::string(text);
}

// ---- numbers ----

static std::string formatted(const char *format, int digits, double value) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, format, digits, value);
    return buffer;
}

// Leaves the exponent out where that is readable.
std::string shown(double value, int digits) {
    const std::string text = formatted("%.*g", digits, value);
    const double size = std::fabs(value);
    return text.find('e') != std::string::npos && size >= 1 && size < 1e12
               ? formatted("%.*f", 0, std::strtod(text.c_str(), nullptr))
               : text;
}

std::string exact(double value) {
    int digits = 1;
    while (digits < 17 && std::strtod(formatted("%.*g", digits, value).c_str(), nullptr) != value)
        ++digits;
    return formatted("%.*g", digits, value);
}

} // namespace dp::picture
