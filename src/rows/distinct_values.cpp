#include "rows/distinct_values.hpp"

#include "border/scope.hpp"
#include "rows/texts.hpp"
#include "rows/canonical.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/quantiles.hpp"

namespace dp::rows {

// ---- before the charge ---------------------------------------------------------------------------------------------

void refuse_values(const char *what, const char *hint) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("%s is not supported for count(DISTINCT x) of values", what), errhint("%s", hint)));
    pg_unreachable();
}

static void check_value(const Question *question, int call) {
    Node *value = argument_node(question, call);
    const Oid type = exprType(value), collation = exprCollation(value);
    if (!has_spelling(type))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("count(DISTINCT %s) is not supported for type %s", argument_text(question, call),
                        format_type_be(type)),
                 errdetail("Equal values of this type can look different."),
                 errhint("Count the values of a column or an expression of another type, such as extract(epoch FROM "
                         "...).")));
    if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("count(DISTINCT %s) is not supported under a nondeterministic collation",
                               argument_text(question, call)),
                        errdetail("Equal values can look different under it."),
                        errhint("Add COLLATE \"C\" to what is counted.")));
}

void check_counted_values(const Question *question) {
    if (!counts_values(question))
        return;
    if (is_elsewhere(question))
        refuse_values("a table whose rows other servers keep",
                      "Count groups that are large enough: SELECT count(*) FROM "
                      "(SELECT x FROM ... GROUP BY x) g.");
    // Values would be kept by group and cell, and the same one several times.
    if (question->units != nullptr && question->units->clipped && has_quantile(question))
        refuse_values("a percentile, min or max in the same query, where people have several rows,",
                      "Ask for it in a query of its own.");
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].of_values)
            check_value(question, (*question->measures)[j].calls.front());
}

// ---- in the internal statement -------------------------------------------------------------------------------------

Node *value_digest(Node *value) {
    Oid types[1] = {ANYELEMENTOID};
    return reinterpret_cast<Node *>(makeFuncExpr(border::internal_function("value_digest", 1, types), UUIDOID,
                                                 list_make1(value), InvalidOid, exprCollation(value),
                                                 COERCE_EXPLICIT_CALL));
}

Node *count_of_values(Node *value, Node *filter) {
    Aggref *count = make_aggregate(F_COUNT_ANY, INT8OID, list_make1(value_digest(value)), filter);
    auto *clause = makeNode(SortGroupClause);
    get_sort_group_operators(UUIDOID, true, true, false, &clause->sortop, &clause->eqop, nullptr, &clause->hashable);
    clause->tleSortGroupRef = linitial_node(TargetEntry, count->args)->ressortgroupref = 1;
    count->aggdistinct = list_make1(clause);
    return reinterpret_cast<Node *>(count);
}

// ---- the union of declared groups ----------------------------------------------------------------------------------

namespace {
enum Column { column_group, column_coordinate, column_value, union_columns };
} // namespace

ValueUnion begin_union(const Question *question) {
    if (!counts_values(question))
        return {};
    TupleDesc desc = CreateTemplateTupleDesc(union_columns);
    const Oid types[union_columns] = {INT4OID, INT4OID, UUIDOID};
    AttrNumber columns[union_columns];
    Oid operators[union_columns], collations[union_columns] = {};
    bool nulls_first[union_columns] = {};
    for (int i = 0; i < union_columns; i++) {
        columns[i] = static_cast<AttrNumber>(i + 1);
        operators[i] = lookup_type_cache(types[i], TYPECACHE_LT_OPR)->lt_opr;
        TupleDescInitEntry(desc, columns[i], "part", types[i], -1, 0);
    }
    desc = BlessTupleDesc(desc);
    return {tuplesort_begin_heap(desc, union_columns, columns, operators, collations, nulls_first, work_mem, nullptr,
                                 TUPLESORT_NONE),
            MakeSingleTupleTableSlot(desc, &TTSOpsVirtual)};
}

void add_to_union(const ValueUnion *all, const UnitContribution *unit) {
    for (int k = 0; all->sort != nullptr && k < unit->ncounts; k++)
        for (int i = 0; i < unit->counts[k].n; i++) {
            privacy::UnitValue *pair = &unit->counts[k].pairs[i];
            ExecClearTuple(all->slot);
            memset(all->slot->tts_isnull, false, sizeof(bool) * union_columns);
            all->slot->tts_values[column_group] = Int32GetDatum(unit->groups[pair->group]);
            all->slot->tts_values[column_coordinate] = Int32GetDatum(unit->counts[k].coordinate);
            all->slot->tts_values[column_value] = PointerGetDatum(&pair->value);
            ExecStoreVirtualTuple(all->slot);
            tuplesort_puttupleslot(all->sort, all->slot);
        }
}

namespace {
struct Pair {
    int group, coordinate;
    pg_uuid_t value;
};
} // namespace

static bool operator==(const Pair &a, const Pair &b) {
    return a.group == b.group && a.coordinate == b.coordinate && memcmp(&a.value, &b.value, sizeof a.value) == 0;
}

void count_union(const Question *question, const ValueUnion *all, privacy::int128 *values) {
    if (all->sort == nullptr)
        return;
    tuplesort_performsort(all->sort);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(all->slot->tts_tupleDescriptor, &TTSOpsMinimalTuple);
    Pair last = {-1, 0, {}};
    while (tuplesort_gettupleslot(all->sort, true, false, slot, nullptr)) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        const Pair pair = {DatumGetInt32(slot->tts_values[column_group]),
                           DatumGetInt32(slot->tts_values[column_coordinate]),
                           *DatumGetUUIDP(slot->tts_values[column_value])};
        if (!(pair == last))
            values[int64{pair.group} * question->ncoordinates + pair.coordinate] += 1;
        last = pair;
    }
    ExecDropSingleTupleTableSlot(slot);
}

void end_union(ValueUnion *all) {
    if (all->sort == nullptr)
        return;
    ExecDropSingleTupleTableSlot(all->slot);
    tuplesort_end(all->sort);
    *all = {};
}

} // namespace dp::rows
