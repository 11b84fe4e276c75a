#include "query/date_format.hpp"

namespace dp::query {

bool is_calm(Timestamp value) {
    constexpr int64 year = INT64CONST(365) * USECS_PER_DAY;
    return TIMESTAMP_NOT_FINITE(value) || (value > -3700 * year && value < 288000 * year);
}

namespace {
struct Token {
    const char *text;
    Finest finest;
    bool is_name; // written as it stands; numbers in capitals or in small letters, not mixed
};
} // namespace

// Longer ones before those that they begin with, as in the server. What only the server knows (IDDD, SSSS ...) is not among
// them, and nothing that follows on its beginning may be read as another item.
static const Token tokens[] = {
    {"YYYY", Finest::day, false},  {"IYYY", Finest::day, false},   {"IW", Finest::day, false},
    {"ID", Finest::day, false},    {"Q", Finest::day, false},      {"MM", Finest::day, false},
    {"MI", Finest::minute, false}, {"MS", Finest::second, false},  {"MONTH", Finest::day, true},
    {"month", Finest::day, true},  {"Month", Finest::day, true},   {"MON", Finest::day, true},
    {"mon", Finest::day, true},    {"Mon", Finest::day, true},     {"DAY", Finest::day, true},
    {"day", Finest::day, true},    {"Day", Finest::day, true},     {"DY", Finest::day, true},
    {"dy", Finest::day, true},     {"Dy", Finest::day, true},      {"DDD", Finest::day, false},
    {"DD", Finest::day, false},    {"D", Finest::day, false},      {"WW", Finest::day, false},
    {"HH24", Finest::hour, false}, {"HH12", Finest::hour, false},  {"HH", Finest::hour, false},
    {"SS", Finest::second, false}, {"US", Finest::second, false},
};

static bool begins_with(const char *c, const Token &token) {
    const size_t length = strlen(token.text);
    if (strncmp(c, token.text, length) == 0)
        return true;
    for (size_t i = 0; i < length; i++)
        if (token.is_name || c[i] != pg_ascii_tolower(static_cast<unsigned char>(token.text[i])))
            return false;
    return true;
}

// Null: there is none, or the server would read one item where we read two.
static const Token *token_at(const char *c) {
    if (pg_strncasecmp(c, "IDDD", 4) == 0 || pg_strncasecmp(c, "SSSS", 4) == 0)
        return nullptr;
    for (const Token &token : tokens)
        if (begins_with(c, token))
            return &token;
    return nullptr;
}

// Behind a text in quotes, or null.
static const char *behind_quotes(const char *c) {
    for (c++; *c != '"'; c++)
        if (*c < ' ' || *c > '~' || *c == '\\')
            return nullptr;
    return c + 1;
}

// Behind the item, text or punctuation at c; null: there is none. The item may tell a finer part of the time.
static const char *next_part(const char *c, Finest *finest) {
    if (strchr(" -/.,:;_()", *c) != nullptr)
        return c + 1;
    if (*c == '"')
        return behind_quotes(c);
    if (strncmp(c, "FM", 2) == 0)
        c += 2;
    const Token *token = token_at(c);
    if (token == nullptr)
        return nullptr;
    *finest = Max(*finest, token->finest);
    return c + strlen(token->text);
}

// False: some part is none of these.
static bool read_format(const char *format, Finest *finest) {
    *finest = Finest::day;
    while (format != nullptr && *format != '\0')
        format = next_part(format, finest);
    return format != nullptr;
}

bool is_date_format(const char *format) {
    Finest finest;
    return read_format(format, &finest);
}

Finest finest_of_format(const char *format) {
    Finest finest;
    (void)read_format(format, &finest);
    return finest;
}

} // namespace dp::query
