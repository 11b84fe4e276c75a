#include "catalog/ledger_periods.hpp"

namespace dp::catalog {

Datum period_text(const privacy::BoundSettings &bound, const privacy::Standing &sums, privacy::Account account) {
    if (!bound.period)
        return Datum{0};
    const privacy::PeriodSums &now =
        account == privacy::Account::public_account ? sums.table.of_public.period : sums.table.of_conditional.period;
    char start[32], since[32];
    border::core([&] {
        strlcpy(start, privacy::text_of(now.start).c_str(), sizeof start);
        strlcpy(since, privacy::text_of(bound.period->since).c_str(), sizeof since);
    });
    return jsonb_of(psprintf("{\"period\": {\"kind\": \"%s\", \"start\": \"%s\", \"since\": \"%s\"}}",
                             privacy::name_of(*now.kind), start, since));
}

} // namespace dp::catalog
