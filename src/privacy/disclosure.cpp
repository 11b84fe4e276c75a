#include "privacy/disclosure.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "privacy/enum_names.hpp"
#include "privacy/noise.hpp"

namespace dp::privacy {

namespace {
constexpr double infinite = std::numeric_limits<double>::infinity();

// p (1-q) or 1-p as they weigh against p q: the three things that can be the case.
struct Weights {
    double sensitive, harmless, absent;
};
Weights weights(Prior prior) {
    return {prior.both(), prior.p * (1 - prior.q), 1 - prior.p};
}
} // namespace

double largest_epsilon(Prior prior, double allowed) {
    double c = 1 / allowed - prior.both();
    if (allowed > 0 && c <= 0)
        return infinite;
    c += 4e-16 / allowed; // what rounding may have taken away, where the two are close
    const Weights w = weights(prior);
    const double divisor = w.absent + std::sqrt(w.absent * w.absent + 4 * w.harmless * c);
    const double u = 2 * c / divisor;
    return allowed > 0 && divisor > 0 && u < 1 ? -std::log(u) : 0;
}

PosteriorRange posterior_range(double epsilon, Prior prior) {
    const Weights w = weights(prior);
    // Not 0 times infinity, for an epsilon without bound.
    const auto times = [](double weight, double factor) { return weight > 0 ? weight * factor : 0; };
    const auto posterior = [&](double e) {
        return w.sensitive / (w.sensitive + times(w.harmless, std::exp(-2 * e)) + times(w.absent, std::exp(-e)));
    };
    return {posterior(-epsilon), posterior(epsilon)};
}

// ---- closed forms --------------------------------------------------------------------------------------------------

static Binding at(Prior prior, double allowed) {
    return {largest_epsilon(prior, allowed), prior};
}

static Binding smaller(const Binding &a, const Binding &b) {
    return b.epsilon < a.epsilon ? b : a;
}

static Binding binding_of_points(const RiskProfile &profile) {
    Binding least;
    for (const AllowedRisk &point : profile.points)
        least = smaller(least, at(point.prior, point.relative));
    return least;
}

// Up to p0 the posterior a is allowed, and epsilon falls with p; from p0 on the relative risk r, and it has no minimum inside.
static Binding binding_of_inclusion(double a, double r, double f) {
    const double p0 = a / (f * r);
    if (p0 > 1)
        return at({1, f}, a / f);
    // (12) at p0 without the difference 1/r - p0 f, which loses digits where a is close to 1.
    const double c = (1 - a) / r, absent = 1 - p0;
    const double u = 2 * c / (absent + std::sqrt(absent * absent + 4 * p0 * (1 - f) * c));
    return smaller({u < 1 ? -std::log(u) : 0, {p0, f}}, at({1, f}, r));
}

// Does the same in q, where epsilon rises from q0 on.
static Binding binding_of_value(double a, double r, double f) {
    const double q0 = a / (f * r);
    if (q0 > 1)
        return at({f, 1}, a / f);
    const double c = (1 - a) / r, absent = 1 - f;
    const double u = 2 * c / (absent + std::sqrt(absent * absent + 4 * (f - a / r) * c));
    return {u < 1 ? -std::log(u) : 0, {f, q0}};
}

Binding binding_of(const RiskProfile &profile) {
    const double r = profile.relative, a = profile.absolute;
    switch (profile.kind) {
    case ProfileKind::constant:
        return {std::log(r) / 2, {1, 0}};
    case ProfileKind::inclusion:
        return binding_of_inclusion(a, r, profile.fixed);
    case ProfileKind::value:
        return binding_of_value(a, r, profile.fixed);
    case ProfileKind::both:
        return {std::log((r - a) / (1 - a)) / 2, {1, a / r}};
    case ProfileKind::difference:
        return {std::log1p(a) - std::log1p(-a), {1, (1 - a) / 2}};
    case ProfileKind::points:
        return binding_of_points(profile);
    case ProfileKind::attack: // everybody is allowed what the epsilon gives
        return {target_epsilon(profile.target, 0), {0.5, 1}};
    }
    throw std::logic_error("no kind of risk profile");
}

double allowed_risk(const RiskProfile &profile, Prior prior) {
    const double by_posterior = prior.both() > 0 ? profile.absolute / prior.both() : infinite;
    switch (profile.kind) {
    case ProfileKind::constant:
        return profile.relative;
    case ProfileKind::inclusion:
    case ProfileKind::value:
    case ProfileKind::both:
        return profile.absolute > 0 ? std::max(by_posterior, profile.relative) : profile.relative;
    case ProfileKind::difference:
        return 1 + by_posterior;
    case ProfileKind::points:
        for (const AllowedRisk &point : profile.points)
            if (point.prior.p == prior.p && point.prior.q == prior.q)
                return point.relative;
        return infinite;
    case ProfileKind::attack:
        return posterior_range(binding_of(profile).epsilon, prior).most / prior.both();
    }
    throw std::logic_error("no kind of risk profile");
}

std::optional<Epsilon> profile_epsilon(const Binding &binding) {
    if (std::isinf(binding.epsilon))
        return std::nullopt;
    // 10^-13 is more than all roundings above together.
    return Epsilon::from_double(std::max(0.0, binding.epsilon * (1 - 1e-13) - 1e-15), Rounding::down);
}

// ---- what an epsilon costs -----------------------------------------------------------------------------------------

GeometricNoise geometric_noise(double epsilon) {
    const double b = 1 / epsilon;
    return {std::sqrt(discrete_laplace_variance(b)), discrete_laplace_halfwidth(b), discrete_laplace_pmf(b, 0)};
}

double switch_probability(double epsilon, double distance) {
    const double d = std::max(1.0, std::ceil(distance)); // noise is an integer
    return std::exp(-epsilon * d) / (1 + std::exp(-epsilon));
}

double posterior_of_half(double epsilon) {
    return 1 / (1 + std::exp(-epsilon));
}

// ---- names ---------------------------------------------------------------------------------------------------------

std::optional<ProfileKind> profile_kind_from_name(const std::string &name) {
    return value_named(name, ProfileKind::attack);
}

const char *name_of(ProfileKind kind) {
    constexpr const char *names[] = {"constant", "inclusion", "value", "both", "difference", "points", "attack"};
    return names[static_cast<int>(kind)];
}

} // namespace dp::privacy
