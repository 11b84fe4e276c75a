#include "catalog/stored.hpp"

#include "catalog/lookup.hpp"
#include "catalog/parameters.hpp"

namespace dp::catalog {

// In UTC: a day has 24 hours whatever time zone the asker is in.
static TimestampTz end_of(TimestampTz at, const Interval &replay) {
    return DatumGetTimestampTz(
        DirectFunctionCall2(timestamp_pl_interval, TimestampTzGetDatum(at), PointerGetDatum(&replay)));
}

static StoredAnswer *read_answer(const Row &row) {
    auto *answer = static_cast<StoredAnswer *>(palloc0(sizeof(StoredAnswer)));
    answer->charged = PointerGetDatum(PG_DETOAST_DATUM_COPY(row.value("charged")));
    bool isnull;
    Datum groups = row.value("group_keys", &isnull);
    answer->groups = isnull ? nullptr : DatumGetArrayTypePCopy(groups);
    answer->numbers = DatumGetArrayTypePCopy(row.value("coordinates"));
    answer->at = DatumGetTimestampTz(row.value("at"));
    answer->expires = DatumGetTimestampTz(row.value("expires_at"));
    return answer;
}

const StoredAnswer *find_stored(const Reading &reading, const StoredKey &key, const Interval &replay) {
    const StoredAnswer *found = nullptr;
    TimestampTz now = GetCurrentTimestamp();
    Lookup answers = Lookup::open("stored_answer", reading);
    List *rows = answers.rows(UUIDPGetDatum(&key.table), key.grantee, key.hash); // by their age
    ListCell *cell;
    foreach (cell, rows) {
        const Row &row = *static_cast<const Row *>(lfirst(cell));
        if (now < DatumGetTimestampTz(row.value("expires_at")) &&
            now < end_of(DatumGetTimestampTz(row.value("at")), replay)) {
            found = read_answer(row);
            break;
        }
    }
    answers.close();
    return found;
}

int64 times_forgotten(const Reading &reading, const pg_uuid_t &table) {
    Lookup forgotten = Lookup::open("forgotten", reading);
    const Row *row = only(forgotten.rows(UUIDPGetDatum(&table)));
    int64 times = row == nullptr ? 0 : DatumGetInt64(row->value("times"));
    forgotten.close();
    return times;
}

// What has expired goes a hundred at a time, which is more than is stored; what somebody else deletes already is left to him.
static void delete_expired(const border::Spi &spi) {
    static border::Statement statement(
        "DELETE FROM dp_rdr.stored_answer a USING (SELECT s.table_id, s.grantee, s.key, s.at "
        "FROM dp_rdr.stored_answer s WHERE s.expires_at <= clock_timestamp() ORDER BY s.expires_at LIMIT 100 "
        "FOR UPDATE SKIP LOCKED) old WHERE a.table_id = old.table_id AND a.grantee = old.grantee AND a.key = old.key "
        "AND a.at = old.at");
    Parameters parameters;
    (void)run(spi, statement, parameters);
}

void put_stored(const border::Spi &spi, const Storing &what) {
    static border::Statement statement(
        "INSERT INTO dp_rdr.stored_answer (table_id, grantee, key, at, expires_at, charged, group_keys, coordinates) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
    delete_expired(spi);
    TimestampTz now = GetCurrentTimestamp();
    Parameters parameters;
    parameters.add(UUIDOID, UUIDPGetDatum(&what.key.table));
    parameters.add_oid(what.key.grantee);
    parameters.add(BYTEAOID, what.key.hash);
    parameters.add(TIMESTAMPTZOID, TimestampTzGetDatum(now));
    parameters.add(TIMESTAMPTZOID, TimestampTzGetDatum(end_of(now, *what.replay)));
    parameters.add(JSONBOID, what.answer.charged);
    parameters.add(TEXTARRAYOID, PointerGetDatum(what.answer.groups), what.answer.groups == nullptr);
    parameters.add(NUMERICARRAYOID, PointerGetDatum(what.answer.numbers));
    (void)run(spi, statement, parameters);
}

} // namespace dp::catalog
