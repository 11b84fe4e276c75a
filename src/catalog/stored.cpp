#include "catalog/stored.hpp"

#include "catalog/described_row.hpp"

namespace dp::catalog {

// In UTC: a day has 24 hours whatever time zone the asker is in.
static TimestampTz end_of(TimestampTz at, const Interval &replay) {
    return DatumGetTimestampTz(
        DirectFunctionCall2(timestamp_pl_interval, TimestampTzGetDatum(at), PointerGetDatum(&replay)));
}

template <class V> static void fields(V &visit, StoredAnswer &answer) {
    visit("charged", answer.charged, JSONBOID);
    visit("group_keys", answer.groups, TEXTARRAYOID);
    visit("coordinates", answer.numbers, NUMERICARRAYOID);
    visit("at", answer.at, TIMESTAMPTZOID);
    visit("expires_at", answer.expires, TIMESTAMPTZOID);
}

const StoredAnswer *find_stored(const Reading &reading, const StoredKey &key, const Interval &replay) {
    StoredAnswer *found = nullptr;
    TimestampTz now = GetCurrentTimestamp();
    Lookup answers = Lookup::open("stored_answer", reading);
    List *rows = answers.rows(UUIDPGetDatum(&key.table), key.grantee, key.hash); // by their age
    for (auto *row : border::each<const Row>(rows)) {
        if (now < DatumGetTimestampTz(row->value("expires_at")) &&
            now < end_of(DatumGetTimestampTz(row->value("at")), replay)) {
            found = static_cast<StoredAnswer *>(palloc(sizeof(StoredAnswer)));
            RowReader visit{*row};
            fields(visit, *found);
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

// Deletes what has expired, a hundred at a time, which is more than is stored; what somebody else deletes already is left to him.
static void delete_expired(const border::Spi &spi) {
    static border::Statement statement(
        "DELETE FROM dp_rdr.stored_answer a USING (SELECT s.table_id, s.grantee, s.key, s.at "
        "FROM dp_rdr.stored_answer s WHERE s.expires_at <= clock_timestamp() ORDER BY s.expires_at LIMIT 100 "
        "FOR UPDATE SKIP LOCKED) old WHERE a.table_id = old.table_id AND a.grantee = old.grantee AND a.key = old.key "
        "AND a.at = old.at");
    (void)run(spi, statement);
}

void put_stored(const border::Spi &spi, const Storing &what) {
    static border::Statement statement(nullptr);
    delete_expired(spi);
    StoredAnswer answer = what.answer;
    answer.at = GetCurrentTimestamp();
    answer.expires = end_of(answer.at, *what.replay);
    Columns visit = Columns::begin();
    visit("table_id", what.key.table);
    visit("grantee", what.key.grantee);
    visit("key", Typed{BYTEAOID, what.key.hash});
    fields(visit, answer);
    visit.insert(spi, statement, "stored_answer");
}

} // namespace dp::catalog
