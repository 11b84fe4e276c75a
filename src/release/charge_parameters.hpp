// Describes a charge for the ledger, beside its amount: a JSON object of public facts.
#pragma once

#include "release/terms.hpp"
#include "rows/question.hpp"

namespace dp::release {

// Describes what the price follows from.
const char *describe_charge(const rows::Question *question, const Terms &terms);
// The preference and what accuracy is asked for, as JSON.
const char *describe_terms(const Terms &terms);

} // namespace dp::release
