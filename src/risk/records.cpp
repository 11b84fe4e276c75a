#include "risk/records.hpp"

#include <cmath>

#include "border/permissions.hpp"
#include "catalog/decimals.hpp"
#include "catalog/foreign_part.hpp"
#include "query/limits.hpp"
#include "query/make.hpp"
#include "risk/memory.hpp"
#include "risk/scan_statement.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"

namespace dp::risk {

// ---- rows ----------------------------------------------------------------------------------------------------------

static void add_target(Query *query, Node *expression, const char *name) {
    query::check_columns(list_length(query->targetList) + 1);
    rows::add_target(query, expression);
    llast_node(TargetEntry, query->targetList)->resname = pstrdup(name);
}

// Rounds a bound of an integer column inwards.
static Datum integer_bound(Oid type, const char *bound, bool lower) {
    Datum rounded = DirectFunctionCall1(lower ? numeric_ceil : numeric_floor, catalog::text_numeric(bound));
    double nearby = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, rounded));
    int64 low = type == INT2OID ? PG_INT16_MIN : type == INT4OID ? PG_INT32_MIN : PG_INT64_MIN;
    int64 high = type == INT2OID ? PG_INT16_MAX : type == INT4OID ? PG_INT32_MAX : PG_INT64_MAX;
    int64 value = nearby <= -9.2e18  ? PG_INT64_MIN
                  : nearby >= 9.2e18 ? PG_INT64_MAX
                                     : DatumGetInt64(DirectFunctionCall1(numeric_int8, rounded));
    value = Min(Max(value, low), high);
    return type == INT2OID   ? Int16GetDatum(static_cast<int16>(value))
           : type == INT4OID ? Int32GetDatum(static_cast<int32>(value))
                             : Int64GetDatum(value);
}

static Node *bound_constant(Oid type, const privacy::Bounds *bounds, bool lower) {
    const char *text = lower ? bounds->lower.c_str() : bounds->upper.c_str();
    double value = lower ? bounds->low : bounds->high;
    Datum datum = type == FLOAT8OID    ? Float8GetDatum(value)
                  : type == FLOAT4OID  ? Float4GetDatum(static_cast<float4>(value))
                  : type == NUMERICOID ? catalog::text_numeric(text)
                                       : integer_bound(type, text, lower);
    int16 length;
    bool by_value;
    get_typlenbyval(type, &length, &by_value);
    return reinterpret_cast<Node *>(makeConst(type, -1, InvalidOid, length, datum, false, by_value));
}

// Neither NULL nor NaN: GREATEST and LEAST would make a bound of either.
static Node *is_there(Node *value, Oid type) {
    if (type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID) {
        Datum nan = type == FLOAT4OID   ? Float4GetDatum(get_float4_nan())
                    : type == FLOAT8OID ? Float8GetDatum(get_float8_nan())
                                        : catalog::text_numeric("NaN");
        int16 length;
        bool by_value;
        get_typlenbyval(type, &length, &by_value);
        Oid unequal = get_negator(lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr);
        return reinterpret_cast<Node *>(
            make_opclause(unequal, BOOLOID, false, reinterpret_cast<Expr *>(value),
                          reinterpret_cast<Expr *>(makeConst(type, -1, InvalidOid, length, nan, false, by_value)),
                          InvalidOid, InvalidOid));
    }
    return rows::null_test(value, IS_NOT_NULL);
}

// CASE WHEN column <> 'NaN' THEN LEAST(GREATEST(column, lower), upper) END
static Node *clamp(Var *column, const privacy::Bounds *bounds) {
    Oid type = getBaseType(column->vartype);
    auto *value = reinterpret_cast<Node *>(column);
    Node *raised = rows::extreme_of(type, IS_GREATEST, value, bound_constant(type, bounds, true));
    Node *result = rows::value_where(is_there(rows::another(value), type),
                                     rows::extreme_of(type, IS_LEAST, raised, bound_constant(type, bounds, false)));
    if (column->vartype == type)
        return result;
    return coerce_to_target_type(nullptr, result, type, column->vartype, -1, COERCION_EXPLICIT, COERCE_EXPLICIT_CAST,
                                 -1);
}

static Node *joined_texts(Node *a, Node *b) {
    return reinterpret_cast<Node *>(makeFuncExpr(F_TEXTCAT, TEXTOID, list_make2(a, b), DEFAULT_COLLATION_OID,
                                                 DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL));
}

static Node *row_identity(const rows::Question *question) {
    auto *table = makeVar(1, TableOidAttributeNumber, OIDOID, -1, InvalidOid, 0);
    auto *place = makeVar(1, SelfItemPointerAttributeNumber, TIDOID, -1, InvalidOid, 0);
    Node *identity = joined_texts(query::cast_to_text(reinterpret_cast<Node *>(table)),
                                  query::cast_to_text(reinterpret_cast<Node *>(place)));
    AttrNumber distribution = rows::distribution_column(question->settings->relation);
    if (distribution == InvalidAttrNumber)
        return identity;
    Node *node = query::cast_to_text(reinterpret_cast<Node *>(rows::table_column(question, distribution)));
    return joined_texts(identity, query::coalesced(node, query::text_constant(""), DEFAULT_COLLATION_OID));
}

