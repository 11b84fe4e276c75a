#include "rows/expression_groups.hpp"

#include "border/each.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "query/gaps.hpp"
#include "query/total.hpp"
#include "rows/canonical.hpp"
#include "rows/column_values.hpp"
#include "rows/groups.hpp"
#include "rows/narrowed.hpp"
#include "rows/public_values.hpp"

namespace dp::rows {

constexpr double of_evaluation = 500; // nanoseconds

// ---- (a) by form ---------------------------------------------------------------------------------------------------

static query::Range nothing_declared(const Var *column, void *) {
    privacy::Span span = query::span_of_type(column->vartype);
    span.decimals = query::decimals_of_type(column->vartype, column->vartypmod);
    return query::Range{span, true};
}

// Buckets, and fields of dates: whole numbers between bounds that are known without the column's.
static bool is_numbered(Node *node) {
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

static bool add_by_form(Node *node, ColumnRanges *columns, Values *values);

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
        if (!is_null && !add_by_form(reinterpret_cast<Node *>(of_one), columns, values))
            return false;
    }
    return results != NIL;
}

// Adds the values that the expression gives whatever its columns hold between their bounds. The caller adds NULL where it can be.
static bool add_by_form(Node *node, ColumnRanges *columns, Values *values) {
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
        return add_by_form(reinterpret_cast<Node *>(castNode(RelabelType, node)->arg), columns, values);
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

// ---- (b) the image of what is declared of the columns --------------------------------------------------------------

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

static List *columns_of(Node *node) {
    List *columns = NIL;
    collect_columns(node, &columns);
    return columns;
}

namespace {
// The columns of a key, or whole numbers that are made of them, and their values; a place in the product of these.
struct Product {
    int ncolumns;
    Var **columns;
    Values *values;
    int64 size;
    List *conditions; // Node *, over it: where rows may be
};

// Holds the columns of a key of which too much or nothing is known (Var *), and what takes their place.
struct Steps {
    ColumnRanges *columns;
    List *open, *found;
    Product *product;
};
} // namespace

// False: there are too many combinations, and no more are counted.
static bool add_column(Product *product, Var *column, const Values &values) {
    if (product->size > most_tried)
        return false;
    product->columns[product->ncolumns] = column;
    product->values[product->ncolumns++] = values;
    product->size *= values.n;
    return product->size <= most_tried;
}

static bool is_open(const Steps *steps, Node *node) {
    return list_intersection(steps->open, columns_of(node)) != NIL;
}

static bool count_column(Node *node, void *context) {
    auto *count = static_cast<std::pair<Node *, int> *>(context);
    if (node == nullptr)
        return false;
    count->second += equal(node, count->first);
    return count->second > 1 || border::walk_expression(node, count_column, context);
}

// Then what one of them has says nothing about another.
static bool has_each_once(Node *node) {
    ListCell *cell;
    foreach (cell, columns_of(node)) {
        std::pair<Node *, int> count = {static_cast<Node *>(lfirst(cell)), 0};
        if (count_column(node, &count))
            return false;
    }
    return true;
}

static bool has_nullable(Node *node, ColumnRanges *columns) {
    ListCell *cell;
    foreach (cell, columns_of(node))
        if (range_over_columns(static_cast<Node *>(lfirst(cell)), columns).nullable)
            return true;
    return false;
}

static bool has_bounds(Node *node, ColumnRanges *columns) {
    ListCell *cell;
    foreach (cell, columns_of(node))
        if (!range_over_columns(static_cast<Node *>(lfirst(cell)), columns).span.bounded())
            return false;
    return true;
}

// Adds what a step gives for NaN: that, or NULL where its type has none. The last bucket of an array is among those of its range.
static void add_step_of_nan(Node *node, Values *values) {
    const Oid type = getBaseType(exprType(node));
    if (type == FLOAT4OID)
        add_value(values, Float4GetDatum(get_float4_nan()), false);
    else if (type == FLOAT8OID)
        add_value(values, Float8GetDatum(get_float8_nan()), false);
    else if (type == NUMERICOID)
        add_value(values, DirectFunctionCall1(float8_numeric, Float8GetDatum(get_float8_nan())), false);
    else if (query::rule_of(node) != query::Rule::place)
        add_value(values, Datum(0), true);
}

// All whole numbers that the expression gives, with NULL where one of its columns may be that.
static bool step_values(ColumnRanges *columns, Node *node, Values *values) {
    const double step = query::step_of(node, range_of_column, columns);
    *values = no_values(exprType(node));
    if (step == 0 || !has_each_once(node) ||
        !add_whole_numbers(range_over_columns(node, columns).span, exprType(node), values, step) ||
        values->n > most_derived)
        return false;
    if (has_nullable(node, columns))
        add_value(values, Datum(0), true);
    if (gives_nan_over(node, columns))
        add_step_of_nan(node, values);
    return true;
}

// No column of the key has this number.
constexpr int step_varno = 100000;

// Two steps over one column would give pairs that do not exist. So there are no more steps than columns.
static bool is_beside_step(const Steps *steps, Node *node) {
    ListCell *cell;
    foreach (cell, steps->found)
        if (!equal(lfirst(cell), node) &&
            list_intersection(columns_of(static_cast<Node *>(lfirst(cell))), columns_of(node)) != NIL)
            return true;
    return false;
}

// The innermost whole numbers that are few take the place of open columns.
static Node *steps_as_columns(Node *node, void *context) {
    auto *steps = static_cast<Steps *>(context);
    if (node != nullptr && (IsA(node, CaseWhen) || IsA(node, List))) // no walker goes into a WHEN by itself
        return border::mutate_expression(node, steps_as_columns, context);
    if (node == nullptr || !is_open(steps, node))
        return node;
    Node *within = border::mutate_expression(node, steps_as_columns, context);
    Values values;
    if (!is_open(steps, within) || (!IsA(node, FuncExpr) && !IsA(node, OpExpr)) || is_beside_step(steps, node) ||
        !step_values(steps->columns, node, &values))
        return within;
    const int before = list_length(steps->found);
    steps->found = list_append_unique(steps->found, node);
    int place = 0;
    while (!equal(list_nth(steps->found, place), node))
        place++;
    Var *column = makeVar(step_varno, static_cast<AttrNumber>(place + 1), exprType(node), -1, exprCollation(node), 0);
    if (list_length(steps->found) > before)
        add_column(steps->product, column, values);
    return reinterpret_cast<Node *>(column);
}

// Nor does a column stand beside a step over it.
static bool are_apart(const Steps *steps, Node *rest) {
    List *columns = columns_of(rest);
    ListCell *cell;
    foreach (cell, steps->found)
        if (list_intersection(columns, columns_of(static_cast<Node *>(lfirst(cell)))) != NIL)
            return false;
    return true;
}

// Returns the key over the product; null: it has too many values, or some that nobody knows. Of columns with more than `most` values steps
// are taken.
static Node *product_of(ColumnRanges *columns, Node *key, int most, Product *product) {
    List *all = columns_of(key);
    *product = {0, static_cast<Var **>(palloc0(sizeof(Var *) * (list_length(all) + 1))),
                static_cast<Values *>(palloc0(sizeof(Values) * (list_length(all) + 1))), 1, NIL};
    Steps steps = {columns, NIL, NIL, product};
    ListCell *cell;
    foreach (cell, all) {
        Values values;
        if (!column_values(columns, key, lfirst_node(Var, cell), &values) || values.n > most)
            steps.open = lappend(steps.open, lfirst(cell));
    }
    Node *expression = steps_as_columns(key, &steps);
    if (is_open(&steps, expression) || !are_apart(&steps, expression) || product->size > most_tried)
        return nullptr;
    foreach (cell, columns_of(expression)) {
        Values values;
        if (lfirst_node(Var, cell)->varno != step_varno &&
            (!column_values(columns, key, lfirst_node(Var, cell), &values) ||
             !add_column(product, lfirst_node(Var, cell), values)))
            return nullptr;
    }
    return expression;
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

// Calls `take` with the values of the keys at each place of the product. Under the settings and as the role of the internal statement.
static void evaluate_product(const Product *product, const Question *question, List *keys, TupleDesc desc,
                             void (*take)(const Datum *, const bool *, void *), void *context) {
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    EState *state = CreateExecutorState();
    ExprContext *row = GetPerTupleExprContext(state);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
    row->ecxt_scantuple = slot;
    List *expressions = ExecPrepareExprList(static_cast<List *>(copyObject(keys)), state);
    auto *results = static_cast<Datum *>(palloc(sizeof(Datum) * list_length(keys)));
    auto *nulls = static_cast<bool *>(palloc(sizeof(bool) * list_length(keys)));
    ExprState *test = ExecPrepareQual(product->conditions, state);
    for (int64 place = 0; place < product->size; place++) {
        CHECK_FOR_INTERRUPTS();
        set_columns(product, place, slot);
        if (!ExecQual(test, row)) {
            ResetExprContext(row);
            continue;
        }
        ListCell *cell;
        foreach (cell, expressions) {
            const int i = foreach_current_index(cell);
            results[i] = ExecEvalExprSwitchContext(static_cast<ExprState *>(lfirst(cell)), row, &nulls[i]);
        }
        take(results, nulls, context);
        ResetExprContext(row);
    }
    ExecDropSingleTupleTableSlot(slot);
    FreeExecutorState(state);
    role.leave();
    settings.leave();
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

// Some moments stand for others, of which a condition may say something else: only bounds are narrowed by it.
static bool has_all_values(const Var *column, const Values &values) {
    const Oid type = getBaseType(column->vartype);
    if (type != DATEOID)
        return type != TIMESTAMPOID && type != TIMESTAMPTZOID;
    for (int i = 1; i < values.n; i++)
        if (!values.nulls[i] && DatumGetDateADT(values.values[i]) - DatumGetDateADT(values.values[i - 1]) > 1)
            return false;
    return true;
}

static List *conditions_of_product(const Question *question, const Product *product) {
    List *columns = NIL, *conditions = NIL;
    for (int i = 0; i < product->ncolumns; i++)
        if (has_all_values(product->columns[i], product->values[i]))
            columns = lappend(columns, product->columns[i]);
    ListCell *cell;
    foreach (cell, conditions_over(question, columns))
        conditions =
            lappend(conditions, over_product(static_cast<Node *>(lfirst(cell)), const_cast<Product *>(product)));
    return conditions;
}

// The keys over the product, total; null where that takes too long. With steps in them they are made of what they were folded to.
static List *keys_over(ColumnRanges *columns, const Question *question, List *numbers, List *folded, int most,
                       Product *product) {
    auto *over = reinterpret_cast<List *>(product_of(columns, reinterpret_cast<Node *>(folded), most, product));
    if (over == NIL)
        return NIL;
    List *keys = NIL;
    query::RowCost cost = {};
    ListCell *cell;
    foreach (cell, over) {
        auto *expression = static_cast<Node *>(lfirst(cell));
        const int i = foreach_current_index(cell);
        Node *total = query::make_total(static_cast<Node *>(copyObject(expression)), nullptr, &cost);
        const bool as_it_is = equal(expression, list_nth(folded, i));
        keys = lappend(keys, over_product(as_it_is ? question->keys[list_nth_int(numbers, i)] : total, product));
    }
    const double time = static_cast<double>(product->size) * (of_evaluation + query::time_of_group(cost));
    if (columns->tried + time > query::longest_derivation)
        return NIL;
    columns->tried += time;
    // Where they would take too long the list stays longer.
    const double tests = static_cast<double>(product->size) * query::time_of_group(question->where_cost);
    if (columns->tried + tests <= query::longest_derivation) {
        columns->tried += tests;
        product->conditions = conditions_of_product(question, product);
    }
    return keys;
}

// Every value of a column is tried, which knows best what conditions leave. Where that takes too long steps are.
static List *keys_over_product(ColumnRanges *columns, const Question *question, List *numbers, List *folded,
                               Product *product) {
    List *keys = keys_over(columns, question, numbers, folded, most_tried, product);
    return keys != NIL ? keys : keys_over(columns, question, numbers, folded, most_derived, product);
}

static bool add_image(ColumnRanges *columns, const Question *question, int key, Node *folded, Values *values) {
    Product product;
    List *keys = keys_over_product(columns, question, list_make1_int(key), list_make1(folded), &product);
    if (keys == NIL)
        return false;
    const auto take = [](const Datum *value, const bool *isnull, void *all) {
        add_copy(static_cast<Values *>(all), *value, *isnull);
    };
    evaluate_product(&product, question, keys, describe(&product), take, values);
    return true;
}

// ---- keys of the same columns --------------------------------------------------------------------------------------

// Adds keys that share a column with these, until there are none; those of public tables have the tuples of their rows.
static List *keys_beside(const Question *question, int first, const List *folded) {
    List *keys = list_make1_int(first), *columns = columns_of(static_cast<Node *>(list_nth(folded, first)));
    for (int key = 0; key < question->leaf->nkeys; key++) {
        auto *expression = static_cast<Node *>(list_nth(folded, key));
        if (list_member_int(keys, key) || list_intersection(columns, columns_of(expression)) == NIL)
            continue;
        keys = lappend_int(keys, key);
        columns = list_concat(columns, columns_of(expression));
        key = -1;
    }
    ListCell *cell;
    foreach (cell, columns) {
        const query::Source *source = query::source_of(question->leaf, lfirst_node(Var, cell)->varno);
        if (source != nullptr && source->is_public)
            return list_make1_int(first);
    }
    return keys;
}

bool share_columns(const Question *question, const List *folded) {
    for (int key = 0; key < question->leaf->nkeys; key++)
        if (list_length(keys_beside(question, key, folded)) > 1)
            return true;
    return false;
}

namespace {
struct Tuples {
    const Question *question;
    const int64 *strides;
    KeyTuples *found;
};
} // namespace

static void add_tuple(const Datum *values, const bool *nulls, void *context) {
    auto *tuples = static_cast<const Tuples *>(context);
    int64 place = 0;
    ListCell *cell;
    foreach (cell, tuples->found->keys) {
        const int i = foreach_current_index(cell), key = lfirst_int(cell);
        const int at = tuples->question->domains[key].find(values[i], nulls[i]);
        if (at < 0)
            return;
        place += at * tuples->strides[key];
    }
    tuples->found->places.at[tuples->found->places.n++] = place;
}

static KeyTuples *tuples_of_keys(ColumnRanges *columns, const Question *question, List *keys, const List *folded) {
    List *expressions = NIL;
    ListCell *cell;
    foreach (cell, keys)
        expressions = lappend(expressions, list_nth(folded, lfirst_int(cell)));
    Product product;
    List *over = keys_over_product(columns, question, keys, expressions, &product);
    if (over == NIL)
        return nullptr;
    auto *found = static_cast<KeyTuples *>(palloc(sizeof(KeyTuples)));
    *found = {keys, {static_cast<int64 *>(palloc(sizeof(int64) * (product.size + 1))), 0}};
    Tuples tuples = {question, strides_of(question), found};
    evaluate_product(&product, question, over, describe(&product), add_tuple, &tuples);
    sort_places(&found->places);
    return found;
}

List *derive_tuples(ColumnRanges *columns, const Question *question, const List *folded) {
    List *all = NIL, *seen = NIL;
    for (int key = 0; key < question->leaf->nkeys; key++) {
        List *keys = keys_beside(question, key, folded);
        if (list_length(keys) < 2 || list_member_int(seen, key))
            continue;
        seen = list_concat(seen, keys);
        if (KeyTuples *tuples = tuples_of_keys(columns, question, keys, folded))
            all = lappend(all, tuples);
    }
    return all;
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

// Refuses a list of which conditions leave no value.
static void refuse_empty(ColumnRanges *columns, Node *folded, bool empty) {
    const auto range_of = [](Node *part, void *context) {
        return range_over_columns(part, static_cast<ColumnRanges *>(context));
    };
    const char *apart = text_of_apart(columns->narrowed, folded, range_of, columns);
    if (apart != nullptr || empty)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the conditions exclude every group: nothing private would be answered"),
                        apart == nullptr ? 0 : errdetail("%s", apart),
                        errhint("Groups follow from what is declared of the columns of a key, where WHERE holds.")));
}

bool derive_domain(ColumnRanges *columns, const Question *question, int key, Node *folded, KeyDomain *domain) {
    const query::Key &spec = question->leaf->keys[key];
    if (!has_spelling(spec.type))
        return false;
    Values values = no_values(spec.type);
    const bool image = add_image(columns, question, key, folded, &values); // with NULL, where it gives that
    if (image)
        refuse_empty(columns, folded, values.n == 0);
    if (!image && !add_by_form(folded, columns, &values))
        return false;
    const bool bounded = is_numbered(folded) && has_bounds(folded, columns) && !has_nullable(folded, columns);
    if (!image && !bounded && range_over_columns(folded, columns).nullable)
        add_value(&values, Datum(0), true);
    if (values.too_many || values.n == 0 || !make_canonical(&values, spec, image))
        return false;
    *domain = domain_of_values(spec.type, spec.collation, values.values, values.nulls, values.n);
    domain->derived = true;
    List *conditions = columns->narrowed == nullptr ? NIL : columns->narrowed->conjuncts;
    domain->narrowed =
        image && list_intersection(columns_of(folded), columns_of(reinterpret_cast<Node *>(conditions))) != NIL;
    return domain->count <= most_derived;
}

} // namespace dp::rows
