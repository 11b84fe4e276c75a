// Which values of one unit count(DISTINCT x) counts (formulas.md, 9.11): the choice by its definition, and what leaving out each unit
// moves, over made-up units whose values coincide.
#include "privacy/distinct_values.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/contribution.hpp"
#include "privacy/mechanism.hpp"

namespace {

using namespace dp::privacy;

using Key = std::tuple<std::int64_t, std::uint64_t, std::uint64_t>; // group, value

Key key(const UnitValue &v) {
    return {v.group, v.value.words[0], v.value.words[1]};
}

UnitValue pair_of(std::uint64_t seed, std::int64_t group, std::uint64_t value) {
    const ValueDigest digest = {{value, value * 3 + 1}};
    const std::uint64_t of_group = group_hash(seed, reinterpret_cast<const unsigned char *>(&group), sizeof group);
    return {value_hash(of_group, digest), group, digest};
}

std::vector<UnitValue> kept(std::vector<UnitValue> pairs, std::size_t limit) {
    pairs.resize(keep_values(pairs.data(), pairs.size(), limit));
    return pairs;
}

TEST(DistinctValues, TheSmallestHashesAreKept) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 500; ++round) {
        std::vector<UnitValue> pairs;
        for (auto n = random() % 30; n > 0; --n)
            pairs.push_back(pair_of(7, static_cast<std::int64_t>(random() % 3), random() % 12));
        const std::size_t limit = 1 + random() % 9;
        std::map<std::pair<std::uint64_t, Key>, int> by_hash; // each once, in the order in which they are kept
        for (const UnitValue &v : pairs)
            by_hash[{v.hash, key(v)}] = 1;
        const auto got = kept(pairs, limit);
        ASSERT_EQ(got.size(), std::min(by_hash.size(), limit));
        auto expected = by_hash.begin();
        for (const UnitValue &v : got)
            EXPECT_EQ((expected++)->first.second, key(v));
    }
}

// In any order, in parts of which each keeps its own, each once or often: the same pairs.
TEST(DistinctValues, OrderAndPartsDoNotMatter) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 500; ++round) {
        std::vector<UnitValue> pairs;
        for (auto n = random() % 40; n > 0; --n)
            pairs.push_back(pair_of(9, static_cast<std::int64_t>(random() % 4), random() % 20));
        const std::size_t limit = 1 + random() % 6;
        const auto expected = kept(pairs, limit);
        std::shuffle(pairs.begin(), pairs.end(), random);
        const auto middle = pairs.begin() + static_cast<std::ptrdiff_t>(pairs.empty() ? 0 : random() % pairs.size());
        auto first = kept({pairs.begin(), middle}, limit);
        const auto second = kept({middle, pairs.end()}, limit);
        first.insert(first.end(), second.begin(), second.end());
        first.insert(first.end(), second.begin(), second.end());
        const auto got = kept(first, limit);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_EQ(key(got[i]), key(expected[i]));
    }
}

// Equal hashes: by group and value, so that the choice is one of the pairs alone. Several hashes of one pair: the smallest.
TEST(DistinctValues, TiesAndSpellings) {
    const ValueDigest a = {{1, 1}}, b = {{2, 1}};
    const auto tied = kept({{5, 1, b}, {5, 1, a}, {5, 0, b}}, 2);
    ASSERT_EQ(tied.size(), 2U);
    EXPECT_EQ(key(tied[0]), Key(0, 2, 1));
    EXPECT_EQ(key(tied[1]), Key(1, 1, 1));
    const auto spelled = kept({{9, 0, a}, {4, 0, b}, {3, 0, a}}, 2);
    ASSERT_EQ(spelled.size(), 2U);
    EXPECT_EQ(spelled[0].hash, 3U);
    EXPECT_EQ(key(spelled[1]), Key(0, 2, 1));
    EXPECT_TRUE(kept({}, 3).empty());
}

// The seed decides which values of many are kept: over units, all of them are by some.
TEST(DistinctValues, EachUnitKeepsOthers) {
    std::set<Key> seen;
    for (std::uint64_t unit = 0; unit < 400; ++unit) {
        std::vector<UnitValue> pairs;
        for (std::uint64_t value = 0; value < 50; ++value)
            pairs.push_back(pair_of(unit, 0, value));
        for (const UnitValue &v : kept(pairs, 3))
            seen.insert(key(v));
    }
    EXPECT_EQ(seen.size(), 50U);
}

// What is released: by group, the size of the union of what all units keep. Each unit in turn left out moves it by its R pairs at most,
// and by those alone that nobody else keeps.
TEST(DistinctValues, LeavingAUnitOutMovesTheUnionByItsOwnValues) {
    std::mt19937_64 random(3);
    bool reached = false;
    for (int round = 0; round < 300; ++round) {
        const std::size_t limit = 1 + random() % 4, units = 1 + random() % 6;
        std::vector<std::vector<UnitValue>> brought;
        for (std::size_t u = 0; u < units; ++u) {
            std::vector<UnitValue> pairs;
            for (auto n = random() % 12; n > 0; --n)
                pairs.push_back(pair_of(u, static_cast<std::int64_t>(random() % 3), random() % 10));
            brought.push_back(kept(pairs, limit));
        }
        const auto answer = [&](std::size_t without) {
            std::set<Key> all;
            for (std::size_t u = 0; u < units; ++u)
                for (const UnitValue &v : brought[u])
                    if (u != without)
                        all.insert(key(v));
            std::map<std::int64_t, std::int64_t> by_group;
            for (const Key &pair : all)
                ++by_group[std::get<0>(pair)];
            return by_group;
        };
        auto whole = answer(units);
        for (std::size_t u = 0; u < units; ++u) {
            auto other = answer(u);
            std::int64_t moved = 0;
            for (std::int64_t group = 0; group < 3; ++group) {
                EXPECT_GE(whole[group], other[group]);
                moved += whole[group] - other[group];
            }
            EXPECT_LE(moved, static_cast<std::int64_t>(count_sensitivity(static_cast<int>(limit), 1)));
            reached = reached || moved == static_cast<std::int64_t>(limit);
        }
    }
    EXPECT_TRUE(reached);
}

// A measure of its own beside a count of the same argument, and no pair with its sum.
TEST(DistinctValues, IsAMeasureOfItsOwn) {
    const std::vector<AggregateCall> calls = {{Aggregate::count_values, 3, -1},
                                              {Aggregate::sum, 3, -1},
                                              {Aggregate::count_values, 3, -1},
                                              {Aggregate::count_values, 3, 0},
                                              {Aggregate::count_values, 4, -1}};
    for (bool several : {false, true}) {
        const auto measures = leaf_measures(calls, false, several);
        ASSERT_EQ(measures.size(), 4U);
        EXPECT_TRUE(measures[0].of_values);
        EXPECT_EQ(measures[0].kind, MeasureKind::count);
        EXPECT_EQ(measures[0].calls, (std::vector<int>{0, 2}));
        EXPECT_FALSE(measures[1].of_values);
        EXPECT_EQ(measures[1].kind, MeasureKind::sum);
    }
    // What a threshold looks at is another one.
    const auto measures = leaf_measures({{Aggregate::count_values, 3, -1}}, true, true);
    ASSERT_EQ(measures.size(), 2U);
    EXPECT_TRUE(measures[0].of_units);
    EXPECT_FALSE(measures[0].of_values);
}

} // namespace
