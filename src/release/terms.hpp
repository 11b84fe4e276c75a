// Terms under which a question is asked, and who gave them.
#pragma once

#include "privacy/refinement.hpp"

#include "catalog/ledger.hpp"
#include "rows/question.hpp"

namespace dp::release {

struct Replay;

// Holds what an approver says, as it travels. His role comes with the slot.
struct Approval {
    int64 request;
    bool has_tau, has_tau_var, has_epsilon;
    double tau, tau_var;
    privacy::Epsilon epsilon;
    bool within_data; // the selection that he names
    bool is_public;   // he declares that he has not looked
    bool in_sight;    // or that he has
    bool hold;        // the answer is for him first
};

// Says what it comes to, for this request and this approver.
struct Decision {
    int64 request;
    const char *approver; // his name
    bool by_owner;        // otherwise by a reviewer
    bool sighted;         // basis: rows
    int64 parent;         // of a signal: the request whose answer it goes on from; else 0
    const char *task;     // likewise
    Approval approval;
};

inline const char *basis_name(bool sighted) {
    return sighted ? "rows" : "public";
}

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
    privacy::Caps caps;
    const char *grantee;      // null: the controller's own call
    Oid grantee_oid;
    // Asked by accuracy (release/refinement_steps).
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

// Holds what a preference permits.
struct Permitted {
    double eps_star; // 0: no epsilon meets the preference; infinite: every one does
    double slack;    // relative, on eps_star
};

} // namespace dp::release
