#include "rows/aggregate_arguments.hpp"

#include "privacy/joint.hpp"
#include "privacy/triple.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"
#include "border/walk.hpp"
#include "catalog/settings.hpp"
#include "query/leaf_rows.hpp"
#include "query/constants.hpp"
#include "query/aggregate_table.hpp"
#include "query/exists.hpp"
#include "query/asked_limits.hpp"
#include "query/total.hpp"
#include "rows/compared.hpp"
#include "rows/nodes.hpp"
#include "rows/people_sources.hpp"
#include "rows/public_values.hpp"
#include "rows/texts.hpp"
#include "rows/unit_checks.hpp"

namespace dp::rows {

// ---- columns -------------------------------------------------------------------------------------------------------

static bool has_bounds(Oid type) {
    return is_integer(type) || is_moment(type) || type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID ||
           type == DATEOID;
}

static bool is_public_column(const Question *question, AttrNumber column) {
    const query::Source *source = query::source_of(question->leaf, query::varno_of(column));
    return source != nullptr && source->is_public;
}

// Declared by the controller; those of a public table's column are where its values lie.
static const privacy::Bounds *declared_bounds(const catalog::Reading &reading, const Question *question,
                                              AttrNumber column, bool whole) {
    const Oid relation = relation_of(question, column);
    return is_public_column(question, column)
               ? public_bounds(reading, *query::source_of(question->leaf, query::varno_of(column)),
                               query::attno_of(column))
               : catalog::column_bounds(reading, relation, column_name(question, column), whole);
}

static query::Range declared_range(const ColumnRanges *columns, const Var *column) {
    Oid type = getBaseType(column->vartype);
    const Question *question = columns->question;
    const AttrNumber number = query::column_number(column);
    query::Range range = {query::span_of_type(column->vartype), is_nullable(question, number)};
    if (!has_bounds(type))
        return range;
    int decimals = query::decimals_of_type(column->vartype, column->vartypmod);
    const privacy::Bounds *bounds = declared_bounds(*columns->reading, question, number, decimals == 0);
    range.span.decimals = decimals;
    if (bounds != nullptr)
        range.span = border::core([&] { return privacy::span_of_bounds(*bounds, decimals); });
    return range;
}

ColumnRanges column_ranges(const catalog::Reading &reading, const Question *question) {
    int last = 0;
    for (int i = 0; i < question->nsources; i++)
        if (question->sources[i].people == nullptr)
            last = Max(last, query::column_number(question->sources[i].source->varno,
                                                  static_cast<AttrNumber>(query::columns_of(
                                                      question->sources[i].relation, question->sources[i].source->rows))));
    return ColumnRanges{&reading, question, zeroed<query::Range>(last + 1), zeroed<bool>(last + 1), 0, nullptr};
}

query::Range range_of_column(const Var *column, void *context) {
    auto *columns = static_cast<ColumnRanges *>(context);
    if (column->varno == query::unit_varno)
        return columns->question->per_unit->ranges[column->varattno - 1];
    if (query::test_of(columns->question->leaf, column) != nullptr)
        return query::Range{query::span_of_type(BOOLOID), false};
    const Source *source = source_at(columns->question, static_cast<int>(column->varno));
    if (source != nullptr && source->people != nullptr)
        return range_of_people(*source, column->varattno);
    const AttrNumber number = query::column_number(column);
    if (!columns->is_known[number]) {
        columns->known[number] = declared_range(columns, column);
        columns->is_known[number] = true;
    }
    return columns->known[number];
}

static void narrow_range(Node *expression, query::Range *range, void *context) {
    narrow(static_cast<ColumnRanges *>(context)->narrowed, expression, range);
}

query::Range range_over_columns(Node *expression, ColumnRanges *columns) {
    return query::range_of(expression, range_of_column, columns, narrow_range);
}

// Where a column of UNION ALL lies in one of its parts.
static query::Range range_of_branches(const Question *people, AttrNumber column) {
    query::Range all = range_of_people(people->sources[0], column);
    for (int i = 1; i < people->nsources; i++) {
        const query::Range part = range_of_people(people->sources[i], column);
        all = {privacy::hull(all.span, part.span), all.nullable || part.nullable};
    }
    return all;
}

query::Range range_of_people(const Source &source, AttrNumber column) {
    const Question *people = source.people;
    query::Range range = {query::span_of_type(VOIDOID), false};
    if (column <= people->leaf->nkeys && has_branches(people))
        range = range_of_branches(people, column);
    else if (column <= people->leaf->nkeys)
        range = range_over_columns(static_cast<Node *>(list_nth(people->folded, column - 1)), people->ranges);
    range.nullable = range.nullable || source.source->nullable;
    return range;
}

bool gives_nan_over(Node *expression, ColumnRanges *columns) {
    return query::gives_nan(expression, range_of_column, columns, narrow_range);
}

// ---- expressions ---------------------------------------------------------------------------------------------------

// Counts as if each aggregate evaluated its argument by itself, those of a triple three times, as where Citus keeps the rows, those of
// two columns six times, and a selection once more.
static void add_evaluations(const query::Leaf *leaf, int argument, const query::RowCost &once, query::RowCost *cost) {
    constexpr int of_triple = 3, of_joint = privacy::coordinates_of(privacy::MeasureKind::moments), of_selection = 1;
    int times = 0;
    for (int i = 0; i < leaf->naggregates; i++)
        if (leaf->aggregates[i].argument == argument)
            times += of_selection + (privacy::is_spread(leaf->aggregates[i].fn)  ? of_triple
                                     : privacy::is_joint(leaf->aggregates[i].fn) ? of_joint
                                                                                 : 1);
    cost->calls += times * once.calls;
    cost->linear += times * once.linear;
    cost->quadratic += times * once.quadratic;
}

static const privacy::Bounds *bounds_of_span(const privacy::Span &span, Oid type) {
    auto *bounds = border::context_new<privacy::Bounds>();
    const bool bounded = border::core([&] {
        std::optional<privacy::Bounds> found = privacy::bounds_of_span(span, is_integer(type));
        if (found)
            *bounds = *found;
        return found.has_value();
    });
    return bounded ? bounds : nullptr;
}

Expression resolve_expression(ColumnRanges *columns, Node *folded, query::RowCost *cost) {
    // The range is found before it is made total, as total functions have other names.
    const query::Range range = range_over_columns(folded, columns);
    const privacy::Span declared = query::range_of(folded, range_of_column, columns).span;
    const Oid type = getBaseType(exprType(folded));
    return {query::make_total(folded, nullptr, cost), bounds_of_span(range.span, type), nullptr,
            type == NUMERICOID ? range.span.decimals : -1, another(folded),
            range.span.low != declared.low || range.span.high != declared.high};
}

// Makes each part total by itself: the point of two constants is none. A whole number that is cast to double precision is one for its
// bounds as well: they are those of the number.
static void resolve_joint(ColumnRanges *columns, const List *parts, Expression *expression, query::RowCost *cost) {
    const auto resolve = [&](void *part) {
        return resolve_expression(columns, map_to_tables(static_cast<Node *>(part), columns->question), cost);
    };
    const Expression y = resolve(linitial(parts)), x = resolve(lsecond(parts));
    *expression = {query::joint_argument(y.node, x.node), y.bounds, x.bounds, -1, nullptr, false};
}

void resolve_arguments(ColumnRanges *columns, Question *question, query::RowCost *cost) {
    const List *arguments = question->leaf->arguments;
    question->expressions = zeroed<Expression>(list_length(arguments) + 1);
    ListCell *cell;
    foreach (cell, arguments) {
        Expression *expression = &question->expressions[foreach_current_index(cell)];
        query::RowCost once = {};
        if (const List *parts = query::joint_parts(static_cast<Node *>(lfirst(cell))))
            resolve_joint(columns, parts, expression, &once);
        else
            *expression =
                resolve_expression(columns, map_to_tables(static_cast<Node *>(lfirst(cell)), question), &once);
        add_evaluations(question->leaf, foreach_current_index(cell), once, cost);
    }
}

void narrow_columns(ColumnRanges *columns, Question *question) {
    const int n = question->leaf->naggregates;
    question->narrowed = zeroed<const privacy::Bounds *>(n + 1);
    for (int i = 0; i < n; i++) {
        auto *column = reinterpret_cast<Var *>(question->arguments[i]);
        if (column == nullptr)
            continue;
        const privacy::Span declared = range_of_column(column, columns).span;
        const privacy::Span span = range_over_columns(question->arguments[i], columns).span;
        if (span.low != declared.low || span.high != declared.high)
            question->narrowed[i] = bounds_of_span(span, getBaseType(column->vartype));
    }
}

// ---- bounds --------------------------------------------------------------------------------------------------------

// written: the column as the statement names it.
static const privacy::Bounds *bounds_of_column(const catalog::Reading &reading, const Question *question,
                                               AttrNumber column, const char *written) {
    const query::Source *source = query::source_of(question->leaf, query::varno_of(column));
    const char *name = column_name(question, column);
    const char *table = query::name_of_source(relation_of(question, column), source == nullptr ? nullptr : source->rows);
    const privacy::Bounds *bounds =
        declared_bounds(reading, question, column, is_integer(getBaseType(table_column(question, column)->vartype)));
    if (bounds == nullptr && is_public_column(question, column))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("column %s of public table %s has no bounds", quote_identifier(name), table),
                        errdetail("Its values are its bounds: there is none, or one that is no bound (NaN, infinite, "
                                  "from 1e250 on)."),
                        errhint("Bound it: WHERE %s BETWEEN LOW AND HIGH, or least(greatest(%s, LOW), HIGH).", written,
                                written)));
    if (bounds == nullptr)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("column %s of %s has no declared bounds: ask for it WHERE %s BETWEEN LOW AND HIGH",
                        quote_identifier(name), table, written),
                 errhint("Bound it: WHERE %s BETWEEN LOW AND HIGH, or least(greatest(%s, LOW), HIGH). Or ask the "
                         "controller for dp_set_bounds(%s, %s, LOW, HIGH).",
                         written, written, quote_literal_cstr(table), quote_literal_cstr(name))));
    return bounds;
}

