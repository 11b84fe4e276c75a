#include "risk/change.hpp"

#include <cmath>

#include "privacy/quantile_law.hpp"
#include "risk/memory.hpp"
#include "rows/measures.hpp"

namespace dp::risk {

// ---- numbers -------------------------------------------------------------------------------------------------------

static const privacy::Measure &measure_of(const rows::Question *question, int j) {
    return (*question->measures)[j];
}

static bool is_quantile(const rows::Question *question, int j) {
    return measure_of(question, j).kind == privacy::MeasureKind::quantile;
}

bool depends_on_group(const rows::Question *question) {
    for (int j = 0; j < question->nmeasures; j++)
        if (measure_of(question, j).has_parts() || is_quantile(question, j))
            return true;
    return false;
}

privacy::PrintedNumber number_of(const rows::Question *question, int aggregate) {
    const int j = question->measure_of[aggregate];
    const privacy::Bounds *bounds = question->bounds[j];
    const double rows = static_cast<double>(measure_of(question, j).sensitivity) /
                        privacy::sensitivity_of_row(measure_of(question, j), bounds);
    return {question->leaf->aggregates[aggregate].fn, measure_of(question, j).kind, bounds,
            rows::bounds_of_x(question, j), Max(rows, 1.0)};
}

int first_cell_of(const rows::Question *question, int measure) {
    int first = 0;
    for (int j = 0; j < measure; j++)
        first += is_quantile(question, j) ? question->grids[j]->cells : 0;
    return first;
}

double counted(const rows::Question *question, int j, const rows::UnitContribution &unit) {
    double n = 0;
    const int coordinate = rows::first_coordinate_of(question, j);
    for (int k = 0; measure_of(question, j).of_values && k < unit.ncounts; k++)
        n += unit.counts[k].coordinate == coordinate ? unit.counts[k].n : 0;
    if (!is_quantile(question, j))
        return n;
    const int quantile = first_cell_of(question, j) / question->grids[j]->cells;
    for (int i = 0; i < unit.ncells; i++)
        n += static_cast<double>(unit.cell_counts[int64{i} * unit.nquantiles + quantile]);
    return n;
}

// ---- groups --------------------------------------------------------------------------------------------------------

void begin_parts(const rows::Question *question, Memo *memo, Size groups_memory) {
    const int width = question->ncoordinates;
    memo->records = border::Spill<Record>::make(1, share_of_memory());
    memo->parts = border::Spill<Part>::make(1, share_of_memory());
    memo->changes = border::Spill<native128>::make(width, share_of_memory());
    memo->cells = border::Spill<privacy::CellCount>::make(1, share_of_memory());
    memo->sums = border::Spill<native128>::make(width, groups_memory);
    memo->excess = border::Spill<double>::make(1, share_of_memory());
    if (question->ncells > 0)
        memo->counts = border::Spill<int64>::make(question->ncells, groups_memory);
}

void begin_group_keys(const rows::Question *question, Memo *memo) {
    const query::Leaf *leaf = question->leaf;
    memo->group_keys = tuplestore_begin_heap(false, false, work_mem);
    memo->key_desc = CreateTemplateTupleDesc(leaf->nkeys);
    for (int k = 0; k < leaf->nkeys; k++)
        TupleDescInitEntry(memo->key_desc, static_cast<AttrNumber>(k + 1), "key", leaf->keys[k].type, -1, 0);
    BlessTupleDesc(memo->key_desc);
}

void keep_group_keys(const Memo *memo, int group, Datum *keys, bool *nulls) {
    if (memo->group_keys != nullptr && group < most_group_keys)
        tuplestore_putvalues(memo->group_keys, memo->key_desc, keys, nulls);
}

void add_to_group(const rows::Question *question, Memo *memo, int group, const privacy::int128 *change,
                  int64 individuals) {
    while (memo->sums.count() <= group)
        memo->sums.append();
    privacy::int128 *sums = memo->sums.change(group);
    for (int c = 0; c < question->ncoordinates; c++)
        sums[c] += change[c] * individuals;
}

void finish_counts(const rows::Question *question, Memo *memo) {
    while (question->ncells > 0 && memo->counts.count() < memo->ngroups)
        memo->counts.append();
    for (int group = 0; question->ncells > 0 && group < memo->ngroups; group++)
        for (int j = 0; j < question->nmeasures; j++) {
            int64 *counts = memo->counts.change(group) + first_cell_of(question, j);
            for (int i = 1; is_quantile(question, j) && i < question->grids[j]->cells; i++)
                counts[i] += counts[i - 1];
        }
}

Group group_at(const rows::Question *question, const Memo *memo, int group) {
    return {memo->sums.at(group),
            question->ncells == 0 ? nullptr : memo->counts.at(group)};
}

std::vector<std::int64_t> counts_of_cells(const rows::Question *question, int measure, const Group &group) {
    const int64 *upto = group.upto + first_cell_of(question, measure);
    std::vector<std::int64_t> counts(upto, upto + question->grids[measure]->cells);
    for (std::size_t i = counts.size(); i-- > 1;)
        counts[i] -= counts[i - 1];
    return counts;
}

// ---- sensitivities -------------------------------------------------------------------------------------------------

static double norm(privacy::Mechanism mechanism, double so_far, double part) {
    return mechanism == privacy::Mechanism::laplace ? so_far + part : std::hypot(so_far, part);
}

double quantile_without(const rows::Question *question, int j, const Group &group,
                               const privacy::CellCount *cells, int ncells) {
    const privacy::Grid &grid = *question->grids[j];
    const privacy::Measure &measure = measure_of(question, j);
    const int first = first_cell_of(question, j);
    std::vector<privacy::CellCount> own;
    for (int i = 0; i < ncells; i++)
        if (cells[i].cell >= first && cells[i].cell < first + grid.cells)
            own.push_back({cells[i].cell - first, cells[i].count});
    return privacy::exact_quantile(grid, question->leaf->aggregates[measure.calls.front()].fn,
                                   privacy::exact_cell(group.upto + first, grid.cells, measure.fraction, own.data(),
                                                       static_cast<int>(own.size())));
}

// `sound`: of a count or a sum the part of D_j that is brought; of numbers that are printed how far they move. Core region.
static double part_of_measure(const rows::Question *question, privacy::Mechanism mechanism, double so_far, int j,
                              const Group &group, int first, const privacy::int128 *change,
                              const privacy::CellCount *cells, int ncells) {
    const privacy::Measure &measure = measure_of(question, j);
    if (is_quantile(question, j))
        return norm(mechanism, so_far,
                    std::fabs(quantile_without(question, j, group, nullptr, 0) -
                              quantile_without(question, j, group, cells, ncells)) /
                        privacy::width_of(*question->grids[j]));
    if (!measure.has_parts())
        return norm(mechanism, so_far,
                    std::fabs(static_cast<double>(change[first])) / static_cast<double>(measure.sensitivity));
    for (int call : measure.calls)
        so_far = norm(mechanism, so_far,
                      privacy::change_of_number(number_of(question, call), group.sums + first, change + first));
    return so_far;
}

double pis_of_change(const rows::Question *question, privacy::Mechanism mechanism, double so_far, const Group &group,
                     const privacy::int128 *change, const privacy::CellCount *cells, int ncells) {
    return border::core([&] {
        double pis = so_far;
        for (int j = 0, first = 0; j < question->nmeasures; first += measure_of(question, j++).coordinates())
            pis = part_of_measure(question, mechanism, pis, j, group, first, change, cells, ncells);
        return pis;
    });
}

double published_change(const rows::Question *question, const Group &group, const privacy::int128 *change, int aggregate) {
    const int j = question->measure_of[aggregate], first = rows::first_coordinate_of(question, j);
    const privacy::Measure &measure = measure_of(question, j);
    if (!measure.has_parts())
        return std::fabs(static_cast<double>(change[first])) * privacy::unit_of(measure, question->bounds[j]);
    const privacy::PrintedNumber number = number_of(question, aggregate);
    return privacy::change_of_number(number, group.sums + first, change + first) * privacy::unit_of_number(number);
}

privacy::CellCount *cells_of(const Memo *memo, const Part &part) {
    auto *cells = static_cast<privacy::CellCount *>(palloc(sizeof(privacy::CellCount) * (part.ncells + 1)));
    for (int i = 0; i < part.ncells; i++)
        cells[i] = *memo->cells.at(part.first_cell + i);
    return cells;
}

double pis_of_record(const rows::Question *question, const Memo *memo, privacy::Mechanism mechanism,
                     privacy::Calibration calibration, int64 record) {
    const Record one = *memo->records.at(record);
    double pis = 0;
    for (int i = 0; i < one.nparts; i++) {
        const Part part = *memo->parts.at(one.first_part + i);
        const Group group = group_at(question, memo, part.group);
        const privacy::int128 *change = memo->changes.at(one.first_part + i);
        if (calibration == privacy::Calibration::published) {
            for (int a = 0; a < question->leaf->naggregates; a++)
                pis = norm(mechanism, pis, border::core([&] { return published_change(question, group, change, a); }));
            continue;
        }
        privacy::CellCount *cells = part.ncells == 0 ? nullptr : cells_of(memo, part);
        pis = pis_of_change(question, mechanism, pis, group, change, cells, part.ncells);
        if (cells != nullptr)
            pfree(cells);
    }
    return pis;
}

// ---- changes -------------------------------------------------------------------------------------------------------

int group_of(const Memo *memo, int64 record) {
    const Record *one = memo->records.at(record);
    return one->nparts == 0 ? -1 : memo->parts.at(one->first_part)->group;
}

// ---- the exact answer ----------------------------------------------------------------------------------------------

double unit_of_answer(const rows::Question *question, int aggregate) {
    const int j = question->measure_of[aggregate];
    const privacy::Measure &measure = measure_of(question, j);
    if (is_quantile(question, j))
        return privacy::width_of(*question->grids[j]);
    return measure.has_parts() ? privacy::unit_of_number(number_of(question, aggregate))
                               : static_cast<double>(measure.sensitivity) * privacy::unit_of(measure, question->bounds[j]);
}

double printed_answer(const rows::Question *question, const privacy::int128 *sums, int aggregate) {
    const int j = question->measure_of[aggregate], first = rows::first_coordinate_of(question, j);
    const privacy::Measure &measure = measure_of(question, j);
    if (is_quantile(question, j))
        return privacy::exact_quantile(*question->grids[j], question->leaf->aggregates[aggregate].fn,
                                       static_cast<int>(sums[first]));
    return measure.has_parts() ? privacy::exact_number(number_of(question, aggregate), sums + first)
                               : static_cast<double>(sums[first]) * privacy::unit_of(measure, question->bounds[j]);
}

// Core region.
static double answer_of(const rows::Question *question, const Group &group, int aggregate, const privacy::CellCount *cells,
                        int ncells) {
    const int j = question->measure_of[aggregate];
    return is_quantile(question, j) ? quantile_without(question, j, group, cells, ncells)
                                    : printed_answer(question, group.sums, aggregate);
}

double exact_answer(const rows::Question *question, const Memo *memo, int group, int aggregate) {
    const Group at = group_at(question, memo, group);
    return border::core([&] { return answer_of(question, at, aggregate, nullptr, 0); });
}

double answer_without(const rows::Question *question, const Memo *memo, int64 part, int aggregate) {
    const Part brought = *memo->parts.at(part);
    privacy::CellCount *cells = cells_of(memo, brought);
    Group group = group_at(question, memo, brought.group);
    auto *sums = static_cast<privacy::int128 *>(palloc(sizeof(privacy::int128) * (question->ncoordinates + 1)));
    for (int c = 0; c < question->ncoordinates; c++)
        sums[c] = group.sums[c] - memo->changes.at(part)[c];
    group.sums = sums;
    const double answer = border::core([&] { return answer_of(question, group, aggregate, cells, brought.ncells); });
    pfree(sums);
    pfree(cells);
    return answer;
}

} // namespace dp::risk
