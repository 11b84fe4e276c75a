// dp_cells: what the cells of a partition have been charged.
#include "catalog/described_row.hpp"
#include "sql/budget.hpp"
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
    privacy::Loss most;
};
} // namespace

static CellsOfOdometer cells_of_odometer(const catalog::Reading &reading, const char *id) {
    CellsOfOdometer cells = {};
    catalog::Lookup odometers = catalog::Lookup::open("odometer", reading);
    if (const catalog::Row *row = catalog::only(odometers.rows(DirectFunctionCall1(uuid_in, CStringGetDatum(id))))) {
        catalog::RowReader visit{*row};
        visit("partition", cells.version);
        visit("begun", cells.begun);
        catalog::most_of(visit, cells.most);
    }
    odometers.close();
    return cells;
}

// all: what was charged to all cells.
static void add_lines(const Visit &visit, const char *id, const privacy::Loss &all, int64 begun, int64 now, Lines *lines) {
    const uint64 n = run(visit,
                         "SELECT c.cell, $2 + c.epsilon, $3 + c.delta, c.epsilon, c.delta FROM dp_rdr.odometer_cell c "
                         "WHERE c.id = $1 AND c.grantee = '' ORDER BY c.cell",
                         catalog::Uuid{id}, all.epsilon, all.delta);
    int64 next = lines->partition->others();
    privacy::Loss coming, others = all;
    for (uint64 i = 0; i < n; i++) {
        const int64 cell = catalog::value_at<int64>(i, 1);
        bool isnull;
        const bool is_coming = cell == PG_INT64_MAX; // its sums are its own
        const privacy::Loss sums = {catalog::to_epsilon_sum(border::Spi::value(i, is_coming ? 4 : 2, &isnull), "epsilon"),
                                    catalog::to_delta(border::Spi::value(i, is_coming ? 5 : 3, &isnull), "delta")};
        if (is_coming)
            coming = sums;
        else {
            others = cell == lines->partition->others() ? sums : others;
            lines->add(next, cell - 1, all);
            lines->add(cell, cell, sums);
            next = cell + 1;
        }
    }
    lines->add(next, begun, all);
    lines->add(begun + 1, now, lines->partition->values == nullptr ? coming : others); // values that are new in a list were others
}

DP_CALL(dp_cells) {
    const ProtectedTable table = controlled_table(PG_GETARG_OID(0));
    const ResultRows rows(fcinfo);
    Budget budget;
    catalog::Reading reading = catalog::Reading::open();
    StringInfoData versions;
    initStringInfo(&versions);
    const Partition *partition = catalog::read_partition(reading, table.id, &versions);
    if (partition == nullptr || !partition->declared || !read_budget(table.relation, &budget))
        refuse_state(psprintf("%s has no partition", table.name), "dp_set_partition() declares one.");
    const char *id = DatumGetCString(DirectFunctionCall1(uuid_out, table.id));
    const CellsOfOdometer stored = cells_of_odometer(reading, id);
    const privacy::Spent &sums = budget.odometer.totals.of_public;
    privacy::Loss all = {sums.epsilon, sums.delta};
    const int64 now = catalog::last_cell(*partition, catalog::today());
    Lines lines = {&rows, partition,
                   budget.bound.bound == privacy::Bound::filter ? budget.bound.epsilon_total : std::nullopt, 0, 0, {}, false};
    if (stored.version < partition->base) // nothing was charged since
        lines.add(partition->others(), now, all);
    else {
        all = {all.epsilon - stored.most.epsilon, all.delta - stored.most.delta};
        Visit visit = Visit::read(reading);
        add_lines(visit, id, all, stored.begun, now, &lines);
        visit.leave();
    }
    lines.put();
    reading.close();
    return Datum{0};
}

} // namespace dp::sql
