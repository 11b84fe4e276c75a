#include "rows/derived.hpp"

#include <cmath>

#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/settings.hpp"
#include "query/semi.hpp"
#include "rows/canonical.hpp"
#include "rows/groups.hpp"

namespace dp::rows {

constexpr int64 most_tried = 40000; // combinations of values of columns: the days of a century are fewer
constexpr double most_time = 2e8, of_evaluation = 500; // nanoseconds, of all keys, as query/cost estimates them
constexpr double day = 86400e6;                        // microseconds

namespace {
// Values of one key, with repetitions.
struct Values {
    Oid type;
    int n, room;
    Datum *values;
    bool *nulls;
    bool too_many;
};
} // namespace

static Values no_values(Oid type) {
    constexpr int first_room = 64;
    return Values{type,
                  0,
                  first_room,
                  static_cast<Datum *>(palloc(sizeof(Datum) * first_room)),
                  static_cast<bool *>(palloc(sizeof(bool) * first_room)),
                  false};
}

static void add_value(Values *values, Datum value, bool isnull) {
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
    switch (type) {
    case INT2OID:
        *value = Int16GetDatum(static_cast<int16>(place));
        return true;
    case INT4OID:
        *value = Int32GetDatum(static_cast<int32>(place));
        return true;
    case INT8OID:
        *value = Int64GetDatum(static_cast<int64>(place));
        return true;
    case FLOAT4OID:
        *value = Float4GetDatum(static_cast<float4>(place));
        return true;
    case FLOAT8OID:
        *value = Float8GetDatum(place);
        return true;
    case NUMERICOID:
        *value = NumericGetDatum(int64_to_numeric(static_cast<int64>(place)));
        return true;
    case DATEOID:
        *value = DateADTGetDatum(static_cast<DateADT>(place));
        return true;
    default:
        return false;
    }
}

static bool add_whole_numbers(const privacy::Span &span, Oid type, Values *values, double step = 1) {
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

// ---- (a) by form ---------------------------------------------------------------------------------------------------

static query::Range nothing_declared(const Var *column, void *) {
    return query::Range{query::span_of_type(column->vartype), true};
}

// Buckets, and fields of dates: whole numbers between bounds that are known without the column's.
static bool is_numbered(Node *node) {
    static const Oid list[] = {F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4,
                               F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4,
                               F_EXTRACT_TEXT_DATE,
                               F_EXTRACT_TEXT_TIMESTAMP,
                               F_EXTRACT_TEXT_TIMESTAMPTZ,
                               F_DATE_PART_TEXT_TIMESTAMP,
                               F_DATE_PART_TEXT_TIMESTAMPTZ,
                               F_EXTRACT_TEXT_INTERVAL,
                               F_DATE_PART_TEXT_INTERVAL};
    if (IsA(node, FuncExpr))
        for (Oid function : list)
            if (castNode(FuncExpr, node)->funcid == function)
                return true;
    return false;
}

static bool add_by_form(Node *node, Values *values);

static bool add_results(List *results, Values *values) {
    ListCell *cell;
    foreach (cell, results)
        if (!add_by_form(static_cast<Node *>(lfirst(cell)), values))
            return false;
    return true;
}

static bool add_results_of_case(const CaseExpr *choice, Values *values) {
    ListCell *cell;
    foreach (cell, choice->args)
        if (!add_by_form(reinterpret_cast<Node *>(lfirst_node(CaseWhen, cell)->result), values))
            return false;
    return choice->defresult == nullptr || add_by_form(reinterpret_cast<Node *>(choice->defresult), values);
}

// What the expression gives whatever its columns hold. NULL is added by whoever knows what may be NULL.
static bool add_by_form(Node *node, Values *values) {
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
        return add_by_form(reinterpret_cast<Node *>(castNode(RelabelType, node)->arg), values);
    case T_CaseExpr:
        return add_results_of_case(castNode(CaseExpr, node), values);
    case T_CoalesceExpr:
        return add_results(castNode(CoalesceExpr, node)->args, values);
    case T_MinMaxExpr:
        return add_results(castNode(MinMaxExpr, node)->args, values);
    case T_NullIfExpr:
        return add_by_form(static_cast<Node *>(linitial(reinterpret_cast<OpExpr *>(node)->args)), values);
    default:
        break;
    }
    if (getBaseType(exprType(node)) != BOOLOID)
        return is_numbered(node) &&
               add_whole_numbers(query::range_of(node, nothing_declared, nullptr).span, exprType(node), values);
    add_value(values, BoolGetDatum(false), false);
    add_value(values, BoolGetDatum(true), false);
    return true;
}

// ---- (b) days and longer stretches between bounds ------------------------------------------------------------------

static Datum add_to_timestamp(Datum timestamp, const char *unit) {
    Interval step = {};
    if (strcmp(unit, "hour") == 0)
        step.time = USECS_PER_HOUR;
    else if (strcmp(unit, "minute") == 0)
        step.time = USECS_PER_MINUTE;
    else if (strcmp(unit, "day") == 0)
        step.day = 1;
    else if (strcmp(unit, "week") == 0)
        step.day = 7;
    else
        step.month = strcmp(unit, "month") == 0 ? 1 : strcmp(unit, "quarter") == 0 ? 3 : 12;
    return DirectFunctionCall2(timestamp_pl_interval, timestamp, IntervalPGetDatum(&step));
}

// The unit in lower case, or null.
static const char *unit_of(const Const *constant) {
    static const char *const units[] = {"year", "quarter", "month", "week", "day", "hour", "minute"};
    if (!IsA(constant, Const) || constant->constisnull)
        return nullptr;
    const char *name = TextDatumGetCString(constant->constvalue);
    for (const char *unit : units)
        if (pg_strcasecmp(name, unit) == 0)
            return unit;
    return nullptr;
}

static bool is_calendar_range(const privacy::Span &span) {
    constexpr double least = -1e17, most = 1e17; // years -1170 to 5170
    return span.low >= least && span.high <= most;
}

static bool add_stretches(ColumnRanges *columns, const FuncExpr *call, Values *values) {
    const char *unit = unit_of(static_cast<const Const *>(linitial(call->args)));
    privacy::Span span = range_over_columns(static_cast<Node *>(lsecond(call->args)), columns).span;
    if (unit == nullptr || !is_calendar_range(span))
        return false;
    Datum at = DirectFunctionCall2(timestamp_trunc, CStringGetTextDatum(unit),
                                   TimestampGetDatum(static_cast<Timestamp>(span.low)));
    for (int n = 0; DatumGetTimestamp(at) <= static_cast<Timestamp>(span.high); n++) {
        CHECK_FOR_INTERRUPTS();
        if (n >= most_derived)
            return false;
        add_value(values, at, false);
        at = add_to_timestamp(at, unit);
    }
    return true;
}

// The bins of date_bin() that begin with that of the lower bound.
static bool add_bins(ColumnRanges *columns, const FuncExpr *call, Values *values) {
    auto *stride = static_cast<const Const *>(linitial(call->args)),
         *origin = static_cast<const Const *>(lthird(call->args));
    privacy::Span span = range_over_columns(static_cast<Node *>(lsecond(call->args)), columns).span;
    if (!IsA(stride, Const) || stride->constisnull || !IsA(origin, Const) || origin->constisnull ||
        !is_calendar_range(span))
        return false;
    const Interval *length = DatumGetIntervalP(stride->constvalue);
    Datum at = DirectFunctionCall3(timestamp_bin, stride->constvalue,
                                   TimestampGetDatum(static_cast<Timestamp>(span.low)), origin->constvalue);
    for (int n = 0; DatumGetTimestamp(at) <= static_cast<Timestamp>(span.high); n++) {
        CHECK_FOR_INTERRUPTS();
        if (n >= most_derived)
            return false;
        add_value(values, at, false);
        at = TimestampGetDatum(DatumGetTimestamp(at) + length->day * USECS_PER_DAY + length->time);
    }
    return true;
}

// Days, or longer stretches; the day of a stretch is none.
static bool is_stretch(Node *node) {
    const Oid function = IsA(node, FuncExpr) ? castNode(FuncExpr, node)->funcid : InvalidOid;
    return function == F_DATE_TRUNC_TEXT_TIMESTAMP || function == F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP ||
           (function == F_DATE_TIMESTAMP && !is_stretch(static_cast<Node *>(linitial(castNode(FuncExpr, node)->args))));
}

// round(x, -2) and trunc(x, -2) give hundreds.
static double step_of(const FuncExpr *call) {
    if (call->funcid != F_ROUND_NUMERIC_INT4 && call->funcid != F_TRUNC_NUMERIC_INT4)
        return 1;
    auto *places = static_cast<const Const *>(lsecond(call->args));
    constexpr int most_places = 15;
    int n = IsA(places, Const) && !places->constisnull ? DatumGetInt32(places->constvalue) : 0;
    return n < 0 && n >= -most_places ? std::pow(10.0, -n) : 1;
}

// Whatever else lies between bounds and is whole: numbers, days.
static bool add_range(ColumnRanges *columns, Node *folded, Values *values) {
    if (IsA(folded, FuncExpr) && castNode(FuncExpr, folded)->funcid == F_DATE_TRUNC_TEXT_TIMESTAMP)
        return add_stretches(columns, castNode(FuncExpr, folded), values);
    if (IsA(folded, FuncExpr) && castNode(FuncExpr, folded)->funcid == F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP)
        return add_bins(columns, castNode(FuncExpr, folded), values);
    double step = IsA(folded, FuncExpr) ? step_of(castNode(FuncExpr, folded)) : 1;
    return add_whole_numbers(range_over_columns(folded, columns).span, exprType(folded), values, step);
}

// ---- (c) the image of what is declared of the columns --------------------------------------------------------------

// Of days and longer stretches between bounds (b) something is often printed: date_trunc('month', t)::date. They are taken for
// columns of an entry of their own.
constexpr int stretch_varno = 100000;

namespace {
struct Stretches {
    ColumnRanges *columns;
    List *found; // FuncExpr *
};
} // namespace

static Node *stretches_as_columns(Node *node, void *context) {
    auto *stretches = static_cast<Stretches *>(context);
    if (node == nullptr)
        return nullptr;
    if (is_stretch(node)) {
        Values values = no_values(exprType(node));
        const bool derived = stretches->columns->tried <= most_time && add_range(stretches->columns, node, &values);
        stretches->columns->tried += of_evaluation * values.n;
        if (derived) {
            stretches->found = list_append_unique(stretches->found, node);
            int place = 0;
            while (!equal(list_nth(stretches->found, place), node))
                place++;
            return reinterpret_cast<Node *>(
                makeVar(stretch_varno, static_cast<AttrNumber>(place + 1), exprType(node), -1, InvalidOid, 0));
        }
    }
    return border::mutate_expression(node, stretches_as_columns, context);
}

static bool stretch_values(const Stretches *stretches, int place, Values *values) {
    auto *stretch = static_cast<Node *>(list_nth(stretches->found, place));
    *values = no_values(exprType(stretch));
    if (!add_range(stretches->columns, stretch, values))
        return false;
    if (range_over_columns(stretch, stretches->columns).nullable)
        add_value(values, Datum(0), true);
    return !values->too_many;
}

static bool collect_columns(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Var)) {
        auto **columns = static_cast<List **>(context);
        if (castNode(Var, node)->varattno > 0)
            *columns = list_append_unique(*columns, node);
        return false;
    }
    return border::walk_expression(node, collect_columns, context);
}

