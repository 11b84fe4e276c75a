#include "release/approve.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"
#include "catalog/decimals.hpp"
#include "release/convert.hpp"
#include "release/explain.hpp"
#include "release/fields.hpp"
#include "release/redraw.hpp"
#include "release/replay.hpp"
#include "query/names.hpp"

namespace dp::release {

// ---- the decision --------------------------------------------------------------------------------------------------

[[noreturn]] static void refuse_basis(const char *what, const char *hint) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", what), errhint("%s", hint)));
    pg_unreachable();
}

// Blind: what he says can depend on released answers and public facts alone.
static void check_reviewers_words(const Approval &approval) {
    if (approval.in_sight)
        refuse_basis("basis \"rows\" does not go with a decision of a reviewer", "Leave basis out: it is 'public'.");
    if (approval.hold)
        refuse_basis("hold does not go with a decision of a reviewer",
                     "Leave it out: a reviewer sees no answer before its requester does.");
    if (approval.has_tau || approval.has_tau_var || approval.within_data)
        ereport(ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                 errmsg("a reviewer decides on the terms of the requester's policy"),
                 errhint("Pass epsilon => ... for less than its price, or nothing. The owner of the table may set "
                         "other terms.")));
}

// What an owner decides who may have looked is kept apart; he may declare that nobody has.
static bool is_sighted(const Approval &approval, const catalog::Requested &request, const catalog::Requested *parent) {
    bool review = strcmp(request.decider, "review") == 0;
    if (approval.in_sight && review)
        refuse_basis("basis \"rows\" does not go with decider \"review\"",
                     "Reviewers see what becomes of the request. Ask that it be made with decider => 'owner'.");
    if (review && !approval.is_public)
        refuse_basis("an owner decides on a request for reviewers only if he declares that no row was looked at for it",
                     "Pass basis => 'public' if that is so, or leave it to the reviewers.");
    if (!approval.is_public)
        return true;
    if (parent != nullptr && strcmp(parent->basis, "rows") == 0)
        refuse_basis("basis \"public\" does not go with a signal on an answer that was decided on in sight of the rows",
                     "Leave basis out: it is 'rows'.");
    const catalog::Requested *seen = catalog::seen_of(request, parent);
    if (seen != nullptr)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("somebody has looked at rows for request " INT64_FORMAT, seen->id),
                        errdetail("A decision that may depend on them is none on public facts."),
                        errhint("Decide with basis => 'rows', where the request is for the owner.")));
    if (approval.hold)
        refuse_basis("hold does not go with basis \"public\"",
                     "Leave one of them out: whoever sees the answer first decides in its sight.");
    if (approval.within_data)
        refuse_basis("selection \"within_data\" does not go with basis \"public\"",
                     "Its price is found in the rows. Leave one of them out.");
    return false;
}

// Of a signal: what it goes on from is an answer that was handed out.
static void check_parent(const catalog::Requested &request, const catalog::Requested *parent) {
    if (!request.is_signal())
        return;
    if (parent == nullptr || parent->basis == nullptr || strcmp(parent->state, "answered") != 0 ||
        memcmp(&parent->table, &request.table, sizeof(pg_uuid_t)) != 0)
        refuse_unreadable();
}

const Decision *decide(const Approval &approval, const catalog::Asker &approver, const catalog::Requested *request,
                       const catalog::Requested *parent) {
    catalog::Reading reading = catalog::Reading::open();
    if (request == nullptr)
        catalog::refuse_unknown(approval.request);
    catalog::Access access = catalog::access_to(reading, *request, approver.role);
    reading.close();
    if (!access.owner && !access.reviewer)
        catalog::refuse_unknown(approval.request);
    catalog::check_not_own(*request, approver);
    catalog::check_pending(*request);
    check_parent(*request, parent);
    auto *decision = static_cast<Decision *>(palloc0(sizeof(Decision)));
    decision->request = request->id;
    decision->approver = GetUserNameFromId(approver.role, false);
    decision->by_owner = access.owner;
    decision->approval = approval;
    decision->parent = request->parent;
    if (request->is_signal())
        decision->task = required_field(&DatumGetJsonbP(request->task)->root, "task");
    if (access.owner)
        decision->sighted = is_sighted(approval, *request, parent);
    else {
        check_reviewers_words(approval);
        catalog::check_blind(*access.settings, approver);
    }
    return decision;
}

