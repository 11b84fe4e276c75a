#include "privacy/risk.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace dp::privacy {

void Moments::add(long double value, std::int64_t weight) {
    if (weight <= 0)
        return;
    n_ += weight;
    const long double before = value - mean_;
    mean_ += before * weight / n_;
    squares_ += weight * before * (value - mean_);
}

void PisProfile::add(double pis, std::int64_t individuals) {
    if (individuals <= 0)
        return;
    // A NaN would break the order, and with it minimum and maximum.
    if (!(pis >= 0) || std::isinf(pis))
        throw std::logic_error("a per-instance sensitivity must be a number of at least 0");
    min_ = empty() ? pis : std::min(min_, pis);
    max_ = empty() ? pis : std::max(max_, pis);
    moments_.add(pis, individuals);
    if (keep_ == Keep::range)
        return;
    added_.emplace_back(pis, individuals);
    if (added_.size() > 2 * settled_ + 1024)
        settle();
}

void PisProfile::settle() const {
    if (settled_ == added_.size())
        return;
    std::sort(added_.begin(), added_.end());
    std::size_t n = 0;
    for (std::size_t i = 1; i < added_.size(); ++i)
        if (added_[i].first == added_[n].first)
            added_[n].second += added_[i].second;
        else
            added_[++n] = added_[i];
    added_.resize(n + 1);
    settled_ = added_.size();
}

const std::vector<std::pair<double, std::int64_t>> &PisProfile::values() const {
    if (keep_ == Keep::range)
        throw std::logic_error("a profile without values was asked for them");
    settle();
    return added_;
}

// No default for an empty profile: with p_max = 0 every epsilon would pass.
static void check_not_empty(const PisProfile &profile) {
    if (profile.empty())
        throw std::logic_error("an empty table has no disclosure risk");
}

double PisProfile::min() const {
    check_not_empty(*this);
    return min_;
}
double PisProfile::max() const {
    check_not_empty(*this);
    return max_;
}

double PisProfile::lower_median() const {
    check_not_empty(*this);
    const std::int64_t half = (individuals() + 1) / 2;
    std::int64_t so_far = 0;
    for (const auto &[pis, individuals] : values())
        if ((so_far += individuals) >= half)
            return pis;
    return max();
}

double rdr_of(double pis, Mechanism mechanism, double noise) {
    // hypot: squares of sums on wide columns leave the range of double.
    return mechanism == Mechanism::laplace ? pis + noise : std::hypot(pis, std::sqrt(noise));
}

// The variance of RDR_i / rdr_max equals that of 1 - RDR_i / rdr_max, which keeps its digits when all ratios are near 1.
// long double: its range holds the squares.
static long double gaussian_variance(const PisProfile &profile, long double noise, long double rdr_max) {
    const long double pis_max = profile.max();
    Moments moments;
    for (const auto &[pis, individuals] : profile.values()) {
        const long double rdr = std::sqrt(static_cast<long double>(pis) * pis + noise);
        moments.add((pis_max - pis) * (pis_max + pis) / (rdr_max * (rdr_max + rdr)), individuals);
    }
    return moments.variance();
}

RiskRow risk_row(const PisProfile &profile, Mechanism mechanism, Epsilon epsilon, double noise) {
    RiskRow row;
    row.epsilon = epsilon;
    row.rdr_min = rdr_of(profile.min(), mechanism, noise);
    row.rdr_max = rdr_of(profile.max(), mechanism, noise);
    if (row.rdr_max == 0)
        return row;
    row.ratio = row.rdr_min / row.rdr_max;
    const long double scale = row.rdr_max;
    // Laplace: RDR_i is PIS_i plus a constant, so one variance serves all candidates.
    row.variance = static_cast<double>(mechanism == Mechanism::laplace ? profile.variance() / scale / scale
                                                                       : gaussian_variance(profile, noise, scale));
    return row;
}

} // namespace dp::privacy
