// dp_plan: what totals of the bound zcdp buy, and what they mean. Public arithmetic: nothing is read or charged (doc/formulas.md 5.4,
// 6.5 and 7.4).
#include <cmath>

#include "privacy/accounting.hpp"
#include "privacy/attack.hpp"
#include "privacy/contribution.hpp"
#include "privacy/disclosure.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/risk.hpp"

#include "catalog/decimals.hpp"
#include "sql/call_arguments.hpp"
#include "catalog/domain.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

namespace {

struct Preset {
    const char *name;
    int epsilon_total;
    double tau;
};

// From what may be published to what named colleagues may know.
constexpr Preset presets[] = {{"careful", 1, 0.98}, {"team", 3, 0.95}, {"trusted", 8, 0.9}};

struct Bought {
    int64 counts, averages;
    double error95, error95_rows; // of a count of people, and of one of rows
    double posterior10, recognised;
};

} // namespace

// Returns what one number costs in rho, of so many coordinates (1: a count, 2: an average). Core region.
static privacy::Rho price_of(double tau, int coordinates) {
    const double most = privacy::within_domain_eps_star(tau, 1, coordinates, 1);
    return privacy::rho_of_pure(
        privacy::largest_candidate(privacy::paper_candidates(), most, privacy::price_slack).value());
}

// Core region.
static double error_of_count(privacy::Rho rho, uint64 sensitivity) {
    privacy::Measure count;
    count.sensitivity = sensitivity;
    return privacy::plan_measurement({count}, false, rho, {}).noise.front().halfwidth(0.05);
}

// Up, to a number that is read at a glance.
static double rounded_up(double value, double places) {
    return std::ceil(value * places) / places;
}

// All of delta converts rho: discovered groups would need some of it. Core region.
static Bought bought(const Preset &preset, privacy::Delta delta, int max_rows) {
    const auto total = privacy::Epsilon::from_units(int128{preset.epsilon_total} * 1000000000);
    const privacy::Rho cap = privacy::rho_cap(total, delta, privacy::Cap::tight);
    const privacy::Rho of_count = price_of(preset.tau, 1), of_average = price_of(preset.tau, 2);
    Bought b = {};
    b.counts = static_cast<int64>(cap.units() / of_count.units());
    b.averages = static_cast<int64>(cap.units() / of_average.units());
    b.error95 = error_of_count(of_count, 1);
    b.error95_rows = error_of_count(of_count, privacy::count_sensitivity(max_rows, 1));
    b.posterior10 = rounded_up(privacy::posterior_range(total.value(), {0.1, 1}).most, 1000);
    b.recognised = rounded_up(100 * privacy::largest_tpr({0, cap.value(), 0}, 0.01), 10);
    return b;
}

static privacy::Delta checked_delta_total(FunctionCallInfo fcinfo) {
    privacy::Delta delta = catalog::checked_delta(PG_GETARG_DATUM(0), "delta_total");
    if (delta.units() == 0)
        refuse_value("delta_total must be above 0", "Pass 1e-6, for instance.",
                     "The bound zcdp converts rho at a delta.");
    return delta;
}

static int checked_max_rows(int max_rows) {
    if (max_rows < 1 || max_rows > catalog::max_declared_rows)
        refuse_value(psprintf("max_rows must be between 1 and %d, not %d", catalog::max_declared_rows, max_rows));
    return max_rows;
}

DP_CALL(dp_plan) {
    require(fcinfo, {0, 1});
    const privacy::Delta delta = checked_delta_total(fcinfo);
    const int max_rows = checked_max_rows(PG_GETARG_INT32(1));
    const ResultRows rows(fcinfo);
    for (const Preset &preset : presets) {
        const Bought b = border::core([&] { return bought(preset, delta, max_rows); });
        rows.put(preset.name, catalog::Typed{NUMERICOID, NumericGetDatum(int64_to_numeric(preset.epsilon_total))},
                 preset.tau, b.counts, b.averages, b.error95, b.error95_rows, b.posterior10, b.recognised);
    }
    return Datum(0);
}

} // namespace dp::sql
