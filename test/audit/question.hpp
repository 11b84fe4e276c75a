// Tables, questions and policies in memory, answered by the shipped core: measures, price, decision, selection, plan,
// lattice and samplers are those of src/privacy. What remains here is what the server's executor does: WHERE, grouping, sums.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit.hpp"
#include "privacy/contribution.hpp"
#include "privacy/accounting.hpp"
#include "privacy/candidate_range.hpp"
#include "privacy/lattice.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/quantile.hpp"
#include "privacy/risk.hpp"
#include "privacy/sparse_vector.hpp"

namespace audit {

struct Row {
    int group = 0;
    std::vector<double> values; // one per column
    bool matches = true;        // the WHERE clause
    int unit = -1;              // whose it is; -1: a person of its own, where people have one row
};
using Table = std::vector<Row>;

struct Question {
    std::string name;
    std::vector<dp::privacy::AggregateCall> calls;
    std::vector<dp::privacy::Bounds> bounds; // one per column
    int groups = 1;                          // declared keys 0 .. groups-1; thresholded: all keys of the two tables
    bool thresholded = false;
    int max_rows = 0; // of one unit: R; 0: a row is a unit
    int max_groups = 1;
    bool one_in_group = false;  // count(*) is said to be a count of units
    int max_rows_per_group = 0; // C, for Gaussian noise over several groups; 0: not declared
};

enum class Selecting { within_domain, released };

struct Policy {
    dp::privacy::Mechanism mechanism = dp::privacy::Mechanism::laplace;
    dp::privacy::Delta delta;
    std::vector<dp::privacy::Epsilon> candidates; // descending
    double tau = 0.001;
    Selecting selecting = Selecting::within_domain;
    dp::privacy::Epsilon epsilon_svt;
    double tau_var = 0;
};

dp::privacy::Epsilon epsilon(const std::string &text);
dp::privacy::AggregateCall call(dp::privacy::Aggregate fn, int column = -1);
dp::privacy::AggregateCall percentile(double q, int column = 0);

// A question with what follows from its text and from declarations.
class Prepared {
  public:
    Prepared(const Question &question, const Policy &policy);

    const std::vector<dp::privacy::Measure> &measures() const { return measures_; }
    std::size_t group_coordinates() const {
        return static_cast<std::size_t>(dp::privacy::coordinates_of_one_group(measures_));
    }
    // What `within_domain` charges, by the shipped price and decision.
    dp::privacy::Decision decide() const;
    // What `released` may select from, and charges for selecting.
    dp::privacy::SelectionRange range() const;
    dp::privacy::ReleasePlan plan(dp::privacy::Epsilon epsilon) const;
    std::vector<dp::privacy::SvtCandidate> svt_candidates() const;

    // Sums of one table: by group, measure, coordinate. Few rows: 64 bits are enough.
    std::vector<std::int64_t> sums(const Table &table) const;
    std::vector<bool> present(const Table &table) const;
    dp::privacy::Grid grid(const dp::privacy::Measure &measure) const; // of a quantile
    std::vector<std::int64_t> histogram(const Table &table, int group, const dp::privacy::Measure &measure) const;
    dp::privacy::SelectionSums selection_sums(const Table &table, const dp::privacy::SvtCandidate &candidate) const;

    const Question &question() const { return question_; }
    const Policy &policy() const { return policy_; }

  private:
    Question question_;
    Policy policy_;
    std::vector<dp::privacy::Measure> measures_;

    // What one unit brings, clipped, and which groups of it are kept.
    struct Brought {
        std::vector<__int128> values; // by group, measure, coordinate
        std::vector<bool> kept;                  // by group
    };
    std::vector<Brought> brought(const Table &table) const;
    void add_row(const Row &row, Brought *unit) const;
    void keep_groups(int unit, Brought *brought) const;

    // What one row adds to one measure.
    std::vector<std::int64_t> contribution(const dp::privacy::Measure &measure, const Row &row) const;
    double pis(const Row &row) const; // norm of its scaled contributions
};

// What a planted mistake may change. Nothing is replaced in an honest audit.
struct Tampering {
    std::function<void(dp::privacy::ReleasePlan &)> plan;
    std::function<std::int64_t(dp::privacy::BitSource &, const dp::privacy::MeasureNoise &)> sampler;
    std::function<dp::privacy::Epsilon(const Table &)> epsilon;        // instead of the decision
    std::function<Question(const Question &, const Table &)> question; // as seen from one table
    std::function<void(dp::privacy::SvtCandidate &)> candidate;
};

// The two tables under one policy. Claims: what the ledger charges, rho included; of a selection alone: epsilon_svt.
Subject subject(const Question &question, const Policy &policy, const Table &x, const Table &y,
                const Tampering &tampering = {});

} // namespace audit
