#include "catalog/ledger_row.hpp"

#include "catalog/decimals.hpp"
#include "catalog/parameters.hpp"

namespace dp::catalog {

const char *role_name(Oid role) {
    const char *name = GetUserNameFromId(role, true);
    return name != nullptr ? name : psprintf("%u", role);
}

// Quoted as this process quotes.
const char *name_or(Oid relation, const char *otherwise) {
    const char *name = get_rel_name(relation);
    return name == nullptr ? otherwise
                           : quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name);
}

bool is_carried(const Charge &what) {
    return strcmp(what.kind, "closing") == 0 || strcmp(what.kind, "join") == 0;
}

namespace {

// The columns from table_id to outcome, then basis, epoch and oids, as parameters, and as the JSON array that dp_rdr.ledger_content() makes of them: that
// function is what a row is verified by, this one only writes the same faster.
struct Row {
    Parameters values;
    StringInfoData content;

    void separate() { appendStringInfoString(&content, content.len == 0 ? "[" : ", "); }
    void say(const char *text) {
        separate();
        if (text == nullptr)
            appendStringInfoString(&content, "null");
        else
            escape_json(&content, text);
    }
    void add_text(const char *text) {
        values.add_text(text);
        say(text);
    }
    void add_number(int32 number) {
        values.add_number(number);
        say(psprintf("%d", number));
    }
    void add_oid(Oid oid) {
        values.add_oid(oid);
        say(psprintf("%u", oid));
    }
    template <int Places> void add_numeric(privacy::Decimal<Places> value) {
        values.add_numeric(value);
        say(numeric_text(values.values[values.n - 1]));
    }
    void add_uuid(const char *text) {
        values.add_uuid(text);
        say(DatumGetCString(DirectFunctionCall1(uuid_out, values.values[values.n - 1])));
    }
    void add_time(TimestampTz at);
    void add_json(Datum json) {
        values.add(JSONBOID, json);
        separate();
        Jsonb *document = DatumGetJsonbP(json);
        (void)JsonbToCString(&content, &document->root, VARSIZE(document));
    }
};

// A time with time zone counts from 2000 in UTC, as a time without one does in its own.
void Row::add_time(TimestampTz at) {
    values.add(TIMESTAMPTZOID, TimestampTzGetDatum(at));
    struct pg_tm tm;
    fsec_t microseconds;
    if (timestamp2tm(at, nullptr, &tm, &microseconds, nullptr, nullptr) != 0)
        elog(ERROR, "the clock is out of range");
    say(psprintf("%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min,
                 tm.tm_sec, static_cast<int>(microseconds)));
}

// The ledger is kept for ever. Of a long text it has the beginning, and in `parameters` the length and the hash of all of it.
constexpr int kept_text = 8 * 1024;

const char *beginning_of(const char *text) {
    static const char mark[] = " ... (cut)";
    int encoding = GetDatabaseEncoding() == PG_SQL_ASCII ? PG_UTF8 : GetDatabaseEncoding(); // see query/limits
    int kept = pg_encoding_mbcliplen(encoding, text, static_cast<int>(strlen(text)),
                                     kept_text - static_cast<int>(strlen(mark)));
    return psprintf("%s%s", pnstrdup(text, kept), mark);
}

bool is_long(const char *text) {
    return text != nullptr && strlen(text) > kept_text;
}

Datum sha256_of(const char *bytes, Size size) {
    auto *data = static_cast<bytea *>(palloc(VARHDRSZ + size));
    SET_VARSIZE(data, VARHDRSZ + size);
    memcpy(VARDATA(data), bytes, size);
    return DirectFunctionCall1(sha256_bytea, PointerGetDatum(data));
}

Datum json_of(const char *text) {
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(text));
}

Datum parameters_of(const Charge &what, const Price &price, bool is_cut) {
    Datum parameters = json_of(what.parameters);
    for (Datum more : {price.totals, price.period})
        if (more != Datum{0})
            parameters = DirectFunctionCall2(jsonb_concat, parameters, more);
    if (!is_cut)
        return parameters;
    Datum hash = sha256_of(what.query, strlen(what.query));
    const char *hex =
        DatumGetCString(DirectFunctionCall1(byteaout, hash)) + 2; // behind its mark: bytea_output is forced
    Datum more = json_of(psprintf("{\"query_bytes\": %zu, \"query_sha256\": \"%s\"}", strlen(what.query), hex));
    return DirectFunctionCall2(jsonb_concat, parameters, more);
}

