// dp_cells: what the cells of a partition have been charged.
#include "catalog/cell_rows.hpp"
#include "catalog/odometer.hpp"
#include "rows/touched.hpp"
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
    const privacy::BoundSettings *bound;
    int64 first, last; // of what is not put yet
    privacy::CellSums sums;
    bool any;

    void put() const;
    void add(int64 from, int64 to, const privacy::CellSums &other) {
        if (from > to)
            return;
        if (any && other == sums) {
            last = to;
            return;
        }
        put();
        *this = Lines{rows, partition, bound, from, to, other, true};
    }
};
} // namespace

template <class Number> static Number rest_of(Number total, Number used) {
    return Max(total - used, Number());
}

// Puts what the bound leaves. Under zcdp a charge is accepted by rho, or by the sum in epsilon as long as that rule stands (formulas.md 5.4).
static void put_left(const ResultRows &rows, const privacy::BoundSettings &bound, const privacy::Spent &spent) {
    const bool zcdp = bound.bound == privacy::Bound::zcdp;
    if (zcdp)
        rows.set("rho", spent.rho);
    if (!bound.epsilon_total || (!zcdp && bound.bound != privacy::Bound::filter))
        return;
    if (zcdp)
        rows.set("rho_left", rest_of(bound.rho_total, spent.rho));
    if (bound.splits_pure())
        rows.set("left", rest_of(bound.epsilon_pure, spent.epsilon_of_epoch()));
    else if (!zcdp || bound.keeps_basic_rule(spent))
        rows.set("left", rest_of(*bound.epsilon_total, zcdp ? spent.pure : spent.epsilon));
}

void Lines::put() const {
    if (!any)
        return;
    const privacy::Spent spent = sums.spent();
    const bool zcdp = bound->bound == privacy::Bound::zcdp;
    const privacy::Loss loss =
        zcdp ? border::core([&] { return privacy::shown(spent, *bound); }) : privacy::Loss{spent.epsilon, spent.delta};
    rows->set("cells", catalog::name_of_cells(*partition, first, last));
    rows->set("epsilon", loss.epsilon);
    rows->set("delta", loss.delta);
    put_left(*rows, *bound, spent);
    rows->put();
}

// $1: the domain, $2: the version since which its list has only grown. Finds each stretch of cells with its sums.
static const char *const cells_sql = R"sql(
SELECT c.first, coalesce(least(lead(c.first) OVER (ORDER BY c.first) - 1, o.begun), o.begun),
  c.epsilon, c.delta, c.epsilon_epoch, c.delta_epoch, c.rho, c.pure, c.rho_only
FROM dp_rdr.odometer o LEFT JOIN dp_rdr.odometer_cell c ON c.id = o.id AND c.grantee = '' AND c.first < 9223372036854775807
WHERE o.id = $1 AND o.partition >= $2 ORDER BY c.first)sql";

// Adds the stretches of cells that a statement has found.
static void add_lines(uint64 n, int64 now, const catalog::LookedCells &account, privacy::CellSums others, Lines *lines) {
    for (uint64 i = 0; i < n; i++) {
        bool isnull;
        (void)border::Spi::value(i, 1, &isnull);
        if (isnull) // all charges were to all cells
            continue;
        const auto first = catalog::value_at<int64>(i, 1);
        const privacy::CellSums sums =
            account.now(account.spread.all + catalog::sums_at(i, 3), account.closings.all);
        if (lines->partition->values != nullptr && first == lines->partition->others())
            others = sums; // values that are new in a list were among everything else
        lines->add(first, catalog::value_at<int64>(i, 2), sums);
    }
    lines->add(account.begun + 1, now, others);
}

// ---- what is left --------------------------------------------------------------------------------------------------

// Ranges of the touched cells that have most. Those that have not begun have what was charged to cells to come. $6: by rho.
static const char *const poorest_sql = R"sql(
WITH cell AS NOT MATERIALIZED (SELECT e.first, CASE WHEN $6 THEN e.rho ELSE e.epsilon END AS sum FROM dp_rdr.odometer_cell e WHERE (e.id, e.grantee) = ($1, $2))
SELECT min(p.n), max(p.n) FROM (
  SELECT q.n, q.n - row_number() OVER (ORDER BY q.n) AS island FROM (
    SELECT n, rank() OVER (ORDER BY CASE WHEN n > o.begun THEN coalesce(f.sum, 0) ELSE s.base + coalesce(c.sum, 0) END DESC) AS place
    FROM dp_rdr.odometer o
    JOIN LATERAL (SELECT CASE WHEN $6 THEN o.public_rho - o.most_rho ELSE o.public_epsilon - o.most_epsilon END AS base WHERE $2 = ''
      UNION ALL SELECT CASE WHEN $6 THEN r.public_rho - r.most_rho ELSE r.public_epsilon - r.most_epsilon END
      FROM dp_rdr.odometer_share r WHERE (r.id, r.grantee) = ($1, $2)) s ON true
    LEFT JOIN cell f ON f.first = 9223372036854775807,
    unnest($3, $4) t (first, last), generate_series(t.first, t.last) n
    LEFT JOIN LATERAL (SELECT e.sum FROM cell e WHERE e.first <= n ORDER BY e.first DESC LIMIT 1) c ON true
    WHERE o.id = $1 AND o.partition = $5) q
  WHERE q.place = 1) p
GROUP BY p.island ORDER BY 1 LIMIT 4)sql";

const char *poorest_cells(const rows::Question *question, const char *grantee, bool by_rho) {
    const catalog::Touched *touched = rows::charged_cells(question);
    if (touched == nullptr || !touched->shown)
        return nullptr;
    const Partition &partition = *question->settings->partition;
    if (touched->partition == 0)
        return catalog::name_of_touched(partition, *touched);
    StringInfoData names;
    initStringInfo(&names);
    Visit visit = Visit::read();
    const uint64 n = run(visit, poorest_sql, catalog::Uuid{question->settings->id_text}, grantee,
                         catalog::numbers_of(touched->first, touched->n), catalog::numbers_of(touched->last, touched->n),
                         touched->partition, by_rho);
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
    catalog::LookedCells account = {};
    const Partition *partition = declared_partition(table);
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, table.relation);
    if (partition == nullptr || bound == nullptr || !read_cells(reading, bound->id_text, bound->epoch, &account))
        refuse_no_partition(table.name);
    reading.close();
    const int64 now = catalog::last_cell(*partition, catalog::today());
    Lines lines = {&rows, partition, &bound->settings, 0, 0, {}, false};
    const Visit visit = Visit::read();
    account.enter(&visit);
    // Values that are new in a list were among everything else.
    const privacy::CellSums begins = partition->values != nullptr
                                         ? account.now(account.spread.all, account.closings.all)
                                         : account.now(account.reader.coming(), account.closings.coming);
    const uint64 n = run(visit, cells_sql, catalog::Typed{UUIDOID, table.id}, partition->base);
    if (n == 0) // nothing was charged since
        lines.add(partition->others(), now, account.now(account.spread.fullest(), account.closings.all));
    else
        add_lines(n, now, account, begins, &lines);
    visit.leave();
    lines.put();
    return Datum{0};
}

} // namespace dp::sql
