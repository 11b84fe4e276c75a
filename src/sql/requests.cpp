// Requests: asking that a question be permitted, deciding on it, fetching its answer (doc/analyst.md, doc/controller.md).
#include "border/columns.hpp"
#include "border/permissions.hpp"
#include "border/scope.hpp"
#include "border/versions.hpp"
#include "border/walk.hpp"
#include "catalog/access.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_code.hpp"
#include "catalog/ledger.hpp"
#include "catalog/requests.hpp"
#include "catalog/ways.hpp"
#include "keeper/client.hpp"
#include "query/constants.hpp"
#include "query/limits.hpp"
#include "query/names.hpp"
#include "query/rest.hpp"
#include "query/rewrite.hpp"
#include "query/shape.hpp"
#include "query/units.hpp"
#include "release/approve.hpp"
#include "release/course.hpp"
#include "release/explain.hpp"
#include "release/fetched.hpp"
#include "rows/asked_units.hpp"
#include "rows/canonical.hpp"
#include "sql/analyst.hpp"
#include "sql/arguments.hpp"
#include "sql/controller.hpp"
#include "sql/refusal.hpp"
#include "sql/requests.hpp"
#include "sql/role_type.hpp"
#include "sql/row_json.hpp"
#include "sql/statement.hpp"
extern "C" {
#include <storage/lock.h>
}

using dp::catalog::Visit;

namespace dp::sql {

// ---- asking: the leaf ----------------------------------------------------------------------------------------------

[[noreturn]] static void refuse_no_leaf() {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("a request is one aggregation over one restricted view, and nothing else"),
                    errhint("Fetch the answer, then sort, filter and join it. Grouping sets are a request each. Of "
                            "several fractions ask one by one, of intervals for seconds.")));
    pg_unreachable();
}

static bool computes(const Query *query) {
    ListCell *cell;
    foreach (cell, query->cteList)
        if (lfirst_node(CommonTableExpr, cell)->cterefcount > 0)
            return true;
    return query->commandType != CMD_SELECT || query->sortClause != NIL || query->limitCount != nullptr ||
           query->limitOffset != nullptr || query->distinctClause != NIL || query->groupClause != NIL ||
           query->groupingSets != NIL || query->havingQual != nullptr || query->hasAggs || query->hasWindowFuncs ||
           query->hasTargetSRFs || query->hasSubLinks || query->setOperations != nullptr || query->rowMarks != NIL;
}

// The call of release() that is all that the statement does; its columns are handed through.
static const RangeTblFunction *only_release(const Query *query) {
    if (computes(query) || list_length(query->jointree->fromlist) != 1 || query->jointree->quals != nullptr ||
        !IsA(linitial(query->jointree->fromlist), RangeTblRef))
        refuse_no_leaf();
    int index = linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
    RangeTblEntry *entry = rt_fetch(index, query->rtable);
    if (entry->rtekind != RTE_FUNCTION || list_length(entry->functions) != 1)
        refuse_no_leaf();
    auto *function = linitial_node(RangeTblFunction, entry->functions);
    if (!IsA(function->funcexpr, FuncExpr) || !query::is_release(castNode(FuncExpr, function->funcexpr)->funcid))
        refuse_no_leaf();
    ListCell *cell;
    foreach (cell, query->targetList) {
        auto *var = reinterpret_cast<const Var *>(lfirst_node(TargetEntry, cell)->expr);
        if (!IsA(var, Var) || var->varno != index || var->varlevelsup != 0)
            refuse_no_leaf();
    }
    return function;
}

namespace {
// What is asked, as it is stored.
struct Asked {
    const RangeTblFunction *function;
    const Query *query;
    release::Ask ask;
    StringInfoData parameters; // a JSON object
    int ncolumns;
    int *columns; // of the leaf, from 0
    Datum *names, *types;
};
} // namespace

// Constants and what the statement computes for the leaf: as the caller, in his session, as if he asked now.
static void evaluate_arguments(const List *arguments, release::Ask *ask) {
    EState *estate = CreateExecutorState();
    int n = list_length(arguments);
    ask->parameters = makeParamList(n);
    ask->parameter_types = static_cast<Oid *>(palloc0(sizeof(Oid) * (n + 1)));
    ListCell *cell;
    foreach (cell, arguments) {
        int i = foreach_current_index(cell);
        auto *expression = static_cast<Expr *>(lfirst(cell));
        Oid type = exprType(reinterpret_cast<Node *>(expression));
        ParamExternData &parameter = ask->parameters->params[i];
        ExprState *state = ExecPrepareExpr(expression, estate);
        Datum value = ExecEvalExprSwitchContext(state, GetPerTupleExprContext(estate), &parameter.isnull);
        int16 length;
        bool by_value;
        get_typlenbyval(type, &length, &by_value);
        if (!parameter.isnull)
            parameter.value =
                length == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) : datumCopy(value, by_value, length);
        parameter.pflags = PARAM_FLAG_CONST;
        parameter.ptype = ask->parameter_types[i] = query::parameter_type(type);
    }
    FreeExecutorState(estate);
}