static bool add_declared_groups(const ColumnRanges *columns, const Var *column, Values *values) {
    const AttrNumber number = query::column_number(column);
    const char *name = column_name(columns->question, number);
    ArrayType *groups = catalog::column_groups(*columns->reading, relation_of(columns->question, number), name);
    if (groups == nullptr)
        return false;
    // Read as whoever stored them read them.
    border::SettingsScope scope = border::SettingsScope::enter();
    KeyDomain domain = declared_domain(groups, column->vartype, column->vartypmod, column->varcollid, name);
    scope.leave();
    for (int i = 0; i < domain.count; i++)
        add_value(values, domain.values[i], domain.nulls[i]);
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
    return column->varno == query::unit_varno ? add_groups_of_extreme(columns, column, values)
                                              : add_declared_groups(columns, column, values);
}

// All values that a column is declared to have; NULL where it may be.
static bool column_values(ColumnRanges *columns, Var *column, Values *values) {
    *values = no_values(column->vartype);
    const bool computed =
        column->varno == query::unit_varno || query::test_of(columns->question->leaf, column) != nullptr;
    bool nullable = computed ? range_over_columns(reinterpret_cast<Node *>(column), columns).nullable
                             : is_nullable(columns->question, query::column_number(column));
    if (has_type_domain(column->vartype)) {
        KeyDomain domain = type_domain(column->vartype, column->varcollid, nullable);
        for (int i = 0; i < domain.count; i++)
            add_value(values, domain.values[i], domain.nulls[i]);
        return true;
    }
    if (!add_column_groups(columns, column, values) &&
        !add_whole_numbers(range_over_columns(reinterpret_cast<Node *>(column), columns).span, column->vartype, values))
        return false;
    if (nullable)
        add_value(values, Datum(0), true);
    return !values->too_many;
}

