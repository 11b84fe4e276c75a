#include "query/stretches.hpp"

#include "border/visit.hpp"
#include "query/date_format.hpp"
#include "query/make.hpp"
#include "query/total_table.hpp"

namespace dp::query {

constexpr int64 minute = USECS_PER_MINUTE, hour = USECS_PER_HOUR, day = USECS_PER_DAY;

namespace {
// Weeks, months and bins of days begin within each other; all else of a row of units ends where longer ones do.
enum Row : uint8 { clock = 0, weeks = 1, months = 2, bins = 4, other_bins = 8 };

// Stretches are no shorter; in_zone: where clocks are turned, and a day is left out.
struct Unit {
    const char *name;
    int64 length, in_zone;
    Row row;
    int cycles; // Cycle, of the field
};

// The use of a column in an expression, so far.
struct Use {
    const Var *column;
    const FuncExpr *bins;
    Node *moment;          // that all functions of it have
    int64 length, in_days; // the shortest; that of a day
    int rows, cycles;
    bool zoned;
    bool binned, broken; // binned: by other bins than of days
};
} // namespace

static const Unit units[] = {
    {"minute", minute, minute, clock, of_hour},
    {"hour", hour, 15 * minute, clock, of_day},
    {"day", day, 12 * hour, clock, of_year},
    {"dow", day, 12 * hour, clock, of_week},
    {"isodow", day, 12 * hour, clock, of_week},
    {"doy", day, 12 * hour, clock, of_year},
    {"week", 7 * day, 5 * day, weeks, of_year | of_week},
    {"isoyear", 364 * day, 362 * day, weeks, never},
    {"month", 28 * day, 26 * day, months, of_year},
    {"quarter", 90 * day, 88 * day, months, of_year},
    {"year", 365 * day, 363 * day, months, never},
    {"decade", 365 * day, 363 * day, months, never},
    {"century", 365 * day, 363 * day, months, never},
    {"millennium", 365 * day, 363 * day, months, never},
};

// Null: seconds, and what is no stretch, such as the epoch and the julian day, which has the time.
static const Unit *unit_of(const char *name) {
    for (const Unit &unit : units)
        if (pg_strcasecmp(unit.name, name) == 0)
            return &unit;
    return nullptr;
}

// ---- moments -------------------------------------------------------------------------------------------------------

static bool is_without_months(Node *node) {
    const Const *value = value_in(node);
    return value != nullptr && (value->consttype != INTERVALOID || DatumGetIntervalP(value->constvalue)->month == 0);
}

// Returns what is moved by a constant, or read by another clock. Null: nothing.
static Node *before_shift(Oid function, List *arguments, bool *zoned) {
    const Rule rule = rule_of(function);
    *zoned = *zoned || rule == Rule::clock_of || rule == Rule::other_clock || rule == Rule::midnight_in_zone ||
             rule == Rule::shifted_in_zone;
    switch (rule) {
    case Rule::clock_of:
        return static_cast<Node *>(lsecond(arguments));
    case Rule::other_clock:
    case Rule::midnight_in_zone:
    case Rule::midnight:
        return static_cast<Node *>(linitial(arguments));
    case Rule::shifted_in_zone:
    case Rule::shifted:
    case Rule::days_after:
    case Rule::days_before:
        return is_without_months(static_cast<Node *>(lsecond(arguments))) ? static_cast<Node *>(linitial(arguments))
                                                                          : nullptr;
    default:
        return nullptr;
    }
}

static bool is_of_column(Node *node, const Var *column, bool *zoned) {
    for (node = without_relabelings(node); node != nullptr && !IsA(node, Var); node = without_relabelings(node)) {
        const auto [function, arguments] = called(node);
        if (!OidIsValid(function))
            return false;
        node = before_shift(function, arguments, zoned);
    }
    return equal(node, column);
}

// ---- stretches -----------------------------------------------------------------------------------------------------

static const Unit *unit_of_format(const char *format) {
    switch (finest_of_format(format)) {
    case Finest::day:
        return unit_of("day");
    case Finest::hour:
        return unit_of("hour");
    case Finest::minute:
        return unit_of("minute");
    default:
        return nullptr;
    }
}

static void use_unit(Use *use, const Unit *unit, bool zoned, int cycles) {
    if (unit == nullptr) {
        use->broken = true;
        return;
    }
    use->length = Min(use->length, zoned ? unit->in_zone : unit->length);
    use->in_days = zoned ? 12 * hour : day;
    use->rows |= unit->row;
    use->cycles |= cycles;
    use->zoned |= zoned;
}

// Bins keep to no other stretches, but for those of days that begin at midnight. By a clock that is turned some are shorter.
static void use_bins(Use *use, const FuncExpr *call, bool zoned) {
    const Interval *each = DatumGetIntervalP(linitial_node(Const, call->args)->constvalue);
    const int64 length = each->day * USECS_PER_DAY + each->time;
    const Timestamp origin = DatumGetTimestamp(lthird_node(Const, call->args)->constvalue);
    const bool again = use->bins == nullptr || equal(use->bins, call);
    const bool of_days = length % day == 0 && origin % day == 0 && call->funcresulttype == TIMESTAMPOID;
    use->broken |= !of_days && (use->length != endless || (zoned && length < day));
    use->binned |= !of_days;
    use->bins = call;
    use->length = Min(use->length, zoned ? length / 2 : length);
    use->in_days = zoned ? 12 * hour : day;
    use->rows |= again ? bins : bins | other_bins;
    use->cycles |= never;
}

// A function that is constant on stretches of its moment. Null: none; at: which of its arguments is that.
static const Const *constant_of(const FuncExpr *call, int *at) {
    int constant = 0;
    switch (rule_of(call->funcid)) {
    case Rule::day:
    case Rule::day_in_zone:
        *at = 0;
        return text_constant("day");
    case Rule::printed:
        constant = 1;
        *at = 0;
        break;
    case Rule::begun:
    case Rule::field:
    case Rule::bin:
        *at = 1;
        break;
    default:
        return nullptr;
    }
    return value_in(static_cast<Node *>(list_nth(call->args, constant)));
}

// False: the call is none of the column's moments.
static bool use_call(Use *use, const FuncExpr *call) {
    int at = 0;
    bool zoned = false;
    const Const *constant = constant_of(call, &at);
    auto *moment = constant == nullptr ? nullptr : static_cast<Node *>(list_nth(call->args, at));
    if (moment == nullptr || !is_of_column(moment, use->column, &zoned))
        return false;
    auto *by_clock = moment; // and that of which zone, where the call says one
    if (rule_of(call->funcid) == Rule::begun && list_length(call->args) == 3)
        by_clock = reinterpret_cast<Node *>(list_make2(moment, lthird(call->args)));
    use->broken |= use->binned || (use->moment != nullptr && !equal(use->moment, by_clock));
    use->moment = by_clock;
    if (constant->consttype == INTERVALOID)
        use_bins(use, call, zoned);
    else {
        zoned |= exprType(moment) == TIMESTAMPTZOID;
        const char *name = TextDatumGetCString(constant->constvalue);
        const bool printed = at == 0 && list_length(call->args) == 2;
        const Unit *unit = printed ? unit_of_format(name) : unit_of(name);
        use_unit(use, unit, zoned,
                 printed                                                   ? cycles_of_format(name)
                 : rule_of(call->funcid) == Rule::field && unit != nullptr ? unit->cycles
                                                                           : never);
    }
    return true;
}

// A day of leap years has each weekday once in 28 years, or 40 where a century has no leap year. Where clocks are turned an hour, or a day,
// may be left out once. The midnight of a date may be so in some years alone: by a clock with a zone it has no period.
static int64 period_of(const Use &use) {
    constexpr int64 year = 366 * day;
    if (use.cycles == 0 || (use.cycles & never) != 0 || (use.zoned && getBaseType(use.column->vartype) == DATEOID))
        return 0;
    if ((use.cycles & of_year) != 0)
        return ((use.cycles & of_week) != 0 ? 40 : 8) * year;
    return ((use.cycles & of_week) != 0 ? 7 * day : (use.cycles & of_day) != 0 ? day : hour) * (use.zoned ? 2 : 1);
}

int64 stretch_of(Node *expression, const Var *column, int64 *period) {
    Use use = {column, nullptr, nullptr, endless, day, clock, 0, false, false, false};
    border::visit(expression, [&](Node *node, Index) {
        bool zoned = false;
        const bool used = (IsA(node, FuncExpr) && use_call(&use, castNode(FuncExpr, node))) ||
                          (IsA(node, NullTest) &&
                           is_of_column(reinterpret_cast<Node *>(castNode(NullTest, node)->arg), column, &zoned));
        use.broken |= IsA(node, Var) && equal(node, column);
        return use.broken ? border::Step::stop : used || IsA(node, Query) ? border::Step::past : border::Step::in;
    });
    if (period != nullptr)
        *period = use.broken ? 0 : period_of(use);
    if (use.broken)
        return 0;
    return (use.rows & (use.rows - 1)) != 0 ? Min(use.length, use.in_days) : use.length;
}

} // namespace dp::query
