// The way of a query: choose, charge, evaluate, noise, in that order and with no path around (architecture.md, 3).
#pragma once

#include "privacy/refinement.hpp"

#include "catalog/ledger.hpp"
#include "rows/question.hpp"

namespace dp::catalog {
struct Storing;
}

namespace dp::release {

struct Replay;
struct Decision;

// How epsilon is found.
enum class Algorithm {
    within_domain,
    profile, // no preference but a share of the total: what is asked for, up to the policy's cap
    released,
    within_data,
    find_epsilon,
    find_and_release,
    find_from_output,
    approved // the owner has given the price (release/approve)
};

// By the sparse vector technique, under a preference tau_var.
constexpr bool is_selected(Algorithm algorithm) {
    return algorithm == Algorithm::released || algorithm == Algorithm::find_and_release;
}
// Whether the price is found from queries, public facts and released outputs alone (formulas.md 5.1).
constexpr bool is_public(Algorithm algorithm) {
    return algorithm == Algorithm::within_domain || algorithm == Algorithm::profile ||
           algorithm == Algorithm::approved || is_selected(algorithm);
}

// Under which preference a question is asked.
struct Terms {
    Algorithm algorithm;
    privacy::Mechanism mechanism;
    double tau;
    double tau_var;               // of algorithms that select; times the weight
    privacy::Epsilon epsilon_svt; // likewise: what the selection costs
    double weight;                // clipped to the policy's range
    privacy::Delta delta;         // the policy's
    const std::vector<privacy::Epsilon> *candidates;
    bool has_epsilon_max, has_requested, has_share;
    bool pure_share; // the policy has a risk profile
    privacy::Epsilon epsilon_max, requested, share;
    privacy::Epsilon profile; // what the policy's risk profile allows; 0 without one
    const char *grantee;      // null: the controller's own call
    Oid grantee_oid;
    // Asked by accuracy (release/refine).
    privacy::Wanted wanted;
    privacy::Epsilon epsilon_min;        // the policy's: the least that a single charge comes to
    const privacy::BoundSettings *bound; // of the table, where the way depends on it; else null
    privacy::Rho rho;                    // above 0: one Gaussian measurement, for at most this
    const Replay *replay;                // the answer is to be stored, or was; null: neither
    // Preferences about the rows themselves.
    bool exact;                    // the exact expectation in place of its bound
    const char *group_a, *group_b; // canonical conditions of the people whose risks are compared; null: everybody's
    const Decision *decision;      // of somebody else, who permits it; null: who asks has a policy that does
    bool sighted;                  // he may have decided in sight of the rows
    bool hide;                     // rows of noise are left out
};

// Whether charge and answer happen, and at which price, whatever the rows are (formulas.md 4.4): else the charge is kept apart.
constexpr bool is_public(const Terms &terms) {
    return is_public(terms.algorithm) && !terms.sighted;
}

// Terms of an analyst's policy. `requested` asks for less; null: not asked. 22023 when it is less than the policy's minimum.
Terms terms_of(const catalog::Policy &policy, const privacy::Epsilon *requested, double weight);

// What an answer was charged.
struct Paid {
    privacy::Epsilon epsilon;   // its noise; 0: it is charged in rho alone
    privacy::Epsilon selection; // of epsilon; 0 when nothing was tested
    privacy::Rho rho;           // of its noise; 0 of a round of Laplace noise
};

// Why an answer is less accurate than asked for.
enum class Short : char { not_at_all, ceiling, denied, stopped };

// How an answer that was asked by accuracy was reached.
struct Reached {
    bool asked;
    int steps; // charges
    Short how;
};

// What dp_refine goes on from: public, like the answer. Null text: it does not.
struct Refinable {
    const char *mean;   // RunningMean::text()
    privacy::Rho asked; // of what was measured last, in all
    uint64 versions;    // hash of versions_of the settings
    uint64 public_rows; // rows::hash_of_public_rows()
};

// Counts the numbers of an output, and those of them that tell nothing: a count or sum within error95 of 0, an average whose interval
// is wider than half of its bounds.
struct Seen {
    int64 numbers, noise;
    double largest; // distance of a count or sum from 0
};

// Kinds of NOTICEs about an answer. A rank that means nothing is noise.
enum Notice { notice_noise, notice_withheld, notice_null, notice_clipped, notice_dates, nnotices };

// Holds what is said of an answer: it follows from noisy numbers, half-widths and declarations alone (formulas.md 4.7).
struct Judged {
    Seen *seen;                  // of each output; null: nothing is judged
    int64 rows, hidden;          // before dp_rdr.noise left some out, and those
    const char *texts[nnotices]; // null: there is nothing to say
};

// What is public of an answer besides its rows.
struct Facts {
    Algorithm algorithm;
    privacy::Mechanism mechanism;
    Paid paid;
    privacy::Delta delta;
    bool thresholded;
    bool of_people; // the threshold is on a number of units that may have several rows
    int64 threshold; // that the noisy number of rows of a group must reach to appear; 0: all groups do
    int noutputs;    // of the leaf
    double *error95; // of each output; of an average where it is least accurate; NaN: a key
    Reached reached;
    Refinable refinable;
    bool uncharged; // given again, or public: nothing was drawn for it
    Judged judged;
};

struct Answer {
    Facts facts;
    Tuplestorestate *rows; // outputs of the leaf, in canonical key order; can be read again
    TupleDesc desc;
    const catalog::Storing *storing; // to be stored before the first row leaves; or null
};

// What costs nothing, and reads no row: an answer that was paid (terms.replay has a past), and the declared groups of a question
// without an aggregate.
Answer give_again(const rows::Question *question, const Terms &terms);
Answer list_groups(const rows::Question *question, const Terms &terms);

// Answers a prepared question of the owner's, in this process. Errors: 53400 "query denied"; 55000 (see catalog/ledger.hpp); 55000 "the query failed".
Answer answer(const rows::Question *question, const Terms &terms);

} // namespace dp::release
