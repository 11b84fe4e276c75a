#include "privacy/standing.hpp"

#include <algorithm>

namespace dp::privacy {

// The later of a day and the period of this kind that the sums have been in last.
static Day met_by(const PeriodSums &sums, PeriodKind kind, Day otherwise) {
    return sums.kind ? std::max(begin_of(kind, sums.start), otherwise) : otherwise;
}

// Sums of the same kind count as 0 when their period is over. Those of another kind are carried over, and all that was ever
// spent where there was none, until the first turn behind the day on which the period was set.
static void enter_period(Spent *spent, const Period &period, Day today, Day start) {
    PeriodSums &sums = spent->period;
    const bool same = sums.kind == period.kind;
    const bool over = !sums.kind || start > begin_of(period.kind, sums.start);
    const bool turned = same || begin_of(period.kind, today) > begin_of(period.kind, period.since);
    if (over && turned)
        sums.epsilon = Epsilon(), sums.delta = Delta();
    else if (!sums.kind)
        sums.epsilon = spent->epsilon, sums.delta = spent->delta;
    sums.start = start;
    sums.kind = period.kind;
}

Standing standing(const Totals &table, const Totals &role, const BoundSettings &bound, Day today) {
    if (!bound.period)
        return Standing::without_period(table, role);
    Standing now = {table, role};
    for (Account account : {Account::public_account, Account::conditional}) {
        Spent &of_table = now.table.of(account), &of_role = now.role.of(account);
        const PeriodKind kind = bound.period->kind;
        const Day start = met_by(of_role.period, kind, met_by(of_table.period, kind, begin_of(kind, today)));
        enter_period(&of_table, *bound.period, today, start);
        enter_period(&of_role, *bound.period, today, start);
    }
    return now;
}

} // namespace dp::privacy
