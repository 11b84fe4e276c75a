#include "rows/narrowed.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/listed.hpp"
#include "border/versions.hpp"
#include "border/walk.hpp"
#include "query/from.hpp"
#include "query/exists.hpp"
#include "rows/canonical.hpp"
#include "rows/groups.hpp"
#include "rows/nodes.hpp"
#include "rows/people_sources.hpp"
#include "rows/sums.hpp"
#include "rows/texts.hpp"

namespace dp::rows {

// ---- which values are left -----------------------------------------------------------------------------------------

// Tells types that have equal values in several spellings: 1.0 and 1.00, or 0 and -0.
static bool may_differ(Oid type) {
    const Oid base = getBaseType(type);
    return base == NUMERICOID || base == FLOAT4OID || base == FLOAT8OID || base == BPCHAROID || !has_spelling(base);
}

// Looks for x elsewhere than in a comparison by the order of its type.
static bool looks_into(Node *node, void *x) {
    if (node == nullptr)
        return false;
    if (equal(node, x))
        return true;
    if (IsA(node, NullTest) && equal(bare(as_node(castNode(NullTest, node)->arg)), x))
        return false;
    const bool call = IsA(node, OpExpr) || IsA(node, DistinctExpr);
    if (!call && !IsA(node, ScalarArrayOpExpr))
        return border::walk_expression(node, looks_into, x);
    const Oid operation = call ? reinterpret_cast<OpExpr *>(node)->opno : castNode(ScalarArrayOpExpr, node)->opno;
    const Oid type = exprType(static_cast<Node *>(x)), negator = get_negator(operation);
    const bool compares = strategy_of(operation, type) != 0 || (OidIsValid(negator) && strategy_of(negator, type) != 0);
    for (auto *argument :
         border::each<Node>(call ? reinterpret_cast<OpExpr *>(node)->args : castNode(ScalarArrayOpExpr, node)->args)) {
        if (!(compares && equal(bare(argument), x)) && looks_into(argument, x))
            return true;
    }
    return false;
}

bool is_of_value(Node *condition, Node *x) {
    return !may_differ(exprType(x)) || !looks_into(condition, x);
}

List *conditions_over(const Question *question, const List *columns) {
    List *found = NIL;
    for (auto *condition : border::each<Node>(query::conjuncts_of(question->where))) {
        const List *seen = pull_var_clause(condition, 0);
        bool of_values = seen != NIL && list_difference(seen, columns) == NIL;
        for (auto *column : border::each<Node>(columns))
            of_values = of_values && is_of_value(condition, column);
        if (of_values)
            found = lappend(found, condition);
    }
    return found;
}

// ---- groups by name ------------------------------------------------------------------------------------------------

static bool is_text(Oid type) {
    return type == TEXTOID || type == VARCHAROID;
}

// The constant as a value of the key's type. False: it equals none.
static bool as_key(Oid of, const Const *constant, Datum *value) {
    const Oid type = getBaseType(of), other = getBaseType(constant->consttype);
    *value = constant->constvalue;
    if (type == other || (is_text(type) && is_text(other)))
        return true;
    const int64 number = integer_value(value_kind(other), *value);
    *value = value_of_integer(type, number);
    return integer_value(value_kind(type), *value) == number;
}

static bool is_convertible(Oid key, Oid constant) {
    const Oid type = getBaseType(key), other = getBaseType(constant);
    return type == other || (is_integer(type) && is_integer(other)) || (is_text(type) && is_text(other));
}

namespace {
struct Named {
    Oid type, collation, equality;
    Node *key;    // folded, bare
    List *values; // Const *
};
} // namespace

// Adds the values that a condition leaves of the key; false: it leaves others.
static bool find_named(Node *condition, Named *named) {
    check_stack_depth();
    if (IsA(condition, BoolExpr)) {
        const bool any = castNode(BoolExpr, condition)->boolop == OR_EXPR;
        for (auto *one : border::each<Node>(any ? castNode(BoolExpr, condition)->args : NIL))
            if (!find_named(one, named))
                return false;
        return any;
    }
    Comparison comparison;
    if (!read_comparison(condition, &comparison) || comparison.strategy != BTEqualStrategyNumber ||
        comparison.collation != named->collation || !equal(comparison.expression, named->key) ||
        strategy_of(named->equality, named->type) != BTEqualStrategyNumber)
        return false;
    List *constants = constants_of(comparison);
    for (auto *one : border::each<Const>(constants))
        if (!is_convertible(named->type, one->consttype))
            return false;
    named->values = list_concat(named->values, constants);
    return true;
}

static void fill_named(const Named &named, int32 typmod, KeyDomain *domain) {
    auto *values = array_of<Datum>(list_length(named.values) + 1);
    auto *nulls = zeroed<bool>(list_length(named.values) + 1);
    int n = 0;
    for (auto *one : border::each<Const>(named.values)) {
        bool isnull = !as_key(named.type, one, &values[n]);
        if (!isnull && has_spelling(named.type))
            values[n] = canonical_value(named.type, typmod, values[n], &isnull);
        n += isnull ? 0 : 1; // equal to no row's key
    }
    *domain = domain_of_values(named.type, named.collation, values, nulls, n);
    domain->named = true;
}

bool named_groups(const Narrowed *narrowed, const Question *question, int key, Node *folded, KeyDomain *domain) {
    const query::Key &spec = question->leaf->keys[key];
    const bool known = has_spelling(spec.type) || getBaseType(spec.type) == INTERVALOID;
    if (narrowed == nullptr || !known || (OidIsValid(spec.collation) && !get_collation_isdeterministic(spec.collation)))
        return false;
    for (auto *one : border::each<Node>(narrowed->conjuncts)) {
        Named named = {spec.type, spec.collation, spec.clause->eqop, bare(folded), NIL};
        if (!find_named(one, &named))
            continue;
        fill_named(named, spec.typmod, domain);
        if (domain->count > max_coordinates)
            ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                            errmsg("the query names more than %d groups", max_coordinates),
                            errhint("Name fewer values, in several queries.")));
        return true;
    }
    return false;
}

