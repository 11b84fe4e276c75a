// Implements dp_report: a page of HTML about a table, and about one query (doc/reference.md). Everything on it is for the owner alone, as
// in dp_risk_records: no noise, nothing charged.
#include "picture/html.hpp"
#include "sql/call_arguments.hpp"
#include "sql/controller.hpp"
#include "sql/report.hpp"

namespace dp::sql {

namespace {
// Arguments of dp_report, by position.
enum ReportArgument {
    report_relation,
    report_query,
    report_request,
    report_tau,
    report_mechanism,
    report_delta,
    report_epsilons,
    report_records,
    report_losses
};
constexpr int most_records = 1000;
} // namespace

// ---- texts ---------------------------------------------------------------------------------------------------------

// Converts a text to UTF-8. Bytes without an equivalent go on as they are, and the page shows their numbers: a text in a denied query,
// say, must not keep an owner from the report.
static const char *converted(const char *text, int length) {
    int encoding = GetDatabaseEncoding();
    Oid conversion = FindDefaultConversionProc(encoding, PG_UTF8);
    if (!OidIsValid(conversion))
        return text;
    int room = length * MAX_CONVERSION_GROWTH + 1;
    auto *part = static_cast<unsigned char *>(palloc(room));
    StringInfoData whole;
    initStringInfo(&whole);
    while (length > 0) {
        int done = pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8,
                                                 reinterpret_cast<unsigned char *>(const_cast<char *>(text)), length,
                                                 part, room, true);
        appendStringInfoString(&whole, reinterpret_cast<char *>(part));
        text += done;
        length -= done;
        int left = length > 0 ? Min(pg_mblen(text), length) : 0;
        appendBinaryStringInfo(&whole, text, left);
        text += left;
        length -= left;
    }
    pfree(part);
    return whole.data;
}

// Bytes that are no text of an encoding (SQL_ASCII) are shown as bytes.
const char *page_text(const char *text) {
    int encoding = GetDatabaseEncoding();
    return encoding == PG_UTF8 || encoding == PG_SQL_ASCII ? text : converted(text, static_cast<int>(strlen(text)));
}

const char *page_text(const char *text, int characters) {
    // No more is converted than may be shown.
    int most = (characters + 1) * MAX_MULTIBYTE_CHAR_LEN;
    int length = pg_mbcliplen(text, static_cast<int>(strnlen(text, most + MAX_MULTIBYTE_CHAR_LEN)), most);
    const char *whole = page_text(pnstrdup(text, length));
    auto *made = static_cast<char *>(palloc(strlen(whole) + 4)); // an ellipsis has three bytes
    border::core([&] { strcpy(made, picture::cut(whole, characters).c_str()); });
    return made;
}

// ---- the page ------------------------------------------------------------------------------------------------------

// $1: the table, $2: who asks, $3 and $4: style and script of the page.
static const char *const facts_sql = R"sql(
SELECT current_database(), pg_get_userbyid(c.relowner), to_char(timezone('UTC', now()), 'YYYY-MM-DD HH24:MI:SS') || ' UTC',
       pg_get_userbyid($2), encode(sha256($3::bytea), 'base64'), encode(sha256($4::bytea), 'base64')
FROM pg_class c WHERE c.oid = $1)sql";

static void add_facts(picture::Report *report, const ReportCall &call) {
    const char *table = page_text(catalog::qualified_name(call.relation));
    const Oid caller = GetUserId();
    const catalog::Typed style = {BYTEAOID, CStringGetTextDatum(picture::report_style())},
                         script = {BYTEAOID, CStringGetTextDatum(picture::report_script())};
    catalog::Visit visit = catalog::Visit::read();
    run(visit, facts_sql, call.relation, caller, style, script);
    const char *facts[6];
    for (int i = 0; i < 6; i++)
        facts[i] = page_text(visit.spi.text(0, i + 1));
    border::core([&] {
        report->table = table;
        report->facts = {picture::fact("table", table),
                         picture::fact("database", facts[0]),
                         picture::fact("owner", facts[1]),
                         picture::fact("made at", facts[2]),
                         picture::fact("made by", facts[3]),
                         picture::fact("made with", std::string("dp_rdr ") + border::library_version)};
        report->style_hash = facts[4];
        report->script_hash = facts[5];
    });
    visit.leave();
}

static text *made_page(const picture::Report *report) {
    auto *whole = border::context_new<std::string>(); // memory of the server's is taken outside the core
    border::core([&] { *whole = picture::page(*report); });
    return cstring_to_text_with_len(whole->data(), static_cast<int>(whole->size()));
}

// ---- dp_report -----------------------------------------------------------------------------------------------------

// Takes what the call leaves open from the requester's policy. Without a request tau is 0.95 and the noise Laplace's.
static void read_noise(FunctionCallInfo fcinfo, ReportCall *call) {
    const release::Terms *terms =
        call->look != nullptr && call->look->refusal == nullptr ? &call->look->terms : nullptr;
    bool has_tau = terms != nullptr && (terms->algorithm == release::Algorithm::within_domain ||
                                        terms->algorithm == release::Algorithm::within_data);
    call->tau = has_tau ? terms->tau : 0.95;
    if (!PG_ARGISNULL(report_tau))
        call->tau = checked_tau(PG_GETARG_FLOAT8(report_tau));
    call->mechanism = terms != nullptr ? terms->mechanism : privacy::Mechanism::laplace;
    if (!PG_ARGISNULL(report_mechanism))
        call->mechanism = mechanism_named(text_argument(fcinfo, report_mechanism));
    delta_argument(fcinfo, report_delta, call);
    if (!call->has_delta && terms != nullptr && terms->delta.units() > 0) {
        call->has_delta = true;
        call->delta = terms->delta;
    }
}

static ReportCall read_call(FunctionCallInfo fcinfo) {
    require(fcinfo, {report_relation, report_records});
    ReportCall call = {};
    call.relation = protected_relation(PG_GETARG_OID(report_relation));
    call.query = text_argument(fcinfo, report_query);
    if (call.query != nullptr && !PG_ARGISNULL(report_request))
        refuse_value("a query and a request are passed", "Leave one of them out: a request brings its query with it.");
    if (!PG_ARGISNULL(report_request))
        call.look = look_at_request(call.relation, PG_GETARG_INT64(report_request));
    read_noise(fcinfo, &call);
    call.candidates = catalog::candidates_from_array(array_argument(fcinfo, report_epsilons));
    call.records = PG_GETARG_INT32(report_records);
    if (call.records < 0 || call.records > most_records)
        refuse_value(psprintf("records must be between 0 and %d, not %d", most_records, call.records),
                     "dp_risk_records() shows all of them.");
    call.losses = !PG_ARGISNULL(report_losses) && PG_GETARG_BOOL(report_losses);
    call.function = fcinfo->flinfo->fn_oid;
    return call;
}

// Reads a request as its requester means it: some types are compared in the requester's time zone.
static void add_query(picture::Report *report, const ReportCall &call) {
    border::TimeZoneScope zone = border::TimeZoneScope::enter(
        call.look != nullptr ? call.look->ask.time_zone : GetConfigOption("TimeZone", false, false));
    add_query_parts(report, call);
    zone.leave();
    if (call.look != nullptr)
        add_request_part(report, *call.look);
}

DP_CALL(dp_report) {
    ReportCall call = read_call(fcinfo);
    auto *report = border::context_new<picture::Report>();
    add_facts(report, call);
    if (call.query != nullptr || call.look != nullptr)
        add_query(report, call);
    add_tables(report, call);
    PG_RETURN_TEXT_P(made_page(report));
}

} // namespace dp::sql
