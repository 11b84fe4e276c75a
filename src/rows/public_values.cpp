#include "rows/public_values.hpp"

#include "border/scope.hpp"
#include "border/spi.hpp"
#include "catalog/foreign_code.hpp"
#include "rows/groups.hpp"

namespace dp::rows {

// What the reader of a public table sees of it is what the answer will see, as far as nobody writes to it meanwhile.
static uint64 look(const border::Spi &spi, const catalog::Reading &reading, const char *sql) {
    PushActiveSnapshot(reading.snapshot);
    uint64 rows = spi.run(sql, true);
    PopActiveSnapshot();
    return rows;
}

static const char *column_text(Oid relation, AttrNumber column) {
    return quote_identifier(get_attname(relation, column, false));
}

int64 largest_multiplicity(const catalog::Reading &reading, Oid relation, int ncolumns, const AttrNumber *columns) {
    StringInfoData names, where;
    initStringInfo(&names);
    initStringInfo(&where);
    for (int i = 0; i < ncolumns; i++) {
        const char *name = column_text(relation, columns[i]);
        appendStringInfo(&names, "%s%s", i == 0 ? "" : ", ", name);
        appendStringInfo(&where, "%s%s IS NOT NULL AND dp_rdr.is_short(%s)", i == 0 ? "" : " AND ", name, name);
    }
    border::SettingsScope settings = border::SettingsScope::enter();
    border::Spi spi = border::Spi::connect();
    (void)look(spi, reading,
               psprintf("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM %s WHERE %s GROUP BY %s) x",
                        catalog::qualified_name(relation), where.data, names.data));
    bool isnull;
    int64 most = DatumGetInt64(border::Spi::value(0, 1, &isnull));
    spi.finish();
    settings.leave();
    return most;
}

static bool has_order(Oid type) {
    Oid compare = lookup_type_cache(type, TYPECACHE_CMP_PROC)->cmp_proc;
    return OidIsValid(compare) && catalog::is_compiled(compare);
}

static KeyDomain domain_of_rows(const border::Spi &spi, uint64 n, bool with_null, const Var &column) {
    int16 length;
    bool by_value;
    get_typlenbyval(column.vartype, &length, &by_value);
    MemoryContext old = MemoryContextSwitchTo(spi.caller);
    auto *values = static_cast<Datum *>(palloc0(sizeof(Datum) * (n + 1)));
    auto *nulls = static_cast<bool *>(palloc0(sizeof(bool) * (n + 1)));
    for (uint64 i = 0; i < n; i++) {
        Datum value = border::Spi::value(i, 1, &nulls[i]);
        if (!nulls[i])
            values[i] =
                length == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) : datumCopy(value, by_value, length);
    }
    int count = static_cast<int>(n);
    if (with_null)
        nulls[count++] = true;
    KeyDomain domain = domain_of_values(column.vartype, column.varcollid, values, nulls, count);
    MemoryContextSwitchTo(old);
    return domain;
}

bool public_domain(const catalog::Reading &reading, Oid relation, AttrNumber column, bool with_null, int most,
                   KeyDomain *domain) {
    Var spec = {};
    get_atttypetypmodcoll(relation, column, &spec.vartype, &spec.vartypmod, &spec.varcollid);
    if (!has_order(spec.vartype))
        return false;
    const char *name = column_text(relation, column);
    border::SettingsScope settings = border::SettingsScope::enter();
    border::Spi spi = border::Spi::connect();
    uint64 n = look(spi, reading,
                    psprintf("SELECT DISTINCT %s FROM %s WHERE dp_rdr.is_short(%s) IS NOT FALSE LIMIT %d", name,
                             catalog::qualified_name(relation), name, most + 1));
    bool fits = n <= static_cast<uint64>(most);
    if (fits)
        *domain = domain_of_rows(spi, n, with_null, spec);
    spi.finish();
    settings.leave();
    return fits;
}

} // namespace dp::rows
