#include "catalog/ledger_selection.hpp"

#include "privacy/candidate_range.hpp"


namespace dp::catalog {

privacy::Denial cut(const Entry &entry, const Standpoint &point, Verdict *verdict) {
    return border::core([&] {
        const Charge &what = *entry.what;
        privacy::SelectionRequest asked;
        set_limits(what, &asked);
        asked.tested = entry.tested;
        asked.epsilon_svt = entry.epsilon_svt;
        const privacy::BoundSettings &bound = point.basis->terms->bound;
        privacy::SelectionRange range = privacy::cut_candidates(asked, bound, point.sums.table, point.sums.role);
        verdict->first = range.first;
        verdict->last = range.last;
        verdict->epsilon = range.charged;
        privacy::Cost cost;
        cost.delta = what.delta;
        cost.groups = what.delta_groups;
        verdict->reason = reason_for(what, bound, point.sums.table, range.denial, cost);
        return range.cause;
    });
}

Price price_of_selection(const Charge &what, const Standpoint &point, const Verdict &verdict) {
    Price price = price_at(what, point);
    border::core([&] {
        price.cost = privacy::cost_of_selection(verdict.epsilon);
        price.selection = verdict.epsilon;
        price.worst = verdict.epsilon + (*what.candidates)[verdict.first];
        price.basis = point.basis->terms->bound.basis_of(true);
    });
    return price;
}

} // namespace dp::catalog
