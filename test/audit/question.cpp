#include "question.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "privacy/calibration.hpp"
#include "privacy/quantile_draw.hpp"
#include "privacy/joint.hpp"
#include "privacy/joint_points.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/triple.hpp"
#include "privacy/zcdp.hpp"

namespace audit {

using namespace dp::privacy;

Epsilon epsilon(const std::string &text) {
    return *Epsilon::parse(text);
}

AggregateCall call(Aggregate fn, int column) {
    AggregateCall c;
    c.fn = fn;
    c.argument = column;
    return c;
}

AggregateCall percentile(double q, int column) {
    AggregateCall c = call(Aggregate::percentile_disc, column);
    c.fraction = fraction_of(q);
    return c;
}

// ---- One question on one table ----

// Of units with several rows (9.2).
static std::uint64_t sensitivity_of(const Measure &m, const Question &question) {
    if (m.of_units)
        return units_sensitivity(question.max_groups, m.grain);
    if (m.kind == MeasureKind::count)
        return count_sensitivity(question.max_rows, m.grain);
    if (is_joint(m.kind))
        return joint_sensitivity(m.kind) * static_cast<std::uint64_t>(question.max_rows);
    if (m.has_parts())
        return pair_sensitivity(question.max_rows);
    return sum_sensitivity(question.max_rows, question.bounds.at(static_cast<std::size_t>(m.argument)).sensitivity());
}

Prepared::Prepared(const Question &question, const Policy &policy)
    : question_(question), policy_(policy),
      measures_(leaf_measures(question.calls, question.thresholded, question.max_rows > 0, question.one_in_group)) {
    const bool one_group = question.max_rows == 0 || (question.groups == 1 && !question.thresholded);
    for (Measure &m : measures_) {
        m.one_group = one_group;
        m.grain = one_group || m.kind != MeasureKind::count || m.of_units ? 1 : fine_grain;
    }
    for (Measure &m : measures_)
        m.sensitivity = question.max_rows > 0 ? sensitivity_of(m, question)
                                 : m.kind == MeasureKind::count || m.kind == MeasureKind::quantile ? 1
                                 : is_joint(m.kind) ? joint_sensitivity(m.kind)
                                 : m.has_parts()
                                     ? static_cast<std::uint64_t>(pair_one)
                                     : question.bounds.at(static_cast<std::size_t>(m.argument)).sensitivity();
    // Of auto C is R where nobody declares it (9.14.8).
    const int per_group = question.max_rows_per_group > 0               ? question.max_rows_per_group
                          : policy.mechanism == Mechanism::automatic ? question.max_rows
                                                                     : 0;
    if (policy.mechanism == Mechanism::laplace || one_group || per_group == 0)
        return;
    for (Measure &m : measures_) {
        m.norm = Norm::groups;
        m.sensitivity = m.of_units ? spread_sensitivity(question.max_groups, 1, m.grain)
                                   : spread_sensitivity(question.max_rows, per_group,
                                                        sensitivity_of(m, question) / question.max_rows);
    }
    if (question.thresholded)
        measures_.front().opened = question.max_groups;
}

// Bounds that no charge of an audit reaches.
static BoundSettings ample() {
    BoundSettings bound;
    bound.epsilon_total = Epsilon::parse("1000");
    bound.delta_total = *Delta::parse("0.999");
    return bound;
}

Decision Prepared::decide() const {
    const int m = static_cast<int>(measures_.size()), k1 = coordinates_of_one_group(measures_);
    ChargeRequest request;
    request.delta = delta_charged(policy_.mechanism, question_.thresholded, policy_.delta);
    request.eps_star = policy_.mechanism != Mechanism::gaussian // the price of auto is that of Laplace noise (6.5)
                           ? within_domain_eps_star(policy_.tau, 1, k1, m)
                           : within_domain_eps_star_gaussian(policy_.tau, 1, k1, m,
                                                             plan(policy_.candidates.front()).delta_noise.value());
    request.slack = price_slack;
    request.candidates = policy_.candidates;
    request.epsilon_max = policy_.candidates.front();
    return dp::privacy::decide(request, ample(), Totals{}, Totals{});
}

SelectionRange Prepared::range() const {
    SelectionRequest request;
    request.candidates = policy_.candidates;
    request.tested = tested_candidates(svt_candidates());
    request.epsilon_svt = policy_.epsilon_svt;
    request.delta = delta_charged(policy_.mechanism, question_.thresholded, policy_.delta);
    const SelectionRange range = cut_candidates(request, ample(), Totals{}, Totals{});
    if (range.denial != Denial::none || range.first != 0 || range.last != policy_.candidates.size())
        throw std::logic_error("an audit selects from all candidates");
    return range;
}

ReleasePlan Prepared::plan(Epsilon charged) const {
    return plan_release(policy_.mechanism, measures_, question_.thresholded, charged,
                        delta_charged(policy_.mechanism, question_.thresholded, policy_.delta));
}

std::vector<SvtCandidate> Prepared::svt_candidates() const {
    return dp::privacy::svt_candidates(policy_.mechanism, measures_, question_.thresholded, policy_.candidates,
                                       delta_charged(policy_.mechanism, question_.thresholded, policy_.delta),
                                       policy_.tau_var);
}

static std::vector<std::int64_t> joint_contribution(MeasureKind kind, const JointBounds &bounds, double y, double x) {
    const JointPoint point = to_joint_point(joint_lattice(bounds), y, x, joint_one(kind)).value();
    std::vector<std::int64_t> parts{point.both, point.y_alone, point.x_alone, point.neither};
    if (kind == MeasureKind::moments)
        parts.insert(parts.end(), {point.y_spread, point.x_spread});
    return parts;
}

std::vector<std::int64_t> Prepared::contribution(const Measure &measure, const Row &row) const {
    if (measure.kind == MeasureKind::count)
        return {static_cast<std::int64_t>(measure.grain)};
    if (measure.kind == MeasureKind::quantile)
        return {0}; // it has a histogram
    const auto column = static_cast<std::size_t>(measure.argument);
    const Bounds &bounds = question_.bounds.at(column);
    const double v = row.values.at(column);
    if (measure.kind == MeasureKind::sum)
        return {bounds.integer_type ? to_sum_point_integer(sum_lattice(bounds), static_cast<std::int64_t>(v))
                                    : to_sum_point(sum_lattice(bounds), v).value()};
    if (measure.kind == MeasureKind::triple) {
        const TriplePoint point = to_triple_point(pair_lattice(bounds), v).value();
        return {point.squares, pair_one - point.squares - point.rest, point.rest};
    }
    if (is_joint(measure.kind)) // of this column and the next one
        return joint_contribution(measure.kind, {bounds, question_.bounds.at(column + 1)}, v,
                                  row.values.at(column + 1));
    const std::int64_t z = to_pair_point(pair_lattice(bounds), v).value();
    return {z, pair_one - z};
}

static bool contributes(const Question &question, const Row &row) {
    return row.matches && row.group < question.groups;
}

void Prepared::add_row(const Row &row, Brought *unit) const {
    std::size_t at = static_cast<std::size_t>(row.group) * group_coordinates();
    for (const Measure &m : measures_)
        if (m.of_units)
            unit->values[at++] = 1; // however many rows of it are in the group
        else
            for (std::int64_t z : contribution(m, row))
                unit->values[at++] += z;
    unit->kept[static_cast<std::size_t>(row.group)] = true;
}

// Discovered groups: those of smallest hash.
void Prepared::keep_groups(int unit, Brought *brought) const {
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t g = 0; g < brought->kept.size(); ++g)
        if (brought->kept[g]) {
            const auto byte = static_cast<unsigned char>(g);
            order.emplace_back(group_hash(static_cast<std::uint64_t>(unit), &byte, 1), g);
        }
    std::sort(order.begin(), order.end());
    for (std::size_t i = static_cast<std::size_t>(question_.max_groups); i < order.size(); ++i) {
        const std::size_t g = order[i].second;
        brought->kept[g] = false;
        std::fill_n(brought->values.begin() + static_cast<std::ptrdiff_t>(g * group_coordinates()), group_coordinates(),
                    0);
    }
}

