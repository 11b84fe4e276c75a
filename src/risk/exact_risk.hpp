// The exact indicator, E d(o, q(x without the person)), of every person (formulas.md 1.2): in place of its bound. For the controller
// alone: all of it depends on the private rows.
#pragma once

#include "privacy/risk_exact.hpp"

#include "risk/change.hpp"

namespace dp::risk {

// The indicator of every record and, behind the last one, of people whom the answer does not contain.
struct ExactRisks {
    double noise;                 // of whoever changes nothing
    border::Spill<double> excess; // nrecords + 1, to be added to it; the memo's, until the next candidate's
};

// Computes those of what is printed under the noise of a plan (`sound`). Several numbers with Gaussian noise, one of them of several sums: the root of
// the mean square.
ExactRisks exact_risks(const rows::Question *question, const Memo *memo, const privacy::ReleasePlan *plan);
// Computes those of `published`, of aggregates under continuous noise, the same on each.
ExactRisks published_risks(const rows::Question *question, const Memo *memo, const privacy::CoordinateNoise &noise);

privacy::RiskRow risk_row_of(const Memo *memo, const ExactRisks &risks, privacy::Epsilon epsilon);
// Smallest and largest of everybody, or the lower medians of the memo's groups of people.
privacy::RdrRange range_of(const Memo *memo, const ExactRisks &risks, bool groups);

} // namespace dp::risk
