#include "catalog/ledger_cells.hpp"

#include <algorithm>

#include "catalog/odometer.hpp"

namespace dp::catalog {

using border::Spi;

constexpr int64 to_come = PG_INT64_MAX; // the number of the row for cells that have not begun

// ---- another partition, or other cells -----------------------------------------------------------------------------

// All charges so far count for every cell: for those to come by a row of its own, unless they begin with nothing.
static void enter_partition(const Spi &spi, const Partition *partition, OpenOdometer *odometer) {
    static border::Statement forget("DELETE FROM dp_rdr.odometer_cell WHERE id = $1"),
        level("UPDATE dp_rdr.odometer_share SET most_epsilon = 0, most_delta = 0 "
              "WHERE id = $1 AND (most_epsilon, most_delta) <> (0, 0)"),
        carry("INSERT INTO dp_rdr.odometer_cell (id, grantee, cell, epsilon, delta) SELECT $1, '', $2::bigint, $3::numeric, $4::numeric "
              "UNION ALL SELECT $1, s.grantee, $2, s.public_epsilon, s.public_delta FROM dp_rdr.odometer_share s WHERE s.id = $1");
    const Uuid id{odometer->id};
    move_shares(spi, odometer);
    (void)run(spi, forget, id);
    (void)run(spi, level, id);
    const privacy::Spent &sums = odometer->state.totals.of_public;
    if (partition != nullptr && partition->declared && !partition->fresh)
        (void)run(spi, carry, id, to_come, sums.epsilon, sums.delta);
    odometer->most = privacy::Loss();
    for (auto *share : border::each<OpenShare>(odometer->shares))
        share->most = privacy::Loss();
    odometer->partition = partition == nullptr ? 0 : partition->version;
    odometer->begun = partition == nullptr ? 0 : last_cell(*partition, today());
    odometer->has_turned = true;
}

// A cell that begins has what was charged to cells to come, and nothing of what was charged to all so far.
static void begin_cells(const Spi &spi, int64 last, OpenOdometer *odometer) {
    static border::Statement statement(R"sql(
INSERT INTO dp_rdr.odometer_cell (id, grantee, cell, epsilon, delta)
SELECT $1, s.grantee, n, coalesce(f.epsilon, 0) - s.epsilon, coalesce(f.delta, 0) - s.delta
FROM (SELECT '' AS grantee, $5::numeric AS epsilon, $6::numeric AS delta
      UNION ALL SELECT o.grantee, o.public_epsilon - o.most_epsilon, o.public_delta - o.most_delta
      FROM dp_rdr.odometer_share o WHERE o.id = $1) s
LEFT JOIN dp_rdr.odometer_cell f ON f.id = $1 AND f.grantee = s.grantee AND f.cell = $4
CROSS JOIN generate_series($2 + 1, $3) n)sql");
    move_shares(spi, odometer);
    const privacy::Spent &sums = odometer->state.totals.of_public;
    (void)run(spi, statement, Uuid{odometer->id}, odometer->begun, last, to_come, sums.epsilon - odometer->most.epsilon,
              sums.delta - odometer->most.delta);
    odometer->begun = last;
    odometer->has_turned = true;
}

// Values that are new in a list were among everything else, and have what that was charged.
static void grow_list(const Spi &spi, const Partition &partition, OpenOdometer *odometer) {
    static border::Statement split("INSERT INTO dp_rdr.odometer_cell (id, grantee, cell, epsilon, delta) "
                                   "SELECT c.id, c.grantee, n, c.epsilon, c.delta FROM dp_rdr.odometer_cell c "
                                   "CROSS JOIN generate_series($3 + 1, $4) n WHERE c.id = $1 AND c.cell = $2");
    (void)run(spi, split, Uuid{odometer->id}, partition.others(), odometer->begun, partition.last);
    odometer->partition = partition.version;
    odometer->begun = partition.last;
    odometer->has_turned = true;
}

void enter_cells(const Spi &spi, const Partition *partition, const Touched *touched, OpenOdometer *odometer) {
    const int version = partition == nullptr ? 0 : partition->version;
    if (version > 0 && partition->values != nullptr && odometer->partition < version && odometer->partition >= partition->base)
        grow_list(spi, *partition, odometer);
    else if (odometer->partition != version)
        enter_partition(spi, partition, odometer);
    const bool told = touched != nullptr && touched->partition > 0;
    if (told && touched->partition == odometer->partition && touched->begun > odometer->begun)
        begin_cells(spi, touched->begun, odometer);
}

// ---- sums ----------------------------------------------------------------------------------------------------------

// Tells whether a charge is on some of the cells; one on all that have begun moves the sums alone.
static bool is_on_cells(const Charge &what, const OpenOdometer &odometer) {
    return what.account == privacy::Account::public_account && what.touched != nullptr &&
           what.touched->partition > 0 && !(what.touched->is_all() && what.touched->begun == odometer.begun);
}

static Typed numbers_of(const int64 *numbers, int n) {
    auto *elements = static_cast<Datum *>(palloc(sizeof(Datum) * (n + 1)));
    for (int i = 0; i < n; i++)
        elements[i] = Int64GetDatum(numbers[i]);
    return Typed::array(INT8ARRAYOID, construct_array(elements, n, INT8OID, sizeof(int64), true, TYPALIGN_DOUBLE));
}

static int64 number_of_cells(const Touched &touched) {
    int64 n = 0;
    for (int i = 0; i < touched.n; i++)
        n += touched.last[i] - touched.first[i] + 1;
    return n;
}

// A cell without a row has what was charged to all. from: Spi, or a Visit.
template <class From>
static void put_largest(const From &from, const char *id, const char *grantee, const Touched &touched,
                        const privacy::Loss &most, privacy::Spent *sums) {
    static border::Statement statement(R"sql(
SELECT $5 + greatest(max(c.epsilon), CASE WHEN sum(c.n) < $7 THEN 0 END),
       $6 + greatest(max(c.delta), CASE WHEN sum(c.n) < $7 THEN 0 END)
FROM unnest($3, $4) r (first, last), LATERAL ( -- a look into the index for each, whatever the statistics say
  SELECT max(o.epsilon) AS epsilon, max(o.delta) AS delta, count(*) AS n FROM dp_rdr.odometer_cell o
  WHERE o.id = $1 AND o.grantee = $2 AND o.cell BETWEEN r.first AND r.last) c)sql");
    (void)run(from, statement, Uuid{id}, grantee, numbers_of(touched.first, touched.n),
              numbers_of(touched.last, touched.n), sums->epsilon - most.epsilon, sums->delta - most.delta,
              number_of_cells(touched));
    bool isnull;
    sums->epsilon = to_epsilon_sum(Spi::value(0, 1, &isnull), "epsilon of cells");
    sums->delta = to_delta(Spi::value(0, 2, &isnull), "delta of cells");
}

void stand_on_cells(const Spi &spi, const Charge &what, const OpenOdometer &odometer, Standpoint *point) {
    if (!is_on_cells(what, odometer))
        return;
    const privacy::BoundSettings &bound = point->basis->terms->bound;
    if (bound.period || (bound.bound != privacy::Bound::filter && bound.bound != privacy::Bound::none))
        elog(ERROR, "a partition does not go with the bound of the table");
    put_largest(spi, odometer.id, "", *what.touched, odometer.most, &point->sums.table.of_public);
    if (const OpenShare *share = point->basis->share)
        put_largest(spi, odometer.id, share->grantee, *what.touched, share->most, &point->sums.role.of_public);
}

// Cells that begin with this question have what was charged to those to come.
static void look_ahead(const Visit &visit, const char *id, const char *grantee, const Touched &touched, int64 begun,
                       const privacy::Loss &most, privacy::Spent *sums) {
    Touched known = touched, coming = {};
    while (known.n > 0 && known.first[known.n - 1] > begun)
        known.n--;
    if (known.n > 0)
        known.last[known.n - 1] = Min(known.last[known.n - 1], begun);
    coming.n = 1;
    coming.first[0] = coming.last[0] = to_come;
    privacy::Spent before = *sums, next;
    put_largest(visit, id, grantee, coming, privacy::Loss(), &next);
    if (known.n > 0)
        put_largest(visit, id, grantee, known, most, &before);
    sums->epsilon = known.n > 0 ? std::max(before.epsilon, next.epsilon) : next.epsilon;
    sums->delta = known.n > 0 ? std::max(before.delta, next.delta) : next.delta;
}

void look_at_cells(const Reading &reading, const char *id, const char *grantee, const Touched &touched,
                   privacy::Totals *table, privacy::Totals *role) {
    int partition = 0;
    int64 begun = 0;
    privacy::Loss most, most_of_role;
    Lookup odometers = Lookup::open("odometer", reading);
    if (const Row *row = only(odometers.rows(DirectFunctionCall1(uuid_in, CStringGetDatum(id))))) {
        RowReader visit{*row};
        visit("partition", partition);
        visit("begun", begun);
        most_of(visit, most);
    }
    odometers.close();
    if (partition != touched.partition || (touched.is_all() && touched.begun == begun))
        return;
    (void)read_share(reading, id, grantee, 0, &most_of_role);
    Visit visit = Visit::read(reading);
    look_ahead(visit, id, "", touched, begun, most, &table->of_public);
    look_ahead(visit, id, grantee, touched, begun, most_of_role, &role->of_public);
    visit.leave();
}

// ---- charges -------------------------------------------------------------------------------------------------------

static void add_to_cells(const Spi &spi, const char *id, const char *grantee, const Touched &touched,
                         const privacy::Cost &cost, privacy::Basis basis) {
    static border::Statement statement(R"sql(
INSERT INTO dp_rdr.odometer_cell AS c (id, grantee, cell, epsilon, delta)
SELECT $1, $2, n, $5, $6 FROM unnest($3, $4) r (first, last), generate_series(r.first, r.last) n
ON CONFLICT (id, grantee, cell) DO UPDATE SET epsilon = trim_scale(c.epsilon + $5), delta = trim_scale(c.delta + $6))sql");
    (void)run(spi, statement, Uuid{id}, grantee, numbers_of(touched.first, touched.n),
              numbers_of(touched.last, touched.n), cost.epsilon, cost.charged(basis));
}

// How much higher the largest sums are when a charge was added to others.
static privacy::Loss raise_most(const privacy::Spent &largest, const privacy::Spent &touched, const privacy::Cost &cost,
                                privacy::Loss *most) {
    privacy::Loss raised;
    raised.epsilon = std::max(touched.epsilon + cost.epsilon - largest.epsilon, privacy::Epsilon());
    raised.delta = std::max(touched.delta + cost.delta - largest.delta, privacy::Delta());
    most->epsilon = most->epsilon + raised.epsilon;
    most->delta = most->delta + raised.delta;
    return raised;
}

void charge_cells(const Spi &spi, const Charge &what, const Standpoint &point, OpenOdometer *odometer, Price *price) {
    const Partition *partition = point.basis->terms->partition;
    if (what.account != privacy::Account::public_account || partition == nullptr || !partition->declared)
        return;
    const bool told = what.touched != nullptr && what.touched->partition > 0;
    price->by_cells = is_on_cells(what, *odometer);
    if (told && !price->by_cells)
        return;
    Touched coming = {};
    coming.n = 1;
    coming.first[0] = coming.last[0] = to_come;
    OpenShare *share = point.basis->share;
    const Touched &touched = told ? *what.touched : coming; // what nobody told counts for all that come as well
    add_to_cells(spi, odometer->id, "", touched, price->cost, price->basis);
    if (share != nullptr)
        add_to_cells(spi, odometer->id, share->grantee, touched, price->cost, price->basis);
    if (!price->by_cells)
        return;
    price->raised =
        raise_most(odometer->state.totals.of_public, point.sums.table.of_public, price->cost, &odometer->most);
    if (share == nullptr)
        return;
    price->raised_role =
        raise_most(share->totals.of_public, point.sums.role.of_public, price->cost, &share->most);
    share->most_added.epsilon = share->most_added.epsilon + price->raised_role.epsilon;
    share->most_added.delta = share->most_added.delta + price->raised_role.delta;
}

// ---- denials -------------------------------------------------------------------------------------------------------

static void note_denied(int64 cell, DeniedCells *denied) {
    if (denied->n > 0 && denied->last[denied->n - 1] == cell - 1)
        denied->last[denied->n - 1] = cell;
    else if (denied->n == DeniedCells::most)
        denied->more = true;
    else {
        denied->first[denied->n] = denied->last[denied->n] = cell;
        denied->n++;
    }
}

void find_denied_cells(const Spi &spi, const Charge &what, const Standpoint &point, const OpenOdometer &odometer,
                       const privacy::Cost &cost, privacy::Denial denial, Verdict *verdict) {
    static border::Statement statement(R"sql(
SELECT n, $5 + coalesce(c.epsilon, 0), $6 + coalesce(c.delta, 0)
FROM unnest($3, $4) r (first, last) CROSS JOIN generate_series(r.first, r.last) n
LEFT JOIN dp_rdr.odometer_cell c ON c.id = $1 AND c.grantee = $2 AND c.cell = n ORDER BY n)sql");
    const bool of_role = denial == privacy::Denial::role_share;
    if (what.account != privacy::Account::public_account || what.touched == nullptr || what.touched->partition == 0 ||
        (denial != privacy::Denial::epsilon_total && denial != privacy::Denial::delta_total && !of_role))
        return;
    const Touched &touched = *what.touched;
    const privacy::Spent &sums = of_role ? point.basis->share->totals.of_public : odometer.state.totals.of_public;
    const privacy::Loss &most = of_role ? point.basis->share->most : odometer.most;
    const uint64 n = run(spi, statement, Uuid{odometer.id}, of_role ? point.basis->share->grantee : "",
                         numbers_of(touched.first, touched.n), numbers_of(touched.last, touched.n),
                         sums.epsilon - most.epsilon, sums.delta - most.delta);
    bool isnull;
    for (uint64 i = 0; i < n; i++) {
        privacy::Totals here;
        here.of_public.epsilon = to_epsilon_sum(Spi::value(i, 2, &isnull), "epsilon of a cell");
        here.of_public.delta = to_delta(Spi::value(i, 3, &isnull), "delta of a cell");
        const bool fits = border::core([&] {
            const privacy::Totals none;
            return privacy::fit(cost, what.account, point.basis->terms->bound, of_role ? none : here,
                                of_role ? here : none, what.caps.share, what.caps.profile) == privacy::Denial::none;
        });
        if (!fits)
            note_denied(value_at<int64>(i, 1), &verdict->denied);
    }
}

} // namespace dp::catalog