// Nobody pastes what is longer.
static const char *form_of(const char *text) {
    constexpr std::size_t longest = 300;
    return strlen(text) > longest ? "EXPRESSION" : text;
}

void refuse_unbounded(const Question *question, Node *argument, bool below) {
    const bool joined = list_length(tables_of(question)) > 1;
    const char *written = written_text(question, list_make1(argument));
    const char *table = question->settings->relation_name, *form = form_of(written);
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("no bounds of %s follow from what is declared of the columns of %s", shortened(written),
                           joined ? joined_text(question) : table),
                    errhint("Bound it%s: WHERE %s BETWEEN LOW AND HIGH, or least(greatest(%s, LOW), HIGH), where NULL "
                            "counts as LOW. Or ask the controller for bounds of the columns in it: "
                            "dp_set_bounds(%s, COLUMN_NAME, LOW, HIGH).",
                            below ? " in the sub-SELECT" : "",
                            form, form,
                            joined ? "TABLE_NAME" : quote_literal_cstr(table))));
    pg_unreachable();
}

// Of two columns that one; else the argument. Of a column it is known whose it is.
[[noreturn]] static void refuse_part(const catalog::Reading &reading, const Question *question, int aggregate,
                                     int part) {
    const query::Aggregate &call = question->leaf->aggregates[aggregate];
    auto *argument = static_cast<Node *>(list_nth(written_arguments(call), part));
    const char *written = written_text(question, list_make1(argument));
    if (privacy::is_joint(call.fn) && IsA(argument, Var) && query::is_table_column(question->leaf, argument))
        (void)bounds_of_column(reading, question,
                               query::column_number(castNode(Var, map_to_tables(argument, question))), written);
    refuse_unbounded(question, argument, false);
}

const privacy::Bounds *argument_bounds(const catalog::Reading &reading, const Question *question, int aggregate) {
    const Expression *expression = expression_of(question, aggregate);
    if (expression == nullptr && question->narrowed[aggregate] != nullptr)
        return question->narrowed[aggregate];
    if (expression == nullptr)
        return bounds_of_column(reading, question, argument_column(question, aggregate),
                                written_text(question, written_arguments(question->leaf->aggregates[aggregate])));
    if (expression->bounds == nullptr)
        refuse_part(reading, question, aggregate, 0);
    return expression->bounds;
}

const privacy::Bounds *second_bounds(const catalog::Reading &reading, const Question *question, int aggregate) {
    const Expression *expression = expression_of(question, aggregate);
    if (expression->second == nullptr)
        refuse_part(reading, question, aggregate, 1);
    return expression->second;
}

} // namespace dp::rows
