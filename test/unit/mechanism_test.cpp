#include "measured.hpp"
#include "privacy/calibration.hpp"
#include "privacy/contribution.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/renyi.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "privacy/noise_impl.hpp"
#include "privacy/pair_release.hpp"
#include "reference.hpp"

namespace {

using namespace dp::privacy;
using reference::Case;
using reference::json;

constexpr int128 largest = static_cast<int128>(~uint128{0} >> 1);

template <class Number> long units(Number x) {
    return static_cast<long>(x.units());
}
Epsilon epsilon(const std::string &text) {
    return Epsilon::parse(text).value();
}
Delta delta(const std::string &text) {
    return Delta::parse(text).value();
}

// ---- Reference: calibration ----

TEST(Reference, EpsFromRho) {
    reference::each("eps_from_rho", [](const Case &c) {
        const double rho = c.arg("rho");
        EXPECT_NEAR(rho_cap_classic(reference::number(c.expect("classic")), c.arg("delta")) / rho, 1, 1e-9);
    });
}

TEST(Reference, RhoCap) {
    reference::each("rho_cap", [](const Case &c) {
        c.field(rho_cap_classic(c.arg("eps"), c.arg("delta")), "classic");
        c.field(rho_cap_tight(c.arg("eps"), c.arg("delta")), "tight");
    });
}

// The classic sigma of the reference is left out: it is not private (formulas.md, 2).
TEST(Reference, AnalyticGaussianSigma) {
    reference::each("analytic_gaussian_sigma", [](const Case &c) {
        const double eps = c.arg("eps"), d = c.arg("delta"), sensitivity = c.arg("delta2");
        const double sigma = analytic_gaussian_sigma(eps, d, sensitivity);
        c.field(sigma, "sigma");
        EXPECT_LE(delta_balle_wang(eps, sigma, sensitivity), d * (1 + 1e-12));
        EXPECT_GT(delta_balle_wang(eps, sigma * (1 - 1e-6), sensitivity), d);
        c.field(sensitivity / std::sqrt(2 * rho_cap_tight(eps, d)), "sigma_zcdp_tight");
    });
}

TEST(Reference, DiscreteGaussianDelta) {
    reference::each("discrete_gaussian_delta", [](const Case &c) {
        const double eps = c.arg("eps"), sigma = c.arg("sigma"), sensitivity = c.arg("sensitivity");
        c.field(discrete_gaussian_delta(eps, sigma, sensitivity), "discrete");
        c.field(delta_balle_wang(eps, sigma, sensitivity), "continuous");
    });
}

TEST(Reference, GaussianReleaseSigma) {
    reference::each("gaussian_release_sigma", [](const Case &c) {
        const double eps = c.arg("eps"), d = c.arg("delta"), sensitivity = c.arg("sensitivity");
        const GaussianScale scale = gaussian_release_sigma(eps, d, sensitivity);
        c.field(wide(scale.a).convert_to<double>(), "a");
        EXPECT_EQ(scale.b, c.expect("b").get<std::uint32_t>());
        EXPECT_LE(discrete_gaussian_delta(eps, scale.sigma(), sensitivity), d);
        if (c.expects("delta_at_a")) {
            const double want = c.expect("delta_at_a"); // sensitive to the grid: sigma^2 agrees to one unit of it
            EXPECT_NEAR(discrete_gaussian_delta(eps, scale.sigma(), sensitivity) / want, 1, 1e-5);
        }
    });
}

TEST(Reference, PartitionThresholdLaplace) {
    reference::each("partition_threshold_laplace", [](const Case &c) {
        const double eps = c.arg("eps"), d = c.arg("delta");
        const int groups = c.arg("max_groups");
        EXPECT_EQ(partition_threshold_laplace(eps, d, groups), c.expect("discrete").get<std::int64_t>());
    });
}

TEST(Reference, PartitionThresholdGaussian) {
    reference::each("partition_threshold_gaussian", [](const Case &c) {
        const double sigma = c.arg("sigma"), d = c.arg("delta");
        const int groups = c.arg("max_groups");
        EXPECT_EQ(partition_threshold_gaussian(sigma, d, groups), c.expect("discrete").get<std::int64_t>());
    });
}

// ---- Reference: measures and plans ----

// Names to numbers: "*" and no filter are -1.
struct Names {
    std::map<std::string, int> numbers;
    int operator()(const json &name) {
        if (name.is_null() || name == "*")
            return -1;
        return numbers.emplace(name.get<std::string>(), static_cast<int>(numbers.size())).first->second;
    }
};

std::vector<AggregateCall> calls_of(const json &aggregates, Names &names) {
    std::vector<AggregateCall> calls;
    for (const json &a : aggregates) {
        AggregateCall call;
        call.argument = names(a.at("arg"));
        call.filter = names(a.at("filter"));
        const std::string fn = a.at("fn");
        if (fn == "count")
            call.fn = call.argument == -1 ? Aggregate::count_star : Aggregate::count;
        else
            call.fn = fn == "sum" ? Aggregate::sum : Aggregate::avg;
        calls.push_back(call);
    }
    return calls;
}

const char *name_of(MeasureKind kind) {
    return kind == MeasureKind::count ? "count" : kind == MeasureKind::sum ? "sum" : "pair";
}

TEST(Reference, LeafMeasures) {
    reference::each("leaf_measures", [](const Case &c) {
        Names names;
        const auto calls = calls_of(c.arg("aggregates"), names);
        const auto measures = leaf_measures(calls, c.arg("thresholded"));
        const json &want = c.expect("list");
        ASSERT_EQ(measures.size(), want.size());
        for (std::size_t i = 0; i < want.size(); ++i) {
            EXPECT_EQ(name_of(measures[i].kind), want[i].at("kind").get<std::string>()) << i;
            EXPECT_EQ(measures[i].argument, names(want[i].at("arg"))) << i;
            EXPECT_EQ(measures[i].filter, names(want[i].at("filter"))) << i;
            EXPECT_EQ(measures[i].coordinates(), want[i].at("coordinates").get<int>()) << i;
        }
        EXPECT_EQ(measures.size(), c.expect("measures").get<std::size_t>());
        EXPECT_EQ(coordinates_of_one_group(measures), c.expect("k1").get<int>());
    });
}

std::vector<std::uint64_t> sensitivities_of(const std::vector<Measure> &measures) {
    std::vector<std::uint64_t> result;
    for (const Measure &m : measures)
        result.push_back(m.kind == MeasureKind::count ? 1 : std::uint64_t{1} << 30);
    return result;
}

TEST(Reference, GroupReleasePlan) {
    reference::each("group_release_plan", [](const Case &c) {
        Names names;
        const bool thresholded = c.arg("thresholded"), gauss = c.arg("mechanism") == "gaussian";
        const auto measures = leaf_measures(calls_of(c.arg("aggregates"), names), thresholded);
        const Delta d = delta(reference::text(c.arg("delta")));
        const ReleasePlan plan = plan_release(gauss ? Mechanism::gaussian : Mechanism::laplace,
                                              measured(measures, sensitivities_of(measures)), thresholded,
                                              epsilon(reference::text(c.arg("eps"))), d);
        EXPECT_EQ(plan.shares, c.expect("shares").get<int>());
        EXPECT_EQ(plan.k1, c.expect("k1").get<int>());
        c.field(plan.delta_noise.value(), "delta_noise");
        c.field(plan.delta_groups.value(), "delta_groups");
        EXPECT_EQ(plan.delta, delta_charged(plan.mechanism, thresholded, d));
        EXPECT_EQ(plan.threshold.has_value(), thresholded);
        c.field(thresholded ? std::optional<double>(plan.delta_groups.value()) : std::nullopt,
                "delta_p"); // one group each
        if (c.expects("T"))
            c.field(plan.threshold ? std::optional<double>(static_cast<double>(*plan.threshold)) : std::nullopt, "T");
        for (const MeasureNoise &noise : plan.noise) {
            const double units = static_cast<double>(noise.sensitivity);
            if (gauss) { // the lattice and its grid cost up to 1 % where the unit is 1, next to nothing elsewhere
                const double ratio = noise.gaussian.sigma() / units / c.expect("sigma_scaled_continuous").get<double>();
                EXPECT_GE(ratio, 1 - 1e-7);
                EXPECT_LE(ratio, noise.sensitivity == 1 ? 1.02 : 1 + 1e-5);
            } else {
                c.field(units / noise.laplace.value(), "eps_share");
            }
        }
    });
}

// ---- Measures ----

AggregateCall call(Aggregate fn, int argument = -1, int filter = -1) {
    AggregateCall c;
    c.fn = fn;
    c.argument = argument;
    c.filter = filter;
    return c;
}

TEST(Measures, KnowTheirCalls) {
    const auto measures =
        leaf_measures({call(Aggregate::sum, 3), call(Aggregate::count_star), call(Aggregate::count, 3),
                       call(Aggregate::avg, 4, 2), call(Aggregate::count_star), call(Aggregate::sum, 3, 2)},
                      false);
    ASSERT_EQ(measures.size(), 4U);
    EXPECT_EQ(measures[0].calls, (std::vector<int>{0, 2}));
    EXPECT_EQ(measures[0].kind, MeasureKind::pair);
    EXPECT_EQ(measures[1].calls, (std::vector<int>{1, 4}));
    EXPECT_EQ(measures[2].calls, (std::vector<int>{3}));
    EXPECT_EQ(measures[3].calls, (std::vector<int>{5}));
    EXPECT_EQ(measures[3].kind, MeasureKind::sum);
    const auto moved = leaf_measures({call(Aggregate::sum, 3), call(Aggregate::count_star)}, true);
    EXPECT_EQ(moved[0].calls, std::vector<int>{1});
    EXPECT_EQ(moved[1].calls, std::vector<int>{0});
    EXPECT_TRUE(leaf_measures({call(Aggregate::sum, 3)}, true)[0].calls.empty());
    EXPECT_TRUE(leaf_measures({}, false).empty());
}

// Units are counted apart from rows where one unit may have several; where it has one row, both are one measure.
TEST(Measures, OfUnits) {
    const std::vector<AggregateCall> calls = {call(Aggregate::count_star), call(Aggregate::count_units),
                                              call(Aggregate::count_units, -1, 2), call(Aggregate::sum, 3)};
    const auto rows = leaf_measures(calls, true);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].calls, (std::vector<int>{0, 1}));
    for (const Measure &measure : rows)
        EXPECT_FALSE(measure.of_units);
    const auto units = leaf_measures(calls, true, true);
    ASSERT_EQ(units.size(), 4U);
    EXPECT_EQ(units[0].calls, std::vector<int>{1}); // what the threshold is compared with
    EXPECT_TRUE(units[0].of_units && units[2].of_units);
    EXPECT_EQ(units[1].calls, std::vector<int>{0});
    EXPECT_FALSE(units[1].of_units || units[3].of_units);
    EXPECT_EQ(units[2].filter, 2);
    EXPECT_EQ(coordinates_of_one_group(units), 4);
    for (const Measure &measure : units)
        EXPECT_TRUE(measure.grain == 1 && measure.one_group); // until somebody says how many groups a unit may be in
    const auto one = leaf_measures(calls, true, true, true);
    ASSERT_EQ(one.size(), units.size() - 1); // rows and people are one number
    EXPECT_TRUE(one[0].of_units && one[0].calls.size() == units[0].calls.size() + 1);
    EXPECT_FALSE(leaf_measures(calls, false, true, true)[0].of_units);
    EXPECT_EQ(leaf_measures({call(Aggregate::count_star, -1, 0), call(Aggregate::count, 3)}, true, true, true).size(), 3U);
    const auto unasked = leaf_measures({call(Aggregate::count_star)}, true, true);
    ASSERT_EQ(unasked.size(), 2U);
    EXPECT_TRUE(unasked[0].of_units && unasked[0].calls.empty());
    EXPECT_EQ(leaf_measures({call(Aggregate::count_units)}, false, true).size(), 1U);
}

