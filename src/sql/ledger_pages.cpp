// dp_odometer: the totals of a protected table.
#include "border/guard.hpp"
#include "border/versions.hpp"
#include "catalog/access.hpp"
#include "catalog/decimals.hpp"
#include "catalog/odometer.hpp"
#include "catalog/parameters.hpp"
#include "catalog/settings.hpp"
#include "sql/ledger_pages.hpp"

namespace {

using dp::border::Spi;
using dp::catalog::Visit;
using dp::sql::ProtectedTable;

// A protected table, or one of its restricted views. Invalid OID if it is neither.
ProtectedTable find_protected(Oid argument) {
    ProtectedTable table{InvalidOid, Datum{0}, nullptr};
    const char *id = nullptr;
    Visit visit = Visit::read();
    if (run(visit,
            "SELECT t.relation::oid, t.domain FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 "
            "OR t.relation = (SELECT v.relation FROM dp_rdr.restricted_view v WHERE v.view::oid = $1)",
            argument) > 0) {
        bool isnull;
        table.relation = DatumGetObjectId(Spi::value(0, 1, &isnull));
        id = visit.spi.text(0, 2);
    }
    visit.leave();
    if (id != nullptr) // in the caller's memory
        table.id = DirectFunctionCall1(uuid_in, CStringGetDatum(id));
    return table;
}

} // namespace

ProtectedTable dp::sql::controlled_table(Oid argument) {
    ProtectedTable table = find_protected(argument);
    Oid relation = OidIsValid(table.relation) ? table.relation : argument;
    const char *name = get_rel_name(relation);
    if (name == nullptr)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
    if (!dp::border::owns_relation(relation, GetUserId()))
        aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relation)), name);
    table.name = dp::catalog::qualified_name(relation);
    if (!OidIsValid(table.relation))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s is not protected", table.name),
                        errhint("Protect a table with dp_protect(relation, view).")));
    return table;
}

