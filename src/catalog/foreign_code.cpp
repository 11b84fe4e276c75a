#include "catalog/foreign_code.hpp"

#include "border/each.hpp"
#include "border/walk.hpp"

namespace dp::catalog {

// ---- functions -----------------------------------------------------------------------------------------------------

static bool comes_with_server(Oid object) {
    return object < FirstNormalObjectId;
}

bool is_compiled(Oid function) {
    if (comes_with_server(function))
        return true;
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        return false;
    Oid language = ((Form_pg_proc)GETSTRUCT(tuple))->prolang;
    ReleaseSysCache(tuple);
    return language == INTERNALlanguageId || language == ClanguageId;
}

// Notes in *context, unless that is null, which one it is.
static bool is_foreign_function(Oid function, void *context) {
    if (comes_with_server(function) && get_func_namespace(function) == PG_CATALOG_NAMESPACE)
        return false;
    if (context != nullptr)
        *static_cast<Oid *>(context) = function;
    return true;
}

static Oid element_or_self(Oid type) {
    Oid element = get_element_type(type);
    return OidIsValid(element) ? element : type;
}

// A value of a user's range is compared and made by functions of his; those of an enum are the server's.
static bool is_foreign_type(Oid type) {
    Oid base = getBaseType(element_or_self(getBaseType(type)));
    return !comes_with_server(base) && base != RECORDOID && !type_is_enum(base);
}

// Stricter than what would be folded today: an expression is planned by every query, and functions change.
static bool walk_foreign_code(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (check_functions_in_node(node, is_foreign_function, context))
        return true;
    if (IsA(node, CoerceToDomain))
        return true;
    if (!IsA(node, Var) && !IsA(node, List) && !IsA(node, CaseWhen) && !IsA(node, NamedArgExpr) &&
        !IsA(node, TargetEntry) && is_foreign_type(exprType(node)))
        return true;
    return border::walk_expression(node, walk_foreign_code, context);
}

bool has_foreign_code(Node *expression) {
    return walk_foreign_code(expression, nullptr);
}

// As it is stored: RelationGetIndexExpressions() and its like fold constants, and that runs the code.
// Null: there is none; else what is called, in words.
static const char *code_in_text(const char *nodes) {
    Oid function = InvalidOid;
    if (!walk_foreign_code(static_cast<Node *>(stringToNode(nodes)), &function))
        return nullptr;
    if (!OidIsValid(function)) // it has a value of a user's type
        return "a function of a user's";
    const Oid extension = getExtensionOfObject(ProcedureRelationId, function);
    return psprintf("%s, a function of %s", format_procedure_qualified(function),
                    OidIsValid(extension)
                        ? psprintf("the extension %s", quote_identifier(get_extension_name(extension)))
                        : "a user's");
}

static const char *code_in_attribute(int cache, HeapTuple tuple, AttrNumber attribute) {
    bool isnull;
    Datum nodes = SysCacheGetAttr(cache, tuple, attribute, &isnull);
    return isnull ? nullptr : code_in_text(TextDatumGetCString(nodes));
}

// ---- operator classes ----------------------------------------------------------------------------------------------

static bool procedures_are_compiled(Oid family) {
    bool compiled = true;
    CatCList *list = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
    for (int i = 0; i < list->n_members; i++)
        compiled = compiled && is_compiled(((Form_pg_amproc)GETSTRUCT(&list->members[i]->tuple))->amproc);
    ReleaseCatCacheList(list);
    return compiled;
}

static bool operators_are_compiled(Oid family) {
    bool compiled = true;
    CatCList *list = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
    for (int i = 0; i < list->n_members; i++)
        compiled = compiled && is_compiled(get_opcode(((Form_pg_amop)GETSTRUCT(&list->members[i]->tuple))->amopopr));
    ReleaseCatCacheList(list);
    return compiled;
}

static bool classes_are_compiled(int cache, HeapTuple tuple, AttrNumber attribute) {
    bool isnull;
    auto *classes = reinterpret_cast<oidvector *>(DatumGetPointer(SysCacheGetAttr(cache, tuple, attribute, &isnull)));
    for (int i = 0; !isnull && i < classes->dim1; i++) {
        if (comes_with_server(classes->values[i]))
            continue;
        Oid family = get_opclass_family(classes->values[i]);
        if (!procedures_are_compiled(family) || !operators_are_compiled(family))
            return false;
    }
    return true;
}

// ---- what the planner looks at -------------------------------------------------------------------------------------

// Null: the index runs none. The tuple is the index's in pg_index.
static const char *code_of_index(HeapTuple tuple) {
    if (const char *code = code_in_attribute(INDEXRELID, tuple, Anum_pg_index_indexprs))
        return psprintf("%s, in an expression", code);
    if (const char *code = code_in_attribute(INDEXRELID, tuple, Anum_pg_index_indpred))
        return psprintf("%s, in its condition", code);
    return classes_are_compiled(INDEXRELID, tuple, Anum_pg_index_indclass)
               ? nullptr
               : "a function of a user's, in an operator class";
}

static const char *code_in_indexes(Relation table, const char **remedy) {
    for (Oid index : border::each_oid(RelationGetIndexList(table))) {
        HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
        if (!HeapTupleIsValid(tuple)) // dropped since the list was made
            continue;
        const char *what = code_of_index(tuple);
        ReleaseSysCache(tuple);
        if (what == nullptr)
            continue;
        const char *name = get_rel_name(index);
        *remedy = "Drop the index, or make one without functions but the server's own.";
        return psprintf("the index %s calls %s", quote_identifier(name ? name : "?"), what);
    }
    return nullptr;
}

static const char *code_in_checks(Relation table, const char **remedy) {
    TupleConstr *constraints = RelationGetDescr(table)->constr;
    for (int i = 0; constraints != nullptr && i < constraints->num_check; i++)
        if (const char *code = code_in_text(constraints->check[i].ccbin)) {
            *remedy = "Drop the constraint, or check the rows in a trigger, which reading does not run.";
            return psprintf("the constraint %s calls %s", quote_identifier(constraints->check[i].ccname), code);
        }
    return nullptr;
}

static const char *code_in_statistics(Relation table, const char **remedy) {
    for (Oid oid : border::each_oid(RelationGetStatExtList(table))) {
        HeapTuple tuple = SearchSysCache1(STATEXTOID, ObjectIdGetDatum(oid));
        if (!HeapTupleIsValid(tuple))
            continue;
        const char *name = pstrdup(NameStr(((Form_pg_statistic_ext)GETSTRUCT(tuple))->stxname));
        const char *code = code_in_attribute(STATEXTOID, tuple, Anum_pg_statistic_ext_stxexprs);
        ReleaseSysCache(tuple);
        if (code != nullptr) {
            *remedy = "Drop the statistics object.";
            return psprintf("the statistics object %s calls %s", quote_identifier(name), code);
        }
    }
    return nullptr;
}

static const char *code_in_partition_key(Relation table, const char **remedy) {
    if (table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
        return nullptr;
    HeapTuple tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(RelationGetRelid(table)));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for partition key of %u", RelationGetRelid(table));
    const char *code = code_in_attribute(PARTRELID, tuple, Anum_pg_partitioned_table_partexprs);
    if (code == nullptr && !classes_are_compiled(PARTRELID, tuple, Anum_pg_partitioned_table_partclass))
        code = "a function of a user's";
    ReleaseSysCache(tuple);
    *remedy = "Partition by columns of built-in types.";
    return code == nullptr ? nullptr : psprintf("its partition key calls %s", code);
}

const char *foreign_code(Oid relation, const char **remedy) {
    Relation table = table_open(relation, NoLock);
    const char *found = code_in_indexes(table, remedy);
    if (found == nullptr)
        found = code_in_checks(table, remedy);
    if (found == nullptr)
        found = code_in_statistics(table, remedy);
    if (found == nullptr)
        found = code_in_partition_key(table, remedy);
    table_close(table, NoLock);
    return found;
}

// ---- literals ------------------------------------------------------------------------------------------------------

static bool range_has_functions(Oid type) {
    Oid range = type_is_multirange(type) ? get_multirange_range(type) : type;
    TypeCacheEntry *cache = lookup_type_cache(range, TYPECACHE_RANGE_INFO);
    return !is_compiled(cache->rng_cmp_proc_finfo.fn_oid) ||
           (OidIsValid(cache->rng_canonical_finfo.fn_oid) && !is_compiled(cache->rng_canonical_finfo.fn_oid)) ||
           (OidIsValid(cache->rng_subdiff_finfo.fn_oid) && !is_compiled(cache->rng_subdiff_finfo.fn_oid)) ||
           get_typtype(cache->rngelemtype->type_id) == TYPTYPE_DOMAIN || input_runs_code(cache->rngelemtype->type_id);
}

bool input_runs_code(Oid type) {
    check_stack_depth();
    Oid base = getBaseType(type), element = get_element_type(base);
    if (comes_with_server(base))
        return false;
    if (OidIsValid(element))
        return get_typtype(element) == TYPTYPE_DOMAIN || input_runs_code(element);
    switch (get_typtype(base)) {
    case TYPTYPE_COMPOSITE: // may get a column of a domain at any time
        return true;
    case TYPTYPE_RANGE:
    case TYPTYPE_MULTIRANGE:
        return range_has_functions(base);
    default:
        return false;
    }
}

} // namespace dp::catalog
