// Leave-one-out closed forms against the reference numbers and against running the aggregate without the value.
#include "privacy/leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "reference.hpp"

using namespace dp::privacy;

namespace {

using reference::Case;
using Values = std::vector<double>;

const std::vector<std::pair<std::string, Aggregate>> names = {{"count", Aggregate::count},
                                                              {"sum", Aggregate::sum},
                                                              {"avg", Aggregate::avg},
                                                              {"var_pop", Aggregate::var_pop},
                                                              {"var_samp", Aggregate::var_samp},
                                                              {"stddev_pop", Aggregate::stddev_pop},
                                                              {"stddev_samp", Aggregate::stddev_samp},
                                                              {"count_distinct", Aggregate::count_values},
                                                              {"min", Aggregate::min},
                                                              {"max", Aggregate::max},
                                                              {"percentile_cont", Aggregate::percentile_cont},
                                                              {"percentile_disc", Aggregate::percentile_disc}};

Aggregate named(const std::string &name) {
    for (const auto &[known, fn] : names)
        if (known == name)
            return fn;
    throw std::runtime_error("unknown aggregate " + name);
}

ValueSet set_of(const Values &values) {
    ValueSet set;
    for (double v : values)
        set.add(v, 1);
    set.finish();
    return set;
}

bool is_midpoint(Aggregate fn) {
    return fn == Aggregate::avg || fn == Aggregate::min || fn == Aggregate::max || fn == Aggregate::percentile_cont ||
           fn == Aggregate::percentile_disc;
}

// The aggregate from its definition in SQL; no value: NULL.
std::optional<double> defined(StatisticCall call, Values values) {
    std::sort(values.begin(), values.end());
    const double n = static_cast<double>(values.size());
    long double sum = 0, squares = 0;
    for (double v : values)
        sum += v;
    for (double v : values)
        squares += (v - sum / n) * (v - sum / n);
    const bool sample = call.fn == Aggregate::var_samp || call.fn == Aggregate::stddev_samp;
    const bool deviation = call.fn == Aggregate::stddev_pop || call.fn == Aggregate::stddev_samp;
    if (call.fn == Aggregate::count)
        return n;
    if (call.fn == Aggregate::count_values)
        return static_cast<double>(std::set<double>(values.begin(), values.end()).size());
    if (n == 0)
        return std::nullopt;
    switch (call.fn) {
    case Aggregate::sum:
        return static_cast<double>(sum);
    case Aggregate::avg:
        return static_cast<double>(sum / n);
    case Aggregate::min:
        return values.front();
    case Aggregate::max:
        return values.back();
    case Aggregate::percentile_cont: {
        const double h = call.fraction * (n - 1);
        const double low = values[static_cast<std::size_t>(std::floor(h))];
        const double high = values[static_cast<std::size_t>(std::ceil(h))];
        return low + (h - std::floor(h)) * (high - low);
    }
    case Aggregate::percentile_disc:
        return values[static_cast<std::size_t>(std::max(1.0, std::ceil(call.fraction * n)) - 1)];
    default: {
        const double divisor = n - (sample ? 1 : 0);
        if (divisor == 0)
            return std::nullopt;
        const double variance = static_cast<double>(squares / divisor);
        return deviation ? std::sqrt(variance) : variance;
    }
    }
}

double brute_force(StatisticCall call, Values values, std::size_t i, double z) {
    const double old = defined(call, values).value_or(z);
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(i));
    return std::fabs(old - defined(call, values).value_or(z));
}

TEST(ClosedForms, Reference) {
    int checked = 0;
    reference::each("leave_one_out", [&](const Case &c) {
        const StatisticCall call = {named(c.arg("agg").get<std::string>()),
                                    c.has_arg("fraction") ? c.arg("fraction").get<double>() : 0};
        const Values values = c.arg("values").get<Values>();
        const double z = reference::number(c.arg("null_value"));
        const ValueSet set = set_of(values);
        const LeaveOneOut without(call, set, z);
        c.field(evaluate(call, set).value_or(z), "q");
        for (std::size_t i = 0; i < values.size(); ++i)
            c.near(without.difference(set.find(values[i])), c.expect("pis").at(i), "pis");
        ++checked;
    });
    EXPECT_EQ(checked, 55);
}