Query *rows_query(const GeneralQuestion *question, Node *condition, bool with_identity) {
    Oid view = question->settings->view;
    Node *where = make_and_qual(rows::view_condition(question->settings), condition);
    Query *query = make_select(rows::table_entry(question->table), where);
    for (AttrNumber i = 1; i <= question->nview_columns; i++) {
        Var *column = rows::table_column(question->table, question->map[i]);
        auto *value = reinterpret_cast<Node *>(column);
        add_target(query, question->bounds[i] == nullptr ? value : clamp(column, question->bounds[i]),
                   get_attname(view, i, false));
    }
    if (with_identity) // a name that no column can have
        add_target(query, row_identity(question->table), "ctid");
    return query;
}

// ---- distinct records ----------------------------------------------------------------------------------------------

// Column of the rows, which are entry `varno` of the query above them.
static Node *row_column(const Query *rows, int varno, AttrNumber attno) {
    auto *expression = reinterpret_cast<Node *>(list_nth_node(TargetEntry, rows->targetList, attno - 1)->expr);
    return reinterpret_cast<Node *>(
        makeVar(varno, attno, exprType(expression), exprTypmod(expression), exprCollation(expression), 0));
}

static void add_aggregate(Query *query, Oid function, Oid type, Node *argument) {
    query::check_columns(list_length(query->targetList) + 1);
    Aggref *call = rows::make_aggregate(function, type, argument == nullptr ? NIL : list_make1(argument), nullptr);
    if (argument != nullptr)
        call->aggcollid = call->inputcollid = DEFAULT_COLLATION_OID;
    rows::add_target(query, reinterpret_cast<Node *>(call));
    query->hasAggs = true;
}

// Records whose column has no equality are told apart by its text.
static Node *groupable(Node *column) {
    TypeCacheEntry *type = lookup_type_cache(exprType(column), TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
    return OidIsValid(type->eq_opr) && OidIsValid(type->lt_opr) ? column : query::cast_to_text(column);
}

// The query groups nothing yet; the rows are its entry `varno`.
static RecordsQuery group_records(const GeneralQuestion *question, Query *query, int varno, bool all_columns,
                                  List *extras) {
    List *columns = all_columns ? question->general->columns : NIL;
    const Query *rows = rt_fetch(varno, query->rtable)->subquery;
    RecordsQuery records = {};
    records.query = query;
    records.identity_column = -1;
    records.desc = CreateTemplateTupleDesc(list_length(columns));
    ListCell *cell;
    foreach (cell, columns) {
        Node *column = groupable(row_column(rows, varno, lfirst_int(cell)));
        add_group(query, column);
        AttrNumber number = ++records.nrecord_columns;
        TupleDescInitEntry(records.desc, number, get_attname(question->settings->view, lfirst_int(cell), false),
                           exprType(column), exprTypmod(column), 0);
        TupleDescInitEntryCollation(records.desc, number, exprCollation(column));
    }
    BlessTupleDesc(records.desc);
    records.first_extra = list_length(query->targetList);
    foreach (cell, extras)
        add_group(query, rows::another(static_cast<Node *>(lfirst(cell))));
    records.count_column = list_length(query->targetList);
    add_aggregate(query, F_COUNT_, INT8OID, nullptr);
    return records;
}

RecordsQuery records_query(const GeneralQuestion *question) {
    const query::General *general = question->general;
    Query *rows = rows_query(question, nullptr, true);
    Node *where = general->one_level ? static_cast<Node *>(copyObject(general->query->jointree->quals)) : nullptr;
    Query *query = make_select(rows::subquery_entry(rows, "records"), where);
    RecordsQuery records = group_records(question, query, 1, true, NIL);
    records.identity_column = list_length(query->targetList);
    add_aggregate(query, F_MIN_TEXT, TEXTOID, row_column(rows, 1, list_length(rows->targetList)));
    records.all_rows = where == nullptr && question->settings->filter == nullptr;
    return records;
}

// ---- records of a join ---------------------------------------------------------------------------------------------

void put_rows(RangeTblEntry *view, Query *rows) {
    RangeTblEntry *entry = rows::subquery_entry(rows, view->eref->aliasname);
    if (view->alias != nullptr)
        entry->alias = view->alias;
    // Under the names that the query knows; an identity comes after them.
    List *names = entry->eref->colnames;
    entry->eref = view->eref;
    entry->eref->colnames =
        list_concat(entry->eref->colnames, list_copy_tail(names, list_length(entry->eref->colnames)));
    entry->lateral = view->lateral;
    *view = *entry;
}

// FROM and WHERE of the query, over the rows; it selects nothing yet.
static Query *joined_rows(const GeneralQuestion *question, bool with_identity) {
    auto *query = static_cast<Query *>(copyObject(question->general->query));
    int varno = question->general->facade;
    Query *rows = rows_query(question, nullptr, with_identity);
    put_rows(rt_fetch(varno, query->rtable), rows);
    query->targetList = query->groupClause = query->sortClause = query->constraintDeps = NIL;
    query->hasAggs = query->groupDistinct = false;
    return query;
}

RecordsQuery joined_records_query(const GeneralQuestion *question, bool all_columns, List *extras) {
    Query *query = joined_rows(question, false);
    RecordsQuery records = group_records(question, query, question->general->facade, all_columns, extras);
    records.all_rows =
        list_length(query->rtable) == 1 && query->jointree->quals == nullptr && question->settings->filter == nullptr;
    return records;
}

static Node *one() {
    return reinterpret_cast<Node *>(makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1), false, true));
}