void add_names(Row *row, const Charge &what) {
    const Settings &settings = *what.settings;
    row->add_text(name_or(settings.relation, settings.relation_name));
    row->add_oid(settings.relation);
    row->add_text(name_or(settings.view, settings.view_name));
    row->add_oid(settings.view);
    row->add_text(what.grantee);
    row->add_text(role_name(what.asker.role));
    row->add_oid(what.asker.role);
    row->add_text(role_name(what.asker.session_role));
}

void add_price(Row *row, const Price &price) {
    row->add_numeric(price.cost.epsilon);
    row->add_numeric(price.selection);
    row->add_numeric(price.worst);
    row->add_numeric(price.cost.charged(price.basis));
    row->add_numeric(price.delta_noise);
    row->add_numeric(price.cost.groups);
    row->add_numeric(price.cost.rho);
}

const char *mechanism_of(const Entry &entry) {
    if (entry.kind == RequestKind::suspension || is_carried(*entry.what))
        return "none";
    return entry.what->mechanism == privacy::Mechanism::laplace ? "laplace" : "gaussian";
}

// Who asks does not know on which basis he will be charged.
const char *guarantee_of(const Charge &what, const Price &price) {
    if (price.basis == privacy::Basis::epsilon || strncmp(what.guarantee, "(epsilon, delta)", 16) != 0)
        return what.guarantee;
    return price.cost.groups.units() > 0 ? "zCDP but for an event of probability delta_groups" : "zCDP";
}

void fill(Row *row, const Entry &entry, const Price &price) {
    const Charge &what = *entry.what;
    const bool suspends = entry.kind == RequestKind::suspension;
    const bool is_cut = is_long(what.query);
    row->add_uuid(what.settings->id_text);
    row->add_time(price.at);
    add_names(row, what);
    row->add_text(kept_query(what.query));
    row->add_text(what.account == privacy::Account::public_account ? "public" : "conditional");
    row->add_text(what.kind);
    row->add_text(what.algorithm);
    row->add_text(mechanism_of(entry));
    add_price(row, price);
    row->add_json(parameters_of(what, price, is_cut));
    row->add_text(guarantee_of(what, price));
    row->add_text(suspends ? "suspended" : "charged");
    row->add_text(privacy::name_of(price.basis));
    row->add_number(price.epoch);
    row->add_oid(what.grantee_oid);
    row->add_oid(what.asker.session_role);
    appendStringInfoChar(&row->content, ']');
}

} // namespace

const char *kept_query(const char *query) {
    return is_long(query) ? beginning_of(query) : query;
}

namespace {

constexpr int content_version = 2;

// In UTF8, whatever the database's encoding is.
Datum sealed(const Row &row) {
    return DirectFunctionCall2(pg_convert_to,
                               PointerGetDatum(cstring_to_text_with_len(row.content.data, row.content.len)),
                               DirectFunctionCall1(namein, CStringGetDatum("UTF8")));
}

// As dp_rdr.ledger_hash() does: version, previous hash and content, with a vertical bar between them.
Datum chained(Datum head, Datum content) {
    bytea *previous = DatumGetByteaPP(head), *said = DatumGetByteaPP(content);
    StringInfoData all;
    initStringInfo(&all);
    appendStringInfo(&all, "%d|", content_version);
    appendBinaryStringInfo(&all, VARDATA_ANY(previous), VARSIZE_ANY_EXHDR(previous));
    appendStringInfoChar(&all, '|');
    appendBinaryStringInfo(&all, VARDATA_ANY(said), VARSIZE_ANY_EXHDR(said));
    return sha256_of(all.data, all.len);
}

border::Statement insert_statement(R"sql(
INSERT INTO dp_rdr.ledger_row (table_id, at, relation, relation_oid, view, view_oid, grantee, role_name, role_oid,
  session_role, query, account, kind, algorithm, mechanism, epsilon, epsilon_svt, epsilon_worst, delta, delta_noise,
  delta_groups, rho, parameters, guarantee, outcome, basis, epoch, grantee_oid, session_oid, content_version, content,
  previous_hash, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
  $25, $26, $27, $28, $29, $30, $31, $32, $33))sql");

} // namespace

Datum write_ledger_row(const border::Spi &spi, const Entry &entry, const Price &price, Datum head) {
    Row row;
    initStringInfo(&row.content);
    fill(&row, entry, price);
    Datum content = sealed(row);
    Datum hash = chained(head, content);
    row.values.add(INT4OID, Int32GetDatum(content_version));
    row.values.add(BYTEAOID, content);
    row.values.add(BYTEAOID, head);
    row.values.add(BYTEAOID, hash);
    if (run(spi, insert_statement, row.values) != 1)
        elog(ERROR, "the charge wrote no ledger row");
    return hash;
}

} // namespace dp::catalog
