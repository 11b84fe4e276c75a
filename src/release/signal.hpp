// Utility signals: what somebody computes from an answer, and what that would be without noise, itself with noise (formulas.md 4.5;
// architecture.md, 3.12). The exact answer is read, and thrown away, where an answer is: behind a charge, in a keeper; or by its
// owner.
#pragma once

#include "privacy/task.hpp"

#include "release/ask.hpp"
#include "release/steps.hpp"

namespace dp::release {

// Holds a wish as its requester words it.
struct Wish {
    const catalog::Requested *parent; // whose answer it goes on from, with that answer
    const char *task;                 // mean or top
    const char *value, *reference;    // reference: null for a mean
    bool has_k;
    int k;
    double lower, upper;
    const char *call; // all of it as a call of dp_request_signal(), for whoever decides and for the ledger
};

// 22023 and 22004 for what does not go together. Sets `call`.
void check_wish(Wish *wish);
// Write a wish as a request stores it, and read it again.
const char *wish_json(const Wish &wish);
Wish wish_of(const catalog::Requested &request, const catalog::Requested *parent);

// A wish about an answer, under the declarations that are in force.
struct Signal;
// question: that of the parent's answer. Reads no private row. Errors: 0A000 for groups that nobody declared, and for expressions as
// query/signal_expression has them; 22023 for k; 55000 where the declarations are not those that the answer was given under.
const Signal *bind(const Wish &wish, const rows::Question *question);
// Returns a question that costs as much: a count, one number of this sensitivity.
const rows::Question *priced(const Signal *signal);

// From an error of that number to one of the signal.
double error_of(const Signal *signal, double halfwidth);

// Holds what is shown of a signal.
struct Signalled {
    double dp, exact, error95; // exact: with noise
    privacy::int128 noisy;
};
// Adds the noise of the charge. Ends the sums.
Signalled add_noise(const Signal *signal, const Terms &terms, privacy::Epsilon charged, rows::Sums *sums);

// Without noise, for the owner, in a process of his.
struct Looked {
    double dp, exact;
};
Looked look(const Signal *signal);

// As it is stored. sighted: what its price could be told from is left out.
catalog::Settling *settle(const Decision &decision, const Signalled &signalled, bool sighted);

} // namespace dp::release
