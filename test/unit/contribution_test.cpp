// What a unit may bring to a measure (formulas.md 9): the clip by enumeration, neighbouring tables by brute force.
#include "measured.hpp"
#include "privacy/contribution.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/exact.hpp"
#include "privacy/lattice.hpp"
#include "privacy/mechanism.hpp"

namespace {

using namespace dp::privacy;
using exact::cpp_int;
using wide = __int128; // without an alignment of its own, for containers
using Values = std::vector<wide>;

constexpr int128 largest = static_cast<int128>(~uint128{0} >> 1);

cpp_int norm(const Values &values) {
    cpp_int sum = 0;
    for (const wide v : values)
        sum += abs(exact::integer(v));
    return sum;
}

Values clipped(Values values, std::uint64_t d) {
    clip(Norm::l1, reinterpret_cast<int128 *>(values.data()), values.size(), 1, 1, d);
    return values;
}

// The square of the norm of groups of so many coordinates, and what it clips.
cpp_int square_of_groups(const Values &values, std::size_t coordinates = 1) {
    cpp_int sum = 0;
    for (std::size_t g = 0; g < values.size(); g += coordinates) {
        cpp_int of_group = 0;
        for (std::size_t c = 0; c < coordinates; ++c)
            of_group += abs(exact::integer(values[g + c]));
        sum += of_group * of_group;
    }
    return sum;
}

Values clipped_by_groups(Values values, std::uint64_t d, std::size_t coordinates = 1) {
    clip(Norm::groups, reinterpret_cast<int128 *>(values.data()), values.size() / coordinates, coordinates, coordinates,
         d);
    return values;
}

// The least r with r^2 >= x.
cpp_int root_up(const cpp_int &x) {
    cpp_int low = -1, high = x + 1; // low^2 < x <= high^2, of low = -1 by definition
    while (high - low > 1) {
        const cpp_int middle = (low + high) / 2;
        (middle * middle >= x ? high : low) = middle;
    }
    return high;
}

Values defined_by_groups(const Values &values, std::uint64_t d, std::size_t coordinates = 1) {
    const cpp_int square = square_of_groups(values, coordinates);
    if (square <= cpp_int(d) * d)
        return values;
    const cpp_int n = root_up(square);
    Values result;
    for (const wide v : values) {
        const cpp_int part = abs(exact::integer(v)) * d / n;
        const auto size = static_cast<int128>(part.convert_to<__int128>());
        result.push_back(v < 0 ? -size : size);
    }
    return result;
}

// The definition, in numbers of any size.
Values defined(const Values &values, std::uint64_t d) {
    const cpp_int n = norm(values);
    Values result;
    for (const wide v : values) {
        cpp_int part = abs(exact::integer(v));
        if (n > d)
            part = part * d / n;
        const auto size = static_cast<int128>(part.convert_to<__int128>());
        result.push_back(v < 0 ? -size : size);
    }
    return result;
}

// ---- the clip ----

TEST(Contribution, ClipByEnumeration) {
    for (int a = -7; a <= 7; ++a)
        for (int b = -7; b <= 7; ++b)
            for (int c = -7; c <= 7; ++c)
                for (std::uint64_t d = 1; d <= 22; ++d) {
                    const Values before{a, b, c}, after = clipped(before, d);
                    ASSERT_EQ(after, defined(before, d)) << a << " " << b << " " << c << " " << d;
                    ASSERT_LE(norm(after), d);
                    if (norm(before) <= d)
                        ASSERT_EQ(after, before);
                    else
                        ASSERT_GT(norm(after) + 3, d) << "floors lose less than one each";
                    for (std::size_t i = 0; i < 3; ++i) {
                        ASSERT_LE(exact::integer(after[i]) * exact::integer(after[i]),
                                  exact::integer(before[i]) * exact::integer(before[i]));
                        ASSERT_GE(exact::integer(after[i]) * exact::integer(before[i]), 0) << "the sign stays";
                    }
                }
}

TEST(Contribution, ClipDoesNotLookAtTheOrder) {
    Values values{5, -3, 0, 11, 2};
    std::sort(values.begin(), values.end());
    do {
        const Values after = clipped(values, 9);
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(after[i], (std::map<wide, wide>{{5, 2}, {-3, -1}, {0, 0}, {11, 4}, {2, 0}}.at(values[i])));
    } while (std::next_permutation(values.begin(), values.end()));
}

TEST(Contribution, ClipOfExtremes) {
    const int128 one = 1;
    std::mt19937_64 bits(5);
    for (const std::uint64_t d : {std::uint64_t{1}, std::uint64_t{1} << 20U, largest_sensitivity})
        for (const Values &values :
             {Values{largest}, Values{-largest - 1}, Values{largest, largest, -largest}, Values{one << 73},
              Values{(one << 73) - 1, -(one << 73), one}, Values{one << 123, 1},
              Values{-(one << 123), one << 122, 0, 3}, Values{0, 0}, Values{}}) {
            EXPECT_EQ(clipped(values, d), defined(values, d));
            EXPECT_LE(norm(clipped(values, d)), d);
        }
    for (int i = 0; i < 20000; ++i) {
        Values values(1 + bits() % 5);
        for (wide &v : values)
            v = static_cast<int128>((static_cast<uint128>(bits()) << 64U | bits()) >> (bits() % 128)) *
                (bits() % 2 == 0 ? 1 : -1);
        const std::uint64_t d = 1 + (bits() >> (14 + bits() % 50)) % largest_sensitivity;
        ASSERT_EQ(clipped(values, d), defined(values, d));
    }
}

// Coordinates of several measures stand side by side: only those of one are clipped, over all groups.
TEST(Contribution, ClipOfOneMeasureAmongOthers) {
    //            other  pair   other
    Values values{100, 30, -10, 7, //
                  200, 0,  20,  8};
    clip(Norm::l1, reinterpret_cast<int128 *>(values.data()) + 1, 2, 4, 2, 12);
    EXPECT_EQ(values, (Values{100, 6, -2, 7, 200, 0, 4, 8}));
    values = {100, 30, -10, 7, 200, 0, 30, 8}; // 40 and 30: a norm of 50
    clip(Norm::groups, reinterpret_cast<int128 *>(values.data()) + 1, 2, 4, 2, 12);
    EXPECT_EQ(values, (Values{100, 7, -2, 7, 200, 0, 7, 8}));
}

// ---- the clip by groups ----

TEST(Contribution, ClipByGroupsByEnumeration) {
    bool attained = false;
    for (int a = -7; a <= 7; ++a)
        for (int b = -7; b <= 7; ++b)
            for (int c = -7; c <= 7; ++c)
                for (std::uint64_t d = 1; d <= 13; ++d) {
                    const Values before{a, b, c}, after = clipped_by_groups(before, d);
                    ASSERT_EQ(after, defined_by_groups(before, d)) << a << " " << b << " " << c << " " << d;
                    ASSERT_LE(square_of_groups(after), d * d);
                    attained = attained || (after != before && square_of_groups(after) == d * d);
                    for (std::size_t i = 0; i < 3; ++i) {
                        ASSERT_LE(exact::integer(after[i]) * exact::integer(after[i]),
                                  exact::integer(before[i]) * exact::integer(before[i]));
                        ASSERT_GE(exact::integer(after[i]) * exact::integer(before[i]), 0) << "the sign stays";
                    }
                }
    EXPECT_TRUE(attained) << "D is not too large";
}

// Two groups of two coordinates, two of three: the l2 norm of all is no more than that of the groups.
TEST(Contribution, ClipByGroupsOfSeveralCoordinates) {
    std::mt19937_64 bits(23);
    for (int i = 0; i < 200000; ++i) {
        const std::size_t coordinates = 2 + bits() % 2;
        Values before(2 * coordinates);
        for (wide &v : before)
            v = static_cast<std::int64_t>(bits() % 41) - 20;
        const std::uint64_t d = 1 + bits() % 90;
        const Values after = clipped_by_groups(before, d, coordinates);
        ASSERT_EQ(after, defined_by_groups(before, d, coordinates));
        ASSERT_LE(square_of_groups(after, coordinates), d * d);
        ASSERT_LE(square_of_groups(after), square_of_groups(after, coordinates)) << "the l2 norm";
    }
}

TEST(Contribution, ClipByGroupsDoesNotLookAtTheOrder) {
    Values values{5, -3, 0, 11, 2}; // 159: a root of 12.6
    std::sort(values.begin(), values.end());
    do {
        const Values after = clipped_by_groups(values, 9);
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(after[i], (std::map<wide, wide>{{5, 3}, {-3, -2}, {0, 0}, {11, 7}, {2, 1}}.at(values[i])));
    } while (std::next_permutation(values.begin(), values.end()));
}

TEST(Contribution, ClipByGroupsOfExtremes) {
    const int128 one = 1;
    std::mt19937_64 bits(6);
    for (const std::uint64_t d : {std::uint64_t{1}, std::uint64_t{1} << 20U, largest_sensitivity})
        for (const std::size_t coordinates : {1U, 2U, 3U})
            for (const Values &values :
                 {Values(6, largest), Values(6, -largest - 1), Values{largest, -largest, 0, -largest - 1, 1, 2},
                  Values{one << 63, 0, 0, 0, 0, 0}, Values{(one << 64) - 1, one, 0, -(one << 63), 0, 7},
                  Values{one << 50, one << 50, -(one << 50), 0, 0, 0}, Values{one << 123, 1, 0, 0, 0, -1}, Values(6, 0),
                  Values{}, Values(6 * 1024, one << 62), Values(6 * 1024, -largest - 1)}) {
                EXPECT_EQ(clipped_by_groups(values, d, coordinates), defined_by_groups(values, d, coordinates));
                EXPECT_LE(square_of_groups(clipped_by_groups(values, d, coordinates), coordinates), cpp_int(d) * d);
            }
    for (int i = 0; i < 20000; ++i) {
        const std::size_t coordinates = 1 + bits() % 3;
        Values values(coordinates * (1 + bits() % 5));
        for (wide &v : values)
            v = static_cast<int128>((static_cast<uint128>(bits()) << 64U | bits()) >> (bits() % 128)) *
                (bits() % 2 == 0 ? 1 : -1);
        const std::uint64_t d = 1 + (bits() >> (14 + bits() % 50)) % largest_sensitivity;
        ASSERT_EQ(clipped_by_groups(values, d, coordinates), defined_by_groups(values, d, coordinates));
    }
}

// Of one group it is the clip in l1 norm.
TEST(Contribution, ClipByGroupsOfOneGroup) {
    for (int a = -20; a <= 20; ++a)
        for (int b = -20; b <= 20; ++b)
            for (std::uint64_t d = 1; d <= 45; ++d) {
                Values one{a, b}, other{a, b};
                clip(Norm::groups, reinterpret_cast<int128 *>(one.data()), 1, 2, 2, d);
                clip(Norm::l1, reinterpret_cast<int128 *>(other.data()), 1, 2, 2, d);
                ASSERT_EQ(one, other);
            }
}

// Whoever has R rows, C in each group, and all at the far bound, is not clipped.
TEST(Contribution, NobodyWithinBothLimitsIsClipped) {
    std::mt19937_64 bits(29);
    for (int i = 0; i < 20000; ++i) {
        const int max_rows = 1 + static_cast<int>(bits() % 40), per_group = 1 + static_cast<int>(bits() % max_rows);
        const std::uint64_t of_row = std::uint64_t{1} << (bits() % 44);
        const std::uint64_t d = spread_sensitivity(max_rows, per_group, of_row);
        Values values;
        for (int left = max_rows; left > 0;) {
            const int here = std::min(left, i % 2 == 0 ? per_group : 1 + static_cast<int>(bits() % per_group));
            values.push_back(static_cast<int128>(here) * of_row * (bits() % 2 == 0 ? 1 : -1));
            left -= here;
        }
        ASSERT_EQ(clipped_by_groups(values, d), values);
    }
}

// ---- sensitivities ----

TEST(Contribution, Sensitivities) {
    EXPECT_EQ(count_sensitivity(20, 1), 20U);
    EXPECT_EQ(count_sensitivity(20, fine_grain), 20U << 20U);
    EXPECT_EQ(units_sensitivity(3, 1), 3U);
    EXPECT_EQ(pair_sensitivity(1), static_cast<std::uint64_t>(pair_one));
    EXPECT_EQ(sum_sensitivity(7, 110), 770U);
    constexpr int most = 1 << 20;
    EXPECT_EQ(pair_sensitivity(most), largest_sensitivity);
    EXPECT_EQ(sum_sensitivity(most, 1ULL << 40U), largest_sensitivity) << "the clip makes any D one";
    EXPECT_LE(count_sensitivity(most, fine_grain), largest_sensitivity);
}

TEST(Contribution, SensitivityOfSpreadRows) {
    EXPECT_EQ(spread_sensitivity(100, 1, 1), 10U);
    EXPECT_EQ(spread_sensitivity(3, 1, 1), 2U);
    EXPECT_EQ(spread_sensitivity(3, 1, fine_grain), 1816187U) << "not the root of 3 rounded up, times the grain";
    EXPECT_EQ(spread_sensitivity(7, 7, 110), sum_sensitivity(7, 110));
    constexpr int most = 1 << 20;
    EXPECT_EQ(spread_sensitivity(most, most, std::uint64_t{1} << 30U), largest_sensitivity);
    EXPECT_EQ(spread_sensitivity(most, 1, std::uint64_t{1} << 40U), largest_sensitivity);
    EXPECT_EQ(spread_sensitivity(1, 1, largest_sensitivity), largest_sensitivity);
    EXPECT_EQ(spread_sensitivity(1, 1, 1), 1U);
    std::mt19937_64 bits(31);
    for (int i = 0; i < 100000; ++i) {
        const int max_rows = 1 + static_cast<int>(bits() % most) / (i % 3 == 0 ? 1 : 1000);
        const int per_group = 1 + static_cast<int>(bits() % max_rows);
        const std::uint64_t of_row = 1 + (bits() >> (14 + bits() % 50)) % largest_sensitivity;
        const std::uint64_t d = spread_sensitivity(max_rows, per_group, of_row);
        const cpp_int square = cpp_int(max_rows) * per_group * of_row * of_row;
        ASSERT_LE(d, sum_sensitivity(max_rows, of_row)) << max_rows << " " << per_group << " " << of_row;
        ASSERT_TRUE(d == largest_sensitivity || cpp_int(d) * d >= square);
        const bool exact = of_row <= std::uint64_t{1} << 43U && d < largest_sensitivity;
        ASSERT_TRUE(!exact || (cpp_int(d) - 1) * (d - 1) < square) << "the least";
    }
}

// Noise of the widest sensitivity that there is.
TEST(Contribution, NoiseOfTheWidestSensitivity) {
    Measure measure;
    measure.kind = MeasureKind::pair;
    for (const char *text : {"0.000000001", "0.05", "100"}) {
        const Epsilon epsilon = *Epsilon::parse(text);
        const ReleasePlan laplace =
            plan_release(Mechanism::laplace, measured({measure}, {largest_sensitivity}), false, epsilon, Delta());
        EXPECT_TRUE(laplace.noise.front().laplace.t < uint128{1}
                                                          << 100); // no reference to it: it may lie at any 8 bytes
        EXPECT_NEAR(laplace.noise.front().laplace.value(), 0x1p50 / epsilon.value(), 1e-9 * 0x1p50 / epsilon.value());
        const ReleasePlan gaussian = plan_release(Mechanism::gaussian, measured({measure}, {largest_sensitivity}),
                                                  false, epsilon, *Delta::parse("1e-10"));
        EXPECT_GT(gaussian.noise.front().gaussian.sigma(), 0x1p45);
        EXPECT_LE(gaussian.rho(), *Rho::parse("10000"));
    }
}

// ---- the order of groups ----

std::uint64_t hash_of(std::uint64_t seed, const std::string &key) {
    return group_hash(seed, reinterpret_cast<const unsigned char *>(key.data()), key.size());
}

TEST(Contribution, HashOfAGroup) {
    std::set<std::uint64_t> seen;
    int n = 0;
    for (const std::uint64_t seed : {0U, 1U, 77U})
        for (std::size_t length = 0; length <= 40; ++length)
            for (std::size_t at = 0; at <= length; ++at) {
                std::string key(length, '\0');
                if (at < length)
                    key[at] = 1;
                EXPECT_EQ(hash_of(seed, key), hash_of(seed, std::string(key)));
                seen.insert(hash_of(seed, key));
                ++n;
            }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(n)) << "short keys that differ in a byte, a length or the seed";
    // Which of the groups 0 .. 9 comes first: any of them, by the unit.
    std::array<int, 10> first{};
    for (std::uint64_t unit = 0; unit < 10000; ++unit) {
        std::size_t least = 0;
        for (std::size_t g = 1; g < first.size(); ++g)
            if (hash_of(unit, std::to_string(g)) < hash_of(unit, std::to_string(least)))
                least = g;
        ++first[least];
    }
    for (const int count : first) // 1000 each, of standard deviation 30
        EXPECT_NEAR(count, 1000, 200);
}

