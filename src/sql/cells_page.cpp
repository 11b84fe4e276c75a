// dp_cells: what the cells of a partition have been charged.
#include "catalog/cell_rows.hpp"
#include "catalog/described_row.hpp"
#include "sql/explain_page.hpp"
#include "sql/ledger_pages.hpp"
#include "sql/result_rows.hpp"

#include "border/refuse.hpp"

using dp::catalog::Partition;
using dp::catalog::Visit;

namespace dp::sql {

namespace {
// Collects equal neighbours into one row.
struct Lines {
    const ResultRows *rows;
    const Partition *partition;
    std::optional<privacy::Epsilon> total;
    int64 first, last; // of what is not put yet
    privacy::Loss sums;
    bool any;

    void put() const {
        if (any)
            rows->put(catalog::name_of_cells(*partition, first, last), sums.epsilon, sums.delta,
                      total ? std::optional<privacy::Epsilon>(Max(*total - sums.epsilon, privacy::Epsilon()))
                            : std::nullopt);
    }
    void add(int64 from, int64 to, const privacy::Loss &loss) {
        if (from > to)
            return;
        if (any && loss.epsilon == sums.epsilon && loss.delta == sums.delta) {
            last = to;
            return;
        }
        put();
        *this = Lines{rows, partition, total, from, to, loss, true};
    }
};

struct CellsOfOdometer {
    int version;
    int64 begun;
    privacy::Spread spread;
};
} // namespace

static CellsOfOdometer cells_of_odometer(const catalog::Reading &reading, const char *id) {
    CellsOfOdometer cells = {};
    catalog::Lookup odometers = catalog::Lookup::open("odometer", reading);
    if (const catalog::Row *row = catalog::only(odometers.rows(DirectFunctionCall1(uuid_in, CStringGetDatum(id))))) {
        catalog::RowReader visit{*row};
        visit("partition", cells.version);
        visit("begun", cells.begun);
        cells.spread = catalog::read_spread(visit);
    }
    odometers.close();
    return cells;
}

// all: what was charged to all cells.
static void add_lines(const Visit &visit, const char *id, const privacy::CellSums &all, int64 begun, int64 now, Lines *lines) {
    const uint64 n = run(visit,
                         "SELECT c.first, coalesce(least(lead(c.first) OVER (ORDER BY c.first) - 1, $4), $4), $2 + c.epsilon, $3 + c.delta "
                         "FROM dp_rdr.odometer_cell c WHERE c.id = $1 AND c.grantee = '' AND c.first < 9223372036854775807 ORDER BY c.first",
                         catalog::Uuid{id}, all.epsilon, all.delta, begun);
    privacy::Loss others = {all.epsilon, all.delta};
    for (uint64 i = 0; i < n; i++) {
        bool isnull;
        const auto first = catalog::value_at<int64>(i, 1);
        const privacy::Loss sums = {catalog::to_epsilon_sum(border::Spi::value(i, 3, &isnull), "epsilon"),
                                    catalog::to_delta(border::Spi::value(i, 4, &isnull), "delta")};
        others = first == lines->partition->others() ? sums : others;
        lines->add(first, catalog::value_at<int64>(i, 2), sums);
    }
    const privacy::CellSums coming = catalog::CellReader{nullptr, &visit, id, ""}.coming(); // their sums are their own
    const bool grows = lines->partition->values != nullptr; // values that are new in a list were among everything else
    lines->add(begun + 1, now, grows ? others : privacy::Loss{coming.epsilon, coming.delta});
}

// ---- what is left --------------------------------------------------------------------------------------------------

// Ranges of the touched cells that have most. Those that have not begun have what was charged to cells to come.
static const char *const poorest_sql = R"sql(
SELECT min(p.n), max(p.n) FROM (
  SELECT q.n, q.n - row_number() OVER (ORDER BY q.n) AS island FROM (
    SELECT n, rank() OVER (ORDER BY CASE WHEN n > o.begun THEN coalesce(f.epsilon, 0) ELSE s.base + coalesce(c.epsilon, 0) END DESC) AS place
    FROM dp_rdr.odometer o
    JOIN LATERAL (SELECT o.public_epsilon - o.most_epsilon AS base WHERE $2 = ''
      UNION ALL SELECT r.public_epsilon - r.most_epsilon FROM dp_rdr.odometer_share r WHERE (r.id, r.grantee) = ($1, $2)) s ON true
    LEFT JOIN dp_rdr.odometer_cell f ON (f.id, f.grantee, f.first) = ($1, $2, 9223372036854775807),
    unnest($3, $4) t (first, last), generate_series(t.first, t.last) n
    LEFT JOIN LATERAL (SELECT e.epsilon FROM dp_rdr.odometer_cell e WHERE e.id = $1 AND e.grantee = $2 AND e.first <= n
      ORDER BY e.first DESC LIMIT 1) c ON true
    WHERE o.id = $1 AND o.partition = $5) q
  WHERE q.place = 1) p
GROUP BY p.island ORDER BY 1 LIMIT 4)sql";

