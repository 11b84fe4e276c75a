#include "release/resolved.hpp"

#include "border/permissions.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/facade.hpp"
#include "query/constants.hpp"
#include "query/limits.hpp"
#include "query/make.hpp"
#include "query/parse.hpp"
#include "query/rewrite.hpp"
#include "query/exists.hpp"
#include "query/grammar.hpp"
#include "release/approve.hpp"
#include "release/asked.hpp"
#include "release/choose.hpp"
#include "release/replay.hpp"
#include "release/release.hpp"
#include "release/signal.hpp"
#include "release/identity.hpp"
#include "rows/unit_checks.hpp"
#include "rows/measures.hpp"
#include "rows/public_rows.hpp"
#include "rows/resolve.hpp"

namespace dp::release {

namespace {
// The settings that a text was written under, and is read under, whatever the caller's are.
struct ReadingScope {
    border::SettingsScope settings;
    query::TextScope text;
};
} // namespace

static query::Parsed open_leaf(const Ask &ask, ReadingScope *scope) {
    scope->settings = border::SettingsScope::enter();
    scope->text.enter(ask.leaf);
    query::Parsed parsed = query::parse_leaf(ask.leaf, ask.parameter_types, ask.parameters->numParams, ask.view);
    query::check_references(parsed.query, ask.parameters);
    return parsed;
}

static query::Leaf *close_leaf(query::Leaf *leaf, const Ask &ask, const ReadingScope &scope) {
    leaf->limits = ask.limits;
    scope.text.leave();
    scope.settings.leave();
    return leaf;
}

query::Leaf *leaf_of(const Ask &ask) {
    ReadingScope scope = {};
    query::Parsed parsed = open_leaf(ask, &scope);
    return close_leaf(query::check_leaf(parsed.query, parsed.source), ask, scope);
}

// ---- constants -----------------------------------------------------------------------------------------------------

// Returns the number of a parameter that is added, with this value.
static int add_parameter(Ask *ask, const Const *value) {
    const int n = ask->parameters->numParams;
    ParamListInfo parameters = makeParamList(n + 1);
    auto *types = static_cast<Oid *>(palloc(sizeof(Oid) * (n + 1)));
    for (int i = 0; i < n; i++) {
        parameters->params[i] = ask->parameters->params[i];
        types[i] = ask->parameter_types[i];
    }
    types[n] = query::parameter_type(value->consttype);
    parameters->params[n] = ParamExternData{value->constvalue, value->constisnull, PARAM_FLAG_CONST, types[n]};
    ask->parameters = parameters;
    ask->parameter_types = types;
    return n + 1;
}

static Node *long_as_parameters(Node *node, void *context) {
    constexpr Size most = 1000; // bytes that a text shows
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Query))
        return reinterpret_cast<Node *>(
            border::mutate_query(castNode(Query, node), long_as_parameters, context, QTW_IGNORE_JOINALIASES));
    auto *value = reinterpret_cast<const Const *>(node);
    if (!IsA(node, Const) || value->constisnull || value->constlen != -1 ||
        toast_raw_datum_size(value->constvalue) <= most)
        return border::mutate_expression(node, long_as_parameters, context);
    const int number = add_parameter(static_cast<Ask *>(context), value);
    return query::make_parameter(number, value->consttype, -1, value->constcollid);
}

// The ledger and whoever decides on a request read what the constants have become; of parameters they read nothing.
static void write_leaf(Ask *ask, const Query *leaf) {
    ask->leaf = query::text_of_leaf(leaf);
    if (strlen(ask->leaf) > query::max_text)
        ask->leaf = query::text_of_leaf(reinterpret_cast<const Query *>(
            long_as_parameters(reinterpret_cast<Node *>(const_cast<Query *>(leaf)), ask)));
    query::check_text(ask->leaf);
}

static query::Leaf *own_leaf(Ask *ask) {
    ReadingScope scope = {};
    Query *evaluated;
    query::Parsed parsed = open_leaf(*ask, &scope);
    query::Leaf *leaf = query::check_own_leaf(parsed, ask->parameters, &evaluated);
    if (evaluated != nullptr)
        write_leaf(ask, evaluated);
    return close_leaf(leaf, *ask, scope);
}

// ---- checks --------------------------------------------------------------------------------------------------------

static const char *columns_of(const query::Leaf *leaf) {
    StringInfo columns = makeStringInfo();
    for (int i = 0; i < leaf->noutputs; i++)
        appendStringInfo(columns, "%s%s %s", i > 0 ? ", " : "", quote_identifier(leaf->outputs[i].name),
                         format_type_be(type_of(leaf, leaf->outputs[i])));
    return columns->data;
}

// The columns that the caller declared for the record are those of the leaf: checked before anything is charged.
static void check_outputs(const query::Leaf *leaf, const Ask &ask) {
    bool same = ask.noutputs == leaf->noutputs;
    for (int i = 0; same && i < leaf->noutputs; i++)
        same = ask.output_types[i] == type_of(leaf, leaf->outputs[i]);
    if (!same)
        refuse_with(ERRCODE_DATATYPE_MISMATCH, "the declared columns are not those of the query on the restricted view",
                    psprintf("Write AS (%s).", columns_of(leaf)));
}