static void write_value(StringInfo json, const ParamExternData &parameter) {
    appendStringInfoString(json, "{\"type\": ");
    escape_json(json, release::type_text(parameter.ptype));
    appendStringInfoString(json, ", \"value\": ");
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(parameter.ptype, &output, &is_varlena);
    if (parameter.isnull)
        appendStringInfoString(json, "null");
    else
        escape_json(json, OidOutputFunctionCall(output, parameter.value));
    appendStringInfoChar(json, '}');
}

// Under pinned settings: as texts that mean the same in another process.
static void write_parameters(Asked *question) {
    border::SettingsScope settings = border::SettingsScope::enter();
    StringInfo json = &question->parameters;
    initStringInfo(json);
    appendStringInfoString(json, "{\"time_zone\": ");
    escape_json(json, question->ask.time_zone);
    appendStringInfoString(json, ", \"columns\": [");
    for (int i = 0; i < question->ncolumns; i++)
        appendStringInfo(json, "%s%d", i > 0 ? ", " : "", question->columns[i] + 1);
    appendStringInfoString(json, "], \"values\": [");
    for (int i = 0; i < question->ask.parameters->numParams; i++) {
        if (i > 0)
            appendStringInfoString(json, ", ");
        write_value(json, question->ask.parameters->params[i]);
    }
    appendStringInfoChar(json, ']');
    const query::Limits &limits = question->ask.limits;
    if (limits.max_rows != 0)
        appendStringInfo(json, ", \"max_rows\": %d", limits.max_rows);
    if (limits.max_groups != 0)
        appendStringInfo(json, ", \"max_groups\": %d", limits.max_groups);
    if (limits.max_rows_per_group != 0)
        appendStringInfo(json, ", \"max_rows_per_group\": %d", limits.max_rows_per_group);
    appendStringInfoChar(json, '}');
    for (int i = 0; i < question->ncolumns; i++)
        question->types[i] = CStringGetTextDatum(
            release::type_text(list_nth_oid(question->function->funccoltypes, question->columns[i])));
    settings.leave();
}

static void read_columns(Asked *question) {
    question->ncolumns = list_length(question->query->targetList);
    question->columns = static_cast<int *>(palloc(sizeof(int) * (question->ncolumns + 1)));
    question->names = static_cast<Datum *>(palloc(sizeof(Datum) * (question->ncolumns + 1)));
    question->types = static_cast<Datum *>(palloc(sizeof(Datum) * (question->ncolumns + 1)));
    TupleDesc desc = ExecTypeFromTL(question->query->targetList);
    border::tell_columns_apart(desc);
    ListCell *cell;
    foreach (cell, question->query->targetList) {
        int i = foreach_current_index(cell);
        question->columns[i] = reinterpret_cast<const Var *>(lfirst_node(TargetEntry, cell)->expr)->varattno - 1;
        question->names[i] = CStringGetTextDatum(NameStr(TupleDescAttr(desc, i)->attname));
    }
}

// What is kept for nothing until somebody decides.
static void check_size(const Asked &question) {
    if (question.parameters.len > query::max_text)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("what is computed for a request takes %d bytes, more than %d", question.parameters.len,
                               query::max_text),
                        errhint("Write shorter constants, or ask in several requests.")));
}

static Asked read_question(const char *said, const query::Limits &limits) {
    query::TextScope scope;
    scope.enter(said);
    query::check_text(said);
    Query *query = rewrite_views(said);
    auto *unchanged = copyObject(query);
    if (query::rewrite_statement(query, said, nullptr) == 0)
        refuse_unprotected(unchanged);
    Asked question = {};
    question.query = query;
    question.function = only_release(query);
    border::check_permissions(query); // on the views that it came through
    scope.leave();
    read_columns(&question);
    auto *call = castNode(FuncExpr, question.function->funcexpr);
    question.ask.asker = catalog::current_asker();
    auto *leaf = linitial_node(Const, call->args);
    question.ask.leaf = TextDatumGetCString(leaf->constvalue);
    question.ask.time_zone = GetConfigOption("TimeZone", false, false);
    question.ask.weight = 1;
    question.ask.wanted.deviations = 1;
    question.ask.limits = limits;
    question.ask.anew = question.ask.by_request = true;
    evaluate_arguments(list_copy_tail(call->args, query::release_arguments), &question.ask);
    return question;
}

// ---- asking: the request -------------------------------------------------------------------------------------------

namespace {
struct Priced {
    catalog::Settings *settings;
    bool from_data;
    release::Price price;
};

} // namespace

constexpr int longest_purpose = 2000; // characters
constexpr int most_pending = 100;     // of a requester about a table
constexpr int most_undecided = 1000;  // withdrawn or expired, of a requester about a table: the latest are kept