std::vector<Prepared::Brought> Prepared::brought(const Table &table) const {
    const auto groups = static_cast<std::size_t>(question_.groups);
    std::map<int, Brought> units;
    for (const Row &row : table)
        if (contributes(question_, row)) {
            Brought &unit = units[row.unit];
            unit.values.resize(groups * group_coordinates());
            unit.kept.resize(groups);
            add_row(row, &unit);
        }
    std::vector<Brought> result;
    for (auto &[unit, brought] : units) {
        if (question_.thresholded)
            keep_groups(unit, &brought);
        std::size_t at = 0;
        for (std::size_t j = 0; j < measures_.size(); ++j) {
            const auto coordinates = static_cast<std::size_t>(measures_[j].coordinates());
            clip(measures_[j].norm, brought.values.data() + at, groups, group_coordinates(), coordinates,
                 measures_[j].sensitivity);
            at += coordinates;
        }
        result.push_back(brought);
    }
    return result;
}

std::vector<std::int64_t> Prepared::sums(const Table &table) const {
    std::vector<std::int64_t> result(static_cast<std::size_t>(question_.groups) * group_coordinates());
    if (question_.max_rows > 0) {
        for (const Brought &unit : brought(table))
            for (std::size_t i = 0; i < result.size(); ++i)
                result[i] += static_cast<std::int64_t>(unit.values[i]);
        return result;
    }
    for (const Row &row : table) {
        if (!contributes(question_, row))
            continue;
        std::size_t at = static_cast<std::size_t>(row.group) * group_coordinates();
        for (const Measure &m : measures_)
            for (std::int64_t z : contribution(m, row))
                result[at++] += z;
    }
    return result;
}

