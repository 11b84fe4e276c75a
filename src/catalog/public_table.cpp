#include "catalog/public_table.hpp"

#include "border/versions.hpp"
#include "border/walk.hpp"
#include "catalog/foreign_code.hpp"
#include "catalog/foreign_part.hpp"
#include "catalog/lookup.hpp"
#include "catalog/relations.hpp"
extern "C" {
#include <rewrite/rewriteHandler.h>
}

namespace dp::catalog {

// ---- as it was declared --------------------------------------------------------------------------------------------

bool is_public_table(const Reading &reading, Oid relation, const pg_uuid_t &domain) {
    Lookup tables = Lookup::open("public_table", reading);
    bool found = tables.rows(UUIDPGetDatum(&domain), relation) != NIL;
    tables.close();
    return found;
}

// ---- what it still is ----------------------------------------------------------------------------------------------

[[noreturn]] static void refuse(Oid relation, const char *reason, const char *remedy) {
    refuse_state(psprintf("%s cannot be a public table: %s", qualified_name(relation), reason), remedy);
}

static void check_kind(Relation table) {
    Form_pg_class form = table->rd_rel;
    Oid relation = RelationGetRelid(table);
    const char *name = qualified_name(relation);
    if (form->relkind != RELKIND_RELATION && form->relkind != RELKIND_PARTITIONED_TABLE &&
        form->relkind != RELKIND_MATVIEW)
        refuse(relation, "it is neither a table nor a materialized view",
               "Name the table that holds the rows, or make a materialized view of them.");
    // (How many rows a protected table has stands in pg_class.)
    if (IsCatalogRelation(table) || form->relnamespace == border::extension_schema() ||
        form->relnamespace == get_namespace_oid("information_schema", true))
        refuse(relation, "it is a system table", "Copy what is public of it into a table of your own.");
    if (form->relispartition || has_superclass(relation))
        refuse(relation, "it is a part of another table", "Name the parent.");
    if (form->relkind == RELKIND_MATVIEW && !form->relispopulated)
        refuse(relation, "it has never been filled", psprintf("REFRESH MATERIALIZED VIEW %s;", name));
}

// Row security shows each role other rows, and its conditions are code.
static void check_form(Oid relation, const FormData_pg_class &form, Oid part) {
    const char *name = qualified_name(part), *of_part = part == relation ? "it" : psprintf("its part %s", name);
    if (form.relkind == RELKIND_FOREIGN_TABLE || is_on_other_nodes(part))
        refuse(relation, psprintf("another server keeps %s", part == relation ? "its rows" : name),
               "Copy the rows into a table of this server.");
    if (form.relpersistence != RELPERSISTENCE_PERMANENT)
        refuse(relation, psprintf("%s is temporary or unlogged", of_part), "Use a permanent table.");
    if (form.relrowsecurity || form.relforcerowsecurity)
        refuse(relation, psprintf("%s has row-level security", of_part),
               psprintf("ALTER TABLE %s DISABLE ROW LEVEL SECURITY; public rows are everybody's.", name));
}

// The planner runs what an owner has put in his table with the rights of the owner of the private rows.
static void check_part_owner(Oid relation, Oid part, Oid owner) {
    Oid mine = relation_owner(part);
    if (mine == owner || superuser_arg(mine))
        return;
    const char *name = qualified_name(part);
    refuse_right(psprintf("%s cannot be a public table: %s belongs to role \"%s\"", qualified_name(relation),
                          part == relation ? "it" : psprintf("its part %s", name), GetUserNameFromId(mine, false)),
                 psprintf("ALTER TABLE %s OWNER TO %s;", name, quote_identifier(GetUserNameFromId(owner, false))),
                 "What a table's owner puts into it runs with the rights of the owner of the rows that it "
                 "is joined with.");
}

static void check_columns(Oid relation, Oid part) {
    Relation table = table_open(part, NoLock);
    for (int i = 0; i < RelationGetDescr(table)->natts; i++) {
        Form_pg_attribute column = TupleDescAttr(RelationGetDescr(table), i);
        if (column->attisdropped)
            continue;
        const char *name = quote_identifier(NameStr(column->attname));
        if (border::is_virtual(column))
            refuse(relation, psprintf("column %s is a virtual generated column", name),
                   "Make it a stored one (GENERATED ALWAYS AS (...) STORED), or drop it.");
        if (input_runs_code(column->atttypid))
            refuse(relation,
                   psprintf("reading a constant of the type %s of column %s may run functions of a user's",
                            format_type_be(column->atttypid), name),
                   "Drop the column, or give it a built-in type.");
    }
    table_close(table, NoLock);
}

// What goes with a person's row, or refers to it, is a person's.
static void check_foreign_keys(Oid relation, Oid part) {
    Relation constraints = table_open(ConstraintRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(part));
    SysScanDesc scan = systable_beginscan(constraints, ConstraintRelidTypidNameIndexId, true, nullptr, 1, &key);
    for (HeapTuple row = systable_getnext(scan); HeapTupleIsValid(row); row = systable_getnext(scan)) {
        auto *form = (Form_pg_constraint)GETSTRUCT(row);
        if (form->contype == CONSTRAINT_FOREIGN && is_part_of_protected(form->confrelid))
            refuse(relation,
                   psprintf("its foreign key %s refers to %s, which is protected",
                            quote_identifier(NameStr(form->conname)), qualified_name(form->confrelid)),
                   "Rows about people are private: protect it, with a unit of theirs.");
    }
    systable_endscan(scan);
    table_close(constraints, AccessShareLock);
}

static void check_part(Oid relation, Oid part, Oid owner) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(part));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for relation %u", part);
    FormData_pg_class form = *(Form_pg_class)GETSTRUCT(tuple);
    ReleaseSysCache(tuple);
    check_form(relation, form, part);
    check_part_owner(relation, part, owner);
    if (is_part_of_protected(part))
        refuse(relation,
               part == relation ? "it is protected" : psprintf("its part %s is protected", qualified_name(part)),
               "A table is private or public, never both.");
    check_columns(relation, part);
    check_foreign_keys(relation, part);
    const char *remedy, *code = foreign_code(part, &remedy);
    if (code != nullptr)
        refuse(relation, part == relation ? code : psprintf("of its part %s %s", qualified_name(part), code), remedy);
}

