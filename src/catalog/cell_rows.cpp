#include "catalog/cell_rows.hpp"

#include <algorithm>

namespace dp::catalog {

using border::Spi;

Typed numbers_of(const int64 *numbers, int n) {
    auto *elements = static_cast<Datum *>(palloc(sizeof(Datum) * (n + 1)));
    for (int i = 0; i < n; i++)
        elements[i] = Int64GetDatum(numbers[i]);
    return Typed::array(INT8ARRAYOID, construct_array(elements, n, INT8OID, sizeof(int64), true, TYPALIGN_DOUBLE));
}

template <class... T>
static uint64 run_read(const CellReader &reader, border::Statement &statement, const T &...values) {
    return reader.writer != nullptr ? run(*reader.writer, statement, Uuid{reader.id}, reader.grantee, values...)
                                    : run(*reader.visit, statement, Uuid{reader.id}, reader.grantee, values...);
}

namespace {
// Reads the columns of a row of the last result, from `column` on.
struct CellColumns {
    uint64 row;
    int column;
    Datum next() {
        bool isnull;
        return Spi::value(row, column++, &isnull);
    }
    void operator()(const char *name, privacy::Epsilon &sum) { sum = to_epsilon_sum(next(), name); }
    void operator()(const char *name, privacy::Delta &sum) { sum = to_delta(next(), name); }
    void operator()(const char *name, privacy::Rho &sum) { sum = to_rho_sum(next(), name); }
    void operator()(const char *, std::int64_t &count) { count = DatumGetInt64(next()); }
};
} // namespace

privacy::CellSums sums_at(uint64 row, int column) {
    privacy::CellSums sums;
    CellColumns columns = {row, column};
    fields(columns, sums);
    return sums;
}

// Finds the rows that say what the cells of ranges $3 to $4 have: that at the first or before it, and those behind. Behind the last row of
// them a cell has what they have.
#define CELLS_OF_RANGES                                                                                                 \
    "FROM unnest($3::bigint[], $4::bigint[]) r (first, last), LATERAL ("                                               \
    "  SELECT r.first AS at, p.* FROM (VALUES (true)) one LEFT JOIN LATERAL ("                                          \
    "    SELECT o.* FROM dp_rdr.odometer_cell o WHERE o.id = $1 AND o.grantee = $2 AND o.first <= r.first "          \
    "    ORDER BY o.first DESC LIMIT 1) p ON true "                                                                     \
    "  UNION ALL SELECT o.first, o.* FROM dp_rdr.odometer_cell o "                                                      \
    "  WHERE o.id = $1 AND o.grantee = $2 AND o.first > r.first AND o.first <= r.last OFFSET 0) c"

privacy::CellSums CellReader::largest_of(const Touched &touched, const privacy::CellSums &all) const {
    static border::Statement statement(
        "SELECT max(coalesce(c.epsilon, 0)), max(coalesce(c.delta, 0)), max(coalesce(c.epsilon_epoch, 0)), "
        "max(coalesce(c.delta_epoch, 0)), max(coalesce(c.rho, 0)), max(coalesce(c.pure, 0)), "
        "max(coalesce(c.rho_only, 0)) " CELLS_OF_RANGES);
    (void)run_read(*this, statement, numbers_of(touched.first, touched.n), numbers_of(touched.last, touched.n));
    return all + sums_at(0, 1);
}

privacy::CellSums CellReader::coming() const {
    static border::Statement statement(
        "SELECT o.epsilon, o.delta, o.epsilon_epoch, o.delta_epoch, o.rho, o.pure, o.rho_only "
        "FROM dp_rdr.odometer_cell o WHERE o.id = $1 AND o.grantee = $2 AND o.first = 9223372036854775807");
    return run_read(*this, statement) == 0 ? privacy::CellSums() : sums_at(0, 1);
}

static void note_denied(int64 first, int64 last, DeniedCells *denied) {
    if (denied->n > 0 && denied->last[denied->n - 1] == first - 1)
        denied->last[denied->n - 1] = last;
    else if (denied->n == DeniedCells::most)
        denied->more = true;
    else {
        denied->first[denied->n] = first;
        denied->last[denied->n] = last;
        denied->n++;
    }
}

// Compares what cells have beside `all`.
template <class Number> static std::optional<Number> beside(const std::optional<Number> &limit, Number all) {
    return limit ? std::optional<Number>(*limit - all) : std::nullopt;
}

// The condition is privacy::Refusal::refuses(). It runs under the odometer's lock, for whoever is denied: so it stops soon.
DeniedCells CellReader::refusing(const Touched &touched, const privacy::Refusal &refusal,
                                 const privacy::CellSums &all) const {
    constexpr uint64 most_rows = 256;
    static border::Statement statement(
        "SELECT d.at, coalesce((SELECT o.first - 1 FROM dp_rdr.odometer_cell o WHERE o.id = $1 AND o.grantee = $2 "
        "  AND o.first > d.at AND o.first <= d.last ORDER BY o.first LIMIT 1), d.last) "
        "FROM (SELECT c.at, r.last " CELLS_OF_RANGES
        "  WHERE coalesce(c.epsilon, 0) > $5 OR coalesce(c.delta, 0) > $6 OR coalesce(c.epsilon_epoch, 0) > $7 "
        "  OR coalesce(c.delta_epoch, 0) > $8 "
        "  OR coalesce(c.rho, 0) > $9 AND ($10 IS NULL OR coalesce(c.rho_only, 0) > $11 OR coalesce(c.pure, 0) > $10) "
        "  LIMIT 256) d ORDER BY 1");
    const uint64 n =
        run_read(*this, statement, numbers_of(touched.first, touched.n), numbers_of(touched.last, touched.n),
                 beside(refusal.epsilon, all.epsilon), beside(refusal.delta, all.delta),
                 beside(refusal.epsilon_epoch, all.epsilon_epoch), beside(refusal.delta_epoch, all.delta_epoch),
                 beside(refusal.rho, all.rho), beside(refusal.pure, all.pure), int64{-all.rho_only});
    DeniedCells denied = {};
    for (uint64 i = 0; i < n; i++)
        note_denied(value_at<int64>(i, 1), value_at<int64>(i, 2), &denied);
    denied.more = denied.more || n == most_rows;
    return denied;
}

static std::optional<privacy::Loss> closing_of(privacy::Odometer odometer, privacy::Account account,
                                               const privacy::CellSums &sums, bool by_cells) {
    const bool touched = sums.rho.units() > 0 || sums.pure.units() > 0 || sums.rho_only > 0;
    if (by_cells && !touched && odometer.claim.charged) // nothing of the epoch is in it
        return privacy::Loss();
    return border::core([&] {
        odometer.totals.of_public = sums.spent();
        return privacy::closing(odometer, account);
    });
}

// A closing is not larger where more was charged, so it is computed of each.
Closings find_closings(const CellReader &reader, privacy::Account account, const privacy::Odometer &odometer,
                       const privacy::Spread &spread) {
    static border::Statement statement(
        "SELECT DISTINCT o.epsilon, o.delta, o.epsilon_epoch, o.delta_epoch, o.rho, o.pure, o.rho_only "
        "FROM dp_rdr.odometer_cell o WHERE o.id = $1 AND o.grantee = $2 AND o.first < 9223372036854775807");
    Closings closings = {};
    const uint64 n = account == privacy::Account::public_account ? run_read(reader, statement) : 0;
    closings.by_cells = n > 0;
    for (uint64 i = 0; i < Max(n, 1); i++) {
        const privacy::CellSums sums = n > 0 ? spread.all + sums_at(i, 1) : spread.fullest();
        if (const std::optional<privacy::Loss> loss = closing_of(odometer, account, sums, closings.by_cells)) {
            closings.all.epsilon = closings.charged ? std::max(closings.all.epsilon, loss->epsilon) : loss->epsilon;
            closings.all.delta = closings.charged ? std::max(closings.all.delta, loss->delta) : loss->delta;
            closings.charged = true;
        }
    }
    if (closings.charged && closings.by_cells)
        closings.coming = *closing_of(odometer, account, reader.coming(), true);
    return closings;
}

bool read_cells(const Reading &reading, const char *id, int epoch, LookedCells *looked) {
    Lookup odometers = Lookup::open("odometer", reading);
    const Row *row = only(odometers.rows(DirectFunctionCall1(uuid_in, CStringGetDatum(id))));
    if (row != nullptr) {
        RowReader columns{*row};
        columns("partition", looked->partition);
        columns("begun", looked->begun);
        looked->spread = read_spread(columns);
        looked->odometer = odometer_of(*row);
        looked->ended = looked->odometer.epoch < epoch;
        looked->reader = {nullptr, nullptr, id, ""};
    }
    odometers.close();
    return row != nullptr;
}

privacy::CellSums closed(privacy::CellSums sums, const privacy::Loss &closing) {
    sums.begin_epoch();
    sums.epsilon = sums.epsilon + closing.epsilon;
    sums.delta = sums.delta + closing.delta;
    return sums;
}

} // namespace dp::catalog
