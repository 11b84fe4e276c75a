// What the audits and the planted mistakes ask, and of which tables.
#pragma once

#include <cmath>
#include <string>

#include "question.hpp"

namespace audit {

using dp::privacy::Aggregate;
using dp::privacy::Delta;
using dp::privacy::Mechanism;

// n rows of one group with the same value in the first column.
inline Table rows(int n, double value = 1, int group = 0) {
    return Table(static_cast<std::size_t>(n), Row{group, {value}, true});
}

inline Table with(Table table, const Row &row) {
    table.push_back(row);
    return table;
}

inline Question counting(int groups = 1) {
    return {"count(*)", {call(Aggregate::count_star)}, {}, groups, false};
}

inline Question about(Aggregate fn, const std::string &lower, const std::string &upper, bool integer_type = true) {
    return {(fn == Aggregate::sum ? "sum in [" : "avg in [") + lower + "," + upper + "]",
            {call(fn, 0)},
            {dp::privacy::make_bounds(lower, upper, integer_type)},
            1,
            false};
}

inline Question quantile(double q, const std::string &upper) {
    return {"percentile " + std::to_string(q) + " in [0," + upper + "]",
            {percentile(q)},
            {dp::privacy::make_bounds("0", upper, true)},
            1,
            false};
}

// Nearly all that a quantile may tell: 200 empty cells above the one that holds the median, twenty below it.
inline Table lopsided() {
    Table table = rows(90, 0);
    for (const Row &row : rows(2, 21))
        table.push_back(row);
    for (const Row &row : rows(90, 222))
        table.push_back(row);
    return table;
}

inline Question discovered(int groups) {
    return {"count(*) of discovered groups", {call(Aggregate::count_star)}, {}, groups, true};
}

// n rows of one person, in so many groups in turn.
inline Table person(int unit, int n, double value = 1, int groups = 1, int first = 0) {
    Table table;
    for (int i = 0; i < n; ++i)
        table.push_back(Row{first + i % groups, {value}, true, unit});
    return table;
}

inline Table together(Table table, const Table &more) {
    table.insert(table.end(), more.begin(), more.end());
    return table;
}

// People with several rows: of each, so many count, in so many groups.
inline Question of_people(Question question, int max_rows, int max_groups = 1, int max_rows_per_group = 0) {
    question.name += ", " + std::to_string(max_rows) + " rows of each person";
    question.max_rows = max_rows;
    question.max_groups = max_groups;
    question.max_rows_per_group = max_rows_per_group;
    if (max_rows_per_group > 0)
        question.name += ", " + std::to_string(max_rows_per_group) + " in each group";
    return question;
}

// delta 1.05 u^m/(1+u): just enough for the threshold 1 + m at this epsilon (formulas.md 8.5). Epsilon 1 and m 5: 0.00517.
inline Delta delta_for_threshold(double epsilon, int m) {
    const double u = std::exp(-epsilon);
    return Delta::from_double(1.05 * std::pow(u, m) / (1 + u), dp::privacy::Rounding::up);
}

} // namespace audit
