#include "rows/units.hpp"

#include "border/scope.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/canonical.hpp"
#include "rows/cell_calls.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/unit_rows.hpp"
#include "rows/public_rows.hpp"
#include "rows/quantiles.hpp"
#include "rows/from_clause.hpp"
#include "rows/run_plan.hpp"
#include "rows/sums.hpp"
#include "rows/totals.hpp"

namespace dp::rows {

constexpr int64 largest_hashed_contribution = int64{1}
                                              << 11; // bytes: what they grow by beside their first rows is not counted

// ---- the statement -------------------------------------------------------------------------------------------------

static Const *array_of_values(const KeyDomain &domain, Oid element) {
    int n = 0;
    auto *values = static_cast<Datum *>(palloc(sizeof(Datum) * (domain.count + 1)));
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
    Node *value = exprType(key) == element
                      ? key
                      : reinterpret_cast<Node *>(makeRelabelType(reinterpret_cast<Expr *>(key), element, -1,
                                                                 exprCollation(key), COERCE_IMPLICIT_CAST));
    test->args = list_make2(value, array_of_values(domain, element));
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

// Rows whose key nobody declared are gone before they are aggregated: they use nothing up of what a unit may bring, nor of memory. A
// long key is never compared, which might fetch it.
static Node *is_declared(const Question *question, int i) {
    const KeyDomain &domain = question->domains[i];
    Node *condition = is_among(another(question->keys[i]), domain);
    for (int value = 0; value < domain.count; value++)
        if (domain.nulls[value])
            condition = reinterpret_cast<Node *>(
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
    for (int j = 0; j < question->nmeasures; j++)
        arguments = lappend(arguments, contributed_node(question, j));
    return reinterpret_cast<Node *>(call_cells(arguments, filter));
}

static Node *where_in_cells(const Question *question) {
    return make_and_qual(where_declared(question), another(question->in_touched));
}

// Over one row for each unit.
static Query *query_above(const Question *question, bool with_columns) {
    List *values = NIL;
    Query *below = select_per_unit(question, &values);
    Node *where = over_statement(question, and_declared(question, another(question->per_unit->where)));
    Query *query = make_aggregation(subquery_entry(below, "person"), where);
    add_target(query, over_statement(question, contribution_of(question, values, nullptr)));
    group_by(query, reinterpret_cast<List *>(over_statement(question, reinterpret_cast<Node *>(values))), with_columns);
    return query;
}

// The contributions are the first columns.
static Query *unit_query(const MayRead *const *rights, int n, bool with_columns) {
    const Question *question = rights[0]->question();
    if (question->per_unit != nullptr)
        return query_above(question, with_columns);
    Query *query = n > 1 ? select_from_all_cells(question, nullptr) : select_from_sources(question, where_declared(question));
    for (int i = 0; i < n; i++)
        add_target(query, contribution_of(rights[i]->question(), question->units->values,
                                          n > 1 ? where_in_cells(rights[i]->question()) : nullptr));
    group_by(query, question->units->values, with_columns);
    return query;
}

// ---- its rows ------------------------------------------------------------------------------------------------------

namespace {
struct Receiver {
    DestReceiver base;
    const MayRead *const *rights;
    int n;
    bool with_columns;
    TakeUnit take;
    void *sink;
    MemoryContext scratch;
};
} // namespace

static bool receive(TupleTableSlot *slot, DestReceiver *self) {
    auto *receiver = reinterpret_cast<Receiver *>(self);
    MemoryContext old = MemoryContextSwitchTo(receiver->scratch);
    slot_getallattrs(slot);
    const int n = receiver->n;
    Unit unit = {};
    unit.columns = receiver->with_columns ? slot->tts_values + n : nullptr;
    unit.contribution = static_cast<UnitContribution *>(palloc0(sizeof(UnitContribution) * n));
    for (int i = 0; i < n; i++)
        if (VARSIZE_ANY_EXHDR(DatumGetPointer(slot->tts_values[i])) > 0) // empty: FILTER has left no row
            unit.contribution[i] = read_contribution(receiver->rights[i]->question(), slot->tts_values[i]);
    receiver->take(receiver->sink, &unit);
    MemoryContextSwitchTo(old);
    MemoryContextReset(receiver->scratch);
    return true;
}

static void receive_start(DestReceiver *, int, TupleDesc) {}
static void receive_end(DestReceiver *) {}

static void forget_receiver(DestReceiver *self) {
    MemoryContextDelete(reinterpret_cast<Receiver *>(self)->scratch);
}

bool for_each_unit_of_several(const MayRead *const *rights, int n, const List *checked, bool with_columns, TakeUnit take,
                              void *sink) {
    const Question *question = rights[0]->question();
    // States that are large are made one at a time: hashed ones grow in memory that nobody counts.
    int64 kept = question->per_unit == nullptr ? 0 : question->per_unit->kept;
    for (int i = 0; i < n; i++)
        kept += contribution_size(rights[i]->question());
    border::pin_joins(kept <= largest_hashed_contribution);
    bool copied;
    QueryEnvironment *copies = copy_public_rows(question, checked, &copied);
    if (!copied)
        return false;
    PlannedStmt *plan = rows::plan(unit_query(rights, n, with_columns), CURSOR_OPT_PARALLEL_OK);
    auto *receiver = static_cast<Receiver *>(palloc0(sizeof(Receiver)));
    *receiver = {{receive, receive_start, receive_end, forget_receiver, DestNone},
                 rights,
                 n,
                 with_columns,
                 take,
                 sink,
                 AllocSetContextCreate(CurrentMemoryContext, "dp_rdr unit", ALLOCSET_DEFAULT_SIZES)};
    return run_plan(plan, checked, &receiver->base, copies);
}

bool for_each_unit(const MayRead &right, const List *checked, bool with_columns, TakeUnit take, void *sink) {
    auto **rights = static_cast<const MayRead **>(palloc(sizeof(MayRead *)));
    rights[0] = &right;
    return for_each_unit_of_several(rights, 1, checked, with_columns, take, sink);
}

// ---- how many rows they have ---------------------------------------------------------------------------------------

namespace {
struct RowCounter {
    DestReceiver base;
    bool adds_sizes;
    privacy::UnitRows *rows;
};
} // namespace

static bool count_unit(TupleTableSlot *slot, DestReceiver *self) {
    auto *counter = reinterpret_cast<RowCounter *>(self);
    slot_getallattrs(slot);
    const Datum amount = slot->tts_values[0];
    counter->rows->add(counter->adds_sizes ? sum_of(amount) : privacy::int128{DatumGetInt64(amount)});
    return true;
}

bool for_each_row_count(const MayRead &right, const List *checked, privacy::UnitRows *rows) {
    const Question *question = right.question();
    border::pin_joins(true);
    Query *query = select_from_sources(question, nullptr);
    const bool adds_sizes = question->nmeasures > 0;
    add_target(query, adds_sizes ? make_exact_sum(size_of_row(question), nullptr)
                                 : reinterpret_cast<Node *>(make_aggregate(F_COUNT_, INT8OID, NIL, nullptr)));
    group_by(query, question->units->values, false);
    PlannedStmt *plan = rows::plan(query, CURSOR_OPT_PARALLEL_OK);
    auto *counter = static_cast<RowCounter *>(palloc0(sizeof(RowCounter)));
    *counter = {{count_unit, receive_start, receive_end, receive_end, DestNone}, adds_sizes, rows};
    return run_plan(plan, checked, &counter->base);
}

} // namespace dp::rows