// ---- The plan is a function of public facts: its arguments are all there is ----

std::vector<Measure> sums(int n) {
    std::vector<AggregateCall> calls;
    for (int i = 0; i < n; ++i)
        calls.push_back(call(Aggregate::sum, i));
    return leaf_measures(calls, false);
}

void expect_formula(const ReleasePlan &plan, const std::vector<std::uint64_t> &d, const char *eps) {
    using boost::multiprecision::cpp_int;
    ASSERT_EQ(plan.noise.size(), d.size());
    for (std::size_t i = 0; i < d.size(); ++i) {
        const unsigned __int128 native_t = plan.noise[i].laplace.t, native_s = plan.noise[i].laplace.s;
        const cpp_int t = native_t, s = native_s;
        // t/s = D m 10^9 / E, exactly and in lowest terms.
        EXPECT_EQ(t * cpp_int(units(epsilon(eps))), s * cpp_int(d[i]) * cpp_int(d.size()) * 1000000000)
            << eps << " " << d[i];
        EXPECT_EQ(gcd(t, s), 1);
        EXPECT_LT(t, cpp_int(1) << 100);
        EXPECT_EQ(plan.noise[i].sensitivity, d[i]);
    }
}

TEST(Plan, LaplaceScaleIsTheFormula) {
    for (const char *eps : {"0.000000001", "0.05", "0.052607310", "0.3", "1", "7", "99.999999999", "100"})
        for (const std::uint64_t d : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{999999937},
                                      std::uint64_t{1} << 30, std::uint64_t{1} << 50})
            for (int m : {1, 2, 3, 30}) {
                const std::vector<std::uint64_t> all(static_cast<std::size_t>(m), d);
                expect_formula(plan_release(Mechanism::laplace, measured(sums(m), all), false, epsilon(eps), Delta()),
                               all, eps);
            }
}

