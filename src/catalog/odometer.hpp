// Reads the odometer of a table and the shares of its roles, as their rows have them.
#pragma once

#include "privacy/cell_sums.hpp"
#include "privacy/epoch.hpp"

#include "catalog/described_row.hpp"

namespace dp::catalog {

// A day as what the clock shows, and as it is stored: the moment at which it begins.
privacy::Day today();
privacy::Day to_day(TimestampTz moment);
TimestampTz to_moment(privacy::Day day);

// ---- columns -------------------------------------------------------------------------------------------------------

// Names the columns of sums that go on for ever, behind the name of an account.
template <class V> void sums_of(V &visit, privacy::Spent &spent) {
    visit("epsilon", spent.epsilon);
    visit("delta", spent.delta);
}

// Names those of the epoch in rho.
template <class V> void rho_of(V &visit, privacy::Spent &spent) {
    visit("rho", spent.rho);
    visit("pure", spent.pure);
    visit("rho_only", spent.rho_only);
}

// Names what the sums were when the epoch began. A share has no delta of its own.
template <class V> void before_of(V &visit, privacy::Spent &spent) {
    visit("epsilon_before", spent.epsilon_before);
}
template <class V> void delta_before_of(V &visit, privacy::Spent &spent) {
    visit("delta_before", spent.delta_before);
}

// Names the sums of the period that the last charge was in. A row without one has NULL in the first two.
template <class V> void period_of(V &visit, privacy::Spent &spent) {
    privacy::PeriodSums &sums = spent.period;
    std::optional<Moment> start;
    if (sums.kind)
        start = Moment{to_moment(sums.start)};
    visit.word("period_kind", privacy::period_from_name, sums.kind);
    visit("period_start", start);
    visit("period_epsilon", sums.epsilon);
    visit("period_delta", sums.delta);
    if constexpr (V::reads)
        sums.start = sums.kind && start ? privacy::begin_of(*sums.kind, to_day(start->at)) : privacy::Day{0};
}

// Names what the epoch promises. The public account has a claim from its first charge in rho on; its total is NULL where there is
// none.
template <class V> void claim_of(V &visit, privacy::Odometer &odometer) {
    privacy::Claim &claim = odometer.claim;
    std::optional<privacy::Delta> conversion, mechanisms;
    std::optional<privacy::Rho> target;
    if (claim.charged) {
        conversion = claim.conversion;
        mechanisms = claim.mechanisms;
    }
    if (claim.target.units() > 0)
        target = claim.target;
    visit("claim_epsilon", claim.total);
    visit("claim_conversion", conversion);
    visit("claim_mechanisms", mechanisms);
    visit("claim_target", target);
    visit("conditional_conversion", odometer.conditional_conversion);
    claim.charged = conversion.has_value();
    claim.conversion = conversion.value_or(privacy::Delta());
    claim.mechanisms = mechanisms.value_or(privacy::Delta());
    claim.target = target.value_or(privacy::Rho());
}

// Names what of the public sums that go on for ever was not charged to all cells of a partition; then those of the epoch.
template <class V> void most_of(V &visit, privacy::Spread &spread) {
    visit("most_epsilon", spread.most.epsilon);
    visit("most_delta", spread.most.delta);
}
template <class V> void spread_of_epoch(V &visit, privacy::Spread &spread) {
    visit("most_epsilon_epoch", spread.most.epsilon_epoch);
    visit("most_delta_epoch", spread.most.delta_epoch);
    visit("most_rho", spread.most.rho);
    visit("most_pure", spread.most.pure);
    visit("most_rho_only", spread.most.rho_only);
    visit("all_epsilon_epoch", spread.all.epsilon_epoch);
    visit("all_delta_epoch", spread.all.delta_epoch);
    visit("all_rho_only", spread.all.rho_only);
}

// Visits columns that both accounts have.
template <class V> void both(V &visit, privacy::Totals &totals, void (*columns)(V &, privacy::Spent &)) {
    visit.prefix = "public_";
    columns(visit, totals.of_public);
    visit.prefix = "conditional_";
    columns(visit, totals.of_conditional);
    visit.prefix = "";
}

// Counts releases and denials of an account.
struct Counted {
    int64 releases, denials;
};
struct Counts {
    Counted of_public, of_conditional;
};
template <class V> void fields(V &visit, Counts &counts) {
    visit("public_releases", counts.of_public.releases);
    visit("public_denials", counts.of_public.denials);
    visit("conditional_releases", counts.of_conditional.releases);
    visit("conditional_denials", counts.of_conditional.denials);
}

// ---- rows ----------------------------------------------------------------------------------------------------------

// Reads a row of dp_rdr.odometer, all of its columns.
privacy::Odometer odometer_of(const Row &row);
// Finds the row of a domain under a snapshot. False: there is none.
bool read_odometer(const Reading &reading, const char *id, privacy::Odometer *odometer, Counts *counts = nullptr);

// Reads how the public sums of an odometer or of a share are spread over cells.
privacy::Spread read_spread(const RowReader &row);
// Reads what was charged under policies of one grantee, as it stands in this epoch. 0 without a row.
privacy::Totals read_share(const Reading &reading, const char *id, const char *grantee, int epoch,
                           privacy::Spread *spread = nullptr);

} // namespace dp::catalog