namespace {
// The columns of an expression and their values; a place in the product of these.
struct Product {
    int ncolumns;
    Var **columns;
    Values *values;
    int64 size;
};
} // namespace

static bool product_of(const Stretches *stretches, Node *expression, Product *product) {
    List *found = NIL;
    collect_columns(expression, &found);
    product->ncolumns = list_length(found);
    product->columns = static_cast<Var **>(palloc0(sizeof(Var *) * (product->ncolumns + 1)));
    product->values = static_cast<Values *>(palloc0(sizeof(Values) * (product->ncolumns + 1)));
    product->size = 1;
    ListCell *cell;
    foreach (cell, found) {
        int i = foreach_current_index(cell);
        product->columns[i] = lfirst_node(Var, cell);
        Var *column = product->columns[i];
        if (!(column->varno == stretch_varno ? stretch_values(stretches, column->varattno - 1, &product->values[i])
                                             : column_values(stretches->columns, column, &product->values[i])))
            return false;
        product->size *= product->values[i].n;
        if (product->size > most_tried)
            return false;
    }
    return true;
}

static void set_columns(const Product *product, int64 place, TupleTableSlot *slot) {
    ExecClearTuple(slot);
    memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
    for (int i = 0; i < product->ncolumns; i++) {
        const Values &values = product->values[i];
        slot->tts_values[i] = values.values[place % values.n];
        slot->tts_isnull[i] = values.nulls[place % values.n];
        place /= values.n;
    }
    ExecStoreVirtualTuple(slot);
}

