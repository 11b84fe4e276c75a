#include "rows/opened.hpp"

namespace dp::rows {

// Refuses a relation whose file is missing, before anything is charged. Else its first page would fail behind the charge.
static void check_file(Relation relation) {
    if (RELKIND_HAS_STORAGE(relation->rd_rel->relkind) && !smgrexists(RelationGetSmgr(relation), MAIN_FORKNUM))
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_FILE),
                 errmsg("the file of relation \"%s\" is not there", RelationGetRelationName(relation)),
                 errdetail("Nothing was charged."), errhint("The administrator should look at its tablespace.")));
}

static Relation open_checked(Oid oid, List **opened) {
    Relation relation = relation_open(oid, AccessShareLock);
    check_file(relation);
    *opened = lappend_oid(*opened, oid);
    return relation;
}

// Returns its TOAST table, if it has one. The planner opens each of its indexes, whether it uses it or not.
static Oid lock_with_indexes(Oid table, List **opened) {
    Relation relation = open_checked(table, opened);
    Oid toast = relation->rd_rel->reltoastrelid;
    ListCell *cell;
    foreach (cell, RelationGetIndexList(relation))
        relation_close(open_checked(lfirst_oid(cell), opened), NoLock);
    relation_close(relation, NoLock);
    return toast;
}

List *lock_opened(const List *tables) {
    List *opened = NIL;
    ListCell *cell;
    foreach (cell, tables) {
        Oid toast = lock_with_indexes(lfirst_oid(cell), &opened);
        if (OidIsValid(toast))
            (void)lock_with_indexes(toast, &opened);
    }
    return opened;
}

} // namespace dp::rows