Grid Prepared::grid(const Measure &measure) const {
    const Bounds &bounds = question_.bounds.at(static_cast<std::size_t>(measure.argument));
    return grid_of(bounds, bounds.integer_type ? 0 : -1);
}

std::vector<std::int64_t> Prepared::histogram(const Table &table, int group, const Measure &measure) const {
    const Grid cells = grid(measure);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(cells.cells));
    for (const Row &row : table)
        if (contributes(question_, row) && row.group == group)
            ++counts[static_cast<std::size_t>(
                cell_of_number(cells, row.values.at(static_cast<std::size_t>(measure.argument))).value())];
    return counts;
}

std::vector<bool> Prepared::present(const Table &table) const {
    std::vector<bool> result(static_cast<std::size_t>(question_.groups), !question_.thresholded);
    if (question_.max_rows > 0) {
        for (const Brought &unit : brought(table))
            for (std::size_t g = 0; g < result.size(); ++g)
                result[g] = result[g] || unit.kept[g];
        return result;
    }
    for (const Row &row : table)
        if (contributes(question_, row))
            result[static_cast<std::size_t>(row.group)] = true;
    return result;
}

// COUNT, pair and triple: 1; SUM: |z| / D (formulas.md 2, 3.3).
double Prepared::pis(const Row &row) const {
    double sum = 0, squares = 0;
    for (std::size_t j = 0; contributes(question_, row) && j < measures_.size(); ++j) {
        double part = 1;
        if (measures_[j].kind == MeasureKind::sum)
            part = std::fabs(static_cast<double>(contribution(measures_[j], row).front())) /
                   static_cast<double>(measures_[j].sensitivity);
        sum += part;
        squares += part * part;
    }
    return policy_.mechanism == Mechanism::laplace ? sum : std::sqrt(squares);
}

SelectionSums Prepared::selection_sums(const Table &table, const SvtCandidate &candidate) const {
    SelectionSums result;
    for (const Row &row : table) {
        const int128 point = svt_point(candidate, pis(row));
        ++result.n;
        result.s1 += point;
        result.s2 += point * point;
    }
    return result;
}

// ---- Draws ----

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

