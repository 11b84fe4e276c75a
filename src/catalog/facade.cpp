#include "catalog/facade.hpp"

#include "border/each.hpp"
#include "border/scope.hpp"
#include "border/versions.hpp"
#include "catalog/foreign_code.hpp"
#include "catalog/foreign_part.hpp"
#include "catalog/relations.hpp"

namespace dp::catalog {

Oid deny_function() {
    if (!OidIsValid(border::extension_schema(true)))
        return InvalidOid;
    Oid types[1] = {REGCLASSOID};
    return border::internal_function("deny", 1, types, true);
}

// FROM deny(Const regclass), nothing else at this level: the constant, or InvalidOid.
static Oid denied_table(const Query *query) {
    if (query->commandType != CMD_SELECT || query->hasAggs || query->hasWindowFuncs || query->hasTargetSRFs ||
        query->hasSubLinks || query->distinctClause || query->groupClause || query->groupingSets || query->havingQual ||
        query->sortClause || query->limitCount || query->limitOffset || query->setOperations || query->cteList ||
        query->rowMarks || query->jointree->quals || list_length(query->jointree->fromlist) != 1 ||
        !IsA(linitial(query->jointree->fromlist), RangeTblRef))
        return InvalidOid;
    auto *ref = static_cast<RangeTblRef *>(linitial(query->jointree->fromlist));
    auto *entry = rt_fetch(ref->rtindex, query->rtable);
    if (entry->rtekind != RTE_FUNCTION || entry->funcordinality || list_length(entry->functions) != 1)
        return InvalidOid;
    auto *call = reinterpret_cast<FuncExpr *>(linitial_node(RangeTblFunction, entry->functions)->funcexpr);
    if (!IsA(call, FuncExpr) || call->funcid != deny_function() || list_length(call->args) != 1 ||
        !IsA(linitial(call->args), Const))
        return InvalidOid;
    auto *table = linitial_node(Const, call->args);
    if (table->consttype != REGCLASSOID || table->constisnull)
        return InvalidOid;

    // The columns are handed through one to one: nothing is computed, none is swapped.
    AttrNumber next = 1;
    for (auto *target : border::each<TargetEntry>(query->targetList)) {
        auto *var = reinterpret_cast<Var *>(target->expr);
        if (target->resjunk || !IsA(var, Var) || var->varno != ref->rtindex || var->varattno != next++ ||
            var->varlevelsup != 0)
            return InvalidOid;
    }
    return DatumGetObjectId(table->constvalue);
}

Oid table_of_facade(Oid view) {
    if (!OidIsValid(deny_function()) || get_rel_relkind(view) != RELKIND_VIEW)
        return InvalidOid;
    Relation relation = table_open(view, AccessShareLock);
    Oid table = relation->rd_rules == nullptr ? InvalidOid : denied_table(get_view_query(relation));
    table_close(relation, NoLock);
    return table;
}

Oid expanded_view(const RangeTblEntry *entry) {
    if (entry->rtekind != RTE_SUBQUERY || entry->subquery->rtable == NIL)
        return InvalidOid;
#if PG_VERSION_NUM >= 160000
    return entry->relkind == RELKIND_VIEW ? entry->relid : InvalidOid;
#else
    // Before 16 the view survives only as the OLD entry that every view's rule begins with.
    auto *old = linitial_node(RangeTblEntry, entry->subquery->rtable);
    return old->rtekind == RTE_RELATION && old->relkind == RELKIND_VIEW ? old->relid : InvalidOid;
#endif
}

Oid expanded_facade(const RangeTblEntry *entry) {
    Oid view = expanded_view(entry);
    return OidIsValid(view) && OidIsValid(denied_table(entry->subquery)) ? view : InvalidOid;
}

AttrNumber *map_columns(Oid view, Oid relation) {
    const char *remedy = "The controller makes the view anew with dp_refresh(); its policies stay.";
    Relation facade = table_open(view, NoLock);
    Relation table = table_open(relation, NoLock);
    TupleDesc facade_columns = RelationGetDescr(facade);
    auto *map = static_cast<AttrNumber *>(palloc0(sizeof(AttrNumber) * (facade_columns->natts + 1)));
    for (int i = 0; i < facade_columns->natts; i++) {
        Form_pg_attribute mine = TupleDescAttr(facade_columns, i);
        AttrNumber attno = get_attnum(relation, NameStr(mine->attname));
        Form_pg_attribute theirs = attno > 0 ? TupleDescAttr(RelationGetDescr(table), attno - 1) : nullptr;
        if (theirs == nullptr)
            refuse_state(psprintf("%s has no column %s, which %s shows", qualified_name(relation),
                                  quote_identifier(NameStr(mine->attname)), qualified_name(view)),
                         remedy);
        if (theirs->atttypid != mine->atttypid || theirs->atttypmod != mine->atttypmod ||
            theirs->attcollation != mine->attcollation)
            refuse_state(psprintf("column %s of %s changed since it was protected",
                                  quote_identifier(NameStr(mine->attname)), qualified_name(relation)),
                         remedy);
        check_column_type(NameStr(mine->attname), mine->atttypid);
        map[mine->attnum] = attno;
    }
    table_close(facade, NoLock);
    table_close(table, NoLock);
    return map;
}

[[noreturn]] static void refuse(Oid relation, const char *reason, const char *remedy) {
    refuse_state(psprintf("%s cannot be protected: %s", qualified_name(relation), reason), remedy);
}

// Its expression is computed for each row that is read, and may fail there: an error that the row decides.
static const char *virtual_column(Oid part) {
    Relation table = table_open(part, NoLock);
    TupleDesc columns = RelationGetDescr(table);
    const char *name = nullptr;
    for (int i = 0; i < columns->natts && name == nullptr; i++)
        if (border::is_virtual(TupleDescAttr(columns, i)))
            name = pstrdup(NameStr(TupleDescAttr(columns, i)->attname));
    table_close(table, NoLock);
    return name;
}

// A partition may be kept by another server; a child of a table that is not partitioned may not.
static void check_kind(Oid relation, Oid part) {
    const char *name = qualified_name(part), *remedy;
    char kind = get_rel_relkind(part);
    if (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE)
        return;
    if (kind != RELKIND_FOREIGN_TABLE || get_rel_relkind(relation) != RELKIND_PARTITIONED_TABLE)
        refuse(relation, psprintf("%s is not a plain table", name),
               "Detach children that are foreign tables, or make them partitions.");
    const char *fault = fault_of_foreign_part(part, relation_owner(relation), &remedy);
    if (fault != nullptr)
        refuse(relation, psprintf("%s %s", name, fault), remedy);
}

// One owner for all: else code of the one, or a trigger on his part, would see or move rows of the other. A superuser does so
// anyhow, and maintenance that runs as one makes partitions of its own. Rows are read with the rights of the table's owner all the
// same: the server asks for them on the table that is named, never on its parts.
static bool is_trusted_with(Oid relation, Oid part) {
    const Oid owner = relation_owner(part);
    return owner == relation_owner(relation) || superuser_arg(owner);
}

static void check_part(Oid relation, Oid part) {
    const char *name = qualified_name(part), *remedy;
    check_kind(relation, part);
    if (!is_trusted_with(relation, part))
        refuse(relation, psprintf("%s, a part of it, belongs to another role", name),
               psprintf("ALTER TABLE %s OWNER TO %s, or detach it.", name,
                        quote_identifier(GetUserNameFromId(relation_owner(relation), false))));
    if (is_public_table(part))
        refuse(relation, part == relation ? "it is a public table" : psprintf("its part %s is a public table", name),
               "A table is private or public, never both: dp_unset_public() takes the one back.");
    const char *computed = virtual_column(part);
    if (computed != nullptr)
        refuse(relation,
               psprintf("column %s%s%s is a virtual generated column", quote_identifier(computed),
                        part == relation ? "" : " of ", part == relation ? "" : name),
               "Make it a stored one (GENERATED ALWAYS AS (...) STORED), or drop it.");
    const char *code = foreign_code(part, &remedy);
    if (code != nullptr)
        refuse(relation, part == relation ? code : psprintf("of its part %s %s", name, code), remedy);
}

static List *check_parts(Oid relation) {
    List *parts = with_shard(find_all_inheritors(relation, AccessShareLock, nullptr), relation);
    for (Oid part : border::each_oid(parts)) {
        CHECK_FOR_INTERRUPTS();
        check_part(relation, part);
    }
    Oid repeated = repeated_foreign_part(parts);
    if (OidIsValid(repeated))
        refuse(relation, psprintf("%s names the same remote table as another partition", qualified_name(repeated)),
               "Detach one of them: each row of it would be counted twice.");
    return parts;
}

void check_column_type(const char *name, Oid type) {
    if (input_runs_code(type))
        refuse_form(
            psprintf("column \"%s\" is of type %s, which a restricted view cannot show", name, format_type_be(type)),
            "Leave the column out: dp_protect(relation, view, columns => '{...}').",
            "Reading a constant of that type may run functions of its owner with the rights of "
            "whoever asks.");
}

List *check_protectable(Oid relation) {
    Relation table = relation_open(relation, AccessShareLock);
    Form_pg_class form = table->rd_rel;
    if (form->relkind != RELKIND_RELATION && form->relkind != RELKIND_PARTITIONED_TABLE)
        refuse(relation, "it is not a table", "Protect the plain or partitioned table that holds the rows.");
    if (IsCatalogRelation(table) || form->relnamespace == border::extension_schema() ||
        form->relnamespace == get_namespace_oid("information_schema", true))
        refuse(relation, "it is a system table", "Protect a table of your own.");
    if (form->relpersistence == RELPERSISTENCE_TEMP)
        refuse(relation, "it is temporary", "Protect a permanent table: the ledger outlives sessions.");
    if (form->relforcerowsecurity)
        refuse(relation, "FORCE ROW LEVEL SECURITY hides rows from its owner",
               "ALTER TABLE ... NO FORCE ROW LEVEL SECURITY, and use the filter of dp_protect() instead.");
    if (form->relispartition || has_superclass(relation))
        refuse(relation, "it is a part of another table",
               "Protect the parent: one individual must not be counted under two budgets.");
    List *parts = check_parts(relation);
    relation_close(table, NoLock);
    return parts;
}

} // namespace dp::catalog