// The answer is kept as texts, which have to be read again as what they were.
static void check_keys(const query::Leaf *leaf) {
    for (int i = 0; i < leaf->nkeys; i++)
        if (!rows::is_text_portable(leaf->keys[i].type))
            ereport(ERROR,
                    (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                     errmsg("a group key of type %s is not supported in a request", format_type_be(leaf->keys[i].type)),
                     errdetail("What its text means depends on settings or catalogs."),
                     errhint("Group by another column, or ask directly.")));
}

static bool has_column_of(Oid view, Oid type) {
    Relation relation = table_open(view, AccessShareLock);
    TupleDesc columns = RelationGetDescr(relation);
    bool found = false;
    for (int i = 0; i < columns->natts; i++)
        found = found || getBaseType(TupleDescAttr(columns, i)->atttypid) == type;
    table_close(relation, NoLock);
    return found;
}

// A name may be given to something else before the request is decided. The labels of columns are their owner's.
static bool check_name(Node *node, void *view) {
    if (node == nullptr)
        return false;
    if (IsA(node, Query))
        return border::walk_query(castNode(Query, node), check_name, view, QTW_IGNORE_JOINALIASES);
    if (!IsA(node, Const) && !IsA(node, Param))
        return border::walk_expression(node, check_name, view);
    const Oid element = get_base_element_type(exprType(node)),
              type = getBaseType(OidIsValid(element) ? element : exprType(node));
    if (query::is_name(type) && !(type_is_enum(type) && has_column_of(*static_cast<Oid *>(view), type)))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("a value of type %s is not supported in a request", format_type_be(type)),
                        errdetail("Its name may mean something else when the request is decided."),
                        errhint("Compare texts or numbers, or ask directly.")));
    return false;
}

// All that would be refused later is refused now, under the policy as it is; the price is that of now.
static Priced look_at(Asked *question) {
    Priced priced = {};
    ErrorData *refusal = refusal_by([&] {
        query::Leaf *leaf = release::check_own_ask(&question->ask);
        check_not_temporary(leaf);
        check_one_view(leaf, "a request");
        check_keys(leaf);
        (void)check_name(reinterpret_cast<Node *>(const_cast<Query *>(leaf->query)), &leaf->view);
        release::Resolved resolved = release::resolve(question->ask, leaf, true);
        rows::check_asks_something(resolved.question);
        release::check_mechanism(resolved.question, resolved.terms);
        priced.settings = resolved.question->settings;
        priced.from_data = !release::is_public(resolved.terms.algorithm);
        priced.price = release::price_in_advance(resolved.question, resolved.terms);
    });
    if (refusal != nullptr)
        ReThrowError(refusal);
    if (question->ask.limits.by_setting && priced.settings->unit == nullptr)
        question->ask.limits = query::Limits{};
    write_parameters(question);
    check_size(*question);
    return priced;
}

void check_length(const char *text, const char *name) {
    int length = pg_mbstrlen(text);
    if (length > longest_purpose)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("%s of %d characters is longer than %d", name, length, longest_purpose)));
}

static const char *decider_of(FunctionCallInfo fcinfo, int argument, const Priced &priced) {
    catalog::Reading reading = catalog::Reading::open();
    bool reviewed = catalog::has_reviewers(reading, priced.settings->relation);
    reading.close();
    const char *decider = text_argument(fcinfo, argument);
    if (decider == nullptr)
        decider = reviewed && !priced.from_data ? "review" : "owner";
    if (strcmp(decider, "owner") != 0 && strcmp(decider, "review") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown decider \"%s\"", decider),
                        errhint("Use 'review' or 'owner'.")));
    if (strcmp(decider, "owner") == 0)
        return decider;
    if (!reviewed)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s has no reviewers", priced.settings->view_name),
                 errhint("Leave decider out, or pass 'owner'.")));
    if (priced.from_data)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("decider \"review\" does not go with a policy within_data"),
                        errdetail("What its answers cost depends on the rows, which reviewers must not learn of."),
                        errhint("Pass decider => 'owner'.")));
    return decider;
}

// In UTC: a day has 24 hours whatever time zone the requester is in.
TimestampTz expiry(Datum expires, TimestampTz now) {
    const Interval *span = DatumGetIntervalP(expires);
    constexpr int most_days = 365250;
    bool too_long =
        int64{span->month} * DAYS_PER_MONTH + span->day > most_days || span->time / USECS_PER_DAY > most_days;
    TimestampTz end = now;
    if (!too_long && span->month >= 0 && span->day >= 0 && span->time >= 0)
        end = DatumGetTimestampTz(DirectFunctionCall2(timestamp_pl_interval, TimestampTzGetDatum(now), expires));
    if (end <= now)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("expires must be above 0 and at most a thousand years, not %s",
                               DatumGetCString(DirectFunctionCall1(interval_out, expires))),
                        errhint("Pass expires => '30 days', for instance.")));
    return end;
}

