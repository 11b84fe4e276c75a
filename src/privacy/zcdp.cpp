#include "privacy/zcdp.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "privacy/exact.hpp"
#include "privacy/enum_names.hpp"
#include "privacy/renyi.hpp"

namespace dp::privacy {

namespace {

// 50 digits: every number below is wrong by less than 10^-35, and is moved to the safe side by 10^-20 before it is rounded.
using Real = boost::multiprecision::cpp_bin_float_50;

const Real &margin() {
    static const Real value("1e-20");
    return value;
}

template <int Places> Real power_of_ten() {
    Real power = 1;
    for (int i = 0; i < Places; ++i)
        power *= 10;
    return power;
}

template <int Places> Real real(Decimal<Places> x) {
    return Real(exact::integer(x.units())) / power_of_ten<Places>();
}

// x is within +-10^20.
template <int Places> Decimal<Places> to_decimal(const Real &units) {
    const exact::cpp_int integer = units.convert_to<exact::cpp_int>();
    return Decimal<Places>::from_units(static_cast<int128>(integer.convert_to<__int128>()));
}

template <int Places> Decimal<Places> rounded_up(const Real &x) {
    return to_decimal<Places>(ceil(x * power_of_ten<Places>() + margin()));
}

// A cap below zero allows nothing, as zero does.
template <int Places> Decimal<Places> rounded_down(const Real &x) {
    return to_decimal<Places>(floor(std::max(x * power_of_ten<Places>() - margin(), Real(0))));
}

Real log_inverse(Delta delta) {
    if (delta.units() <= 0)
        throw std::out_of_range("delta must be above 0");
    return -log(real(delta));
}

Real classic_cap(const Real &epsilon, const Real &log_inverse_delta) {
    const Real root = epsilon / (sqrt(log_inverse_delta + epsilon) + sqrt(log_inverse_delta));
    return root * root;
}

// ---- bounds that hold at all times ----

template <class Number> Number linear(const Number &rho, const Number &log_inverse_delta, const Number &target) {
    const Number lambda = sqrt(log_inverse_delta / target);
    return rho * (1 + lambda) + log_inverse_delta / lambda;
}

template <class Number> Number mixture(const Number &rho, const Number &log_inverse_delta, const Number &target) {
    const Number c = 2 * log_inverse_delta, gamma = 2 * target / (c + log_1p(c)), width = 2 * rho + gamma;
    return rho + sqrt(width * (c + log(width / gamma)));
}

void check_target(Rho target) {
    if (target.units() <= 0)
        throw std::out_of_range("the target must be above 0");
}

} // namespace

namespace {
struct PureCharge {
    Epsilon epsilon;
    std::size_t parts = 0;
    Rho rho;
};

Rho computed_rho(Epsilon epsilon, std::size_t parts) {
    const Real x = real(epsilon), u = exp(-x / parts);
    return rounded_up<15>(x * (1 - u) / (1 + u)); // = x tanh(x/2m)
}
} // namespace

Rho rho_of_pure(Epsilon epsilon, std::size_t parts) {
    if (epsilon.units() < 0 || epsilon.units() > int128{100} * 1000000000)
        throw std::out_of_range("epsilon is outside 0 to 100");
    if (epsilon.units() == 0)
        return {};
    // 50 digits take longer than all else that a charge computes, and few amounts come again and again.
    static thread_local PureCharge known[61];
    PureCharge &charge = known[static_cast<std::size_t>(epsilon.units() % 61)];
    if (charge.epsilon != epsilon || charge.parts != parts)
        charge = {epsilon, parts, computed_rho(epsilon, parts)};
    return charge.rho;
}

Rho rho_cap(Epsilon epsilon, Delta delta, Cap cap) {
    const Real l = log_inverse(delta), e = real(epsilon);
    if (epsilon.units() <= 0)
        return {};
    const Real classic = classic_cap(e, l);
    if (cap == Cap::classic)
        return rounded_down<15>(classic);
    const double e_double = e.convert_to<double>(), l_double = l.convert_to<double>();
    const double order = best_order([&](double t) { return cap_at(std::exp(t), e_double, l_double); });
    return rounded_down<15>(std::max(classic, cap_at(Real(order), e, l)));
}

Epsilon eps_from_rho(Rho rho, Delta delta) {
    const Real l = log_inverse(delta), r = real(rho);
    if (rho.units() <= 0)
        return {};
    const double r_double = r.convert_to<double>(), l_double = l.convert_to<double>();
    const double order = best_order([&](double t) { return -epsilon_at(std::exp(t), r_double, l_double); });
    return rounded_up<9>(std::max(epsilon_at(Real(order), r, l), Real(0)));
}

Epsilon eps_anytime(Rho rho, Delta delta, Rho target) {
    check_target(target);
    if (rho.units() <= 0)
        return {}; // nothing was charged, nothing is lost
    const Real l = log_inverse(delta) + log(Real(2)), r = real(rho), t = real(target);
    return rounded_up<9>(std::min(linear(r, l, t), mixture(r, l, t)));
}

double eps_anytime(double rho, double delta, double target) {
    const double l = std::log(2 / delta);
    return std::min(linear(rho, l, target), mixture(rho, l, target));
}

std::optional<Cap> cap_from_name(const std::string &name) {
    return value_named(name, Cap::classic);
}

const char *name_of(Cap cap) {
    return cap == Cap::tight ? "tight" : "classic";
}

} // namespace dp::privacy
