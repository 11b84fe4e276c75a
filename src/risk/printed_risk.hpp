// Queries that print numbers of several sums, or cells that are drawn: the controller's indicator is about what is printed
// (formulas.md 1.2a), not about the sums that are drawn. For the controller alone: all of it depends on the private rows.
#pragma once

#include "privacy/printed.hpp"
#include "privacy/risk_exact.hpp"

#include "risk/change.hpp"

namespace dp::risk {

// The plan of a release, in the current memory context.
const privacy::ReleasePlan *plan_in_context(const rows::Question *question, privacy::Mechanism mechanism,
                                            privacy::Epsilon epsilon, privacy::Delta delta);

// Returns the averages in which noise_term() finds the least without looking at every group. Null: it looks at every group.
const Averages *averages_of_groups(const rows::Question *question, const Memo *memo);

// Returns the term that joins the PIS in an RDR: the mean sizes (Laplace) or mean squares (Gaussian) of the errors, over all groups.
// Where groups are not declared it is the least of any group.
double noise_term(const rows::Question *question, const Memo *memo, const privacy::ReleasePlan *plan);

// Returns the part of that term which it may be wrong by: it is a mean over points for some numbers (formulas.md 1.2a).
double error_of_noise(const rows::Question *question);

// Returns how far a quantile of a group is drawn from the exact one, as a part of the width of its bounds. Core region.
privacy::Distance quantile_error(const rows::Question *question, const privacy::ReleasePlan &plan, int measure,
                                 const Group &group);

// The exact indicator of every record and, behind the last one, of people whom the answer does not contain.
struct ExactRisks {
    double noise;                 // of whoever changes nothing
    border::Spill<double> excess; // nrecords + 1, to be added to it; the memo's, until the next candidate's
};
// 0A000 for Gaussian noise unless the answer is one number.
ExactRisks exact_printed_risks(const rows::Question *question, const Memo *memo, const privacy::ReleasePlan *plan);
privacy::RiskRow risk_row_of(const Memo *memo, const ExactRisks &risks, privacy::Epsilon epsilon);
// Smallest and largest of everybody, or the lower medians of the memo's groups of people.
privacy::RdrRange range_of(const Memo *memo, const ExactRisks &risks, bool groups);

} // namespace dp::risk
