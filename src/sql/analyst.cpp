// What an analyst meets: the facade's deny(), the release of a leaf, dp_query (doc/analyst.md).
#include "border/listed.hpp"
#include "border/columns.hpp"
#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "keeper/client.hpp"
#include "query/parse.hpp"
#include "query/hints.hpp"
#include "query/rewrite.hpp"
#include "query/grammar.hpp"
#include "query/asked_limits.hpp"
#include "release/last.hpp"
#include "release/resolved.hpp"
#include "release/identity.hpp"
#include "sql/analyst.hpp"
#include "sql/call_arguments.hpp"
#include "sql/told.hpp"

namespace dp::sql {

// Returns a hint for somebody who asked for rows. session_preload_libraries does not reach background workers, pg_cron's for
// instance: each of them meets its first restricted view without the library.
static const char *remedy_of_deny() {
    if (!query::loaded_by_this_statement())
        return psprintf("%s An SQL function that asks must be VOLATILE.", query::rows_remedy);
    return psprintf(
        "The library was loaded only now: if you asked for count, sum or avg, %s",
        MyBackendType == B_BG_WORKER
            ? "ask with dp_query(). Background workers have it from the start if it is in "
              "shared_preload_libraries; session_preload_libraries does not reach them."
            : "repeat the statement. With session_preload_libraries = 'dp_rdr' connections have it from the start.");
}

// The rows of a restricted view: there are none, for anybody (K1).
DP_FUNCTION(deny) {
    refuse_right(query::private_rows, remedy_of_deny());
    return Datum(0);
}

// ---- release -------------------------------------------------------------------------------------------------------

namespace {
enum ReleaseArgument {
    release_leaf,
    release_epsilon,
    release_weight,
    release_within,
    release_error95,
    release_deviations,
    release_replay,
    release_max_rows,
    release_max_groups,
    release_max_rows_per_group,
    release_first_parameter
};

struct Parameters {
    ParamListInfo list;
    Oid *types;
    int count;
};
} // namespace

// The statement's parameters, passed on as arguments; the leaf numbers them from $1.
static Parameters read_parameters(FunctionCallInfo fcinfo) {
    Parameters parameters = {};
    parameters.count = Max(PG_NARGS() - release_first_parameter, 0);
    parameters.types = static_cast<Oid *>(palloc0(sizeof(Oid) * (parameters.count + 1)));
    parameters.list = makeParamList(parameters.count);
    for (int i = 0; i < parameters.count; i++) {
        int argument = release_first_parameter + i;
        parameters.types[i] = get_fn_expr_argtype(fcinfo->flinfo, argument);
        if (!OidIsValid(parameters.types[i]))
            refuse_with(ERRCODE_INDETERMINATE_DATATYPE,
                        psprintf("could not determine the type of parameter $%d", i + 1));
        parameters.types[i] = query::parameter_type(parameters.types[i]);
        ParamExternData *value = &parameters.list->params[i];
        value->isnull = PG_ARGISNULL(argument);
        value->value = value->isnull ? Datum(0) : PG_GETARG_DATUM(argument);
        value->pflags = PARAM_FLAG_CONST;
        value->ptype = parameters.types[i];
    }
    return parameters;
}

Oid *types_of(TupleDesc desc) {
    auto *types = static_cast<Oid *>(palloc(sizeof(Oid) * (desc->natts + 1)));
    for (int i = 0; i < desc->natts; i++)
        types[i] = TupleDescAttr(desc, i)->atttypid;
    return types;
}

release::Ask ask_of(FunctionCallInfo fcinfo) {
    release::Ask ask = {};
    ask.asker = catalog::current_asker();
    ask.leaf = text_argument(fcinfo, release_leaf);
    ask.time_zone = GetConfigOption("TimeZone", false, false);
    epsilon_argument(fcinfo, release_epsilon, &ask);
    ask.weight = PG_ARGISNULL(release_weight) ? 1 : checked_weight(PG_GETARG_FLOAT8(release_weight), "weight");
    ask.wanted = wanted_arguments(fcinfo, release_within);
    require(fcinfo, release_replay, "replay");
    ask.anew = !PG_GETARG_BOOL(release_replay);
    ask.limits = query::or_as_set(asked_limits(fcinfo, release_max_rows));
    return ask;
}

static release::Ask ask_of(FunctionCallInfo fcinfo, const Parameters &parameters, TupleDesc expected) {
    release::Ask ask = ask_of(fcinfo);
    ask.noutputs = expected->natts;
    ask.output_types = types_of(expected);
    ask.parameter_types = parameters.types;
    ask.parameters = parameters.list;
    return ask;
}

// A temporary view is this session's alone.
void check_not_temporary(const query::Leaf *leaf) {
    for (int i = 0; i < leaf->nsources; i++) {
        Oid view = leaf->sources[i].relation;
        if (leaf->sources[i].people != nullptr) {
            check_not_temporary(leaf->sources[i].people);
            continue;
        }
        if (isAnyTempNamespace(get_rel_namespace(view)))
            refuse_state(psprintf("%s is not a registered restricted view", catalog::qualified_name(view)),
                         "Restricted views are made with dp_protect().");
    }
}

void check_one_view(const query::Leaf *leaf, const char *what) {
    if (leaf->nsources > 1)
        refuse_form(psprintf("%s over several restricted views is not supported", what),
                    "Ask directly, under a policy that permits it.");
    if (leaf->sources[0].people != nullptr)
        refuse_form(psprintf("%s over a sub-SELECT with one row for each person is not supported", what),
                    "Ask directly, under a policy that permits it.");
}

static void add_settings(const catalog::Reading &reading, const query::Leaf *leaf, List **all) {
    for (int i = 0; i < leaf->nsources; i++) {
        const query::Source &source = leaf->sources[i];
        if (source.people != nullptr)
            add_settings(reading, source.people, all);
        else if (catalog::Settings *other = source.is_public ? nullptr : catalog::read_settings(reading, source.relation))
            *all = lappend(*all, other);
    }
}

// A keeper reads what is committed. Who has changed settings himself is told so, rather than answered under the old ones.
static const char *open_settings(const query::Leaf *leaf, const catalog::Asker &asker) {
    if (!TransactionIdIsValid(GetTopTransactionIdIfAny()))
        return nullptr;
    catalog::Reading reading = catalog::Reading::open();
    catalog::Settings *settings = catalog::read_settings(reading, leaf->view);
    List *others = NIL;
    if (settings != nullptr)
        add_settings(reading, leaf, &others);
    if (settings != nullptr)
        catalog::join_settings(settings, others);
    if (settings != nullptr)
        (void)catalog::policy_of_all(reading, settings, asker);
    reading.close();
    return settings == nullptr ? "" : release::versions_of(*settings);
}

// Adds to an error what earlier answers of the statement have cost, so that it does not say that nothing was charged.
static ErrorData *beside_earlier_charges(ErrorData *error, int earlier) {
    static const char nothing[] = "Nothing was charged.";
    const char *detail = error->detail == nullptr ? "" : error->detail;
    const char *said = strstr(detail, nothing);
    StringInfo words = makeStringInfo();
    if (said != nullptr)
        appendStringInfo(words, "%.*sNothing was charged for this answer.%s", static_cast<int>(said - detail), detail,
                         said + strlen(nothing));
    else
        appendStringInfoString(words, detail);
    appendStringInfo(words,
                     earlier == 1 ? "%sThe charge of %d earlier answer of this statement stays."
                                  : "%sThe charges of %d earlier answers of this statement stay.",
                     words->len > 0 ? " " : "", earlier);
    error->detail = words->data;
    return error;
}

static release::Facts ask_and_remember(release::Ask *ask, query::Leaf **leaf, ReturnSetInfo *result, EState *estate) {
    *leaf = release::check_own_ask(ask);
    check_not_temporary(*leaf);
    ask->view = (*leaf)->view;
    ask->versions = open_settings(*leaf, ask->asker);
    StringInfoData sent;
    release::Facts facts = keeper::ask(*ask, result->setResult, result->setDesc, &sent);
    release::remember(*leaf, facts, &sent, estate);
    return facts;
}

void ask_keeper(release::Ask *ask, ReturnSetInfo *result, EState *estate, query::Use use) {
    MemoryContext memory = CurrentMemoryContext;
    int earlier = release::charged_before(estate);
    release::Facts facts = {};
    query::Leaf *leaf = nullptr;
    ask->hide = hides_noise(use);
    PG_TRY();
    { facts = ask_and_remember(ask, &leaf, result, estate); }
    PG_CATCH();
    {
        if (earlier == 0)
            PG_RE_THROW();
        MemoryContextSwitchTo(memory);
        ErrorData *error = CopyErrorData();
        FlushErrorState();
        ReThrowError(beside_earlier_charges(error, earlier));
    }
    PG_END_TRY();
    tell_short(facts.reached);
    tell(leaf, facts, use);
}

// The wall stands in the keeper, which trusts neither the text nor who sends it (architecture.md, 3.3). What is checked here
// is checked for the place of an error in the text, and for what the caller's own open transaction sees.
DP_CALL(release) {
    require(fcinfo, release_leaf, "leaf");
    catalog::check_can_ask();
    Parameters parameters = read_parameters(fcinfo);
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    release::Ask ask = ask_of(fcinfo, parameters, result->setDesc);
    ask_keeper(&ask, result, result->econtext == nullptr ? nullptr : result->econtext->ecxt_estate,
               query::use_of_groups(fcinfo->flinfo->fn_expr));
    return Datum(0);
}

// The number of rows; what an answer costs is fixed (COST in the script).
DP_FUNCTION(dp_release_support) {
    auto *node = reinterpret_cast<Node *>(PG_GETARG_POINTER(0));
    if (!IsA(node, SupportRequestRows))
        PG_RETURN_POINTER(nullptr);
    auto *request = reinterpret_cast<SupportRequestRows *>(node);
    request->rows = query::expected_rows(request->node);
    PG_RETURN_POINTER(request->rows > 0 ? node : nullptr);
}

// ---- dp_query ------------------------------------------------------------------------------------------------------

static query::Request request_of(FunctionCallInfo fcinfo) {
    query::Request request = {};
    require(fcinfo, {2, 6});
    epsilon_argument(fcinfo, 1, &request);
    request.weight = checked_weight(PG_GETARG_FLOAT8(2), "weight");
    request.wanted = wanted_arguments(fcinfo, 3);
    request.anew = !PG_GETARG_BOOL(6);
    request.limits = asked_limits(fcinfo, 7);
    return request;
}

// Nothing in the text reads a restricted view: say so, naming what it reads instead.
void refuse_unprotected(const Query *query) {
    for (auto *entry : border::each<RangeTblEntry>(query->rtable)) {
        if (OidIsValid(catalog::expanded_facade(entry)))
            refuse_right(query::private_rows, query::rows_remedy);
        if (entry->rtekind == RTE_RELATION && entry->inFromCl)
            refuse_state(psprintf("%s is not a restricted view", catalog::qualified_name(entry->relid)),
                         "Query a view that was made with dp_protect().");
    }
    refuse_state("the query does not read a restricted view", "Query a view that was made with dp_protect().");
}

// Executes a planned statement with the rights of the caller.
static void run_planned(PlannedStmt *plan, const char *text, DestReceiver *receiver) {
    PushActiveSnapshot(GetActiveSnapshot());
    QueryDesc *desc = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot, receiver, nullptr, nullptr, 0);
    ExecutorStart(desc, 0);
    border::run_plan(desc);
    ExecutorFinish(desc);
    ExecutorEnd(desc);
    FreeQueryDesc(desc);
    PopActiveSnapshot();
    receiver->rDestroy(receiver);
}