// ---- the question --------------------------------------------------------------------------------------------------

static JsonbContainer *parameter_array(Datum parameters, const char *name, int *n) {
    return array_field(&DatumGetJsonbP(parameters)->root, name, n);
}

// Written under pinned settings, and read under the same ones. Its type is the server's own or an enum, or it is refused.
static void read_parameter(JsonbContainer *values, int i, Ask *ask) {
    JsonbValue *value = getIthJsonbValueFromContainer(values, i);
    if (value == nullptr || value->type != jbvBinary)
        refuse_unreadable();
    const char *type_name = text_field(value->val.binary.data, "type");
    const char *text = text_field(value->val.binary.data, "value");
    if (type_name == nullptr)
        refuse_unreadable();
    ParamExternData &parameter = ask->parameters->params[i];
    Oid type = border::type_named(type_name), input, io_parameter;
    if (query::parameter_type(type) != type)
        refuse_unreadable();
    parameter.ptype = ask->parameter_types[i] = type;
    parameter.pflags = PARAM_FLAG_CONST;
    parameter.isnull = text == nullptr;
    getTypeInputInfo(type, &input, &io_parameter);
    if (text != nullptr)
        parameter.value = OidInputFunctionCall(input, pstrdup(text), io_parameter, -1);
}

// 0 where none was asked for.
static int limit_field(Datum parameters, const char *name) {
    JsonbContainer *object = &DatumGetJsonbP(parameters)->root;
    JsonbValue value;
    bool there = getKeyJsonValueFromContainer(object, name, static_cast<int>(strlen(name)), &value) != nullptr;
    return there ? int_field(object, name) : 0;
}

Ask ask_of(const catalog::Requested &request, const Decision *decision) {
    border::SettingsScope settings = border::SettingsScope::enter();
    Ask ask = {};
    ask.asker = request.asker;
    ask.leaf = request.query;
    ask.time_zone = text_field(&DatumGetJsonbP(request.parameters)->root, "time_zone");
    ask.view = request.view;
    ask.has_epsilon = request.wanted.has_value();
    ask.epsilon = request.wanted.value_or(privacy::Epsilon());
    ask.weight = 1;
    ask.wanted.deviations = 1;
    ask.limits = {limit_field(request.parameters, "max_rows"), limit_field(request.parameters, "max_groups"),
                  limit_field(request.parameters, "max_rows_per_group"), false};
    ask.anew = true;
    ask.by_request = true;
    ask.decision = decision;
    int n;
    JsonbContainer *values = parameter_array(request.parameters, "values", &n);
    ask.parameters = makeParamList(n);
    ask.parameter_types = static_cast<Oid *>(palloc0(sizeof(Oid) * (n + 1)));
    for (int i = 0; i < n; i++)
        read_parameter(values, i, &ask);
    settings.leave();
    return ask;
}

static void append_value(StringInfo text, JsonbContainer *values, int i) {
    JsonbValue *value = getIthJsonbValueFromContainer(values, i);
    if (value == nullptr || value->type != jbvBinary)
        refuse_unreadable();
    const char *written = text_field(value->val.binary.data, "value");
    appendStringInfo(text, "%s::%s", written == nullptr ? "NULL" : quote_literal_cstr(written),
                     text_field(value->val.binary.data, "type"));
}