// Until the end of the transaction: two of one requester's count after each other. Advisory locks of anybody have another class.
void lock_requester(const catalog::Settings &settings, Oid requester) {
    constexpr uint16 own_class = 3;
    LOCKTAG tag;
    SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, settings.relation, requester, own_class);
    (void)LockAcquire(&tag, ExclusiveLock, false, false);
}

// Of what is committed now, whatever an older snapshot of the transaction shows, and of what it has made itself.
void check_pending_requests(const catalog::Settings &settings, Oid requester) {
    CommandCounterIncrement();
    Visit visit = Visit::read();
    Oid types[2] = {TEXTOID, OIDOID};
    Datum values[2] = {CStringGetTextDatum(settings.id_text), ObjectIdGetDatum(requester)};
    visit.run("SELECT count(*) FROM dp_rdr.request r WHERE r.table_id = $1::uuid AND r.requester::oid = $2 "
              "AND r.state = 'pending' AND r.expires_at > clock_timestamp()",
              2, types, values);
    bool isnull;
    int64 pending = DatumGetInt64(border::Spi::value(0, 1, &isnull));
    visit.leave();
    if (pending >= most_pending)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("role \"%s\" has %d pending requests about %s", GetUserNameFromId(requester, false),
                               most_pending, settings.view_name),
                        errhint("Wait for decisions, or withdraw some with dp_reject().")));
}

// Whoever asks and withdraws, again and again, pays nothing for it. What somebody has decided on stays.
void forget_old_requests(const Visit &visit, const catalog::Settings &settings, Oid requester) {
    Oid types[3] = {TEXTOID, OIDOID, INT4OID};
    Datum values[3] = {CStringGetTextDatum(settings.id_text), ObjectIdGetDatum(requester),
                       Int32GetDatum(most_undecided)};
    visit.run("DELETE FROM dp_rdr.request WHERE id IN (SELECT r.id FROM dp_rdr.request r WHERE r.table_id = $1::uuid "
              "AND r.requester::oid = $2 AND (r.state = 'withdrawn' OR r.state = 'pending' AND r.expires_at <= "
              "clock_timestamp()) ORDER BY r.id DESC OFFSET $3 FOR UPDATE SKIP LOCKED)",
              3, types, values);
}

static ArrayType *texts_of(Datum *texts, int n) {
    return construct_array(texts, n, TEXTOID, -1, false, TYPALIGN_INT);
}

static int64 store_request(const Visit &visit, const Asked &question, const Priced &priced, const char *purpose,
                           const char *decider, TimestampTz now, TimestampTz expires) {
    constexpr int n = 15;
    Oid types[n] = {TEXTOID, OIDOID,  OIDOID,     TEXTOID,    TIMESTAMPTZOID, TIMESTAMPTZOID, OIDOID,        TEXTOID,
                    TEXTOID, TEXTOID, NUMERICOID, NUMERICOID, TEXTARRAYOID,   TEXTARRAYOID,   FLOAT8ARRAYOID};
    const release::Price &price = priced.price;
    Datum values[n] = {CStringGetTextDatum(priced.settings->id_text),
                       ObjectIdGetDatum(question.ask.asker.role),
                       ObjectIdGetDatum(question.ask.asker.session_role),
                       CStringGetTextDatum(decider),
                       TimestampTzGetDatum(now),
                       TimestampTzGetDatum(expires),
                       ObjectIdGetDatum(priced.settings->view),
                       CStringGetTextDatum(question.ask.leaf),
                       CStringGetTextDatum(question.parameters.data),
                       CStringGetTextDatum(purpose),
                       question.ask.has_epsilon ? catalog::to_numeric(question.ask.epsilon) : Datum(0),
                       price.known ? catalog::to_numeric(price.epsilon) : Datum(0),
                       PointerGetDatum(texts_of(question.names, question.ncolumns)),
                       PointerGetDatum(texts_of(question.types, question.ncolumns)),
                       price.error95 == nullptr
                           ? Datum(0)
                           : PointerGetDatum(release::error_array(price.error95, question.columns, question.ncolumns))};
    char nulls[n + 1] = "               ";
    nulls[10] = question.ask.has_epsilon ? ' ' : 'n';
    nulls[11] = price.known ? ' ' : 'n';
    nulls[14] = price.error95 == nullptr ? 'n' : ' ';
    visit.run("INSERT INTO dp_rdr.request (table_id, requester, session_role, decider, at, expires_at, view, query, "
              "parameters, "
              "purpose, epsilon_wanted, terms, names, types, error95) VALUES ($1::uuid, $2::regrole, $3::regrole, $4, "
              "$5, $6, "
              "$7::regclass, $8, $9::jsonb, $10, $11, jsonb_build_object('epsilon', $12), $13, $14, $15) RETURNING id",
              n, types, values, nulls);
    bool isnull;
    return DatumGetInt64(border::Spi::value(0, 1, &isnull));
}

