#include "privacy/personal_loss.hpp"

#include <algorithm>

#include "privacy/zcdp.hpp"

namespace dp::privacy {

Charged operator+(const Charged &a, const Charged &b) {
    return {a.epsilon + b.epsilon,           a.rho_of_pure + b.rho_of_pure,
            a.half_squares + b.half_squares, a.rho + b.rho,
            a.delta_groups + b.delta_groups, a.conditional + b.conditional,
            a.answers + b.answers};
}

void add_charged(PersonLoss *loss, const Charged &charged, const Share &share, std::size_t measures) {
    if (share.mean <= 0)
        return;
    const double squares = charged.half_squares > 0 ? charged.half_squares * share.square / static_cast<double>(measures) : 0;
    loss->epsilon += charged.epsilon * share.mean;
    loss->rho += charged.rho * share.square + std::min(charged.rho_of_pure * share.mean, squares);
    loss->delta += charged.delta_groups;
    loss->conditional += charged.conditional * share.mean;
    loss->answers += charged.answers;
}

void add_loss(PersonLoss *loss, const PersonLoss &more) {
    loss->epsilon += more.epsilon;
    loss->rho += more.rho;
    loss->delta += more.delta;
    loss->conditional += more.conditional;
    loss->answers += more.answers;
}

double epsilon_of_loss(const PersonLoss &loss, double delta, double target) {
    if (loss.rho <= 0)
        return loss.epsilon;
    constexpr int targets = 8;
    double least = eps_anytime(loss.rho, delta / 2, target);
    for (int k = 1; k < targets; ++k) {
        target /= 4;
        delta /= 2;
        least = std::min(least, eps_anytime(loss.rho, delta / 2, target));
    }
    return loss.epsilon + least;
}

} // namespace dp::privacy