// Behind a quoted string or name that begins there. In E'...' a backslash takes the next character along.
static const char *behind_quoted(const char *at, bool escapes) {
    for (char quote = *at++; *at != '\0'; at++) {
        if (escapes && *at == '\\' && at[1] != '\0')
            at++;
        else if (*at == quote && at[1] == quote)
            at++;
        else if (*at == quote)
            return at + 1;
    }
    return at;
}

static bool in_name(char c) {
    return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || IS_HIGHBIT_SET(c);
}

// A text as the server deparses it: no comments, no dollar quotes.
const char *text_with_values(const char *query, Datum parameters) {
    int n;
    JsonbContainer *values = parameter_array(parameters, "values", &n);
    StringInfoData text;
    initStringInfo(&text);
    for (const char *at = query, *end; *at != '\0'; at = end) {
        char before = at == query ? ' ' : at[-1];
        end = at + 1;
        if (*at == '\'' || *at == '"')
            end = behind_quoted(at, *at == '\'' && before == 'E' && !in_name(at - 1 == query ? ' ' : at[-2]));
        int number =
            *at == '$' && !in_name(before) ? static_cast<int>(strtol(at + 1, const_cast<char **>(&end), 10)) : 0;
        if (number >= 1 && number <= n)
            append_value(&text, values, number - 1);
        else
            appendBinaryStringInfo(&text, at, static_cast<int>(end - at));
    }
    return text.data;
}

// Of the leaf, in the order of the answer; from 0.
int *columns_of(const catalog::Requested &request, const query::Leaf *leaf, int *n) {
    JsonbContainer *numbers = parameter_array(request.parameters, "columns", n);
    auto *columns = static_cast<int *>(palloc(sizeof(int) * (*n + 1)));
    for (int i = 0; i < *n; i++) {
        JsonbValue *value = getIthJsonbValueFromContainer(numbers, i);
        if (value == nullptr || value->type != jbvNumeric)
            refuse_unreadable();
        columns[i] = DatumGetInt32(DirectFunctionCall1(numeric_int4, NumericGetDatum(value->val.numeric))) - 1;
        if (columns[i] < 0 || columns[i] >= leaf->noutputs)
            refuse_unreadable();
    }
    return columns;
}

const char *type_text(Oid type) {
    return format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY);
}

static Oid output_type(const query::Leaf *leaf, int output) {
    const query::Output &column = leaf->outputs[output];
    return column.is_key ? leaf->keys[column.index].type : leaf->aggregates[column.index].result_type;
}

// The names and types that the requester was shown are those of the answer.
void check_columns(const catalog::Requested &request, const query::Leaf *leaf) {
    int n, ntypes;
    const int *columns = columns_of(request, leaf, &n);
    Datum *types;
    bool *nulls;
    deconstruct_array(request.types, TEXTOID, -1, false, TYPALIGN_INT, &types, &nulls, &ntypes);
    bool same = n == ntypes;
    for (int i = 0; same && i < n; i++)
        same = !nulls[i] && strcmp(TextDatumGetCString(types[i]), type_text(output_type(leaf, columns[i]))) == 0;
    if (!same)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("columns of request " INT64_FORMAT " have other types now", request.id),
                        errhint("It has to be asked for again with dp_request().")));
}

// ---- the terms -----------------------------------------------------------------------------------------------------

static void check_not_less(const catalog::Policy &policy, privacy::Epsilon epsilon) {
    if (epsilon >= policy.epsilon_min)
        return;
    const char *least = catalog::numeric_text(catalog::to_numeric(policy.epsilon_min));
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("epsilon %s is less than the policy's minimum %s",
                           catalog::numeric_text(catalog::to_numeric(epsilon)), least),
                    errhint("Pass epsilon => %s or more.", least)));
}

// Instead of all candidates. Never more than was asked for.
static void set_price(const catalog::Policy &policy, privacy::Epsilon epsilon, Terms *terms) {
    check_not_less(policy, epsilon);
    if (terms->has_requested)
        epsilon = Min(epsilon, terms->requested);
    auto *candidates = border::context_new<std::vector<privacy::Epsilon>>();
    border::core([&] { candidates->push_back(epsilon); });
    terms->algorithm = Algorithm::approved;
    terms->candidates = candidates;
    terms->has_epsilon_max = terms->has_requested = false;
}

