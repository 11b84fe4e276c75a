#include "rows/foreign_partitions.hpp"

#include "border/attempt.hpp"
#include "border/each.hpp"
#include "border/hooks.hpp"
#include "border/refuse.hpp"
#include "catalog/foreign_part.hpp"
#include "query/leaf_rows.hpp"
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

bool fetches_rows(const PlannedStmt *plan) {
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

// Returns a type's name as both servers write it: with pg_catalog alone on the search_path.
static const char *column_type(Node *column) {
    return format_type_with_typemod(exprType(column), exprTypmod(column));
}

// A row would decide whether its value fits into another type. Equal texts of a nondeterministic collation look different,
// and one row's would be shown.
static void check_column(const char *theirs, Node *column) {
    const char *ours = column_type(column);
    if (strcmp(theirs, ours) != 0)
        refuse_with(ERRCODE_DATATYPE_MISMATCH, psprintf("a column of type %s is asked for as %s", ours, theirs),
                    "Make the columns of the foreign table those of the table that it stands for.");
    Oid collation = exprCollation(column);
    if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
        refuse_with(
            ERRCODE_DATATYPE_MISMATCH,
            psprintf("a column has the nondeterministic collation %s", quote_identifier(get_collation_name(collation))),
            "Give it the collation that it has in the foreign table.");
}

// false, or an error if the second argument has another type. For a column that has a constant in its place there; the
// planner asks about others.
DP_CALL(dp_is_other_column) {
    const auto *call = reinterpret_cast<const FuncExpr *>(fcinfo->flinfo->fn_expr);
    if (PG_ARGISNULL(0) || call == nullptr || !IsA(call, FuncExpr))
        refuse_value("is_other_column needs a type and a column",
                     "Servers that ask for a partition of theirs call it, with constants.");
    check_column(text_to_cstring(PG_GETARG_TEXT_PP(0)), static_cast<Node *>(lsecond(call->args)));
    PG_RETURN_BOOL(false);
}

// Answers the planner: by then the first argument is known on the other server, and on this one it is not.
DP_CALL(dp_is_other_column_support) {
    auto *request = reinterpret_cast<SupportRequestSimplify *>(PG_GETARG_POINTER(0));
    if (!IsA(request, SupportRequestSimplify))
        PG_RETURN_POINTER(nullptr);
    const List *arguments = request->fcall->args;
    const auto *type = static_cast<const Const *>(linitial(arguments));
    if (!IsA(type, Const) || type->constisnull)
        PG_RETURN_POINTER(nullptr);
    check_column(TextDatumGetCString(type->constvalue), static_cast<Node *>(lsecond(arguments)));
    PG_RETURN_POINTER(makeBoolConst(false, false));
}

namespace {
// Holds facts that another server is sent as parameters, and the question about them.
struct Facts {
    List *texts; // char *
    List *questions;
};
} // namespace

// column: of which the text is said; null: of the node.
static void ask_about(Facts *facts, const char *text, Var *column) {
    facts->texts = lappend(facts->texts, const_cast<char *>(text));
    Node *param = query::make_parameter(list_length(facts->texts), TEXTOID, -1, DEFAULT_COLLATION_OID);
    const Oid asked = column == nullptr ? internal_function("is_other_node", {TEXTOID})
                                        : internal_function("is_other_column", {TEXTOID, ANYOID});
    List *arguments = column == nullptr ? list_make1(param) : list_make2(param, column);
    facts->questions = lappend(facts->questions, make_call(asked, BOOLOID, arguments));
}

// The node's, and the type of each column that the statement reads.
static Facts facts_of(const Query *part, Oid leaf) {
    Facts facts = {NIL, NIL};
    ask_about(&facts, node_facts(), nullptr);
    Bitmapset *columns = nullptr;
    pull_varattnos(as_node(part->targetList), 1, &columns);
    pull_varattnos(part->jointree->quals, 1, &columns);
    for (int i = bms_next_member(columns, -1); i >= 0; i = bms_next_member(columns, i)) {
        Var *column = query::column_of(1, leaf, nullptr, static_cast<AttrNumber>(i + FirstLowInvalidHeapAttributeNumber));
        ask_about(&facts, column_type(as_node(column)), column);
    }
    return facts;
}

// CASE WHEN dp_rdr.is_other_node($1) OR dp_rdr.is_other_column($2, column) ... THEN column IS NULL ELSE false END: false, and
// not before it is sent. The column makes it a condition on the table, which goes along.
static Node *condition_of_nobody(const Facts &facts, Oid leaf) {
    AttrNumber attno = 1;
    while (get_attname(leaf, attno, true) == nullptr) // dropped ones
        attno++;
    Node *differs = list_length(facts.questions) == 1 ? static_cast<Node *>(linitial(facts.questions))
                                                      : as_node(makeBoolExpr(OR_EXPR, facts.questions, -1));
    return value_where(differs, null_test(as_node(query::column_of(1, leaf, nullptr, attno)), IS_NULL),
                       makeBoolConst(false, false));
}

static ParamListInfo parameters_of(const Facts &facts) {
    ParamListInfo parameters = makeParamList(list_length(facts.texts));
    for (int i = 0; i < parameters->numParams; i++) {
        parameters->params[i].ptype = TEXTOID;
        parameters->params[i].pflags = PARAM_FLAG_CONST;
        parameters->params[i].isnull = false; // makeParamList() leaves it as it is
        parameters->params[i].value = CStringGetTextDatum(static_cast<const char *>(list_nth(facts.texts, i)));
    }
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
    const Facts facts = facts_of(part, leaf);
    part->jointree->quals = make_and_qual(part->jointree->quals, condition_of_nobody(facts, leaf));
    PlannedStmt *plan = plan_remotely(part);
    if (fetches_rows(plan))
        elog(ERROR, "a foreign table would be read to ask whether it is there");
    border::end_unhooked(border::run_unhooked(plan, None_Receiver, parameters_of(facts)));
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
        "Use columns of built-in types, comparisons, AND, OR, NOT, IS NULL, IN, CASE, and functions "
        "whose result depends on no setting such as the time zone.",
        psprintf(
            "No server is sent %s, so rows of foreign server %s of partition %s would travel. Nothing was charged.",
            fault, catalog::server_name(leaf), catalog::qualified_name(leaf)));
}

bool is_about_a_server(int sqlstate) {
    return ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_CONNECTION_EXCEPTION ||
           ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_OPERATOR_INTERVENTION ||
           sqlstate == ERRCODE_FDW_UNABLE_TO_ESTABLISH_CONNECTION;
}

// Names the partition to the asker. Hosts, users and the server's words go to the log, and to the owner.
[[noreturn]] static void refuse_leaf(const Question *question, Oid leaf, ErrorData *error) {
    RESUME_INTERRUPTS();
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
        psprintf("The controller finds out more by dp_find_epsilon() or SELECT count(*) FROM %s: the remote table, the "
                 "version of dp_rdr and the encoding there must fit.",
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
