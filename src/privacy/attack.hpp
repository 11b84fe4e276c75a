// How good the best attack on what was charged can be: whoever says of a person, from all answers, "is in the table", is right
// for those who are (the true-positive rate) not much more often than wrong for those who are not (formulas.md 7.4).
#pragma once

#include <vector>

namespace dp::privacy {

// One way to look at a set of charges: a pure part and a part in rho, which hold together but for an event of probability delta.
struct AttackedLoss {
    double epsilon = 0, rho = 0, delta = 0;
};

// The largest true-positive rate of any test whose false-positive rate is `fpr`. At rho 0 exact: the geometric mechanism attains
// it at its corner. Rounded up.
double largest_tpr(const AttackedLoss &loss, double fpr);
// The largest difference of the two rates, whatever the false-positive rate.
double largest_advantage(const AttackedLoss &loss);
// Each of several ways to look at the same charges is a bound; so is the smallest.
double largest_tpr(const std::vector<AttackedLoss> &losses, double fpr);
double largest_advantage(const std::vector<AttackedLoss> &losses);

// Holds what no attack may exceed: the advantage, or else the true-positive rate at a false-positive rate.
struct AttackTarget {
    double advantage = 0, tpr = 0, fpr = 0;
};
// Return the largest epsilon, and the largest rho beside a pure part, at which largest_advantage() or largest_tpr() stay within the
// target where `delta` is spent as well. 0, or less: none does.
double target_epsilon(const AttackTarget &target, double delta);
double target_rho(const AttackTarget &target, double epsilon, double delta);

// Returns the largest share of people who are in the table among those of whom a test with these rates says so. prior: the share
// among all who are tested.
double largest_hit_rate(double tpr, double fpr, double prior);

} // namespace dp::privacy
