#include "privacy/task.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "privacy/lattice.hpp"

namespace dp::privacy {

void check_task(const Task &task) {
    if (task.groups < 1)
        throw InvalidParameter("a signal needs an answer with a row");
    if (task.kind == TaskKind::top) {
        if (task.k < 1 || task.k > task.groups)
            throw InvalidParameter("k must be between 1 and the number of rows of the answer, " +
                                   std::to_string(task.groups) + ", not " + std::to_string(task.k));
        return;
    }
    if (!(task.lower < task.upper)) // NaN fails
        throw InvalidParameter("lower must be less than upper");
    if (!std::isfinite(task.upper - task.lower) || !std::isfinite((task.upper - task.lower) * task.groups))
        throw InvalidParameter("lower and upper must be finite, and no further apart than a double can say");
}

std::uint64_t task_sensitivity(const Task &task) {
    return task.kind == TaskKind::mean ? std::uint64_t{1} << 30 : 1;
}

static std::int64_t mean_integer(const Task &task, const std::vector<double> &values) {
    const PairLattice lattice = {task.lower, task.upper - task.lower};
    std::int64_t sum = 0;
    for (const double value : values)
        sum += to_pair_point(lattice, value).value_or(0);
    return sum;
}

// The rows of the k largest values, by a total order: NaN behind all numbers, of equal ones the first row first.
static std::vector<int> first_rows(const std::vector<double> &values, int k) {
    std::vector<int> rows(values.size());
    std::iota(rows.begin(), rows.end(), 0);
    std::partial_sort(rows.begin(), rows.begin() + k, rows.end(), [&](int a, int b) {
        const double x = values[a], y = values[b];
        if (std::isnan(x) != std::isnan(y))
            return std::isnan(y);
        return x > y || (!(x < y) && a < b);
    });
    rows.resize(k);
    std::sort(rows.begin(), rows.end());
    return rows;
}

static std::int64_t top_integer(const Task &task, const std::vector<double> &values,
                                const std::vector<double> &reference) {
    const std::vector<int> a = first_rows(values, task.k), b = first_rows(reference, task.k);
    std::vector<int> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return static_cast<std::int64_t>(both.size());
}

std::int64_t task_integer(const Task &task, const std::vector<double> &values, const std::vector<double> &reference) {
    const auto groups = static_cast<std::size_t>(task.groups);
    if (values.size() != groups || (task.kind == TaskKind::top && reference.size() != groups))
        throw std::logic_error("a task has a value for each group");
    return task.kind == TaskKind::mean ? mean_integer(task, values) : top_integer(task, values, reference);
}

// Returns the largest value of the integer.
static std::int64_t most(const Task &task) {
    return task.kind == TaskKind::mean ? task.groups * pair_one : task.k;
}

double task_value(const Task &task, int128 integer) {
    // No std::clamp: it takes references, and int128 may be less aligned than those may expect.
    const auto cut = static_cast<double>(integer < 0 ? 0 : integer < most(task) ? integer : most(task));
    const double share = cut / static_cast<double>(most(task));
    if (task.kind == TaskKind::top)
        return share;
    return std::clamp(task.lower + share * (task.upper - task.lower), task.lower, task.upper);
}

double task_error(const Task &task, double halfwidth) {
    const double rounding = task.kind == TaskKind::mean ? 0.5 * task.groups : 0;
    const double share = std::min((halfwidth + rounding) / static_cast<double>(most(task)), 1.0);
    return task.kind == TaskKind::top ? share : share * (task.upper - task.lower);
}

} // namespace dp::privacy