TEST(Plan, IsTheSameEachTime) {
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
        const auto measures = leaf_measures({call(Aggregate::avg, 1), call(Aggregate::count_star)}, true);
        const auto once =
            plan_release(mechanism, measured(measures, {1, 1U << 30}), true, epsilon("0.3"), delta("1e-6"));
        const auto again =
            plan_release(mechanism, measured(measures, {1, 1U << 30}), true, epsilon("0.3"), delta("1e-6"));
        EXPECT_EQ(once.threshold, again.threshold);
        EXPECT_EQ(once.rho(), again.rho());
        for (std::size_t i = 0; i < once.noise.size(); ++i) {
            EXPECT_TRUE(once.noise[i].laplace.t == again.noise[i].laplace.t &&
                        once.noise[i].laplace.s == again.noise[i].laplace.s);
            EXPECT_TRUE(once.noise[i].gaussian.a == again.noise[i].gaussian.a &&
                        once.noise[i].gaussian.b == again.noise[i].gaussian.b);
        }
    }
}

// The threshold by its own definition: one record alone passes with probability at most delta, and one less would be too much.
TEST(Plan, ThresholdsAreTheSmallestThatHold) {
    for (const char *eps : {"0.001", "0.05", "0.3", "1", "5", "100"})
        for (const char *d : {"1e-12", "1e-6", "0.01", "0.3"}) {
            const auto measures = leaf_measures({call(Aggregate::sum, 1)}, true);
            const auto laplace =
                plan_release(Mechanism::laplace, measured(measures, {1, 100}), true, epsilon(eps), delta(d));
            const double u = std::exp(-epsilon(eps).value() / 2), allowed = delta(d).value();
            const double m = static_cast<double>(*laplace.threshold - 1);
            EXPECT_GE(m, 1);
            EXPECT_LE(std::pow(u, m) / (1 + u), allowed * (1 + 1e-9)) << eps << " " << d;
            if (m > 1) {
                EXPECT_GT(std::pow(u, m - 1) / (1 + u), allowed * (1 - 1e-9)) << eps << " " << d;
            }
            const auto gauss =
                plan_release(Mechanism::gaussian, measured(measures, {1, 100}), true, epsilon(eps), delta(d));
            const double sigma = gauss.noise[0].gaussian.sigma(), n = static_cast<double>(*gauss.threshold - 1);
            EXPECT_LE(discrete_gaussian_tail(sigma, n), allowed / 2 * (1 + 1e-9)) << eps << " " << d;
            if (n > 1) {
                EXPECT_GT(discrete_gaussian_tail(sigma, n - 1), allowed / 2 * (1 - 1e-9)) << eps << " " << d;
            }
        }
}

