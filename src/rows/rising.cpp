#include "rows/rising.hpp"

#include <cmath>

#include "rows/sums.hpp"

namespace dp::rows {

static bool is_utc(const char *zone) {
    for (const char *name : {"UTC", "Etc/UTC", "GMT", "Etc/GMT"})
        if (pg_strcasecmp(zone, name) == 0)
            return true;
    return false;
}

bool is_utc() {
    return is_utc(GetConfigOption("TimeZone", false, false));
}

namespace {
// Holds a call with one argument that is no constant.
struct Call {
    Oid function;
    const List *arguments;
    int place; // of that argument
    Node *argument() const { return static_cast<Node *>(list_nth(arguments, place)); }
    Datum constant(int i) const { return castNode(Const, list_nth(arguments, i))->constvalue; }
    const char *word(int i) const { return TextDatumGetCString(constant(i)); }
};
} // namespace

static bool read_call(Node *node, Call *call) {
    if (!IsA(node, FuncExpr) && !IsA(node, OpExpr))
        return false;
    *call = IsA(node, FuncExpr) ? Call{castNode(FuncExpr, node)->funcid, castNode(FuncExpr, node)->args, -1}
                                : Call{get_opcode(castNode(OpExpr, node)->opno), castNode(OpExpr, node)->args, -1};
    ListCell *cell;
    foreach (cell, call->arguments) {
        auto *argument = static_cast<Node *>(lfirst(cell));
        if (IsA(argument, Const) && !castNode(Const, argument)->constisnull)
            continue;
        if (IsA(argument, Const) || call->place >= 0)
            return false;
        call->place = foreach_current_index(cell);
    }
    return call->place >= 0;
}

// Whether a moment is the beginning of a day by the clocks of the session. These are in the order of the days; other moments, where
// clocks are turned, are not in that of local times.
static bool is_midnight(Node *node) {
    Call call;
    check_stack_depth();
    return read_call(node, &call) &&
           (call.function == F_TIMESTAMPTZ_DATE ||
            (call.function == F_DATE_TRUNC_TEXT_TIMESTAMPTZ && call.place == 1 && is_midnight(call.argument())));
}

// Fields that are no smaller later on.
static bool is_rising_field(const char *field) {
    for (const char *name : {"year", "isoyear", "decade", "century", "millennium", "epoch"})
        if (pg_strcasecmp(field, name) == 0)
            return true;
    return false;
}

static bool rises_as_part(const Call &call) {
    const bool by_clock = is_utc() || is_midnight(call.argument());
    switch (call.function) {
    case F_TIMESTAMP_DATE:
    case F_DATE_TIMESTAMP:
    case F_TIMESTAMPTZ_DATE:
        return true;
    case F_TIMESTAMPTZ_TIMESTAMP:
        return is_utc();
    case F_TIMESTAMP_TIMESTAMPTZ:
    case F_DATE_TIMESTAMPTZ:
        return by_clock;
    case F_TIMEZONE_TEXT_TIMESTAMP:
    case F_TIMEZONE_TEXT_TIMESTAMPTZ:
        return call.place == 1 && is_utc(call.word(0));
    case F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP:
    case F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ:
    case F_DATE_TRUNC_TEXT_TIMESTAMP:
        return call.place == 1;
    case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
        return call.place == 1 && by_clock;
    case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
        return call.place == 1 && is_utc(call.word(2));
    case F_EXTRACT_TEXT_DATE:
    case F_EXTRACT_TEXT_TIMESTAMP:
    case F_DATE_PART_TEXT_DATE:
    case F_DATE_PART_TEXT_TIMESTAMP:
        return call.place == 1 && is_rising_field(call.word(0));
    case F_EXTRACT_TEXT_TIMESTAMPTZ:
    case F_DATE_PART_TEXT_TIMESTAMPTZ:
        return call.place == 1 && by_clock && is_rising_field(call.word(0));
    default:
        return false;
    }
}

// Months may be added to dates alone: January 30th at noon and a month is later than January 31st at midnight and a month. Of days of
// moments the clocks say how long they are.
static bool rises_by_interval(const Call &call) {
    const auto length = [&](int i) { return DatumGetIntervalP(call.constant(i)); };
    switch (call.function) {
    case F_DATE_PLI:
    case F_INTEGER_PL_DATE:
        return true;
    case F_DATE_MII:
    case F_DATE_PL_INTERVAL:
    case F_DATE_MI_INTERVAL:
        return call.place == 0;
    case F_INTERVAL_PL_DATE:
        return call.place == 1;
    case F_TIMESTAMP_PL_INTERVAL:
    case F_TIMESTAMP_MI_INTERVAL:
        return call.place == 0 && length(1)->month == 0;
    case F_INTERVAL_PL_TIMESTAMP:
        return call.place == 1 && length(0)->month == 0;
    case F_TIMESTAMPTZ_PL_INTERVAL:
    case F_TIMESTAMPTZ_MI_INTERVAL:
        return call.place == 0 && length(1)->month == 0 && (length(1)->day == 0 || is_utc());
    case F_INTERVAL_PL_TIMESTAMPTZ:
        return call.place == 1 && length(0)->month == 0 && (length(0)->day == 0 || is_utc());
    default:
        return false;
    }
}

// Arithmetic of whole numbers with a constant, by the names of operators.
static bool rises_as_number(Node *node, const Call &call) {
    const char *name = IsA(node, OpExpr) ? get_opname(castNode(OpExpr, node)->opno) : "";
    if (list_length(call.arguments) != 2 || !is_integer(exprType(call.argument())))
        return false;
    auto *other = castNode(Const, list_nth(call.arguments, 1 - call.place));
    if (!is_integer(other->consttype))
        return false;
    const bool positive = integer_value(value_kind(other->consttype), other->constvalue) > 0;
    return strcmp(name, "+") == 0 || (strcmp(name, "-") == 0 && call.place == 0) ||
           (strcmp(name, "*") == 0 && positive) || (strcmp(name, "/") == 0 && call.place == 0 && positive);
}

// ---- where they begin ----------------------------------------------------------------------------------------------

using privacy::Span;

constexpr double day = 86400e6; // microseconds

static Span wider(const Span &span, double below, double above) {
    return Span{span.low - below, span.high + above, span.decimals};
}

// Bounds days by their years. No ends: beyond what a calendar has.
static Span days_of_years(const Span &years) {
    constexpr double first = 1, last = 3000;
    const auto begin = [](double year) { return date2j(static_cast<int>(year), 1, 1) - POSTGRES_EPOCH_JDATE; };
    const double from = std::ceil(years.low), to = std::floor(years.high);
    return Span{from >= first && from <= last ? begin(from) : -Span::nowhere,
                to >= first && to <= last ? begin(to + 1) - 1 : Span::nowhere, 0};
}

static Span moments_of_days(const Span &days) {
    return Span{days.low * day, days.high * day + day - 1, 0};
}

// The longest period that date_trunc() gives the beginning of; 0: of no kind that is known here.
static double longest_period(const char *unit) {
    static const struct {
        const char *name;
        double days;
    } periods[] = {{"hour", 1},     {"day", 1},    {"week", 7},      {"month", 31},
                   {"quarter", 92}, {"year", 366}, {"decade", 3660}, {"century", 36600}};
    for (const auto &period : periods)
        if (pg_strcasecmp(unit, period.name) == 0)
            return period.days * day;
    return 0;
}

static bool is_year(const Call &call) {
    return call.place == 1 && pg_strcasecmp(call.word(0), "year") == 0;
}

Node *below_part(Node *part, Span *span) {
    Call call;
    if (!IsA(part, FuncExpr) || !read_call(part, &call))
        return nullptr;
    const double zone = exprType(call.argument()) == TIMESTAMPTZOID ? day : 0;
    switch (call.function) {
    case F_DATE_TIMESTAMP:
    case F_DATE_TIMESTAMPTZ:
        *span = wider(moments_of_days(*span), zone, zone);
        return call.argument();
    case F_TIMEZONE_TEXT_TIMESTAMP:
    case F_TIMEZONE_TEXT_TIMESTAMPTZ:
    case F_TIMESTAMP_TIMESTAMPTZ:
    case F_TIMESTAMPTZ_TIMESTAMP:
        *span = wider(*span, day, day);
        return call.place + 1 == list_length(call.arguments) ? call.argument() : nullptr;
    case F_DATE_TRUNC_TEXT_TIMESTAMP:
    case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
    case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
        if (call.place != 1 || longest_period(call.word(0)) == 0)
            return nullptr;
        *span = wider(*span, zone, longest_period(call.word(0)) + zone);
        return call.argument();
    case F_INT2_NUMERIC:
    case F_INT4_NUMERIC:
    case F_INT8_NUMERIC:
    case F_INT2_FLOAT8:
    case F_INT4_FLOAT8:
    case F_INT8_FLOAT8:
        *span = wider(*span, 0.5, 0.5);
        return call.argument();
    case F_EXTRACT_TEXT_DATE:
    case F_DATE_PART_TEXT_DATE:
        *span = is_year(call) ? days_of_years(*span) : Span{};
        return is_year(call) ? call.argument() : nullptr;
    case F_EXTRACT_TEXT_TIMESTAMP:
    case F_DATE_PART_TEXT_TIMESTAMP:
    case F_EXTRACT_TEXT_TIMESTAMPTZ:
    case F_DATE_PART_TEXT_TIMESTAMPTZ:
        *span = is_year(call) ? wider(moments_of_days(days_of_years(*span)), zone, zone) : Span{};
        return is_year(call) ? call.argument() : nullptr;
    default:
        return nullptr;
    }
}

// ---- together ------------------------------------------------------------------------------------------------------

bool is_rising(Node *expression, const Var *column) {
    check_stack_depth();
    Call call;
    if (equal(expression, column))
        return true;
    return read_call(expression, &call) && is_rising(call.argument(), column) &&
           (rises_as_part(call) || rises_by_interval(call) || rises_as_number(expression, call));
}

} // namespace dp::rows
