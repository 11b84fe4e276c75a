#include "catalog/ledger_cells.hpp"

#include <algorithm>

namespace dp::catalog {

using border::Spi;

static CellReader reader_of(const Spi &spi, const char *id, const char *grantee) {
    return {&spi, nullptr, id, grantee};
}

// ---- another partition, or other cells -----------------------------------------------------------------------------

namespace {
// Gives the sums as parameters, in the order of their columns.
struct SumParameters {
    Parameters values;
    template <class T> void operator()(const char *, const T &sum) { values.add(sum); }
};
} // namespace

// Parameters: the domain, and what is given; then the sums.
template <class... T>
static void run_with_sums(const Spi &spi, border::Statement &statement, privacy::CellSums sums, const T &...given) {
    SumParameters parameters = {Parameters::of(given...)};
    fields(parameters, sums);
    (void)run(spi, statement, parameters.values);
}

// Where the largest sums belong to different cells, no cell has the first with the second behind it; who counts for all has them both. So what is
// counted before the epoch, and what it adds, are made to come to the whole.
static void join_cells(const Spi &spi, const Settings &settings, OpenOdometer *odometer) {
    const privacy::CellSums full = odometer->spread.fullest();
    const privacy::Spent &sums = odometer->state.totals.of_public;
    Price price = {};
    price.by_cells = true;
    price.raised.epsilon = std::max(sums.epsilon_before + full.epsilon_epoch - full.epsilon, privacy::Epsilon());
    price.raised.delta = std::max(sums.delta_before + full.delta_epoch - full.delta, privacy::Delta());
    price.cost.epsilon = price.raised.epsilon;
    price.cost.delta = price.raised.delta;
    if (odometer->state.claim.charged && (price.raised.epsilon.units() > 0 || price.raised.delta.units() > 0))
        write_carried(spi, settings, privacy::Account::public_account,
                      {"join", "another partition", "the sum of what different cells were charged"}, price, odometer);
}

// All charges so far count for every cell: for those to come by a row of its own, unless they begin with nothing.
static void enter_partition(const Spi &spi, const Settings &settings, const Partition *partition, OpenOdometer *odometer) {
    static border::Statement forget("DELETE FROM dp_rdr.odometer_cell WHERE id = $1"), level(R"sql(
UPDATE dp_rdr.odometer_share SET all_epsilon_epoch = all_epsilon_epoch + most_epsilon_epoch,
  all_delta_epoch = all_delta_epoch + most_delta_epoch, all_rho_only = all_rho_only + most_rho_only, most_epsilon = 0, most_delta = 0,
  most_epsilon_epoch = 0, most_delta_epoch = 0, most_rho = 0, most_pure = 0, most_rho_only = 0 WHERE id = $1)sql"),
        first("INSERT INTO dp_rdr.odometer_cell VALUES ($1, '', $2, 0, 0, 0, 0, 0, 0, 0)"),
        coming("INSERT INTO dp_rdr.odometer_cell VALUES ($1, '', 9223372036854775807, $2, $3, $4, $5, $6, $7, $8)"),
        coming_of_roles(R"sql(
INSERT INTO dp_rdr.odometer_cell SELECT s.id, s.grantee, 9223372036854775807, s.public_epsilon, s.public_delta, e.here * s.all_epsilon_epoch,
  e.here * s.all_delta_epoch, e.here * s.public_rho, e.here * s.public_pure, e.here * s.all_rho_only
FROM dp_rdr.odometer_share s CROSS JOIN LATERAL (VALUES ((s.epoch = $2)::integer)) e (here) WHERE s.id = $1)sql");
    odometer->cells.leave(spi, odometer->id);
    const Uuid id{odometer->id};
    join_cells(spi, settings, odometer);
    move_shares(spi, odometer);
    (void)run(spi, forget, id);
    (void)run(spi, level, id);
    odometer->spread = {odometer->spread.fullest(), {}};
    for (auto *share : border::each<OpenShare>(odometer->shares))
        share->spread = {share->spread.fullest(), {}};
    if (partition != nullptr && partition->declared) {
        (void)run(spi, first, id, partition->others());
        run_with_sums(spi, coming, partition->fresh ? privacy::CellSums() : odometer->spread.all, id);
    }
    if (partition != nullptr && partition->declared && !partition->fresh)
        (void)run(spi, coming_of_roles, id, int32{odometer->state.epoch});
    odometer->partition = partition == nullptr ? 0 : partition->version;
    odometer->begun = odometer->founded = partition == nullptr ? 0 : last_cell(*partition, today());
    odometer->has_turned = true;
}

// Takes rows away that say what those before them say. A charge on few cells leaves them: they are never more than there are cells.
static void join_all_equal(const Spi &spi, const OpenOdometer &odometer) {
    static border::Statement statement(R"sql(
DELETE FROM dp_rdr.odometer_cell c WHERE c.id = $1 AND c.first < 9223372036854775807
  AND (c.epsilon, c.delta, c.epsilon_epoch, c.delta_epoch, c.rho, c.pure, c.rho_only) = (
    SELECT p.epsilon, p.delta, p.epsilon_epoch, p.delta_epoch, p.rho, p.pure, p.rho_only FROM (
      (SELECT o.* FROM dp_rdr.odometer_cell o WHERE o.id = c.id AND o.grantee = c.grantee AND o.first < c.first ORDER BY o.first DESC LIMIT 1)
      UNION ALL SELECT c.id, c.grantee, NULL, 0, 0, 0, 0, 0, 0, 0 WHERE c.grantee <> '') p
    ORDER BY p.first DESC NULLS LAST LIMIT 1))sql");
    (void)run(spi, statement, Uuid{odometer.id});
}

// A cell that begins has what was charged to cells to come, and nothing of what was charged to all so far.
static void begin_cells(const Spi &spi, int64 last, OpenOdometer *odometer) {
    static border::Statement of_table("INSERT INTO dp_rdr.odometer_cell VALUES ($1, '', $2, $3, $4, $5, $6, $7, $8, $9)"),
        of_roles(R"sql(
INSERT INTO dp_rdr.odometer_cell
SELECT s.id, s.grantee, $2, coalesce(f.epsilon, 0) - (s.public_epsilon - s.most_epsilon), coalesce(f.delta, 0) - (s.public_delta - s.most_delta),
  coalesce(f.epsilon_epoch, 0) - e.here * s.all_epsilon_epoch, coalesce(f.delta_epoch, 0) - e.here * s.all_delta_epoch,
  coalesce(f.rho, 0) - e.here * (s.public_rho - s.most_rho), coalesce(f.pure, 0) - e.here * (s.public_pure - s.most_pure),
  coalesce(f.rho_only, 0) - e.here * s.all_rho_only
FROM dp_rdr.odometer_share s CROSS JOIN LATERAL (VALUES ((s.epoch = $3)::integer)) e (here)
LEFT JOIN dp_rdr.odometer_cell f ON f.id = s.id AND f.grantee = s.grantee AND f.first = 9223372036854775807 WHERE s.id = $1)sql");
    odometer->cells.leave(spi, odometer->id);
    const int64 first = odometer->begun + 1;
    move_shares(spi, odometer);
    run_with_sums(spi, of_table, reader_of(spi, odometer->id, "").coming() - odometer->spread.all, Uuid{odometer->id}, first);
    (void)run(spi, of_roles, Uuid{odometer->id}, first, int32{odometer->state.epoch});
    join_all_equal(spi, *odometer);
    odometer->begun = last;
    odometer->has_turned = true;
}

// Values that are new in a list were among everything else, and have what that was charged.
static void grow_list(const Spi &spi, const Partition &partition, OpenOdometer *odometer) {
    static border::Statement split(R"sql(
INSERT INTO dp_rdr.odometer_cell
SELECT g.id, g.grantee, $3, coalesce(c.epsilon, 0), coalesce(c.delta, 0), coalesce(c.epsilon_epoch, 0), coalesce(c.delta_epoch, 0),
  coalesce(c.rho, 0), coalesce(c.pure, 0), coalesce(c.rho_only, 0)
FROM (SELECT DISTINCT o.id, o.grantee FROM dp_rdr.odometer_cell o WHERE o.id = $1 AND o.first < 9223372036854775807) g
LEFT JOIN dp_rdr.odometer_cell c ON c.id = g.id AND c.grantee = g.grantee AND c.first = $2)sql");
    odometer->cells.leave(spi, odometer->id);
    const int64 first = odometer->begun + 1;
    if (first <= partition.last) {
        (void)run(spi, split, Uuid{odometer->id}, partition.others(), first);
        join_all_equal(spi, *odometer);
    }
    odometer->partition = partition.version;
    odometer->begun = partition.last;
    odometer->has_turned = true;
}

void enter_cells(const Spi &spi, const Settings &settings, const Partition *partition, const Touched *touched,
                 OpenOdometer *odometer) {
    const int version = partition == nullptr ? 0 : partition->version;
    if (version > 0 && partition->values != nullptr && odometer->partition < version && odometer->partition >= partition->base)
        grow_list(spi, *partition, odometer);
    else if (odometer->partition != version)
        enter_partition(spi, settings, partition, odometer);
    const bool told = touched != nullptr && touched->partition > 0;
    if (told && touched->partition == odometer->partition && touched->begun > odometer->begun)
        begin_cells(spi, touched->begun, odometer);
}

void begin_epoch_of_cells(const Spi &spi, OpenOdometer *odometer) {
    static border::Statement statement(
        "UPDATE dp_rdr.odometer_cell SET epsilon_epoch = 0, delta_epoch = 0, rho = 0, pure = 0, rho_only = 0 WHERE id = $1");
    (void)run(spi, statement, Uuid{odometer->id});
    join_all_equal(spi, *odometer);
    odometer->spread.begin_epoch();
}

// ---- decisions -----------------------------------------------------------------------------------------------------

bool is_on_cells(const Charge &what, const OpenOdometer &odometer) {
    return what.account == privacy::Account::public_account && what.touched != nullptr &&
           what.touched->partition > 0 && !(what.touched->is_all() && what.touched->begun == odometer.begun);
}

bool is_on_many_cells(const Charge &what) {
    constexpr int64 most_cells = 256;
    int64 n = 0;
    for (int i = 0; what.touched != nullptr && i < what.touched->n; i++)
        n += what.touched->last[i] - what.touched->first[i] + 1;
    return n > most_cells;
}

// Replaces the sums of the public account, but not those of its period.
static void put_sums(const privacy::CellSums &sums, privacy::Spent *spent) {
    const privacy::PeriodSums period = spent->period;
    *spent = sums.spent();
    spent->period = period;
}

void stand_on_all(const OpenOdometer &odometer, Standpoint *point) {
    if (odometer.partition == 0)
        return;
    put_sums(odometer.spread.fullest(), &point->sums.table.of_public);
    if (const OpenShare *share = point->basis->share)
        put_sums(share->spread.fullest(), &point->sums.role.of_public);
}

void stand_on_cells(const Spi &spi, const Charge &what, OpenOdometer *odometer, Standpoint *point) {
    if (!is_on_cells(what, *odometer))
        return;
    odometer->cells.write(spi, odometer->id);
    put_sums(reader_of(spi, odometer->id, "").largest_of(*what.touched, odometer->spread.all), &point->sums.table.of_public);
    if (const OpenShare *share = point->basis->share)
        put_sums(reader_of(spi, odometer->id, share->grantee).largest_of(*what.touched, share->spread.all),
                 &point->sums.role.of_public);
}

static bool is_of_sums(privacy::Denial denial) {
    return denial == privacy::Denial::epsilon_total || denial == privacy::Denial::delta_total ||
           denial == privacy::Denial::role_share;
}

privacy::Denial look_into_cells(const Spi &spi, const Charge &what, const Standpoint &point, OpenOdometer *odometer,
                                const privacy::Cost &cost, privacy::Denial denial, Verdict *verdict) {
    if (what.account != privacy::Account::public_account || what.touched == nullptr || what.touched->partition == 0 ||
        !is_of_sums(denial))
        return denial;
    odometer->cells.write(spi, odometer->id);
    const privacy::BoundSettings &bound = point.basis->terms->bound;
    verdict->denied = reader_of(spi, odometer->id, "")
                          .refusing(*what.touched, border::core([&] { return privacy::refusal_of_table(cost, bound); }),
                                    odometer->spread.all);
    if (verdict->denied.n > 0)
        return denial == privacy::Denial::role_share ? privacy::Denial::epsilon_total : denial;
    const OpenShare *share = point.basis->share;
    if (share == nullptr)
        return privacy::Denial::none;
    const privacy::Refusal refusal = border::core([&] {
        return privacy::refusal_of_role(cost, bound, what.caps.share, what.caps.profile, point.sums.role.of_conditional);
    });
    verdict->denied =
        reader_of(spi, odometer->id, share->grantee).refusing(*what.touched, refusal, share->spread.all);
    return verdict->denied.n > 0 ? privacy::Denial::role_share : privacy::Denial::none;
}

// ---- charges -------------------------------------------------------------------------------------------------------

static privacy::CellSums raise_to(const privacy::CellSums &cells, const privacy::Spread &spread) {
    return privacy::largest(cells, spread.most) - spread.most;
}

static void add_to_coming(const Spi &spi, const OpenOdometer &odometer, const char *grantee, const privacy::CellSums &added) {
    static border::Statement statement(R"sql(
INSERT INTO dp_rdr.odometer_cell AS o VALUES ($1, $2, 9223372036854775807, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (id, grantee, first) DO UPDATE SET epsilon = o.epsilon + EXCLUDED.epsilon, delta = o.delta + EXCLUDED.delta,
  epsilon_epoch = o.epsilon_epoch + EXCLUDED.epsilon_epoch, delta_epoch = o.delta_epoch + EXCLUDED.delta_epoch, rho = o.rho + EXCLUDED.rho,
  pure = o.pure + EXCLUDED.pure, rho_only = o.rho_only + EXCLUDED.rho_only)sql");
    run_with_sums(spi, statement, added, Uuid{odometer.id}, grantee);
}

static Datum describe_cells_of(const OpenOdometer &odometer, const char *which) {
    return jsonb_of(psprintf("{\"cells\": {\"partition\": %d, \"begun\": " INT64_FORMAT "%s}}", odometer.partition,
                             odometer.begun, which));
}

Datum describe_all(const OpenOdometer &odometer) {
    return describe_cells_of(odometer, "");
}

void charge_coming(const Spi &spi, const OpenOdometer &odometer, Price *price) {
    price->by_cells = true;
    price->cells = describe_cells_of(odometer, psprintf(", \"ranges\": [[" INT64_FORMAT ", " INT64_FORMAT "]]", to_come, to_come));
    add_to_coming(spi, odometer, "", privacy::added_by(price->cost, price->basis));
}

// Reads the rows of all charges of the batch at once, but for those on many cells: most of them are denied without.
static void read_for(const Charge &what, OpenOdometer *odometer) {
    const bool alone = is_on_many_cells(what);
    if (!alone && odometer->cells.is_read)
        return;
    CommandCounterIncrement();
    const Reading reading = Reading::open();
    const Lookup table = Lookup::open("odometer_cell", reading);
    const Datum id = DirectFunctionCall1(uuid_in, CStringGetDatum(odometer->id));
    for (auto *charge : border::each<const Charge>(odometer->charges)) {
        if (alone ? charge != &what : !is_on_cells(*charge, *odometer) || is_on_many_cells(*charge))
            continue;
        odometer->cells.read(table, id, "", *charge->touched);
        if (charge->grantee != nullptr)
            odometer->cells.read(table, id, charge->grantee, *charge->touched);
    }
    table.close();
    reading.close();
    odometer->cells.is_read = odometer->cells.is_read || !alone;
}

void charge_cells(const Spi &spi, const Charge &what, const Basis &basis, OpenOdometer *odometer, Price *price) {
    const Partition *partition = basis.terms->partition;
    if (what.account != privacy::Account::public_account || partition == nullptr || !partition->declared)
        return;
    const bool told = what.touched != nullptr && what.touched->partition > 0;
    const OpenShare *share = basis.share;
    const privacy::CellSums added = privacy::added_by(price->cost, price->basis);
    if (!told) { // it counts for all that come as well
        add_to_coming(spi, *odometer, "", added);
        if (share != nullptr)
            add_to_coming(spi, *odometer, share->grantee, added);
        price->cells = describe_cells_of(*odometer, ", \"to_come\": true");
    }
    price->by_cells = is_on_cells(what, *odometer);
    if (!price->by_cells)
        return;
    constexpr int many_rows = 256;
    int nrows, nrows_role;
    read_for(what, odometer);
    const auto raised = [&](const char *grantee, const privacy::Spread &spread, int *n) {
        return raise_to(odometer->cells.add(grantee, *what.touched, odometer->begun, added, n), spread);
    };
    price->raised = raised("", odometer->spread, &nrows);
    if (share != nullptr)
        price->raised_role = raised(share->grantee, share->spread, &nrows_role);
    if (nrows > many_rows) {
        odometer->cells.leave(spi, odometer->id);
        join_all_equal(spi, *odometer);
    }
}

// ---- questions that are only looked at -----------------------------------------------------------------------------

// Cells that begin with this question have what was charged to those to come.
static privacy::CellSums look_ahead(const LookedCells &looked, const Touched &touched) {
    Touched known = touched;
    while (known.n > 0 && known.first[known.n - 1] > looked.begun)
        known.n--;
    if (known.n > 0)
        known.last[known.n - 1] = Min(known.last[known.n - 1], looked.begun);
    const bool ahead = touched.last[touched.n - 1] > looked.begun;
    const privacy::CellSums coming = looked.now(looked.reader.coming(), looked.closings.coming);
    if (known.n == 0)
        return coming;
    const privacy::CellSums sums = looked.now(looked.reader.largest_of(known, looked.spread.all), looked.closings.all);
    return ahead ? privacy::largest(sums, coming) : sums;
}

void look_at_cells(const Reading &reading, const char *id, const char *grantee, const Touched &touched, int epoch,
                   privacy::Totals *table, privacy::Totals *role) {
    LookedCells of_table = {};
    if (!read_cells(reading, id, epoch, &of_table) || of_table.partition != touched.partition) // nothing was charged since it was declared
        return;
    LookedCells of_role = of_table; // which closes nothing
    of_role.reader.grantee = grantee;
    of_role.spread = privacy::Spread();
    (void)read_share(reading, id, grantee, epoch, &of_role.spread);
    Visit visit = Visit::read(reading);
    of_table.enter(&visit);
    of_role.reader.visit = &visit;
    put_sums(look_ahead(of_table, touched), &table->of_public);
    put_sums(look_ahead(of_role, touched), &role->of_public);
    visit.leave();
}

} // namespace dp::catalog
