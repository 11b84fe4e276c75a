#include "privacy/personal_loss.hpp"

#include <algorithm>

#include "privacy/zcdp.hpp"

namespace dp::privacy {

void add(PartsOfLoss *loss, const PartsOfLoss &more) {
    for (std::size_t i = 0; i < loss_parts; ++i)
        loss->of[i] += more.of[i];
}

void add_charged(PersonLoss *loss, const Charged &charged, const Share &share, std::size_t measures) {
    if (share.mean <= 0)
        return;
    for (const LossPart part : {loss_epsilon, loss_pure, loss_conditional})
        loss->of[part] += charged.of[part] * share.mean;
    for (const LossPart part : {loss_groups, loss_answers})
        loss->of[part] += charged.of[part];
    loss->of[loss_rho] += charged.of[loss_rho] * share.square;
    loss->of[loss_of_pure] += std::min(charged.of[loss_of_pure] * share.mean,
                                       charged.of[loss_squares] * share.square / static_cast<double>(measures));
}

// Eight targets, each with its part of delta.
static double anytime(double rho, LossTerms terms) {
    constexpr int targets = 8;
    double least = eps_anytime(rho, terms.delta / 2, terms.target);
    for (int k = 1; k < targets; ++k) {
        terms = {terms.delta / 2, terms.target / 4};
        least = std::min(least, eps_anytime(rho, terms.delta / 2, terms.target));
    }
    return least;
}

LossBound bound_of_loss(const PersonLoss &loss, const LossTerms &terms) {
    const double rho = loss.of[loss_rho] + loss.of[loss_of_pure], pure = loss.of[loss_pure];
    const double in_rho = rho > 0 ? anytime(rho, terms) : 0;
    if (loss.of[loss_rho] <= 0 && pure <= in_rho) // all of it has a bound in epsilon
        return {loss.of[loss_epsilon] + pure, loss.of[loss_groups]};
    return {loss.of[loss_epsilon] + in_rho, loss.of[loss_groups] + (rho > 0 ? terms.delta : 0)};
}

} // namespace dp::privacy