// Group by group, coordinate by coordinate, as the server does.
class Releaser {
  public:
    Releaser(const Prepared &prepared, const Table &table, const Tampering &tampering)
        : coordinates_(prepared.group_coordinates()), sums_(prepared.sums(table)), present_(prepared.present(table)),
          sampler_(tampering.sampler) {
        for (const Measure &m : prepared.measures())
            for (int c = 0; c < m.coordinates(); ++c)
                measure_.push_back(measure_.empty() ? 0 : c == 0 ? measure_.back() + 1 : measure_.back());
        fractions_.resize(prepared.measures().size(), -1);
        histograms_.resize(present_.size());
        for (std::size_t g = 0; g < present_.size(); ++g)
            for (std::size_t j = 0; j < fractions_.size(); ++j) {
                const Measure &m = prepared.measures()[j];
                fractions_[j] = m.fraction;
                histograms_[g].push_back(m.kind == MeasureKind::quantile
                                             ? prepared.histogram(table, static_cast<int>(g), m)
                                             : std::vector<std::int64_t>());
            }
    }
    std::vector<double> exact() const {
        std::vector<double> result;
        for (std::int64_t s : sums_)
            result.push_back(static_cast<double>(s));
        return result;
    }
    void deny(Outcome &outcome) const {
        outcome.denied = true;
        outcome.values.assign(sums_.size(), absent);
        outcome.present.assign(present_.size(), false);
    }
    void draw(BitSource &bits, const ReleasePlan &plan, Outcome &outcome) const {
        deny(outcome);
        outcome.denied = false;
        for (std::size_t g = 0; g < present_.size(); ++g)
            if (present_[g])
                draw_group(bits, plan, g, outcome);
    }

  private:
    std::size_t coordinates_;
    std::vector<std::int64_t> sums_;
    std::vector<bool> present_;
    std::vector<std::size_t> measure_;                               // of each coordinate of a group
    std::vector<std::int64_t> fractions_;                            // by measure
    std::vector<std::vector<std::vector<std::int64_t>>> histograms_; // by group and measure
    decltype(Tampering::sampler) sampler_;

    int128 noise(BitSource &bits, const MeasureNoise &noise) const {
        return sampler_ ? sampler_(bits, noise) : dp::privacy::draw(bits, noise);
    }
    void draw_group(BitSource &bits, const ReleasePlan &plan, std::size_t g, Outcome &outcome) const {
        double *values = outcome.values.data() + g * coordinates_;
        for (std::size_t c = 0; c < coordinates_; ++c) {
            const std::vector<std::int64_t> &counts = histograms_[g][measure_[c]];
            values[c] = counts.empty()
                            ? static_cast<double>(sums_[g * coordinates_ + c] + noise(bits, plan.noise[measure_[c]]))
                            : draw_cell(bits, counts.data(), static_cast<int>(counts.size()), fractions_[measure_[c]],
                                        plan.noise[measure_[c]]);
        }
        outcome.present[g] = !plan.threshold || values[0] >= static_cast<double>(*plan.threshold);
        if (!outcome.present[g])
            std::fill(values, values + coordinates_, absent);
    }
};

ReleasePlan tampered_plan(const Prepared &prepared, Epsilon charged, const Tampering &tampering) {
    ReleasePlan plan = prepared.plan(charged);
    if (tampering.plan)
        tampering.plan(plan);
    return plan;
}

Side within_domain(const Prepared &prepared, const Table &table, const Tampering &tampering) {
    const Releaser releaser(prepared, table, tampering);
    const Decision decision = prepared.decide();
    const bool denied = decision.denial != Denial::none && !tampering.epsilon;
    if (denied)
        return {[=](BitSource &, Outcome &outcome) { releaser.deny(outcome); }, releaser.exact()};
    const Epsilon charged = tampering.epsilon ? tampering.epsilon(table) : decision.cost.epsilon;
    const ReleasePlan plan = tampered_plan(prepared, charged, tampering);
    return {[=](BitSource &bits, Outcome &outcome) { releaser.draw(bits, plan, outcome); }, releaser.exact()};
}

