#include "catalog/ledger_row.hpp"

#include "catalog/described_row.hpp"

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

// Collects the columns from table_id to outcome, then basis, epoch and oids, as parameters, and as the JSON array that
// dp_rdr.ledger_content() makes of them: that function is what a row is verified by, this one only writes the same faster.
struct LedgerColumns {
    Columns columns = Columns::begin();
    StringInfoData content;

    template <class T> void operator()(const char *column, const T &value) {
        columns(column, value);
        appendStringInfoString(&content, content.len == 0 ? "[" : ", ");
        say(value, columns.values.values[columns.values.n - 1]);
    }

  private:
    void say(const char *text, Datum) {
        if (text == nullptr)
            appendStringInfoString(&content, "null");
        else
            escape_json(&content, text);
    }
    void say(int32 number, Datum) { say(psprintf("%d", number), 0); }
    void say(Oid oid, Datum) { say(psprintf("%u", oid), 0); }
    template <int Places> void say(privacy::Decimal<Places>, Datum numeric) { say(numeric_text(numeric), 0); }
    void say(Uuid, Datum uuid) { say(DatumGetCString(DirectFunctionCall1(uuid_out, uuid)), 0); }
    void say(Moment moment, Datum);
    void say(Typed, Datum json) {
        Jsonb *document = DatumGetJsonbP(json);
        (void)JsonbToCString(&content, &document->root, VARSIZE(document));
    }
};

// A time with time zone counts from 2000 in UTC, as a time without one does in its own.
void LedgerColumns::say(Moment moment, Datum) {
    struct pg_tm tm;
    fsec_t microseconds;
    if (timestamp2tm(moment.at, nullptr, &tm, &microseconds, nullptr, nullptr) != 0)
        elog(ERROR, "the clock is out of range");
    say(psprintf("%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min,
                 tm.tm_sec, static_cast<int>(microseconds)),
        0);
}

Datum sha256_of(const char *bytes, Size size) {
    auto *data = static_cast<bytea *>(palloc(VARHDRSZ + size));
    SET_VARSIZE(data, VARHDRSZ + size);
    memcpy(VARDATA(data), bytes, size);
    return DirectFunctionCall1(sha256_bytea, PointerGetDatum(data));
}

// Lists the sums in the order of their columns.
struct RaisedSums {
    const JsonText &json;
    template <class T> void operator()(const char *, const T &sum) const { json(nullptr, sum); }
};

// Sums are those of the cells that have most: a row says by how much it has raised them, so that they follow from the rows.
Datum describe_raise(const Price &price) {
    if (!price.by_cells)
        return Datum{0};
    const JsonText json = JsonText::object();
    json.open("raised", '[');
    for (privacy::CellSums sums : {price.raised, price.raised_role}) {
        RaisedSums raised = {json};
        fields(raised, sums);
    }
    json.close(']');
    return jsonb_of(json.closed());
}

Datum parameters_of(const Charge &what, const Price &price) {
    Datum parameters = jsonb_of(what.parameters);
    for (Datum more : {price.totals, price.period, price.cells, describe_raise(price)})
        if (more != Datum{0})
            parameters = DirectFunctionCall2(jsonb_concat, parameters, more);
    return parameters;
}

const char *mechanism_of(const Entry &entry) {
    if (entry.kind == RequestKind::suspension || is_carried(*entry.what))
        return "none";
    return entry.what->mechanism == privacy::Mechanism::laplace ? "laplace" : "gaussian";
}

// Returns the guarantee on the basis that is charged: who asks does not know it.
const char *guarantee_of(const Charge &what, const Price &price) {
    if (price.basis == privacy::Basis::epsilon || strncmp(what.guarantee, "(epsilon, delta)", 16) != 0)
        return what.guarantee;
    return price.cost.groups.units() > 0 ? "zCDP but for an event of probability delta_groups" : "zCDP";
}

