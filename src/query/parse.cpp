#include "query/parse.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/walk.hpp"
#include "catalog/facade.hpp"
#include "catalog/public_table.hpp"
#include "query/limits.hpp"
extern "C" {
#include <parser/parse_target.h>
}

namespace dp::query {

[[noreturn]] static void refuse_name(const char *what, List *name, int location) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("%s %s is not supported in a query on a restricted view", what, NameListToString(name)),
                    errhint("Use what PostgreSQL brings along."), location >= 0 ? errposition(location + 1) : 0));
    pg_unreachable();
}

// Unqualified names are looked for in pg_catalog alone: the text is read under a pinned search_path.
static bool is_servers(List *name) {
    return list_length(name) < 2 || (list_length(name) == 2 && strcmp(strVal(linitial(name)), "pg_catalog") == 0);
}

// Looks up a type in the schema that the name has, if that is there; else as the server does.
static Oid look_up(const TypeName *name) {
    char *schema, *type = nullptr;
    if (list_length(name->names) > 1 && !name->pct_type)
        DeconstructQualifiedName(name->names, &schema, &type);
    const Oid space = type == nullptr ? InvalidOid : get_namespace_oid(schema, true);
    if (!OidIsValid(space))
        return LookupTypeNameOid(nullptr, name, true);
    const Oid found = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, PointerGetDatum(type), ObjectIdGetDatum(space));
    return OidIsValid(found) && name->arrayBounds != NIL ? get_array_type(found) : found;
}

// Whoever analyses an oid needs no right on the schema.
Oid resolve_type(TypeName *name) {
    const Oid type = look_up(name), element = get_element_type(type);
    if (type_is_enum(OidIsValid(element) ? element : type)) {
        name->names = name->arrayBounds = NIL;
        name->typeOid = type;
    }
    return type;
}

// The server reads the names of types where it names columns: that is done before.
void name_columns(Node *node) {
    if (IsA(node, SelectStmt))
        for (auto *target : border::each<ResTarget>(castNode(SelectStmt, node)->targetList))
            if (target->name == nullptr)
                target->name = FigureColname(target->val);
    if (IsA(node, RangeFunction))
        for (auto *called : border::each<List>(castNode(RangeFunction, node)->functions))
            if (IsA(linitial(called), TypeCast))
                refuse_form("a cast in FROM is not supported in a query on a restricted view", "Write it in SELECT.");
}

Oid part_of(Oid type) {
    for (;;) {
        Oid inner = get_element_type(type);
        if (!OidIsValid(inner))
            inner = get_range_subtype(type);
        if (!OidIsValid(inner))
            inner = get_range_subtype(get_multirange_range(type));
        if (!OidIsValid(inner))
            return type;
        type = inner;
    }
}

bool is_slow_to_read(Oid type) {
    const Oid part = part_of(getBaseType(type));
    return part == JSONPATHOID || part == XMLOID;
}

static bool is_slow_literal(Oid type) {
    return OidIsValid(type) && is_slow_to_read(type);
}

static void check_type(TypeName *name) {
    List *names = name->names;
    const bool slow = is_slow_literal(resolve_type(name));
    if (slow || name->setof || name->pct_type || (name->names != NIL && !is_servers(names)))
        refuse_name("type", names, name->location);
}

// Tells whether it is a cast that names its DateStyle (query/date_style), of this extension.
static bool is_dates_cast(const List *name) {
    if (list_length(name) != 2 || strcmp(strVal(linitial(name)), "dp_rdr") != 0)
        return false;
    const char *function = strVal(lsecond(name));
    return strcmp(function, "date") == 0 || strcmp(function, "timestamp") == 0 || strcmp(function, "text") == 0;
}

// A name: of what, where it stands.
static void check_name(const char *what, List *name, int location) {
    if (!is_servers(name))
        refuse_name(what, name, location);
}

