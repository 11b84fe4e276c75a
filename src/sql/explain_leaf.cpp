// Finds the leaves of a statement, and estimates each. A leaf goes the way of release() up to the charge and no further: on public
// facts, under the caller's policy. The statement is not executed.
#include "sql/explain_page.hpp"

#include "release/judge.hpp"
#include "release/replay.hpp"

#include "border/permissions.hpp"
#include "catalog/facade.hpp"
#include "query/date_style.hpp"
#include "query/shown_names.hpp"
#include "query/hints.hpp"
#include "release/resolved.hpp"
#include "rows/touched.hpp"
#include "rows/unit_checks.hpp"
#include "rows/narrowed.hpp"
#include "sql/analyst.hpp"
#include "sql/leaf_arguments.hpp"
#include "sql/looked_up.hpp"
#include "sql/told.hpp"

namespace dp::sql {

namespace {

struct Found {
    List *calls; // Call *
    bool rows;   // a restricted view is read other than by a release
};
} // namespace

// ---- the leaves of a statement -------------------------------------------------------------------------------------

static Node *column_of(int index, const RangeTblFunction *function, int column) {
    return reinterpret_cast<Node *>(
        makeVar(index, static_cast<AttrNumber>(column + 1), list_nth_oid(function->funccoltypes, column),
                list_nth_int(function->funccoltypmods, column), list_nth_oid(function->funccolcollations, column), 0));
}

static void add_call(const Query *query, int index, Found *found) {
    auto *function = linitial_node(RangeTblFunction, rt_fetch(index, query->rtable)->functions);
    if (!IsA(function->funcexpr, FuncExpr) || !query::is_release(castNode(FuncExpr, function->funcexpr)->funcid))
        return;
    auto *call = static_cast<Call *>(palloc0(sizeof(Call)));
    call->function = castNode(FuncExpr, function->funcexpr);
    call->around = query;
    call->ncolumns = list_length(function->funccoltypes);
    call->names = static_cast<const char **>(palloc0(sizeof(char *) * (call->ncolumns + 1)));
    // Names each column as the query does that scans the release, if it shows it.
    const auto shown = query::ShownNames::of(query->targetList, true);
    for (int i = 0; i < call->ncolumns; i++)
        call->names[i] = shown.name_of(column_of(index, function, i));
    found->calls = lappend(found->calls, call);
}

static void look_at(const Query *query, Node *from, Found *found) {
    check_stack_depth();
    if (IsA(from, FromExpr)) {
        for (auto *item : border::each<Node>(castNode(FromExpr, from)->fromlist))
            look_at(query, item, found);
    } else if (IsA(from, JoinExpr)) {
        look_at(query, castNode(JoinExpr, from)->larg, found);
        look_at(query, castNode(JoinExpr, from)->rarg, found);
    } else if (IsA(from, RangeTblRef)) {
        int index = castNode(RangeTblRef, from)->rtindex;
        RangeTblEntry *entry = rt_fetch(index, query->rtable);
        if (OidIsValid(catalog::expanded_facade(entry)))
            found->rows = true;
        else if (entry->rtekind == RTE_FUNCTION && list_length(entry->functions) == 1)
            add_call(query, index, found);
    }
}

static bool collect_leaves(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (!IsA(node, Query))
        return border::walk_expression(node, collect_leaves, context);
    auto *query = castNode(Query, node);
    look_at(query, reinterpret_cast<Node *>(query->jointree), static_cast<Found *>(context));
    return query::walk_executed(query, collect_leaves, context);
}

// Checks the permissions that the executor would check when the statement starts.
static bool check_permissions(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (!IsA(node, Query))
        return border::walk_expression(node, check_permissions, context);
    border::check_permissions(castNode(Query, node));
    return query::walk_executed(castNode(Query, node), check_permissions, context);
}

List *find_leaves(const char *text, const query::Request *request) {
    Found all = {}, *found = &all;
    catalog::check_can_ask();
    Query *query = rewrite_views(text);
    auto *unchanged = copyObject(query);
    int rewritten = query::rewrite_statement(query, text, request);
    collect_leaves(reinterpret_cast<Node *>(query), found);
    if (found->rows)
        refuse_right(query::private_rows);
    if (found->calls == NIL && rewritten == 0)
        refuse_unprotected(unchanged);
    check_permissions(reinterpret_cast<Node *>(query), nullptr);
    return found->calls;
}

// ---- one leaf ------------------------------------------------------------------------------------------------------

// Names columns that the statement computes with by their expressions.
static void name_columns(const Query *leaf, Call *call) {
    auto *entry = list_length(leaf->rtable) == 1 ? linitial_node(RangeTblEntry, leaf->rtable) : nullptr;
    if (entry == nullptr || entry->rtekind != RTE_RELATION)
        return;
    List *context = deparse_context_for(get_rel_name(entry->relid), entry->relid);
    for (auto *target : border::each<TargetEntry>(leaf->targetList)) {
        if (target->resno <= call->ncolumns && call->names[target->resno - 1] == nullptr)
            call->names[target->resno - 1] =
                deparse_expression(reinterpret_cast<Node *>(target->expr), context, false, false);
    }
}

static bool is_written_out(const List *arguments) {
    for (int i = 0; i < query::release_arguments; i++)
        if (!IsA(list_nth(arguments, i), Const))
            return false;
    return !linitial_node(Const, arguments)->constisnull;
}

bool ask_of_call(const Call *call, release::Ask *ask) {
    const List *arguments = call->function->args;
    List *own = list_copy_tail(arguments, query::release_arguments);
    if (!is_written_out(arguments))
        return false;
    if (own != NIL && !(may_be_looked_up(own) && may_be_looked_up(call->around->cteList)))
        return false;
    auto *fcinfo = static_cast<FunctionCallInfo>(palloc0(SizeForFunctionCallInfo(query::release_arguments)));
    for (int i = 0; i < query::release_arguments; i++) {
        const auto *constant = list_nth_node(Const, arguments, i);
        fcinfo->args[fcinfo->nargs++] = NullableDatum{constant->constvalue, constant->constisnull};
    }
    *ask = ask_of(fcinfo);
    return evaluate_arguments(call->around, own, ask);
}

// Estimates an answer that costs nothing: only how accurate it is.
static release::Estimate estimate_of(const release::Answer &answer, const char *note) {
    tuplestore_end(answer.rows);
    release::Estimate estimate = {};
    estimate.priced = true;
    estimate.mechanism = answer.facts.mechanism;
    estimate.threshold = answer.facts.threshold;
    estimate.error95 = answer.facts.error95;
    estimate.posterior50 = estimate.advantage = get_float8_nan();
    estimate.note = note;
    return estimate;
}

// Estimates a leaf that comes a second time in its statement.
static release::Estimate estimate_again(release::Estimate estimate) {
    estimate.selected = estimate.measured = estimate.denied = false;
    estimate.epsilon = estimate.selection = {};
    estimate.delta = {};
    estimate.rho = {};
    estimate.posterior50 = estimate.advantage = get_float8_nan();
    estimate.note = replayed_reason;
    return estimate;
}

static bool is_asked_before(const List *keys, Datum key) {
    ListCell *cell;
    foreach (cell, keys)
        if (DatumGetBool(DirectFunctionCall2(byteaeq, PointerGetDatum(lfirst(cell)), key)))
            return true;
    return false;
}

// Finds answers that cost nothing: of declared groups alone, of a question that was answered before or that an earlier leaf asks.
static void find_uncharged(const catalog::Reading &reading, const rows::Question *question, const release::Terms &terms,
                           const List *asked_before, Verdict *verdict) {
    if (question->groups_only) {
        verdict->estimate =
            estimate_of(release::list_groups(question, terms), "declared groups alone, nothing charged");
        verdict->uncharged = true;
        return;
    }
    if (terms.replay == nullptr)
        return;
    verdict->replayable = terms.replay->key.hash;
    verdict->uncharged = terms.replay->past != nullptr;
    if (verdict->uncharged)
        verdict->estimate = estimate_of(release::give_again(question, terms), replayed_reason);
    else if (is_asked_before(asked_before, verdict->replayable)) {
        verdict->estimate = estimate_again(release::estimate(reading, question, terms, NIL, nullptr));
        verdict->uncharged = true;
    }
}

void explain_leaf(Call *call, const List *earlier, const List *asked_before, const double *magnitude, Verdict *verdict,
                  release::Earlier *charge) {
    release::Ask ask;
    verdict->known = ask_of_call(call, &ask);
    if (!verdict->known)
        return;
    query::Leaf *leaf = release::check_own_ask(&ask);
    name_columns(leaf->query, call);
    if (leaf->noutputs != call->ncolumns)
        refuse_with(ERRCODE_DATATYPE_MISMATCH,
                    "the declared columns are not those of the query on the restricted view");
    const release::Checked resolved = release::resolve(ask, leaf, false);
    const rows::Question *question = resolved.question;
    release::Terms terms = resolved.terms;
    verdict->question = question;
    verdict->units = question->units;
    verdict->style = query::style_of_dates(leaf->query);
    verdict->beyond = question->beyond;
    verdict->lacks_null = release::null_text(question);
    verdict->narrowed = rows::text_of_narrowed(question);
    verdict->rows_per_group = rows::is_spread(question) ? question->rows_per_group : 0;
    verdict->clipped = rows::clipping_text(question, terms.mechanism);
    if (const catalog::Touched *cells = rows::charged_cells(question); cells != nullptr && cells->shown)
        verdict->cells = catalog::name_of_touched(*question->settings->partition, *cells);
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Terms *now = catalog::read_terms(reading, question->settings->view, InvalidOid, InvalidOid);
    terms.bound = now == nullptr ? nullptr : &now->bound;
    verdict->used =
        question->thresholded &&
        query::use_of_groups(reinterpret_cast<Node *>(const_cast<FuncExpr *>(call->function))) != query::Use::shown;
    verdict->cases = terms.delta.units() > 0;
    find_uncharged(reading, question, terms, asked_before, verdict);
    if (!verdict->uncharged)
        verdict->estimate = release::estimate(reading, question, terms, earlier, magnitude);
    verdict->mechanism = verdict->estimate.mechanism == privacy::Mechanism::laplace ? "laplace" : "gaussian";
    reading.close();
    *charge = release::Earlier{question->settings->relation, terms.grantee, verdict->estimate.selection_cost,
                               verdict->estimate.cost};
}

} // namespace dp::sql
