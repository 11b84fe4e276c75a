#include "catalog/batch_cells.hpp"

#include <algorithm>

#include "catalog/cell_rows.hpp"

namespace dp::catalog {

using border::Spi;

Typed ArrayOf::made() const {
    return {static_cast<Oid>(get_array_type(type)), makeArrayResult(elements, CurrentMemoryContext)};
}

void WantedCells::add(const char *name, const Touched &touched) {
    for (int i = 0; i < touched.n; i++) {
        grantee.add(CStringGetTextDatum(name));
        first.add(Int64GetDatum(touched.first[i]));
        last.add(Int64GetDatum(touched.last[i] + 1)); // whether there is a row behind it
    }
}

// Orders rows by their keys; of two with one key the one that has moved comes first.
static bool is_before(const BatchCells::CellRow &a, const BatchCells::CellRow &b) {
    const int order = strcmp(a.grantee, b.grantee);
    if (order != 0 || a.first != b.first)
        return order != 0 ? order < 0 : a.first < b.first;
    return a.moved && !b.moved;
}

static bool is_same(const BatchCells::CellRow &a, const BatchCells::CellRow &b) {
    return a.first == b.first && strcmp(a.grantee, b.grantee) == 0;
}

void BatchCells::reserve(int more) {
    if (n + more <= capacity)
        return;
    capacity = 2 * (n + more) + 64;
    const Size size = sizeof(CellRow) * capacity;
    rows = static_cast<CellRow *>(rows == nullptr ? palloc(size) : repalloc(rows, size));
}

void BatchCells::read(const Spi &spi, const char *id, const WantedCells &wanted) {
    static border::Statement statement(R"sql(
SELECT c.grantee, c.first, c.epsilon, c.delta, c.epsilon_epoch, c.delta_epoch, c.rho, c.pure, c.rho_only
FROM unnest($2::text[], $3::bigint[], $4::bigint[]) w (grantee, first, last), LATERAL (
  (SELECT o.* FROM dp_rdr.odometer_cell o WHERE o.id = $1 AND o.grantee = w.grantee AND o.first <= w.first ORDER BY o.first DESC LIMIT 1)
  UNION ALL SELECT o.* FROM dp_rdr.odometer_cell o
  WHERE o.id = $1 AND o.grantee = w.grantee AND o.first > w.first AND o.first <= w.last OFFSET 0) c)sql");
    const int found = static_cast<int>(
        run(spi, statement, Uuid{id}, wanted.grantee.made(), wanted.first.made(), wanted.last.made()));
    reserve(found);
    const char *grantee = "";
    for (int i = 0; i < found; i++) {
        const char *name = TextDatumGetCString(value_at<Datum>(i, 1));
        grantee = strcmp(name, grantee) == 0 ? grantee : name;
        rows[n++] = {grantee, value_at<int64>(i, 2), sums_at(i, 3), false};
    }
    std::sort(rows, rows + n, is_before);
    n = static_cast<int>(std::unique(rows, rows + n, is_same) - rows);
}

// Finds the row of a cell; makes it where there is none, with what the one before it has.
int BatchCells::place_of(const char *grantee, int64 first) {
    reserve(1);
    CellRow made = {grantee, first, {}, true};
    CellRow *at = std::lower_bound(rows, rows + n, made, is_before);
    if (at == rows + n || !is_same(*at, made)) {
        if (at > rows && strcmp(at[-1].grantee, grantee) == 0)
            made.sums = at[-1].sums;
        std::move_backward(at, rows + n, rows + n + 1);
        *at = made;
        n++;
    }
    return static_cast<int>(at - rows);
}

privacy::CellSums BatchCells::add(const char *grantee, const Touched &touched, int64 begun,
                                  const privacy::CellSums &added, int *nrows) {
    privacy::CellSums most;
    *nrows = 0;
    for (int i = 0; i < touched.n; i++) {
        if (touched.last[i] < begun)
            (void)place_of(grantee, touched.last[i] + 1);
        const int from = place_of(grantee, touched.first[i]);
        for (CellRow *row = rows + from;
             row < rows + n && row->first <= touched.last[i] && strcmp(row->grantee, grantee) == 0; row++) {
            row->sums = row->sums + added;
            row->moved = true;
            most = (*nrows)++ == 0 ? row->sums : privacy::largest(most, row->sums);
        }
    }
    return most;
}

namespace {
// Collects sums, a column in each array.
struct SumArrays {
    ArrayOf columns[7];
    int column;
    template <int Places> void operator()(const char *, privacy::Decimal<Places> sum) {
        columns[column++].add(to_numeric(sum));
    }
    void operator()(const char *, std::int64_t count) { columns[column++].add(Int64GetDatum(count)); }
};
} // namespace

void BatchCells::write(const Spi &spi, const char *id) {
    static border::Statement statement(R"sql(
INSERT INTO dp_rdr.odometer_cell SELECT $1, w.* FROM unnest($2::text[], $3::bigint[], $4::numeric[], $5::numeric[], $6::numeric[], $7::numeric[],
  $8::numeric[], $9::numeric[], $10::bigint[]) w
ON CONFLICT (id, grantee, first) DO UPDATE SET epsilon = EXCLUDED.epsilon, delta = EXCLUDED.delta, epsilon_epoch = EXCLUDED.epsilon_epoch,
  delta_epoch = EXCLUDED.delta_epoch, rho = EXCLUDED.rho, pure = EXCLUDED.pure, rho_only = EXCLUDED.rho_only)sql");
    ArrayOf grantee = ArrayOf::begin(TEXTOID), first = ArrayOf::begin(INT8OID);
    SumArrays sums;
    for (int i = 0; i < 7; i++)
        sums.columns[i] = ArrayOf::begin(i < 6 ? NUMERICOID : INT8OID);
    bool any = false;
    for (CellRow *row = rows; row < rows + n; row++) {
        if (!row->moved)
            continue;
        grantee.add(CStringGetTextDatum(row->grantee));
        first.add(Int64GetDatum(row->first));
        sums.column = 0;
        fields(sums, row->sums);
        row->moved = false;
        any = true;
    }
    if (!any)
        return;
    Parameters parameters = Parameters::of(Uuid{id}, grantee.made(), first.made());
    for (const ArrayOf &column : sums.columns)
        parameters.add(column.made());
    (void)run(spi, statement, parameters);
}

void BatchCells::leave(const Spi &spi, const char *id) {
    write(spi, id);
    n = 0;
    is_read = false;
}

} // namespace dp::catalog
