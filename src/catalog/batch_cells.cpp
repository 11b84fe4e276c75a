#include "catalog/batch_cells.hpp"

#include <algorithm>

#include "catalog/described_row.hpp"

namespace dp::catalog {

using border::Spi;

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

void BatchCells::reserve_one() {
    if (n < capacity)
        return;
    capacity = 2 * capacity + 64;
    const Size size = sizeof(CellRow) * capacity;
    rows = static_cast<CellRow *>(rows == nullptr ? palloc(size) : repalloc(rows, size));
}

void BatchCells::read(const Lookup &table, Datum id, const char *grantee, const Touched &touched) {
    for (int i = 0; i < touched.n; i++) // and whether there is a row behind the last cell
        for (auto *row : border::each<const Row>(
                 table.rows_between(id, grantee, touched.first[i], touched.last[i] + 1))) {
            RowReader columns{*row};
            CellRow found = {grantee, 0, {}, false};
            columns("first", found.first);
            fields(columns, found.sums);
            reserve_one();
            rows[n++] = found;
        }
    std::sort(rows, rows + n, is_before);
    n = static_cast<int>(std::unique(rows, rows + n, is_same) - rows);
}

// Finds the row of a cell; makes it where there is none, with what the one before it has.
int BatchCells::place_of(const char *grantee, int64 first) {
    reserve_one();
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
// Collects rows in arrays, one of each column: grantee, cell, and the sums.
struct ColumnArrays {
    static constexpr int n = 9;
    ArrayBuildState *arrays[n];
    int column;
    void add(Oid type, Datum value) {
        arrays[column] = accumArrayResult(arrays[column], value, false, type, CurrentMemoryContext);
        column = (column + 1) % n;
    }
    template <int Places> void operator()(const char *, privacy::Decimal<Places> sum) {
        add(NUMERICOID, to_numeric(sum));
    }
    void operator()(const char *, std::int64_t count) { add(INT8OID, Int64GetDatum(count)); }
};
} // namespace

void BatchCells::write(const Spi &spi, const char *id) {
    static border::Statement statement(R"sql(
INSERT INTO dp_rdr.odometer_cell SELECT $1, w.* FROM unnest($2::text[], $3::bigint[], $4::numeric[], $5::numeric[], $6::numeric[], $7::numeric[],
  $8::numeric[], $9::numeric[], $10::bigint[]) w
ON CONFLICT (id, grantee, first) DO UPDATE SET epsilon = EXCLUDED.epsilon, delta = EXCLUDED.delta, epsilon_epoch = EXCLUDED.epsilon_epoch,
  delta_epoch = EXCLUDED.delta_epoch, rho = EXCLUDED.rho, pure = EXCLUDED.pure, rho_only = EXCLUDED.rho_only)sql");
    ColumnArrays columns = {};
    for (CellRow *row = rows; row < rows + n; row++)
        if (row->moved) {
            columns.add(TEXTOID, CStringGetTextDatum(row->grantee));
            columns.add(INT8OID, Int64GetDatum(row->first));
            fields(columns, row->sums);
            row->moved = false;
        }
    if (columns.arrays[0] == nullptr)
        return;
    Parameters parameters = Parameters::of(Uuid{id});
    for (ArrayBuildState *array : columns.arrays) {
        const Oid type = get_array_type(array->element_type);
        parameters.add(type, makeArrayResult(array, CurrentMemoryContext)); // which ends it
    }
    (void)run(spi, statement, parameters);
}

void BatchCells::leave(const Spi &spi, const char *id) {
    write(spi, id);
    n = 0;
    is_read = false;
}

} // namespace dp::catalog