// ---- neighbouring tables ----

// One row of somebody, in a group; what it adds to two measures, the second of two coordinates.
struct Row {
    int unit;
    std::string group;
    std::array<std::int64_t, 3> adds;
};
using Sums = std::map<std::string, std::array<wide, 3>>;

void add(Sums &sums, const std::string &group, const std::array<wide, 3> &values) {
    for (std::size_t c = 0; c < 3; ++c)
        sums[group][c] += values[c];
}

// The groups of one unit that are kept, and what it brings to them; rows in any order, in parts that are added up.
Sums kept(const std::vector<std::vector<Row>> &parts, std::uint64_t seed, std::size_t kappa) {
    const auto cut = [&](Sums &sums) {
        while (sums.size() > kappa)
            sums.erase(std::max_element(sums.begin(), sums.end(), [&](const auto &a, const auto &b) {
                return hash_of(seed, a.first) < hash_of(seed, b.first);
            }));
    };
    Sums sums;
    for (const std::vector<Row> &part : parts) {
        Sums partial;
        for (const Row &row : part) {
            add(partial, row.group, {row.adds[0], row.adds[1], row.adds[2]});
            cut(partial); // at once, as soon as there are too many
        }
        for (const auto &[group, values] : partial)
            add(sums, group, values);
        cut(sums);
    }
    return sums;
}