static void ask_for_less(const catalog::Policy &policy, privacy::Epsilon epsilon, Terms *terms) {
    check_not_less(policy, epsilon);
    terms->requested = terms->has_requested ? Min(epsilon, terms->requested) : epsilon;
    terms->has_requested = true;
}

// How much one row moves a signal is not looked for, and would have to be for such a price.
static void check_signal_terms(const Decision &decision, const Terms &terms) {
    if (decision.parent != 0 && (is_selected(terms.algorithm) || terms.algorithm == Algorithm::within_data))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("the price of a signal cannot be found in the rows"),
                 errdetail("The terms of this decision, or of the requester's policy, would look there."),
                 errhint("The owner of the table passes tau, without a selection, or epsilon.")));
}

// What a profile promises, of a table or of a role, rests on decisions that do not depend on the data.
static void check_data_terms(const Decision &decision, const catalog::Settings &settings, const catalog::Policy &policy,
                             const Terms &terms) {
    check_signal_terms(decision, terms);
    if (decision.sighted && (policy.profile || settings.has_profile))
        refuse_basis(
            policy.profile ? "basis \"rows\" does not go with the requester's risk profile"
                               : "basis \"rows\" does not go with the risk profile of the table",
            "What a profile promises rests on decisions that do not depend on the data: pass basis => 'public' if "
            "this is one.");
    if (terms.algorithm == Algorithm::within_data && !decision.sighted)
        refuse_basis("the price of this request is found in the rows (within_data), and its basis would be public",
                     "Pass basis => 'rows', or tau, tau_var or epsilon of your own.");
}

void apply(const Decision &decision, const catalog::Settings &settings, const catalog::Policy &policy, Terms *terms) {
    const Approval &approval = decision.approval;
    terms->decision = &decision;
    terms->sighted = decision.sighted;
    if (approval.has_tau) {
        terms->algorithm = approval.within_data ? Algorithm::within_data : Algorithm::within_domain;
        terms->tau = approval.tau;
    } else if (approval.has_tau_var) {
        terms->algorithm = Algorithm::released;
        terms->tau_var = Min(approval.tau_var * terms->weight, 1.0);
    } else if (approval.has_epsilon && decision.by_owner)
        set_price(policy, approval.epsilon, terms);
    else if (approval.has_epsilon)
        ask_for_less(policy, approval.epsilon, terms);
    check_data_terms(decision, settings, policy, *terms);
}

void check_approved_price(const rows::Question *question, const Terms &terms) {
    const Decision &decision = *terms.decision;
    if (decision.by_owner || !decision.approval.has_epsilon)
        return;
    Terms whole = terms;
    whole.has_requested = false;
    Price price = price_in_advance(question, whole);
    if (!price.known || price.epsilon < decision.approval.epsilon)
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("epsilon %s is above the price of the request, %s",
                               catalog::numeric_text(catalog::to_numeric(decision.approval.epsilon)),
                               catalog::numeric_text(catalog::to_numeric(price.epsilon))),
                        errhint("A reviewer may ask for less; only the owner of the table for more.")));
}

const Replay *keep_numbers(const rows::Question *question) {
    auto *replay = static_cast<Replay *>(palloc0(sizeof(Replay)));
    auto *order = static_cast<int *>(palloc(sizeof(int) * (question->ncoordinates + 1)));
    for (int c = 0; c < question->ncoordinates; c++)
        order[c] = c;
    replay->order = order;
    return replay;
}

// ---- what is stored ------------------------------------------------------------------------------------------------

