// What tau permits: from public facts alone for analysts, from the data for the controller (formulas.md, 2 and 4).
#pragma once

#include "release/release.hpp"

namespace dp::release {

struct Permitted {
    double eps_star; // 0: no epsilon meets the preference; infinite: every one does
    double slack;    // relative, on eps_star
};

// within_domain, profile: no private row is read. within_data, find_epsilon: reads the table (leave_one_out), uncharged.
// Errors, for the controller's own calls: 55000 for groups of people that are empty or overlap.
Permitted choose(const rows::Question *question, const Terms &terms);

// The price that tau has whatever the rows are.
Permitted from_public_facts(const rows::Question *question, const Terms &terms);

} // namespace dp::release
