#include "rows/public_rows.hpp"

#include "catalog/ledger.hpp"
#include "query/limits.hpp"
#include "query/leaf_rows.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/run_plan.hpp"

namespace dp::rows {

static char *name_of(const Question *question, const Source &source) {
    return psprintf("public %s%d", question->place, source.source->varno);
}

// Describes the columns as the table has them; a dropped column is a NULL of some type.
static TupleDesc columns_of(Oid relation) {
    Relation table = table_open(relation, NoLock);
    TupleDesc columns = CreateTupleDescCopy(RelationGetDescr(table));
    for (AttrNumber i = 1; i <= columns->natts; i++)
        if (TupleDescAttr(columns, i - 1)->attisdropped)
            TupleDescInitEntry(columns, i, NameStr(TupleDescAttr(columns, i - 1)->attname), INT4OID, -1, 0);
    table_close(table, NoLock);
    return columns;
}

RangeTblEntry *public_entry(const Question *question, const Source &source) {
    TupleDesc columns = columns_of(source.relation);
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_NAMEDTUPLESTORE;
    entry->enrname = name_of(question, source);
    entry->enrtuples = 1000; // whatever it holds: what is chosen by it is the same for all contents
    List *names = NIL;
    for (int i = 0; i < columns->natts; i++) {
        const FormData_pg_attribute *column = TupleDescAttr(columns, i);
        names = lappend(names, makeString(pstrdup(NameStr(column->attname))));
        entry->coltypes = lappend_oid(entry->coltypes, column->atttypid);
        entry->coltypmods = lappend_int(entry->coltypmods, column->atttypmod);
        entry->colcollations = lappend_oid(entry->colcollations, column->attcollation);
    }
    entry->eref = makeAlias(entry->enrname, names);
    entry->inFromCl = true;
    return entry;
}

// Whatever the question does with a column. NULL stands for the others: the joins carry none of them.
static Bitmapset *used_columns(const Question *question, Index varno) {
    Bitmapset *columns = nullptr;
    pull_varattnos(expressions_of(question), varno, &columns);
    return columns;
}

static bool is_used(const Bitmapset *used, AttrNumber column) {
    return bms_is_member(column - FirstLowInvalidHeapAttributeNumber, used);
}

// (Rows that a statement passes are in the question itself.)
static bool is_copied(const Source &source) {
    return source.source->is_public && source.source->rows == nullptr;
}

void check_public_columns(const Question *question) {
    int n = 0;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (!is_copied(source))
            continue;
        const Bitmapset *used = used_columns(question, source.source->varno);
        for (AttrNumber column = 1; column <= query::columns_of(source.relation, nullptr); column++)
            n += is_used(used, column) && get_typlen(get_atttype(source.relation, column)) == -1 ? 1 : 0;
    }
    query::check_public_columns(n);
}

static Query *select_used(Oid relation, TupleDesc columns, const Bitmapset *used) {
    Query *query = make_query();
    add_to_from(query, relation_entry(relation, true));
    for (AttrNumber i = 1; i <= columns->natts; i++) {
        const FormData_pg_attribute *of = TupleDescAttr(columns, i - 1);
        add_target(query, is_used(used, i)
                              ? as_node(makeVar(1, i, of->atttypid, of->atttypmod, of->attcollation, 0))
                              : as_node(makeNullConst(of->atttypid, of->atttypmod, of->attcollation)));
    }
    return query;
}

// Limits what is fetched (query/cost).
constexpr Size largest_fetched = (Size{1} << 20) + VARHDRSZ;

// Returns a value as it is copied. Values out of line come along: to fetch one where a private row meets it would prune the pages that it
// stands on. Larger ones stay where they are; the snapshot keeps them.
static Datum fetched(Datum value) {
    auto *stored = reinterpret_cast<varlena *>(DatumGetPointer(value));
    return VARATT_IS_EXTERNAL(stored) && toast_raw_datum_size(value) <= largest_fetched
               ? PointerGetDatum(detoast_external_attr(stored))
               : value;
}

static bool copy_rows(QueryEnvironment *copies, const Question *question, const Source &source, const List *checked) {
    TupleDesc columns = columns_of(source.relation);
    Tuplestorestate *store = tuplestore_begin_heap(true, false, work_mem);
    Query *query = select_used(source.relation, columns, used_columns(question, source.source->varno));
    const bool read = for_each_row(rows::plan(query, 0), checked, [=](const TupleTableSlot *row) {
        auto *values = array_of<Datum>(columns->natts + 1);
        for (int i = 0; i < columns->natts; i++)
            values[i] = !row->tts_isnull[i] && TupleDescAttr(columns, i)->attlen == -1 ? fetched(row->tts_values[i])
                                                                                      : row->tts_values[i];
        tuplestore_putvalues(store, columns, values, row->tts_isnull);
    });
    if (!read)
        return false;
    auto *copy = static_cast<EphemeralNamedRelation>(palloc0(sizeof(EphemeralNamedRelationData)));
    copy->md.name = name_of(question, source);
    copy->md.reliddesc = InvalidOid;
    copy->md.tupdesc = columns;
    copy->md.enrtype = ENR_NAMED_TUPLESTORE;
    copy->md.enrtuples = static_cast<double>(tuplestore_tuple_count(store));
    copy->reldata = store;
    register_ENR(copies, copy);
    return true;
}

// No function looks at what is larger than is fetched (query/cost): such values are one.
static uint64 hash_of_value(Datum value, const FormData_pg_attribute *column) {
    if (column->attlen == -1 && toast_raw_datum_size(value) > largest_fetched)
        return 1;
    return datum_image_hash(value, column->attbyval, column->attlen);
}

static uint64 hash_of_row(const TupleTableSlot *row) {
    uint64 hash = 0;
    for (int i = 0; i < row->tts_tupleDescriptor->natts; i++)
        hash = hash_combine64(hash, row->tts_isnull[i]
                                        ? 0
                                        : hash_of_value(row->tts_values[i], TupleDescAttr(row->tts_tupleDescriptor, i)));
    return hash_bytes_extended(reinterpret_cast<const unsigned char *>(&hash), sizeof hash, 0);
}

uint64 hash_of_public_rows(const Question *question) {
    uint64 hash = 0;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.people != nullptr)
            hash = hash_combine64(hash, hash_of_public_rows(source.people));
        if (!is_copied(source))
            continue;
        uint64 sum = 1; // over the rows, so that their order does not matter
        Query *query = select_used(source.relation, columns_of(source.relation),
                                   used_columns(question, source.source->varno));
        const auto add_row = [&sum](const TupleTableSlot *row) { sum += hash_of_row(row); };
        if (!for_each_row(rows::plan(query, 0), question->checked, add_row))
            catalog::refuse_changing(*question->settings);
        hash = hash_combine64(hash, sum);
    }
    return hash;
}

static bool copy_all(QueryEnvironment **copies, const Question *question, const List *checked) {
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.people != nullptr && !copy_all(copies, source.people, checked))
            return false;
        if (!is_copied(source))
            continue;
        if (*copies == nullptr)
            *copies = create_queryEnv();
        if (!copy_rows(*copies, question, source, checked))
            return false;
    }
    return true;
}

QueryEnvironment *copy_public_rows(const Question *question, const List *checked, bool *executed) {
    QueryEnvironment *copies = nullptr;
    *executed = copy_all(&copies, question, checked);
    return copies;
}

} // namespace dp::rows