// Nothing selected: the largest candidate that always passes, or a denial if there is none.
Side released(const Prepared &prepared, const Table &table, const Tampering &tampering) {
    const Releaser releaser(prepared, table, tampering);
    std::vector<SvtCandidate> candidates = prepared.svt_candidates();
    const std::size_t tested = tested_candidates(candidates);
    std::vector<SelectionSums> sums;
    for (std::size_t j = 0; j < tested; ++j) {
        sums.push_back(prepared.selection_sums(table, candidates[j]));
        if (tampering.candidate)
            tampering.candidate(candidates[j]);
    }
    std::vector<ReleasePlan> plans;
    for (const SvtCandidate &candidate : candidates)
        plans.push_back(tampered_plan(prepared, candidate.epsilon, tampering));
    const Epsilon svt = prepared.policy().epsilon_svt;
    return {[=](BitSource &bits, Outcome &outcome) {
                const std::size_t selected = svt_select(bits, svt, candidates, sums).value_or(tested);
                outcome.selected = selected < plans.size() ? static_cast<int>(selected) : -1;
                if (outcome.selected < 0)
                    releaser.deny(outcome);
                else
                    releaser.draw(bits, plans[selected], outcome);
            },
            releaser.exact()};
}

// What a mean is made of is in the outcome; this is the mean as the analyst sees it.
void add_means(Subject &s, const Prepared &prepared, const Claim &claim) {
    std::size_t at = 0;
    for (const Measure &m : prepared.measures()) {
        if (m.kind == MeasureKind::pair) {
            const Bounds bounds = prepared.question().bounds.at(static_cast<std::size_t>(m.argument));
            s.statistics.push_back({"mean",
                                    [at, bounds](const Outcome &o) {
                                        if (std::isnan(o.values[at]))
                                            return absent;
                                        return release_pair(static_cast<int128>(o.values[at]),
                                                            static_cast<int128>(o.values[at + 1]), bounds)
                                            .avg;
                                    },
                                    {bounds.low, bounds.high},
                                    claim});
        }
        if (m.kind == MeasureKind::triple) {
            const Bounds bounds = prepared.question().bounds.at(static_cast<std::size_t>(m.argument));
            s.statistics.push_back({"variance",
                                    [at, bounds](const Outcome &o) {
                                        if (std::isnan(o.values[at]))
                                            return absent;
                                        return spread_of(Aggregate::var_pop,
                                                         {static_cast<int128>(o.values[at]),
                                                          static_cast<int128>(o.values[at + 1]),
                                                          static_cast<int128>(o.values[at + 2])},
                                                         bounds);
                                    },
                                    {0, (bounds.high - bounds.low) * (bounds.high - bounds.low) / 4},
                                    claim});
        }
        if (is_joint(m.kind)) {
            const auto column = static_cast<std::size_t>(m.argument);
            const Bounds y = prepared.question().bounds.at(column), x = prepared.question().bounds.at(column + 1);
            const MeasureKind kind = m.kind;
            const double largest = (y.high - y.low) * (x.high - x.low) / 4;
            s.statistics.push_back({"covariance",
                                    [at, y, x, kind](const Outcome &o) {
                                        if (std::isnan(o.values[at]))
                                            return absent;
                                        int128 noisy[6] = {};
                                        for (std::size_t c = 0; c < 6 && at + c < o.values.size(); ++c)
                                            noisy[c] = static_cast<int128>(o.values[at + c]);
                                        return joint_number(Aggregate::covar_pop, joint_sums(kind, noisy), {y, x});
                                    },
                                    {-largest, largest},
                                    claim});
        }
        at += static_cast<std::size_t>(m.coordinates());
    }
}

std::vector<double> scales(const Prepared &prepared) {
    const ReleasePlan plan = prepared.plan(prepared.policy().candidates.front());
    std::vector<double> result;
    for (int g = 0; g < prepared.question().groups; ++g)
        for (std::size_t j = 0; j < plan.noise.size(); ++j)
            for (int c = 0; c < prepared.measures()[j].coordinates(); ++c)
                result.push_back(plan.noise[j].mechanism == Mechanism::laplace ? plan.noise[j].laplace.value()
                                                                               : plan.noise[j].gaussian.sigma());
    return result;
}