// SELECT identity ... GROUP BY identity HAVING count(*) > 1 LIMIT 1
Query *multiplied_query(const GeneralQuestion *question) {
    Query *query = joined_rows(question, true);
    int varno = question->general->facade;
    const Query *rows = rt_fetch(varno, query->rtable)->subquery;
    add_group(query, row_column(rows, varno, list_length(rows->targetList)));
    query->hasAggs = true;
    query->havingQual =
        reinterpret_cast<Node *>(make_opclause(lookup_type_cache(INT8OID, TYPECACHE_GT_OPR)->gt_opr, BOOLOID, false,
                                               reinterpret_cast<Expr *>(rows::make_aggregate(F_COUNT_, INT8OID, NIL, nullptr)),
                                               reinterpret_cast<Expr *>(one()), InvalidOid, InvalidOid));
    query->limitCount = one();
    return query;
}

// ---- memo ----------------------------------------------------------------------------------------------------------

Memo *begin_memo(const RecordsQuery *records, const border::Spi &spi, bool keep) {
    MemoryContext old = MemoryContextSwitchTo(spi.caller);
    auto *memo = static_cast<Memo *>(palloc0(sizeof(Memo)));
    memo->desc = records->desc;
    memo->records = border::Spill<Record>::make(1, share_of_memory());
    if (keep)
        memo->kept = tuplestore_begin_heap(false, false, work_mem);
    MemoryContextSwitchTo(old);
    return memo;
}

void read_memo(const GeneralQuestion *question, const RecordsQuery *records, Memo *memo, TakeRecord take,
               void *reader) {
    int64 all = 0; // individuals
    const auto take_row = [&](TupleTableSlot *row) {
        const int64 individuals = DatumGetInt64(row->tts_values[records->count_column]);
        if (individuals == 0) // without columns to group by there is one row even if there are no records
            return;
        *memo->records.append() = Record{individuals, 0, 0, 0, false, false};
        all += individuals;
        if (memo->kept != nullptr)
            tuplestore_putvalues(memo->kept, memo->desc, row->tts_values, row->tts_isnull);
        take(reader, memo->nrecords++, row->tts_values, row->tts_isnull);
    };
    const bool elsewhere = catalog::is_known_to_citus(question->settings->relation);
    const Oid table = records->all_rows || elsewhere ? InvalidOid : question->settings->relation;
    const int64 met = run_query(expanded(records->query), table, take_row);
    memo->rows = all;
    if (!records->all_rows) {
        Query *count = make_select(rows::table_entry(question->table), nullptr);
        add_aggregate(count, F_COUNT_, INT8OID, nullptr);
        memo->rows = met;
        if (met == not_known)
            run_counts(count, &memo->rows);
        memo->rows = Max(memo->rows, all); // on other nodes some may have gone meanwhile
    }
    memo->outside = memo->rows - all;
}

void profile_memo(const border::Spi &spi, privacy::Mechanism mechanism, Memo *memo) {
    for (int64 i = 0; i < memo->nrecords; i++)
        if (!std::isfinite(memo->records.at(i)->pis))
            ereport(ERROR,
                    (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                     errmsg("the result of the query is not a finite number"),
                     errhint("Declare bounds of the column with dp_set_bounds(), or leave out NaN and infinities.")));
    MemoryContext old = MemoryContextSwitchTo(spi.caller);
    using Keep = privacy::PisProfile::Keep;
    auto *profile = border::context_new<privacy::PisProfile>(mechanism != privacy::Mechanism::laplace ? Keep::values
                                                                                                       : Keep::range);
    MemoryContextSwitchTo(old);
    for (int64 i = 0; i < memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        const Record *record = memo->records.at(i);
        border::core([&] { profile->add(record->pis, record->individuals); });
        if (i % 65536 == 0)
            check_memory(32.0 * static_cast<double>(profile->kept()),
                         psprintf(UINT64_FORMAT " different risks", static_cast<uint64>(profile->kept())),
                         "use Laplace noise");
    }
    border::core([&] { profile->add(0, memo->outside); });
    memo->profile = profile;
}

} // namespace dp::risk
