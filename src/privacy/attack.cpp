#include "privacy/attack.hpp"

#include <algorithm>
#include <cmath>

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

// Whether the divergence of order alpha = 1 + excess between two answers of a test is larger than rho-zCDP has it.
bool diverges(const Rate &p, const Rate &q, double excess, double rho) {
    const double yes = p.log_yes + excess * (p.log_yes - q.log_yes);
    const double no = p.log_no + excess * (p.log_no - q.log_no);
    return log_sum(yes, no) > excess * (1 + excess) * rho + tolerance * (1 + std::fabs(yes) + std::fabs(no));
}

// Does the same at order 1, the limit.
bool diverges_at_one(const Rate &p, const Rate &q, double rho) {
    const double yes = p.yes * (p.log_yes - q.log_yes), no = (1 - p.yes) * (p.log_no - q.log_no);
    return yes + no > rho + tolerance * (1 + std::fabs(yes) + std::fabs(no));
}

// Any choice of orders gives a bound; these are dense enough for the best one.
bool is_impossible(const Rate &present, const Rate &absent, double rho) {
    if (diverges_at_one(present, absent, rho) || diverges_at_one(absent, present, rho))
        return true;
    for (double t = -8; t <= 22; t += 0.3) {
        const double excess = std::exp(t);
        if (diverges(present, absent, excess, rho) || diverges(absent, present, excess, rho))
            return true;
    }
    return false;
}

constexpr int halvings = 60;

// The largest true-positive rate under rho-zCDP, up to rounding upwards.
double tpr_of_rho(double rho, double fpr) {
    if (rho <= 0 || fpr <= 0 || fpr >= 1)
        return std::clamp(fpr, 0.0, 1.0);
    const Rate absent(fpr);
    double possible = fpr, impossible = 1;
    for (int i = 0; i < halvings; ++i) {
        const double middle = 0.5 * (possible + impossible);
        (is_impossible(Rate(middle), absent, rho) ? impossible : possible) = middle;
    }
    return impossible;
}

double rounded_up(double rate) {
    return rate > 0 ? std::min(1.0, rate * (1 + 1e-12) + 1e-15) : 0;
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
    double low = 0, high = 0.5;
    for (int i = 0; i < halvings; ++i) {
        const double middle = 0.5 * (low + high);
        const double hits = 1 - middle - loss.delta, alarms = std::exp(loss.epsilon) * middle;
        (hits > alarms && is_impossible(Rate(hits), Rate(alarms), loss.rho) ? low : high) = middle;
    }
    return rounded_up(1 - 2 * low);
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

double largest_hit_rate(double tpr, double fpr, double prior) {
    const double hits = prior * tpr, alarms = (1 - prior) * fpr;
    return hits > 0 ? rounded_up(hits / (hits + alarms)) : 0;
}

} // namespace dp::privacy
