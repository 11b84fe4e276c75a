// Computes tasks over an answer, which are shown with noise: their integer moves by no more than D when one row of the answer
// changes (formulas.md 4.5).
#pragma once

#include <cstdint>
#include <vector>

#include "privacy/decimal.hpp"

namespace dp::privacy {

enum class TaskKind { mean, top };

struct Task {
    TaskKind kind = TaskKind::mean;
    int groups = 1;              // rows of the answer
    double lower = 0, upper = 1; // of a mean: values are clamped to them
    int k = 1;                   // of a top: how many come first
};

// Errors: InvalidParameter unless lower < upper, both finite and not too far apart, 1 <= k <= groups.
void check_task(const Task &task);

// D: how far the integer moves at most when one value changes to anything, NaN included.
std::uint64_t task_sensitivity(const Task &task);

// Returns the integer that noise is added to. One value for each group; NaN: there is none, which is `lower` for a mean and the last place for a top.
// mean: the sum of round((v - lower) / (upper - lower) 2^30). top: how many of the k largest values are among the k largest of
// `reference`; of equal ones the first row comes first.
std::int64_t task_integer(const Task &task, const std::vector<double> &values, const std::vector<double> &reference);

// The integer as it is shown, cut to what it can be: a mean, or the share of k.
double task_value(const Task &task, int128 integer);
// How far that is from the exact one, for a noise of this half-width and with the rounding of values; as both are cut, no more than
// the range.
double task_error(const Task &task, double halfwidth);

} // namespace dp::privacy