namespace {

using namespace dp;

// Holds what is stored of a table as a whole, and of its epoch and its periods as no charge may have met them yet.
struct Account {
    privacy::BoundSettings bound;
    privacy::Odometer odometer;
};

constexpr int columns = 18;
enum Column {
    col_account,
    col_epsilon,
    col_delta,
    col_releases,
    col_denials,
    col_bound,
    col_epsilon_total,
    col_delta_total,
    col_rho,
    col_rho_total,
    col_epsilon_anytime,
    col_epsilon_claim,
    col_delta_claim,
    col_period_epsilon,
    col_period_delta,
    col_period_end,
    col_epsilon_lifetime,
    col_delta_lifetime
};

struct Output {
    Datum values[columns];
    bool nulls[columns];
    void set(Column column, Datum value) {
        values[column] = value;
        nulls[column] = false;
    }
    template <int Places> void set(Column column, privacy::Decimal<Places> value) {
        set(column, catalog::to_numeric(value));
    }
};

// Puts what the epoch has come to under zcdp, with all before it; rho is that of the epoch alone.
void put_zcdp(Output *output, const Account &account, const privacy::Spent &spent, const privacy::Claim &claim) {
    privacy::Loss loss = border::core([&] { return privacy::shown(spent, account.bound); });
    privacy::Epsilon anytime = border::core([&] { return privacy::shown_anytime(spent, account.bound, claim); });
    output->set(col_epsilon, loss.epsilon);
    output->set(col_delta, loss.delta);
    output->set(col_rho, spent.rho);
    if (account.bound.epsilon_total)
        output->set(col_rho_total, account.bound.rho_total);
    output->set(col_epsilon_anytime, Float8GetDatum(anytime.value()));
}

// The sums in the period that the account is in now, and when that turns.
void put_period(Output *output, const privacy::BoundSettings &bound, const privacy::PeriodSums &sums) {
    output->set(col_period_epsilon, sums.epsilon);
    output->set(col_period_delta, sums.delta);
    output->set(col_period_end,
                TimestampTzGetDatum(catalog::to_moment(privacy::end_of(bound.period->kind, sums.start))));
    if (bound.epsilon_lifetime)
        output->set(col_epsilon_lifetime, *bound.epsilon_lifetime);
    if (bound.delta_lifetime)
        output->set(col_delta_lifetime, *bound.delta_lifetime);
}

// With periods that go on for ever, only what binds over all of them is claimed.
void put_claim_for_life(Output *output, const privacy::BoundSettings &bound, const privacy::Spent &spent) {
    if (bound.epsilon_lifetime)
        output->set(col_epsilon_claim, Max(spent.epsilon, *bound.epsilon_lifetime));
    if (bound.delta_lifetime)
        output->set(col_delta_claim, Max(spent.delta, *bound.delta_lifetime));
    else if (bound.delta_total.units() == 0)
        output->set(col_delta_claim, spent.delta);
}

// Puts what is guaranteed of the public account, whatever is asked from now on. Nothing rests on the other.
void put_claim(Output *output, const Account &account) {
    const privacy::BoundSettings &bound = account.bound;
    const privacy::Spent &spent = account.odometer.totals.of_public;
    if (bound.bound == privacy::Bound::none || !bound.epsilon_total)
        return;
    if (bound.bound == privacy::Bound::zcdp) {
        privacy::Claim claim = account.odometer.claim;
        border::core([&] { claim.raise(bound); });
        output->set(col_epsilon_claim, spent.epsilon_before + *claim.total);
        output->set(col_delta_claim, spent.delta_before + claim.conversion + claim.mechanisms);
    } else if (bound.period) {
        put_claim_for_life(output, bound, spent);
    } else {
        output->set(col_epsilon_claim, Max(spent.epsilon, *bound.epsilon_total));
        output->set(col_delta_claim, Max(spent.delta, bound.delta_total));
    }
}

void put_account(ReturnSetInfo *result, const Account &account, privacy::Account which,
                 const catalog::Counted &counted) {
    const bool open = which == privacy::Account::public_account;
    const privacy::Spent &spent = open ? account.odometer.totals.of_public : account.odometer.totals.of_conditional;
    Output output;
    memset(output.values, 0, sizeof output.values);
    memset(output.nulls, true, sizeof output.nulls);
    output.set(col_account, CStringGetTextDatum(privacy::name_of(which)));
    output.set(col_epsilon, spent.epsilon);
    output.set(col_delta, spent.delta);
    output.set(col_releases, Int64GetDatum(counted.releases));
    output.set(col_denials, Int64GetDatum(counted.denials));
    output.set(col_bound, CStringGetTextDatum(privacy::name_of(account.bound.bound)));
    const bool binds = account.bound.bound != privacy::Bound::none; // else totals are kept, and not shown
    if (binds && account.bound.epsilon_total)
        output.set(col_epsilon_total, *account.bound.epsilon_total);
    if (binds)
        output.set(col_delta_total, account.bound.delta_total);
    if (account.bound.bound == privacy::Bound::zcdp)
        put_zcdp(&output, account, spent, open ? account.odometer.claim : privacy::Claim());
    if (account.bound.period)
        put_period(&output, account.bound, spent.period);
    if (open)
        put_claim(&output, account);
    tuplestore_putvalues(result->setResult, result->setDesc, output.values, output.nulls);
}

} // namespace

DP_CALL(dp_odometer) {
    sql::ProtectedTable table = sql::controlled_table(PG_GETARG_OID(0));
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, table.relation);
    Account account;
    catalog::Counts counts;
    bool found = bound != nullptr && catalog::read_odometer(reading, bound->id_text, &account.odometer, &counts);
    reading.close();
    if (!found)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s has no odometer", table.name),
                 errhint("Its totals may have been left out of a restore; dp_protect() on the table rebuilds them "
                         "from the ledger.")));
    account.bound = bound->settings;
    border::core([&] { privacy::enter_epoch(&account.odometer, bound->epoch); });
    account.odometer.totals =
        privacy::standing(account.odometer.totals, privacy::Totals(), account.bound, catalog::today()).table;
    put_account(result, account, privacy::Account::public_account, counts.of_public);
    put_account(result, account, privacy::Account::conditional, counts.of_conditional);
    return Datum{0};
}
