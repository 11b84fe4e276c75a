#include "rows/units.hpp"

#include "border/scope.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/canonical.hpp"
#include "rows/cell_calls.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/public_rows.hpp"
#include "rows/quantiles.hpp"
#include "rows/from_clause.hpp"
#include "rows/run_plan.hpp"
#include "rows/shard_parts.hpp"
#include "rows/sums.hpp"
#include "rows/totals.hpp"

namespace dp::rows {

constexpr int64 largest_hashed_contribution = int64{1}
                                              << 11; // bytes: what they grow by beside their first rows is not counted

// ---- the statement -------------------------------------------------------------------------------------------------

static Const *array_of_values(const KeyDomain &domain, Oid element) {
    int n = 0;
    auto *values = array_of<Datum>(domain.count + 1);
    for (int i = 0; i < domain.count; i++)
        if (!domain.nulls[i])
            values[n++] = domain.values[i];
    int16 length;
    bool by_value;
    char align;
    get_typlenbyvalalign(element, &length, &by_value, &align);
    ArrayType *array = construct_array(values, n, element, length, by_value, align);
    return makeConst(get_array_type(element), -1, domain.collation, -1, PointerGetDatum(array), false, false);
}

// key = ANY ('{...}')
static Node *is_among(Node *key, const KeyDomain &domain) {
    Oid base = getBaseType(exprType(key));
    TypeCacheEntry *type = lookup_type_cache(base, TYPECACHE_BTREE_OPFAMILY);
    Oid compared = type->btree_opintype, element = IsPolymorphicType(compared) ? base : compared;
    auto *test = makeNode(ScalarArrayOpExpr);
    test->opno = get_opfamily_member(type->btree_opf, compared, compared, BTEqualStrategyNumber);
    test->opfuncid = get_opcode(test->opno);
    test->useOr = true;
    test->inputcollid = domain.collation;
    test->args = list_make2(relabelled(key, element), array_of_values(domain, element));
    test->location = -1;
    return as_node(test);
}

// Rows whose key nobody declared are gone before they are aggregated: they use nothing up of what a unit may bring, nor of memory. A
// long key is never compared, which might fetch it.
static Node *is_declared(const Question *question, int i) {
    const KeyDomain &domain = question->domains[i];
    Node *condition = is_among(another(question->keys[i]), domain);
    for (int value = 0; value < domain.count; value++)
        if (domain.nulls[value])
            condition = as_node(
                makeBoolExpr(OR_EXPR, list_make2(null_test(another(question->keys[i]), IS_NULL), condition), -1));
    Node *is_short = short_key_condition(question->keys[i]);
    return is_short == nullptr ? condition : value_where(is_short, condition);
}

static Node *and_declared(const Question *question, Node *where) {
    if (!question->thresholded)
        for (int i = 0; i < question->leaf->nkeys; i++)
            where = make_and_qual(where, is_declared(question, i));
    return where;
}

Node *where_declared(const Question *question) {
    return and_declared(question, another(question->where));
}

// Of declared groups too, where their type has one: what it is that a unit holds does not depend on the order of its rows.
static Node *one_spelling(const Question *question, int i) {
    const query::Key &key = question->leaf->keys[i];
    Node *node = another(question->keys[i]);
    return has_canonical(key) ? canonical_key(node, key) : node;
}

// values: the unit's columns. filter: of the rows, beside WHERE.
static Node *contribution_of(const Question *question, const List *values, Node *filter) {
    List *arguments = list_make1(contribution_spec(question));
    for (int i = 0; i < contribution_units(question); i++)
        arguments = lappend(arguments, another(static_cast<Node *>(list_nth(values, i))));
    for (int i = 0; i < question->leaf->nkeys; i++)
        arguments = lappend(arguments, one_spelling(question, i));
    if (has_quantile(question)) // the last key
        arguments = lappend(arguments, cell_of_row(question, first_quantile(question)));
    return as_node(call_cells(list_concat(arguments, contributed_nodes(question)), filter));
}

// Bytes that the texts of a unit may take among the states below.
static int64 kept_below(const Question *question) {
    int64 kept = question->per_unit == nullptr ? 0 : question->per_unit->kept;
    for (int i = 0; i < question->nsources; i++)
        if (question->sources[i].people != nullptr)
            kept += kept_below(question->sources[i].people);
    return kept;
}

// The contributions are the first columns.
static Query *unit_query(const Question *const *questions, int n, bool with_columns) {
    const Question *question = questions[0];
    Query *query = select_from_sources(question, n > 1 ? nullptr : where_declared(question));
    for (int i = 0; i < n; i++)
        add_target(query, contribution_of(questions[i], question->units->values,
                                          n > 1 ? where_declared(questions[i]) : nullptr));
    group_by(query, question->units->values, with_columns);
    return query;
}

// ---- its rows ------------------------------------------------------------------------------------------------------

// Pins how units are put together, here or in the shards. States that are large are made one at a time: hashed ones grow in memory that
// nobody counts.
static void pin_units(const Question *question, int64 size) {
    const bool hashed = size <= largest_hashed_contribution;
    border::pin_joins(hashed);
    pin_joins_of_nodes(question->settings->relation, hashed);
}

bool for_each_unit_of_several(const MayRead *const *rights, int n, const List *checked, bool with_columns, TakeUnit take,
                              void *sink) {
    const Question *question = rights[0]->question();
    int64 kept = kept_below(question);
    auto **questions = array_of<const Question *>(n);
    for (int i = 0; i < n; i++) {
        questions[i] = rights[i]->question();
        kept += contribution_size(questions[i]);
    }
    pin_units(question, kept);
    bool copied;
    QueryEnvironment *copies = copy_public_rows(question, checked, &copied);
    if (!copied)
        return false;
    PlannedStmt *plan = rows::plan(unit_query(questions, n, with_columns), CURSOR_OPT_PARALLEL_OK);
    const auto take_unit = [&](TupleTableSlot *row) {
        auto *brought = zeroed<UnitContribution>(n);
        for (int i = 0; i < n; i++)
            if (VARSIZE_ANY_EXHDR(DatumGetPointer(row->tts_values[i])) > 0) // empty: FILTER has left no row
                brought[i] = read_contribution(questions[i], row->tts_values[i]);
        Unit unit = {with_columns ? row->tts_values + n : nullptr, brought};
        take(sink, &unit);
    };
    return for_each_row(plan, checked, take_unit, copies);
}

bool for_each_unit(const MayRead &right, const List *checked, bool with_columns, TakeUnit take, void *sink) {
    const MayRead *rights[] = {&right};
    return for_each_unit_of_several(rights, 1, checked, with_columns, take, sink);
}

// ---- in the shards -------------------------------------------------------------------------------------------------

Query *statement_of_parts(const Question *question) {
    return over_parts(question, unit_query(&question, 1, true));
}

bool for_each_part(const MayRead &right, const List *checked, TakeUnit take, void *sink) {
    const Question *question = right.question();
    pin_units(question, contribution_size(question) + kept_below(question));
    PlannedStmt *plan = rows::plan(statement_of_parts(question), 0);
    if (!is_pushed_down(plan))
        return false;
    return for_each_row(plan, checked, [&](TupleTableSlot *row) {
        UnitContribution part = read_part(question, row->tts_values);
        Unit unit = {nullptr, &part};
        take(sink, &unit);
    });
}

// ---- how many rows they have ---------------------------------------------------------------------------------------

// SELECT amount, count(*) FROM (query) person GROUP BY amount: how many units have as much.
static Query *count_units(Query *query) {
    Node *amount = as_node(linitial_node(TargetEntry, query->targetList)->expr);
    Var *column = makeVar(1, 1, exprType(amount), -1, InvalidOid, 0);
    Query *counted = make_aggregation(subquery_entry(query, "person"), nullptr);
    group_by(counted, list_make1(column), true);
    add_target(counted, count_aggregate(nullptr, nullptr));
    return counted;
}

bool for_each_row_count(const MayRead &right, const List *checked, privacy::UnitRows *rows) {
    const Question *question = right.question();
    pin_units(question, 0);
    Query *query = select_from_sources(question, nullptr);
    const bool adds_sizes = question->nmeasures > 0;
    add_target(query, adds_sizes ? make_exact_sum(size_of_row(question), nullptr) : count_aggregate(nullptr, nullptr));
    const bool in_shards = is_on_other_nodes(question->settings->relation);
    group_by(query, question->units->values, in_shards);
    PlannedStmt *plan = rows::plan(in_shards ? count_units(query) : query, CURSOR_OPT_PARALLEL_OK);
    if (in_shards && !is_pushed_down(plan))
        return false;
    return for_each_row(plan, checked, [&](const TupleTableSlot *row) {
        const Datum amount = row->tts_values[0];
        const privacy::int128 brought = adds_sizes ? sum_of(amount) : privacy::int128{DatumGetInt64(amount)};
        for (int64 n = in_shards ? DatumGetInt64(row->tts_values[1]) : 1; n > 0; n--) // how many units have it
            rows->add(brought);
    });
}

} // namespace dp::rows
