// dp_odometer: the totals of a protected table.
#include "sql/ledger_pages.hpp"

#include <algorithm>

#include "border/versions.hpp"
#include "privacy/standing.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

using catalog::Visit;

// Finds a protected table, itself or by one of its restricted views. Invalid OID if it is neither.
static ProtectedTable find_protected(Oid argument) {
    ProtectedTable table{InvalidOid, Datum{0}, nullptr};
    Visit visit = Visit::read();
    const bool found = run(visit,
                           "SELECT t.relation::oid, t.domain FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 "
                           "OR t.relation = (SELECT v.relation FROM dp_rdr.restricted_view v WHERE v.view::oid = $1)",
                           argument) > 0;
    const char *id = found ? visit.spi.text(0, 2) : nullptr;
    table.relation = found ? catalog::value_at<Oid>(0, 1) : InvalidOid;
    visit.leave();
    if (found) // in the caller's memory
        table.id = DirectFunctionCall1(uuid_in, CStringGetDatum(id));
    return table;
}

ProtectedTable controlled_table(Oid argument) {
    ProtectedTable table = find_protected(argument);
    Oid relation = OidIsValid(table.relation) ? table.relation : argument;
    const char *name = get_rel_name(relation);
    if (name == nullptr)
        refuse_with(ERRCODE_UNDEFINED_TABLE, psprintf("relation with OID %u does not exist", relation));
    if (!border::owns_relation(relation, GetUserId()))
        aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relation)), name);
    table.name = catalog::qualified_name(relation);
    if (!OidIsValid(table.relation))
        refuse_state(psprintf("%s is not protected", table.name), "Protect a table with dp_protect(relation, view).");
    return table;
}

// Puts what the epoch has come to under zcdp, with all before it; rho is that of the epoch alone.
static void put_zcdp(const ResultRows &rows, const Budget &account, const privacy::Spent &spent,
                     const privacy::Claim &claim) {
    privacy::Loss loss = border::core([&] { return privacy::shown(spent, account.bound); });
    privacy::Epsilon anytime = border::core([&] { return privacy::shown_anytime(spent, account.bound, claim); });
    rows.set("epsilon", loss.epsilon);
    rows.set("delta", loss.delta);
    rows.set("rho", spent.rho);
    rows.set("rho_total", catalog::if_given(account.bound.epsilon_total.has_value(), account.bound.rho_total));
    rows.set("epsilon_anytime", anytime.value());
}

// The sums in the period that the account is in now, and when that turns.
static void put_period(const ResultRows &rows, const privacy::BoundSettings &bound, const privacy::PeriodSums &sums) {
    rows.set("period_epsilon", sums.epsilon);
    rows.set("period_delta", sums.delta);
    rows.set("period_end", catalog::Moment{catalog::to_moment(privacy::end_of(bound.period->kind, sums.start))});
    rows.set("epsilon_lifetime", bound.epsilon_lifetime);
    rows.set("delta_lifetime", bound.delta_lifetime);
}

// With periods that go on for ever, only what binds over all of them is claimed.
static void put_claim_for_life(const ResultRows &rows, const privacy::BoundSettings &bound,
                               const privacy::Spent &spent) {
    if (bound.epsilon_lifetime)
        rows.set("epsilon_claim", Max(spent.epsilon, *bound.epsilon_lifetime));
    if (bound.delta_lifetime)
        rows.set("delta_claim", Max(spent.delta, *bound.delta_lifetime));
    else if (bound.delta_total.units() == 0)
        rows.set("delta_claim", spent.delta);
}

// Puts what is guaranteed of the public account, whatever is asked from now on. Nothing rests on the other.
static void put_claim(const ResultRows &rows, const Budget &account) {
    const privacy::BoundSettings &bound = account.bound;
    const privacy::Spent &spent = account.odometer.totals.of_public;
    if (bound.bound == privacy::Bound::none || !bound.epsilon_total)
        return;
    if (bound.bound == privacy::Bound::zcdp) {
        privacy::Claim claim = account.odometer.claim;
        border::core([&] { claim.raise(bound); });
        rows.set("epsilon_claim", spent.epsilon_before + *claim.total);
        rows.set("delta_claim", spent.delta_before + claim.conversion + claim.mechanisms);
    } else if (bound.period) {
        put_claim_for_life(rows, bound, spent);
    } else {
        rows.set("epsilon_claim", Max(spent.epsilon, *bound.epsilon_total));
        rows.set("delta_claim", Max(spent.delta, bound.delta_total));
    }
}

static void put_account(const ResultRows &rows, const Budget &account, privacy::Account which,
                        const catalog::Counted &counted) {
    const bool open = which == privacy::Account::public_account;
    const privacy::Spent &spent = open ? account.odometer.totals.of_public : account.odometer.totals.of_conditional;
    rows.set("account", privacy::name_of(which));
    rows.set("epsilon", spent.epsilon);
    rows.set("delta", spent.delta);
    rows.set("releases", counted.releases);
    rows.set("denials", counted.denials);
    rows.set("bound", privacy::name_of(account.bound.bound));
    const bool binds = account.bound.bound != privacy::Bound::none; // else totals are kept, and not shown
    if (binds)
        rows.set("epsilon_total", account.bound.epsilon_total);
    rows.set("delta_total", catalog::if_given(binds, account.bound.delta_total));
    if (account.bound.bound == privacy::Bound::zcdp)
        put_zcdp(rows, account, spent, open ? account.odometer.claim : privacy::Claim());
    if (account.bound.period)
        put_period(rows, account.bound, spent.period);
    if (open)
        put_claim(rows, account);
    rows.put();
}

DP_CALL(dp_odometer) {
    ProtectedTable table = controlled_table(PG_GETARG_OID(0));
    const ResultRows rows(fcinfo);
    Budget account;
    if (!read_budget(table.relation, &account))
        refuse_state(psprintf("%s has no odometer", table.name),
                     "Its totals may have been left out of a restore; dp_protect() on the table rebuilds them "
                     "from the ledger.");
    put_account(rows, account, privacy::Account::public_account, account.counts.of_public);
    put_account(rows, account, privacy::Account::conditional, account.counts.of_conditional);
    return Datum{0};
}

// ---- how much of the totals is used ---------------------------------------------------------------------------------

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