DP_CALL(dp_request) {
    require(fcinfo, 0, "query");
    require(fcinfo, 1, "purpose");
    require(fcinfo, 4, "expires");
    catalog::check_can_ask();
    const char *purpose = text_argument(fcinfo, 1);
    check_length(purpose, "a purpose");
    TimestampTz now = GetCurrentTimestamp(), expires = expiry(PG_GETARG_DATUM(4), now);
    Asked question = read_question(text_argument(fcinfo, 0), query::or_as_set(asked_limits(fcinfo, 5)));
    question.ask.has_epsilon = !PG_ARGISNULL(2);
    if (question.ask.has_epsilon)
        question.ask.epsilon = catalog::checked_epsilon(PG_GETARG_DATUM(2), "epsilon");
    Priced priced = look_at(&question);
    const char *decider = decider_of(fcinfo, 3, priced);
    lock_requester(*priced.settings, question.ask.asker.role);
    check_pending_requests(*priced.settings, question.ask.asker.role);
    Visit visit = Visit::write();
    forget_old_requests(visit, *priced.settings, question.ask.asker.role);
    int64 request = store_request(visit, question, priced, purpose, decider, now, expires);
    visit.leave();
    tell_listeners(*priced.settings, request);
    PG_RETURN_INT64(request);
}

// ---- looking -------------------------------------------------------------------------------------------------------

// What was decided in sight of the rows tells its price to their owner alone.
static const char *const requests_sql = R"sql(
SELECT r.id, r.at, r.requester::text, r.view::text, r.kind, coalesce(r.task ->> 'call', r.query), r.purpose, s.state,
       CASE WHEN r.basis IS DISTINCT FROM 'rows' OR a.owner THEN (r.terms ->> 'epsilon')::numeric END,
       CASE WHEN r.basis IS DISTINCT FROM 'rows' OR a.owner THEN r.error95 END,
       r.approver, r.expires_at, r.basis, r.reason, r.parameters
FROM dp_rdr.request r
LEFT JOIN LATERAL ( -- the table behind the view; of a view that is gone any of its domain, which have one owner
  SELECT t.relation, c.oid, c.relowner FROM dp_rdr.protected_table t
  JOIN pg_class c ON c.oid = t.relation LEFT JOIN dp_rdr.restricted_view v ON v.view = r.view AND v.relation = t.relation
  WHERE t.domain = coalesce((SELECT d.joined_into FROM dp_rdr.privacy_domain d WHERE d.id = r.table_id), r.table_id) ORDER BY v.view IS NULL, t.relation::oid LIMIT 1) t ON true,
LATERAL (SELECT CASE WHEN r.state = 'pending' AND r.expires_at <= clock_timestamp() THEN 'expired' ELSE r.state END) s (state),
LATERAL (SELECT t.oid IS NOT NULL AND pg_has_role($1, t.relowner, 'USAGE')) a (owner)
WHERE (r.requester::oid = $1 OR a.owner OR r.decider = 'review' AND EXISTS (
         SELECT FROM dp_rdr.reviewer v JOIN pg_roles p ON p.oid = v.reviewer
         WHERE v.relation = t.relation AND pg_has_role($1, p.oid, 'USAGE')))
  AND ($2 IS NULL OR s.state = $2)
ORDER BY r.id)sql";

constexpr int requests_query = 5; // column of the query, from 0

static void check_state_name(const char *state) {
    static const char *const states[] = {"pending",  "charged",   "answered", "held",
                                         "rejected", "withdrawn", "denied",   "expired"};
    if (state == nullptr)
        return;
    for (const char *known : states)
        if (strcmp(state, known) == 0)
            return;
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown state \"%s\"", state),
             errhint("Use 'pending', 'charged', 'answered', 'held', 'rejected', 'withdrawn', 'denied' or 'expired'; "
                     "NULL for all.")));
}

DP_CALL(dp_requests) {
    const char *state = text_argument(fcinfo, 0);
    check_state_name(state);
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    Oid types[2] = {OIDOID, TEXTOID};
    Datum values[2] = {ObjectIdGetDatum(GetUserId()), state == nullptr ? Datum(0) : CStringGetTextDatum(state)};
    const char nulls[3] = {' ', state == nullptr ? 'n' : ' ', '\0'};
    static border::Statement statement(requests_sql);
    Visit visit = Visit::read();
    uint64 rows = visit.run(statement, 2, types, values, nulls);
    int n = result->setDesc->natts;
    auto *cells = static_cast<Datum *>(palloc(sizeof(Datum) * n));
    auto *missing = static_cast<bool *>(palloc(sizeof(bool) * n));
    for (uint64 i = 0; i < rows; i++) {
        for (int c = 0; c < n; c++)
            cells[c] = border::Spi::value(i, c + 1, &missing[c]);
        bool isnull;
        Datum parameters = border::Spi::value(i, n + 1, &isnull);
        cells[requests_query] =
            CStringGetTextDatum(release::text_with_values(TextDatumGetCString(cells[requests_query]), parameters));
        tuplestore_putvalues(result->setResult, result->setDesc, cells, missing);
    }
    visit.leave();
    return Datum(0);
}

// ---- fetching ------------------------------------------------------------------------------------------------------