std::vector<Measure> units_and_rows() {
    auto measures = leaf_measures({call(Aggregate::count_star)}, true, true);
    for (Measure &measure : measures)
        measure.one_group = false;
    measures[1].grain = fine_grain;
    return measures;
}

// What is counted is scaled by the root of kappa, and still as many groups may be opened.
TEST(Plan, ThresholdOfTheRootOfGroups) {
    auto measures = units_and_rows();
    const std::vector<std::uint64_t> sensitivities{10, 20 * fine_grain};
    measures.front().opened = 100;
    const auto plan =
        plan_release(Mechanism::gaussian, measured(measures, sensitivities), true, epsilon("1"), delta("1e-6"));
    const double sigma = plan.noise[0].gaussian.sigma();
    EXPECT_EQ(*plan.threshold, partition_threshold_gaussian(sigma, plan.delta_groups.value(), 100));
    EXPECT_GT(*plan.threshold, partition_threshold_gaussian(sigma, plan.delta_groups.value(), 10));
    const auto again = plan_measurement(measured(measures, sensitivities), true, plan.rho(), delta("1e-6"));
    EXPECT_EQ(*again.threshold, partition_threshold_gaussian(again.noise[0].gaussian.sigma(), 1e-6, 100));
}

// A unit that opens kappa groups alone: the chance that one of them passes is at most delta, and with T - 1 it would be more.
TEST(Plan, ThresholdsHoldForAllGroupsOfOneUnit) {
    for (const char *eps : {"0.05", "1", "20"})
        for (const std::uint64_t kappa : {1, 2, 5, 20, 1000}) {
            const double d = 1e-6, groups = static_cast<double>(kappa);
            const auto any = [&](double tail) { return -std::expm1(groups * std::log1p(-tail)); };
            const std::vector<std::uint64_t> sensitivities{kappa, 20 * fine_grain};
            const auto laplace = plan_release(Mechanism::laplace, measured(units_and_rows(), sensitivities), true,
                                              epsilon(eps), delta("1e-6"));
            const double u = std::exp(-1 / laplace.noise[0].laplace.value());
            const double m = static_cast<double>(*laplace.threshold - 1);
            EXPECT_LE(any(std::pow(u, m) / (1 + u)), d * (1 + 1e-9)) << eps << " " << kappa;
            if (m > 1) {
                EXPECT_GT(any(std::pow(u, m - 1) / (1 + u)), d * (1 - 1e-9)) << eps << " " << kappa;
            }
            const auto gauss = plan_release(Mechanism::gaussian, measured(units_and_rows(), sensitivities), true,
                                            epsilon(eps), delta("1e-6"));
            const double sigma = gauss.noise[0].gaussian.sigma(), n = static_cast<double>(*gauss.threshold - 1);
            EXPECT_LE(any(discrete_gaussian_tail(sigma, n)), d / 2 * (1 + 1e-9)) << eps << " " << kappa;
            if (n > 1) {
                EXPECT_GT(any(discrete_gaussian_tail(sigma, n - 1)), d / 2 * (1 - 1e-9)) << eps << " " << kappa;
            }
            const auto again = plan_measurement(measured(units_and_rows(), sensitivities), true,
                                                   Rho::parse("0.1").value(), delta("1e-6"));
            EXPECT_LE(any(discrete_gaussian_tail(again.noise[0].gaussian.sigma(),
                                                 static_cast<double>(*again.threshold - 1))),
                      d * (1 + 1e-9))
                << kappa;
        }
    const auto alone = [](std::uint64_t kappa) {
        auto measures = leaf_measures({call(Aggregate::count_units)}, true, true);
        return *plan_release(Mechanism::laplace, measured(measures, {kappa}), true, epsilon("0.05"), delta("1e-6"))
                    .threshold;
    };
    EXPECT_EQ(alone(1), 264);
    EXPECT_EQ(alone(5), 1475);
    EXPECT_EQ(alone(20), 6449);
}

TEST(Plan, ThresholdsAreComparedWithACountOfUnits) {
    auto measures = units_and_rows();
    const auto plan = [&](std::uint64_t d) {
        return plan_release(Mechanism::laplace, measured(measures, {d, fine_grain}), true, epsilon("1"), delta("1e-6"));
    };
    EXPECT_NO_THROW(plan(std::uint64_t{1} << 20));
    EXPECT_THROW(plan((std::uint64_t{1} << 20) + 1), std::logic_error);
    measures[0].grain = 2;
    EXPECT_THROW(plan(2), std::logic_error);
    measures[0].grain = 1;
    measures[0].of_units = false; // rows, of which a unit has one
    EXPECT_THROW(plan(2), std::logic_error);
    EXPECT_NO_THROW(plan(1));
}

