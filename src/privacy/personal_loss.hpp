// Adds up what answers can have told about one person (formulas.md 5.8): at most, and from the ledger alone.
#pragma once

#include <cstddef>

namespace dp::privacy {

// Sums over the charges of equal questions with one kind of noise; and what of them one person bears.
enum LossPart : std::size_t {
    loss_epsilon, // of Laplace noise, on the basis epsilon
    loss_pure,    // what Laplace noise on the basis rho is in epsilon,
    loss_squares, // half of the squares of that,
    loss_of_pure, // and its rho
    loss_rho,     // of Gaussian noise
    loss_groups,  // delta of groups that nobody declared
    loss_conditional, // epsilon of the conditional account
    loss_answers,
    loss_parts
};
struct PartsOfLoss {
    double of[loss_parts] = {};
};
using Charged = PartsOfLoss;
using PersonLoss = PartsOfLoss;
void add(PartsOfLoss *loss, const PartsOfLoss &more);

// Says how much of a charge one person bears, 0 to 1 each: over the measures the mean of norm / D, and of its square. The norm is l1
// under Laplace noise; the square is of the l2 norm under Gaussian noise.
struct Share {
    double mean = 0, square = 0;
};

// Adds the person's part of charges. measures: of the question, at least 1.
void add_charged(PersonLoss *loss, const Charged &charged, const Share &share, std::size_t measures);

// Says what rho is converted with: a delta and a target, both above 0.
struct LossTerms {
    double delta, target;
};
struct LossBound {
    double epsilon, delta;
};
// Returns what such a loss comes to at any time.
LossBound bound_of_loss(const PersonLoss &loss, const LossTerms &terms);

} // namespace dp::privacy
