#include "query/date_format.hpp"

#include <cstdlib>

namespace dp::query {

bool is_calm(Timestamp value) {
    constexpr int64 year = INT64CONST(365) * USECS_PER_DAY;
    return TIMESTAMP_NOT_FINITE(value) || (value > -3700 * year && value < 288000 * year);
}

// Tells turns by whole quarters of an hour, of two hours at most, and not twice within two weeks. What a name says goes on for ever: a few
// turns show all.
static bool turns_calmly(const pg_tz *zone) {
    constexpr pg_time_t quarter = 15 * SECS_PER_MINUTE, most = 2 * SECS_PER_HOUR, apart = 14 * SECS_PER_DAY;
    pg_time_t last = 0, turn = 0;
    for (int i = 0; i < 6; i++, last = turn) {
        long before, after;
        int was_summer, is_summer;
        if (pg_next_dst_boundary(&last, &before, &was_summer, &turn, &after, &is_summer, zone) <= 0)
            return true;
        if (std::labs(before) > SECS_PER_DAY || std::labs(after) > SECS_PER_DAY || std::labs(after - before) > most ||
            before % quarter != 0 || after % quarter != 0 || turn % quarter != 0 || (i > 0 && turn - last < apart))
            return false;
    }
    return true;
}

// The database of zones is tried as a whole (test/groups/zones.py); of those that turn none but a few of one rule has a digit.
bool is_calm(const pg_tz *zone) {
    long offset;
    if (pg_get_timezone_offset(zone, &offset))
        return std::labs(offset) <= SECS_PER_DAY;
    return strpbrk(pg_get_timezone_name(const_cast<pg_tz *>(zone)), "0123456789") == nullptr || turns_calmly(zone);
}

namespace {
struct Token {
    const char *text;
    Finest finest;
    int cycles;   // Cycle
    bool is_name; // written as it stands; numbers in capitals or in small letters, not mixed
};
} // namespace

// Longer ones before those that they begin with, as in the server. What only the server knows (IDDD, SSSS ...) is not among
// them, and nothing that follows on its beginning may be read as another item.
static const Token tokens[] = {
    {"YYYY", Finest::day, never, false},
    {"IYYY", Finest::day, never, false},
    {"IW", Finest::day, of_year | of_week, false},
    {"ID", Finest::day, of_week, false},
    {"Q", Finest::day, of_year, false},
    {"MM", Finest::day, of_year, false},
    {"MI", Finest::minute, of_hour, false},
    {"MS", Finest::second, of_hour, false},
    {"MONTH", Finest::day, of_year, true},
    {"month", Finest::day, of_year, true},
    {"Month", Finest::day, of_year, true},
    {"MON", Finest::day, of_year, true},
    {"mon", Finest::day, of_year, true},
    {"Mon", Finest::day, of_year, true},
    {"DAY", Finest::day, of_week, true},
    {"day", Finest::day, of_week, true},
    {"Day", Finest::day, of_week, true},
    {"DY", Finest::day, of_week, true},
    {"dy", Finest::day, of_week, true},
    {"Dy", Finest::day, of_week, true},
    {"DDD", Finest::day, of_year, false},
    {"DD", Finest::day, of_year, false},
    {"D", Finest::day, of_week, false},
    {"WW", Finest::day, of_year, false},
    {"HH24", Finest::hour, of_day, false},
    {"HH12", Finest::hour, of_day, false},
    {"HH", Finest::hour, of_day, false},
    {"SS", Finest::second, of_hour, false},
    {"US", Finest::second, of_hour, false},
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

namespace {
// Holds what the items of a format tell, so far.
struct Told {
    Finest finest;
    int cycles;
};
} // namespace

// Behind the item, text or punctuation at c; null: there is none. The item may tell a finer part of the time.
static const char *next_part(const char *c, Told *told) {
    if (strchr(" -/.,:;_()", *c) != nullptr)
        return c + 1;
    if (*c == '"')
        return behind_quotes(c);
    if (strncmp(c, "FM", 2) == 0)
        c += 2;
    const Token *token = token_at(c);
    if (token == nullptr)
        return nullptr;
    told->finest = Max(told->finest, token->finest);
    told->cycles |= token->cycles;
    return c + strlen(token->text);
}

// False: some part is none of these.
static bool read_format(const char *format, Told *told) {
    *told = {Finest::day, 0};
    while (format != nullptr && *format != '\0')
        format = next_part(format, told);
    return format != nullptr;
}

bool is_date_format(const char *format) {
    Told told;
    return read_format(format, &told);
}

Finest finest_of_format(const char *format) {
    Told told;
    (void)read_format(format, &told);
    return told.finest;
}

int cycles_of_format(const char *format) {
    Told told;
    return read_format(format, &told) ? told.cycles : never;
}

} // namespace dp::query
