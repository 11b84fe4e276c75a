#include "catalog/odometer.hpp"

namespace dp::catalog {

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

privacy::Odometer odometer_of(const Row &row) {
    privacy::Odometer odometer;
    RowReader visit{row};
    both(visit, odometer.totals, sums_of);
    both(visit, odometer.totals, rho_of);
    both(visit, odometer.totals, before_of);
    both(visit, odometer.totals, delta_before_of);
    both(visit, odometer.totals, period_of);
    visit("epoch", odometer.epoch);
    claim_of(visit, odometer);
    return odometer;
}

bool read_odometer(const Reading &reading, const char *id, privacy::Odometer *odometer, Counts *counts) {
    Lookup odometers = Lookup::open("odometer", reading);
    const Row *row = only(odometers.rows(DirectFunctionCall1(uuid_in, CStringGetDatum(id))));
    if (row != nullptr)
        *odometer = odometer_of(*row);
    if (row != nullptr && counts != nullptr) {
        RowReader visit{*row};
        fields(visit, *counts);
    }
    odometers.close();
    return row != nullptr;
}

privacy::Spread read_spread(const RowReader &row) {
    privacy::Spread spread;
    privacy::Spent spent;
    RowReader visit{row};
    most_of(visit, spread);
    spread_of_epoch(visit, spread);
    visit.prefix = "public_";
    sums_of(visit, spent);
    rho_of(visit, spent);
    spread.all.epsilon = spent.epsilon - spread.most.epsilon;
    spread.all.delta = spent.delta - spread.most.delta;
    spread.all.rho = spent.rho - spread.most.rho;
    spread.all.pure = spent.pure - spread.most.pure;
    return spread;
}

privacy::Totals read_share(const Reading &reading, const char *id, const char *grantee, int epoch,
                           privacy::Spread *spread) {
    privacy::Totals totals;
    Lookup shares = Lookup::open("odometer_share", reading);
    const Row *row = only(shares.rows(DirectFunctionCall1(uuid_in, CStringGetDatum(id)), grantee));
    if (row != nullptr) {
        RowReader visit{*row};
        int found;
        visit("epoch", found);
        if (spread != nullptr)
            *spread = read_spread(visit);
        if (spread != nullptr && found != epoch)
            spread->begin_epoch();
        both(visit, totals, sums_of);
        both(visit, totals, period_of);
        if (found == epoch) {
            both(visit, totals, rho_of);
            both(visit, totals, before_of);
        } else {
            totals.of_public.begin_epoch();
            totals.of_conditional.begin_epoch();
        }
    }
    shares.close();
    return totals;
}

} // namespace dp::catalog