// Selection and release together: ex post epsilon_svt + epsilon_J; whatever was selected: with the largest.
void add_selections(Subject &s, const Prepared &prepared, double delta) {
    const double svt = prepared.range().charged.value();
    const std::vector<SvtCandidate> candidates = prepared.svt_candidates();
    const std::vector<Statistic> unconditional = s.statistics;
    for (std::size_t j = 0; j < candidates.size() && j <= tested_candidates(candidates); ++j)
        for (const Statistic &statistic : unconditional)
            s.statistics.push_back(
                given_selection(statistic, static_cast<int>(j), {svt + candidates[j].epsilon.value(), delta}));
    s.statistics.push_back(selection(static_cast<int>(candidates.size()), {svt, 0}));
}

// (epsilon, delta) at one small delta says little about Gaussian noise. The rho that goes into the ledger claims more: an
// epsilon for every delta, of which the larger ones are within reach of a few draws. Of a price that is that of Laplace noise it is at most
// e tanh(e/2m), e being the epsilon of m measures together (5.3, 6.5).
constexpr double largest_delta = 0.05, deltas_of_rho[] = {largest_delta, 0.005};

Claim rho_claim(const Prepared &prepared, double delta) {
    const Epsilon charged = prepared.policy().candidates.front();
    const ReleasePlan plan = prepared.plan(charged);
    const double e = charged.value(), m = static_cast<double>(prepared.measures().size());
    const Rho rho = prepared.policy().mechanism == Mechanism::gaussian
                        ? plan.rho()
                        : Rho::from_double(e * std::tanh(e / (2 * m)), Rounding::up);
    return {eps_from_rho(rho, Delta::from_double(delta, Rounding::down)).value(), delta + plan.delta_groups.value()};
}

void add_rho_claims(Subject &s, const Prepared &prepared) {
    const std::vector<Statistic> base = s.statistics;
    for (double delta : deltas_of_rho)
        for (Statistic statistic : base) {
            if (delta == largest_delta && prepared.policy().mechanism == Mechanism::automatic)
                break; // it is claimed already
            statistic.claim = rho_claim(prepared, delta);
            s.statistics.push_back(statistic);
        }
}

} // namespace

Subject subject(const Question &question, const Policy &policy, const Table &x, const Table &y,
                const Tampering &tampering) {
    const Prepared prepared(question, policy);
    const auto side = [&](const Table &table) {
        const Prepared seen(tampering.question ? tampering.question(question, table) : question, policy);
        return policy.selecting == Selecting::released ? released(seen, table, tampering)
                                                       : within_domain(seen, table, tampering);
    };
    Subject s;
    s.name = question.name +
             (policy.mechanism == Mechanism::laplace    ? ", laplace"
              : policy.mechanism == Mechanism::gaussian ? ", gaussian"
                                                        : ", auto") +
             (policy.selecting == Selecting::released ? ", released" : ", within_domain") + ", epsilon " +
             policy.candidates.front().text();
    s.x = side(x);
    s.y = side(y);
    s.scale = scales(prepared);
    Claim claim{policy.candidates.front().value(),
                delta_charged(policy.mechanism, question.thresholded, policy.delta).value()};
    if (policy.selecting == Selecting::released)
        claim.epsilon += prepared.range().charged.value();
    else if (policy.mechanism == Mechanism::automatic) // is charged no epsilon
        claim = rho_claim(prepared, largest_delta);
    s.statistics = standard_statistics(s, prepared.group_coordinates(), claim);
    add_means(s, prepared, claim);
    if (policy.selecting == Selecting::released)
        add_selections(s, prepared, claim.delta);
    else if (policy.mechanism != Mechanism::laplace || prepared.measures().size() > 1)
        add_rho_claims(s, prepared);
    return s;
}

} // namespace audit
