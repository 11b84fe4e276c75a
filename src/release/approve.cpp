#include "release/approve.hpp"

#include "border/scope.hpp"
#include "border/stored_rows.hpp"
#include "border/versions.hpp"
#include "catalog/decimals.hpp"
#include "release/convert.hpp"
#include "release/estimate.hpp"
#include "release/fields.hpp"
#include "release/redraw.hpp"
#include "release/release.hpp"
#include "release/replay.hpp"

namespace dp::release {

// ---- the decision --------------------------------------------------------------------------------------------------

// Blind: what he says can depend on released answers and public facts alone.
static void check_reviewers_words(const Approval &approval) {
    if (approval.in_sight)
        refuse_value("basis \"rows\" does not go with a decision of a reviewer", "Leave basis out: it is 'public'.");
    if (approval.hold)
        refuse_value("hold does not go with a decision of a reviewer",
                     "Leave it out: a reviewer sees no answer before its requester does.");
    if (approval.has_tau || approval.has_tau_var || approval.within_data)
        refuse_right(
            "a reviewer decides on the terms of the requester's policy",
            "Pass epsilon => ... for less than its price, or nothing. The owner of the table may set other terms.");
}

// Keeps apart what an owner decides who may have looked; he may declare that nobody has.
static bool is_sighted(const Approval &approval, const catalog::Requested &request, const catalog::Requested *parent) {
    bool review = strcmp(request.decider, "review") == 0;
    if (approval.in_sight && review)
        refuse_value("basis \"rows\" does not go with decider \"review\"",
                     "Reviewers see what becomes of the request. Ask that it be made with decider => 'owner'.");
    if (review && !approval.is_public)
        refuse_value("an owner decides on a request for reviewers only if he declares that no row was looked at for it",
                     "Pass basis => 'public' if that is so, or leave it to the reviewers.");
    if (!approval.is_public)
        return true;
    if (parent != nullptr && strcmp(parent->basis, "rows") == 0)
        refuse_value("basis \"public\" does not go with a signal on an answer that was decided on in sight of the rows",
                     "Leave basis out: it is 'rows'.");
    const catalog::Requested *seen = catalog::seen_of(request, parent);
    if (seen != nullptr)
        refuse_state(psprintf("somebody has looked at rows for request " INT64_FORMAT, seen->id),
                     "Decide with basis => 'rows', where the request is for the owner.",
                     "A decision that may depend on them is none on public facts.");
    if (approval.hold)
        refuse_value("hold does not go with basis \"public\"",
                     "Leave one of them out: whoever sees the answer first decides in its sight.");
    if (approval.within_data)
        refuse_value("selection \"within_data\" does not go with basis \"public\"",
                     "Its price is found in the rows. Leave one of them out.");
    return false;
}

// Checks that a signal goes on from an answer that was handed out.
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

// ---- the terms -----------------------------------------------------------------------------------------------------

// Instead of all candidates. Never more than was asked for.
static void set_price(const catalog::Policy &policy, privacy::Epsilon epsilon, Terms *terms) {
    check_minimum(policy, epsilon);
    epsilon = Min(epsilon, terms->caps.requested.value_or(epsilon));
    auto *candidates = border::context_new<std::vector<privacy::Epsilon>>();
    border::core([&] { candidates->push_back(epsilon); });
    terms->algorithm = Algorithm::approved;
    terms->candidates = candidates;
    terms->caps.epsilon_max = terms->caps.requested = std::nullopt;
}

// How much one row moves a signal is not looked for, and would have to be for such a price.
static void check_signal_terms(const Decision &decision, const Terms &terms) {
    if (decision.parent != 0 && (is_selected(terms.algorithm) || terms.algorithm == Algorithm::within_data))
        refuse_form("the price of a signal cannot be found in the rows",
                    "The owner of the table passes tau, without a selection, or epsilon.",
                    "The terms of this decision, or of the requester's policy, would look there.");
}

// Refuses decisions that may depend on the data under a profile, of a table or of a role: it promises for others alone.
static void check_data_terms(const Decision &decision, const catalog::Settings &settings, const catalog::Policy &policy,
                             const Terms &terms) {
    check_signal_terms(decision, terms);
    if (decision.sighted && (policy.profile || settings.has_profile))
        refuse_value(
            policy.profile ? "basis \"rows\" does not go with the requester's risk profile"
                           : "basis \"rows\" does not go with the risk profile of the table",
            "What a profile promises rests on decisions that do not depend on the data: pass basis => 'public' if "
            "this is one.");
    if (terms.algorithm == Algorithm::within_data && !decision.sighted)
        refuse_value("the price of this request is found in the rows (within_data), and its basis would be public",
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
    else if (approval.has_epsilon) {
        check_minimum(policy, approval.epsilon);
        terms->caps.requested = Min(approval.epsilon, terms->caps.requested.value_or(approval.epsilon));
    }
    check_data_terms(decision, settings, policy, *terms);
}

void check_approved_price(const rows::Question *question, const Terms &terms) {
    const Decision &decision = *terms.decision;
    if (decision.by_owner || !decision.approval.has_epsilon)
        return;
    Terms whole = terms;
    whole.caps.requested = std::nullopt;
    Price price = price_in_advance(question, whole);
    if (!price.known || price.epsilon < decision.approval.epsilon)
        refuse_right(psprintf("epsilon %s is above the price of the request, %s",
                              decimal_text(decision.approval.epsilon), decimal_text(price.epsilon)),
                     "A reviewer may ask for less; only the owner of the table for more.");
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
    const catalog::JsonText json = catalog::JsonText::object();
    json("by", decision.by_owner ? "owner" : "reviewer");
    if (approval.has_tau)
        json("tau", approval.tau);
    if (approval.has_tau_var)
        json("tau_var", approval.tau_var);
    if (approval.has_epsilon)
        json("given", approval.epsilon);
    if (approval.within_data)
        json("selection", "within_data");
    if (approval.hold)
        json("hold", true);
    return {decision.request,
            json.closed(),
            basis_name(decision.sighted),
            decision.approver,
            false,
            0,
            {},
            decision.by_owner && !decision.sighted};
}

// Returns the rows as texts, which mean the same after a dump elsewhere.
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
    border::each_stored_row(answer.rows, answer.desc, [&](const TupleTableSlot *slot) {
        for (int i = 0; i < n; i++) {
            bool isnull = slot->tts_isnull[columns[i]];
            Datum text =
                isnull ? Datum(0) : CStringGetTextDatum(OutputFunctionCall(&outputs[i], slot->tts_values[columns[i]]));
            texts = accumArrayResult(texts, text, isnull, TEXTOID, CurrentMemoryContext);
        }
    });
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
    return array_of(elements, nulls, n, FLOAT8OID);
}

catalog::Settling *settle(const catalog::Requested &request, const Decision &decision, const rows::Question *question,
                          const Terms &terms, const Answer &answer) {
    int n;
    const int *columns = columns_of(request, question->leaf, &n);
    auto *settling = static_cast<catalog::Settling *>(palloc0(sizeof(catalog::Settling)));
    settling->request = decision.request;
    settling->state = decision.approval.hold ? "held" : "answered";
    settling->rows = rows_of(answer, columns, n);
    settling->coordinates = answer.storing == nullptr ? nullptr : answer.storing->answer.numbers;
    settling->error95 = error_array(answer.facts.error95, columns, n);
    settling->law = law_of(question, terms, answer, columns, n);
    return settling;
}

} // namespace dp::release