Sums clip_unit(Norm norm, const Sums &sums, const std::array<std::uint64_t, 2> &d) {
    Values values;
    for (const auto &[group, of_group] : sums)
        values.insert(values.end(), of_group.begin(), of_group.end());
    clip(norm, reinterpret_cast<int128 *>(values.data()), sums.size(), 3, 1, d[0]);
    clip(norm, reinterpret_cast<int128 *>(values.data()) + 1, sums.size(), 3, 2, d[1]);
    Sums result;
    std::size_t at = 0;
    for (const auto &[group, of_group] : sums) {
        result[group] = {values[at], values[at + 1], values[at + 2]};
        at += 3;
    }
    return result;
}

std::vector<Row> rows_of(const std::vector<Row> &table, int unit) {
    std::vector<Row> rows;
    std::copy_if(table.begin(), table.end(), std::back_inserter(rows), [&](const Row &r) { return r.unit == unit; });
    return rows;
}

constexpr int units = 5;

Sums query(Norm norm, const std::vector<Row> &table, std::size_t kappa, const std::array<std::uint64_t, 2> &d) {
    Sums q;
    for (int u = 0; u < units; ++u) {
        const Sums of_unit = kept({rows_of(table, u)}, static_cast<std::uint64_t>(u), kappa);
        for (const auto &[group, values] : clip_unit(norm, of_unit, d))
            add(q, group, values);
    }
    return q;
}

