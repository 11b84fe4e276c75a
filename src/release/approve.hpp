// Questions that somebody else permits: what he has decided, the terms that come of it, and the answer as it is kept
// (architecture.md, 3.11).
#pragma once

#include "catalog/requests.hpp"
#include "release/asked.hpp"
#include "release/facts.hpp"

namespace dp::release {

// Tells the approver what becomes of it: no row and no exact number.
struct Settled {
    char state[16];
    privacy::Epsilon epsilon;
    bool sighted;
};

// Looks at what is committed. Errors: 42501 for who may not decide; 55000 for a request that nobody can decide on any more; 22023 for
// a basis that does not go with it.
// parent: of a signal. It is on public facts only if that was.
const Decision *decide(const Approval &approval, const catalog::Asker &approver, const catalog::Requested *request,
                       const catalog::Requested *parent);
// The terms that a decision puts in the place of the policy's. Errors: 22023; 42501 for a price that is above the policy's.
void apply(const Decision &decision, const catalog::Settings &settings, const catalog::Policy &policy, Terms *terms);
void check_approved_price(const rows::Question *question, const Terms &terms);

// The numbers of an answer are kept in their own order.
const Replay *keep_numbers(const rows::Question *question);

// For the claim that goes with the first charge.
catalog::Claim claim_of(const Decision &decision);
// The answer as it is stored. As the requester, under his time zone.
catalog::Settling *settle(const catalog::Requested &request, const Decision &decision, const rows::Question *question,
                          const Terms &terms, const Answer &answer);
// Returns error95 of the columns that an answer has, from that of the outputs of a leaf: NULL for a key.
ArrayType *error_array(const double *error95, const int *columns, int n);

} // namespace dp::release
