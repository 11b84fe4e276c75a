#include "sql/own_statements.hpp"

namespace dp::sql {

using catalog::Visit;

void refuse_as(int sqlstate, const char *message, const char *detail, const char *hint) {
    ereport(ERROR, (errcode(sqlstate), errmsg("%s", message), detail == nullptr ? 0 : errdetail("%s", detail),
                    hint == nullptr ? 0 : errhint("%s", hint)));
    pg_unreachable();
}

void refuse_value(const char *message, const char *hint, const char *detail) {
    refuse_as(ERRCODE_INVALID_PARAMETER_VALUE, message, detail, hint);
}

void refuse_state(const char *message, const char *hint, const char *detail) {
    refuse_as(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message, detail, hint);
}

void refuse_form(const char *message, const char *hint, const char *detail) {
    refuse_as(ERRCODE_FEATURE_NOT_SUPPORTED, message, detail, hint);
}

// ---- statements ----------------------------------------------------------------------------------------------------

uint64 run(const Visit &visit, const char *sql, Parameters parameters) {
    const int n = static_cast<int>(parameters.size());
    auto *types = static_cast<Oid *>(palloc(sizeof(Oid) * n));
    auto *values = static_cast<Datum *>(palloc(sizeof(Datum) * n));
    auto *nulls = static_cast<char *>(palloc0(n + 1));
    for (int i = 0; i < n; i++) {
        const Parameter &parameter = parameters.begin()[i];
        types[i] = parameter.type;
        values[i] = parameter.value;
        nulls[i] = parameter.isnull ? 'n' : ' ';
    }
    return visit.run(sql, n, types, values, nulls);
}

bool flag_at(uint64 row, int column) {
    bool isnull;
    const Datum value = border::Spi::value(row, column, &isnull);
    return !isnull && DatumGetBool(value);
}

Oid oid_at(uint64 row, int column) {
    bool isnull;
    const Datum value = border::Spi::value(row, column, &isnull);
    return isnull ? InvalidOid : DatumGetObjectId(value);
}

// ---- reports -------------------------------------------------------------------------------------------------------

void refuse_first(const Visit &visit, const char *sql, Parameters parameters) {
    if (run(visit, sql, parameters) == 0 || visit.spi.text(0, 1) == nullptr)
        return;
    const char *state = visit.spi.text(0, 1);
    refuse_as(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]), visit.spi.text(0, 2),
              visit.spi.text(0, 3), visit.spi.text(0, 4));
}

Reports reports_of(const Visit &visit, const char *sql, Parameters parameters) {
    const uint64 n = run(visit, sql, parameters);
    auto **texts = static_cast<char **>(MemoryContextAlloc(visit.spi.caller, sizeof(char *) * (4 * n + 1)));
    for (uint64 i = 0; i < 4 * n; i++)
        texts[i] = visit.spi.text(i / 4, static_cast<int>(i % 4) + 1);
    return Reports{n, texts};
}

void tell(const Reports &reports) {
    for (char **row = reports.texts; row < reports.texts + 4 * reports.n; row += 4)
        ereport(strcmp(row[0], "warning") == 0 ? WARNING : NOTICE,
                (errmsg("%s", row[1]), row[2] == nullptr ? 0 : errdetail("%s", row[2]),
                 row[3] == nullptr ? 0 : errhint("%s", row[3])));
}

} // namespace dp::sql
