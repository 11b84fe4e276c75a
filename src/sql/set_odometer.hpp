// Tells what follows from a bound that dp_set_odometer has set: totals that are spent, policies that cannot pay, epochs.
#pragma once

#include "catalog/odometer.hpp"
#include "sql/risk_profile.hpp"

namespace dp::sql {

// A table's bound beside what was charged.
struct BoundState {
    privacy::BoundSettings bound;
    int epoch;
    bool has_odometer;
    privacy::Odometer odometer; // which no charge may have brought to that epoch yet
};

// Returns the odometer as the next charge finds it.
privacy::Odometer entered(const BoundState &state);
// NOTICEs and WARNINGs.
void tell_about_attacks(Oid relation, const Profile &profile, const BoundState &now);
void tell_about_totals(Oid relation, const BoundState &was, const BoundState &now);

} // namespace dp::sql