// The scalar calibration is proved for one changed coordinate: not where a unit may be in several groups.
TEST(Plan, GaussianNoiseOfUnitsInSeveralGroupsGoesByRho) {
    for (const std::uint64_t d : {std::uint64_t{1}, std::uint64_t{20}, 20 * fine_grain}) {
        std::vector<Measure> counted = leaf_measures({call(Aggregate::count_star)}, false);
        const auto scalar =
            plan_release(Mechanism::gaussian, measured(counted, {d}), false, epsilon("1"), delta("1e-6"));
        counted[0].one_group = false;
        const auto several =
            plan_release(Mechanism::gaussian, measured(counted, {d}), false, epsilon("1"), delta("1e-6"));
        EXPECT_LE(several.rho().value(), rho_cap_tight(1, 1e-6) + 4e-15) << d;
        EXPECT_GT(scalar.rho().value(), rho_cap_tight(1, 1e-6)) << d;
        EXPECT_GT(several.noise[0].gaussian.sigma(), scalar.noise[0].gaussian.sigma()) << d;
    }
}

TEST(Plan, RhoIsThatOfTheNoiseRoundedUp) {
    const auto pure = plan_release(Mechanism::laplace, measured(sums(2), {100, 7}), false, epsilon("0.5"), Delta());
    EXPECT_GE(pure.rho().value(), 0.062176500885798104); // two measures: e tanh(e/4)
    EXPECT_LE(pure.rho().value(), 0.0621765008858001);
    const auto one = plan_release(Mechanism::gaussian, measured(sums(1), {300}), false, epsilon("1"), delta("1e-5"));
    const double sigma = one.noise[0].gaussian.sigma();
    EXPECT_NEAR(one.rho().value(), 300 * 300 / (2 * sigma * sigma), 1.1e-15);
    const auto many = plan_release(Mechanism::gaussian, measured(sums(3), {1, 1000, std::uint64_t{1} << 40}), false,
                                   epsilon("1"), delta("1e-6"));
    EXPECT_LE(many.rho().value(), 0.024355970359538372 * (1 + 1e-9));
    EXPECT_GE(many.rho().value(), 0.024355970359538372 * (1 - 1e-3)); // sigma^2 of a count is rounded up to the grid
    EXPECT_LE(many.rho().value(), rho_cap_tight(1, 1e-6) + 4e-15);
    EXPECT_EQ(
        units(plan_release(Mechanism::gaussian, measured(sums(1), {1}), false, epsilon("0.000000001"), delta("1e-30"))
                  .rho()),
        1);
}

TEST(Plan, DeltaIsSplitWithoutRest) {
    const auto measures = leaf_measures({}, true);
    const auto plan = plan_release(Mechanism::gaussian, measured(measures, {1}), true, epsilon("1"),
                                   Delta::from_units(1000000000000000001));
    EXPECT_EQ(units(plan.delta_noise), 500000000000000000);
    EXPECT_EQ(units(plan.delta_groups), 500000000000000001);
    EXPECT_EQ(units(plan.delta), 1000000000000000001);
    EXPECT_EQ(delta_charged(Mechanism::laplace, false, delta("1e-6")), Delta());
    EXPECT_EQ(delta_charged(Mechanism::laplace, true, delta("1e-6")), delta("1e-6"));
    EXPECT_EQ(delta_charged(Mechanism::gaussian, false, delta("1e-6")), delta("1e-6"));
}

std::string refusal(Mechanism mechanism, bool thresholded, const char *eps, const char *d) {
    try {
        plan_release(mechanism, measured(leaf_measures({call(Aggregate::count_star)}, thresholded), {1}), thresholded,
                     epsilon(eps), delta(d));
    } catch (const InvalidParameter &e) {
        return e.what();
    }
    return "";
}

TEST(Plan, RefusesWhatNoReleaseCanHave) {
    EXPECT_EQ(refusal(Mechanism::laplace, false, "0", "0"),
              "epsilon 0 is out of range: it must be between 0.000000001 and 100");
    EXPECT_EQ(refusal(Mechanism::laplace, false, "100.000000001", "0"),
              "epsilon 100.000000001 is out of range: it must be between 0.000000001 and 100");
    EXPECT_NE(refusal(Mechanism::laplace, false, "-1", "0"), "");
    EXPECT_EQ(refusal(Mechanism::laplace, false, "1", "1"),
              "delta 1 is out of range: it must be at least 0 and below 1");
    EXPECT_NE(refusal(Mechanism::laplace, false, "1", "-0.1"), "");
    EXPECT_EQ(refusal(Mechanism::gaussian, false, "1", "0"), "Gaussian noise needs a delta above 0");
    EXPECT_EQ(refusal(Mechanism::laplace, true, "1", "0"), "groups that are not declared need a delta above 0");
    EXPECT_NE(refusal(Mechanism::gaussian, true, "1", "1e-30"), "");
    EXPECT_EQ(refusal(Mechanism::laplace, false, "100", "0"), "");
    EXPECT_EQ(refusal(Mechanism::gaussian, true, "0.000000001", "2e-30"), "");
    EXPECT_EQ(refusal(Mechanism::gaussian, true, "100", "0.999999"), "");
    EXPECT_THROW(plan_release(Mechanism::laplace, measured({}, {}), false, epsilon("1"), Delta()), InvalidParameter);
    EXPECT_THROW(plan_release(Mechanism::laplace, measured(sums(1), {0}), false, epsilon("1"), Delta()),
                 InvalidParameter);
    EXPECT_THROW(plan_release(Mechanism::laplace, measured(sums(1), {(std::uint64_t{1} << 50) + 1}), false,
                              epsilon("1"), Delta()),
                 InvalidParameter);
    EXPECT_THROW(plan_release(Mechanism::laplace, measured(sums(1), {1}), true, epsilon("1"), delta("1e-6")),
                 std::logic_error);
}

