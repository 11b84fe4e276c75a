#include "rows/public_rows.hpp"

#include "border/permissions.hpp"
#include "rows/nodes.hpp"
#include "rows/statement.hpp"

namespace dp::rows {

static char *name_of(int varno) {
    return psprintf("public %d", varno);
}

// As the table has them; a dropped column is a NULL of some type.
static TupleDesc columns_of(Oid relation) {
    Relation table = table_open(relation, NoLock);
    TupleDesc theirs = RelationGetDescr(table), columns = CreateTemplateTupleDesc(theirs->natts);
    for (int i = 0; i < theirs->natts; i++) {
        const FormData_pg_attribute *column = TupleDescAttr(theirs, i);
        bool gone = column->attisdropped;
        TupleDescInitEntry(columns, static_cast<AttrNumber>(i + 1), NameStr(column->attname),
                           gone ? INT4OID : column->atttypid, gone ? -1 : column->atttypmod, 0);
        TupleDescInitEntryCollation(columns, static_cast<AttrNumber>(i + 1), gone ? InvalidOid : column->attcollation);
    }
    table_close(table, NoLock);
    return columns;
}

RangeTblEntry *public_entry(Oid relation, int varno) {
    TupleDesc columns = columns_of(relation);
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_NAMEDTUPLESTORE;
    entry->enrname = name_of(varno);
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

static Query *select_all(Oid relation, TupleDesc columns) {
    auto *query = makeNode(Query);
    query->commandType = CMD_SELECT;
    query->canSetTag = true;
    query->rtable = list_make1(relation_entry(relation, true));
    border::set_permission(query, linitial_node(RangeTblEntry, query->rtable), 0);
    auto *ref = makeNode(RangeTblRef);
    ref->rtindex = 1;
    query->jointree = makeFromExpr(list_make1(ref), nullptr);
    for (int i = 1; i <= columns->natts; i++) {
        const FormData_pg_attribute *column = TupleDescAttr(columns, i - 1);
        bool gone = get_attnum(relation, NameStr(column->attname)) != i;
        add_target(query, gone ? reinterpret_cast<Node *>(makeNullConst(INT4OID, -1, InvalidOid))
                               : reinterpret_cast<Node *>(
                                     makeVar(1, i, column->atttypid, column->atttypmod, column->attcollation, 0)));
    }
    return query;
}

// Values out of line stay where they are: the snapshot keeps them.
static bool copy_rows(QueryEnvironment *copies, Oid relation, int varno, const List *checked) {
    TupleDesc columns = columns_of(relation);
    Tuplestorestate *store = tuplestore_begin_heap(true, false, work_mem);
    DestReceiver *receiver = CreateDestReceiver(DestTuplestore);
    SetTuplestoreDestReceiverParams(receiver, store, CurrentMemoryContext, false, nullptr, nullptr);
    PlannedStmt *plan = pg_plan_query(select_all(relation, columns), "(dp_rdr)", 0, nullptr);
    if (!run_plan(plan, checked, receiver))
        return false;
    auto *copy = static_cast<EphemeralNamedRelation>(palloc0(sizeof(EphemeralNamedRelationData)));
    copy->md.name = name_of(varno);
    copy->md.reliddesc = InvalidOid;
    copy->md.tupdesc = columns;
    copy->md.enrtype = ENR_NAMED_TUPLESTORE;
    copy->md.enrtuples = static_cast<double>(tuplestore_tuple_count(store));
    copy->reldata = store;
    register_ENR(copies, copy);
    return true;
}

QueryEnvironment *copy_public_rows(const Question *question, const List *checked, bool *executed) {
    QueryEnvironment *copies = nullptr;
    *executed = true;
    for (int i = 0; i < question->nsources && *executed; i++) {
        const Source &source = question->sources[i];
        if (!source.source->is_public)
            continue;
        if (copies == nullptr)
            copies = create_queryEnv();
        *executed = copy_rows(copies, source.relation, source.source->varno, checked);
    }
    return copies;
}

} // namespace dp::rows
