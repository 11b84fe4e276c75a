#include "rows/unit_rows.hpp"

#include <cmath>

#include "border/each.hpp"
#include "border/guard.hpp"
#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/domain.hpp"
#include "catalog/ledger.hpp"
#include "query/aggregate_table.hpp"
#include "query/total.hpp"
#include "query/windows.hpp"
#include "rows/canonical.hpp"
#include "rows/compared.hpp"
#include "rows/counted_values.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/sums.hpp"
#include "rows/from_clause.hpp"
#include "rows/texts.hpp"
#include "rows/unit_windows.hpp"

namespace dp::rows {

// ---- limits --------------------------------------------------------------------------------------------------------

// Adds up those of all parts of UNION ALL.
static int64 rows_of_branches(const Question *question) {
    int64 rows = 0;
    for (int i = 0; i < question->nsources; i++)
        rows += question->sources[i].settings->unit->max_rows;
    return rows;
}

// Beyond this count(*) and sums of one unit stop: what is declared of its rows, or asked for.
static int most_rows(const Question *question, const Units *units) {
    const int asked = question->leaf->limits.max_rows;
    const int64 declared = units->joined != nullptr  ? units->joined->max_rows
                           : has_branches(question) ? rows_of_branches(question)
                                                    : units->path->max_rows;
    if (asked == 0 && declared > catalog::max_declared_rows)
        refuse_size(psprintf("a person may have more than %d joined rows in the query", catalog::max_declared_rows),
                    "Join by more columns, down to a key; or pass a max_rows.",
                    "max_rows of the tables that no key of another one determines are multiplied.");
    return asked > 0 ? asked : Max(static_cast<int>(declared), 1);
}

static void limit_per_unit(const Question *question, Units *units) {
    question->per_unit->max_rows = most_rows(question, units);
    units->clipped = units->single = units->one_group = true;
    units->max_rows = 1;
}

// ---- what is carried -----------------------------------------------------------------------------------------------

// By keys alone, in all rows that are joined.
static bool has_one_row(const Units *units, int source) {
    return units->joined != nullptr ? units->joined->one_row[source] : units->path->keyed;
}

// The columns of the views that must have one value for a unit: what is grouped by beside its columns, and what stands above.
static List *carried_of(const query::PerUnit *leaf) {
    return list_concat(pull_var_clause(as_node(leaf->keys), 0), list_copy(leaf->carried));
}

// In all joined rows of a unit these are the same.
static bool is_of_unit(const query::Leaf *leaf, const Var *column) {
    for (auto *unit : border::each<List>(leaf->counted))
        if (list_member_int(unit, query::column_number(column)))
            return true;
    return false;
}

static bool is_grouped(const Question *question, const Var *column) {
    const List *keys = question->per_unit == nullptr ? NIL : question->per_unit->grouped_keys;
    return list_member(pull_var_clause(as_node(const_cast<List *>(keys)), 0), column);
}

// The first column that may have several, and its source; null: there is none. Where rows are kept each shows its own.
static const Var *find_several(const Question *question, const Units *units, const Source **of) {
    if (question->leaf->per_unit->windows != NIL)
        return nullptr;
    for (auto *one : border::each<Var>(carried_of(question->leaf->per_unit))) {
        if (is_of_unit(question->leaf, one) || is_grouped(question, one))
            continue;
        for (int i = 0; i < question->nsources; i++)
            if (question->sources[i].source->varno == static_cast<int>(one->varno) && !has_one_row(units, i)) {
                *of = &question->sources[i];
                return one;
            }
    }
    return nullptr;
}

// Finds the keys of which a unit may have several values: they tell rows apart beside it.
static void find_grouped(Question *question, const Units *units) {
    for (auto *key : border::each<Node>(question->leaf->per_unit->keys)) {
        bool several = false;
        for (auto *column : border::each<Var>(pull_var_clause(key, 0)))
            for (int i = 0; i < question->nsources; i++)
                several = several || (question->sources[i].source->varno == static_cast<int>(column->varno) &&
                                      !is_of_unit(question->leaf, column) && !has_one_row(units, i));
        if (several)
            question->per_unit->grouped_keys = list_append_unique(question->per_unit->grouped_keys, key);
    }
}

[[noreturn]] static void refuse_several(const query::Source *source, const char *column) {
    refuse_form(psprintf("column %s of %s in a sub-SELECT that does not group by it is not supported in a query on a restricted view",
                         column,
                         source->people != nullptr ? "the sub-SELECT below" : catalog::qualified_name(source->relation)),
                "Write it into GROUP BY, beside the columns that name a person.",
                "Of one person it may have several values.");
}

static void check_carried(const Question *question, const Units *units) {
    const Source *source = nullptr;
    if (const Var *column = find_several(question, units, &source))
        refuse_several(source->source, written_text(question, list_make1(const_cast<Var *>(column))));
}

bool has_lost_carried(const Question *question, const Units *now) {
    const Source *source = nullptr;
    return question->per_unit != nullptr && find_several(question, now, &source) != nullptr;
}

// ---- aggregates ----------------------------------------------------------------------------------------------------

namespace {
// One aggregate that is being resolved.
struct Resolved {
    const Question *question;
    const Aggref *call;   // over the tables
    const Aggref *asked;  // over the views
    Node *argument;       // total; null: rows are counted
    Node *filter;         // total; or null
    query::Range of;      // the argument
    query::Range *result; // where the aggregate lies
    query::RowCost *cost;
};
} // namespace

// Makes a constant of a number's type, a date or a moment (query/range). A value beyond the type's range becomes the range's end.
static Const *number_constant(Oid type, double value) {
    if (!is_integer(type) && !is_moment(type) && type != DATEOID)
        return makeConst(NUMERICOID, -1, InvalidOid, -1, DirectFunctionCall1(float8_numeric, Float8GetDatum(value)),
                         false, false);
    constexpr double end = 0x1p63;
    const int64 whole = value >= end ? PG_INT64_MAX : value <= -end ? PG_INT64_MIN : static_cast<int64>(value);
    int16 length;
    bool by_value;
    get_typlenbyval(type, &length, &by_value);
    return makeConst(type, -1, InvalidOid, length, value_of_integer(type, whole), false, by_value);
}

static bool is_numeric(const Resolved &resolved) {
    return getBaseType(exprType(resolved.argument)) == NUMERICOID;
}

// Clamps the argument to its bounds, NaN and infinities too, so that no sum is too large for its type.
static Node *clamped(const Resolved &resolved) {
    const privacy::Span &span = resolved.of.span;
    const bool number = is_numeric(resolved);
    if (!span.bounded() && number)
        refuse_unbounded(resolved.question, as_node(linitial_node(TargetEntry, resolved.asked->args)->expr), true);
    const Oid type = getBaseType(exprType(resolved.argument));
    if (!span.bounded())
        return resolved.argument;
    constexpr double wider = 1e-9; // ends are doubles: what is declared lies within
    const double margin = number ? (std::fabs(span.low) + std::fabs(span.high)) * wider : 0;
    Const *least = number_constant(type, number ? span.low - margin : std::ceil(span.low));
    Const *most = number_constant(type, number ? span.high + margin : std::floor(span.high));
    Node *raised = extreme_of(type, IS_GREATEST, another(resolved.argument), as_node(least));
    return value_where(null_test(another(resolved.argument), IS_NOT_NULL), extreme_of(type, IS_LEAST, raised, as_node(most)));
}

static Node *aggregate_of(const Resolved &resolved, Node *argument) {
    return as_node(make_aggregate(resolved.call->aggfnoid, resolved.call->aggtype,
                                  argument == nullptr ? NIL : list_make1(argument), resolved.filter));
}

static Node *counted(const Resolved &resolved, Node *count) {
    const int most = resolved.question->per_unit->max_rows;
    const bool always =
        query::unit_aggregate(resolved.call) == query::UnitAggregate::count_rows && resolved.filter == nullptr;
    *resolved.result = {{always ? 1.0 : 0.0, static_cast<double>(most), 0}, false}; // a unit without a row is none
    return extreme_of(INT8OID, IS_LEAST, count, as_node(number_constant(INT8OID, most)));
}

static Node *values_counted(const Resolved &resolved) {
    if (!has_spelling(exprType(resolved.argument)))
        refuse_form(psprintf("count(DISTINCT x) of one person's values of type %s is not supported in a query on a restricted view",
                             format_type_be(exprType(resolved.argument))),
                    "Count values of numbers, texts, dates, timestamps, booleans or enums.");
    return counted(resolved, count_of_values(resolved.argument, resolved.filter));
}

static Node *summed(const Resolved &resolved) {
    const privacy::Span &of = resolved.of.span;
    const double most = resolved.question->per_unit->max_rows;
    *resolved.result = {{Min(of.low, of.low * most), Max(of.high, of.high * most), of.decimals}, true};
    return aggregate_of(resolved, clamped(resolved));
}

static Node *averaged(const Resolved &resolved) {
    *resolved.result = {{resolved.of.span.low, resolved.of.span.high, -1}, true};
    return aggregate_of(resolved, clamped(resolved));
}

static bool has_span(Oid type) {
    return is_integer(type) || is_moment(type) || type == NUMERICOID || type == DATEOID;
}

static int64 most_kept(Node *value) {
    const int size = query::size_of(value);
    return size >= 0 ? size : longest_key;
}

// Texts, times and enums: nothing is clamped. What is longer than a key is left out, as the state of each unit holds such a value.
static Node *extreme_in_order(const Resolved &resolved) {
    const Oid collation = resolved.call->inputcollid;
    *resolved.result = {query::span_of_type(resolved.call->aggtype), true};
    resolved.question->per_unit->kept += most_kept(resolved.argument);
    Node *value = query::make_compared(resolved.argument, collation, resolved.cost);
    Node *call = aggregate_of(resolved, canonical_node(value, exprTypmod(resolved.argument)));
    castNode(Aggref, call)->inputcollid = collation;
    castNode(Aggref, call)->aggcollid = resolved.call->aggcollid;
    return call;
}

// Makes min or max. Numerics lose trailing zeros: of equal ones in several spellings the first one met would be kept.
static Node *extreme(const Resolved &resolved) {
    if (!has_span(getBaseType(exprType(resolved.argument))))
        return extreme_in_order(resolved);
    *resolved.result = {resolved.of.span, true};
    Node *argument = clamped(resolved);
    if (is_numeric(resolved))
        argument = make_call(F_TRIM_SCALE, NUMERICOID, list_make1(argument));
    return aggregate_of(resolved, argument);
}

static Node *resolve_aggregate(const Resolved &resolved) {
    switch (query::unit_aggregate(resolved.call)) {
    case query::UnitAggregate::count_rows:
    case query::UnitAggregate::count:
        return counted(resolved, aggregate_of(resolved, resolved.argument));
    case query::UnitAggregate::count_values:
        return values_counted(resolved);
    case query::UnitAggregate::sum:
        return summed(resolved);
    case query::UnitAggregate::avg:
        return averaged(resolved);
    case query::UnitAggregate::extreme:
        return extreme(resolved);
    case query::UnitAggregate::boolean:
        *resolved.result = {query::span_of_type(BOOLOID), true};
        return aggregate_of(resolved, resolved.argument);
    case query::UnitAggregate::none:
        break;
    }
    elog(ERROR, "an aggregate of one unit's rows is none of those that are");
}

// ---- resolving -----------------------------------------------------------------------------------------------------

// Returns the column whose value, or NULL, a min or max is; null where bounds clamp it, which then limit the value.
static Var *extreme_of(const Resolved &resolved, Node *argument) {
    while (argument != nullptr && IsA(argument, RelabelType))
        argument = as_node(castNode(RelabelType, argument)->arg);
    const bool plain = argument != nullptr && IsA(argument, Var) && !resolved.of.span.bounded() &&
                       query::unit_aggregate(resolved.call) == query::UnitAggregate::extreme;
    return plain ? castNode(Var, argument) : nullptr;
}

static Node *resolve_call(ColumnRanges *columns, const Aggref *asked, int i, query::RowCost *cost) {
    const Question *question = columns->question;
    Node *call = map_to_tables(as_node(const_cast<Aggref *>(asked)), question);
    Resolved resolved = {question, castNode(Aggref, call), asked, nullptr, nullptr, {}, &question->per_unit->ranges[i], cost};
    if (resolved.call->args != NIL) {
        auto *argument = as_node(linitial_node(TargetEntry, resolved.call->args)->expr);
        resolved.of = range_over_columns(argument, columns);
        resolved.argument = query::make_total(another(argument), nullptr, cost);
        question->per_unit->extreme_of[i] = extreme_of(resolved, argument);
    }
    resolved.filter = query::make_total(as_node(copyObject(resolved.call->aggfilter)), nullptr, cost);
    return resolve_aggregate(resolved);
}

static Node *resolve_function(ColumnRanges *columns, const WindowFunc *call, int i, query::RowCost *cost) {
    PerUnit *own = columns->question->per_unit;
    return call->winagg ? over_window(resolve_call(columns, query::call_of(call), i, cost), call->winref)
                        : resolve_numbered(columns, call, &own->ranges[i], &own->extreme_of[i], cost);
}

void resolve_per_unit(ColumnRanges *columns, Question *question, query::RowCost *cost) {
    const query::PerUnit *leaf = question->leaf->per_unit;
    PerUnit *own = question->per_unit;
    own->ranges = zeroed<query::Range>(list_length(leaf->columns) + 1);
    own->extreme_of = zeroed<Var *>(list_length(leaf->columns) + 1);
    ListCell *cell;
    foreach (cell, leaf->columns) {
        const int i = foreach_current_index(cell);
        auto *column = static_cast<Node *>(lfirst(cell));
        own->columns = lappend(own->columns, IsA(column, Aggref) ? resolve_call(columns, castNode(Aggref, column), i, cost)
                                                                 : resolve_function(columns, castNode(WindowFunc, column), i, cost));
    }
    for (auto *column : border::each<Var>(leaf->carried)) {
        if (is_grouped(question, column))
            continue;
        Node *over_table = map_to_tables(as_node(column), question);
        if (list_member(question->units->values, over_table)) // the statement has it
            continue;
        own->carried = lappend(own->carried, over_table);
        if (is_of_unit(question->leaf, column))
            own->of_unit = lappend(own->of_unit, llast(own->carried));
    }
    for (auto *key : border::each<Node>(own->grouped_keys))
        own->grouped = lappend(own->grouped, map_to_tables(query::make_total(another(key), nullptr, cost), question));
    own->where = map_to_tables(query::make_total(another(leaf->where), nullptr, cost), question);
    resolve_windows(question, cost);
}

// The leaf was read as one over units: if there are none now, something has changed.
void begin_per_unit(Question *question, Units *units) {
    if (units == nullptr)
        catalog::refuse_changing(*question->settings);
    question->per_unit = zeroed<PerUnit>();
    const bool windows = question->leaf->per_unit->windows != NIL;
    if (question->remote || (windows && is_on_other_nodes(question->settings->relation)))
        refuse_form(psprintf("a sub-SELECT with %s is not supported for a table whose rows other servers keep",
                             windows ? "window functions" : "one row for each person"),
                    "Aggregate without it.");
    find_grouped(question, units);
    check_carried(question, units);
    const bool keyed = units->joined != nullptr ? units->joined->keyed : units->path->keyed;
    question->per_unit->one_row =
        windows ? keyed : question->leaf->per_unit->form == query::PeopleForm::grouped && question->per_unit->grouped_keys == NIL;
    limit_per_unit(question, units);
}

} // namespace dp::rows