std::vector<Row> random_table(std::mt19937_64 &bits) {
    std::vector<Row> table(bits() % 60);
    for (Row &row : table) {
        row.unit = static_cast<int>(bits() % units);
        row.group = std::to_string(bits() % 8);
        for (std::int64_t &value : row.adds)
            value = static_cast<std::int64_t>(bits() % 41) - 20;
    }
    return table;
}

// l1, or the square of l2.
cpp_int distance(const Sums &a, const Sums &b, std::size_t first, std::size_t last, bool squared = false) {
    Sums all = a;
    for (const auto &[group, values] : b)
        add(all, group, {-values[0], -values[1], -values[2]});
    cpp_int sum = 0;
    for (const auto &[group, values] : all)
        for (std::size_t c = first; c < last; ++c) {
            const cpp_int size = abs(exact::integer(values[c]));
            sum += squared ? cpp_int(size * size) : size;
        }
    return sum;
}

// By exactly what it brings, for Laplace noise at most D in l1 norm, for Gaussian noise in l2 norm.
void leave_each_out(Norm norm) {
    std::mt19937_64 bits(11);
    bool reached = false;
    const bool squared = norm == Norm::groups;
    const auto most = [&](std::uint64_t d) { return squared ? d * d : d; };
    for (int i = 0; i < 300; ++i) {
        const std::vector<Row> table = random_table(bits);
        const std::size_t kappa = 1 + bits() % 8;
        const std::array<std::uint64_t, 2> d{1 + bits() % 200, 1 + bits() % 200};
        const Sums q = query(norm, table, kappa, d);
        for (int u = 0; u < units; ++u) {
            std::vector<Row> without;
            std::copy_if(table.begin(), table.end(), std::back_inserter(without),
                         [&](const Row &r) { return r.unit != u; });
            const Sums other = query(norm, without, kappa, d);
            const Sums f = clip_unit(norm, kept({rows_of(table, u)}, static_cast<std::uint64_t>(u), kappa), d);
            ASSERT_LE(f.size(), kappa);
            ASSERT_LE(distance(q, other, 0, 1, squared), most(d[0]));
            ASSERT_LE(distance(q, other, 1, 3, squared), most(d[1]));
            Sums moved = other;
            for (const auto &[group, values] : f)
                add(moved, group, values);
            ASSERT_EQ(distance(q, moved, 0, 3), 0) << "by exactly what the unit brings";
            reached = reached || distance(q, other, 0, 1, squared) == most(d[0]);
        }
    }
    EXPECT_TRUE(reached);
}

