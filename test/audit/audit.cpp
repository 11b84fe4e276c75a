#include "audit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include <boost/math/special_functions/gamma.hpp>

#include "system_bits.hpp"

namespace audit {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int quantiles = 64;
constexpr int around = 4; // integers on each side of an exact sum

// ---- Statistics ----

void add_neighbourhood(std::vector<double> &points, double centre) {
    for (int d = -around; d <= around; ++d)
        points.push_back(centre + d);
}

Statistic coordinate(const Subject &s, std::size_t j, const Claim &claim) {
    Statistic statistic{"o" + std::to_string(j), [j](const Outcome &o) { return o.values[j]; }, {}, claim};
    add_neighbourhood(statistic.points, s.x.exact[j]);
    if (s.x.exact[j] != s.y.exact[j])
        add_neighbourhood(statistic.points, s.y.exact[j]);
    return statistic;
}

Statistic distance(std::size_t j, double centre, const Claim &claim) {
    Statistic statistic{"|o" + std::to_string(j) + " - " + std::to_string(centre) + "|",
                        [=](const Outcome &o) { return std::fabs(o.values[j] - centre); },
                        {},
                        claim};
    for (int d = 0; d <= 2 * around; ++d)
        statistic.points.push_back(d);
    return statistic;
}

// A coordinate that the two tables differ in: how far it lies on the side of `to`, in units of its noise.
struct Direction {
    std::size_t coordinate;
    double sign, centre, scale;
    double of(const Outcome &o) const { return sign * (o.values[coordinate] - centre) / scale; }
};

std::vector<Direction> directions(const Subject &s, const Side &to, const Side &from) {
    std::vector<Direction> result;
    for (std::size_t j = 0; j < to.exact.size(); ++j)
        if (to.exact[j] != from.exact[j])
            result.push_back({j, to.exact[j] > from.exact[j] ? 1.0 : -1.0, to.exact[j], s.scale[j]});
    return result;
}

Statistic projection(const std::vector<Direction> &along, const Claim &claim) {
    return {"projection",
            [along](const Outcome &o) {
                double sum = 0;
                for (const Direction &d : along)
                    sum += d.of(o);
                return sum;
            },
            {0},
            claim};
}

// {all coordinates on the side of `to`}: where the losses of several coordinates add up.
Statistic conjunction(const std::vector<Direction> &along, const std::string &name, const Claim &claim) {
    return {name,
            [along](const Outcome &o) {
                double least = infinity;
                for (const Direction &d : along) {
                    const double v = d.of(o);
                    if (std::isnan(v))
                        return absent;
                    least = std::min(least, v);
                }
                return least;
            },
            {0},
            claim};
}

// ---- Events ----

bool holds(Event::Relation relation, double value, double threshold) {
    switch (relation) {
    case Event::Relation::at_least:
        return value >= threshold;
    case Event::Relation::at_most:
        return value <= threshold;
    case Event::Relation::equal:
        return value == threshold;
    }
    return false;
}

// The values of one statistic on the training draws of one table.
class Column {
  public:
    explicit Column(std::vector<double> values) : sorted_(std::move(values)) {
        sorted_.erase(std::remove_if(sorted_.begin(), sorted_.end(), [](double v) { return std::isnan(v); }),
                      sorted_.end());
        std::sort(sorted_.begin(), sorted_.end());
    }
    const std::vector<double> &sorted() const { return sorted_; }
    std::uint64_t count(Event::Relation relation, double t) const {
        const auto low = std::lower_bound(sorted_.begin(), sorted_.end(), t);
        const auto high = std::upper_bound(low, sorted_.end(), t);
        switch (relation) {
        case Event::Relation::at_least:
            return static_cast<std::uint64_t>(sorted_.end() - low);
        case Event::Relation::at_most:
            return static_cast<std::uint64_t>(high - sorted_.begin());
        case Event::Relation::equal:
            return static_cast<std::uint64_t>(high - low);
        }
        return 0;
    }