// A value that is longer than any key is no group: rows that have it are left out.
static void add_copy(Values *values, Datum value, bool isnull) {
    int16 length;
    bool by_value;
    get_typlenbyval(values->type, &length, &by_value);
    if (!isnull && length == -1 && toast_raw_datum_size(value) > longest_key + VARHDRSZ)
        return;
    add_value(values, isnull ? Datum(0) : datumCopy(value, by_value, length), isnull);
}

static void evaluate_product(const Product *product, Node *key, TupleDesc desc, Values *values) {
    EState *state = CreateExecutorState();
    ExprContext *context = GetPerTupleExprContext(state);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
    context->ecxt_scantuple = slot;
    ExprState *expression = ExecPrepareExpr(reinterpret_cast<Expr *>(copyObject(key)), state);
    for (int64 place = 0; place < product->size; place++) {
        CHECK_FOR_INTERRUPTS();
        set_columns(product, place, slot);
        bool isnull;
        Datum value = ExecEvalExprSwitchContext(expression, context, &isnull);
        add_copy(values, value, isnull);
        ResetExprContext(context);
    }
    ExecDropSingleTupleTableSlot(slot);
    FreeExecutorState(state);
}

// The columns of the product.
static TupleDesc describe(const Product *product) {
    TupleDesc desc = CreateTemplateTupleDesc(product->ncolumns);
    for (int i = 0; i < product->ncolumns; i++)
        TupleDescInitEntry(desc, static_cast<AttrNumber>(i + 1), "column", product->columns[i]->vartype,
                           product->columns[i]->vartypmod, 0);
    return desc;
}

