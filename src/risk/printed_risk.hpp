// Queries that print numbers of several sums, or cells that are drawn: the controller's indicator is about what is printed
// (formulas.md 1.2a), not about the sums that are drawn. For the controller alone: all of it depends on the private rows.
#pragma once

#include "privacy/printed.hpp"

#include "risk/change.hpp"

namespace dp::risk {

// The plan of a release, in the current memory context.
const privacy::ReleasePlan *plan_in_context(const rows::Question *question, privacy::Mechanism mechanism,
                                            privacy::Epsilon epsilon, privacy::Delta delta);

// Returns the term that joins the PIS in an RDR: the mean sizes (Laplace) or mean squares (Gaussian) of the errors, over all groups.
// Where groups are not declared it is the least of any group; of more than a thousand the least of those that look least.
double noise_term(const rows::Question *question, const Memo *memo, const privacy::ReleasePlan *plan);

// Returns the part of that term which it may be wrong by: it is a mean over points for some numbers (formulas.md 1.2a), and the least of
// some of many groups (1.2b).
double error_of_noise(const rows::Question *question, const Memo *memo);

// Lists what is drawn of a group with its probabilities, as parts of the width of its bounds. Core region.
std::vector<std::pair<double, double>> quantile_points(const rows::Question *question, const privacy::ReleasePlan &plan,
                                                       int measure, const Group &group);
// Returns how far that is from the exact quantile. Core region.
privacy::Distance quantile_error(const rows::Question *question, const privacy::ReleasePlan &plan, int measure,
                                 const Group &group);

} // namespace dp::risk