TEST(Contribution, OneUnitMovesAMeasureByAtMostD) {
    leave_each_out(Norm::l1);
}

TEST(Contribution, OneUnitMovesAMeasureByAtMostDInL2Norm) {
    leave_each_out(Norm::groups);
}

// Which groups are kept depends on which the unit has, and on nothing else.
TEST(Contribution, KeptGroupsDoNotDependOnOrderOrParts) {
    std::mt19937_64 bits(12);
    for (int i = 0; i < 500; ++i) {
        std::vector<Row> rows = rows_of(random_table(bits), 0);
        const std::size_t kappa = 1 + bits() % 4;
        const std::uint64_t seed = bits();
        const Sums once = kept({rows}, seed, kappa);
        std::shuffle(rows.begin(), rows.end(), bits);
        std::vector<std::vector<Row>> parts(1 + bits() % 4);
        for (const Row &row : rows)
            parts[bits() % parts.size()].push_back(row);
        ASSERT_EQ(kept(parts, seed, kappa), once);
    }
}

// ---- A total of sizes (9.16) ----

TEST(Total, PointsAreRoundedUp) {
    EXPECT_EQ(points_up("60", 0), 60U);
    EXPECT_EQ(points_up("60.001", 0), 61U);
    EXPECT_EQ(points_up("60", -25), std::uint64_t{60} << 25U);
    EXPECT_EQ(points_up("0.3", 2), 1U);
    EXPECT_EQ(points_up("9", 2), 3U);
    EXPECT_EQ(points_up("1e300", -900), largest_sensitivity);
    EXPECT_EQ(points_up("1e-300", 0), 1U);
    EXPECT_THROW((void)points_up("1e400", 0), InvalidParameter);
    EXPECT_THROW((void)points_up("NaN", 0), InvalidParameter);
}

