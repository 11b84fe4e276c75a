#include "query/date_style.hpp"

#include "border/versions.hpp"
#include "border/visit.hpp"
#include "query/make.hpp"

namespace dp::query {

// ---- the setting ---------------------------------------------------------------------------------------------------

bool read_date_style(const char *text, DateSettings *style) {
    static const struct {
        const char *name;
        int value;
    } styles[] = {{"ISO", USE_ISO_DATES},
                  {"SQL", USE_SQL_DATES},
                  {"Postgres", USE_POSTGRES_DATES},
                  {"German", USE_GERMAN_DATES}},
      orders[] = {{", YMD", DATEORDER_YMD}, {", DMY", DATEORDER_DMY}, {", MDY", DATEORDER_MDY}};
    for (const auto &first : styles)
        for (const auto &second : orders) {
            const size_t length = strlen(first.name);
            if (strncmp(text, first.name, length) == 0 && strcmp(text + length, second.name) == 0) {
                *style = {first.value, second.value};
                return true;
            }
        }
    return false;
}

const char *style_of_dates(const Query *leaf) {
    const char *style = nullptr;
    border::visit(reinterpret_cast<Node *>(const_cast<Query *>(leaf)), [&](Node *node, Index) {
        const auto *call = IsA(node, FuncExpr) ? castNode(FuncExpr, node) : nullptr;
        if (call == nullptr || call->funcid < FirstUnpinnedObjectId || list_length(call->args) != 2 ||
            call->funcresulttype == TEXTOID)
            return border::Step::in;
        const Const *last = value_in(static_cast<Node *>(lsecond(call->args)));
        if (last == nullptr || last->consttype != TEXTOID)
            return border::Step::in;
        style = TextDatumGetCString(last->constvalue);
        return border::Step::stop;
    });
    return style;
}

// ---- reading -------------------------------------------------------------------------------------------------------

// The kind of a word that the server knows without a clock, a file or a setting; UNKNOWN_FIELD: of another one.
static int kind_of_word(const char *word) {
    char token[TOKMAXLEN + 1];
    int value;
    strlcpy(token, word, sizeof(token));
    const int kind = DecodeSpecial(0, token, &value);
    const bool plain =
        kind != DTZMOD && kind != TZ && kind != DTZ &&
        (kind != RESERV || value == DTK_EARLY || value == DTK_LATE || value == DTK_EPOCH || value == DTK_ZULU);
    return plain ? kind : UNKNOWN_FIELD;
}

static bool is_letter(char c) {
    return isalpha(static_cast<unsigned char>(c)) || IS_HIGHBIT_SET(c);
}

// Tells whether all words of a field are plain: what is none could be the name of a zone, which is looked for in files.
static bool has_plain_words(const char *field) {
    char word[MAXDATELEN + MAXDATEFIELDS];
    for (const char *c = field; *c != '\0';) {
        size_t length = 0;
        while (is_letter(c[length]))
            length++;
        if (length > 0) {
            memcpy(word, c, length);
            word[length] = '\0';
            if (kind_of_word(word) == UNKNOWN_FIELD)
                return false;
        }
        c += length > 0 ? length : 1;
    }
    return true;
}

static bool is_universal_time(const char *field) {
    return strcmp(field, "z") == 0 || strcmp(field, "utc") == 0 || strcmp(field, "gmt") == 0;
}

// Tells whether the fields are read without an error that is raised, in place of one that is returned. Behind a date the server takes
// letters with punctuation for a zone's name: "am.".
static bool are_plain(char **fields, int *types, int n) {
    static char zero[] = "+00";
    bool dated = false;
    for (int i = 0; i < n; i++) {
        if (types[i] == DTK_STRING && is_universal_time(fields[i])) { // the server looks for it among abbreviations
            fields[i] = zero;
            types[i] = DTK_TZ;
        }
        if (!has_plain_words(fields[i]) || (dated && types[i] == DTK_DATE && is_letter(fields[i][0])))
            return false;
        dated = dated || types[i] != DTK_STRING || kind_of_word(fields[i]) != DOW;
    }
    return true;
}

bool read_moment(const char *text, int order, int *type, struct pg_tm *tm, fsec_t *microseconds) {
    char work[MAXDATELEN + 1];
    char *fields[MAXDATEFIELDS];
    int types[MAXDATEFIELDS], n;
    if (ParseDateTime(text, work, sizeof(work), fields, types, MAXDATEFIELDS, &n) != 0 || !are_plain(fields, types, n))
        return false;
    const int own = DateOrder;
    DateOrder = order;
    const bool read = border::decode_moment(fields, types, n, type, tm, microseconds);
    DateOrder = own;
    return read && (*type == DTK_DATE || *type == DTK_EPOCH || *type == DTK_EARLY || *type == DTK_LATE);
}

} // namespace dp::query
