// The way of a query: choose, charge, evaluate, noise, in that order and with no path around (architecture.md, 3).
#pragma once

#include "release/facts.hpp"

namespace dp::release {

// 22023 for less than the policy's least epsilon.
void check_minimum(const catalog::Policy &policy, privacy::Epsilon requested);
// Terms of an analyst's policy. `requested` asks for less; null: not asked. 22023 when it is less than the policy's minimum.
Terms terms_of(const catalog::Policy &policy, const privacy::Epsilon *requested, double weight);

// Answer without a charge, and read no row: an answer that was paid (terms.replay has a past), and the declared groups of a question
// without an aggregate.
Answer give_again(const rows::Question *question, const Terms &terms);
Answer list_groups(const rows::Question *question, const Terms &terms);

// Answers a prepared question of the owner's, in this process. Errors: 53400 "query denied"; 55000 (see catalog/ledger.hpp); 55000 "the query failed".
Answer answer(const rows::Question *question, const Terms &terms);
// Answers the questions of one statement: the epsilon of each is found before the first is charged. One that a bound refuses later has no
// rows, and a WARNING says why. terms: of each.
void answer_all(const rows::Question *const *questions, const Terms *terms, int n, Answer *answers);

} // namespace dp::release