catalog::Claim claim_of(const Decision &decision) {
    const Approval &approval = decision.approval;
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfo(&json, "{\"by\": \"%s\"", decision.by_owner ? "owner" : "reviewer");
    if (approval.has_tau)
        appendStringInfo(&json, ", \"tau\": %s", float8out_internal(approval.tau));
    if (approval.has_tau_var)
        appendStringInfo(&json, ", \"tau_var\": %s", float8out_internal(approval.tau_var));
    if (approval.has_epsilon)
        appendStringInfo(&json, ", \"given\": %s", catalog::numeric_text(catalog::to_numeric(approval.epsilon)));
    if (approval.within_data)
        appendStringInfoString(&json, ", \"selection\": \"within_data\"");
    if (approval.hold)
        appendStringInfoString(&json, ", \"hold\": true");
    appendStringInfoChar(&json, '}');
    return catalog::Claim{decision.request,
                          json.data,
                          basis_name(decision.sighted),
                          decision.approver,
                          false,
                          0,
                          {},
                          decision.by_owner && !decision.sighted};
}

static ArrayType *array_of(Datum *elements, bool *nulls, int64 n, Oid type, int16 length, bool by_value, char align) {
    int dimensions[1] = {static_cast<int>(n)}, lower_bounds[1] = {1};
    return construct_md_array(elements, nulls, 1, dimensions, lower_bounds, type, length, by_value, align);
}

// As texts, which mean the same after a dump elsewhere.
static ArrayType *rows_of(const Answer &answer, const int *columns, int n) {
    border::SettingsScope settings = border::SettingsScope::enter();
    auto *outputs = static_cast<FmgrInfo *>(palloc0(sizeof(FmgrInfo) * (n + 1)));
    for (int i = 0; i < n; i++) {
        Oid output;
        bool is_varlena;
        getTypeOutputInfo(TupleDescAttr(answer.desc, columns[i])->atttypid, &output, &is_varlena);
        fmgr_info(output, &outputs[i]);
    }
    ArrayBuildState *texts = initArrayResult(TEXTOID, CurrentMemoryContext, true);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(answer.desc, &TTSOpsMinimalTuple);
    while (tuplestore_gettupleslot(answer.rows, true, false, slot)) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        for (int i = 0; i < n; i++) {
            bool isnull = slot->tts_isnull[columns[i]];
            Datum text =
                isnull ? Datum(0) : CStringGetTextDatum(OutputFunctionCall(&outputs[i], slot->tts_values[columns[i]]));
            texts = accumArrayResult(texts, text, isnull, TEXTOID, CurrentMemoryContext);
        }
    }
    ExecDropSingleTupleTableSlot(slot);
    settings.leave();
    return DatumGetArrayTypeP(makeArrayResult(texts, CurrentMemoryContext));
}

ArrayType *error_array(const double *error95, const int *columns, int n) {
    auto *elements = static_cast<Datum *>(palloc(sizeof(Datum) * (n + 1)));
    auto *nulls = static_cast<bool *>(palloc(sizeof(bool) * (n + 1)));
    for (int i = 0; i < n; i++) {
        double error = error95[columns[i]];
        nulls[i] = error != error; // a key
        elements[i] = Float8GetDatum(error);
    }
    return array_of(elements, nulls, n, FLOAT8OID, sizeof(double), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
}

catalog::Settling *settle(const catalog::Requested &request, const Decision &decision, const rows::Question *question,
                          const Terms &terms, const char *time_zone, const Answer &answer) {
    int n;
    const int *columns = columns_of(request, question->leaf, &n);
    auto *settling = static_cast<catalog::Settling *>(palloc0(sizeof(catalog::Settling)));
    settling->request = decision.request;
    settling->state = decision.approval.hold ? "held" : "answered";
    settling->rows = rows_of(answer, columns, n);
    settling->coordinates = answer.storing == nullptr ? nullptr : answer.storing->answer.numbers;
    settling->error95 = error_array(answer.facts.error95, columns, n);
    settling->law = law_of(question, terms, answer, time_zone, columns, n);
    return settling;
}

} // namespace dp::release
