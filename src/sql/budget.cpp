#include "sql/budget.hpp"

#include <algorithm>

#include "catalog/decimals.hpp"
#include "sql/result_rows.hpp"
#include "privacy/standing.hpp"

namespace dp::sql {

// Returns the share that is used, rounded up: 100 is reached only where nothing is left, and 0 of 0 is all of it.
template <int Places> static int percent_of(privacy::Decimal<Places> used, privacy::Decimal<Places> total) {
    constexpr int most = 999;
    if (used >= total)
        return used == total || total.units() <= 0
                   ? 100
                   : static_cast<int>(std::min<privacy::int128>(most, used.units() / ((total.units() + 99) / 100)));
    const double share = static_cast<double>(used.units()) / static_cast<double>(total.units());
    return std::min(99, static_cast<int>(share * 100 + (used.units() > 0 ? 0.999999 : 0)));
}

// Puts a total and what public charges have used of it. Decisions of DP modes are made on these (formulas.md 5.2).
template <int Places>
static void put(const ResultRows &rows, const char *name, privacy::Decimal<Places> used, privacy::Decimal<Places> total,
                const char *period_end = nullptr) {
    rows.put(name, used, total, percent_of(used, total), period_end);
}

// The basic rule stands beside the cap as long as it lasts (formulas.md 5.4): the one that is closer to its end is no limit yet.
static void put_zcdp(const ResultRows &rows, const privacy::BoundSettings &bound, const privacy::Spent &spent) {
    if (!bound.epsilon_total)
        return;
    const bool basic = bound.keeps_basic_rule(spent) &&
                       percent_of(spent.pure, *bound.epsilon_total) < percent_of(spent.rho, bound.rho_total);
    if (basic)
        put(rows, "epsilon_total", spent.pure, *bound.epsilon_total);
    else
        put(rows, "rho_total", spent.rho, bound.rho_total);
    if (bound.splits_pure())
        put(rows, "epsilon_pure", spent.epsilon_of_epoch(), bound.epsilon_pure);
    if (bound.delta_mechanisms().units() > 0)
        put(rows, "delta_mechanisms", spent.delta_of_epoch(), bound.delta_mechanisms());
}

static void put_uses(const ResultRows &rows, const privacy::BoundSettings &bound, const privacy::Spent &spent) {
    const char *end = end_of_period(bound, spent);
    const privacy::Epsilon epsilon = bound.period ? spent.period.epsilon : spent.epsilon;
    const privacy::Delta delta = bound.period ? spent.period.delta : spent.delta;
    if (bound.epsilon_total)
        put(rows, "epsilon_total", epsilon, *bound.epsilon_total, end);
    if (bound.delta_total.units() > 0 || delta.units() > 0)
        put(rows, "delta_total", delta, bound.delta_total, end);
    if (bound.period && bound.epsilon_lifetime)
        put(rows, "epsilon_lifetime", spent.epsilon, *bound.epsilon_lifetime, end);
    if (bound.period && bound.delta_lifetime && (bound.delta_lifetime->units() > 0 || spent.delta.units() > 0))
        put(rows, "delta_lifetime", spent.delta, *bound.delta_lifetime, end);
}

const char *end_of_period(const privacy::BoundSettings &bound, const privacy::Spent &spent) {
    if (!bound.period)
        return nullptr;
    char day[32];
    border::core([&] {
        strlcpy(day, privacy::text_of(privacy::end_of(bound.period->kind, spent.period.start)).c_str(), sizeof day);
    });
    return pstrdup(day);
}

bool read_budget(Oid relation, Budget *budget) {
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, relation);
    const bool found =
        bound != nullptr && catalog::read_odometer(reading, bound->id_text, &budget->odometer, &budget->counts);
    reading.close();
    if (!found)
        return false;
    budget->bound = bound->settings;
    border::core([&] { privacy::enter_epoch(&budget->odometer, bound->epoch); });
    budget->odometer.totals =
        privacy::standing(budget->odometer.totals, privacy::Totals(), budget->bound, catalog::today()).table;
    return true;
}

// Serves dp_settings and dp_audit. The rows without a total are what the conditional account has spent.
DP_FUNCTION(dp_budget) {
    const ResultRows rows(fcinfo);
    Budget budget;
    if (!read_budget(PG_GETARG_OID(0), &budget))
        return Datum(0);
    const privacy::Spent &conditional = budget.odometer.totals.of_conditional;
    if (budget.bound.bound == privacy::Bound::zcdp)
        put_zcdp(rows, budget.bound, budget.odometer.totals.of_public);
    else if (budget.bound.bound != privacy::Bound::none)
        put_uses(rows, budget.bound, budget.odometer.totals.of_public);
    rows.put("epsilon", conditional.epsilon);
    rows.put("rho", conditional.rho);
    return Datum(0);
}

} // namespace dp::sql
