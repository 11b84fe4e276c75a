// Measures and the plan of a release. Calibration itself: calibration.cpp.
#include "privacy/mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "privacy/calibration.hpp"
#include "privacy/exact.hpp"
#include "privacy/numbers.hpp"
#include "privacy/wide.hpp"
#include "privacy/zcdp.hpp"

namespace dp::privacy {

namespace {

constexpr int128 epsilon_one = 1000000000;
constexpr int128 largest_epsilon = 100 * epsilon_one;
constexpr std::int64_t rho_one = 1000000000000000;
constexpr std::uint64_t largest_max_groups = 1 << 20;
constexpr std::size_t largest_number_of_measures = 1 << 16; // with largest_sensitivity: t < 2^96 (8.3)

// ---- Measures ----

struct Asked {
    bool count = false, sum = false, avg = false, spread = false, products = false, moments = false, others = false;
    MeasureKind kind() const {
        if ((products || moments) && others)
            throw std::logic_error("what is asked of two columns shares its measure with nothing else");
        if (products || moments)
            return moments ? MeasureKind::moments : MeasureKind::products;
        if (spread)
            return MeasureKind::triple;
        if (avg || (count && sum))
            return MeasureKind::pair;
        return sum ? MeasureKind::sum : MeasureKind::count;
    }
};

Measure &measure_of(std::vector<Measure> &measures, int argument, int filter, bool of_units, bool of_values = false,
                    std::int64_t fraction = -1) {
    for (Measure &m : measures)
        if (m.argument == argument && m.filter == filter && m.of_units == of_units && m.of_values == of_values &&
            m.fraction == fraction)
            return m;
    Measure added;
    added.fraction = fraction;
    added.of_values = of_values;
    added.argument = argument;
    added.filter = filter;
    added.of_units = of_units;
    measures.push_back(added);
    return measures.back();
}

// Returns whether a measure is one that the threshold is compared with: rows, of which a unit has one, or units, each once in every
// group that it may open.
bool counts_records(const Measure &m) {
    return m.kind == MeasureKind::count && m.argument == -1 && m.filter == -1 && m.grain == 1 &&
           m.sensitivity <= (m.of_units ? largest_max_groups : 1);
}

// ---- The plan ----

void check_delta(Delta delta) {
    if (delta < Delta() || delta >= Delta::from_double(1, Rounding::down))
        throw InvalidParameter("delta " + delta.text() + " is out of range: it must be at least 0 and below 1");
}

void check_charge(Mechanism mechanism, bool thresholded, Epsilon epsilon, Delta delta) {
    if (epsilon.units() < 1 || epsilon.units() > largest_epsilon)
        throw InvalidParameter("epsilon " + epsilon.text() +
                               " is out of range: it must be between 0.000000001 and 100");
    check_delta(delta);
    if (mechanism == Mechanism::gaussian && delta == Delta())
        throw InvalidParameter("Gaussian noise needs a delta above 0");
    if (thresholded && delta == Delta())
        throw InvalidParameter("groups that are not declared need a delta above 0");
}

void check_measures(const std::vector<Measure> &measures, bool thresholded) {
    if (measures.empty())
        throw InvalidParameter("the query asks for no aggregate: nothing private would be released");
    if (measures.size() > largest_number_of_measures)
        throw InvalidParameter("the query has " + std::to_string(measures.size()) +
                               " measures: at most 65536 are allowed");
    for (const Measure &measure : measures)
        if (measure.sensitivity < 1 || measure.sensitivity > largest_sensitivity)
            throw InvalidParameter("sensitivity " + std::to_string(measure.sensitivity) +
                                   " is out of range: it must be between 1 and 2^50");
    if (thresholded && !counts_records(measures.front()))
        throw std::logic_error("the first measure of a thresholded leaf is its record count");
}

uint128 greatest_common_divisor(uint128 a, uint128 b) {
    while (b != 0) {
        const uint128 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// rho of one coordinate set: D^2/(2 sigma^2) = D^2 b / (2 a), rounded up.
Rho gaussian_rho(const MeasureNoise &noise) {
    const exact::cpp_int d = noise.sensitivity;
    const exact::cpp_int n = d * d * noise.gaussian.b * rho_one, divisor = 2 * exact::cpp_int(wide(noise.gaussian.a));
    const exact::cpp_int units = (n + divisor - 1) / divisor;
    return Rho::from_units(static_cast<int128>(units.convert_to<unsigned __int128>()));
}

void plan_laplace(ReleasePlan &plan, const std::vector<Measure> &measures) {
    for (const Measure &measure : measures) {
        MeasureNoise noise;
        noise.sensitivity = measure.sensitivity;
        noise.laplace = laplace_scale(uint128{measure.sensitivity} * static_cast<unsigned>(plan.shares), plan.epsilon);
        plan.noise.push_back(noise);
    }
}

// One changed coordinate: calibrated exactly. Several, of one group or because a unit may be in several groups: through zCDP,
// since the scalar formula is not proved for them.
void plan_gaussian(ReleasePlan &plan, const std::vector<Measure> &measures) {
    const double eps = plan.epsilon.value(), delta = plan.delta_noise.value();
    const bool scalar = measures.size() == 1 && !measures.front().has_parts() && measures.front().one_group;
    // A little more than the cap asks for: what double precision may have lost on the way.
    const double scaled = scalar ? 0 : std::sqrt(plan.shares / (2 * rho_cap_tight(eps, delta))) * (1 + 1e-12);
    for (const Measure &measure : measures) {
        MeasureNoise noise;
        noise.mechanism = Mechanism::gaussian;
        noise.sensitivity = measure.sensitivity;
        const double units = static_cast<double>(measure.sensitivity);
        noise.gaussian = scalar ? gaussian_release_sigma(eps, delta, units) : gaussian_scale_up(units * scaled);
        plan.noise.push_back(noise);
    }
}

// d of a release is split between noise and groups where both need some.
void split_delta(ReleasePlan &plan, bool thresholded, Delta delta) {
    if (plan.mechanism == Mechanism::gaussian)
        plan.delta_noise = thresholded ? Delta::from_units(delta.units() / 2) : delta;
    plan.delta_groups = delta_of_groups(plan.mechanism, thresholded, delta);
    if (plan.mechanism == Mechanism::gaussian && plan.delta_noise == Delta())
        throw InvalidParameter("delta " + delta.text() + " is too small to be split between noise and groups");
    plan.delta = plan.delta_noise + plan.delta_groups;
}

// All the groups that one unit may open share delta.
std::int64_t threshold_of(const ReleasePlan &plan, const Measure &counted) {
    const double delta = plan.delta_groups.value();
    const int max_groups = counted.opened > 0 ? counted.opened : static_cast<int>(plan.noise.front().sensitivity);
    if (plan.mechanism == Mechanism::gaussian)
        return partition_threshold_gaussian(plan.noise.front().gaussian.sigma(), delta, max_groups);
    return partition_threshold_laplace(plan.epsilon.value() / plan.shares, delta, max_groups);
}

} // namespace

std::vector<Measure> leaf_measures(const std::vector<AggregateCall> &calls, bool thresholded, bool several_rows,
                                   bool one_in_group) {
    std::vector<Measure> measures;
    if (thresholded)
        measure_of(measures, -1, -1,
                   several_rows); // the count that the query asks for joins it wherever it stands there
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const bool star = calls[i].fn == Aggregate::count_star, units = calls[i].fn == Aggregate::count_units;
        const bool of_values = calls[i].fn == Aggregate::count_values;
        const bool compared = star && calls[i].filter < 0 && thresholded && one_in_group;
        measure_of(measures, star || units ? -1 : calls[i].argument, calls[i].filter, (units || compared) && several_rows,
                   of_values, calls[i].fraction)
            .calls.push_back(static_cast<int>(i));
    }
    for (Measure &m : measures) {
        Asked asked;
        for (int i : m.calls) {
            const Aggregate fn = calls[static_cast<std::size_t>(i)].fn;
            asked.avg |= fn == Aggregate::avg;
            asked.sum |= fn == Aggregate::sum;
            asked.count |= fn == Aggregate::count;
            asked.spread |= is_spread(fn);
            asked.products |= is_joint(fn);
            asked.moments |= divides_by_variance(fn);
            asked.others |= !is_joint(fn);
        }
        m.kind = m.fraction >= 0 ? MeasureKind::quantile : asked.kind();
    }
    return measures;
}

int coordinates_of_one_group(const std::vector<Measure> &measures) {
    return std::accumulate(measures.begin(), measures.end(), 0,
                           [](int sum, const Measure &m) { return sum + m.coordinates(); });
}

LaplaceScale laplace_scale(uint128 units, Epsilon epsilon) {
    LaplaceScale scale;
    scale.t = units * static_cast<uint128>(epsilon_one);
    scale.s = static_cast<uint128>(epsilon.units());
    const uint128 divisor = greatest_common_divisor(scale.t, scale.s);
    scale.t /= divisor;
    scale.s /= divisor;
    return scale;
}

ReleasePlan plan_release(Mechanism mechanism, const std::vector<Measure> &measures, bool thresholded, Epsilon epsilon,
                         Delta delta) {
    check_charge(mechanism, thresholded, epsilon, delta);
    check_measures(measures, thresholded);
    if (mechanism == Mechanism::automatic) {
        ReleasePlan plan = plan_measurement(measures, thresholded, rho_of_pure(epsilon, measures.size()), delta);
        plan.epsilon = epsilon;
        return plan;
    }
    ReleasePlan plan;
    plan.mechanism = mechanism;
    plan.epsilon = epsilon;
    plan.shares = static_cast<int>(measures.size());
    plan.k1 = coordinates_of_one_group(measures);
    split_delta(plan, thresholded, delta);
    if (mechanism == Mechanism::gaussian)
        plan_gaussian(plan, measures);
    else
        plan_laplace(plan, measures);
    if (thresholded)
        plan.threshold = threshold_of(plan, measures.front());
    return plan;
}

// sigma_j^2 = m D_j^2 / (2 (rho - m u)), u the unit of rho: rounding what each measure costs up to u takes at most m u.
ReleasePlan plan_measurement(const std::vector<Measure> &measures, bool thresholded, Rho rho, Delta delta) {
    check_measures(measures, thresholded);
    check_delta(delta);
    if (thresholded && delta == Delta())
        throw InvalidParameter("groups that are not declared need a delta above 0");
    if (rho < least_rho(measures.size()))
        throw InvalidParameter("rho " + rho.text() + " is too small: the noise of " + std::to_string(measures.size()) +
                               " measures needs at least " + least_rho(measures.size()).text());
    ReleasePlan plan;
    plan.mechanism = Mechanism::gaussian;
    plan.shares = static_cast<int>(measures.size());
    plan.k1 = coordinates_of_one_group(measures);
    plan.delta = plan.delta_groups = thresholded ? delta : Delta();
    const exact::cpp_int split = 2 * (exact::integer(rho.units()) - plan.shares);
    for (const Measure &measure : measures) {
        MeasureNoise noise;
        noise.mechanism = Mechanism::gaussian;
        noise.sensitivity = measure.sensitivity;
        const exact::cpp_int d = measure.sensitivity;
        noise.gaussian = gaussian_scale_up(d * d * plan.shares * rho_one, split);
        plan.noise.push_back(noise);
    }
    if (thresholded)
        plan.threshold = threshold_of(plan, measures.front());
    return plan;
}

bool prefers_gaussian(const std::vector<Measure> &measures, Epsilon epsilon) {
    for (const Measure &measure : measures)
        if (measure.kind == MeasureKind::quantile)
            return false;
    const auto m = static_cast<int128>(measures.size());
    constexpr int128 of_rounding = 1000; // units of rho for each measure: one of them is lost
    return m > 0 && 2 * int128{epsilon.units()} < 9 * m * epsilon_one &&
           rho_of_pure(epsilon, measures.size()).units() >= of_rounding * m;
}

Delta delta_charged(Mechanism mechanism, bool thresholded, Delta delta) {
    return mechanism != Mechanism::gaussian && !thresholded ? Delta() : delta;
}

Delta delta_of_groups(Mechanism mechanism, bool thresholded, Delta charged) {
    if (!thresholded)
        return {};
    return mechanism == Mechanism::gaussian ? charged - Delta::from_units(charged.units() / 2) : charged;
}

Rho ReleasePlan::rho() const {
    if (mechanism == Mechanism::laplace)
        return rho_of_pure(epsilon, noise.size());
    Rho sum;
    for (const MeasureNoise &measure : noise)
        sum = sum + gaussian_rho(measure);
    return sum;
}

double MeasureNoise::stddev() const {
    return std::sqrt(mechanism == Mechanism::laplace ? discrete_laplace_variance(laplace.value())
                                                     : discrete_gaussian_variance(gaussian.sigma()));
}

double MeasureNoise::halfwidth(double level) const {
    return mechanism == Mechanism::laplace ? discrete_laplace_halfwidth(laplace.value(), level)
                                           : discrete_gaussian_halfwidth(gaussian.sigma(), level);
}

} // namespace dp::privacy
