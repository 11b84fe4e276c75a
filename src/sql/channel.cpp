// The channel on which those who decide hear of new requests. Anybody may LISTEN to any channel, and is told the payload and the
// process of whoever asks: so its name is known to the owner and the reviewers of a table alone.
#include "border/versions.hpp"
#include "catalog/lookup.hpp"
#include "sql/decide_requests.hpp"
extern "C" {
#include <commands/async.h>
}

namespace dp::sql {

constexpr int channel_digits = 32;

// Nobody else sees the uuid of a domain, which is random.
static const char *channel_of(const char *id, Oid relation) {
    const char *secret = psprintf("dp_rdr requests %s %u", id, relation);
    const Datum hash = DirectFunctionCall1(sha256_bytea, CStringGetTextDatum(secret));
    const Datum digits = DirectFunctionCall2(binary_encode, hash, CStringGetTextDatum("hex"));
    return psprintf("dp_rdr_%.*s", channel_digits, TextDatumGetCString(digits));
}

// trace_notify, which everybody may set, prints the name.
void tell_listeners(const catalog::Settings &settings, int64 request) {
    border::SettingsScope scope = border::SettingsScope::enter_for_catalog();
    Async_Notify(channel_of(settings.id_text, settings.relation), psprintf(INT64_FORMAT, request));
    scope.leave();
}

static Oid table_behind(const catalog::Reading &reading, Oid argument) {
    catalog::Lookup views = catalog::Lookup::open("restricted_view", reading);
    const catalog::Row *view = catalog::only(views.rows(ObjectIdGetDatum(argument)));
    Oid relation = view == nullptr ? argument : DatumGetObjectId(view->value("relation"));
    views.close();
    return relation;
}

// 42501 for whoever does not decide, whether the table is protected or not.
DP_CALL(dp_requests_channel) {
    catalog::Reading reading = catalog::Reading::open();
    Oid relation = table_behind(reading, PG_GETARG_OID(0)), role = GetUserId();
    const char *name = get_rel_name(relation);
    if (name == nullptr)
        refuse_with(ERRCODE_UNDEFINED_TABLE, psprintf("relation with OID %u does not exist", relation));
    const catalog::Bound *bound = catalog::read_bound(reading, relation);
    if (bound == nullptr || !(border::owns_relation(relation, role) || catalog::is_reviewer(reading, relation, role)))
        refuse_right(psprintf("role \"%s\" decides on no request about %s", GetUserNameFromId(role, false), name),
                     "The owner of a protected table decides, and whom dp_set_review() names.");
    reading.close();
    return CStringGetTextDatum(channel_of(bound->id_text, relation));
}

} // namespace dp::sql
