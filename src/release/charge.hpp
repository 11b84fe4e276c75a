// Charges a release, as the ledger records it (architecture.md, 3.5 and 7).
#pragma once

#include "release/terms.hpp"

namespace dp::release {

// The delta that such a release charges (formulas.md 8.5).
privacy::Delta delta_of(const rows::Question *question, const Terms &terms);

// Plans the noise of a release: what is charged, foreseen and drawn. epsilon: of no account where one measurement is asked for.
// Core region. Errors: as of privacy::plan_release.
privacy::ReleasePlan noise_of(const rows::Question *question, const Terms &terms, privacy::Epsilon epsilon);
// Returns it as an object of the memory context.
const privacy::ReleasePlan *plan_of(const rows::Question *question, const Terms &terms, privacy::Epsilon epsilon);

// Sets what the terms permit before an account is read. delta: delta_of(). Core region.
void set_limits(const rows::Question *question, const Terms &terms, privacy::Delta delta, privacy::Limits *limits);
// Sets what is asked of an account, likewise.
void set_request(const rows::Question *question, const Terms &terms, const Permitted &permitted, privacy::Delta delta,
                 privacy::ChargeRequest *request);

// Describes the charge of a question. permitted: none where it is set later, or a step is charged.
catalog::Charge charge_for(const rows::Question *question, const Terms &terms, const Permitted &permitted = {});

} // namespace dp::release