// Executes the rewritten statement, its rows into the function's result.
static void execute(PlannedStmt *plan, const char *text, ReturnSetInfo *result) {
    DestReceiver *receiver = CreateDestReceiver(DestTuplestore);
    SetTuplestoreDestReceiverParams(receiver, result->setResult, result->econtext->ecxt_per_query_memory, false,
                                    result->setDesc, "the declared columns do not match those of the query");
    run_planned(plan, text, receiver);
}

void run_as_asked(Query *query, const char *text, DestReceiver *receiver) {
    run_planned(pg_plan_query(query, text, 0, nullptr), text, receiver);
}

Query *rewrite_views(const char *text) {
    query::Parsed parsed = query::parse_select(text);
    AcquireRewriteLocks(parsed.query, true, false);
    List *rewritten = QueryRewrite(parsed.query);
    if (list_length(rewritten) != 1)
        refuse_form("the query is rewritten by a rule", "Pass exactly one SELECT.");
    return linitial_node(Query, rewritten);
}

// Column types are compared before anything is charged; the receiver would find out only afterwards.
static void check_columns(const Query *query, TupleDesc expected) {
    TupleDesc desc = ExecCleanTypeFromTL(query->targetList);
    bool same = desc->natts == expected->natts;
    for (int i = 0; same && i < desc->natts; i++)
        same = TupleDescAttr(desc, i)->atttypid == TupleDescAttr(expected, i)->atttypid;
    if (same)
        return;
    border::tell_columns_apart(desc);
    const char *columns = border::listed(0, desc->natts, [desc](int i) {
        return psprintf("%s %s", quote_identifier(NameStr(TupleDescAttr(desc, i)->attname)),
                        format_type_be(TupleDescAttr(desc, i)->atttypid));
    });
    refuse_with(ERRCODE_DATATYPE_MISMATCH, "the declared columns do not match those of the query",
                psprintf("Write AS (%s).", columns));
}

// The result type is declared there, and nowhere else.
void check_in_from(FunctionCallInfo fcinfo, const char *function) {
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    if (result == nullptr || !IsA(result, ReturnSetInfo) || (result->allowedModes & SFRM_Materialize) == 0 ||
        result->expectedDesc == nullptr)
        refuse_form(psprintf("%s must be called in FROM", function),
                    psprintf("Write SELECT * FROM %s(...) AS (n bigint), with the columns of your query.", function));
}

DP_CALL(dp_query) {
    require(fcinfo, 0, "query");
    check_in_from(fcinfo, "dp_query");
    query::Request request = request_of(fcinfo);
    catalog::check_can_ask();
    const char *text = text_argument(fcinfo, 0);
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    query::TextScope scope;
    scope.enter(text);
    Query *query = rewrite_views(text);
    check_columns(query, result->setDesc);
    auto *unchanged = copyObject(query);
    if (query::rewrite_statement(query, text, &request) == 0)
        refuse_unprotected(unchanged);
    scope.leave();
    execute(query::compile_nothing(pg_plan_query(query, text, 0, nullptr)), text, result);
    return Datum(0);
}

} // namespace dp::sql
