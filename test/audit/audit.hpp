// The audit of a mechanism on two neighbouring tables: look for the event that tells them apart best, then bound its
// probabilities on fresh draws (formulas.md 10).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bounds.hpp"
#include "privacy/noise_impl.hpp"

namespace audit {

constexpr double alpha = 5e-10; // a finding about a claim that is kept fails with this probability, at most

// Fresh draws of each table: 100,000, or what the environment variable DP_AUDIT_DRAWS says.
std::uint64_t draws();

// Everything that an analyst can tell apart.
struct Outcome {
    bool denied = false;
    int selected = -1;          // which candidate was charged, where that depends on the data
    std::vector<bool> present;  // group by group: is it released?
    std::vector<double> values; // lattice integers, group by group, coordinate by coordinate (exact: below 2^53)
};

using Draw = std::function<void(dp::privacy::BitSource &, Outcome &)>;

// A number read off an outcome; NaN where it has none. claim: what is promised of events about it.
struct Statistic {
    std::string name;
    std::function<double(const Outcome &)> of;
    std::vector<double> points; // that events are built from, besides quantiles
    Claim claim;
};

// One of the two tables: what is drawn from it, and the sums without noise.
struct Side {
    Draw draw;
    std::vector<double> exact;
};

struct Subject {
    std::string name;
    Side x, y;
    std::vector<double> scale; // of the noise, one per coordinate
    std::vector<Statistic> statistics;
};

// Those of 10: coordinates, distances to the exact sums, the projection on the difference, the conjunction of all
// coordinates that differ, which groups are there, denials. group_coordinates: coordinates of one group.
std::vector<Statistic> standard_statistics(const Subject &subject, std::size_t group_coordinates, const Claim &claim);
// The same, of outcomes with a given choice of epsilon alone.
Statistic given_selection(const Statistic &statistic, int selected, const Claim &claim);
// Which candidate was selected.
Statistic selection(int candidates, const Claim &claim);

struct Event {
    enum class Relation { at_least, at_most, equal };
    const Statistic *statistic = nullptr;
    Relation relation = Relation::equal;
    double threshold = 0;
    bool contains(const Outcome &outcome) const;
    std::string text() const;
};

// One claim, one order of the two tables.
struct Finding {
    Event event;
    bool backward = false; // x' against x
    std::uint64_t hits = 0, hits_other = 0;
    Verdict verdict;
    double certified_loss() const; // -infinity where there is none
    std::string text() const;
};
// Two for each different claim: for each, the event that looked worst on draws of its own.
struct Report {
    std::vector<Finding> findings;
    bool fail() const;
    const Finding &worst() const;
    std::string text() const;
};
Report run(const Subject &subject, std::uint64_t n = draws());
// One line of the log: what was certified, beside the claim.
void print(const std::string &name, const Report &report);

// Two tables that must not be told apart at all: smallest chi-square p-value over all statistics, times their number.
double indistinguishable_p(const Subject &subject);

} // namespace audit