// ceil(sqrt(T C b)), and T where that is less.
TEST(Total, SpreadIsThatOfTheDefinition) {
    std::mt19937_64 random(29);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t total = 1 + (random() >> (14 + random() % 50)), of_row = 1 + (random() >> (14 + random() % 50));
        const int per_group = 1 + static_cast<int>(random() % (1U << (random() % 21)));
        const std::uint64_t d = spread_of_total(total, per_group, of_row);
        const cpp_int square = cpp_int(total) * per_group * of_row;
        ASSERT_LE(d, total);
        if (d < total && d < largest_sensitivity) {
            ASSERT_GE(cpp_int(d) * d, square);
            ASSERT_LT(cpp_int(d - 1) * (d - 1), square);
        }
    }
}

// Who stays within the total, and within C rows of b in each group, keeps all; whoever exceeds it has the norm of D at most.
TEST(Total, NobodyWithinItIsClipped) {
    std::mt19937_64 random(31);
    int within = 0, beyond = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t total = 1 + random() % 500, of_row = 1 + random() % 40;
        const int per_group = 1 + static_cast<int>(random() % 5);
        Values values(1 + random() % 8);
        std::uint64_t sizes = 0;
        for (wide &v : values) {
            v = static_cast<wide>(random() % (of_row * per_group + 1)) * (random() % 2 == 0 ? 1 : -1);
            sizes += static_cast<std::uint64_t>(v < 0 ? -v : v);
        }
        for (const Norm norm : {Norm::l1, Norm::groups}) {
            Values clipped = values;
            const std::uint64_t d = norm == Norm::l1 ? total : spread_of_total(total, per_group, of_row);
            clip(norm, clipped.data(), clipped.size(), 1, 1, d);
            std::uint64_t l1 = 0, squares = 0;
            for (const wide v : clipped) {
                const auto size = static_cast<std::uint64_t>(v < 0 ? -v : v);
                l1 += size;
                squares += size * size;
            }
            EXPECT_TRUE(norm == Norm::l1 ? l1 <= d : squares <= d * d);
            if (sizes <= total) {
                EXPECT_TRUE(std::equal(values.begin(), values.end(), clipped.begin()));
            }
            (sizes <= total ? within : beyond)++;
        }
    }
    EXPECT_GT(within, 1000);
    EXPECT_GT(beyond, 1000);
}

} // namespace