TEST(Plan, ExtremesCanBeDrawn) {
    std::mt19937_64 random(5);
    constexpr std::uint64_t widest = std::uint64_t{1} << 50;
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian})
        for (const char *eps : {"0.000000001", "100"})
            for (int m : {1, 65536}) {
                std::vector<Measure> measures(static_cast<std::size_t>(m), sums(1).front());
                const auto plan = plan_release(
                    mechanism, measured(measures, std::vector<std::uint64_t>(static_cast<std::size_t>(m), widest)),
                    false, epsilon(eps), delta("1e-30"));
                const double sd = plan.noise[0].stddev();
                EXPECT_TRUE(std::isfinite(sd) && sd > 0);
                EXPECT_TRUE(std::isfinite(plan.noise[0].halfwidth(0.05)));
                for (int i = 0; i < 100; ++i)
                    EXPECT_LT(std::fabs(static_cast<double>(draw(random, plan.noise[0]))), 100 * sd);
            }
}

// ---- Gaussian calibration ----

TEST(Gaussian, ScaleIsRoundedUpToTheGrid) {
    for (double sigma : {1e-6, 0.3, 1.0, 3.7306316, 999.999, 1000.0, 12345.678, 1e9, 0x1p60 + 4096, 1e24}) {
        const GaussianScale scale = gaussian_scale_up(sigma);
        EXPECT_EQ(scale.b, sigma < 1000 ? 1U << 20 : 1U);
        using boost::multiprecision::cpp_int;
        // (a-1)/b < sigma^2 <= a/b in exact arithmetic: 2^100 times sigma is an integer here.
        const cpp_int s = (cpp_int(std::ldexp(sigma, 80))) << 20;
        const cpp_int square = s * s * scale.b, one = cpp_int(1) << 200;
        EXPECT_LE(square, cpp_int(wide(scale.a)) * one) << sigma;
        EXPECT_GT(square, (cpp_int(wide(scale.a)) - 1) * one) << sigma;
    }
    for (double sigma :
         {0.0, -1.0, 1e31, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THROW(gaussian_scale_up(sigma), InvalidParameter) << sigma;
}

// Noise so wide that both terms of the formula agree to ten digits and more: c (phi(alpha) - alpha Q(alpha)), c -> 0.
TEST(Calibration, WideNoise) {
    for (double eps : {1e-9, 1e-6})
        for (double alpha : {0.5, 3.0, 7.0, 11.0}) {
            const double sigma = alpha / eps;
            const long double a = alpha - 0.0L, pi = 3.14159265358979323846L;
            const long double limit =
                (std::exp(-0.5L * a * a) / std::sqrt(2 * pi) - a * 0.5L * std::erfc(a / std::sqrt(2.0L))) / sigma;
            EXPECT_NEAR(delta_balle_wang(eps, sigma, 1) / static_cast<double>(limit), 1, 2e-4 * eps * 1e6 + 1e-7);
        }
    // Both ways of computing it agree where they meet.
    for (double eps : {0.001, 0.01}) {
        const double below = delta_balle_wang(eps, 1000.1, 1), above = delta_balle_wang(eps, 999.9, 1);
        EXPECT_NEAR(below / above, std::exp(std::log(below / above)), 1e-9);
        EXPECT_LT(below, above);
        EXPECT_NEAR(below / above, 1, 0.03);
    }
    // The margin of 8.4 is kept at the ends of the domain.
    for (const char *delta : {"0.000000000000000000000000000001", "0.00000000000000000001"}) {
        const double d = Delta::parse(delta).value().value(), sigma = gaussian_release_sigma(1e-9, d, 1).sigma();
        EXPECT_LE(delta_balle_wang(1e-9, sigma, 1), d * (1 - 0.99e-4));
        EXPECT_GE(delta_balle_wang(1e-9, sigma, 1), d * (1 - 1.01e-4));
    }
}

// delta is 1e-9 and up here: below, differences of two tails lose digits, which gaussian_release_sigma has a margin for.
TEST(Gaussian, DeltaFallsInSigmaAndEps) {
    for (double eps : {0.001, 0.1, 1.0, 10.0})
        for (double sigma = 0.2; sigma < 3000; sigma *= 1.5) {
            const double d = delta_balle_wang(eps, sigma, 1);
            EXPECT_GE(d * (1 + 1e-6) + 1e-15, delta_balle_wang(eps, sigma * 1.5, 1));
            EXPECT_GE(d * (1 + 1e-6) + 1e-15, delta_balle_wang(eps * 1.5, sigma, 1));
        }
    EXPECT_NEAR(delta_balle_wang(10, 0.48448052626053895, 1), 2.27e-5,
                1e-7); // the classic sigma fails its delta of 1e-5
}

// What no formula of the reference covers: a direct sum over all outputs of max(0, P - e^eps P').
TEST(Gaussian, DiscreteDeltaIsTheHockeyStickDivergence) {
    for (double eps : {0.1, 1.0, 5.0})
        for (double sigma : {0.4, 1.7, 9.0})
            for (int d : {1, 3, 10}) {
                double direct = 0;
                for (int z = -400; z <= 400; ++z)
                    direct += std::max(0.0, discrete_gaussian_pmf(sigma, z) -
                                                std::exp(eps) * discrete_gaussian_pmf(sigma, z + d));
                EXPECT_NEAR(discrete_gaussian_delta(eps, sigma, d), direct, 1e-10 * direct + 1e-14)
                    << eps << " " << sigma << " " << d;
            }
}

TEST(Gaussian, TheSigmaThatIsReleasedKeepsItsDelta) {
    for (double eps : {0.01, 0.3, 1.0, 4.0, 10.0, 50.0})
        for (double d : {1e-9, 1e-5, 0.01})
            for (double sensitivity : {1.0, 4.0, 100.0, 1e6}) {
                const GaussianScale scale = gaussian_release_sigma(eps, d, sensitivity);
                EXPECT_LE(discrete_gaussian_delta(eps, scale.sigma(), sensitivity), d)
                    << eps << " " << d << " " << sensitivity;
                EXPECT_GE(scale.sigma(), analytic_gaussian_sigma(eps, d, sensitivity) * (1 - 1e-9));
            }
}

double epsilon_of(double rho, double delta) {
    const double l = -std::log(delta);
    return epsilon_at(best_order([&](double t) { return -epsilon_at(std::exp(t), rho, l); }), rho, l);
}

TEST(Zcdp, CapsAreInversesAndNeverTooLarge) {
    for (double eps : {1e-9, 1e-3, 0.1, 1.0, 10.0, 100.0})
        for (double d : {1e-30, 1e-9, 1e-5, 0.01, 0.5}) {
            const double classic = rho_cap_classic(eps, d), tight = rho_cap_tight(eps, d);
            EXPECT_GT(classic, 0);
            EXPECT_GE(tight, classic);
            EXPECT_NEAR((classic + 2 * std::sqrt(classic * std::log(1 / d))) / eps, 1, 1e-9) << eps << " " << d;
            // 1e-15: at a large delta a small epsilon is a difference of numbers near 1.
            EXPECT_LE(epsilon_of(tight, d), eps * (1 + 1e-12) + 1e-15) << eps << " " << d;
            EXPECT_GE(epsilon_of(tight * (1 + 1e-9), d), eps * (1 - 1e-6)) << eps << " " << d;
        }
}

// ---- Post-processing and intervals ----

MeasureNoise pair_noise(double share) {
    MeasureNoise noise;
    noise.sensitivity = static_cast<std::uint64_t>(pair_one);
    noise.laplace.t = static_cast<uint128>(pair_one) * 1000000000;
    noise.laplace.s = static_cast<uint128>(std::llround(share * 1e9));
    return noise;
}

TEST(Reference, PairRelease) {
    reference::each("pair_release", [](const Case &c) {
        const Bounds bounds = make_bounds(reference::text(c.arg("lower")), reference::text(c.arg("upper")), false);
        const int128 s1 = c.arg("S1").get<std::int64_t>(), s0 = c.arg("S0").get<std::int64_t>();
        const MeasureNoise noise = pair_noise(c.arg("share"));
        const PairRelease release = release_pair(s1, s0, bounds);
        EXPECT_EQ(to_text(release.count), c.expect("count").dump());
        c.field(release.sum, "sum");
        c.field(release.avg, "avg");
        const Interval interval = pair_avg_interval(s1, s0, bounds, noise);
        c.near(interval.lower, c.expect("avg_ci")[0], "avg_ci[0]");
        c.near(interval.upper, c.expect("avg_ci")[1], "avg_ci[1]");
        c.field(pair_count_halfwidth(noise), "count_halfwidth");
        c.field(pair_sum_halfwidth(noise, bounds), "sum_halfwidth");
    });
}

TEST(Pair, CountIsRoundedHalfAwayFromZero) {
    const Bounds bounds = make_bounds("0", "1", false);
    constexpr int128 half = pair_one / 2;
    EXPECT_TRUE(release_pair(half, 0, bounds).count == 1);
    EXPECT_TRUE(release_pair(half - 1, 0, bounds).count == 0);
    EXPECT_TRUE(release_pair(-half, 0, bounds).count == -1);
    EXPECT_TRUE(release_pair(1 - half, 0, bounds).count == 0);
    EXPECT_TRUE(release_pair(5 * half, -2 * half, bounds).count == 2);
    EXPECT_EQ(release_pair(5 * half, -2 * half, bounds).count_exact, 1.5);
}

TEST(Pair, AverageStaysBetweenTheBounds) {
    const Bounds bounds = make_bounds("20", "60", false);
    EXPECT_EQ(release_pair(0, 0, bounds).avg, 40);
    EXPECT_EQ(release_pair(pair_one * 5, pair_one * -5, bounds).avg, 60);
    EXPECT_EQ(release_pair(pair_one * -5, pair_one * 5, bounds).avg, 20);
    EXPECT_EQ(release_pair(pair_one, 0, bounds).avg, 60);
    EXPECT_EQ(release_pair(0, pair_one, bounds).avg, 20);
    EXPECT_EQ(release_pair(pair_one, pair_one * 3, bounds).avg, 30);
}

TEST(Pair, ExtremesSaturate) {
    for (const auto &[low, high] : std::vector<std::pair<std::string, std::string>>{
             {"-1e301", "1e301"}, {"0", "1e301"}, {"-1e301", "-1e300"}, {"-1e-270", "1e-270"}, {"0", "1"}}) {
        const Bounds bounds = make_bounds(low, high, false);
        for (int128 s1 : {largest, -largest - 1, int128{0}, int128{1} << 110})
            for (int128 s0 : {largest, -largest - 1, int128{0}, -(int128{1} << 110)}) {
                const PairRelease release = release_pair(s1, s0, bounds);
                EXPECT_TRUE(std::isfinite(release.sum) && std::isfinite(release.avg) &&
                            std::isfinite(release.count_exact));
                EXPECT_TRUE(bounds.low <= release.avg && release.avg <= bounds.high);
                const Interval i = pair_avg_interval(s1, s0, bounds, pair_noise(1e-9));
                EXPECT_TRUE(bounds.low <= i.lower && i.lower <= release.avg && release.avg <= i.upper &&
                            i.upper <= bounds.high);
            }
        EXPECT_TRUE(std::isfinite(pair_sum_halfwidth(pair_noise(1e-9), bounds)));
        EXPECT_TRUE(std::isfinite(measure_halfwidth(pair_noise(1e-9), Measure(), &bounds)));
    }
    const Bounds wide = make_bounds("-1e301", "1e301", false);
    EXPECT_EQ(release_pair(int128{1} << 110, 0, wide).sum, std::numeric_limits<double>::max());
    EXPECT_EQ(release_pair(0, int128{1} << 110, wide).sum, -std::numeric_limits<double>::max());
    EXPECT_EQ(release_pair(pair_one * 3, pair_one * 3, wide).sum, 0);
}

// The half-width of U Z1 + L Z0 against its tail, also where the two scales nearly agree.
TEST(Pair, SumHalfwidthSolvesItsEquation) {
    const MeasureNoise noise = pair_noise(1);
    for (const auto &[low, high] : std::vector<std::pair<const char *, const char *>>{{"0", "7"},
                                                                                      {"-7", "0"},
                                                                                      {"1", "99"},
                                                                                      {"-98", "99"},
                                                                                      {"98.9999", "99"},
                                                                                      {"-99", "99"},
                                                                                      {"0.000001", "1"}}) {
        const Bounds bounds = make_bounds(low, high, false);
        const long double t = pair_sum_halfwidth(noise, bounds), a = std::fabs(bounds.high), c = std::fabs(bounds.low);
        const long double tail =
            a == c ? (1 + t / (2 * a)) * std::exp(-t / a)
                   : (a * a * std::exp(-t / a) - (c == 0 ? 0 : c * c * std::exp(-t / c))) / (a * a - c * c);
        EXPECT_NEAR(static_cast<double>(tail), 0.05, 1e-11) << low << " " << high;
    }
    EXPECT_EQ(pair_count_halfwidth(pair_noise(0.001)), std::floor(4113.004 + 0.5));
}

TEST(Pair, GaussianHalfwidths) {
    MeasureNoise noise;
    noise.mechanism = Mechanism::gaussian;
    noise.gaussian = gaussian_scale_up(4.0 * static_cast<double>(pair_one));
    const Bounds bounds = make_bounds("-3", "4", false);
    EXPECT_NEAR(pair_sum_halfwidth(noise, bounds), 1.959964 * 4 * 5, 1e-5);
    EXPECT_EQ(pair_count_halfwidth(noise), std::floor(1.959964 * 4 * std::sqrt(2.0) + 0.5));
    EXPECT_NEAR(noise.stddev() / static_cast<double>(pair_one), 4, 1e-9);
}

TEST(Halfwidth, InTheUnitOfTheAggregate) {
    MeasureNoise noise; // Laplace of scale 1
    EXPECT_EQ(measure_halfwidth(noise, Measure(), nullptr), 3);
    const Bounds bounds = make_bounds("0", "1", false);
    EXPECT_EQ(measure_halfwidth(noise, Measure(), &bounds), std::ldexp(3, -30));
    EXPECT_EQ(noise.halfwidth(0.05), 3);
    EXPECT_NEAR(noise.stddev(), std::sqrt(1.8413471884155845), 1e-12);
    Measure counted;
    counted.grain = 8;
    EXPECT_EQ(unit_exponent(counted, nullptr), -3);
    EXPECT_EQ(unit_of(counted, nullptr), 0.125);
    EXPECT_EQ(measure_halfwidth(noise, counted, nullptr), 0.375);
    EXPECT_EQ(unit_of(Measure(), nullptr), 1);
}

// What a count prints on a finer lattice is that number of rows, whatever the lattice is.
TEST(Halfwidth, OfACountDoesNotDependOnItsGrain) {
    Measure counted = leaf_measures({call(Aggregate::count_star)}, false)[0];
    counted.one_group = false;
    for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
        counted.grain = 1;
        const auto coarse = plan_release(mechanism, measured({counted}, {20}), false, epsilon("0.05"), delta("1e-6"));
        const double h = measure_halfwidth(coarse.noise[0], counted, nullptr);
        counted.grain = fine_grain;
        const auto fine =
            plan_release(mechanism, measured({counted}, {20 * fine_grain}), false, epsilon("0.05"), delta("1e-6"));
        EXPECT_NEAR(measure_halfwidth(fine.noise[0], counted, nullptr), h, 2); // whole numbers on one of them
        EXPECT_NEAR(fine.noise[0].stddev() * unit_of(counted, nullptr), coarse.noise[0].stddev(),
                    1e-3 * coarse.noise[0].stddev());
    }
    counted.grain = fine_grain; // the numbers of the documentation
    const auto visits =
        plan_release(Mechanism::laplace, measured({counted}, {20 * fine_grain}), false, epsilon("0.05"), Delta());
    EXPECT_EQ(std::floor(measure_halfwidth(visits.noise[0], counted, nullptr)), 1198);
}

} // namespace