// Names the columns in the order of the content.
void fields(LedgerColumns &visit, const Entry &entry, const Price &price) {
    const Charge &what = *entry.what;
    const Settings &settings = *what.settings;
    visit("table_id", Uuid{settings.id_text});
    visit("at", Moment{price.at});
    visit("relation", name_or(settings.relation, settings.relation_name));
    visit("relation_oid", settings.relation);
    visit("view", name_or(settings.view, settings.view_name));
    visit("view_oid", settings.view);
    visit("grantee", what.grantee);
    visit("role_name", role_name(what.asker.role));
    visit("role_oid", what.asker.role);
    visit("session_role", role_name(what.asker.session_role));
    visit("query", kept_query(what.query));
    visit("account", privacy::name_of(what.account));
    visit("kind", what.kind);
    visit("algorithm", what.algorithm);
    visit("mechanism", mechanism_of(entry));
    visit("epsilon", price.cost.epsilon);
    visit("epsilon_svt", price.selection);
    visit("epsilon_worst", price.worst);
    visit("delta", price.cost.charged(price.basis));
    visit("delta_noise", price.delta_noise);
    visit("delta_groups", price.cost.groups);
    visit("rho", price.cost.rho);
    visit("parameters", Typed{JSONBOID, parameters_of(what, price)});
    visit("guarantee", guarantee_of(what, price));
    visit("outcome", entry.kind == RequestKind::suspension ? "suspended" : "charged");
    visit("basis", privacy::name_of(price.basis));
    visit("epoch", int32{price.epoch});
    visit("grantee_oid", what.grantee_oid);
    visit("session_oid", what.asker.session_role);
}

} // namespace

const char *kept_query(const char *query) {
    constexpr Size most = 8 * 1024; // the ledger is kept for ever
    const Size length = query == nullptr ? 0 : strlen(query);
    if (length <= most)
        return query;
    // Behind the mark of bytes: bytea_output is forced.
    const char *hash = DatumGetCString(DirectFunctionCall1(byteaout, sha256_of(query, length))) + 2;
    const char *mark = psprintf(" ... (cut: %zu bytes, SHA-256 %s)", length, hash);
    const int encoding = GetDatabaseEncoding() == PG_SQL_ASCII ? PG_UTF8 : GetDatabaseEncoding(); // see query/limits
    const int kept =
        pg_encoding_mbcliplen(encoding, query, static_cast<int>(length), static_cast<int>(most - strlen(mark)));
    return psprintf("%s%s", pnstrdup(query, kept), mark);
}

namespace {

constexpr int content_version = 2;

// In UTF8, whatever the database's encoding is.
Datum sealed(const LedgerColumns &row) {
    return DirectFunctionCall2(pg_convert_to,
                               PointerGetDatum(cstring_to_text_with_len(row.content.data, row.content.len)),
                               DirectFunctionCall1(namein, CStringGetDatum("UTF8")));
}

// Hashes like dp_rdr.ledger_hash(): version, previous hash and content, with a vertical bar between them.
Datum chained(Datum head, Datum content) {
    bytea *previous = DatumGetByteaPP(head), *said = DatumGetByteaPP(content);
    StringInfo all = makeStringInfo();
    appendStringInfo(all, "%d|", content_version);
    appendBinaryStringInfo(all, VARDATA_ANY(previous), VARSIZE_ANY_EXHDR(previous));
    appendStringInfoChar(all, '|');
    appendBinaryStringInfo(all, VARDATA_ANY(said), VARSIZE_ANY_EXHDR(said));
    return sha256_of(all->data, all->len);
}

} // namespace

Datum write_ledger_row(const border::Spi &spi, const Entry &entry, const Price &price, Datum head) {
    static border::Statement statement(nullptr);
    LedgerColumns row;
    initStringInfo(&row.content);
    fields(row, entry, price);
    appendStringInfoChar(&row.content, ']');
    Datum content = sealed(row);
    Datum hash = chained(head, content);
    row.columns("content_version", int32{content_version});
    row.columns("content", Typed{BYTEAOID, content});
    row.columns("previous_hash", Typed{BYTEAOID, head});
    row.columns("hash", Typed{BYTEAOID, hash});
    row.columns.insert(spi, statement, "ledger_row");
    return hash;
}

} // namespace dp::catalog
