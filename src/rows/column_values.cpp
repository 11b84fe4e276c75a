#include "rows/column_values.hpp"

#include <cmath>

#include "border/each.hpp"
#include "catalog/settings.hpp"
#include "query/exists.hpp"
#include "query/gaps.hpp"
#include "query/stretches.hpp"
#include "query/total_table.hpp"
#include "rows/canonical.hpp"
#include "rows/compared.hpp"
#include "rows/groups.hpp"
#include "rows/nodes.hpp"
#include "rows/people_sources.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

Values no_values(Oid type) {
    constexpr int first_room = 64;
    return Values{type, 0, first_room, array_of<Datum>(first_room), array_of<bool>(first_room), false, false};
}

void add_value(Values *values, Datum value, bool isnull) {
    if (values->n >= most_tried) {
        values->too_many = true;
        return;
    }
    if (values->n == values->room) {
        values->room *= 2;
        values->values = static_cast<Datum *>(repalloc(values->values, sizeof(Datum) * values->room));
        values->nulls = static_cast<bool *>(repalloc(values->nulls, sizeof(bool) * values->room));
    }
    values->values[values->n] = value;
    values->nulls[values->n++] = isnull;
}

static void add_domain(Values *values, const KeyDomain &domain) {
    for (int i = 0; i < domain.count; i++)
        add_value(values, domain.values[i], domain.nulls[i]);
}

// ---- whole numbers and dates ---------------------------------------------------------------------------------------

// The value of a type at a place: a number, a day. False: the type has none.
static bool place_as(Oid type, double place, Datum *value) {
    type = getBaseType(type);
    const double most = type == INT2OID     ? PG_INT16_MAX
                        : type == INT4OID   ? PG_INT32_MAX
                        : type == DATEOID   ? 2000000
                        : type == FLOAT4OID ? 0x1p24
                                            : 0x1p53;
    if (std::fabs(place) > most)
        return false;
    if (type == FLOAT4OID)
        *value = Float4GetDatum(static_cast<float4>(place));
    else if (type == FLOAT8OID)
        *value = Float8GetDatum(place);
    else if (type == NUMERICOID)
        *value = NumericGetDatum(int64_to_numeric(static_cast<int64>(place)));
    else
        *value = value_of_integer(type, static_cast<int64>(place));
    return is_integer(type) || type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID || type == DATEOID;
}

bool add_whole_numbers(const privacy::Span &span, Oid type, Values *values, double step) {
    if (span.decimals != 0 || !span.bounded() || (span.high - span.low) / step >= most_tried)
        return false;
    for (double place = std::ceil(span.low / step) * step; place <= span.high; place += step) {
        Datum value;
        if (!place_as(type, place, &value))
            return false;
        add_value(values, value, false);
    }
    return true;
}

// ---- columns -------------------------------------------------------------------------------------------------------

static bool add_declared_groups(const ColumnRanges *columns, const Var *column, Values *values) {
    const AttrNumber number = query::column_number(column);
    const char *name = column_name(columns->question, number);
    ArrayType *groups = catalog::column_groups(*columns->reading, relation_of(columns->question, number), name);
    if (groups == nullptr)
        return false;
    add_domain(values, stored_domain(groups, column->vartype, column->vartypmod, column->varcollid, name));
    return true;
}

// Nobody declared groups of an aggregate, but min and max of a column are among those of the column, in the spelling that they have there.
static bool add_groups_of_extreme(const ColumnRanges *columns, const Var *aggregate, Values *values) {
    const Var *column = columns->question->per_unit->extreme_of[aggregate->varattno - 1];
    if (column == nullptr || !has_spelling(column->vartype))
        return false;
    Values declared = no_values(column->vartype);
    if (!add_declared_groups(columns, column, &declared))
        return false;
    for (int i = 0; i < declared.n; i++) {
        bool isnull = declared.nulls[i];
        Datum value =
            isnull ? Datum(0) : canonical_value(column->vartype, column->vartypmod, declared.values[i], &isnull);
        if (!isnull)
            add_value(values, value, false);
    }
    return true;
}