// With its answer: the requester's once it is released, its table's owner's once it is drawn.
const catalog::Requested *answered_request(int64 id) {
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Requested *request = catalog::find_request(reading, id, true);
    if (request == nullptr)
        catalog::refuse_unknown(id);
    bool owner = false;
    if (request->asker.role != GetUserId()) {
        owner = catalog::access_to(reading, *request, GetUserId()).owner;
        if (!owner)
            catalog::refuse_unknown(id);
    } else if (strcmp(request->state, "held") == 0)
        owner = catalog::access_to(reading, *request, GetUserId()).owner;
    reading.close();
    bool there = strcmp(request->state, "answered") == 0 || (owner && strcmp(request->state, "held") == 0);
    if (!there || request->rows == nullptr)
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("there is nothing to fetch: request " INT64_FORMAT " is %s", id, catalog::shown_state(*request)),
             strcmp(request->state, "charged") == 0
                 ? errhint(
                       "It is being answered; if that takes longer than its query it has failed, and its charge stays.")
                 : errhint("dp_requests(NULL) shows the state of your requests.")));
    return request;
}

static Datum *elements_of(ArrayType *array, int *n, bool **nulls) {
    Datum *elements;
    deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, nulls, n);
    return elements;
}

void check_fetched_columns(const catalog::Requested &request, TupleDesc expected, const char *first) {
    border::SettingsScope settings = border::SettingsScope::enter();
    int before = first == nullptr ? 0 : 1;
    int n, nnames;
    bool *nulls;
    Datum *types = elements_of(request.types, &n, &nulls), *names = elements_of(request.names, &nnames, &nulls);
    bool same = n + before == expected->natts && (before == 0 || TupleDescAttr(expected, 0)->atttypid == INT4OID);
    for (int i = 0; same && i < n; i++)
        same = release::type_kept(types[i]) == TupleDescAttr(expected, before + i)->atttypid;
    settings.leave();
    if (same)
        return;
    StringInfoData columns;
    initStringInfo(&columns);
    if (before > 0)
        appendStringInfo(&columns, "%s integer", first);
    for (int i = 0; i < n; i++)
        appendStringInfo(&columns, "%s%s %s", i + before > 0 ? ", " : "",
                         quote_identifier(TextDatumGetCString(names[i])), format_type_be(release::type_kept(types[i])));
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the declared columns are not those of the answer"),
                    errhint("Write AS (%s).", columns.data)));
}

DP_CALL(dp_fetch) {
    check_in_from(fcinfo, "dp_fetch");
    const catalog::Requested *request = answered_request(PG_GETARG_INT64(0));
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    check_fetched_columns(*request, result->setDesc, nullptr);
    release::each_fetched_row(*request, result->setDesc, [&](Datum *values, bool *nulls) {
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    });
    return Datum(0);
}

DP_CALL(dp_answer) {
    const catalog::Requested *request = answered_request(PG_GETARG_INT64(0));
    TupleDesc desc = release::fetched_columns(*request);
    JsonColumns columns = json_columns(desc);
    StringInfoData json;
    initStringInfo(&json);
    release::each_fetched_row(*request, desc, [&](Datum *values, bool *nulls) {
        appendStringInfoString(&json, json.len == 0 ? "[" : ", ");
        appendStringInfoString(&json, row_json(columns, values, nulls));
    });
    appendStringInfoString(&json, json.len == 0 ? "[]" : "]");
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

// ---- deciding ------------------------------------------------------------------------------------------------------

namespace {
enum ApproveArgument {
    approve_request,
    approve_tau,
    approve_tau_var,
    approve_epsilon,
    approve_selection,
    approve_basis,
    approve_hold
};
} // namespace

static void read_selection(FunctionCallInfo fcinfo, release::Approval *approval) {
    const char *selection = text_argument(fcinfo, approve_selection);
    if (selection == nullptr)
        return;
    bool tau = strcmp(selection, "within_domain") == 0 || strcmp(selection, "within_data") == 0;
    if (!tau && strcmp(selection, "released") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown selection \"%s\"", selection),
                        errhint("Use 'within_domain' or 'within_data' with tau, 'released' with tau_var.")));
    if (tau ? !approval->has_tau : !approval->has_tau_var)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("selection \"%s\" needs %s", selection, tau ? "tau" : "tau_var"),
                        errhint("Pass it as well, or leave the selection out.")));
    approval->within_data = strcmp(selection, "within_data") == 0;
}

static void read_basis(FunctionCallInfo fcinfo, release::Approval *approval) {
    const char *basis = text_argument(fcinfo, approve_basis);
    if (basis == nullptr)
        return;
    approval->is_public = strcmp(basis, "public") == 0;
    approval->in_sight = strcmp(basis, "rows") == 0;
    if (!approval->is_public && !approval->in_sight)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown basis \"%s\"", basis),
                        errhint("Use 'public' if nobody who decides has looked at rows for it, else 'rows'.")));
}

