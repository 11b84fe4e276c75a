#include "bounds.hpp"

#include <cmath>

#include <boost/math/special_functions/beta.hpp>

namespace audit {

double probability_lower(std::uint64_t hits, std::uint64_t n, double alpha) {
    if (hits == 0)
        return 0;
    if (hits == n)
        return std::exp(std::log(alpha / 2) / static_cast<double>(n));
    return boost::math::ibeta_inv(static_cast<double>(hits), static_cast<double>(n - hits + 1), alpha / 2);
}

// The complement's inverse: 1 - alpha/2 would lose what is left of a small alpha.
double probability_upper(std::uint64_t hits, std::uint64_t n, double alpha) {
    if (hits == n)
        return 1;
    if (hits == 0)
        return -std::expm1(std::log(alpha / 2) / static_cast<double>(n));
    return boost::math::ibetac_inv(static_cast<double>(hits + 1), static_cast<double>(n - hits), alpha / 2);
}

Verdict judge(double p_lower, double p_upper, const Claim &claim) {
    Verdict verdict;
    verdict.p_lower = p_lower;
    verdict.p_upper = p_upper;
    if (p_lower > claim.delta)
        verdict.certified_loss = std::log((p_lower - claim.delta) / p_upper);
    verdict.fail = p_lower > std::exp(claim.epsilon) * p_upper + claim.delta;
    return verdict;
}

Verdict audit_bounds(std::uint64_t hits, std::uint64_t hits_other, std::uint64_t n, const Claim &claim, double alpha) {
    return judge(probability_lower(hits, n, alpha), probability_upper(hits_other, n, alpha), claim);
}

BoundsTable::BoundsTable(std::uint64_t n, double alpha) : n_(n), alpha_(alpha), lower_(n + 1, -1), upper_(n + 1, -1) {}

Verdict BoundsTable::of(std::uint64_t hits, std::uint64_t hits_other, const Claim &claim) {
    double &lower = lower_[hits], &upper = upper_[hits_other];
    if (lower < 0)
        lower = probability_lower(hits, n_, alpha_);
    if (upper < 0)
        upper = probability_upper(hits_other, n_, alpha_);
    return judge(lower, upper, claim);
}

} // namespace audit