// They become numbers in the product.
static Node *over_product(Node *node, void *context) {
    auto *product = static_cast<const Product *>(context);
    if (node == nullptr)
        return nullptr;
    if (!IsA(node, Var))
        return border::mutate_expression(node, over_product, context);
    for (int i = 0; i < product->ncolumns; i++)
        if (equal(node, product->columns[i])) {
            auto *column = copyObject(product->columns[i]);
            column->varno = 1;
            column->varattno = static_cast<AttrNumber>(i + 1);
            return reinterpret_cast<Node *>(column);
        }
    elog(ERROR, "a column of a derived group is in no product");
}

static bool add_image(ColumnRanges *columns, const Question *question, int key, Node *folded, Values *values) {
    Stretches stretches = {columns, NIL};
    Node *expression = stretches_as_columns(folded, &stretches);
    Product product;
    if (!product_of(&stretches, expression, &product))
        return false;
    query::RowCost cost = {};
    Node *total = query::make_total(static_cast<Node *>(copyObject(expression)), nullptr, &cost);
    constexpr double longest = 1000; // bytes of a declared group
    columns->tried += static_cast<double>(product.size) *
                      (of_evaluation + cost.calls + longest * (cost.linear + longest * cost.quadratic));
    if (columns->tried > most_time)
        return false;
    // Under the settings and as the role of the internal statement.
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    Node *evaluated = over_product(stretches.found == NIL ? question->keys[key] : total, &product);
    evaluate_product(&product, evaluated, describe(&product), values);
    role.leave();
    settings.leave();
    return true;
}

// ---- together ------------------------------------------------------------------------------------------------------

// Of equal values in several spellings one is printed: the same that a row's key would have. What is longer than any key is no
// group; false: the form has such a one.
static bool make_canonical(Values *values, const query::Key &spec, bool image) {
    int kept = 0;
    for (int i = 0; i < values->n; i++) {
        bool isnull = values->nulls[i];
        Datum value = isnull ? Datum(0) : canonical_value(spec.type, spec.typmod, values->values[i], &isnull);
        if (isnull && !values->nulls[i]) {
            if (!image)
                return false;
            continue;
        }
        values->values[kept] = value;
        values->nulls[kept++] = isnull;
    }
    values->n = kept;
    return kept > 0;
}

bool derive_domain(ColumnRanges *columns, const Question *question, int key, Node *folded, KeyDomain *domain) {
    const query::Key &spec = question->leaf->keys[key];
    if (!has_spelling(spec.type))
        return false;
    Values values = no_values(spec.type);
    bool image = false;
    if (!add_by_form(folded, &values)) {
        values = no_values(spec.type);
        image = add_image(columns, question, key, folded, &values); // with NULL, where it gives that
        if (!image && !add_range(columns, folded, &values))
            return false;
    }
    if (!image && range_over_columns(folded, columns).nullable)
        add_value(&values, Datum(0), true);
    if (values.too_many || values.n == 0)
        return false;
    if (!make_canonical(&values, spec, image))
        return false;
    *domain = domain_of_values(spec.type, spec.collation, values.values, values.nulls, values.n);
    return domain->count <= most_derived;
}

} // namespace dp::rows
