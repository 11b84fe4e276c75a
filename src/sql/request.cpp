// dp_request: asking that a question be permitted (doc/analyst.md).
#include "border/columns.hpp"
#include "border/permissions.hpp"
#include "query/constants.hpp"
#include "query/limits.hpp"
#include "query/parse.hpp"
#include "query/rewrite.hpp"
#include "query/asked_limits.hpp"
#include "release/approve.hpp"
#include "release/accuracy_plan.hpp"
#include "release/estimate.hpp"
#include "release/resolved.hpp"
#include "rows/unit_checks.hpp"
#include "rows/canonical.hpp"
#include "sql/analyst.hpp"
#include "sql/call_arguments.hpp"
#include "sql/refusal.hpp"
#include "sql/decide_requests.hpp"
#include "sql/leaf_arguments.hpp"
#include "sql/setter.hpp"
extern "C" {
#include <storage/lock.h>
}

using dp::catalog::run;
using dp::catalog::Visit;

namespace dp::sql {

// ---- asking: the leaf ----------------------------------------------------------------------------------------------

[[noreturn]] static void refuse_no_leaf() {
    refuse_form("a request is one aggregation over one restricted view, and nothing else",
                "Fetch the answer, then sort, filter and join it. Grouping sets are a request each. Of "
                "several fractions ask one by one, of intervals for seconds.");
}

static bool computes(const Query *query) {
    for (auto *item : border::each<CommonTableExpr>(query->cteList))
        if (item->cterefcount > 0)
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
    for (auto *item : border::each<TargetEntry>(query->targetList)) {
        auto *var = reinterpret_cast<const Var *>(item->expr);
        if (!IsA(var, Var) || var->varno != index || var->varlevelsup != 0)
            refuse_no_leaf();
    }
    return function;
}

namespace {
// Holds what is asked, as it is stored.
struct Asked {
    const RangeTblFunction *function;
    const Query *query;
    release::Ask ask;
    StringInfoData parameters; // a JSON object
    int ncolumns;
    int *columns; // of the leaf, from 0
    Datum *names, *types;
    const char *shown;
    bool zoned; // the answer may depend on the time zone
};
} // namespace

static void write_parameters(Asked *question) {
    border::SettingsScope settings = border::SettingsScope::enter();
    initStringInfo(&question->parameters);
    release::write_parameters(&question->parameters, question->ask, question->zoned, question->columns,
                              question->ncolumns);
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

// Bounds what is kept for nothing until somebody decides.
static void check_size(const Asked &question) {
    if (question.parameters.len > query::max_text)
        refuse_size(psprintf("what is computed for a request takes %d bytes, more than %d", question.parameters.len,
                             query::max_text),
                    "Write shorter constants, or ask in several requests.");
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
    if (!evaluate_arguments(query, list_copy_tail(call->args, query::release_arguments), &question.ask))
        refuse_no_leaf();
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
            refuse_form(
                psprintf("a group key of type %s is not supported in a request", format_type_be(leaf->keys[i].type)),
                "Group by another column, or ask directly.", "What its text means depends on settings or catalogs.");
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
        refuse_form(psprintf("a value of type %s is not supported in a request", format_type_be(type)),
                    "Compare texts or numbers, or ask directly.",
                    "Its name may mean something else when the request is decided.");
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
        const release::Checked resolved = release::resolve(question->ask, leaf, true);
        rows::check_asks_something(resolved.question);
        release::check_mechanism(resolved.question, resolved.terms);
        priced.settings = resolved.question->settings;
        question->shown = resolved.question->text;
        question->zoned = resolved.question->time_zone != nullptr;
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
        refuse_size(psprintf("%s of %d characters is longer than %d", name, length, longest_purpose));
}

static const char *decider_of(FunctionCallInfo fcinfo, int argument, const Priced &priced) {
    catalog::Reading reading = catalog::Reading::open();
    bool reviewed = catalog::has_reviewers(reading, priced.settings->relation);
    reading.close();
    const char *decider = text_argument(fcinfo, argument);
    if (decider == nullptr)
        decider = reviewed && !priced.from_data ? "review" : "owner";
    if (strcmp(decider, "owner") != 0 && strcmp(decider, "review") != 0)
        refuse_value(psprintf("unknown decider \"%s\"", decider), "Use 'review' or 'owner'.");
    if (strcmp(decider, "owner") == 0)
        return decider;
    if (!reviewed)
        refuse_value(psprintf("%s has no reviewers", priced.settings->view_name),
                     "Leave decider out, or pass 'owner'.");
    if (priced.from_data)
        refuse_value("decider \"review\" does not go with a policy within_data", "Pass decider => 'owner'.",
                     "What its answers cost depends on the rows, which reviewers must not learn of.");
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
        refuse_value(psprintf("expires must be above 0 and at most a thousand years, not %s",
                              DatumGetCString(DirectFunctionCall1(interval_out, expires))),
                     "Pass expires => '30 days', for instance.");
    return end;
}

// Advisory locks of anybody have another class.
static void lock_requester(const catalog::Settings &settings, Oid requester) {
    constexpr uint16 own_class = 3;
    LOCKTAG tag;
    SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, settings.relation, requester, own_class);
    (void)LockAcquire(&tag, ExclusiveLock, false, false);
}

// Counts what is committed now, whatever an older snapshot of the transaction shows, and what it has made itself.
static void check_pending_requests(const catalog::Settings &settings, Oid requester) {
    CommandCounterIncrement();
    Visit visit = Visit::read();
    (void)run(visit,
              "SELECT count(*) FROM dp_rdr.request r WHERE r.table_id = $1 AND r.requester::oid = $2 "
              "AND r.state = 'pending' AND r.expires_at > clock_timestamp()",
              settings.id, requester);
    const int64 pending = catalog::value_at<int64>(0, 1);
    visit.leave();
    if (pending >= most_pending)
        refuse_size(psprintf("role \"%s\" has %d pending requests about %s", GetUserNameFromId(requester, false),
                             most_pending, settings.view_name),
                    "Wait for decisions, or withdraw some with dp_reject().");
}

// Whoever asks and withdraws, again and again, pays nothing for it. What somebody has decided on stays.
static void forget_old_requests(const Visit &visit, const catalog::Settings &settings, Oid requester) {
    (void)run(visit,
              "DELETE FROM dp_rdr.request WHERE id IN (SELECT r.id FROM dp_rdr.request r WHERE r.table_id = $1 "
              "AND r.requester::oid = $2 AND (r.state = 'withdrawn' OR r.state = 'pending' AND r.expires_at <= "
              "clock_timestamp()) ORDER BY r.id DESC OFFSET $3 FOR UPDATE SKIP LOCKED)",
              settings.id, requester, int32{most_undecided});
}

Visit begin_request(const catalog::Settings &settings, Oid requester) {
    lock_requester(settings, requester);
    check_pending_requests(settings, requester);
    const Visit visit = Visit::write();
    forget_old_requests(visit, settings, requester);
    return visit;
}

Datum end_request(const Visit &visit, const catalog::Settings &settings) {
    const int64 request = catalog::value_at<int64>(0, 1);
    visit.leave();
    tell_listeners(settings, request);
    PG_RETURN_INT64(request);
}

static catalog::Typed texts_of(Datum *texts, int n) {
    return catalog::Typed::array(TEXTARRAYOID, construct_array(texts, n, TEXTOID, -1, false, TYPALIGN_INT));
}

static void store_request(const Visit &visit, const Asked &question, const Priced &priced, const char *purpose,
                          const char *decider, TimestampTz now, TimestampTz expires) {
    const release::Price &price = priced.price;
    const release::Ask &ask = question.ask;
    const int n = question.ncolumns;
    ArrayType *errors = price.error95 == nullptr ? nullptr : release::error_array(price.error95, question.columns, n);
    (void)run(visit,
              "INSERT INTO dp_rdr.request (table_id, requester, session_role, decider, at, expires_at, view, query, "
              "parameters, purpose, epsilon_wanted, terms, names, types, error95, shown) VALUES ($1, $2::regrole, "
              "$3::regrole, $4, $5, $6, $7::regclass, $8, $9, $10, $11, jsonb_build_object('epsilon', $12), $13, $14, "
              "$15, $16) RETURNING id",
              priced.settings->id, ask.asker.role, ask.asker.session_role, decider, catalog::Moment{now},
              catalog::Moment{expires}, priced.settings->view, ask.leaf, catalog::Json{question.parameters.data},
              purpose, catalog::if_given(ask.has_epsilon, ask.epsilon), catalog::if_given(price.known, price.epsilon),
              texts_of(question.names, n), texts_of(question.types, n), catalog::Typed::array(FLOAT8ARRAYOID, errors), question.shown);
}

DP_CALL(dp_request) {
    require(fcinfo, {0, 1, 4, 8});
    catalog::check_can_ask();
    const char *purpose = text_argument(fcinfo, 1);
    check_length(purpose, "a purpose");
    TimestampTz now = GetCurrentTimestamp(), expires = expiry(PG_GETARG_DATUM(4), now);
    Asked question = read_question(text_argument(fcinfo, 0), query::or_as_set(asked_limits(fcinfo, 5)));
    question.ask.weight = checked_weight(PG_GETARG_FLOAT8(8), "weight");
    epsilon_argument(fcinfo, 2, &question.ask);
    Priced priced = look_at(&question);
    const char *decider = decider_of(fcinfo, 3, priced);
    const Visit visit = begin_request(*priced.settings, question.ask.asker.role);
    store_request(visit, question, priced, purpose, decider, now, expires);
    return end_request(visit, *priced.settings);
}

} // namespace dp::sql
