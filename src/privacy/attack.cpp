#include "privacy/attack.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "privacy/numbers.hpp"

namespace dp::privacy {

namespace {

// A test and its negation, with their logarithms.
struct Rate {
    double yes, log_yes, log_no;
    explicit Rate(double x) : yes(x), log_yes(std::log(x)), log_no(std::log1p(-x)) {}
};

double log_sum(double a, double b) {
    const double most = std::max(a, b);
    return std::isinf(most) ? most : most + std::log1p(std::exp(std::min(a, b) - most));
}

// Rounding must not forbid what is possible: differences below it count as none.
constexpr double tolerance = 1e-13;
constexpr double infinite = std::numeric_limits<double>::infinity();

// Returns the least rho that has the divergence of order alpha = 1 + excess between two answers of a test, less `slack` for rounding.
double rho_at(const Rate &p, const Rate &q, double excess, double slack) {
    const double yes = p.log_yes + excess * (p.log_yes - q.log_yes);
    const double no = p.log_no + excess * (p.log_no - q.log_no);
    return (log_sum(yes, no) - slack * (1 + std::fabs(yes) + std::fabs(no))) / (excess * (1 + excess));
}

// Does the same at order 1, the limit.
double rho_at_one(const Rate &p, const Rate &q, double slack) {
    const double yes = p.yes * (p.log_yes - q.log_yes), no = (1 - p.yes) * (p.log_no - q.log_no);
    return yes + no - slack * (1 + std::fabs(yes) + std::fabs(no));
}

// Returns the least rho under which a test with these rates is possible, or any above `enough`. Each order gives a bound; these are
// dense enough for the best one.
double least_rho(const Rate &present, const Rate &absent, double slack, double enough) {
    double least = std::max(rho_at_one(present, absent, slack), rho_at_one(absent, present, slack));
    for (double t = -8; t <= 22 && !(least > enough); t += 0.3) {
        const double excess = std::exp(t);
        least = std::max({least, rho_at(present, absent, excess, slack), rho_at(absent, present, excess, slack)});
    }
    return least;
}

bool is_impossible(const Rate &present, const Rate &absent, double rho) {
    return least_rho(present, absent, tolerance, rho) > rho;
}

// Does the inverse: up to what it returns, a test with these rates stays impossible. The slack is more than that above.
double largest_rho(double hits, double alarms) {
    return hits > alarms ? std::max(0.0, least_rho(Rate(hits), Rate(alarms), 4 * tolerance, infinite)) : 0;
}

constexpr int halvings = 60;

// The largest true-positive rate under rho-zCDP, up to rounding upwards.
double tpr_of_rho(double rho, double fpr) {
    if (rho <= 0 || fpr <= 0 || fpr >= 1)
        return std::clamp(fpr, 0.0, 1.0);
    const Rate absent(fpr);
    return halved(fpr, 1, halvings, [&](double tpr) { return !is_impossible(Rate(tpr), absent, rho); }).high;
}

double rounded_up(double rate) {
    return rate > 0 ? std::min(1.0, rate * (1 + 1e-12) + 1e-15) : 0;
}

// Does the inverse, by more.
double rounded_down(double rate) {
    return rate * (1 - 3e-12) - 3e-15;
}

} // namespace

double largest_tpr(const AttackedLoss &loss, double fpr) {
    const double e = std::exp(loss.epsilon), d = loss.delta;
    const double by_false_alarms = d + tpr_of_rho(loss.rho, std::min(1.0, e * fpr));
    const double by_misses = 1 - (1 - tpr_of_rho(loss.rho, std::min(1.0, d + fpr))) / e;
    return std::max(fpr, rounded_up(std::min(by_false_alarms, by_misses)));
}

double largest_advantage(const AttackedLoss &loss) {
    if (loss.rho <= 0)
        return rounded_up(std::tanh(loss.epsilon / 2) + loss.delta * (1 - std::tanh(loss.epsilon / 2)));
    // The rates of a test and of its mirror image (the roles of presence and absence exchanged) lie symmetrically, and the curve
    // is concave: the difference is largest where false alarms are as frequent as misses. There both bounds above say the same.
    const auto too_few = [&](double misses) {
        const double hits = 1 - misses - loss.delta, alarms = std::exp(loss.epsilon) * misses;
        return hits > alarms && is_impossible(Rate(hits), Rate(alarms), loss.rho);
    };
    return rounded_up(1 - 2 * halved(0, 0.5, halvings, too_few).low);
}

double largest_tpr(const std::vector<AttackedLoss> &losses, double fpr) {
    double least = 1;
    for (const AttackedLoss &loss : losses)
        least = std::min(least, largest_tpr(loss, fpr));
    return least;
}

double largest_advantage(const std::vector<AttackedLoss> &losses) {
    double least = 1;
    for (const AttackedLoss &loss : losses)
        least = std::min(least, largest_advantage(loss));
    return least;
}

double target_epsilon(const AttackTarget &target, double delta) {
    if (target.advantage > 0)
        return 2 * std::atanh((rounded_down(target.advantage) - delta) / (1 - delta));
    const double tpr = rounded_down(target.tpr);
    if (tpr <= delta + target.fpr)
        return 0;
    return std::max(std::log((tpr - delta) / target.fpr), std::log((1 - delta - target.fpr) / (1 - tpr)));
}

double target_rho(const AttackTarget &target, double epsilon, double delta) {
    const double e = std::exp(epsilon);
    double rho;
    if (target.advantage > 0) {
        const double alarms = (1 - rounded_down(target.advantage)) / 2;
        rho = largest_rho(1 - alarms - delta, e * alarms);
    } else {
        const double tpr = rounded_down(target.tpr);
        rho = std::max(largest_rho(tpr - delta, e * target.fpr), largest_rho(1 - e * (1 - tpr), delta + target.fpr));
    }
    return rho * (1 - 1e-12);
}

double largest_hit_rate(double tpr, double fpr, double prior) {
    const double hits = prior * tpr, alarms = (1 - prior) * fpr;
    return hits > 0 ? rounded_up(hits / (hits + alarms)) : 0;
}

} // namespace dp::privacy
