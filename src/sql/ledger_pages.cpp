// dp_odometer: the totals of a protected table.
#include "border/versions.hpp"
#include "sql/budget.hpp"
#include "sql/ledger_pages.hpp"
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

} // namespace dp::sql