class Random {
  public:
    explicit Random(unsigned seed) : bits_(seed) {}
    int integer(int from, int to) { return std::uniform_int_distribution<int>(from, to)(bits_); }
    double fraction() {
        const double fractions[] = {0, 0.1, 0.25, 1.0 / 3, 0.5, 0.75, 0.9, 0.99, 1};
        return integer(0, 3) > 0 ? fractions[integer(0, 8)] : std::uniform_real_distribution<double>(0, 1)(bits_);
    }
    Values values(double lower, double upper) {
        Values values;
        const bool extremes = integer(0, 2) == 0;
        for (int n = integer(1, 9); n > 0; --n)
            values.push_back(extremes ? (integer(0, 1) == 0 ? lower : upper)
                                      : std::clamp(integer(-40, 40) / 4.0, lower, upper));
        return values;
    }

  private:
    std::mt19937_64 bits_;
};

// Small arrays with duplicates, of one value, of two, of three; the difference never exceeds the worst case.
TEST(ClosedForms, AgreeWithRunningTheAggregateWithoutTheValue) {
    Random random(1);
    for (int round = 0; round < 20000; ++round) {
        const double lower = random.integer(-6, 3), upper = lower + random.integer(1, 8);
        const Values values = random.values(lower, upper);
        const ValueSet set = set_of(values);
        for (const auto &[name, fn] : names) {
            const StatisticCall call = {fn, random.fraction()};
            const double z = is_midpoint(fn) ? (lower + upper) / 2 : 0;
            const LeaveOneOut without(call, set, z);
            for (std::size_t i = 0; i < values.size(); ++i) {
                const double got = without.difference(set.find(values[i]));
                ASSERT_NEAR(got, brute_force(call, values, i, z), 1e-11) << name << " " << call.fraction;
                ASSERT_LE(got, worst_difference(call, lower, upper) * (1 + 1e-12)) << name << " " << call.fraction;
            }
        }
    }
}

// No smaller number would do: some table attains the worst case.
TEST(ClosedForms, TheWorstCaseHappens) {
    const double lower = -3, upper = 5, z = 1;
    for (const auto &[name, fn] : names)
        for (double fraction : {0.0, 0.1, 0.5, 0.7, 1.0}) {
            const StatisticCall call = {fn, fraction};
            double largest = 0;
            for (int lows = 0; lows <= 30; ++lows)
                for (int highs = lows == 0 ? 1 : 0; highs <= 30; ++highs) {
                    ValueSet set;
                    set.add(lower, lows);
                    set.add(upper, highs);
                    set.finish();
                    const LeaveOneOut without(call, set, is_midpoint(fn) ? z : 0);
                    for (std::size_t i = 0; i < set.distinct(); ++i)
                        largest = std::max(largest, without.difference(i));
                }
            EXPECT_NEAR(largest, worst_difference(call, lower, upper), 1e-12) << name << " " << fraction;
        }
}

TEST(ClosedForms, MultiplicitiesAreRepetitions) {
    Random random(2);
    for (int round = 0; round < 2000; ++round) {
        const Values values = random.values(-5, 5);
        const ValueSet one_by_one = set_of(values);
        ValueSet weighted;
        for (double v : std::set<double>(values.begin(), values.end()))
            weighted.add(v, std::count(values.begin(), values.end(), v));
        weighted.add(99, 0);
        weighted.finish();
        ASSERT_EQ(weighted.distinct(), one_by_one.distinct());
        ASSERT_EQ(weighted.size(), one_by_one.size());
        for (const auto &[name, fn] : names) {
            const StatisticCall call = {fn, random.fraction()};
            const LeaveOneOut a(call, weighted, 0), b(call, one_by_one, 0);
            for (std::size_t i = 0; i < weighted.distinct(); ++i)
                ASSERT_EQ(a.difference(i), b.difference(i)) << name;
        }
    }
}

