// Plans what an aggregate query releases: measures, their sensitivities and noise (formulas.md 1.1, 8.4, 8.5, 8.6).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "privacy/contribution.hpp"
#include "privacy/decimal.hpp"
#include "privacy/lattice.hpp"
#include "privacy/noise.hpp"

namespace dp::privacy {

// automatic: of a policy, the choice; of a release, Gaussian noise of the rho that Laplace noise of this price has (formulas.md 6.5).
enum class Mechanism { laplace, gaussian, automatic };
enum class Aggregate {
    count_star,
    count,
    sum,
    avg,
    var_pop,
    var_samp,
    stddev_pop,
    stddev_samp,
    count_units,
    percentile_cont,
    percentile_disc,
    min,
    max,
    count_values,
    covar_pop,
    covar_samp,
    corr,
    regr_slope,
    regr_intercept,
    regr_r2
};
// Returns whether it is a variance or a deviation.
constexpr bool is_spread(Aggregate fn) {
    return fn == Aggregate::var_pop || fn == Aggregate::var_samp || fn == Aggregate::stddev_pop ||
           fn == Aggregate::stddev_samp;
}

// Returns whether it is of two columns. regr_*: y depends on x, as in SQL.
constexpr bool is_joint(Aggregate fn) {
    return fn >= Aggregate::covar_pop && fn <= Aggregate::regr_r2;
}
// Returns whether it is of two columns, and divides by a variance.
constexpr bool divides_by_variance(Aggregate fn) {
    return is_joint(fn) && fn != Aggregate::covar_pop && fn != Aggregate::covar_samp;
}

enum class MeasureKind { count, sum, pair, triple, quantile, products, moments };

// Noisy sums in one group.
constexpr int coordinates_of(MeasureKind kind) {
    switch (kind) {
    case MeasureKind::pair:
        return 2;
    case MeasureKind::triple:
        return 3;
    case MeasureKind::products:
        return 4;
    case MeasureKind::moments:
        return 6;
    default:
        return 1;
    }
}

constexpr int most_coordinates = 6; // of any kind
static_assert(coordinates_of(MeasureKind::triple) <= most_coordinates &&
              coordinates_of(MeasureKind::products) <= most_coordinates &&
              coordinates_of(MeasureKind::moments) <= most_coordinates);

// One aggregate call of a query. argument: any number that identifies the argument column (-1: count(*)); filter: any
// number that identifies the FILTER condition (-1: none).
struct AggregateCall {
    Aggregate fn = Aggregate::count_star;
    int argument = -1;
    int filter = -1;
    std::int64_t fraction = -1; // of a quantile (privacy/quantile): 10^-9 of q
};

// All calls with the same argument and FILTER share one measure (8.6): one coordinate for COUNT and SUM, two for the pair, three
// for the triple, four for the products of two columns and six for their moments (8.10). Where a unit may have several rows, counts of
// units are measures of their own. So is each quantile: the one number that is drawn of it is a cell of a grid (8.9).
struct Measure {
    MeasureKind kind = MeasureKind::count;
    int argument = -1;
    int filter = -1;
    bool of_units = false;   // count(DISTINCT unit): once per unit and group
    std::uint64_t grain = 1; // of a count: lattice points of one counted row or unit (9.2), a power of two
    bool one_group = true;   // one unit changes it in one group at most: the scalar calibration is proved for it (8.4)
    std::int64_t fraction = -1; // of a quantile
    std::vector<int> calls;     // indices into the list of calls
    bool of_values = false;     // count(DISTINCT x): a unit adds the values that it alone has (9.11)
    int opened = 0; // of what is compared with a threshold: groups that one unit may open, where D is another number
    // D_j, in lattice units (of rows: COUNT 1, SUM Dz, pair and triple 2^30; of units: 9.2). 0: not known, nothing is drawn.
    std::uint64_t sensitivity = 0;
    Norm norm = Norm::l1; // of what one unit brings, which is at most D_j
    int coordinates() const { return coordinates_of(kind); }
    bool has_parts() const { return coordinates() > 1; } // what is printed is computed from several noisy sums
};

// The measures in order of first occurrence. thresholded: the record count per group (argument -1, filter -1) is a
// measure too, always first (8.5); if count(*) without FILTER is asked it IS that measure, moved to the front.
// several_rows: a unit may have several (9.2): then what is thresholded is the count of units; else that is a count of rows.
// one_in_group: of those it has one in a group at most, so that both counts are one number (8.5).
std::vector<Measure> leaf_measures(const std::vector<AggregateCall> &calls, bool thresholded, bool several_rows = false,
                                   bool one_in_group = false);
// k1: coordinates of one group = sum of coordinates (section 1.1).
int coordinates_of_one_group(const std::vector<Measure> &measures);

// ---- The plan of one release ----
// Everything here is a function of the query, declared bounds and the charge: equal on neighbouring tables.
struct MeasureNoise {
    Mechanism mechanism = Mechanism::laplace;
    LaplaceScale laplace;                // lattice units, used when mechanism is laplace
    GaussianScale gaussian;              // lattice units, used when mechanism is gaussian
    std::uint64_t sensitivity = 1;       // D_j in lattice units
    double stddev() const;               // of the drawn integer
    double halfwidth(double beta) const; // lattice units
};
struct ReleasePlan {
    Mechanism mechanism = Mechanism::laplace;
    Epsilon epsilon; // charged
    Delta delta;     // charged = delta_noise + delta_groups
    Delta delta_noise;
    Delta delta_groups;
    int shares = 1; // m: measures that share epsilon
    int k1 = 1;
    std::optional<std::int64_t> threshold; // T on the noisy count of the first measure
    std::vector<MeasureNoise> noise;       // one per measure
    Rho rho() const;                       // zCDP cost of the noise drawn, rounded up (of pure eps: 5.3)
};
// The sensitivity of the first measure of a thresholded leaf is the number of groups that one unit may open, kappa, or for
// Norm::groups the root of that, with kappa in Measure::opened: its grain is 1.
// delta: the policy's d (0 for Laplace with declared groups).
// Errors: InvalidParameter when Gaussian or thresholded and delta <= 0, epsilon outside [10^-9, 100], delta >= 1.
ReleasePlan plan_release(Mechanism mechanism, const std::vector<Measure> &measures, bool thresholded, Epsilon epsilon,
                         Delta delta);
// One Gaussian measurement of all measures for at most `rho`: what it charges is the exact rho of the noise, rounded up, in
// ReleasePlan::rho() (formulas.md 6.3). epsilon and delta_noise of the plan are 0; delta is that of a thresholded leaf's groups.
// Errors: InvalidParameter when rho is below least_rho, and as above.
ReleasePlan plan_measurement(const std::vector<Measure> &measures, bool thresholded, Rho rho, Delta delta);
// Returns the least rho that can be split among so many measures.
constexpr Rho least_rho(std::size_t measures) {
    return Rho::from_units(static_cast<int128>(measures) + 1);
}
// t/s = units / epsilon in lowest terms (8.3). units: sensitivity times the measures that share epsilon; units 10^9 < 2^128.
LaplaceScale laplace_scale(uint128 units, Epsilon epsilon);
// Returns whether `automatic` means Gaussian noise at this price, under a bound that charges in rho: below 4.5 for each measure, where
// its half-widths are smaller, and from a rho on that can be split among them. Else it means Laplace noise (formulas.md 6.5).
bool prefers_gaussian(const std::vector<Measure> &measures, Epsilon epsilon);
// Returns the delta that such a release charges, before epsilon is known (8.5): Laplace declared 0, else d.
Delta delta_charged(Mechanism mechanism, bool thresholded, Delta delta);
// Returns the part of a charged delta that the threshold of groups takes.
Delta delta_of_groups(Mechanism mechanism, bool thresholded, Delta charged);

template <class Generator> int128 draw(Generator &bits, const MeasureNoise &noise) {
    return noise.mechanism == Mechanism::laplace ? discrete_laplace(bits, noise.laplace)
                                                 : discrete_gaussian(bits, noise.gaussian);
}

} // namespace dp::privacy
