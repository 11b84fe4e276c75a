#include "privacy/risk.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "privacy/calibration.hpp"
#include "privacy/numbers.hpp"

namespace dp::privacy {

// ---- Candidates and preferences ----

const std::vector<Epsilon> &paper_candidates() {
    static const std::vector<Epsilon> candidates = [] {
        std::vector<Epsilon> list{Epsilon::from_units(10'000'000'000)};
        for (int128 step : {1'000'000'000, 100'000'000, 10'000'000, 1'000'000})
            for (int digit = 9; digit >= 1; --digit)
                list.push_back(Epsilon::from_units(digit * step));
        return list;
    }();
    return candidates;
}

std::vector<Epsilon> checked_candidates(std::vector<Epsilon> candidates) {
    const Epsilon largest = Epsilon::from_units(100'000'000'000);
    if (candidates.empty() || candidates.size() > 64)
        throw InvalidParameter("between 1 and 64 candidates of epsilon are needed");
    std::sort(candidates.begin(), candidates.end(), std::greater<>());
    if (candidates.back() < Epsilon::from_units(1) || candidates.front() > largest)
        throw InvalidParameter("candidates of epsilon must be between 0.000000001 and 100");
    if (std::adjacent_find(candidates.begin(), candidates.end()) != candidates.end())
        throw InvalidParameter("candidates of epsilon must be different");
    return candidates;
}

void check_tau(double tau) {
    if (!(tau >= 0 && tau <= 1)) // false for NaN
        throw InvalidParameter("tau must be between 0 and 1");
}

// ---- Find-epsilon ----

std::optional<Epsilon> largest_candidate(const std::vector<Epsilon> &candidates, double limit, double slack) {
    std::optional<Epsilon> largest;
    for (Epsilon candidate : candidates)
        if (candidate.value() <= limit * (1 + slack) && (!largest || candidate > *largest))
            largest = candidate;
    return largest;
}

double analytic_eps_star(double sigma, double sensitivity, double delta) {
    const double a = sensitivity / sigma;
    if (delta_balle_wang(0, sigma, sensitivity) <= delta)
        return 0;
    // So little noise that eps exceeds 10^6, where delta_BW is a difference of numbers of the size of e^eps. The root is
    // a^2/2 + a Phi^-1(1 - delta) or more, and Phi^-1(1 - delta) > -9 for every delta below 1 in double precision.
    if (!(a < 2048))
        return a * (a / 2 - 9);
    double high = 1;
    while (delta_balle_wang(high, sigma, sensitivity) > delta)
        high *= 2;
    const auto too_low = [&](double eps) { return delta_balle_wang(eps, sigma, sensitivity) >= delta; };
    return halved(high == 1 ? 0 : high / 2, high, 64, too_low).low;
}

// ---- The analyst's price ----

static void check_price(double tau, double weight, int k1, int m) {
    check_tau(tau);
    if (!(weight > 0) || std::isinf(weight))
        throw InvalidParameter("weight must be a number greater than 0");
    if (k1 < 1 || m < 1)
        throw std::logic_error("a query without a measure has no epsilon");
}

double weighted_tau(double tau, double weight) {
    check_price(tau, weight, 1, 1);
    return tau == 0 ? 0 : tau / (tau + weight * (1 - tau));
}

double within_domain_eps_star(double tau, double weight, int k1, int m) {
    check_price(tau, weight, k1, m);
    if (tau == 0)
        return infinite_epsilon;
    return m * std::asinh(weight * k1 * (1 - tau) / (m * tau)); // 0 for tau = 1
}

double within_domain_eps_star_gaussian(double tau, double weight, int k1, int m, double delta) {
    check_price(tau, weight, k1, m);
    if (!(delta > 0 && delta <= 1))
        throw InvalidParameter("delta must be greater than 0 and at most 1");
    tau = weighted_tau(tau, weight);
    if (tau == 0 || tau == 1)
        return tau == 0 ? infinite_epsilon : 0;
    // The noise that the preference requires, of l2 sensitivity and largest PIS of one record sqrt(m): of m scaled measures.
    const double largest = std::sqrt(m);
    const double sigma = std::sqrt(tau * largest / (k1 * (1 - tau))) * std::sqrt(tau * largest / (1 + tau));
    return analytic_eps_star(sigma, largest, delta);
}

// ---- Profiles ----

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
