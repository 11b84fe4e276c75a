#include "rows/rising.hpp"

#include <cmath>

#include "query/total_table.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

using query::Rule;

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
    return exprType(node) == TIMESTAMPTZOID && read_call(node, &call) &&
           (query::rule_of(call.function) == Rule::midnight_in_zone ||
            (query::rule_of(call.function) == Rule::begun && call.place == 1 && is_midnight(call.argument())));
}

// Fields that are no smaller later on.
static bool is_rising_field(const char *field) {
    for (const char *name : {"year", "isoyear", "decade", "century", "millennium", "epoch"})
        if (pg_strcasecmp(field, name) == 0)
            return true;
    return false;
}

// Arithmetic of whole numbers with a constant.
static bool rises_as_number(Rule rule, const Call &call) {
    const bool one = list_length(call.arguments) == 1;
    auto *other = one ? nullptr : castNode(Const, list_nth(call.arguments, 1 - call.place));
    if (one || !is_integer(exprType(call.argument())) || !is_integer(other->consttype))
        return false;
    const bool positive = integer_value(value_kind(other->consttype), other->constvalue) > 0;
    return rule == Rule::plus || (rule == Rule::minus && call.place == 0) || (rule == Rule::times && positive) ||
           (rule == Rule::over && call.place == 0 && positive);
}

// Months may be added to dates alone: January 30th at noon and a month is later than January 31st at midnight and a month. Of days of
// moments the clocks say how long they are.
static bool rises_by_interval(Oid from, const Interval *length) {
    return from == DATEOID || (length->month == 0 && (from == TIMESTAMPOID || length->day == 0 || is_utc()));
}

static bool rises(const Call &call) {
    const Oid from = exprType(call.argument());
    const Rule rule = query::rule_of(call.function);
    const bool by_clock = is_utc() || is_midnight(call.argument());
    switch (rule) {
    case Rule::midnight:
    case Rule::midnight_in_zone:
    case Rule::day:
    case Rule::days_after:
        return true;
    case Rule::day_in_zone:
        return by_clock;
    case Rule::other_clock:
        return from == TIMESTAMPOID ? is_utc() : by_clock;
    case Rule::clock_of:
        return call.place == 1 && is_utc(call.word(0));
    case Rule::bin:
        return call.place == 1;
    case Rule::begun:
        return call.place == 1 && (from == TIMESTAMPOID || (list_length(call.arguments) == 3 ? is_utc(call.word(2)) : by_clock));
    case Rule::field:
        return call.place == 1 && (from != TIMESTAMPTZOID || by_clock) && is_rising_field(call.word(0));
    case Rule::days_before:
        return call.place == 0;
    case Rule::shifted:
    case Rule::shifted_in_zone:
        return call.place == 0 && rises_by_interval(from, DatumGetIntervalP(call.constant(1)));
    case Rule::plus:
    case Rule::minus:
    case Rule::times:
    case Rule::over:
        return rises_as_number(rule, call);
    default:
        return false;
    }
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

Node *below_part(Node *part, Span *span) {
    Call call;
    if (!IsA(part, FuncExpr) || !read_call(part, &call))
        return nullptr;
    const double zone = exprType(call.argument()) == TIMESTAMPTZOID ? day : 0;
    switch (query::rule_of(call.function)) {
    case Rule::day:
    case Rule::day_in_zone:
        *span = wider(moments_of_days(*span), zone, zone);
        return call.argument();
    case Rule::clock_of:
    case Rule::other_clock:
        *span = wider(*span, day, day);
        return call.place + 1 == list_length(call.arguments) ? call.argument() : nullptr;
    case Rule::begun:
        if (call.place != 1 || longest_period(call.word(0)) == 0)
            return nullptr;
        *span = wider(*span, zone, longest_period(call.word(0)) + zone);
        return call.argument();
    case Rule::round: // in another type
        if (!is_integer(exprType(part)))
            return nullptr;
        *span = wider(*span, 0.5, 0.5);
        return call.argument();
    case Rule::field: {
        const bool is_year = call.place == 1 && pg_strcasecmp(call.word(0), "year") == 0;
        *span = !is_year ? Span{} : days_of_years(*span);
        if (is_year && exprType(call.argument()) != DATEOID)
            *span = wider(moments_of_days(*span), zone, zone);
        return is_year ? call.argument() : nullptr;
    }
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
    return read_call(expression, &call) && is_rising(call.argument(), column) && rises(call);
}

} // namespace dp::rows