// ---- that leave nothing --------------------------------------------------------------------------------------------

// Counts of one person's rows are cut off in the statement; whatever else is computed of a person may lie anywhere.
static bool is_of_counts(const Question *question, Node *expression) {
    List *columns = pull_var_clause(expression, 0);
    for (auto *one : border::each<Var>(columns)) {
        const Source *source = source_at(question, static_cast<int>(one->varno));
        const Question *people = source == nullptr ? nullptr : source->people;
        const bool of_rows = one->varno == query::unit_varno &&
                             IsA(list_nth(question->per_unit->columns, one->varattno - 1), MinMaxExpr);
        const bool of_people =
            people != nullptr && one->varattno <= people->leaf->nkeys && !has_branches(people) &&
            is_of_counts(people, static_cast<Node *>(list_nth(people->folded, one->varattno - 1)));
        if (!of_rows && !of_people)
            return false;
    }
    return columns != NIL;
}

// Where a column lies before conditions narrow it, also in a sub-SELECT.
static query::Range range_unnarrowed(const Var *column, void *context) {
    auto *columns = static_cast<ColumnRanges *>(context);
    const Source *source = source_at(columns->question, static_cast<int>(column->varno));
    if (source == nullptr || source->people == nullptr || column->varattno > source->people->leaf->nkeys ||
        has_branches(source->people))
        return range_of_column(column, context);
    return query::range_of(static_cast<Node *>(list_nth(source->people->folded, column->varattno - 1)), range_unnarrowed,
                           source->people->ranges);
}

static void check_counts_where(ColumnRanges *columns, const Question *question, Node *condition) {
    const Narrowed *narrowed = read_conditions(list_make1(condition));
    for (int i = 0; i < narrowed->ncompared; i++) {
        const Compared &one = narrowed->compared[i];
        if (!is_of_counts(question, one.expression))
            continue;
        const privacy::Span can = query::range_of(one.expression, range_unnarrowed, columns).span;
        if (Max(one.span.low, can.low) <= Min(one.span.high, can.high))
            continue;
        const char *text = expression_text(question, list_make1(one.expression));
        refuse_value(
            psprintf("no person can meet the condition on %s: nothing private would be answered", text),
            one.span.high < can.low
                ? "Whoever has no row is in no row of the sub-SELECT: a LEFT JOIN from a table of people has them."
                : "dp_query(QUERY, max_rows => ROWS) counts more of a person's rows.",
            psprintf("Of one person it lies from %.15g to %.15g, as %d rows count; the condition leaves values "
                     "from %s to %s.",
                     can.low, can.high, rows_below(question), end_text(INT8OID, one.span.low),
                     end_text(INT8OID, one.span.high)));
    }
}

void check_counts(ColumnRanges *columns, const Question *question) {
    Node *where = question->per_unit == nullptr ? question->leaf->where : question->leaf->per_unit->where;
    check_counts_where(columns, question, map_to_tables(where, question));
    for (auto *filter : border::each<Node>(question->leaf->filters))
        check_counts_where(columns, question, map_to_tables(filter, question));
}

// The groups as they were declared, a few of them.
static const char *some_of(ArrayType *groups) {
    constexpr int most = 6;
    Datum *texts;
    bool *nulls;
    int n;
    deconstruct_array(groups, TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &n);
    const char *some =
        border::listed(0, Min(n, most), [&](int i) { return nulls[i] ? "NULL" : TextDatumGetCString(texts[i]); });
    return shortened(psprintf("%s%s", some, n > most ? ", ..." : ""));
}