// ---- materialized views --------------------------------------------------------------------------------------------

namespace {
struct Reads {
    Oid relation;
    List *views; // oid: those that were opened
};
} // namespace

static void check_view(Reads *reads, Oid view);

// (A restricted view reads no row: answers are public when they are there.)
static bool check_reads(Node *node, void *context) {
    auto *reads = static_cast<Reads *>(context);
    if (node == nullptr)
        return false;
    if (IsA(node, RangeTblEntry)) {
        auto *entry = castNode(RangeTblEntry, node);
        if (entry->rtekind != RTE_RELATION)
            return false;
        if (is_part_of_protected(entry->relid))
            refuse(reads->relation, psprintf("it reads %s, which is protected", qualified_name(entry->relid)),
                   "Make it of public rows alone, or of answers.");
        check_view(reads, entry->relid);
        return false;
    }
    if (IsA(node, Query))
        return border::walk_query(castNode(Query, node), check_reads, context, QTW_EXAMINE_RTES_BEFORE);
    return border::walk_expression(node, check_reads, context);
}

static void check_view(Reads *reads, Oid view) {
    check_stack_depth();
    char kind = get_rel_relkind(view);
    if ((kind != RELKIND_VIEW && kind != RELKIND_MATVIEW) || list_member_oid(reads->views, view))
        return;
    reads->views = lappend_oid(reads->views, view);
    Relation relation = table_open(view, AccessShareLock);
    if (relation->rd_rules != nullptr)
        for (int i = 0; i < relation->rd_rules->numLocks; i++)
            (void)check_reads(
                static_cast<Node *>(copyObject(reinterpret_cast<Node *>(relation->rd_rules->rules[i]->actions))),
                reads);
    table_close(relation, NoLock);
}

List *check_public(Oid relation, Oid owner) {
    Relation table = relation_open(relation, AccessShareLock);
    check_kind(table);
    relation_close(table, NoLock);
    List *parts = with_shard(find_all_inheritors(relation, AccessShareLock, nullptr), relation);
    for (Oid part : border::each_oid(parts)) {
        CHECK_FOR_INTERRUPTS();
        check_part(relation, part, owner);
    }
    Reads reads = {relation, NIL};
    check_view(&reads, relation);
    return parts;
}

// ---- views ---------------------------------------------------------------------------------------------------------

static bool projects_public_table(Query *query) {
    if (view_query_is_auto_updatable(query, false) != nullptr || query->jointree->quals != nullptr)
        return false;
    const int index = linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
    const RangeTblEntry *table = rt_fetch(index, query->rtable);
    for (auto *target : border::each<TargetEntry>(query->targetList)) {
        const auto *column = reinterpret_cast<const Var *>(target->expr);
        if (target->resjunk || !IsA(column, Var) || column->varno != index || column->varattno <= 0)
            return false;
    }
    return table->inh && is_public_table(table->relid);
}

Query *public_view(Oid relation) {
    if (get_rel_relkind(relation) != RELKIND_VIEW)
        return nullptr;
    Relation view = table_open(relation, AccessShareLock);
    auto *query = RelationIsSecurityView(view) ? nullptr : static_cast<Query *>(copyObject(get_view_query(view)));
    table_close(view, NoLock);
    return query != nullptr && projects_public_table(query) ? query : nullptr;
}

} // namespace dp::catalog
