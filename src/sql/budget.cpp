#include "sql/budget.hpp"

#include <algorithm>

#include "catalog/decimals.hpp"

namespace dp::sql {

template <int Places> static const char *printed(privacy::Decimal<Places> value) {
    return catalog::numeric_text(catalog::to_numeric(value));
}

// 0 of 0 is all of it. Rounded up: 100 is reached only where nothing is left, and nothing that was used counts as 0.
template <int Places> static int percent_of(privacy::Decimal<Places> used, privacy::Decimal<Places> total) {
    constexpr int most = 999;
    if (used >= total)
        return used == total || total.units() <= 0
                   ? 100
                   : static_cast<int>(std::min<privacy::int128>(most, used.units() / ((total.units() + 99) / 100)));
    const double share = static_cast<double>(used.units()) / static_cast<double>(total.units());
    return std::min(99, static_cast<int>(share * 100 + (used.units() > 0 ? 0.999999 : 0)));
}

template <int Places>
static void add(Budget *budget, const char *name, privacy::Decimal<Places> used, privacy::Decimal<Places> total) {
    const privacy::Decimal<Places> left = used > total ? privacy::Decimal<Places>() : total - used;
    budget->uses[budget->n++] = Use{name, printed(used), printed(total), printed(left), percent_of(used, total)};
}

// The basic rule stands beside the cap as long as it lasts (formulas.md 5.4): what is closer to its end is no limit yet.
static void add_zcdp(Budget *budget) {
    const privacy::BoundSettings &bound = budget->bound;
    const privacy::Spent &spent = budget->odometer.totals.of_public;
    if (!bound.epsilon_total)
        return;
    const bool basic = !bound.splits_pure() && !spent.rho_only &&
                       percent_of(spent.pure, *bound.epsilon_total) < percent_of(spent.rho, bound.rho_total);
    if (basic)
        add(budget, "epsilon_total", spent.pure, *bound.epsilon_total);
    else
        add(budget, "rho_total", spent.rho, bound.rho_total);
    if (bound.splits_pure())
        add(budget, "epsilon_pure", spent.epsilon_of_epoch(), bound.epsilon_pure);
    if (bound.delta_mechanisms().units() > 0)
        add(budget, "delta_mechanisms", spent.delta_of_epoch(), bound.delta_mechanisms());
}

static void add_uses(Budget *budget) {
    const privacy::BoundSettings &bound = budget->bound;
    const privacy::Spent &spent = budget->odometer.totals.of_public;
    if (bound.bound == privacy::Bound::zcdp) {
        add_zcdp(budget);
        return;
    }
    if (bound.bound == privacy::Bound::none)
        return;
    const privacy::Epsilon epsilon = bound.period ? spent.period.epsilon : spent.epsilon;
    const privacy::Delta delta = bound.period ? spent.period.delta : spent.delta;
    if (bound.epsilon_total)
        add(budget, "epsilon_total", epsilon, *bound.epsilon_total);
    if (bound.delta_total.units() > 0 || delta.units() > 0)
        add(budget, "delta_total", delta, bound.delta_total);
    if (bound.period && bound.epsilon_lifetime)
        add(budget, "epsilon_lifetime", spent.epsilon, *bound.epsilon_lifetime);
    if (bound.period && bound.delta_lifetime && (bound.delta_lifetime->units() > 0 || spent.delta.units() > 0))
        add(budget, "delta_lifetime", spent.delta, *bound.delta_lifetime);
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
    budget->n = 0;
    const bool found =
        bound != nullptr && catalog::read_odometer(reading, bound->id_text, &budget->odometer, &budget->counts);
    reading.close();
    if (!found)
        return false;
    budget->bound = bound->settings;
    border::core([&] { privacy::enter_epoch(&budget->odometer, bound->epoch); });
    budget->odometer.totals =
        privacy::standing(budget->odometer.totals, privacy::Totals(), budget->bound, catalog::today()).table;
    budget->period_end = end_of_period(budget->bound, budget->odometer.totals.of_public);
    add_uses(budget);
    return true;
}

// For dp_audit.
DP_FUNCTION(dp_budget) {
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    Budget budget;
    if (!read_budget(PG_GETARG_OID(0), &budget))
        return Datum(0);
    for (int i = 0; i < budget.n; i++) {
        Datum values[3] = {CStringGetTextDatum(budget.uses[i].name), catalog::text_numeric(budget.uses[i].used),
                           catalog::text_numeric(budget.uses[i].total)};
        bool nulls[3] = {};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    return Datum(0);
}

} // namespace dp::sql