  private:
    std::vector<double> sorted_;
};

// 64 quantiles of both columns together, and the points of the statistic.
std::vector<double> thresholds(const Statistic &statistic, const Column &x, const Column &y) {
    std::vector<double> pooled(x.sorted().size() + y.sorted().size());
    std::merge(x.sorted().begin(), x.sorted().end(), y.sorted().begin(), y.sorted().end(), pooled.begin());
    std::vector<double> result = statistic.points;
    for (int i = 0; i < quantiles && !pooled.empty(); ++i)
        result.push_back(pooled[(2 * static_cast<std::size_t>(i) + 1) * pooled.size() / (2 * quantiles)]);
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

// The event with the largest certified loss among those of one claim, in both orders of the tables.
class Chooser {
  public:
    explicit Chooser(std::uint64_t n) : n_(n), bounds_(n, alpha) {}

    void consider(const Statistic &statistic, const Column &x, const Column &y) {
        for (double t : thresholds(statistic, x, y))
            for (auto relation : {Event::Relation::at_least, Event::Relation::at_most, Event::Relation::equal}) {
                const Event event{&statistic, relation, t};
                const std::uint64_t a = x.count(relation, t), b = y.count(relation, t);
                if (a + b == 2 * n_)
                    continue; // everything: says nothing
                keep(event, false, bounds_.of(a, b, statistic.claim));
                keep(event, true, bounds_.of(b, a, statistic.claim));
            }
    }
    const std::vector<Finding> &best() const { return best_; }

  private:
    std::uint64_t n_;
    BoundsTable bounds_;
    std::vector<Finding> best_;

    void keep(const Event &event, bool backward, const Verdict &verdict) {
        Finding finding;
        finding.event = event;
        finding.backward = backward;
        finding.verdict = verdict;
        for (Finding &best : best_)
            if (best.backward == backward && best.event.statistic->claim == event.statistic->claim) {
                if (finding.certified_loss() > best.certified_loss())
                    best = finding;
                return;
            }
        best_.push_back(finding);
    }
};

using Columns = std::vector<std::vector<double>>; // one per statistic

Columns sample(const Subject &subject, const Side &side, std::uint64_t n) {
    SystemBits bits;
    Outcome outcome;
    Columns columns(subject.statistics.size());
    for (auto &column : columns)
        column.reserve(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        side.draw(bits, outcome);
        for (std::size_t k = 0; k < columns.size(); ++k)
            columns[k].push_back(subject.statistics[k].of(outcome));
    }
    return columns;
}

// Hits of the event of each finding.
std::vector<std::uint64_t> count(const Side &side, const std::vector<Finding> &findings, std::uint64_t n) {
    SystemBits bits;
    Outcome outcome;
    std::vector<std::uint64_t> hits(findings.size());
    for (std::uint64_t i = 0; i < n; ++i) {
        side.draw(bits, outcome);
        for (std::size_t k = 0; k < findings.size(); ++k)
            hits[k] += findings[k].event.contains(outcome);
    }
    return hits;
}

// Cells of about equal numbers of pooled values, at least 1000 in each.
double two_sample_p(const Column &x, const Column &y) {
    std::vector<double> pooled(x.sorted().size() + y.sorted().size());
    std::merge(x.sorted().begin(), x.sorted().end(), y.sorted().begin(), y.sorted().end(), pooled.begin());
    constexpr std::ptrdiff_t least = 1000;
    double statistic = 0;
    int cells = 0;
    for (auto first = pooled.begin(); first != pooled.end();) {
        auto last =
            pooled.end() - first > 2 * least ? std::upper_bound(first, pooled.end(), *(first + least)) : pooled.end();
        if (pooled.end() - last < least)
            last = pooled.end();
        const double top = *(last - 1), bottom = *first;
        const auto within = [&](const Column &c) {
            return static_cast<double>(c.count(Event::Relation::at_most, top)) -
                   static_cast<double>(c.sorted().size() - c.count(Event::Relation::at_least, bottom));
        };
        const double a = within(x), b = within(y);
        statistic += (a - b) * (a - b) / (a + b);
        ++cells;
        first = last;
    }
    return cells < 2 ? 1 : boost::math::gamma_q(0.5 * (cells - 1), 0.5 * statistic);
}

} // namespace

std::uint64_t draws() {
    const char *text = std::getenv("DP_AUDIT_DRAWS");
    const std::uint64_t n = text == nullptr ? 100000 : std::strtoull(text, nullptr, 10);
    if (n < 1000)
        throw std::runtime_error("DP_AUDIT_DRAWS must be at least 1000");
    return n;
}

std::vector<Statistic> standard_statistics(const Subject &s, std::size_t group_coordinates, const Claim &claim) {
    std::vector<Statistic> result;
    for (std::size_t j = 0; j < s.x.exact.size(); ++j) {
        result.push_back(coordinate(s, j, claim));
        result.push_back(distance(j, s.x.exact[j], claim));
        if (s.x.exact[j] != s.y.exact[j])
            result.push_back(distance(j, s.y.exact[j], claim));
    }
    const auto to_x = directions(s, s.x, s.y), to_y = directions(s, s.y, s.x);
    if (!to_x.empty()) {
        result.push_back(projection(to_x, claim));
        result.push_back(conjunction(to_x, "all towards x", claim));
        result.push_back(conjunction(to_y, "all towards x'", claim));
    }
    for (std::size_t g = 0; g < s.x.exact.size() / group_coordinates; ++g)
        result.push_back(
            {"group " + std::to_string(g), [g](const Outcome &o) { return o.present[g] ? 1.0 : 0.0; }, {0, 1}, claim});
    result.push_back({"denied", [](const Outcome &o) { return o.denied ? 1.0 : 0.0; }, {0, 1}, claim});
    return result;
}

Statistic given_selection(const Statistic &statistic, int selected, const Claim &claim) {
    const auto of = statistic.of;
    return {statistic.name + " and candidate " + std::to_string(selected),
            [of, selected](const Outcome &o) { return o.selected == selected ? of(o) : absent; }, statistic.points,
            claim};
}

Statistic selection(int candidates, const Claim &claim) {
    Statistic statistic{"selected", [](const Outcome &o) { return static_cast<double>(o.selected); }, {}, claim};
    for (int j = -1; j < candidates; ++j)
        statistic.points.push_back(j);
    return statistic;
}

bool Event::contains(const Outcome &outcome) const {
    return holds(relation, statistic->of(outcome), threshold);
}

std::string Event::text() const {
    std::ostringstream out;
    out << statistic->name
        << (relation == Relation::at_least  ? " >= "
            : relation == Relation::at_most ? " <= "
                                            : " = ")
        << threshold;
    return out.str();
}

double Finding::certified_loss() const {
    return verdict.certified_loss.value_or(-infinity);
}

std::string Finding::text() const {
    std::ostringstream out;
    out << "certified loss " << certified_loss() << ", claim " << event.statistic->claim.epsilon << " (delta "
        << event.statistic->claim.delta << "), " << (backward ? "x' against x" : "x against x'") << ", {"
        << event.text() << "}: " << hits << " against " << hits_other;
    return out.str();
}

bool Report::fail() const {
    return std::any_of(findings.begin(), findings.end(), [](const Finding &f) { return f.verdict.fail; });
}

// By what is certified beyond the claim.
const Finding &Report::worst() const {
    const auto excess = [](const Finding &f) { return f.certified_loss() - f.event.statistic->claim.epsilon; };
    return *std::max_element(findings.begin(), findings.end(),
                             [&](const Finding &a, const Finding &b) { return excess(a) < excess(b); });
}

std::string Report::text() const {
    std::string text;
    for (const Finding &f : findings)
        text += "  " + f.text() + "\n";
    return text;
}

void print(const std::string &name, const Report &report) {
    std::cout << name << "\n" << report.text();
}

Report run(const Subject &subject, std::uint64_t n) {
    const std::uint64_t training = n / 4;
    Report report;
    {
        Columns x = sample(subject, subject.x, training), y = sample(subject, subject.y, training);
        Chooser chooser(training);
        for (std::size_t k = 0; k < subject.statistics.size(); ++k)
            chooser.consider(subject.statistics[k], Column(std::move(x[k])), Column(std::move(y[k])));
        report.findings = chooser.best();
    }
    if (report.findings.empty())
        throw std::logic_error(subject.name + ": no event to test");
    const std::vector<std::uint64_t> x = count(subject.x, report.findings, n), y = count(subject.y, report.findings, n);
    for (std::size_t k = 0; k < report.findings.size(); ++k) {
        Finding &f = report.findings[k];
        f.hits = f.backward ? y[k] : x[k];
        f.hits_other = f.backward ? x[k] : y[k];
        f.verdict = audit_bounds(f.hits, f.hits_other, n, f.event.statistic->claim, alpha);
    }
    return report;
}

double indistinguishable_p(const Subject &subject) {
    const std::uint64_t n = std::min<std::uint64_t>(draws(), 200000);
    Columns x = sample(subject, subject.x, n), y = sample(subject, subject.y, n);
    double least = 1;
    for (std::size_t k = 0; k < subject.statistics.size(); ++k)
        least = std::min(least, two_sample_p(Column(std::move(x[k])), Column(std::move(y[k]))));
    return std::min(1.0, least * static_cast<double>(subject.statistics.size()));
}

} // namespace audit