// Whoever reads a view of somebody's over a restricted view asks by himself: the server checked the rights of its owner alone.
static void check_asker(const Query *query) {
    ListCell *cell;
    foreach (cell, query->rtable) {
        const auto *entry = lfirst_node(RangeTblEntry, cell);
        if (!border::is_permitted(query, entry) && OidIsValid(catalog::table_of_facade(entry->relid))) {
            const char *view = catalog::qualified_name(entry->relid), *role = GetUserNameFromId(GetUserId(), false);
            ereport(
                ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                 errmsg("permission denied for view %s", get_rel_name(entry->relid)),
                 errdetail(
                     "A view of another role's over it asks with the rights and the policy of whoever reads it, here "
                     "%s.",
                     quote_identifier(role)),
                 errhint("Its controller gives both: dp_grant(%s, %s, tau => TAU).", quote_literal_cstr(view),
                         quote_literal_cstr(quote_identifier(role)))));
        }
        border::check_permission(query, entry);
    }
}

static void check_rights(const query::Leaf *leaf) {
    check_asker(leaf->query);
    query::check_semi_permissions(leaf);
    for (int i = 0; i < leaf->nsources; i++)
        if (leaf->sources[i].people != nullptr)
            check_rights(leaf->sources[i].people);
}

static query::Leaf *check_asked(const Ask &ask, query::Leaf *leaf) {
    if (ask.output_types != nullptr)
        check_outputs(leaf, ask);
    check_rights(leaf);
    return leaf;
}

query::Leaf *check_ask(const Ask &ask) {
    return check_asked(ask, leaf_of(ask));
}

query::Leaf *check_own_ask(Ask *ask) {
    return check_asked(*ask, own_leaf(ask));
}

// Refuses settings other than those of the measurements before: their mean with what is measured now would say nothing.
static void check_unchanged(const Ask &ask, const rows::Question *question) {
    if (ask.refines && (ask.refinable.versions != versions_hash(question) ||
                        ask.refinable.public_rows != rows::hash_of_public_rows(question)))
        refuse_state(psprintf("the settings of %s%s have changed since the last answer",
                              question->settings->relation_name,
                              question->looked_up != 0 ? ", or rows of a public table," : ""),
                     "Ask anew with dp_query().", "Nothing was charged.");
}

// Returns what the way to an accuracy depends on of the table's settings: read where it is asked for, and where noise is Gaussian, which may
// be refined later.
static const privacy::BoundSettings *bound_of(const catalog::Reading &reading, const catalog::Settings &settings,
                                              const Terms &terms, bool refines) {
    if (!refines && !terms.wanted.asked() && terms.mechanism == privacy::Mechanism::laplace)
        return nullptr;
    const catalog::Terms *now = catalog::read_terms(reading, settings.view, InvalidOid, InvalidOid);
    return now == nullptr ? nullptr : &now->bound;
}

// The search of within_data looks at single rows, here: those of other servers would travel for it.
static void check_searchable(const rows::Question *question, const Terms &terms) {
    if (question->remote && terms.algorithm == Algorithm::within_data)
        refuse_form("within_data is not supported where partitions are foreign tables",
                    "The controller grants another preference: within_domain or released.",
                    psprintf("%s has some; their rows would have to be fetched.", question->settings->relation_name));
}

void check_direct(const catalog::Policy &policy, const catalog::Settings &settings) {
    if (policy.on_request)
        refuse_right(psprintf("role \"%s\" asks %s by requests only", policy.grantee_name, settings.view_name),
                     "SELECT dp_request('SELECT ...', 'what it is for'); and dp_fetch() once it is permitted.");
}

Checked resolve(const Ask &ask, query::Leaf *leaf, bool drawn) {
    catalog::Reading reading = catalog::Reading::open();
    rows::Question *question = rows::prepare(reading, leaf, ask.parameters);
    question->asker = ask.asker;
    catalog::Policy *policy = catalog::policy_of_all(reading, question->settings, ask.asker);
    question->grantee = policy->grantee_name;
    question->grantee_oid = policy->grantee;
    if (!ask.by_request)
        check_direct(*policy, *question->settings);
    Terms terms = terms_of(*policy, ask.has_epsilon ? &ask.epsilon : nullptr, ask.weight);
    terms.wanted = ask.wanted;
    terms.hide = ask.hide;
    if (ask.decision != nullptr)
        apply(*ask.decision, *question->settings, *policy, &terms);
    terms.mechanism = chosen_mechanism(reading, question, terms, ask.refines);
    rows::set_mechanism(reading, question, terms.mechanism);
    const Identity identity = identity_of(question);
    question->identity = identity.hash;
    terms.bound = bound_of(reading, *question->settings, terms, ask.refines);
    if (ask.versions != nullptr && strcmp(ask.versions, versions_of(*question->settings)) != 0)
        catalog::refuse_changing(*question->settings);
    check_unchanged(ask, question);
    rows::check_delta(question, terms.mechanism, terms.delta);
    check_searchable(question, terms);
    if (!question->groups_only && !ask.refines && !ask.anew)
        terms.replay = look_up(reading, question, terms, *policy, identity, !drawn);
    reading.close();
    const Signal *signal = ask.wish == nullptr ? nullptr : bind(*ask.wish, question);
    const rows::Question *charged = signal == nullptr ? question : priced(signal);
    if (ask.decision != nullptr) {
        check_approved_price(charged, terms);
        terms.replay = keep_numbers(question);
    }
    return {question, charged, terms, signal};
}

} // namespace dp::release
