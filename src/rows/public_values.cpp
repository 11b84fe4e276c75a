#include "rows/public_values.hpp"

#include <algorithm>
#include <cmath>

#include "border/each.hpp"
#include "border/listed.hpp"
#include "border/spi.hpp"
#include "catalog/collation.hpp"
#include "catalog/foreign_code.hpp"
#include "query/leaf_rows.hpp"
#include "catalog/foreign_part.hpp"
#include "rows/arrays.hpp"
#include "rows/compared.hpp"
#include "rows/groups.hpp"
#include "rows/pinned.hpp"

namespace dp::rows {

// Names the table in such a query. A keeper calls no hook of Citus, without which one of its tables is empty: the rows are in the shard.
static const char *readable_name(Oid relation) {
    const Oid shard = catalog::shard_here(relation);
    return catalog::qualified_name(OidIsValid(shard) ? shard : relation);
}

static const char *column_text(const query::Source &source, AttrNumber column) {
    return quote_identifier(query::name_of_column(source.relation, source.rows, column));
}

// Returns the item of FROM, under the pinned settings. Values that are passed are its parameters.
static const char *table_text(const query::Source &source) {
    if (source.rows == nullptr)
        return readable_name(source.relation);
    const int n = query::columns_of(InvalidOid, source.rows) + 1;
    const char *arrays = border::listed(1, n, [&](int i) {
        const Oid collation = query::array_of_column(source.rows, static_cast<AttrNumber>(i))->constcollid;
        return psprintf("$%d%s", i,
                        OidIsValid(collation) ? psprintf(" COLLATE %s", catalog::qualified_collation(collation)) : "");
    });
    const char *names = border::listed(1, n, [&](int i) { return column_text(source, static_cast<AttrNumber>(i)); });
    return psprintf("unnest(%s) AS passed (%s)", arrays, names);
}

// Queries a public table as its reader: SELECT list FROM table and what follows. `take` reads the rows, of which there are n. The answer
// sees the same ones, unless somebody writes to the table meanwhile.
template <class Take>
static auto look(const catalog::Reading *reading, const query::Source &source, const char *list, const char *rest,
                 Take &&take) {
    const int passed = source.rows == nullptr ? 0 : query::columns_of(InvalidOid, source.rows);
    auto *types = array_of<Oid>(passed + 1);
    auto *values = array_of<Datum>(passed + 1);
    auto *nulls = array_of<char>(passed + 1);
    for (int i = 0; i < passed; i++) {
        const Const *array = query::array_of_column(source.rows, static_cast<AttrNumber>(i + 1));
        types[i] = array->consttype;
        values[i] = array->constvalue;
        nulls[i] = array->constisnull ? 'n' : ' ';
    }
    return pinned([&] {
        border::Spi spi = border::Spi::connect();
        border::RoleScope role = border::RoleScope::enter(OidIsValid(source.reader) ? source.reader : GetUserId());
        PushActiveSnapshot(reading == nullptr ? GetTransactionSnapshot() : reading->snapshot);
        const uint64 n = spi.run(psprintf("SELECT %s FROM %s%s", list, table_text(source), rest), true, passed, types,
                                 values, nulls);
        PopActiveSnapshot();
        role.leave();
        auto taken = take(spi, n);
        spi.finish();
        return taken;
    });
}

int64 largest_multiplicity(const catalog::Reading *reading, const query::Source &source, int ncolumns,
                           const AttrNumber *columns, bool with_null) {
    StringInfo where = makeStringInfo();
    for (int i = 0; i < ncolumns; i++) {
        const char *name = column_text(source, columns[i]);
        appendStringInfo(
            where, with_null ? "%s (%s IS NULL OR dp_rdr.is_short(%s))" : "%s (%s IS NOT NULL AND dp_rdr.is_short(%s))",
            i == 0 ? " WHERE" : " AND", name, name);
    }
    const char *names = border::listed(0, ncolumns, [&](int i) { return column_text(source, columns[i]); });
    const auto take = [](const border::Spi &, uint64) {
        bool isnull;
        return DatumGetInt64(border::Spi::value(0, 1, &isnull));
    };
    return ncolumns == 0 ? look(reading, source, "count(*)", "", take)
                         : look(reading, source, "coalesce(max(n), 0) FROM (SELECT count(*) AS n",
                                psprintf("%s GROUP BY %s) x", where->data, names), take);
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
    auto *values = zeroed<Datum>(n + 1);
    auto *nulls = zeroed<bool>(n + 1);
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

bool public_domain(const catalog::Reading &reading, const query::Source &source, AttrNumber column, int most,
                   KeyDomain *domain) {
    const Var spec = *query::column_of(source.varno, source.relation, source.rows, column);
    if (!has_order(spec.vartype))
        return false;
    const char *name = column_text(source, column);
    const char *rest = psprintf(" WHERE dp_rdr.is_short(%s) IS NOT FALSE LIMIT %d", name, most + 1);
    return look(&reading, source, psprintf("DISTINCT %s", name), rest, [&](const border::Spi &spi, uint64 n) {
        const bool fits = n <= static_cast<uint64>(most);
        if (fits)
            *domain = domain_of_rows(spi, n, source.nullable, spec);
        return fits;
    });
}

// ---- bounds --------------------------------------------------------------------------------------------------------

// A value as a numeric, in which declared bounds are kept as well: of a float its shortest text, of a date the days since 2000, of a
// timestamp the microseconds. Null: of a type without bounds.
static const char *number_text(Oid type, const char *value) {
    if (is_integer(type) || type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID)
        return psprintf("%s::text::numeric", value);
    if (is_moment(type))
        return psprintf("(extract(epoch FROM %s) - 946684800) * 1000000", value);
    return type == DATEOID ? psprintf("extract(epoch FROM %s) / 86400 - 10957", value) : nullptr;
}

// The least or the greatest value, with no more decimals than a bound has. NaN is the greatest of all.
static const char *end_text(Oid type, const char *end, const char *name) {
    const char *number = number_text(type, psprintf("%s(%s)", end, name));
    return number == nullptr ? nullptr : psprintf("trim_scale(round(%s, 250))", number);
}

static bool fits_a_bound(const char *text) {
    return text != nullptr && std::fabs(strtod(text, nullptr)) < 1e250; // a NaN does not
}

// One value alone: a moment is the beginning of its day or microsecond, a number an end of what lies between it and 0, and 0 of what
// lies between it and 1.
static privacy::Bounds bounds_between(const char *low, const char *high, bool whole, bool moment) {
    if (strcmp(low, high) != 0)
        return privacy::make_bounds(low, high, whole);
    if (moment)
        return privacy::make_bounds(low, std::to_string(std::stoll(low) + 1), whole);
    return *low == '-' ? privacy::make_bounds(low, "0", whole)
                       : privacy::make_bounds("0", strcmp(high, "0") == 0 ? "1" : high, whole);
}

const privacy::Bounds *public_bounds(const catalog::Reading &reading, const query::Source &source, AttrNumber column) {
    const Oid type = getBaseType(query::column_of(source.varno, source.relation, source.rows, column)->vartype);
    const char *name = column_text(source, column);
    const char *least = end_text(type, "min", name), *greatest = end_text(type, "max", name);
    if (least == nullptr)
        return nullptr;
    const char *low, *high;
    (void)look(&reading, source, psprintf("%s, %s", least, greatest), "", [&](const border::Spi &spi, uint64) {
        low = spi.text(0, 1);
        high = spi.text(0, 2);
        return true;
    });
    if (!fits_a_bound(low) || !fits_a_bound(high))
        return nullptr;
    const bool whole = is_integer(type), moment = type == DATEOID || is_moment(type);
    auto *bounds = border::context_new<privacy::Bounds>();
    border::core([&] { *bounds = bounds_between(low, high, whole, moment); });
    return bounds;
}

// ---- tuples --------------------------------------------------------------------------------------------------------

// The keys that are columns of this source.
static List *keys_of_source(const Question *question, const Source &source) {
    List *keys = NIL;
    for (int i = 0; source.source->is_public && i < question->leaf->nkeys; i++)
        if (question->key_columns[i] != InvalidAttrNumber &&
            query::varno_of(question->key_columns[i]) == source.source->varno)
            keys = lappend_int(keys, i);
    return keys;
}

bool has_public_tuples(const Question *question) {
    for (int i = 0; i < question->nsources; i++)
        if (list_length(keys_of_source(question, question->sources[i])) > 1)
            return true;
    return false;
}

const int64 *strides_of(const Question *question) {
    auto *strides = array_of<int64>(question->leaf->nkeys + 1);
    int64 stride = 1;
    for (int i = question->leaf->nkeys - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= question->domains[i].count;
    }
    return strides;
}

int64 place_of_values(const Question *question, const int64 *strides, const List *keys, const Datum *values,
                      const bool *nulls) {
    int64 place = 0;
    ListCell *cell;
    foreach (cell, keys) {
        const int i = foreach_current_index(cell), key = lfirst_int(cell);
        const int at = question->domains[key].find(values[i], nulls[i]);
        if (at < 0)
            return -1;
        place += at * strides[key];
    }
    return place;
}

// Adds the place of a tuple; row < 0: NULL everywhere.
static void add_tuple(const Question *question, const int64 *strides, const List *keys, int64 row, Places *places) {
    auto *values = zeroed<Datum>(list_length(keys));
    auto *nulls = array_of<bool>(list_length(keys));
    for (int i = 0; i < list_length(keys); i++) {
        nulls[i] = row < 0;
        if (row >= 0)
            values[i] = border::Spi::value(row, i + 1, &nulls[i]);
    }
    places->at[places->n] = place_of_values(question, strides, keys, values, nulls);
    places->n += places->at[places->n] >= 0;
}

Places no_places(int64 room) {
    return {array_of<int64>(room + 1), 0};
}

void sort_places(Places *places) {
    std::sort(places->at, places->at + places->n);
    places->n = std::unique(places->at, places->at + places->n) - places->at;
}

static Places tuples_of_source(const catalog::Reading &reading, const Question *question, const int64 *strides,
                               const Source &source, const List *keys) {
    const auto name_of = [&](int i) {
        return column_text(*source.source, query::attno_of(question->key_columns[list_nth_int(keys, i)]));
    };
    StringInfo where = makeStringInfo();
    for (int i = 0; i < list_length(keys); i++)
        appendStringInfo(where, "%s dp_rdr.is_short(%s) IS NOT FALSE", i == 0 ? " WHERE" : " AND", name_of(i));
    appendStringInfo(where, " LIMIT %d", max_coordinates + 1);
    const char *names = psprintf("DISTINCT %s", border::listed(0, list_length(keys), name_of));
    Places found = no_places(max_coordinates + 1);
    const bool fits = look(&reading, *source.source, names, where->data, [&](const border::Spi &, uint64 n) {
        for (uint64 i = 0; n <= static_cast<uint64>(max_coordinates) && i < n; i++)
            add_tuple(question, strides, keys, static_cast<int64>(i), &found);
        return n <= static_cast<uint64>(max_coordinates);
    });
    if (!fits)
        return Places{nullptr, 0};
    if (source.source->nullable)
        add_tuple(question, strides, keys, -1, &found);
    sort_places(&found);
    return found;
}

static Places values_of_key(const Question *question, const int64 *strides, int key) {
    const int count = question->domains[key].count;
    Places values = no_places(count);
    while (values.n < count) {
        values.at[values.n] = values.n * strides[key];
        values.n++;
    }
    return values;
}

// Each place with each of these.
static Places product_of(const Places &all, const Places &more) {
    if (all.at == nullptr || more.at == nullptr || all.n * more.n > most_tuples)
        return Places{nullptr, 0};
    Places product = no_places(all.n * more.n);
    for (int64 i = 0; i < all.n; i++)
        for (int64 j = 0; j < more.n; j++)
            product.at[product.n++] = all.at[i] + more.at[j];
    return product;
}

bool find_tuples(const catalog::Reading &reading, Question *question, List *derived) {
    const int64 *strides = strides_of(question);
    Places all = {zeroed<int64>(), 1};
    List *in_tuples = NIL;
    for (int i = 0; i < question->nsources; i++) {
        List *keys = keys_of_source(question, question->sources[i]);
        if (list_length(keys) < 2)
            continue;
        all = product_of(all, tuples_of_source(reading, question, strides, question->sources[i], keys));
        in_tuples = list_concat(in_tuples, keys);
    }
    for (auto *tuples : border::each<const KeyTuples>(derived)) {
        all = product_of(all, tuples->places);
        in_tuples = list_concat(in_tuples, tuples->keys);
    }
    for (int key = 0; key < question->leaf->nkeys; key++)
        if (!list_member_int(in_tuples, key))
            all = product_of(all, values_of_key(question, strides, key));
    if (all.at == nullptr)
        return false;
    sort_places(&all);
    question->places = all.at;
    question->ngroups = static_cast<int>(all.n);
    return true;
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static bool reads_public_tables(const Question *question) {
    for (int i = 0; i < question->nsources; i++)
        if (question->sources[i].source->is_public ||
            (question->sources[i].people != nullptr && reads_public_tables(question->sources[i].people)))
            return true;
    return false;
}

static void add_groups(StringInfo text, const Question *question) {
    pinned([&] {
        for (int i = 0; i < question->leaf->nkeys; i++) {
            ArrayType *groups = canonical_groups(question->domains[i], question->leaf->keys[i].type);
            appendStringInfo(text, "|%s", OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(groups)));
        }
    });
    for (int i = 0; i < question->ngroups; i++)
        appendStringInfo(text, "|" INT64_FORMAT, place_of_group(question, i));
}

uint64 hash_of_looked_up(const Question *question) {
    if (!reads_public_tables(question))
        return 0;
    StringInfoData text;
    initStringInfo(&text);
    if (!question->thresholded)
        add_groups(&text, question);
    for (int j = 0; j < question->nmeasures; j++)
        for (const privacy::Bounds *bounds : {question->bounds[j], bounds_of_x(question, j)})
            if (bounds != nullptr)
                appendStringInfo(&text, "|%s %s %d", bounds->lower.c_str(), bounds->upper.c_str(), bounds->exponent);
    if (question->units != nullptr)
        appendStringInfo(&text, "|%d %d", question->units->max_rows, question->units->max_groups);
    if (question->units != nullptr && question->units->max_rows_per_group > 0)
        appendStringInfo(&text, " %d", question->units->max_rows_per_group);
    if (question->rows_per_group > 0)
        appendStringInfo(&text, " %d", question->rows_per_group);
    for (int i = 0; i < question->nsources; i++)
        if (question->sources[i].people != nullptr)
            appendStringInfo(&text, "|%d", question->sources[i].people->per_unit->max_rows);
    const uint64 hash = hash_bytes_extended(reinterpret_cast<const unsigned char *>(text.data), text.len, 0);
    return hash == 0 ? 1 : hash;
}

} // namespace dp::rows