const char *poorest_cells(const rows::Question *question, const char *grantee) {
    const catalog::Touched *touched = question->touched;
    if (touched == nullptr || !touched->shown)
        return nullptr;
    const Partition &partition = *question->settings->partition;
    StringInfoData names;
    initStringInfo(&names);
    Visit visit = Visit::read();
    const uint64 n = run(visit, poorest_sql, catalog::Uuid{question->settings->id_text}, grantee,
                         catalog::numbers_of(touched->first, touched->n), catalog::numbers_of(touched->last, touched->n),
                         touched->partition);
    bool all = n == static_cast<uint64>(touched->n);
    for (uint64 i = 0; i < n; i++) {
        const int64 first = catalog::value_at<int64>(i, 1), last = catalog::value_at<int64>(i, 2);
        all = all && first == touched->first[i] && last == touched->last[i];
        appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", i < 3 ? catalog::name_of_cells(partition, first, last) : "and more");
    }
    visit.leave();
    return n == 0 || (all && touched->last[0] > touched->first[0]) ? nullptr : names.data;
}

// ---- the call ------------------------------------------------------------------------------------------------------

static const char *since_of(const Partition &partition) {
    const char *value = catalog::first_value(partition, partition.first);
    return partition.period ? pnstrdup(strchr(value, '\'') + 1, 10) : value;
}

const char *partition_text(const Partition &partition) {
    if (partition.values != nullptr)
        return "declared groups";
    return partition.period ? psprintf("by %s since %s", privacy::name_of(*partition.period), since_of(partition))
                            : psprintf("by " INT64_FORMAT " from %s, and before " INT64_FORMAT, partition.width,
                                       since_of(partition), (partition.last + 1) * partition.width);
}

static const char *terms_of(const Partition &partition) {
    if (partition.values != nullptr)
        return "";
    return partition.period ? psprintf(", by => '%s', since => '%s'", privacy::name_of(*partition.period), since_of(partition))
                            : psprintf(", by => '" INT64_FORMAT "', since => '%s', until => '%s'", partition.width, since_of(partition),
                                       catalog::first_value(partition, partition.last));
}

void refuse_no_partition(const char *table) {
    refuse_state(psprintf("%s has no partition", table), "dp_set_partition() declares one.");
}

const Partition *declared_partition(const ProtectedTable &table) {
    catalog::Reading reading = catalog::Reading::open();
    const Partition *partition = catalog::read_partition(reading, table.id, makeStringInfo());
    reading.close();
    return partition == nullptr || !partition->declared ? nullptr : partition;
}

void put_partition(const ResultRows &rows, const ProtectedTable &table) {
    const Partition *partition = declared_partition(table);
    if (partition == nullptr)
        return;
    const bool guarded = OidIsValid(get_trigger_oid(partition->relation, "~dp_rdr_cell", true));
    rows.put("partition", partition->column, partition_text(*partition),
             psprintf("SELECT pg_catalog.dp_set_partition(%s, %s%s%s%s);", quote_literal_cstr(table.name),
                      quote_literal_cstr(partition->column), terms_of(*partition),
                      partition->fresh ? ", fresh => true" : "", guarded ? "" : ", guard => false"));
}

// ---- dp_cells ------------------------------------------------------------------------------------------------------

DP_CALL(dp_cells) {
    const ProtectedTable table = controlled_table(PG_GETARG_OID(0));
    const ResultRows rows(fcinfo);
    Budget budget;
    const Partition *partition = declared_partition(table);
    if (partition == nullptr || !read_budget(table.relation, &budget))
        refuse_no_partition(table.name);
    catalog::Reading reading = catalog::Reading::open();
    const char *id = DatumGetCString(DirectFunctionCall1(uuid_out, table.id));
    const CellsOfOdometer stored = cells_of_odometer(reading, id);
    const privacy::Spent &sums = budget.odometer.totals.of_public;
    const int64 now = catalog::last_cell(*partition, catalog::today());
    Lines lines = {&rows, partition,
                   budget.bound.bound == privacy::Bound::filter ? budget.bound.epsilon_total : std::nullopt, 0, 0, {}, false};
    if (stored.version < partition->base) // nothing was charged since
        lines.add(partition->others(), now, {sums.epsilon, sums.delta});
    else {
        Visit visit = Visit::read(reading);
        add_lines(visit, id, stored.spread.all, stored.begun, now, &lines);
        visit.leave();
    }
    lines.put();
    reading.close();
    return Datum{0};
}

} // namespace dp::sql
