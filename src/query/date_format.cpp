#include "query/date_format.hpp"

namespace dp::query {

bool is_calm(Timestamp value) {
    constexpr int64 year = INT64CONST(365) * USECS_PER_DAY;
    return TIMESTAMP_NOT_FINITE(value) || (value > -3700 * year && value < 288000 * year);
}

namespace {
enum class Item : uint8 {
    year,
    iso_year,
    quarter,
    month,
    week,
    iso_week,
    day,
    day_of_year,
    day_of_week,
    iso_day_of_week,
    hour,
    half_hour, // of twelve
    minute,
    second,
    milliseconds,
    microseconds,
    month_name,
    month_short,
    day_name,
    day_short
};

enum class Letters : uint8 { any, capitals, small, word };

struct Token {
    const char *text;
    Item item;
    Letters letters;
};
} // namespace

// Longer ones before those that they begin with, as in the server. What only the server knows (IDDD, SSSS ...) is not among
// them, and nothing that follows on its beginning may be read as another item.
static const Token tokens[] = {
    {"YYYY", Item::year, Letters::any},
    {"IYYY", Item::iso_year, Letters::any},
    {"IW", Item::iso_week, Letters::any},
    {"ID", Item::iso_day_of_week, Letters::any},
    {"Q", Item::quarter, Letters::any},
    {"MM", Item::month, Letters::any},
    {"MI", Item::minute, Letters::any},
    {"MS", Item::milliseconds, Letters::any},
    {"MONTH", Item::month_name, Letters::capitals},
    {"month", Item::month_name, Letters::small},
    {"Month", Item::month_name, Letters::word},
    {"MON", Item::month_short, Letters::capitals},
    {"mon", Item::month_short, Letters::small},
    {"Mon", Item::month_short, Letters::word},
    {"DAY", Item::day_name, Letters::capitals},
    {"day", Item::day_name, Letters::small},
    {"Day", Item::day_name, Letters::word},
    {"DY", Item::day_short, Letters::capitals},
    {"dy", Item::day_short, Letters::small},
    {"Dy", Item::day_short, Letters::word},
    {"DDD", Item::day_of_year, Letters::any},
    {"DD", Item::day, Letters::any},
    {"D", Item::day_of_week, Letters::any},
    {"WW", Item::week, Letters::any},
    {"HH24", Item::hour, Letters::any},
    {"HH12", Item::half_hour, Letters::any},
    {"HH", Item::half_hour, Letters::any},
    {"SS", Item::second, Letters::any},
    {"US", Item::microseconds, Letters::any},
};

// ---- reading -------------------------------------------------------------------------------------------------------

// Numbers in capitals or in small letters, not mixed.
static bool begins_with(const char *c, const Token &token) {
    const size_t length = strlen(token.text);
    if (strncmp(c, token.text, length) == 0)
        return true;
    if (token.letters != Letters::any)
        return false;
    for (size_t i = 0; i < length; i++)
        if (c[i] != pg_ascii_tolower(static_cast<unsigned char>(token.text[i])))
            return false;
    return true;
}

static const Token *token_at(const char *c) {
    const unsigned char first = pg_ascii_toupper(static_cast<unsigned char>(*c));
    for (const Token &token : tokens)
        if (pg_ascii_toupper(static_cast<unsigned char>(*token.text)) == first && begins_with(c, token))
            return &token;
    return nullptr;
}

static bool is_punctuation(char c) {
    return c != '\0' && strchr(" -/.,:;_()", c) != nullptr;
}

// Behind a text in quotes, or null.
static const char *behind_quotes(const char *c) {
    for (c++; *c != '"'; c++)
        if (*c < ' ' || *c > '~' || *c == '\\')
            return nullptr;
    return c + 1;
}

// Returns true where the server would read one item and we read two.
static bool is_ambiguous(const char *c) {
    return pg_strncasecmp(c, "IDDD", 4) == 0 || pg_strncasecmp(c, "SSSS", 4) == 0;
}

// Behind the item, text or punctuation at c; null: there is none.
static const char *next_part(const char *c, const Token **token, bool *fill) {
    *token = nullptr;
    *fill = true;
    if (is_punctuation(*c))
        return c + 1;
    if (*c == '"')
        return behind_quotes(c);
    if (strncmp(c, "FM", 2) == 0) {
        *fill = false;
        c += 2;
    }
    *token = is_ambiguous(c) ? nullptr : token_at(c);
    return *token == nullptr ? nullptr : c + strlen((*token)->text);
}

bool is_date_format(const char *format) {
    const Token *token;
    bool fill;
    while (format != nullptr && *format != '\0')
        format = next_part(format, &token, &fill);
    return format != nullptr;
}

static Finest finest_of(Item item) {
    switch (item) {
    case Item::hour:
    case Item::half_hour:
        return Finest::hour;
    case Item::minute:
        return Finest::minute;
    case Item::second:
    case Item::milliseconds:
    case Item::microseconds:
        return Finest::second;
    default:
        return Finest::day;
    }
}

Finest finest_of_format(const char *format) {
    Finest finest = Finest::day;
    const Token *token;
    bool fill;
    while (format != nullptr && *format != '\0') {
        format = next_part(format, &token, &fill);
        if (token != nullptr)
            finest = Max(finest, finest_of(token->item));
    }
    return finest;
}

// ---- printing ------------------------------------------------------------------------------------------------------

static void print_name(StringInfo out, const char *name, int length, Letters letters, int width) {
    for (int i = 0; i < length; i++) {
        const auto c = static_cast<unsigned char>(name[i]);
        appendStringInfoChar(out, static_cast<char>(letters == Letters::capitals ? pg_ascii_toupper(c)
                                                    : letters == Letters::small  ? pg_ascii_tolower(c)
                                                                                 : c));
    }
    for (int i = length; i < width; i++)
        appendStringInfoChar(out, ' ');
}

// None is negative.
static void print_number(StringInfo out, int number, int digits) {
    char text[16];
    char *end = text + sizeof(text), *c = end;
    for (; number > 0 || c == end || end - c < digits; number /= 10)
        *--c = static_cast<char>('0' + number % 10);
    appendBinaryStringInfo(out, c, static_cast<int>(end - c));
}

// There is no year 0: the one before 1 is called 1, too.
static int year_called(int year) {
    return year <= 0 ? -(year - 1) : year;
}

struct Number {
    int value, digits;
};

static Number number_of(Item item, const struct pg_tm *tm, fsec_t microseconds) {
    constexpr int half_day = 12, week = 7;
    switch (item) {
    case Item::year:
        return Number{year_called(tm->tm_year), 4};
    case Item::iso_year:
        return Number{year_called(date2isoyear(tm->tm_year, tm->tm_mon, tm->tm_mday)), 4};
    case Item::quarter:
        return Number{(tm->tm_mon - 1) / 3 + 1, 1};
    case Item::month:
        return Number{tm->tm_mon, 2};
    case Item::week:
        return Number{(tm->tm_yday - 1) / week + 1, 2};
    case Item::iso_week:
        return Number{date2isoweek(tm->tm_year, tm->tm_mon, tm->tm_mday), 2};
    case Item::day:
        return Number{tm->tm_mday, 2};
    case Item::day_of_year:
        return Number{tm->tm_yday, 3};
    case Item::day_of_week:
        return Number{tm->tm_wday + 1, 1};
    case Item::iso_day_of_week:
        return Number{tm->tm_wday == 0 ? week : tm->tm_wday, 1};
    case Item::hour:
        return Number{tm->tm_hour, 2};
    case Item::half_hour:
        return Number{tm->tm_hour % half_day == 0 ? half_day : tm->tm_hour % half_day, 2};
    case Item::minute:
        return Number{tm->tm_min, 2};
    case Item::second:
        return Number{tm->tm_sec, 2};
    case Item::milliseconds:
        return Number{microseconds / 1000, 3};
    default:
        return Number{microseconds, 6};
    }
}

static void print_item(StringInfo out, const Token *token, bool fill, const struct pg_tm *tm, fsec_t microseconds) {
    static const char *const month_names[] = {"January", "February", "March",     "April",   "May",      "June",
                                              "July",    "August",   "September", "October", "November", "December"};
    constexpr int longest_name = 9, abbreviation = 3;
    const bool of_month = token->item == Item::month_name || token->item == Item::month_short;
    const char *name = of_month ? month_names[tm->tm_mon - 1] : days[tm->tm_wday];
    switch (token->item) {
    case Item::month_name:
    case Item::day_name:
        print_name(out, name, static_cast<int>(strlen(name)), token->letters, fill ? longest_name : 0);
        break;
    case Item::month_short:
    case Item::day_short:
        print_name(out, name, abbreviation, token->letters, 0);
        break;
    default: {
        const Number number = number_of(token->item, tm, microseconds);
        print_number(out, number.value, fill ? number.digits : 0);
    }
    }
}

char *print_date(const char *format, const struct pg_tm *tm, fsec_t microseconds) {
    StringInfo out = makeStringInfo();
    while (*format != '\0') {
        const Token *token;
        bool fill;
        const char *next = next_part(format, &token, &fill);
        if (next == nullptr) // not of is_date_format
            break;
        if (token != nullptr)
            print_item(out, token, fill, tm, microseconds);
        else if (*format == '"')
            appendBinaryStringInfo(out, format + 1, static_cast<int>(next - format) - 2);
        else
            appendStringInfoChar(out, *format);
        format = next;
    }
    return out->data;
}

} // namespace dp::query
