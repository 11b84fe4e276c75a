// Adds up what answers can have told about one person (formulas.md 5.8): at most, and from the ledger alone.
#pragma once

#include <cstddef>

namespace dp::privacy {

// Holds the sums over the charges of equal questions with one kind of noise.
struct Charged {
    double epsilon = 0;      // of Laplace noise, on the basis epsilon
    double rho_of_pure = 0;  // of Laplace noise, on the basis rho,
    double half_squares = 0; // and half of the squares of what these are in epsilon; infinite where that is not known
    double rho = 0;          // of Gaussian noise
    double delta_groups = 0;
    double conditional = 0; // epsilon of the conditional account
    double answers = 0;
};
Charged operator+(const Charged &a, const Charged &b);

// Says how much of a charge one person bears, 0 to 1 each: over the measures the mean of norm / D, and of its square. The norm is l1
// under Laplace noise; the square is of the l2 norm under Gaussian noise.
struct Share {
    double mean = 0, square = 0;
};
constexpr Share whole_share = {1, 1};

struct PersonLoss {
    double epsilon = 0, rho = 0, delta = 0, conditional = 0, answers = 0;
};
// Adds the person's part of charges. measures: of the question, at least 1.
void add_charged(PersonLoss *loss, const Charged &charged, const Share &share, std::size_t measures);
void add_loss(PersonLoss *loss, const PersonLoss &more);

// Returns the epsilon that such a loss comes to at any time, but for an event of probability delta (and of the groups'). target > 0: of
// the odometer.
double epsilon_of_loss(const PersonLoss &loss, double delta, double target);

} // namespace dp::privacy