static release::Approval approval_of(FunctionCallInfo fcinfo) {
    release::Approval approval = {};
    approval.request = PG_GETARG_INT64(approve_request);
    approval.has_tau = !PG_ARGISNULL(approve_tau);
    approval.has_tau_var = !PG_ARGISNULL(approve_tau_var);
    approval.has_epsilon = !PG_ARGISNULL(approve_epsilon);
    if (approval.has_tau + approval.has_tau_var + approval.has_epsilon > 1)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("at most one of tau, tau_var and epsilon can be given"),
                        errhint("Without any the terms are those of the requester's policy.")));
    if (approval.has_tau)
        approval.tau = checked_tau(PG_GETARG_FLOAT8(approve_tau));
    if (approval.has_tau_var)
        approval.tau_var = checked_tau_var(PG_GETARG_FLOAT8(approve_tau_var));
    if (approval.has_epsilon)
        approval.epsilon = catalog::checked_epsilon(PG_GETARG_DATUM(approve_epsilon), "epsilon");
    read_selection(fcinfo, &approval);
    read_basis(fcinfo, &approval);
    approval.hold = PG_GETARG_BOOL(approve_hold);
    return approval;
}

// For what the caller's own open transaction has made or changed, which a keeper does not see. Whether he may decide is looked at there.
static void check_committed(int64 id) {
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Requested *request = catalog::find_request(reading, id, false);
    if (request == nullptr)
        catalog::refuse_unknown(id);
    catalog::Access access = catalog::access_to(reading, *request, GetUserId());
    if (!access.requester && !access.owner && !access.reviewer)
        catalog::refuse_unknown(id);
    reading.close();
    if (request->open)
        catalog::check_pending(*request);
}

DP_CALL(dp_approve) {
    require(fcinfo, approve_request, "request");
    require(fcinfo, approve_hold, "hold");
    catalog::check_can_ask();
    release::Approval approval = approval_of(fcinfo);
    check_committed(approval.request);
    release::Settled settled = keeper::approve(approval, catalog::current_asker());
    TupleDesc desc;
    if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "dp_approve returns a record");
    Datum values[3] = {CStringGetTextDatum(settled.state), catalog::to_numeric(settled.epsilon),
                       CStringGetTextDatum(settled.sighted ? "conditional" : "public")};
    bool nulls[3] = {};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

// Who may not see it hears the same as of one that is not there.
static const catalog::Requested *decided_request(int64 id, catalog::Access *access) {
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Requested *request = catalog::find_request(reading, id, false);
    if (request == nullptr)
        catalog::refuse_unknown(id);
    *access = catalog::access_to(reading, *request, GetUserId());
    reading.close();
    if (!access->requester && !access->owner && !access->reviewer)
        catalog::refuse_unknown(id);
    return request;
}

[[noreturn]] static void refuse_state(const catalog::Requested &request, const char *hint) {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("request " INT64_FORMAT " is %s", request.id, catalog::shown_state(request)), errhint("%s", hint)));
    pg_unreachable();
}

// In the caller's transaction. A keeper that charges it meanwhile comes first, or finds it locked and leaves it.
static void move_request(const catalog::Requested &request, const char *from, const char *to, const char *basis,
                         const char *reason) {
    Oid types[6] = {INT8OID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID};
    Datum values[6] = {Int64GetDatum(request.id),
                       CStringGetTextDatum(from),
                       CStringGetTextDatum(to),
                       basis == nullptr ? Datum(0) : CStringGetTextDatum(basis),
                       CStringGetTextDatum(GetUserNameFromId(GetUserId(), false)),
                       reason == nullptr ? Datum(0) : CStringGetTextDatum(reason)};
    const char nulls[7] = {' ', ' ', ' ', basis == nullptr ? 'n' : ' ', ' ', reason == nullptr ? 'n' : ' ', '\0'};
    Visit visit = Visit::write();
    uint64 rows = visit.run("UPDATE dp_rdr.request SET state = $3, basis = coalesce($4, basis), approver = $5, "
                            "reason = coalesce($6, reason), decided_at = clock_timestamp() "
                            "WHERE id = $1 AND state = $2 AND (state <> 'pending' OR expires_at > clock_timestamp())",
                            6, types, values, nulls);
    visit.leave();
    if (rows == 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("request " INT64_FORMAT " is not %s any more", request.id, from),
                        errhint("dp_requests(NULL) shows its state.")));
}

DP_CALL(dp_release) {
    require(fcinfo, 0, "request");
    catalog::Access access;
    const catalog::Requested *request = decided_request(PG_GETARG_INT64(0), &access);
    if (!access.owner)
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("must be owner of the table that request " INT64_FORMAT " is about", request->id),
                        errhint("Whoever holds an answer back hands it out.")));
    catalog::check_not_own(*request, catalog::current_asker());
    if (strcmp(request->state, "held") != 0)
        refuse_state(*request, "Only an answer that is held back can be released.");
    move_request(*request, "held", "answered", nullptr, nullptr);
    PG_RETURN_VOID();
}

