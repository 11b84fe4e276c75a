// dp_cells: what the cells of a partition have been charged.
#include "catalog/cell_rows.hpp"
#include "sql/explain_page.hpp"
#include "sql/ledger_pages.hpp"
#include "sql/result_rows.hpp"

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
} // namespace

// $1: the domain, $2: the version since which its list has only grown. Columns: of the odometer, the last cell that has begun, what was
// charged to all cells, and to those to come, whose sums are their own; then each stretch of cells with its sums.
static const char *const cells_sql = R"sql(
SELECT o.begun, a.epsilon, a.delta, coalesce(f.epsilon, 0), coalesce(f.delta, 0), c.first,
  coalesce(least(lead(c.first) OVER (ORDER BY c.first) - 1, o.begun), o.begun), a.epsilon + c.epsilon, a.delta + c.delta
FROM dp_rdr.odometer o CROSS JOIN LATERAL (SELECT o.public_epsilon - o.most_epsilon, o.public_delta - o.most_delta) a (epsilon, delta)
LEFT JOIN dp_rdr.odometer_cell f ON (f.id, f.grantee, f.first) = (o.id, '', 9223372036854775807)
LEFT JOIN dp_rdr.odometer_cell c ON c.id = o.id AND c.grantee = '' AND c.first < 9223372036854775807
WHERE o.id = $1 AND o.partition >= $2 ORDER BY c.first)sql";

static privacy::Loss loss_at(uint64 row, int column) {
    bool isnull;
    return {catalog::to_epsilon_sum(border::Spi::value(row, column, &isnull), "epsilon"),
            catalog::to_delta(border::Spi::value(row, column + 1, &isnull), "delta")};
}

// Adds the stretches of cells that a statement has found.
static void add_lines(uint64 n, int64 now, Lines *lines) {
    const auto begun = catalog::value_at<int64>(0, 1);
    privacy::Loss others = loss_at(0, 2);
    for (uint64 i = 0; i < n; i++) {
        bool isnull;
        (void)border::Spi::value(i, 6, &isnull);
        if (isnull) // all charges were to all cells
            continue;
        const auto first = catalog::value_at<int64>(i, 6);
        const privacy::Loss sums = loss_at(i, 8);
        others = first == lines->partition->others() ? sums : others;
        lines->add(first, catalog::value_at<int64>(i, 7), sums);
    }
    const bool grows = lines->partition->values != nullptr; // values that are new in a list were among everything else
    lines->add(begun + 1, now, grows ? others : loss_at(0, 4));
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
    const privacy::Spent &sums = budget.odometer.totals.of_public;
    const int64 now = catalog::last_cell(*partition, catalog::today());
    Lines lines = {&rows, partition,
                   budget.bound.bound == privacy::Bound::filter ? budget.bound.epsilon_total : std::nullopt, 0, 0, {}, false};
    const Visit visit = Visit::read();
    const uint64 n = run(visit, cells_sql, catalog::Typed{UUIDOID, table.id}, partition->base);
    if (n == 0) // nothing was charged since
        lines.add(partition->others(), now, {sums.epsilon, sums.delta});
    else
        add_lines(n, now, &lines);
    visit.leave();
    lines.put();
    return Datum{0};
}

} // namespace dp::sql
