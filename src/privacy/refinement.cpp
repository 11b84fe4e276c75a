#include "privacy/refinement.hpp"

#include <algorithm>
#include <cmath>

namespace dp::privacy {

namespace {

const Rho smallest_look =
    Rho::from_units(1000000000);               // 10^-6: the noise of a first look has a standard deviation of 707
const double least_growth = std::pow(2, 0.25); // of rho from one look to the next
constexpr double least_gain = 1000;            // what is left of a ceiling by rounding is not worth a look
constexpr double largest_rho = 1e7;            // beyond every ceiling, and within what a decimal reads

bool has_relative_error(const Wanted &wanted, double value, double sd) {
    return wanted.deviations * sd * (1 + *wanted.within) < std::fabs(value) * *wanted.within;
}

// The smallest decimal from `first` to `last` with a property that larger ones have too; none if the last one lacks it.
template <class Number, class Has> std::optional<Number> smallest(Number first, Number last, Has has) {
    if (first > last || !has(last))
        return std::nullopt;
    while (first < last) {
        const Number middle = Number::from_units(first.units() + (last - first).units() / 2);
        if (has(middle))
            last = middle;
        else
            first = Number::from_units(middle.units() + 1);
    }
    return last;
}

} // namespace

bool accurate(const Wanted &wanted, double value, double sd, double halfwidth) {
    return !wanted.asked() || (wanted.within && has_relative_error(wanted, value, sd)) ||
           (wanted.error95 && halfwidth <= *wanted.error95);
}

double wanted_stddev(const Wanted &wanted, double value, double sd, double of_error95) {
    double result = wanted.error95 ? std::max(0.0, of_error95) : 0;
    if (wanted.within)
        result =
            std::max(result, (std::fabs(value) + 2 * sd) * (*wanted.within / (1 + *wanted.within)) / wanted.deviations);
    return result;
}

Rho first_rho(Rho ceiling) {
    return std::min(smallest_look, ceiling);
}

Rho next_rho(Rho rho, Rho ceiling, double sd, double wanted) {
    const double ratio = sd / wanted, next = rho.value() * std::max(least_growth, ratio * ratio);
    if ((ceiling - rho).value() * least_gain < rho.value())
        return rho;
    if (!(wanted > 0) || !(next < largest_rho))
        return ceiling;
    return std::min(ceiling, Rho::from_double(next, Rounding::up));
}

std::optional<Epsilon> epsilon_for_error(Mechanism mechanism, const LeafNoise &leaf, Delta delta, Epsilon least,
                                         Epsilon most, const Suffices &suffices) {
    return smallest(std::max(least, Epsilon::from_units(1)), most, [&](Epsilon epsilon) {
        return suffices(plan_release(mechanism, leaf.measures, leaf.thresholded, epsilon, delta));
    });
}

std::optional<Rho> rho_for_error(const LeafNoise &leaf, Delta delta, Rho least, Rho most, const Suffices &suffices) {
    return smallest(std::max(least, least_rho(leaf.measures.size())), most,
                    [&](Rho rho) { return suffices(plan_measurement(leaf.measures, leaf.thresholded, rho, delta)); });
}

} // namespace dp::privacy
