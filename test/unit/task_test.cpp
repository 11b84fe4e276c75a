// Tasks on answers: sensitivities over all answers of few groups, and what is shown (formulas.md 4.5).

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/lattice.hpp"
#include "privacy/task.hpp"

namespace {

using namespace dp::privacy;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

// What a value may be: below, between and above the bounds, equal ones, none, the ends of what a double holds.
const std::vector<double> some_values = {nan, -infinity, -1e308, 0, 0.3, 1, infinity};
// For ranks: as many different ones as there are rows, and ties.
const std::vector<double> few_values = {nan, 1, 2, 3, infinity};

// All lists of so many of these values, by number.
std::vector<double> listed(const std::vector<double> &from, int groups, long number) {
    std::vector<double> values;
    for (int i = 0; i < groups; i++, number /= static_cast<long>(from.size()))
        values.push_back(from[number % from.size()]);
    return values;
}

long how_many(const std::vector<double> &from, int groups) {
    return static_cast<long>(std::llround(std::pow(static_cast<double>(from.size()), groups)));
}

// The largest step between any two lists that differ in one row.
std::int64_t largest_step(const Task &task, const std::vector<double> &from, const std::vector<double> &reference) {
    std::int64_t largest = 0;
    for (long number = 0; number < how_many(from, task.groups); number++) {
        std::vector<double> values = listed(from, task.groups, number);
        const std::int64_t here = task_integer(task, values, reference);
        for (int row = 0; row < task.groups; row++)
            for (const double other : from) {
                std::vector<double> neighbour = values;
                neighbour[row] = other;
                const std::int64_t there = task_integer(task, neighbour, reference);
                largest = std::max(largest, here > there ? here - there : there - here);
            }
    }
    return largest;
}

TEST(Task, MeanMovesByItsRangeAtMost) {
    for (int groups = 1; groups <= 5; groups++) {
        Task task;
        task.groups = groups;
        EXPECT_EQ(largest_step(task, some_values, {}), static_cast<std::int64_t>(task_sensitivity(task)));
    }
    Task wide;
    wide.groups = 3;
    wide.lower = -1e307;
    wide.upper = 1e307;
    EXPECT_EQ(largest_step(wide, some_values, {}), static_cast<std::int64_t>(task_sensitivity(wide)));
}

// Every answer, every change of one row, every order of the reference that there is up to names of rows, and those with ties.
TEST(Task, TopMovesByOneAtMost) {
    for (int groups = 1; groups <= 5; groups++)
        for (int k = 1; k <= groups; k++) {
            Task task;
            task.kind = TaskKind::top;
            task.groups = groups;
            task.k = k;
            std::vector<double> ascending, descending, equal(groups, 7.0), none(groups, nan);
            for (int i = 0; i < groups; i++) {
                ascending.push_back(i);
                descending.push_back(-i);
            }
            const std::vector<std::vector<double>> references = {ascending, descending, equal, none};
            for (const std::vector<double> &reference : references) {
                const std::int64_t step = largest_step(task, few_values, reference);
                EXPECT_LE(step, static_cast<std::int64_t>(task_sensitivity(task)));
                EXPECT_EQ(step, k < groups ? 1 : 0); // all of them are first, whatever they are
            }
        }
}

// Sets of rows that may be first are few: all pairs of them.
TEST(Task, TopAgainstEveryReference) {
    constexpr int groups = 4;
    for (int k = 1; k <= groups; k++)
        for (long number = 0; number < how_many(few_values, groups); number += 7) {
            Task task;
            task.kind = TaskKind::top;
            task.groups = groups;
            task.k = k;
            EXPECT_LE(largest_step(task, {nan, 1, 2, 3}, listed(few_values, groups, number)), 1);
        }
}

TEST(Task, TopCountsWhoIsFirstInBoth) {
    Task task;
    task.kind = TaskKind::top;
    task.groups = 5;
    task.k = 2;
    EXPECT_EQ(task_integer(task, {5, 4, 3, 2, 1}, {5, 4, 3, 2, 1}), 2);
    EXPECT_EQ(task_integer(task, {5, 4, 3, 2, 1}, {1, 4, 3, 2, 5}), 1);
    EXPECT_EQ(task_integer(task, {5, 4, 3, 2, 1}, {0, 0, 0, 1, 1}), 0);
    EXPECT_EQ(task_integer(task, {1, 1, 1, 1, 1}, {9, 8, 0, 0, 0}), 2);               // of equal ones the first rows
    EXPECT_EQ(task_integer(task, {nan, nan, 1, -infinity, nan}, {0, 0, 1, 1, 0}), 2); // nothing is behind everything
    EXPECT_EQ(task_integer(task, {nan, nan, nan, nan, nan}, {1, 1, 0, 0, 0}), 2);
}

TEST(Task, MeanOfWhatIsThere) {
    Task task;
    task.groups = 4;
    task.lower = 10;
    task.upper = 20;
    const std::int64_t one = pair_one;
    EXPECT_EQ(task_integer(task, {10, 20, 15, 20}, {}), 2 * one + one / 2);
    EXPECT_EQ(task_integer(task, {nan, infinity, -infinity, 1e300}, {}), 2 * one);
    EXPECT_EQ(task_value(task, 2 * one + one / 2), 16.25);
    EXPECT_EQ(task_value(task, 0), 10);
    EXPECT_EQ(task_value(task, -1), 10); // cut to what it can be
    EXPECT_EQ(task_value(task, int128{1} << 100), 20);
}

TEST(Task, ErrorsCoverNoiseAndRounding) {
    Task task;
    task.groups = 50;
    // (upper - lower) ln(20) / (G epsilon), of Laplace noise of scale 2^30 / epsilon
    const double h = std::log(20.0) / 0.5 * static_cast<double>(pair_one);
    EXPECT_NEAR(task_error(task, h), std::log(20.0) / 25, 1e-8);
    EXPECT_EQ(task_error(task, 1e18), 1);
    EXPECT_GE(task_error(task, 0), 0.49 / static_cast<double>(pair_one));
    Task top;
    top.kind = TaskKind::top;
    top.groups = 20;
    top.k = 10;
    EXPECT_DOUBLE_EQ(task_error(top, 3), 0.3);
    EXPECT_DOUBLE_EQ(task_value(top, 7), 0.7);
    EXPECT_DOUBLE_EQ(task_value(top, 11), 1);
}

TEST(Task, RefusesWhatIsNone) {
    Task task;
    EXPECT_NO_THROW(check_task(task));
    task.lower = 1;
    EXPECT_THROW(check_task(task), InvalidParameter);
    task.lower = nan;
    EXPECT_THROW(check_task(task), InvalidParameter);
    task.lower = -infinity;
    EXPECT_THROW(check_task(task), InvalidParameter);
    task.lower = -1.7e308;
    task.upper = 1.7e308;
    EXPECT_THROW(check_task(task), InvalidParameter);
    Task top;
    top.kind = TaskKind::top;
    top.groups = 3;
    for (const int k : {0, -1, 4}) {
        top.k = k;
        EXPECT_THROW(check_task(top), InvalidParameter);
    }
    top.k = 3;
    EXPECT_NO_THROW(check_task(top));
    EXPECT_THROW(task_integer(top, {1, 2}, {1, 2, 3}), std::logic_error);
}

} // namespace
