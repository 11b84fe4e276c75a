// Computes what one record changes, coordinate by coordinate, and the exact answer that it changes. The exact indicator and the
// output-dependent one need them (formulas.md 1.2, 1.3). For the controller alone: everything here depends on the private rows.
#pragma once

#include "privacy/risk_exact.hpp"

#include "risk/memo.hpp"
#include "rows/question.hpp"

namespace dp::risk {

// q(x) - q(x without the record), over the coordinates of one group. `sound`: of the vector that is released, in lattice
// units, width k1; `published`: sizes only, of the aggregates themselves, width naggregates.
int change_width(const rows::Question *question, privacy::Calibration calibration);
void change_of(const rows::Question *question, const Memo *memo, privacy::Calibration calibration, int64 record,
               double *change);

// Whose changes: of everybody, or of one of the people's groups of the memo.
enum class People { all, group_a, group_b };
const privacy::ChangeProfile *change_profile(const rows::Question *question, const Memo *memo,
                                             privacy::Calibration calibration, People people = People::all);

// The exact indicator under the noise of a plan (`sound`). Core region. largest: largest_released_square.
privacy::ExactRdr released_rdr(const rows::Question *question, const privacy::ReleasePlan &plan, double largest);
double largest_released_square(const rows::Question *question, const privacy::ChangeProfile &profile);

// The exact answer of one aggregate, as printed (values clamped to the bounds); without: when the record is left out.
double exact_answer(const rows::Question *question, const Memo *memo, int group, int aggregate);
double answer_without(const rows::Question *question, const Memo *memo, int64 record, int aggregate);

} // namespace dp::risk