static bool check_node(Node *node, void *context) {
    if (node == nullptr)
        return false;
    CHECK_FOR_INTERRUPTS();
    name_columns(node);
    switch (nodeTag(node)) {
    case T_TypeName:
        check_type(castNode(TypeName, node));
        break;
    case T_FuncCall: {
        auto *call = castNode(FuncCall, node);
        if (!is_dates_cast(call->funcname))
            check_name("function", call->funcname, call->location);
        if (is_slow_literal(look_up(makeTypeNameFromNameList(call->funcname)))) // type('literal') is one
            refuse_name("type", call->funcname, -1);
        break;
    }
    case T_A_Expr:
        check_name("operator", castNode(A_Expr, node)->name, castNode(A_Expr, node)->location);
        break;
    case T_SQLValueFunction: // of the process that reads; ordinary SQL passes the asker's as a value
        if (castNode(SQLValueFunction, node)->op == SVFOP_SESSION_USER)
            refuse_name("function", list_make1(makeString(pstrdup("session_user"))),
                        castNode(SQLValueFunction, node)->location);
        break;
    case T_CollateClause:
        check_name("collation", castNode(CollateClause, node)->collname, castNode(CollateClause, node)->location);
        break;
    case T_SubLink: // x op ANY (...): its operator
        check_name("operator", castNode(SubLink, node)->operName, castNode(SubLink, node)->location);
        break;
    case T_SortBy:
        check_name("operator", castNode(SortBy, node)->useOp, castNode(SortBy, node)->location);
        break;
    default:
        break;
    }
    return border::walk_raw(node, check_node, context);
}

void check_names(RawStmt *statement) {
    (void)check_node(statement->stmt, nullptr);
}

// The relations of FROM, RangeVar *; false: something else stands in it.
static bool add_relations(Node *item, List **relations) {
    check_stack_depth();
    if (IsA(item, JoinExpr))
        return add_relations(castNode(JoinExpr, item)->larg, relations) &&
               add_relations(castNode(JoinExpr, item)->rarg, relations);
    if (IsA(item, RangeFunction)) // query/passed_rows looks at what it calls
        return !castNode(RangeFunction, item)->lateral;
    if (IsA(item, RangeSubselect)) // its own FROM is looked at by the walk
        return !castNode(RangeSubselect, item)->lateral;
    *relations = lappend(*relations, item);
    return IsA(item, RangeVar);
}

// One beside the first, a public table or a view of one is looked at as that was (keeper/serving): analysis reads literals as of the types of its columns.
static bool is_other_view(Oid view) {
    const bool declared = OidIsValid(view) && (catalog::is_registered_view(view) || catalog::is_public_table(view));
    if (!declared && get_rel_relkind(view) != RELKIND_VIEW)
        return false;
    if (!ConditionalLockRelationOid(view, AccessShareLock))
        ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE), errmsg("a lock is in the way")));
    if (!declared && catalog::public_view(view) == nullptr)
        return false;
    Relation relation = table_open(view, NoLock);
    TupleDesc columns = RelationGetDescr(relation);
    for (int i = 0; i < columns->natts; i++)
        if (!TupleDescAttr(columns, i)->attisdropped)
            catalog::check_column_type(NameStr(TupleDescAttr(columns, i)->attname),
                                       TupleDescAttr(columns, i)->atttypid);
    table_close(relation, NoLock);
    return true;
}

// Collects the relations of a SELECT and of those in its conditions. True: something else stands in FROM.
static bool find_relations(Node *node, void *relations) {
    if (node == nullptr)
        return false;
    if (IsA(node, SelectStmt)) {
        auto *select = castNode(SelectStmt, node);
        const bool combined = select->op == SETOP_UNION && select->all; // its parts are met below
        if ((select->op != SETOP_NONE && !combined) || select->withClause != nullptr ||
            (select->fromClause == NIL && !combined))
            return true;
        for (auto *part : border::each<Node>(select->fromClause))
            if (!add_relations(part, static_cast<List **>(relations)))
                return true;
    }
    return border::walk_raw(node, find_relations, relations);
}

