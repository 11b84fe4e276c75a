// A round of steps: noise that shrinks, charge by charge, until the answer is accurate enough (formulas.md 6.3 to 6.5,
// architecture.md 3.9). The rows are read once, behind the first charge; each step is drawn, or looked at, behind its own. Where to
// look next, and when to stop, follows from what was looked at and from public facts.
#pragma once

#include "release/ask.hpp"
#include "release/accuracy_plan.hpp"
#include "release/steps.hpp"

namespace dp::release {

struct Refinement;

// What a round starts from; refinable: the last answer, when it goes on from one, else null. In CurrentMemoryContext. Errors:
// 53400 when nothing is left to refine; 22023 when the ceiling is too small to be split among the measures.
Refinement *begin_refinement(const rows::Question *question, const Terms &terms, const Course &course,
                             const Refinable *refinable);

// The step that is due, which must be charged before take_step(); base: charge_for() the round's terms.
catalog::Charge step_charge(const Refinement *refinement, const catalog::Charge &base);
// The period that it was charged in, where one is set; those that follow are charged in the same, or not at all.
void note_period(Refinement *refinement, privacy::Day period);
// Reads the rows behind its charge, unless they have been.
void take_step(Refinement *refinement, const rows::Paid &paid);
// Nothing more is due: the answer is accurate, or at its ceiling.
bool is_done(const Refinement *refinement);
// The step that is due is not paid: the answer is what it was before.
void stop(Refinement *refinement, Short how);

Answer write_refined(const Refinement *refinement);

// Returns what dp_refine can go on from after one Gaussian measurement, `values` group by group; null: nothing.
const char *mean_of(const rows::Question *question, const privacy::ReleasePlan &plan, const privacy::int128 *values);

} // namespace dp::release
