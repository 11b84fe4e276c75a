// Makes the part of a report that is about a request: who asks, what for, at which price, and what its owner may decide after this look
// (architecture.md, 3.11).
#include "release/resolved.hpp"
#include "sql/call_arguments.hpp"
#include "sql/statement_leaves.hpp"
#include "sql/decide_requests.hpp"
#include "sql/refusal.hpp"
#include "sql/report.hpp"

namespace dp::sql {

using catalog::Requested;

// ---- the request ---------------------------------------------------------------------------------------------------

[[noreturn]] static void refuse_table(const Requested &request, const catalog::Settings &settings, Oid relation) {
    refuse_value(psprintf("request " INT64_FORMAT " is about %s, and the report about %s", request.id,
                          settings.relation_name, catalog::qualified_name(relation)),
                 "Pass the table that the request is about.");
}

// Finds a request about a table of the caller's. Any other is refused as one that is not there.
static const Requested *owned_request(Oid relation, int64 id) {
    catalog::Access access;
    const Requested *request = seen_request(id, &access);
    if (!access.owner)
        catalog::refuse_unknown(id);
    if (access.settings->relation != relation)
        refuse_table(*request, *access.settings, relation);
    if (strcmp(request->kind, "query") != 0)
        refuse_value(psprintf("request " INT64_FORMAT " asks for no query on the table", id),
                     "dp_inspect_signal() shows what a signal is.");
    return request;
}

// Finds what a keeper would find if the request were permitted now on the terms of the policy. It acts as who asks, and runs nothing
// of theirs.
static void find_terms(RequestLook *look) {
    const release::Ask &ask = look->ask;
    if (!SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(ask.asker.role))) {
        look->refusal = "the role that made it does not exist any more";
        return;
    }
    look->refusal = refusal_of([&] {
        border::RoleScope requester = border::RoleScope::enter(ask.asker.role);
        query::Leaf *leaf = release::check_ask(ask);
        const release::Checked resolved = release::resolve(ask, leaf, true);
        look->terms = resolved.terms;
        look->profiled = resolved.terms.caps.profile || resolved.question->settings->has_profile;
        look->price = release::price_in_advance(resolved.question, resolved.terms);
        requester.leave();
    });
}

const RequestLook *look_at_request(Oid relation, int64 id) {
    const Requested *request = owned_request(relation, id);
    auto *look = static_cast<RequestLook *>(palloc0(sizeof(RequestLook)));
    look->request = request;
    bool pending = strcmp(catalog::shown_state(*request), "pending") == 0;
    look->reviewed = pending && strcmp(request->decider, "review") == 0;
    look->decides = pending && !look->reviewed;
    catalog::record_look(*request);
    look->ask = release::ask_of(*request, nullptr);
    border::TimeZoneScope zone = border::TimeZoneScope::enter(look->ask.time_zone);
    find_terms(look);
    zone.leave();
    return look;
}

// ---- on the page ---------------------------------------------------------------------------------------------------

// Reads what is stored of a request, its purpose first.
static const char *const facts_sql = R"sql(
SELECT f.name, f.value FROM dp_rdr.request r, LATERAL (VALUES
        (0, 'purpose', r.purpose),
        (1, 'asked by', r.requester::text || CASE WHEN r.session_role <> r.requester THEN ' in a session of ' || r.session_role::text
                                                  ELSE '' END),
        (2, 'asked at', to_char(timezone('UTC', r.at), 'YYYY-MM-DD HH24:MI:SS') || ' UTC'),
        (3, 'expires at', to_char(timezone('UTC', r.expires_at), 'YYYY-MM-DD HH24:MI:SS') || ' UTC'),
        (4, 'decided by', CASE r.decider WHEN 'review' THEN 'reviewers' ELSE 'the owner' END),
        (5, 'asks for at most epsilon', trim_scale(r.epsilon_wanted)::text),
        (6, CASE WHEN r.state = 'pending' THEN 'price when it was asked' ELSE 'epsilon' END,
         coalesce(trim_scale((r.terms ->> 'epsilon')::numeric)::text, 'found in the rows')),
        (7, 'approved or rejected by', r.approver),
        (8, 'basis of the decision', r.basis),
        (9, 'reason', r.reason),
        (10, 'time zone', CASE WHEN (r.parameters ->> 'zoned')::boolean THEN r.parameters ->> 'time_zone' END)) f (place, name, value)
WHERE r.id = $1 AND f.value IS NOT NULL ORDER BY f.place)sql";

constexpr int most_value = 600, most_purpose = 2000; // characters

static const char *price_text(const RequestLook &look) {
    if (look.refusal != nullptr)
        return psprintf("it could not be permitted now: %s", look.refusal);
    if (!look.price.known)
        return release::is_public(look.terms.algorithm) ? "no candidate meets the preference" : "found in the rows";
    return psprintf("epsilon %s%s", printed(look.price.epsilon),
                    look.price.error95 == nullptr ? " at most, with the selection" : "");
}

static const char *advice_text(const RequestLook &look) {
    if (look.decides && look.profiled)
        return "You have now seen rows for this request, and that is written down. A risk profile, of the requester or "
               "of the table, rests on decisions that do not depend on rows: you can reject it, and no longer permit "
               "it.";
    if (look.decides)
        return "You have now seen rows for this request, and that is written down. dp_approve() and dp_reject() "
               "decide in their sight: the charge goes to the account conditional, and nothing bounds what the "
               "decision itself tells. basis => 'public' is refused.";
    if (look.reviewed)
        return "It is for the reviewers, and their decisions are public. You have now seen rows for it, and that is "
               "written down: you can neither permit nor reject it.";
    if (strcmp(look.request->state, "answered") == 0)
        return "Signals on its answer are about the rows that you have now seen, and that is written down: you decide "
               "on them in their sight.";
    return "";
}

static void add_facts(picture::Data *part, const Requested &request) {
    catalog::Visit visit = catalog::Visit::read();
    uint64 rows = run(visit, facts_sql, request.id);
    for (uint64 row = 0; row < rows; row++) {
        const bool is_purpose = row == 0;
        const char *name = visit.spi.text(row, 1),
                   *value = page_text(visit.spi.text(row, 2), is_purpose ? most_purpose : most_value);
        border::core([&] {
            if (is_purpose)
                part->texts["purpose"] = value;
            else
                part->lists["facts"].push_back(picture::fact(name, value));
        });
    }
    visit.leave();
}

void add_request_part(picture::Report *report, const RequestLook &look) {
    const Requested &request = *look.request;
    picture::Data *part = border::core([&] { return &report->questions.front().data.lists["request"].emplace_back(); });
    const char *state = catalog::shown_state(request), *advice = advice_text(look);
    const char *price = look.decides || look.reviewed ? page_text(price_text(look), most_value) : nullptr;
    border::core([&] {
        part->texts = {{"title", "Request " + std::to_string(request.id)}, {"advice", advice}};
        part->lists["facts"] = {picture::fact("state", state)};
        if (price != nullptr)
            part->lists["facts"].push_back(picture::fact("price now", price));
    });
    add_facts(part, request);
}

} // namespace dp::sql