// A million values around 10^12: the differences are of the size 10^-6 and smaller.
TEST(ClosedForms, KeepTheirDigitsFarFromZero) {
    const double far = 1e12;
    ValueSet near_zero, far_away;
    for (double v : {0.0, 1.0, 3.0, 8.0}) {
        near_zero.add(v, 250'000);
        far_away.add(far + v, 250'000);
    }
    near_zero.finish();
    far_away.finish();
    for (Aggregate fn : {Aggregate::avg, Aggregate::var_pop, Aggregate::var_samp, Aggregate::stddev_pop,
                         Aggregate::stddev_samp}) {
        const LeaveOneOut here({fn, 0}, near_zero, 0), there({fn, 0}, far_away, 0);
        for (std::size_t i = 0; i < 4; ++i)
            EXPECT_NEAR(here.difference(i), there.difference(i), 1e-9 * here.difference(i));
    }
    // (d^2 n/(n-1) - M2/n) / (n-1) for the value 8: d = 5, M2/n = 9.5.
    const double n = 1e6;
    EXPECT_NEAR(LeaveOneOut({Aggregate::var_pop, 0}, far_away, 0).difference(3) * (n - 1), 25 * n / (n - 1) - 9.5, 1e-9);
}

// Nearly all of the variance is one value's: what is left is not the difference of two large numbers.
TEST(ClosedForms, ADeviationThatOneValueMakes) {
    const ValueSet set = set_of({1, 1 + 1e-7, 1 + 3e-7, 1e6});
    const double left = *evaluate({Aggregate::stddev_pop, 0}, set_of({1, 1 + 1e-7, 1 + 3e-7}));
    EXPECT_NEAR(left / 1.2472191e-7, 1, 1e-6);
    EXPECT_EQ(LeaveOneOut({Aggregate::stddev_pop, 0}, set, 0).difference(3),
              *evaluate({Aggregate::stddev_pop, 0}, set) - left);
    EXPECT_EQ(LeaveOneOut({Aggregate::stddev_samp, 0}, set_of({7, 7, 7, 8}), 0).difference(1), 0.5);
}

TEST(ClosedForms, EqualValuesDeviateByNothing) {
    ValueSet set;
    set.add(0.1, 3);
    set.finish();
    for (Aggregate fn : {Aggregate::var_pop, Aggregate::var_samp, Aggregate::stddev_pop, Aggregate::stddev_samp,
                         Aggregate::avg, Aggregate::percentile_cont})
        EXPECT_EQ(LeaveOneOut({fn, 0.3}, set, 7).difference(0), 0);
}

TEST(ClosedForms, NothingIsNullOrZero) {
    ValueSet none;
    none.finish();
    EXPECT_EQ(evaluate({Aggregate::count, 0}, none), 0);
    EXPECT_EQ(evaluate({Aggregate::count_values, 0}, none), 0);
    EXPECT_FALSE(evaluate({Aggregate::percentile_cont, 0.5}, none));
    EXPECT_FALSE(evaluate({Aggregate::avg, 0}, none));
}

// NaN is the largest value, and equal to itself.
TEST(ClosedForms, NaN) {
    const ValueSet set = set_of({std::nan(""), 2, 1, std::nan("")});
    EXPECT_EQ(set.distinct(), 3u);
    EXPECT_EQ(set.find(std::nan("")), 2u);
    EXPECT_EQ(evaluate({Aggregate::min, 0}, set), 1);
    EXPECT_TRUE(std::isnan(*evaluate({Aggregate::max, 0}, set)));
    EXPECT_TRUE(std::isnan(LeaveOneOut({Aggregate::sum, 0}, set, 0).difference(2)));
    EXPECT_EQ(LeaveOneOut({Aggregate::count_values, 0}, set, 0).difference(2), 0);
    EXPECT_THROW(set.find(5), std::logic_error);
}

} // namespace
