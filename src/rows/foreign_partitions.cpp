#include "rows/foreign_partitions.hpp"

#include "border/attempt.hpp"
#include "border/each.hpp"
#include "border/hooks.hpp"
#include "border/refuse.hpp"
#include "border/visit.hpp"
#include "catalog/foreign_part.hpp"
#include "query/leaf_rows.hpp"
#include "rows/built_in_calls.hpp"
#include "rows/canonical.hpp"
#include "rows/partition_union.hpp"
#include "rows/nodes.hpp"
#include "rows/pinned.hpp"
#include "rows/may_read.hpp"

namespace dp::rows {

// ---- planning ------------------------------------------------------------------------------------------------------

// Fetching rows costs more than anything else. postgres_fdw computes the cost of an aggregation from that of the remote scan,
// not from these paths; what it cannot send is then seen in the plan.
static void make_fetching_dear(PlannerInfo *, RelOptInfo *relation, Index, RangeTblEntry *entry) {
    constexpr Cost dear = 1e30;
    if (entry->rtekind != RTE_RELATION || entry->relkind != RELKIND_FOREIGN_TABLE)
        return;
    for (auto *path : border::each<Path>(relation->pathlist)) {
        path->startup_cost += dear;
        path->total_cost += dear;
    }
}

PlannedStmt *plan_remotely(Query *query) {
    return border::plan_unhooked(query, CURSOR_OPT_PARALLEL_OK, make_fetching_dear);
}

static bool fetches(const Plan *plan);

static bool any_fetches(const List *plans) {
    for (auto *one : border::each<const Plan>(plans))
        if (fetches(one))
            return true;
    return false;
}

// A scan of a foreign table itself; one that stands for an aggregation has no entry of the range table.
static bool fetches(const Plan *plan) {
    if (plan == nullptr)
        return false;
    check_stack_depth();
    if (IsA(plan, ForeignScan))
        return reinterpret_cast<const ForeignScan *>(plan)->scan.scanrelid != 0;
    if (IsA(plan, Append))
        return any_fetches(reinterpret_cast<const Append *>(plan)->appendplans);
    if (IsA(plan, MergeAppend))
        return any_fetches(reinterpret_cast<const MergeAppend *>(plan)->mergeplans);
    if (IsA(plan, SubqueryScan))
        return fetches(reinterpret_cast<const SubqueryScan *>(plan)->subplan);
    return fetches(plan->lefttree) || fetches(plan->righttree);
}

static bool fetches_rows(const PlannedStmt *plan) {
    return fetches(plan->planTree) || any_fetches(plan->subplans);
}

// ---- what a server must have in common with this one ---------------------------------------------------------------

const char *node_facts() {
    return psprintf("dp_rdr %s, %s, %s", border::library_version, GetDatabaseEncodingName(),
#ifdef WORDS_BIGENDIAN
                    "big-endian"
#else
                    "little-endian"
#endif
    );
}

// false. Called on another server, with its parameter known when it plans: it finds then that it has no row to read. Not
// STRICT: NULL would be a condition that nobody meets as well, and nothing would be compared.
DP_CALL(dp_is_other_node) {
    const char *theirs = PG_ARGISNULL(0) ? "nothing" : text_to_cstring(PG_GETARG_TEXT_PP(0)), *ours = node_facts();
    if (strcmp(theirs, ours) != 0)
        refuse_state(psprintf("this server has %s, and the one that asks has %s", ours, theirs),
                     "Both need the same version of dp_rdr, and databases of the same encoding.");
    // to_char() would read the names of days in the language of lc_time at its first row, and may fail at that.
    (void)DirectFunctionCall2(timestamp_to_char, TimestampGetDatum(0), CStringGetTextDatum("Dy"));
    PG_RETURN_BOOL(false);
}

// ---- columns of a remote table --------------------------------------------------------------------------------------

namespace {
// Names a foreign table's remote one.
struct Remote {
    Oid server;
    const char *schema, *table;
};
} // namespace

static Remote remote_of(Oid leaf) {
    const ForeignTable *foreign = GetForeignTable(leaf);
    Remote remote = {foreign->serverid, get_namespace_name(get_rel_namespace(leaf)), get_rel_name(leaf)};
    for (auto *option : border::each<DefElem>(foreign->options)) {
        if (strcmp(option->defname, "schema_name") == 0)
            remote.schema = defGetString(option);
        else if (strcmp(option->defname, "table_name") == 0)
            remote.table = defGetString(option);
    }
    return remote;
}

// Asks the server what columns its table has, as IMPORT FOREIGN SCHEMA does: ColumnDef *. NIL: there is no such table.
static List *columns_there(Oid leaf) {
    const Remote remote = remote_of(leaf);
    auto *import = makeNode(ImportForeignSchemaStmt);
    import->server_name = GetForeignServer(remote.server)->servername;
    import->remote_schema = const_cast<char *>(remote.schema);
    import->local_schema = import->remote_schema;
    import->list_type = FDW_IMPORT_SCHEMA_LIMIT_TO;
    import->table_list = list_make1(makeRangeVar(nullptr, const_cast<char *>(remote.table), -1));
    for (const char *left_out : {"import_generated", "import_not_null"})
        import->options = lappend(import->options, makeDefElem(pstrdup(left_out), as_node(makeString(pstrdup("false"))), -1));
    List *commands = GetFdwRoutineByServerId(remote.server)->ImportForeignSchema(import, remote.server);
    if (commands == NIL)
        return NIL;
    const List *parsed = raw_parser(static_cast<const char *>(linitial(commands)), RAW_PARSE_DEFAULT);
    return castNode(CreateForeignTableStmt, linitial_node(RawStmt, parsed)->stmt)->base.tableElts;
}

static const char *name_there(Oid leaf, AttrNumber attno) {
    for (auto *option : border::each<DefElem>(GetForeignColumnOptions(leaf, attno)))
        if (strcmp(option->defname, "column_name") == 0)
            return defGetString(option);
    return get_attname(leaf, attno, false);
}

// A row would decide whether its value fits into another type. Equal texts of a nondeterministic collation look different,
// and one row's would be shown: those of pg_catalog are deterministic, and of others the server tells the name alone.
static void check_column(const ColumnDef *there, const Var *here) {
    Oid type;
    int32 typmod;
    typenameTypeIdAndMod(nullptr, there->typeName, &type, &typmod);
    if (type != here->vartype || typmod != here->vartypmod)
        refuse_with(ERRCODE_DATATYPE_MISMATCH,
                    psprintf("a column of type %s is asked for as %s", format_type_with_typemod(type, typmod),
                             format_type_with_typemod(here->vartype, here->vartypmod)),
                    "Make the columns of the foreign table those of the table that it stands for.");
    List *collation = there->collClause == nullptr ? NIL : there->collClause->collname;
    if (collation != NIL && strcmp(strVal(linitial(collation)), "pg_catalog") != 0)
        refuse_with(ERRCODE_DATATYPE_MISMATCH,
                    psprintf("a column has the collation %s, which may be nondeterministic", NameListToString(collation)),
                    "Give the remote column a collation of pg_catalog.");
}

// Checks those that the statement reads. One that is missing there is an error of the statement itself.
static void check_columns_there(const Query *part, Oid leaf) {
    Bitmapset *read = nullptr;
    pull_varattnos(as_node(part->targetList), 1, &read);
    pull_varattnos(part->jointree->quals, 1, &read);
    if (bms_is_empty(read))
        return;
    const List *there = columns_there(leaf);
    for (int i = bms_next_member(read, -1); i >= 0; i = bms_next_member(read, i)) {
        const auto attno = static_cast<AttrNumber>(i + FirstLowInvalidHeapAttributeNumber);
        const Var *here = query::column_of(1, leaf, nullptr, attno);
        for (auto *column : border::each<ColumnDef>(there))
            if (strcmp(column->colname, name_there(leaf, attno)) == 0)
                check_column(column, here);
    }
}

// ---- a condition that is known there -------------------------------------------------------------------------------

// Each character has another number of bytes. No other encoding has all four, or as many bytes and characters of them.
static const char sample[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";

static Node *number_of(Oid function) {
    return make_call(function, INT4OID, list_make1(query::make_parameter(1, TEXTOID, -1, DEFAULT_COLLATION_OID)));
}

static Node *integer(int32 value) {
    return as_node(query::int_constant(value));
}

static bool is_ours(Oid function, void *) {
    return get_func_namespace(function) == get_namespace_oid("dp_rdr", false);
}

// Tells a part that a server runs with functions of its own dp_rdr: of another version they may be other ones.
static bool calls_ours(Query *part) {
    return border::visit_query(part, 0, [](Node *node, Index) {
        return check_functions_in_node(node, is_ours, nullptr) ? border::Step::stop : border::Step::in;
    });
}

// CASE WHEN octet_length($1) = 10 AND length($1) = 4 THEN false ELSE column IS NULL AND 1 / (length($1) * 0) = 1 END: false where the
// database is in UTF8, else a division by zero. Where functions of ours go along, AND NOT dp_rdr.is_other_node($2). The parameter is known when the other server plans, and so is that there is no row to
// read; here it is not. The column makes it a condition on the table, which goes along.
static Node *condition_of_nobody(Oid leaf, bool with_ours) {
    AttrNumber attno = 1;
    while (get_attname(leaf, attno, true) == nullptr) // dropped ones
        attno++;
    Node *in_utf8 = make_and_qual(operation(number_of(F_OCTET_LENGTH_TEXT), "=", integer(10)),
                                  operation(number_of(F_LENGTH_TEXT), "=", integer(4)));
    if (with_ours) {
        Node *facts = query::make_parameter(2, TEXTOID, -1, DEFAULT_COLLATION_OID);
        Node *other = make_call(internal_function("is_other_node", {TEXTOID}), BOOLOID, list_make1(facts));
        in_utf8 = make_and_qual(in_utf8, as_node(makeBoolExpr(NOT_EXPR, list_make1(other), -1)));
    }
    Node *zero = operation(number_of(F_LENGTH_TEXT), "*", integer(0));
    Node *is_null = null_test(as_node(query::column_of(1, leaf, nullptr, attno)), IS_NULL);
    return value_where(in_utf8, makeBoolConst(false, false),
                       make_and_qual(is_null, operation(operation(integer(1), "/", zero), "=", integer(1))));
}

static ParamListInfo facts_asked() {
    const char *const texts[] = {sample, node_facts()};
    ParamListInfo parameters = makeParamList(2);
    for (int i = 0; i < 2; i++)
        parameters->params[i] = ParamExternData{CStringGetTextDatum(texts[i]), false, PARAM_FLAG_CONST, TEXTOID};
    return parameters;
}

// ---- asking for nothing --------------------------------------------------------------------------------------------

static bool is_sent(const Query *part) {
    return !fetches_rows(plan_remotely(static_cast<Query *>(copyObjectImpl(part))));
}

// Keys come as texts, which are read here: they must be the same under all settings and in all catalogs. What is written as
// somebody's name or in somebody's currency is not, nor what may hold such (arrays, ranges).
static bool has_foreign_keys(const Query *part) {
    for (auto *target : border::each<TargetEntry>(part->targetList)) {
        if (target->ressortgroupref > 0 && !is_text_portable(exprType(as_node(target->expr))))
            return true;
    }
    return false;
}

// Which part of a statement would make rows travel; null: none.
static const char *not_sent(const Query *part) {
    if (has_foreign_keys(part))
        return "a key of GROUP BY whose text depends on settings or names";
    if (is_sent(part))
        return nullptr;
    auto *smaller = static_cast<Query *>(copyObjectImpl(part));
    smaller->targetList = smaller->groupClause = NIL;
    add_target(smaller, as_node(make_aggregate(F_COUNT_, INT8OID, NIL, nullptr)));
    if (!is_sent(smaller))
        return "a condition of WHERE or of the view's filter";
    for (auto *target : border::each<TargetEntry>(part->targetList))
        if (target->ressortgroupref > 0) {
            smaller->targetList = lappend(smaller->targetList, copyObject(target));
            llast_node(TargetEntry, smaller->targetList)->resno = static_cast<AttrNumber>(list_length(smaller->targetList));
        }
    smaller->groupClause = static_cast<List *>(copyObject(part->groupClause));
    return is_sent(smaller) ? "an aggregate, its argument or its FILTER" : "a key of GROUP BY";
}

static void ask_for_nothing(Query *part, Oid leaf) {
    check_columns_there(part, leaf);
    part->jointree->quals = make_and_qual(part->jointree->quals, condition_of_nobody(leaf, calls_ours(part)));
    PlannedStmt *plan = plan_remotely(part);
    if (fetches_rows(plan))
        elog(ERROR, "a foreign table would be read to ask whether it is there");
    border::end_unhooked(border::run_unhooked(plan, None_Receiver, facts_asked()));
}

// Tries a leaf as the owner, under the settings of the internal statement. `fault`: what is not sent.
static ErrorData *try_leaf(const Question *question, const Query *statement, Oid leaf, const char **fault) {
    *fault = nullptr;
    return border::attempt([&] {
        pinned_as(question->settings->owner, [&] {
            border::PathScope path = border::PathScope::enter();
            Query *part = over_leaf(statement, leaf);
            *fault = not_sent(part);
            if (*fault == nullptr)
                ask_for_nothing(part, leaf);
            path.leave();
        });
    });
}

[[noreturn]] static void refuse_fetching(const Question *question, Oid leaf, const char *fault) {
    refuse_form(
        psprintf("the query cannot be computed where the rows of %s are", question->settings->relation_name),
        "Use columns of built-in types, comparisons, AND, OR, NOT, IS NULL, IN, CASE, and functions whose result depends on no "
        "setting such as the time zone. Arithmetic beyond that of integers, and casts, are sent to servers that have dp_rdr and "
        "whose option \"extensions\" names it.",
        psprintf(
            "No server is sent %s, so rows of foreign server %s of partition %s would travel. Nothing was charged.",
            fault, catalog::server_name(leaf), catalog::qualified_name(leaf)));
}

PlannedStmt *plan_over_parts(const Query *query, const List *parts) {
    PlannedStmt *plan = has_foreign_keys(query) ? nullptr : plan_remotely(over_leaves(query, parts));
    return plan == nullptr || fetches_rows(plan) ? nullptr : plan;
}

bool is_about_a_server(int sqlstate) {
    return ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_CONNECTION_EXCEPTION ||
           ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_OPERATOR_INTERVENTION ||
           sqlstate == ERRCODE_FDW_UNABLE_TO_ESTABLISH_CONNECTION;
}

// Names the partition to the asker. Hosts, users and the server's words go to the log, and to the owner.
[[noreturn]] static void refuse_leaf(const Question *question, Oid leaf, ErrorData *error) {
    RESUME_INTERRUPTS();
    if (error->sqlerrcode == ERRCODE_DIVISION_BY_ZERO) { // of condition_of_nobody: no row was read
        error->sqlerrcode = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
        error->message = pstrdup("the database there is not in UTF8");
    }
    if (question->grantee == nullptr && !is_keeper())
        ReThrowError(error);
    const char *name = catalog::qualified_name(leaf), *server = catalog::server_name(leaf);
    ereport(LOG, (errmsg("partition %s on foreign server %s cannot be asked: %s", name, server, error->message),
                  error->detail == nullptr ? 0 : errdetail_internal("%s", error->detail)));
    if (is_about_a_server(error->sqlerrcode))
        refuse_with(ERRCODE_FDW_UNABLE_TO_ESTABLISH_CONNECTION,
                    psprintf("partition %s of %s cannot be reached", name, question->settings->relation_name),
                    psprintf("Ask again later. The controller finds out more by SELECT count(*) FROM %s.", name),
                    "Nothing was charged.");
    refuse_state(
        psprintf("partition %s of %s cannot be asked", name, question->settings->relation_name),
        psprintf("The controller finds out more by dp_find_epsilon() or SELECT count(*) FROM %s: the columns of the remote "
                 "table and the encoding there must fit.",
                 name),
        psprintf("Foreign server %s answered with SQLSTATE %s. Nothing was charged.", server,
                 unpack_sql_state(error->sqlerrcode)));
}

// In a keeper, which others wait for: so long for each.
static void start_timer() {
    constexpr int patience_ms = 5000;
    if (!is_keeper())
        return;
    disable_timeout(STATEMENT_TIMEOUT, false);
    enable_timeout_after(STATEMENT_TIMEOUT, patience_ms);
}

void check_remote_parts(const Question *question, const Query *statement) {
    for (Oid leaf : border::each_oid(leaves_to_read(statement, question->checked))) {
        const char *fault;
        if (!catalog::is_foreign_table(leaf))
            continue;
        start_timer();
        ErrorData *error = try_leaf(question, statement, leaf, &fault);
        if (error != nullptr)
            refuse_leaf(question, leaf, error);
        if (fault != nullptr)
            refuse_fetching(question, leaf, fault);
    }
}

} // namespace dp::rows