static void withdraw(const catalog::Requested &request, const char *reason) {
    if (strcmp(catalog::shown_state(request), "pending") != 0)
        refuse_state(request, "Only what is pending can be withdrawn.");
    move_request(request, "pending", "withdrawn", nullptr, reason);
}

static void reject_held(const catalog::Requested &request, const catalog::Access &access, const char *reason) {
    if (!access.owner)
        refuse_state(request, "Only the owner of the table decides on it now.");
    move_request(request, "held", "rejected", nullptr, reason);
}

// Behind a look of somebody else's that is not committed yet: it is waited for. Signals that wait are marked with their answer.
static bool was_seen_meanwhile(const catalog::Requested &request) {
    Oid types[1] = {INT8OID};
    Datum values[1] = {Int64GetDatum(request.id)};
    Visit visit = Visit::write();
    bool isnull, seen = visit.run("SELECT r.looked_at IS NOT NULL FROM dp_rdr.request r WHERE r.id = $1 FOR UPDATE", 1,
                                  types, values) > 0 &&
                        DatumGetBool(border::Spi::value(0, 1, &isnull));
    visit.leave();
    return seen;
}

// A decision on public facts, and the owner's: rows were shown for none of what it is about.
static void check_unseen(const catalog::Requested &request) {
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Requested *parent =
        request.is_signal() ? catalog::find_request(reading, request.parent, false) : nullptr;
    reading.close();
    const catalog::Requested *seen = catalog::seen_of(request, parent);
    if (seen == nullptr && !was_seen_meanwhile(request))
        return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("somebody has looked at rows for request " INT64_FORMAT, seen == nullptr ? request.id : seen->id),
             errdetail("A decision that may depend on them is none on public facts."),
             errhint("Leave it to the reviewers, or let it expire.")));
}

// A rejection is a decision as well: of a request for reviewers it is one on public facts, whoever makes it.
static void reject_pending(const catalog::Requested &request, const catalog::Access &access, const char *reason) {
    if (strcmp(catalog::shown_state(request), "pending") != 0)
        refuse_state(request, "Only what is pending, or held back, can be rejected.");
    bool review = strcmp(request.decider, "review") == 0;
    if (!access.owner)
        catalog::check_blind(*access.settings, catalog::current_asker());
    else if (review)
        check_unseen(request);
    move_request(request, "pending", "rejected", review ? "public" : "rows", reason);
}

DP_CALL(dp_reject) {
    require(fcinfo, 0, "request");
    const char *reason = text_argument(fcinfo, 1);
    if (reason != nullptr)
        check_length(reason, "a reason");
    catalog::Access access;
    const catalog::Requested *request = decided_request(PG_GETARG_INT64(0), &access);
    bool held = strcmp(request->state, "held") == 0;
    if (access.requester && !(held && access.owner))
        withdraw(*request, reason);
    else if (held)
        reject_held(*request, access, reason);
    else
        reject_pending(*request, access, reason);
    PG_RETURN_VOID();
}

// ---- reviewers -----------------------------------------------------------------------------------------------------

static void warn_of_sight(Oid reviewer, Oid relation) {
    const char *way = catalog::way_to_rows(relation, catalog::roles_of(reviewer));
    if (way != nullptr)
        ereport(WARNING,
                (errmsg("role %s cannot decide as a reviewer of %s yet",
                        quote_identifier(GetUserNameFromId(reviewer, false)), catalog::qualified_name(relation)),
                 errdetail("%s.", way), errhint("dp_audit() lists what to revoke.")));
}

DP_CALL(dp_set_review) {
    require(fcinfo, 0, "relation");
    require(fcinfo, 1, "reviewers");
    Oid relation = protected_relation(PG_GETARG_OID(0));
    Datum *elements;
    bool *nulls;
    int n;
    deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), REGROLEOID, sizeof(Oid), true, TYPALIGN_INT, &elements, &nulls, &n);
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    forget_dropped_roles(visit);
    run_with_oid(visit, "DELETE FROM dp_rdr.reviewer r WHERE r.relation::oid = $1", relation);
    for (int i = 0; i < n; i++) {
        if (nulls[i])
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("reviewers must not contain NULL")));
        Oid types[2] = {OIDOID, OIDOID};
        Datum values[2] = {ObjectIdGetDatum(relation), elements[i]};
        visit.run("INSERT INTO dp_rdr.reviewer (relation, reviewer) VALUES ($1::regclass, $2::regrole) ON CONFLICT DO "
                  "NOTHING",
                  2, types, values);
    }
    visit.leave();
    for (int i = 0; i < n; i++) {
        (void)GetUserNameFromId(DatumGetObjectId(elements[i]), false);
        warn_of_sight(DatumGetObjectId(elements[i]), relation);
        warn_of_schema(DatumGetObjectId(elements[i]), relation, "protected table");
    }
    PG_RETURN_VOID();
}

} // namespace dp::sql
