// A question that has passed the checks of its shape and of the policy, and what its charges permit.
#pragma once

#include "release/ask.hpp"
#include "rows/may_read.hpp"

namespace dp::release {

struct LimitWish;
struct Signal;

// Holds a question with the terms under which it is asked. Only the checks make one.
class Checked {
public:
    // Makes one of the owner's question: no policy binds them.
    Checked(const rows::OwnRows &owner, const Terms &terms) : Checked(owner.question(), owner.question(), terms, nullptr) {}

    // Returns the permission that a charge of it gives. Errors: XX000 where the charge is not durable, or is another one.
    rows::Paid paid_by(const catalog::Entry &entry) const;
    rows::PaidSelection selection_paid_by(const catalog::Entry &entry) const;
    // Returns the permission to search the rows for epsilon. Errors: XX000 where it follows from public facts.
    rows::Search search() const;

    const rows::Question *const question; // whose rows are read
    const rows::Question *const charged;  // the same; or, for a signal, a count that costs as much
    const Terms terms;
    const Signal *const signal; // what is made of the answer; null: it is given

private:
    Checked(const rows::Question *question, const rows::Question *charged, const Terms &terms, const Signal *signal)
        : question(question), charged(charged), terms(terms), signal(signal) {}
    friend Checked resolve(const Ask &ask, query::Leaf *leaf, bool drawn);
    friend Checked resolve_limit(const LimitWish &wish, const catalog::Asker &asker);
};

} // namespace dp::release
