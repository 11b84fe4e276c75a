// A policy by its columns, and what the controller should know when it is granted.
#pragma once

#include "sql/risk_profile.hpp"
#include "sql/setter.hpp"

namespace dp::sql {

// Numbers the columns of a policy, which are the arguments of dp_grant().
enum PolicyOption {
    policy_view,
    policy_grantee,
    policy_tau,
    policy_tau_var,
    policy_selection,
    policy_mechanism,
    policy_delta,
    policy_epsilon_max,
    policy_epsilon_total,
    policy_epsilon_svt,
    policy_candidates,
    policy_weight_min,
    policy_weight_max,
    policy_group_a,
    policy_group_b,
    policy_epsilon_min,
    policy_profile,
    policy_replay,
    policy_on_request,
    npolicy_options
};

const std::vector<privacy::Epsilon> *candidates_of(const Row &policy);
privacy::Epsilon smallest_candidate(const Row &policy);
// Returns the epsilon that a profile allows in total, or epsilon_total beside it, if that is smaller.
privacy::Epsilon share_of(const Row &policy);

// Looks for what lets the role learn more than the policy says, or less.
Reports reports_on_policy(const catalog::Visit &visit, const catalog::Settings *settings, const Row &policy,
                          bool profiled);
// Warns of queries that the policy will deny.
void warn_of_candidates(const Row &policy);
// Warns where answers to the role are not private, or it can read the rows, or lacks rights that queries need.
void warn_of_grantee(const catalog::Settings *settings, const Row &policy);

} // namespace dp::sql