static bool add_column_groups(const ColumnRanges *columns, const Var *column, Values *values) {
    const Source *source = source_at(columns->question, static_cast<int>(column->varno));
    KeyDomain domain = {};
    if (source != nullptr && source->people != nullptr) {
        const bool follow = groups_of_people(source->people, column->varattno, &domain);
        add_domain(values, domain);
        return follow;
    }
    return column->varno == query::unit_varno ? add_groups_of_extreme(columns, column, values)
                                              : add_declared_groups(columns, column, values);
}

// Whether it is computed by a sub-SELECT that no outer join makes NULL.
static bool is_kept_people(const ColumnRanges *columns, const Var *column) {
    const Source *source = source_at(columns->question, static_cast<int>(column->varno));
    return source != nullptr && source->people != nullptr && !source->source->nullable;
}

static bool is_calendar_range(const privacy::Span &span) {
    constexpr double least = -1e17, most = 1e17; // microseconds: years -1170 to 5170
    return span.low >= least && span.high <= most;
}

bool has_calendar(Oid type) {
    type = getBaseType(type);
    return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

// Cuts a range off behind a period that shows all values; of one without an end, it shows that of the infinite moment as well.
static privacy::Span one_period(privacy::Span span, bool days, int64 period, Values *values) {
    constexpr int64 eight_years = 8 * 366; // a midnight may be missing, where clocks are turned then
    const double length = static_cast<double>(days ? Max(period / USECS_PER_DAY, eight_years) : period);
    if (period == 0 || span.high - span.low <= length)
        return span;
    for (const bool high : {false, true})
        if (std::fabs(high ? span.high : span.low) == privacy::Span::nowhere)
            add_value(values,
                      days ? DateADTGetDatum(high ? DATEVAL_NOEND : DATEVAL_NOBEGIN)
                           : TimestampGetDatum(high ? DT_NOEND : DT_NOBEGIN),
                      false);
    if (span.low == -privacy::Span::nowhere)
        span.low = Min(0, span.high - length);
    return privacy::Span{span.low, span.low + length, 0};
}

// The ends of the range, and the multiples of a stretch between them. Of days all those that nothing else tells apart.
static bool add_grid(const privacy::Span &all, Oid type, int64 stretch, int64 period, Values *values) {
    const bool days = getBaseType(type) == DATEOID;
    const privacy::Span span = one_period(all, days, period, values);
    values->stand_in = !days || stretch > USECS_PER_DAY || span.low != all.low || span.high != all.high;
    if (!span.bounded() || (stretch == 0 && !days) || (!days && !is_calendar_range(span)))
        return false;
    const auto low = static_cast<int64>(span.low), high = static_cast<int64>(span.high);
    const int64 step = days ? Max(stretch / USECS_PER_DAY, 1) : stretch;
    if (low > high || (high - low) / step >= most_tried)
        return false;
    for (int64 at = low; at < high; at = (at / step + (at >= 0 || at % step == 0)) * step)
        add_value(values, days ? DateADTGetDatum(static_cast<DateADT>(at)) : TimestampGetDatum(at), false);
    add_value(values, days ? DateADTGetDatum(static_cast<DateADT>(high)) : TimestampGetDatum(high), false);
    return true;
}

static bool add_between_bounds(ColumnRanges *columns, Node *key, Var *column, Values *values) {
    const Oid type = getBaseType(column->vartype);
    const privacy::Span span = range_over_columns(as_node(column), columns).span;
    if (!has_calendar(type))
        return add_whole_numbers(span, type, values);
    int64 period;
    const int64 stretch = query::stretch_of(key, column, &period);
    return add_grid(span, type, stretch, period, values);
}

bool column_values(ColumnRanges *columns, Node *key, Var *column, Values *values) {
    *values = no_values(column->vartype);
    const bool nullable = range_over_columns(as_node(column), columns).nullable;
    if (has_type_domain(column->vartype)) {
        add_domain(values, type_domain(column->vartype, column->varcollid, nullable));
        return true;
    }
    if (is_kept_people(columns, column) && add_column_groups(columns, column, values))
        return !values->too_many; // with NULL, where it has that
    if (!add_column_groups(columns, column, values) && !add_between_bounds(columns, key, column, values))
        return false;
    if (nullable)
        add_value(values, Datum(0), true);
    return !values->too_many;
}

// ---- by form ---------------------------------------------------------------------------------------------------

static query::Range nothing_declared(const Var *column, void *) {
    privacy::Span span = query::span_of_type(column->vartype);
    span.decimals = query::decimals_of_type(column->vartype, column->vartypmod);
    return query::Range{span, true};
}

bool is_numbered(Node *node) {
    const query::Rule rule = query::rule_of(node);
    return rule == query::Rule::bucket || rule == query::Rule::field || rule == query::Rule::field_of_interval ||
           (rule == query::Rule::place && query::step_of(node, nothing_declared, nullptr) == 1);
}

// Returns the expressions of which a choice gives one, or NULL; NIL: it is no choice.
static List *results_of(Node *choice, ColumnRanges *columns) {
    List *results = NIL;
    if (IsA(choice, CoalesceExpr)) { // up to the first that is never NULL
        for (auto *one : border::each<Node>(castNode(CoalesceExpr, choice)->args)) {
            results = lappend(results, one);
            if (!range_over_columns(one, columns).nullable)
                break;
        }
    } else if (IsA(choice, MinMaxExpr))
        results = castNode(MinMaxExpr, choice)->args;
    else if (IsA(choice, NullIfExpr))
        results = list_make1(linitial(reinterpret_cast<OpExpr *>(choice)->args));
    else if (IsA(choice, CaseExpr)) {
        for (auto *when : border::each<CaseWhen>(castNode(CaseExpr, choice)->args))
            results = lappend(results, when->result);
        results = castNode(CaseExpr, choice)->defresult == nullptr
                      ? results
                      : lappend(results, castNode(CaseExpr, choice)->defresult);
    }
    return results;
}

static bool add_results(const List *results, ColumnRanges *columns, Values *values) {
    for (auto *one : border::each<Node>(results))
        if (!add_by_form(one, columns, values))
            return false;
    return true;
}

// Adds the buckets of a choice: those of what it chooses from.
static bool add_places_of(const FuncExpr *call, const List *results, ColumnRanges *columns, Values *values) {
    for (auto *one : border::each<Node>(results)) {
        auto *of_one = static_cast<FuncExpr *>(copyObjectImpl(call));
        linitial(of_one->args) = one;
        const bool is_null = IsA(one, Const) && castNode(Const, one)->constisnull;
        if (!is_null && !add_by_form(as_node(of_one), columns, values))
            return false;
    }
    return results != NIL;
}

bool add_by_form(Node *node, ColumnRanges *columns, Values *values) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    if (values->too_many)
        return false;
    switch (nodeTag(node)) {
    case T_Const:
        if (!castNode(Const, node)->constisnull)
            add_value(values, castNode(Const, node)->constvalue, false);
        return true;
    case T_RelabelType:
        return add_by_form(as_node(castNode(RelabelType, node)->arg), columns, values);
    default:
        break;
    }
    if (const List *results = results_of(node, columns))
        return add_results(results, columns, values);
    if (query::rule_of(node) == query::Rule::place && IsA(node, FuncExpr))
        if (const List *results = results_of(static_cast<Node *>(linitial(castNode(FuncExpr, node)->args)), columns))
            return add_places_of(castNode(FuncExpr, node), results, columns, values);
    if (getBaseType(exprType(node)) != BOOLOID)
        return is_numbered(node) && add_whole_numbers(range_over_columns(node, columns).span, exprType(node), values);
    add_value(values, BoolGetDatum(false), false);
    add_value(values, BoolGetDatum(true), false);
    return true;
}

} // namespace dp::rows
