#include "rows/expression_groups.hpp"

#include "border/each.hpp"
#include "border/visit.hpp"
#include "border/walk.hpp"
#include "query/gaps.hpp"
#include "query/total.hpp"
#include "rows/canonical.hpp"
#include "rows/column_values.hpp"
#include "rows/groups.hpp"
#include "rows/listed_values.hpp"
#include "rows/narrowed.hpp"
#include "rows/nodes.hpp"
#include "rows/pinned.hpp"
#include "rows/public_values.hpp"

namespace dp::rows {

constexpr double of_evaluation = 500; // nanoseconds

// ---- the image of what is declared of the columns --------------------------------------------------------------

static List *columns_of(Node *node) {
    return list_concat_unique(NIL, pull_var_clause(node, 0));
}

static bool share_a_column(Node *a, Node *b) {
    return list_intersection(columns_of(a), columns_of(b)) != NIL;
}

namespace {
// The columns of a key, or whole numbers that are made of them, and their values; a place in the product of these.
struct Product {
    List *columns;  // Var *
    Listed *values; // of each
    int64 size;
    List *whole;      // Var *: columns of which all values are there
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
    product->values[list_length(product->columns)] = {values.n, values.values, values.nulls};
    product->columns = lappend(product->columns, column);
    product->whole = values.stand_in ? product->whole : lappend(product->whole, column);
    product->size *= values.n;
    return product->size <= most_tried;
}

static bool is_open(const Steps *steps, Node *node) {
    return list_intersection(steps->open, columns_of(node)) != NIL;
}

// Then what one of them has says nothing about another.
static bool has_each_once(Node *node) {
    return list_length(columns_of(node)) == list_length(pull_var_clause(node, 0));
}

static bool has_nullable(Node *node, ColumnRanges *columns) {
    for (auto *column : border::each<Node>(columns_of(node)))
        if (range_over_columns(column, columns).nullable)
            return true;
    return false;
}

static bool has_bounds(Node *node, ColumnRanges *columns) {
    for (auto *column : border::each<Node>(columns_of(node)))
        if (!range_over_columns(column, columns).span.bounded())
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

// Two steps over one column, or a step beside its column, would give pairs that do not exist. So there are no more steps than columns.
static bool is_beside_step(const Steps *steps, Node *node) {
    for (auto *step : border::each<Node>(steps->found))
        if (!equal(step, node) && share_a_column(step, node))
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
    return as_node(column);
}

// Whether a column has values that show all of what a list of expressions has together.
static bool has_values(ColumnRanges *columns, List *shown, Var *column) {
    Values values;
    return !has_calendar(column->vartype) ||
           (column_values(columns, as_node(shown), column, &values) && values.n <= most_derived);
}

// Whether a condition is total: a view's filter, which the product is left with in another way.
static bool is_total(Node *condition) {
    return border::any(condition, [](Node *node) {
        return IsA(node, FuncExpr) && castNode(FuncExpr, node)->funcid >= FirstUnpinnedObjectId;
    });
}

// Returns conditions (folded) over dates and moments that are in the key, which together with it have values that these show: each is true
// of all moments that one of these stands for, or of none.
static List *conditions_beside(ColumnRanges *columns, Node *key) {
    constexpr int most_conditions = 16;
    List *found = NIL, *all = columns_of(key);
    for (auto *condition : border::each<Node>(columns->narrowed == nullptr ? NIL : columns->narrowed->conjuncts)) {
        List *used = columns_of(condition), *longer = lappend(list_concat_copy(list_make1(key), found), condition);
        bool fits = used != NIL && list_difference(used, all) == NIL && list_length(found) < most_conditions &&
                    !is_total(condition);
        bool any = false;
        for (auto *column : border::each<Var>(used)) {
            any = any || has_calendar(column->vartype);
            fits = fits && is_of_value(condition, as_node(column)) && has_values(columns, longer, column);
        }
        if (any && fits)
            found = lappend(found, condition);
    }
    return found;
}

// Returns the key over the product; null: it has too many values, or some that nobody knows. Of columns with more than `most` values steps
// are taken. beside: conditions that the product shows as well.
static Node *product_of(ColumnRanges *columns, Node *key, const List *beside, int most, Product *product) {
    List *all = columns_of(key);
    *product = {NIL, zeroed<Listed>(list_length(all) + 1), 1, NIL, NIL};
    Node *shown = as_node(list_concat_copy(list_make1(key), beside));
    Steps steps = {columns, NIL, NIL, product};
    for (auto *column : border::each<Var>(all)) {
        Values values;
        if (!column_values(columns, shown, column, &values) || values.n > most)
            steps.open = lappend(steps.open, column);
    }
    Node *expression = steps_as_columns(key, &steps);
    if (is_open(&steps, expression) || is_beside_step(&steps, expression) || product->size > most_tried)
        return nullptr;
    for (auto *column : border::each<Var>(columns_of(expression))) {
        Values values;
        if (column->varno != step_varno &&
            (!column_values(columns, shown, column, &values) || !add_column(product, column, values)))
            return nullptr;
    }
    return expression;
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

// Calls `take` with the values of the keys at each place of the product, their arrays.
template <class Take> static void evaluate_product(const Product *product, List *keys, Take &&take) {
    Trial trial = begin_trial(product->columns);
    ExprContext *row = GetPerTupleExprContext(trial.state);
    List *expressions = ExecPrepareExprList(static_cast<List *>(copyObject(keys)), trial.state);
    auto *results = array_of<Datum>(list_length(keys));
    auto *nulls = array_of<bool>(list_length(keys));
    trial.test = ExecPrepareQual(product->conditions, trial.state);
    for (int64 place = 0; place < product->size; place++) {
        CHECK_FOR_INTERRUPTS();
        set_place(trial, product->values, place);
        if (ExecQual(trial.test, row)) {
            ListCell *cell;
            foreach (cell, expressions) {
                const int i = foreach_current_index(cell);
                results[i] = ExecEvalExprSwitchContext(static_cast<ExprState *>(lfirst(cell)), row, &nulls[i]);
            }
            take(results, nulls);
        }
        ResetExprContext(row);
    }
    end_trial(trial);
}

static Node *over_product(Node *node, const Product *product) {
    bool others;
    Node *over = over_listed(node, product->columns, &others);
    if (others)
        elog(ERROR, "a column of a derived group is in no product");
    return over;
}

// Some moments stand for others, of which a condition may say something else: only bounds are narrowed by it.
static List *conditions_of_product(const Question *question, const Product *product, const List *beside,
                                   query::RowCost *cost) {
    List *conditions = NIL;
    for (auto *one : border::each<Node>(conditions_over(question, product->whole)))
        conditions = lappend(conditions, over_product(one, product));
    for (auto *one : border::each<Node>(
             list_difference(columns_of(as_node(const_cast<List *>(beside))), product->columns) == NIL ? beside : NIL))
        conditions = lappend(conditions, over_product(query::make_total(another(one), nullptr, cost), product));
    return conditions;
}

// The keys over the product, total; null where that takes too long. With steps in them they are made of what they were folded to.
static List *keys_over(ColumnRanges *columns, const Question *question, List *numbers, List *folded, const List *beside,
                       int most, Product *product) {
    auto *over = reinterpret_cast<List *>(product_of(columns, as_node(folded), beside, most, product));
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
    query::RowCost tested = question->where_cost;
    List *conditions = conditions_of_product(question, product, beside, &tested);
    const double tests = static_cast<double>(product->size) * query::time_of_group(tested);
    if (columns->tried + tests <= query::longest_derivation) {
        columns->tried += tests;
        product->conditions = conditions;
    }
    return keys;
}

// Every value of a column is tried, which knows best what conditions leave. Where that takes too long fewer are, and then steps.
static List *keys_over_product(ColumnRanges *columns, const Question *question, List *numbers, List *folded,
                               Product *product) {
    const List *beside = conditions_beside(columns, reinterpret_cast<Node *>(folded));
    List *keys = beside == NIL ? NIL : keys_over(columns, question, numbers, folded, beside, most_tried, product);
    if (keys == NIL)
        keys = keys_over(columns, question, numbers, folded, NIL, most_tried, product);
    return keys != NIL ? keys : keys_over(columns, question, numbers, folded, NIL, most_derived, product);
}

static bool add_image(ColumnRanges *columns, const Question *question, int key, Node *folded, Values *values) {
    Product product;
    List *keys = keys_over_product(columns, question, list_make1_int(key), list_make1(folded), &product);
    if (keys == NIL)
        return false;
    pinned_as(question->settings->owner, [&] {
        evaluate_product(&product, keys,
                         [=](const Datum *value, const bool *null) { add_copy(values, *value, *null); });
    });
    return true;
}

// ---- keys of the same columns --------------------------------------------------------------------------------------

// Adds keys that share a column with these, until there are none; those of public tables have the tuples of their rows.
static List *keys_beside(const Question *question, int first, const List *folded) {
    List *keys = list_make1_int(first), *shared = list_make1(list_nth(folded, first));
    for (int key = 0; key < question->leaf->nkeys; key++) {
        auto *expression = static_cast<Node *>(list_nth(folded, key));
        if (list_member_int(keys, key) || !share_a_column(as_node(shared), expression))
            continue;
        keys = lappend_int(keys, key);
        shared = lappend(shared, expression);
        key = -1;
    }
    for (auto *column : border::each<Var>(columns_of(as_node(shared)))) {
        const query::Source *source = query::source_of(question->leaf, column->varno);
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

static KeyTuples *tuples_of_keys(ColumnRanges *columns, const Question *question, List *keys, const List *folded) {
    List *expressions = NIL;
    ListCell *cell;
    foreach (cell, keys)
        expressions = lappend(expressions, list_nth(folded, lfirst_int(cell)));
    Product product;
    List *over = keys_over_product(columns, question, keys, expressions, &product);
    if (over == NIL)
        return nullptr;
    auto *found = array_of<KeyTuples>(1);
    *found = {keys, no_places(product.size)};
    const int64 *strides = strides_of(question);
    Places *places = &found->places;
    pinned_as(question->settings->owner, [&] {
        evaluate_product(&product, over, [=](const Datum *values, const bool *nulls) {
            places->at[places->n] = place_of_values(question, strides, keys, values, nulls);
            places->n += places->at[places->n] >= 0;
        });
    });
    sort_places(places);
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
    domain->narrowed = image && list_intersection(columns_of(folded), columns_of(as_node(conditions))) != NIL;
    return domain->count <= most_derived;
}

} // namespace dp::rows
