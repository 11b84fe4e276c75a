// Numbers of several sums, and quantiles, as the controller looks at them: what one person moves, and how far noise does (formulas.md
// 1.2a, 1.2c), against their definitions and against the shipped samplers.
#include "measured.hpp"
#include "privacy/printed_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "privacy/joint.hpp"
#include "privacy/noise.hpp"
#include "privacy/number_law.hpp"
#include "privacy/quantile_draw.hpp"
#include "privacy/quantile_law.hpp"
#include "reference.hpp"

namespace {

using namespace dp::privacy;
using reference::Case;

std::mt19937_64 bits(26);

double uniform() {
    return static_cast<double>(bits() >> 11) * 0x1p-53;
}

struct Row {
    double y, x;
};
using Rows = std::vector<Row>;

constexpr Aggregate of_one[] = {Aggregate::count,    Aggregate::sum,        Aggregate::avg,        Aggregate::var_pop,
                                Aggregate::var_samp, Aggregate::stddev_pop, Aggregate::stddev_samp};
constexpr Aggregate of_two[] = {Aggregate::covar_pop, Aggregate::covar_samp, Aggregate::corr,
                                Aggregate::regr_r2,   Aggregate::regr_slope, Aggregate::regr_intercept};

std::vector<Aggregate> all_numbers() {
    std::vector<Aggregate> all(std::begin(of_one), std::end(of_one));
    all.insert(all.end(), std::begin(of_two), std::end(of_two));
    return all;
}

MeasureKind kind_of(Aggregate fn) {
    return divides_by_variance(fn) ? MeasureKind::moments
           : is_joint(fn)          ? MeasureKind::products
           : is_spread(fn)         ? MeasureKind::triple
                                   : MeasureKind::pair;
}

// The exact sums of rows, as the release adds them up.
std::vector<__int128> sums_of(MeasureKind kind, const Rows &rows, const Bounds &y, const Bounds &x) {
    std::vector<__int128> sums(most_coordinates, 0);
    for (const Row &row : rows) {
        if (kind == MeasureKind::pair) {
            const std::int64_t point = *to_pair_point(pair_lattice(y), row.y);
            sums[0] += point;
            sums[1] += pair_one - point;
        } else if (kind == MeasureKind::triple) {
            const TriplePoint point = *to_triple_point(pair_lattice(y), row.y);
            sums[0] += point.squares;
            sums[1] += pair_one - point.squares - point.rest;
            sums[2] += point.rest;
        } else {
            const JointPoint point = *to_joint_point(joint_lattice({y, x}), row.y, row.x, joint_one(kind));
            const std::int64_t parts[] = {point.both,    point.y_alone,  point.x_alone,
                                          point.neither, point.y_spread, point.x_spread};
            for (std::size_t c = 0; c < 6; ++c)
                sums[c] += parts[c];
        }
    }
    return sums;
}

const int128 *pointer(const std::vector<__int128> &sums) {
    return sums.data();
}

double mean_of(const Rows &rows, const std::function<double(const Row &)> &of) {
    double sum = 0;
    for (const Row &row : rows)
        sum += of(row);
    return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

// The aggregate as SQL has it, in doubles; NULL is the middle for an average and 0 for the rest.
double by_definition(Aggregate fn, const Rows &rows, const Bounds &y) {
    const auto n = static_cast<double>(rows.size());
    const double my = mean_of(rows, [](const Row &r) { return r.y; }), mx = mean_of(rows, [](const Row &r) { return r.x; });
    const double vy = mean_of(rows, [&](const Row &r) { return (r.y - my) * (r.y - my); });
    const double vx = mean_of(rows, [&](const Row &r) { return (r.x - mx) * (r.x - mx); });
    const double cov = mean_of(rows, [&](const Row &r) { return (r.y - my) * (r.x - mx); });
    const double sample = n < 2 ? 0 : n / (n - 1);
    switch (fn) {
    case Aggregate::count:
        return n;
    case Aggregate::sum:
        return n * my;
    case Aggregate::avg:
        return rows.empty() ? 0.5 * (y.low + y.high) : my;
    case Aggregate::var_pop:
        return vy;
    case Aggregate::var_samp:
        return vy * sample;
    case Aggregate::stddev_pop:
        return std::sqrt(vy);
    case Aggregate::stddev_samp:
        return std::sqrt(vy * sample);
    case Aggregate::covar_pop:
        return cov;
    case Aggregate::covar_samp:
        return cov * sample;
    case Aggregate::corr:
        return vx * vy > 0 ? cov / std::sqrt(vx * vy) : 0;
    case Aggregate::regr_r2:
        return vx * vy > 0 ? cov * cov / (vx * vy) : 0;
    case Aggregate::regr_slope:
        return vx > 0 ? cov / vx : 0;
    default:
        return rows.empty() ? y.low : my - (vx > 0 ? cov / vx : 0) * mx;
    }
}

// The most that one of R rows' numbers moves by (1.2a), in its own unit.
double unit_by_definition(Aggregate fn, const Bounds &y, const Bounds &x, double R) {
    const double w = y.high - y.low, wx = x.high - x.low;
    switch (fn) {
    case Aggregate::count:
        return R;
    case Aggregate::sum:
        return R * std::max(std::fabs(y.low), std::fabs(y.high));
    case Aggregate::avg:
        return w * R / (R + 1);
    case Aggregate::var_pop:
        return w * w / 4;
    case Aggregate::var_samp:
        return w * w / 2;
    case Aggregate::stddev_pop:
        return w / 2;
    case Aggregate::stddev_samp:
        return w / std::sqrt(2.0);
    case Aggregate::covar_pop:
        return w * wx / 4;
    case Aggregate::covar_samp:
        return w * wx / 2;
    case Aggregate::regr_slope:
        return w / wx;
    case Aggregate::regr_intercept:
        return w;
    default:
        return 1;
    }
}

Rows some_rows(int n, const Bounds &y, const Bounds &x) {
    Rows rows;
    for (int i = 0; i < n; ++i)
        rows.push_back({y.low + (y.high - y.low) * (bits() % 4 == 0 ? std::round(uniform()) : uniform()),
                        x.low + (x.high - x.low) * uniform()});
    return rows;
}

// People of one to three rows: what is left out of a group is all that one brings.
TEST(PrintedNumbers, ChangesAreThoseOfTheAggregateWithoutThePerson) {
    const Bounds ys[] = {make_bounds("-3", "1000", false), make_bounds("0", "1", false), make_bounds("20", "60", false)};
    const Bounds x = make_bounds("-10", "6", false);
    int compared = 0;
    for (int round = 0; round < 3000; ++round) {
        const Bounds &y = ys[round % 3];
        const Rows person = some_rows(1 + static_cast<int>(bits() % 3), y, x);
        const Rows others = some_rows(static_cast<int>(bits() % 12) + (round % 4 == 0 ? 0 : 3), y, x);
        Rows all = others;
        all.insert(all.end(), person.begin(), person.end());
        const double R = 3;
        for (const Aggregate fn : all_numbers()) {
            const PrintedNumber number{fn, kind_of(fn), &y, &x, R};
            if (is_joint(fn) && others.size() < 5) // of few rows a variance of x may be next to 0
                continue;
            const auto sums = sums_of(number.kind, all, y, x), change = sums_of(number.kind, person, y, x);
            double moved = std::fabs(by_definition(fn, all, y) - by_definition(fn, others, y)) /
                           unit_by_definition(fn, y, x, R);
            if (fn == Aggregate::regr_slope || fn == Aggregate::regr_intercept)
                moved = std::min(moved, 1.0);
            const double tolerance = is_deviation(fn) ? 1e-4 : is_joint(fn) ? 1e-5 : 0x1p-28;
            EXPECT_NEAR(moved, change_of_number(number, pointer(sums), pointer(change)), tolerance) << int(fn);
            EXPECT_LE(change_of_number(number, pointer(sums), pointer(change)),
                      (is_joint(fn) ? 2 : 1) * (1 + 1e-6)); // a correlation goes from one end to the other
            EXPECT_DOUBLE_EQ(unit_by_definition(fn, y, x, R), unit_of_number(number)) << int(fn);
            ++compared;
        }
    }
    EXPECT_GT(compared, 25000);
}

TEST(PrintedNumbers, ReferenceOfAverages) {
    int checked = 0;
    reference::each("leave_one_out", [&](const Case &c) {
        if (c.arg("agg").get<std::string>() != "avg")
            return;
        ++checked;
        const double z = reference::number(c.arg("null_value"));
        Rows rows;
        double reach = 1;
        for (double v : c.arg("values").get<std::vector<double>>()) {
            rows.push_back({v, 0});
            while (std::fabs(v - z) > reach)
                reach *= 2;
        }
        const Bounds y = make_bounds(std::to_string(z - reach), std::to_string(z + reach), false);
        const PrintedNumber number{Aggregate::avg, MeasureKind::pair, &y, nullptr, 1};
        const auto sums = sums_of(number.kind, rows, y, y);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto change = sums_of(number.kind, {rows[i]}, y, y);
            EXPECT_NEAR(change_of_number(number, pointer(sums), pointer(change)) * unit_of_number(number),
                        c.expect("pis").at(i).get<double>(), reach * 0x1p-28);
        }
    });
    EXPECT_EQ(checked, 5);
}

// Equal values stay equal whatever they are: nobody moves a variance.
TEST(PrintedNumbers, RoundingMovesNobody) {
    const Bounds y = make_bounds("0", "7", false);
    for (int n : {2, 3, 1000, 1000000}) {
        auto sums = sums_of(MeasureKind::triple, {{1.1, 0}}, y, y);
        const auto change = sums;
        for (__int128 &sum : sums)
            sum *= n;
        for (const Aggregate fn : {Aggregate::avg, Aggregate::var_pop})
            EXPECT_EQ(0, change_of_number({fn, MeasureKind::triple, &y, nullptr, 1}, pointer(sums), pointer(change)))
                << n;
    }
}

// A column of one value has no variance, although rounding leaves one of less than a grain: there is no correlation, and nobody moves it.
TEST(PrintedNumbers, AColumnOfOneValueIsDividedByNothing) {
    const Bounds y = make_bounds("0", "7", false), x = make_bounds("-10", "16", false);
    for (int round = 0; round < 2000; ++round) {
        Rows rows = some_rows(1 + static_cast<int>(bits() % 40), y, x);
        const double constant = x.low + (x.high - x.low) * uniform();
        for (Row &row : rows)
            row.x = constant;
        for (const Aggregate fn : {Aggregate::corr, Aggregate::regr_r2, Aggregate::regr_slope}) {
            const PrintedNumber number{fn, MeasureKind::moments, &y, &x, 1};
            const auto sums = sums_of(number.kind, rows, y, x), change = sums_of(number.kind, {rows[0]}, y, x);
            EXPECT_EQ(0, change_of_number(number, pointer(sums), pointer(change)));
            EXPECT_EQ(0, exact_number(number, pointer(sums)));
        }
    }
}

// One value beside many equal ones is all of the variance, however near it is: who has it moves the correlation from one end to nothing.
TEST(PrintedNumbers, OneOtherValueIsNotTakenForRounding) {
    const Bounds y = make_bounds("0", "1", false), x = y;
    for (const int n : {2, 3, 8, 1000, 1024, 60000})
        for (const double step : {0x1p-10, 0x1p-8, 0.1, 0.5}) {
            Rows rows(static_cast<std::size_t>(n), {0.3, 0.3});
            rows[0] = {0.3 + step, 0.3 + step};
            const PrintedNumber number{Aggregate::corr, MeasureKind::moments, &y, &x, 1};
            const auto sums = sums_of(number.kind, rows, y, x), change = sums_of(number.kind, {rows[0]}, y, x);
            if (step * step > 64 * 0x1p-29 * n) { // elsewhere rounding is no small part of the variance
                EXPECT_NEAR(1, change_of_number(number, pointer(sums), pointer(change)), 0.1) << n << " " << step;
            }
            EXPECT_NE(0, change_of_number(number, pointer(sums), pointer(change))) << n << " " << step;
        }
}

MeasureNoise noise_of(Mechanism mechanism, MeasureKind kind, double epsilon, int rows) {
    Measure measure;
    measure.kind = kind;
    measure.argument = 1;
    const auto D = static_cast<std::uint64_t>(sensitivity_of_row(measure, nullptr)) * static_cast<unsigned>(rows);
    return plan_release(mechanism, measured({measure}, {D}), false, Epsilon::from_double(epsilon, Rounding::down),
                        mechanism == Mechanism::laplace ? Delta() : Delta::from_double(1e-6, Rounding::down))
        .noise.front();
}

double release_of(const PrintedNumber &number, const std::vector<__int128> &sums) {
    return exact_number(number, sums.data());
}

// Counts and sums of their own, different values and people among them, are released as they are drawn. The mean of 100,000 is within 6
// deviations but for a chance of 1e-8.
TEST(PrintedNumbers, CountsAndSumsHaveTheNoiseOfTheShippedSampler) {
    constexpr int n = 100000;
    for (const Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (const int most : {1, 3, 1000})
            for (const double epsilon : {0.05, 1.0, 4.0}) {
                const bool laplace = mechanism == Mechanism::laplace;
                const MeasureNoise noise = noise_of(mechanism, MeasureKind::count, epsilon, most);
                double total = 0, squares = 0;
                for (int i = 0; i < n; ++i) {
                    const double size = std::fabs(static_cast<double>(draw(bits, noise))) / most;
                    const double term = laplace ? size : size * size;
                    total += term / n;
                    squares += term * term / n;
                }
                const double computed = laplace ? discrete_laplace_mean_abs(noise.laplace.value()) / most
                                                : std::pow(noise.stddev() / most, 2);
                EXPECT_NEAR(total, computed, 6 * std::sqrt(squares / n)) << most << " " << epsilon << laplace;
            }
}

// What is printed of noisy sums, 100,000 times. A mean of n errors below c is within 6 c/sqrt(n) but for a chance of 1e-8; the fixed
// points may be off by 5 % (1.2a).
TEST(PrintedNumbers, ErrorsAreThoseOfTheShippedSampler) {
    const Bounds y = make_bounds("0", "100", false), x = make_bounds("-10", "30", false);
    constexpr int n = 100000;
    for (const auto &[rows, size] : {std::pair{1, 400}, std::pair{5, 60}})
        for (const Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
            const bool laplace = mechanism == Mechanism::laplace;
            const Rows group = some_rows(size, y, x);
            for (const Aggregate fn : all_numbers()) {
                const PrintedNumber number{fn, kind_of(fn), &y, &x, static_cast<double>(rows)};
                const MeasureNoise noise = noise_of(mechanism, number.kind, 1, rows);
                const auto sums = sums_of(number.kind, group, y, x);
                const double truth = release_of(number, sums), unit = unit_of_number(number);
                const bool limited = fn == Aggregate::regr_slope || fn == Aggregate::regr_intercept;
                double total = 0, squares = 0;
                for (int i = 0; i < n; ++i) {
                    std::vector<__int128> noisy = sums;
                    for (int c = 0; c < coordinates_of(number.kind); ++c)
                        noisy[static_cast<std::size_t>(c)] += draw(bits, noise);
                    const double distance = std::fabs(release_of(number, noisy) - truth) / unit;
                    const double error = limited ? std::min(distance, 1.0) : distance;
                    const double term = laplace ? error : error * error;
                    total += term / n;
                    squares += term * term / n;
                }
                const double deviation = std::sqrt(squares / n);
                const double computed = error_of_number(number, noise, pointer(sums));
                const double off = number.kind == MeasureKind::pair ? 0 : 0.05; // the column `error` of dp_risk
                EXPECT_NEAR(total, computed, 6 * deviation + off * computed) << int(fn) << " " << rows << laplace;
            }
        }
}

// Of many groups the least error is looked for among the 256 that roughly have the least (formulas.md 1.2b).
TEST(PrintedNumbers, RoughErrorsFindTheLeastOfManyGroups) {
    const Bounds y = make_bounds("0", "100", false);
    for (const Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (const double epsilon : {0.01, 0.1, 1.0, 5.0})
            for (int way = 0; way < 6; ++way) {
                const PrintedNumber number{Aggregate::avg, MeasureKind::pair, &y, nullptr};
                const MeasureNoise noise = noise_of(mechanism, MeasureKind::pair, epsilon, 1);
                std::vector<std::pair<double, double>> errors; // rough ones, and in full
                double least = 1e9, found = 1e9;
                for (int g = 0; g < 1200; ++g) {
                    const double count = way < 3 ? 20 : std::ceil(300 * std::exp(4 * uniform() - 2));
                    const double share = way % 3 == 0 ? uniform() : way % 3 == 1 ? std::pow(10, -6 * uniform()) : 0.6 + 0.1 * uniform();
                    const __int128 sums[] = {static_cast<__int128>(share * count * static_cast<double>(pair_one)),
                                             static_cast<__int128>((1 - share) * count * static_cast<double>(pair_one))};
                    errors.emplace_back(error_of_number(number, noise, sums, true), error_of_number(number, noise, sums));
                    least = std::min(least, errors.back().second);
                }
                std::sort(errors.begin(), errors.end());
                for (std::size_t i = 0; i < 256; ++i)
                    found = std::min(found, errors[i].second);
                EXPECT_LE(found, 1.01 * least) << epsilon << " " << way; // the column `error` of dp_risk
            }
}

// How much farther the same draws are from the number without somebody of up to three rows. A difference of distances that go apart by d
// at most has a mean within 6 d/sqrt(n); the points may be off by 5 % of the distance.
TEST(NumberLaw, DistancesFromNumbersWithoutSomebodyAreThoseOfTheShippedSampler) {
    const Bounds y = make_bounds("0", "100", false), x = make_bounds("-10", "30", false);
    constexpr int n = 20000;
    for (const auto &[rows, size, of] :
         {std::tuple{1, 12, NumberLaw::Of::size}, std::tuple{3, 40, NumberLaw::Of::size}, std::tuple{3, 6, NumberLaw::Of::square}})
        for (const Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
            const bool squares = of == NumberLaw::Of::square, laplace = mechanism == Mechanism::laplace;
            if (squares && laplace)
                continue;
            const Rows group = some_rows(size, y, x);
            const Rows person(group.begin(), group.begin() + rows);
            for (const Aggregate fn : all_numbers()) {
                if (!laplace && !squares && (fn == Aggregate::count || fn == Aggregate::sum)) // a law of its own
                    continue;
                const PrintedNumber number{fn, kind_of(fn), &y, &x, static_cast<double>(rows)};
                const MeasureNoise noise = noise_of(mechanism, number.kind, 4, rows);
                const auto sums = sums_of(number.kind, group, y, x), change = sums_of(number.kind, person, y, x);
                std::vector<__int128> without = sums;
                for (std::size_t c = 0; c < without.size(); ++c)
                    without[c] -= change[c];
                const double unit = unit_of_number(number), limit = largest_distance(fn), truth = release_of(number, sums);
                const double there = release_of(number, without), moved = std::min(std::fabs(there - truth) / unit, limit);
                double total = 0, distances = 0, squared = 0;
                for (int i = 0; i < n; ++i) {
                    std::vector<__int128> noisy = sums;
                    for (int c = 0; c < coordinates_of(number.kind); ++c)
                        noisy[static_cast<std::size_t>(c)] += draw(bits, noise);
                    const double o = fn == Aggregate::count ? std::round(release_of(number, noisy)) : release_of(number, noisy);
                    double a = std::min(std::fabs(o - there) / unit, limit), b = std::min(std::fabs(o - truth) / unit, limit);
                    if (squares)
                        a *= a, b *= b;
                    total += (a - b) / n;
                    squared += (a - b) * (a - b) / n;
                    distances += b / n;
                }
                NumberLaw law(number, noise, pointer(sums), of);
                const double computed = law.excess(pointer(change));
                const double off = number.kind == MeasureKind::pair && !squares ? 1e-6 : 0.05;
                EXPECT_NEAR(total, computed, 6 * std::sqrt(squared / n) + off * std::min(distances + moved, 2 * moved))
                    << int(fn) << " " << rows << laplace << squares;
                EXPECT_EQ(0, law.excess(pointer(sums_of(number.kind, {}, y, x))));
            }
        }
}

// Next to a bound noise goes to one side, and who is left out moves the average to either.
TEST(NumberLaw, AverageNextToABoundWithoutSomebody) {
    const Bounds y = make_bounds("0", "100", false);
    const Rows group = {{0, 0}, {30, 0}};
    constexpr int n = 100000;
    const PrintedNumber number{Aggregate::avg, MeasureKind::pair, &y, nullptr, 1};
    const MeasureNoise noise = noise_of(Mechanism::laplace, number.kind, 1, 1);
    const auto sums = sums_of(number.kind, group, y, y);
    for (const Row &person : {group.back(), group.front()}) {
        const auto change = sums_of(number.kind, {person}, y, y);
        const std::vector<__int128> without = {sums[0] - change[0], sums[1] - change[1]};
        const double there = release_of(number, without), truth = release_of(number, sums);
        double total = 0, squared = 0;
        for (int i = 0; i < n; ++i) {
            const double o = release_of(number, {sums[0] + draw(bits, noise), sums[1] + draw(bits, noise)});
            const double farther = (std::fabs(o - there) - std::fabs(o - truth)) / unit_of_number(number);
            total += farther / n;
            squared += farther * farther / n;
        }
        NumberLaw law(number, noise, pointer(sums), NumberLaw::Of::size);
        EXPECT_NEAR(total, law.excess(pointer(change)), 6 * std::sqrt(squared / n)) << person.y;
    }
}

// Many people of one group share a table.
TEST(NumberLaw, ManyPeopleOfAnAverage) {
    const Bounds y = make_bounds("0", "100", false);
    const auto sums = sums_of(MeasureKind::pair, some_rows(5000, y, y), y, y);
    const PrintedNumber number{Aggregate::avg, MeasureKind::pair, &y, nullptr, 1};
    const MeasureNoise noise = noise_of(Mechanism::laplace, number.kind, 1, 1);
    NumberLaw many(number, noise, pointer(sums), NumberLaw::Of::size);
    for (const Row &row : some_rows(3000, y, y)) {
        const auto change = sums_of(MeasureKind::pair, {row}, y, y);
        NumberLaw one(number, noise, pointer(sums), NumberLaw::Of::size);
        EXPECT_NEAR(many.excess(pointer(change)), one.excess(pointer(change)), 1e-5 * one.mean());
    }
}

TEST(PointLaw, MeansAreThoseOfItsPoints) {
    for (int round = 0; round < 300; ++round) {
        std::vector<std::pair<double, double>> points;
        for (int i = 0; i < 1 + round % 9; ++i)
            points.emplace_back(std::round(10 * uniform()) / 4, uniform());
        for (const double limit : {0.5, 1.25, PointLaw::no_limit}) {
            const PointLaw law(points, limit);
            for (double from = -1; from < 4; from += 0.25) {
                double mean = 0, square = 0;
                for (const auto &[value, probability] : points) {
                    const double distance = std::min(std::fabs(value - from), limit);
                    mean += probability * distance;
                    square += probability * distance * distance;
                }
                EXPECT_NEAR(mean, law.mean(from), 1e-12);
                EXPECT_NEAR(square, law.square(from), 1e-12);
            }
        }
    }
}

// ---- quantiles -----------------------------------------------------------------------------------------------------

MeasureNoise quantile_noise(double epsilon, unsigned rows) {
    MeasureNoise noise;
    noise.sensitivity = rows;
    noise.laplace = laplace_scale(uint128{rows}, Epsilon::from_double(epsilon, Rounding::down));
    return noise;
}

std::vector<std::int64_t> upto_of(std::vector<std::int64_t> counts) {
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
    return counts;
}

// The law of a random order of coins, from all orders.
std::vector<double> by_enumeration(const std::vector<double> &p) {
    std::vector<double> law(p.size(), 0);
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), 0);
    double orders = 0;
    do {
        double left = 1;
        for (const std::size_t i : order) {
            law[i] += left * p[i];
            left *= 1 - p[i];
        }
        ++orders;
    } while (std::next_permutation(order.begin(), order.end()));
    for (double &one : law)
        one /= orders;
    return law;
}

TEST(QuantileLaw, ProbabilitiesAreThoseOfAllOrders) {
    for (int round = 0; round < 400; ++round) {
        const int cells = 1 + static_cast<int>(bits() % 6);
        std::vector<std::int64_t> counts;
        for (int i = 0; i < cells; ++i)
            counts.push_back(static_cast<std::int64_t>(bits() % 5));
        const std::int64_t fraction = round % 3 == 0 ? 0 : round % 3 == 1 ? fraction_one / 2 : fraction_one;
        const MeasureNoise noise = quantile_noise(0.05 + 4 * uniform(), 1 + round % 3);
        const auto gaps = utility_gaps(counts.data(), cells, fraction, rank_margin(cells, noise));
        std::vector<double> p;
        for (const auto gap : gaps)
            p.push_back(std::exp(-static_cast<double>(gap) / static_cast<double>(utility_range(fraction)) /
                                 noise.laplace.value()));
        const auto law = by_enumeration(p), computed = cell_probabilities(counts.data(), cells, fraction, noise);
        for (std::size_t i = 0; i < law.size(); ++i)
            EXPECT_NEAR(law[i], computed[i], 1e-12);
    }
}

TEST(QuantileLaw, ProbabilitiesOfManyCellsAddUp) {
    std::vector<std::int64_t> counts(1024);
    for (auto &count : counts)
        count = static_cast<std::int64_t>(bits() % 40);
    for (const double epsilon : {0.001, 0.1, 10.0}) {
        const auto law = cell_probabilities(counts.data(), 1024, fraction_one / 2, quantile_noise(epsilon, 1));
        EXPECT_NEAR(1, std::accumulate(law.begin(), law.end(), 0.0), 1e-10) << epsilon;
    }
}

TEST(QuantileLaw, DistancesAreThoseOfTheShippedSampler) {
    const Grid grid = grid_of(make_bounds("0", "99", true), 0);
    std::vector<std::int64_t> counts(100, 0);
    for (int i = 0; i < 100; ++i)
        counts[static_cast<std::size_t>(i)] = i % 7 * (i < 60 ? 2 : 1);
    const auto upto = upto_of(counts);
    constexpr int n = 100000;
    for (const double epsilon : {0.02, 0.3}) {
        const MeasureNoise noise = quantile_noise(epsilon, 2);
        const double exact =
            exact_quantile(grid, Aggregate::percentile_disc, exact_cell(upto.data(), 100, fraction_one / 2));
        const Distance distance =
            quantile_distance(grid, Aggregate::percentile_disc,
                              cell_probabilities(counts.data(), 100, fraction_one / 2, noise), exact);
        double sum = 0;
        for (int i = 0; i < n; ++i)
            sum += std::fabs(number_of_cell(grid, Aggregate::percentile_disc,
                                            draw_cell(bits, counts.data(), 100, fraction_one / 2, noise)) -
                             exact) /
                   99;
        // Errors lie in [0, 1]: 6 deviations of the mean have a chance below 1e-8.
        EXPECT_NEAR(sum / n, distance.mean, 6 * std::sqrt(distance.square / n));
        EXPECT_GE(distance.within95, distance.mean / 2);
    }
}

// The exact quantile by counting, with and without what somebody has.
TEST(QuantileLaw, ExactCellByCounting) {
    for (int round = 0; round < 4000; ++round) {
        const int cells = 1 + static_cast<int>(bits() % 8);
        std::vector<std::int64_t> counts, left;
        std::vector<CellCount> own;
        for (int i = 0; i < cells; ++i) {
            counts.push_back(static_cast<std::int64_t>(bits() % 4));
            const auto mine = static_cast<std::int64_t>(bits() % static_cast<unsigned>(counts.back() + 1));
            if (mine > 0)
                own.push_back({i, mine});
            left.push_back(counts.back() - mine);
        }
        const std::int64_t fraction = static_cast<std::int64_t>(bits() % 5) * (fraction_one / 4);
        const auto lowest = [&](const std::vector<std::int64_t> &of) {
            const auto total = std::accumulate(of.begin(), of.end(), std::int64_t{0});
            std::int64_t below = 0;
            for (int i = 0; i < cells; ++i) {
                below += of[static_cast<std::size_t>(i)];
                if (of[static_cast<std::size_t>(i)] > 0 && below * 4 >= total * (fraction / (fraction_one / 4)))
                    return i;
            }
            return -1;
        };
        const auto upto = upto_of(counts);
        EXPECT_EQ(lowest(counts), exact_cell(upto.data(), cells, fraction));
        EXPECT_EQ(lowest(left),
                  exact_cell(upto.data(), cells, fraction, own.data(), static_cast<int>(own.size())));
    }
}

} // namespace
