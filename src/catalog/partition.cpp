#include "catalog/partition.hpp"

#include "catalog/described_row.hpp"
#include "catalog/odometer.hpp"

namespace dp::catalog {

static const Partition *partition_of(const Row &row) {
    auto *partition = static_cast<Partition *>(palloc0(sizeof(Partition)));
    RowReader visit{row};
    std::optional<int64> width, first, last;
    std::optional<int> place;
    visit("version", partition->version);
    visit("base", partition->base);
    visit("fresh", partition->fresh);
    visit("relation", partition->relation);
    visit("column_name", partition->column);
    visit("column_type", partition->type);
    visit.word("period", privacy::period_from_name, partition->period);
    visit("width", width);
    visit("first", first);
    visit("last", last);
    visit("cells", partition->values);
    visit("place", place);
    partition->declared = partition->column != nullptr;
    partition->place = place.value_or(0);
    partition->width = width.value_or(0);
    partition->first = first.value_or(1);
    partition->last = last.value_or(PG_INT64_MAX);
    return partition;
}

const Partition *read_partition(const Reading &reading, Datum domain, StringInfo versions) {
    Lookup partitions = Lookup::open("partition", reading);
    const Row *row = only(partitions.rows(domain));
    const Partition *partition = row == nullptr ? nullptr : partition_of(*row);
    if (row != nullptr)
        row->append_version(versions);
    partitions.close();
    return partition;
}

int64 last_cell(const Partition &partition, privacy::Day today) {
    return partition.period ? Max(privacy::place_of(*partition.period, today), partition.others()) : partition.last;
}

// ---- values and names ----------------------------------------------------------------------------------------------

static const char *day_text(privacy::Day day) {
    char text[32];
    border::core([&] { strlcpy(text, privacy::text_of(day).c_str(), sizeof text); });
    return pstrdup(text);
}

const char *first_value(const Partition &partition, int64 cell) {
    if (!partition.period)
        return psprintf(INT64_FORMAT, cell * partition.width);
    const char *day = day_text(privacy::begin_at(*partition.period, cell));
    if (strcmp(partition.type, "date") == 0)
        return psprintf("DATE '%s'", day);
    return strcmp(partition.type, "timestamp with time zone") == 0 ? psprintf("TIMESTAMPTZ '%s 00:00+00'", day)
                                                                   : psprintf("TIMESTAMP '%s 00:00'", day);
}

static const char *value_text(const Partition &partition, int64 cell) {
    const int place = static_cast<int>(cell - partition.first + 1);
    bool isnull;
    const Datum value = array_ref(partition.values, 1, const_cast<int *>(&place), -1, -1, false, TYPALIGN_INT, &isnull);
    return isnull ? nullptr : TextDatumGetCString(value);
}

const char *listed_value(const Partition &partition, int64 cell) {
    const char *text = value_text(partition, cell);
    return text == nullptr ? nullptr : quote_literal_cstr(text);
}

static const char *name_of_period(privacy::PeriodKind kind, privacy::Day begin) {
    const char *day = day_text(begin);
    const int month = (day[5] - '0') * 10 + day[6] - '0';
    switch (kind) {
    case privacy::PeriodKind::month:
        return pnstrdup(day, 7);
    case privacy::PeriodKind::quarter:
        return psprintf("%.4s-Q%d", day, (month + 2) / 3);
    case privacy::PeriodKind::year:
        return pnstrdup(day, 4);
    default:
        return kind == privacy::PeriodKind::week ? psprintf("week of %s", day) : day;
    }
}

static const char *name_of_cell(const Partition &partition, int64 cell) {
    if (cell == partition.others())
        return partition.period ? psprintf("before %s, NULL", name_of_cells(partition, cell + 1, cell + 1)) : "others";
    if (partition.period)
        return name_of_period(*partition.period, privacy::begin_at(*partition.period, cell));
    if (partition.width == 1)
        return first_value(partition, cell);
    if (partition.width > 0)
        return psprintf("%s to %s", first_value(partition, cell),
                        psprintf(INT64_FORMAT, (cell + 1) * partition.width - 1));
    const char *value = value_text(partition, cell);
    return value == nullptr ? "NULL" : value;
}

const char *name_of_cells(const Partition &partition, int64 first, int64 last) {
    const char *name = name_of_cell(partition, first);
    return first == last ? name : psprintf("%s .. %s", name, name_of_cell(partition, last));
}

// ---- conditions ----------------------------------------------------------------------------------------------------

const char *text_of_denied(const Partition &partition, const DeniedCells &denied) {
    StringInfo text = makeStringInfo();
    for (int i = 0; i < denied.n; i++)
        appendStringInfo(text, "%s%s",
                         i == 0                              ? ""
                         : i == denied.n - 1 && !denied.more ? " and "
                                                             : ", ",
                         name_of_cells(partition, denied.first[i], denied.last[i]));
    const bool one = denied.n == 1 && denied.first[0] == denied.last[0] && !denied.more;
    return psprintf("%s%s %s nothing left for it.", text->data, denied.more ? " and more" : "", one ? "has" : "have");
}

// Lists the values of cells, but NULL; null: one of them is no value.
static const char *values_of(const Partition &partition, int n, const int64 *first, const int64 *last, bool *with_null) {
    StringInfo list = makeStringInfo();
    for (int i = 0; i < n; i++)
        for (int64 cell = first[i]; cell <= last[i]; cell++) {
            const char *value = cell < partition.first ? nullptr : listed_value(partition, cell);
            if (cell < partition.first)
                return nullptr;
            *with_null = *with_null || value == nullptr;
            if (value != nullptr)
                appendStringInfo(list, "%s%s", list->len == 0 ? "" : ", ", value);
        }
    return list->data;
}

static const char *without_values(const Partition &partition, const DeniedCells &denied) {
    constexpr int64 most = 5;
    bool with_null = false;
    for (int i = 0; i < denied.n; i++)
        if (denied.last[i] - denied.first[i] >= most)
            return nullptr;
    const char *values = values_of(partition, denied.n, denied.first, denied.last, &with_null);
    if (values == nullptr || (with_null && *values != '\0'))
        return nullptr;
    const char *column = quote_identifier(partition.column);
    return with_null ? psprintf("%s IS NOT NULL", column) : psprintf("%s NOT IN (%s)", column, values);
}

const char *condition_without(const Partition &partition, const Touched &touched, const DeniedCells &denied) {
    const char *column = quote_identifier(partition.column);
    const int64 end = denied.last[denied.n - 1];
    if (denied.more || denied.n == 0)
        return nullptr;
    if (!partition.period && partition.width == 0)
        return without_values(partition, denied);
    if (!partition.period && denied.first[0] == partition.others()) // it lies on both sides
        return denied.n == 1 && end == partition.others() && touched.last[touched.n - 1] > end
                   ? psprintf("%s >= %s AND %s < %s", column, first_value(partition, partition.first), column,
                              first_value(partition, partition.last + 1))
                   : nullptr;
    if (touched.last[touched.n - 1] > end)
        return psprintf("%s >= %s", column, first_value(partition, end + 1));
    return touched.first[0] < denied.first[0] && denied.first[0] > partition.others()
               ? psprintf("%s < %s", column, first_value(partition, denied.first[0]))
               : nullptr;
}

// Stretches of an order. Beside them the first cell has NULL and what lies before and behind.
static const char *condition_on_stretches(const Partition &partition, const Touched &touched, const char *column) {
    StringInfo text = makeStringInfo();
    for (int i = 0; i < touched.n; i++) {
        const int64 first = Max(touched.first[i], partition.first);
        const char *end = first_value(partition, touched.last[i] + 1);
        if (i > 0)
            appendStringInfoString(text, " OR ");
        if (touched.first[i] < partition.first) {
            appendStringInfo(text, "%s IS NULL OR %s < %s", column, column, end);
            if (!partition.period)
                appendStringInfo(text, " OR %s >= %s", column, first_value(partition, partition.last + 1));
        } else
            appendStringInfo(text, "%s >= %s AND %s < %s", column, first_value(partition, first), column, end);
    }
    return text->data;
}

// Lists the values that are left out where the cell of everything else is touched.
static const char *condition_on_values(const Partition &partition, const Touched &touched, const char *column) {
    const bool others = touched.first[0] == touched.others;
    int64 first[most_ranges + 1], last[most_ranges + 1];
    bool with_null = false;
    int n = 0;
    for (int i = 0; i < touched.n; i++) {
        first[n] = others ? touched.last[i] + 1 : touched.first[i];
        last[n] = !others ? touched.last[i] : i + 1 < touched.n ? touched.first[i + 1] - 1 : partition.last;
        n += first[n] <= last[n] ? 1 : 0;
    }
    const char *values = values_of(partition, n, first, last, &with_null);
    if (*values == '\0')
        return psprintf("%s IS %sNULL", column, others ? "NOT " : "");
    const char *in = psprintf("%s IN (%s)", column, values);
    if (!others)
        return with_null ? psprintf("%s OR %s IS NULL", in, column) : in;
    return with_null ? psprintf("(%s) IS NOT TRUE AND %s IS NOT NULL", in, column) : psprintf("(%s) IS NOT TRUE", in);
}

const char *condition_on(const Partition &partition, const Touched &touched, const char *name) {
    const char *column = quote_identifier(name);
    if (partition.period || partition.width > 0)
        return !partition.period && touched.is_all() ? nullptr : condition_on_stretches(partition, touched, column);
    return touched.is_all() ? nullptr : condition_on_values(partition, touched, column);
}

const char *name_of_touched(const Partition &partition, const Touched &touched) {
    const char *all = partition.period ? "all so far" : "all";
    if (touched.partition == 0 || touched.is_all())
        return touched.partition == 0 ? psprintf("%s, and those to come", all) : all;
    StringInfo names = makeStringInfo();
    for (int i = 0; i < touched.n && i < 3; i++)
        appendStringInfo(names, "%s%s", i == 0 ? "" : ", ",
                         name_of_cells(partition, touched.first[i], touched.last[i]));
    return touched.n > 3 ? psprintf("%s ..", names->data) : names->data;
}

void describe_cells(const JsonText &json, const Partition &partition, const Touched &touched) {
    json.open("cells", '{');
    json("partition", touched.partition);
    if (!touched.is_all()) {
        json.open("ranges", '[');
        for (int i = 0; i < touched.n; i++)
            json.raw(nullptr, psprintf("[" INT64_FORMAT ", " INT64_FORMAT "]", touched.first[i], touched.last[i]));
        json.close(']');
        json("names", name_of_touched(partition, touched));
    }
    json("begun", touched.begun);
    json.close('}');
}

} // namespace dp::catalog