// Says that a condition leaves none of the declared groups of a column; null: it leaves some, or nobody declared any.
static const char *beyond_groups(const ColumnRanges *columns, Node *condition, Var *column) {
    const Oid equality = lookup_type_cache(column->vartype, TYPECACHE_EQ_OPR)->eq_opr;
    Named named = {column->vartype, column->varcollid, equality, as_node(column), NIL};
    const AttrNumber number = query::column_number(column);
    const char *name = column_name(columns->question, number);
    if (!has_spelling(column->vartype) || !find_named(condition, &named))
        return nullptr;
    ArrayType *groups = catalog::column_groups(*columns->reading, relation_of(columns->question, number), name);
    if (groups == nullptr)
        return nullptr;
    const KeyDomain declared = stored_domain(groups, column->vartype, column->vartypmod, column->varcollid, name);
    KeyDomain asked;
    fill_named(named, column->vartypmod, &asked);
    for (int i = 0; i < asked.count; i++)
        if (declared.find(asked.values[i], false) >= 0)
            return nullptr;
    return psprintf("a condition leaves none of the groups declared of %s (%s)", quote_identifier(name),
                    some_of(groups));
}

static const char *beyond_bounds(ColumnRanges *columns, const Compared &one) {
    auto *column = reinterpret_cast<Var *>(one.expression);
    const privacy::Span declared = range_of_column(column, columns).span;
    if (!declared.bounded() || Max(one.span.low, declared.low) <= Min(one.span.high, declared.high))
        return nullptr;
    const Oid type = getBaseType(column->vartype);
    return psprintf("a condition leaves no value of %s within its declared bounds (%s to %s)",
                    quote_identifier(column_name(columns->question, query::column_number(column))),
                    end_text(type, declared.low), end_text(type, declared.high));
}

static bool is_declared_of(const Question *question, Node *node) {
    const Var *column = IsA(node, Var) ? castNode(Var, node) : nullptr;
    const query::Source *source = column == nullptr || column->varattno <= 0 || column->varno == query::unit_varno
                                      ? nullptr
                                      : query::source_of(question->leaf, static_cast<int>(column->varno));
    return source != nullptr && !source->is_public && source->people == nullptr && query::test_of(question->leaf, column) == nullptr;
}

static const char *beyond_condition(ColumnRanges *columns, Node *condition) {
    const Narrowed *narrowed = read_conditions(list_make1(condition));
    const char *text = nullptr;
    for (auto *conjunct : border::each<Node>(narrowed->conjuncts))
        for (auto *column : border::each<Var>(pull_var_clause(conjunct, 0)))
            if (text == nullptr && is_declared_of(columns->question, as_node(column)))
                text = beyond_groups(columns, conjunct, column);
    for (int i = 0; i < narrowed->ncompared && text == nullptr; i++)
        if (is_declared_of(columns->question, narrowed->compared[i].expression))
            text = beyond_bounds(columns, narrowed->compared[i]);
    return text;
}

const char *text_of_beyond(ColumnRanges *columns, const Question *question) {
    const char *text = beyond_condition(columns, map_to_tables(question->leaf->where, question));
    for (auto *filter : border::each<Node>(question->leaf->filters))
        text = text == nullptr ? beyond_condition(columns, map_to_tables(filter, question)) : text;
    return text;
}

// ---- in words ------------------------------------------------------------------------------------------------------

static const char *text_of_groups(const Question *question) {
    bool named = false, narrowed = false;
    int64 all = 1;
    for (int i = 0; i < question->leaf->nkeys; i++) {
        all *= question->domains[i].count; // at most most_places
        named = named || question->domains[i].named;
        narrowed = narrowed || question->domains[i].narrowed;
    }
    if (named)
        return psprintf("%d groups, as the conditions name them", question->ngroups);
    return narrowed || (!question->tupled && question->ngroups < all)
               ? psprintf("%d groups that the conditions leave", question->ngroups)
               : nullptr;
}

const char *text_of_narrowed(const Question *question) {
    StringInfoData text;
    initStringInfo(&text);
    if (const char *groups = question->thresholded ? nullptr : text_of_groups(question))
        appendStringInfoString(&text, groups);
    for (int i = 0; i < question->leaf->naggregates; i++) {
        const int argument = question->leaf->aggregates[i].argument;
        const Expression *expression = argument < 0 ? nullptr : &question->expressions[argument];
        const privacy::Bounds *bounds = question->narrowed[i];
        if (expression != nullptr)
            bounds = expression->narrowed ? expression->bounds : nullptr;
        if (bounds == nullptr)
            continue;
        const Oid type = getBaseType(exprType(expression == nullptr ? question->arguments[i] : expression->node));
        appendStringInfo(&text, "%sconditions bound %s from %s to %s", text.len > 0 ? "; " : "",
                         argument_text(question, i), end_text(type, bounds->low), end_text(type, bounds->high));
    }
    return text.len > 0 ? text.data : nullptr;
}

bool lacks_null(const Question *question, int key) {
    const AttrNumber column = question->key_columns[key];
    const query::Source *source = column <= 0 ? nullptr : query::source_of(question->leaf, query::varno_of(column));
    if (source == nullptr || source->is_public) // what a public table has is listed
        return false;
    if (question->thresholded || question->tupled || !is_nullable(question, column) ||
        question->domains[key].find(Datum(0), true) >= 0)
        return false;
    Node *expression = question->keys[key];
    return !IsA(expression, Var) ||
           !border::is_among_vars(find_nonnullable_vars(question->where), castNode(Var, expression));
}

} // namespace dp::rows
