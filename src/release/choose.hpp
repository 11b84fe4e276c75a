// Finds what tau permits: from public facts alone for analysts, from the data for the controller (formulas.md, 2 and 4).
#pragma once

#include "release/checked.hpp"
#include "risk/leave_one_row_out.hpp"

namespace dp::release {

// Returns the groups of people that the terms name, or none.
risk::PeopleGroups people_of(const rows::Question *question, const Terms &terms);
// Whether two groups can be compared: there is somebody in each, and nobody in both. 55000 where the owner asks.
bool check_people(const risk::Memo *memo, const Terms &terms);

// within_domain, profile: no private row is read. within_data, find_epsilon: reads the table (leave_one_out), uncharged.
// Errors, for the controller's own calls: 55000 for groups of people that are empty or overlap.
Permitted choose(const Checked &checked);

// Returns the noise that `auto` means, from bound, policy and statement alone (formulas.md 6.5); any other mechanism is itself. The
// question is prepared, and its mechanism is not set. 22023 where epsilon may follow from rows.
privacy::Mechanism chosen_mechanism(const catalog::Reading &reading, const rows::Question *question, const Terms &terms,
                                    bool refines);

// What the noise of each candidate adds to a risk (privacy::rdr_of): computed where it is needed first (NaN before), and the same
// for every tau.
struct NoiseTerms {
    double *of;
    static NoiseTerms unknown(const Terms &terms);
};

// The price that tau has whatever the rows are.
Permitted from_public_facts(const rows::Question *question, const Terms &terms);
Permitted from_public_facts(const rows::Question *question, const Terms &terms, const NoiseTerms &known);

// Returns what dp_find_epsilon permits after a look at the rows, between these two risks; not for `exact`.
Permitted from_risks(const rows::Question *question, const Terms &terms, const risk::Memo *memo, double pis_min,
                     double pis_max, const NoiseTerms &known);

} // namespace dp::release
