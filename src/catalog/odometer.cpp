#include "catalog/odometer.hpp"

#include "catalog/decimals.hpp"

namespace dp::catalog {

static privacy::Epsilon epsilon_of(const Row &row, const char *column) {
    return to_epsilon_sum(row.value(column), "a total of epsilon");
}

static privacy::Delta delta_of(const Row &row, const char *column) {
    return to_delta(row.value(column), "a total of delta");
}

// ---- periods -------------------------------------------------------------------------------------------------------

// (-infinity and infinity are days as well, far away.)
privacy::Day to_day(TimestampTz moment) {
    return privacy::day_of(moment);
}

privacy::Day today() {
    return to_day(GetCurrentTimestamp());
}

TimestampTz to_moment(privacy::Day day) {
    if (day >= to_day(END_TIMESTAMP))
        return DT_NOEND;
    return day < to_day(MIN_TIMESTAMP) ? DT_NOBEGIN : day * USECS_PER_DAY;
}

static privacy::PeriodSums period_of(const Row &row, const char *account) {
    auto column = [&](const char *name) { return psprintf("%s_period_%s", account, name); };
    privacy::PeriodSums sums;
    const char *name = row.string(column("kind"));
    if (name == nullptr)
        return sums;
    sums.kind = border::core([&] { return privacy::period_from_name(name); });
    if (!sums.kind)
        elog(ERROR, "unknown period \"%s\"", name);
    sums.start = privacy::begin_of(*sums.kind, to_day(DatumGetTimestampTz(row.value(column("start")))));
    sums.epsilon = epsilon_of(row, column("epsilon"));
    sums.delta = delta_of(row, column("delta"));
    return sums;
}

// ---- sums ----------------------------------------------------------------------------------------------------------

static privacy::Spent spent_of(const Row &row, const char *account) {
    auto column = [&](const char *name) { return psprintf("%s_%s", account, name); };
    privacy::Spent spent;
    spent.epsilon = epsilon_of(row, column("epsilon"));
    spent.delta = delta_of(row, column("delta"));
    spent.period = period_of(row, account);
    return spent;
}

// Only an epoch under zcdp that has charges has them.
static void read_rho(const Row &row, const char *account, privacy::Spent *spent) {
    auto column = [&](const char *name) { return psprintf("%s_%s", account, name); };
    spent->rho = to_rho_sum(row.value(column("rho")), "a total of rho");
    spent->pure = epsilon_of(row, column("pure"));
    spent->rho_only = DatumGetBool(row.value(column("rho_only")));
}

static void read_before(const Row &row, const char *account, privacy::Spent *spent) {
    spent->epsilon_before = epsilon_of(row, psprintf("%s_epsilon_before", account));
    spent->delta_before = delta_of(row, psprintf("%s_delta_before", account));
}

// An epoch of the public account has a claim from its first charge in rho on; its total is NULL where there is none.
static privacy::Claim claim_of(const Row &row) {
    privacy::Claim claim;
    bool isnull;
    Datum conversion = row.value("claim_conversion", &isnull);
    claim.charged = !isnull;
    if (isnull)
        return claim;
    claim.conversion = to_delta(conversion, "claim_conversion");
    claim.mechanisms = delta_of(row, "claim_mechanisms");
    Datum total = row.value("claim_epsilon", &isnull);
    if (!isnull)
        claim.total = to_epsilon(total, "claim_epsilon");
    Datum target = row.value("claim_target", &isnull);
    if (!isnull)
        claim.target = to_rho(target, "claim_target");
    return claim;
}

privacy::Odometer odometer_of(const Row &row) {
    privacy::Odometer odometer;
    odometer.totals.of_public = spent_of(row, "public");
    odometer.totals.of_conditional = spent_of(row, "conditional");
    read_before(row, "public", &odometer.totals.of_public);
    read_before(row, "conditional", &odometer.totals.of_conditional);
    odometer.epoch = DatumGetInt32(row.value("epoch"));
    odometer.claim = claim_of(row);
    if (odometer.claim.charged)
        read_rho(row, "public", &odometer.totals.of_public);
    bool isnull;
    Datum conversion = row.value("conditional_conversion", &isnull);
    if (!isnull) {
        odometer.conditional_conversion = to_delta(conversion, "conditional_conversion");
        read_rho(row, "conditional", &odometer.totals.of_conditional);
    }
    return odometer;
}

static Counted counted(const Row &row, const char *account) {
    return {DatumGetInt64(row.value(psprintf("%s_releases", account))),
            DatumGetInt64(row.value(psprintf("%s_denials", account)))};
}

bool read_odometer(const Reading &reading, const char *id, privacy::Odometer *odometer, Counts *counts) {
    Lookup odometers = Lookup::open("odometer", reading);
    const Row *row = only(odometers.rows(DirectFunctionCall1(uuid_in, CStringGetDatum(id))));
    if (row != nullptr)
        *odometer = odometer_of(*row);
    if (row != nullptr && counts != nullptr)
        *counts = {counted(*row, "public"), counted(*row, "conditional")};
    odometers.close();
    return row != nullptr;
}

static void read_epoch(const Row &row, const char *account, privacy::Spent *spent) {
    read_rho(row, account, spent);
    spent->epsilon_before = epsilon_of(row, psprintf("%s_epsilon_before", account));
}

privacy::Totals read_share(const Reading &reading, const char *id, const char *grantee, int epoch) {
    privacy::Totals totals;
    Lookup shares = Lookup::open("odometer_share", reading);
    const Row *row = only(shares.rows(DirectFunctionCall1(uuid_in, CStringGetDatum(id)), grantee));
    if (row != nullptr) {
        totals.of_public = spent_of(*row, "public");
        totals.of_conditional = spent_of(*row, "conditional");
        if (DatumGetInt32(row->value("epoch")) == epoch) {
            read_epoch(*row, "public", &totals.of_public);
            read_epoch(*row, "conditional", &totals.of_conditional);
        } else {
            totals.of_public.begin_epoch();
            totals.of_conditional.begin_epoch();
        }
    }
    shares.close();
    return totals;
}

} // namespace dp::catalog