// 0A000 unless the statement reads this relation, and beside it registered restricted views alone, named in FROM as they stand, joined,
// without WITH and sub-SELECTs but such in conditions: so a leaf is written, and so what was checked elsewhere under a name is what the
// name means here.
static void check_reads_only(RawStmt *statement, Oid relation) {
    List *relations = NIL;
    bool fine = !find_relations(statement->stmt, &relations);
    ListCell *cell;
    bool first = false;
    foreach (cell, relations) {
        if (!fine)
            break;
        Oid named = RangeVarGetRelid(lfirst_node(RangeVar, cell), NoLock, true);
        first = first || named == relation;
        fine = named == relation || is_other_view(named);
    }
    if (!fine || !first)
        refuse_form("the text reads something else than restricted views",
                    "Ask with ordinary SQL on the view, or with dp_query().");
}

Oid parameter_type(Oid type) {
    Oid base = getBaseType(type), part = part_of(base);
    bool servers = base < FirstNormalObjectId && part < FirstNormalObjectId && get_typtype(part) == TYPTYPE_BASE;
    if ((!servers && !type_is_enum(part)) || is_slow_to_read(base))
        refuse_form(
            psprintf("a parameter of type %s is not supported in a query on a restricted view", format_type_be(type)),
            "Cast it to a type that PostgreSQL brings along, or to an enum.");
    return base;
}

static RawStmt *only_statement(const char *text) {
    check_text(text);
    List *statements = raw_parser(text, RAW_PARSE_DEFAULT);
    if (list_length(statements) != 1)
        ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
                        statements == NIL ? errmsg("the query is empty") : errmsg("the query has several statements"),
                        errhint("Pass exactly one SELECT.")));
    auto *raw = linitial_node(RawStmt, statements);
    if (!IsA(raw->stmt, SelectStmt))
        refuse_form("the query is not a SELECT", "Pass exactly one SELECT.");
    return raw;
}

static Parsed analyse(RawStmt *raw, const char *text, const Oid *types, int ntypes) {
    ParseState *source = make_parsestate(nullptr);
    source->p_sourcetext = text;
    if (ntypes > 0)
        setup_parse_fixed_parameters(source, types, ntypes);
    Query *query = transformTopLevelStmt(source, raw);
    if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
        refuse_form("the query is not a plain SELECT", "Pass a SELECT without INTO and without data-modifying WITH.");
    return Parsed{query, source};
}

Parsed parse_select(const char *text, const Oid *types, int ntypes) {
    return analyse(only_statement(text), text, types, ntypes);
}

Parsed parse_leaf(const char *text, const Oid *types, int ntypes, Oid only_view) {
    RawStmt *raw = only_statement(text);
    check_names(raw);
    if (OidIsValid(only_view))
        check_reads_only(raw, only_view);
    return analyse(raw, text, types, ntypes);
}

static void report_position(void *text) {
    int position = geterrposition();
    if (position > 0) {
        errposition(0);
        internalerrposition(position);
        internalerrquery(static_cast<const char *>(text));
    }
}

void TextScope::enter(const char *text) {
    callback.previous = error_context_stack;
    callback.callback = report_position;
    callback.arg = const_cast<char *>(text);
    error_context_stack = &callback;
}

void TextScope::leave() const {
    error_context_stack = callback.previous;
}

// Parsed as the only target of a SELECT: a text that is more than one expression shows in the other clauses.
RawStmt *only_expression(const char *text) {
    check_text(text);
    List *statements = raw_parser(psprintf("SELECT %s", text), RAW_PARSE_DEFAULT);
    if (list_length(statements) != 1)
        return nullptr;
    auto *select = castNode(SelectStmt, linitial_node(RawStmt, statements)->stmt);
    bool more = select->op != SETOP_NONE || list_length(select->targetList) != 1 ||
                linitial_node(ResTarget, select->targetList)->name || select->fromClause || select->whereClause ||
                select->groupClause || select->havingClause || select->sortClause || select->distinctClause ||
                select->intoClause || select->limitCount || select->limitOffset || select->windowClause ||
                select->withClause || select->lockingClause || select->valuesLists;
    return more ? nullptr : linitial_node(RawStmt, statements);
}

} // namespace dp::query
