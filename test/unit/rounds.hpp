// Rounds of answers by accuracy on sums in memory, by the shipped core: what the server does with it, without the server.
// A step is charged before it is looked at; who calls step() may do anything in between.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "measured.hpp"
#include "privacy/laplace_path.hpp"
#include "privacy/refinement.hpp"
#include "privacy/running_mean.hpp"

namespace rounds {

using namespace dp::privacy;

// The exact sums, group by group, in units of their lattice, which are published as integers.
struct Sums {
    std::vector<std::uint64_t> sensitivities; // of each measure
    std::vector<std::int64_t> exact;
    std::size_t groups() const { return exact.size() / sensitivities.size(); }
};

inline Sums count(std::int64_t n) {
    return {{1}, {n}};
}

// What there is to see after a look.
struct Seen {
    std::vector<double> values, stddevs, halfwidths; // of each coordinate
};

inline bool all_accurate(const Wanted &wanted, const Seen &seen) {
    for (std::size_t i = 0; i < seen.values.size(); ++i)
        if (!accurate(wanted, seen.values[i], seen.stddevs[i], seen.halfwidths[i]))
            return false;
    return true;
}

// Of each measure, the standard deviation that is wanted of it. stddev_for: of error95.
template <class Stddev>
std::vector<double> wanted_of(const Wanted &wanted, const Sums &sums, const Seen &seen, Stddev stddev_for) {
    const std::size_t measures = sums.sensitivities.size();
    std::vector<double> result(measures, std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < seen.values.size(); ++i) {
        const std::size_t j = i % measures;
        if (!accurate(wanted, seen.values[i], seen.stddevs[i], seen.halfwidths[i])) {
            const double of_error95 = wanted.error95 ? stddev_for(*wanted.error95, j) : 0;
            result[j] = std::min(result[j], wanted_stddev(wanted, seen.values[i], seen.stddevs[i], of_error95));
        }
    }
    return result;
}

class LaplaceRound {
  public:
    // What a planted mistake does instead of looking at the path.
    using Noise = std::function<__int128(BitSource &, const LaplacePath &, std::size_t point, std::size_t group,
                                         std::size_t measure)>;

    LaplaceRound(Sums sums, const Wanted &wanted, LaplaceGrid grid, Noise noise = {})
        : sums_(std::move(sums)), wanted_(wanted), grid_(std::move(grid)), noise_(std::move(noise)) {}
    LaplaceRound(const Sums &sums, const Wanted &wanted, Epsilon ceiling)
        : LaplaceRound(sums, wanted, LaplaceGrid(ceiling, measured(sums.sensitivities))) {}

    // The next look, if the total that is left pays for it. The rows are read at the first one only.
    bool step(BitSource &bits, Epsilon left) {
        if (finished() || left < increment())
            return false;
        const std::size_t next = next_point();
        paid_ = grid_.epsilon(next);
        point_ = next;
        if (path_.empty())
            path_.emplace_back(grid_, sums_.groups(), bits);
        const std::size_t measures = sums_.sensitivities.size();
        seen_ = {};
        for (std::size_t i = 0; i < sums_.exact.size(); ++i) {
            const std::size_t j = i % measures;
            const __int128 noise = noise_ ? noise_(bits, path_.front(), point_, i / measures, j)
                                          : path_.front().noise(point_, i / measures, j);
            seen_.values.push_back(static_cast<double>(sums_.exact[i] + noise));
            seen_.stddevs.push_back(grid_.stddev(point_, j));
            seen_.halfwidths.push_back(grid_.halfwidth(point_, j));
        }
        ++steps_;
        return true;
    }
    Epsilon increment() const { return grid_.epsilon(next_point()) - paid_; }
    bool reached() const { return steps_ > 0 && all_accurate(wanted_, judged()); }
    bool finished() const { return steps_ > 0 && (point_ == grid_.size() - 1 || reached()); }
    const Seen &seen() const { return seen_; }
    const LaplaceGrid &grid() const { return grid_; }
    std::size_t point() const { return point_; }
    Epsilon paid() const { return paid_; }
    int steps() const { return steps_; }

    // What planted mistakes do: decide by the exact sums; add the noise of this path to other rows.
    bool decides_by_exact_sums = false;
    void change_sums(const Sums &sums) { sums_ = sums; }

  private:
    Sums sums_;
    Wanted wanted_;
    LaplaceGrid grid_;
    Noise noise_;
    std::vector<LaplacePath> path_; // one, once it is drawn
    std::size_t point_ = 0;
    Epsilon paid_;
    int steps_ = 0;
    Seen seen_;

    Seen judged() const {
        Seen result = seen_;
        if (decides_by_exact_sums)
            result.values.assign(sums_.exact.begin(), sums_.exact.end());
        return result;
    }
    std::size_t next_point() const {
        if (steps_ == 0)
            return 0;
        const auto of_error95 = [this](double halfwidth, std::size_t j) { return grid_.stddev_for(halfwidth, j); };
        return grid_.next(point_, wanted_of(wanted_, sums_, judged(), of_error95));
    }
};

class GaussianRound {
  public:
    GaussianRound(Sums sums, const Wanted &wanted, Rho ceiling)
        : sums_(std::move(sums)), wanted_(wanted), ceiling_(ceiling), measures_(sums_.sensitivities.size()),
          mean_(measures_.size(), sums_.groups()) {}

    // The next look: a measurement of its own, of the rows as they are now.
    bool step(BitSource &bits, Rho left) {
        if (finished())
            return false;
        const ReleasePlan plan =
            plan_measurement(measured(measures_, sums_.sensitivities), false, increment(), Delta());
        if (left < plan.rho())
            return false;
        std::vector<__int128> measured;
        for (std::size_t i = 0; i < sums_.exact.size(); ++i)
            measured.push_back(sums_.exact[i] + draw(bits, plan.noise[i % measures_.size()]));
        mean_.add(plan, measured);
        seen_ = {};
        for (std::size_t i = 0; i < sums_.exact.size(); ++i) {
            const std::size_t j = i % measures_.size();
            seen_.values.push_back(static_cast<double>(mean_.mean(i / measures_.size(), j, 0)));
            seen_.stddevs.push_back(mean_.stddev(j));
            seen_.halfwidths.push_back(mean_.halfwidth(j, 0));
        }
        ++steps_;
        return true;
    }
    // What the next measurement may cost; it costs no more.
    Rho increment() const { return next_rho_in_all() - mean_.rho(); }
    bool reached() const { return steps_ > 0 && all_accurate(wanted_, seen_); }
    bool finished() const { return steps_ > 0 && (reached() || increment() < least_rho(measures_.size())); }
    const Seen &seen() const { return seen_; }
    const RunningMean &mean() const { return mean_; }
    Rho paid() const { return mean_.rho(); }
    int steps() const { return steps_; }

  private:
    Sums sums_;
    Wanted wanted_;
    Rho ceiling_;
    std::vector<Measure> measures_;
    RunningMean mean_;
    int steps_ = 0;
    Seen seen_;

    Rho next_rho_in_all() const {
        if (steps_ == 0)
            return first_rho(ceiling_);
        const auto of_error95 = [](double halfwidth, std::size_t) { return RunningMean::stddev_for(halfwidth, 0); };
        const std::vector<double> wanted = wanted_of(wanted_, sums_, seen_, of_error95);
        Rho most = mean_.rho();
        for (std::size_t j = 0; j < measures_.size(); ++j)
            most = std::max(most, next_rho(mean_.rho(), ceiling_, mean_.stddev(j), wanted[j]));
        return most;
    }
};

// All looks of a round; true if it was reached.
template <class Round, class Price> bool run(Round &round, BitSource &bits, Price left) {
    while (round.step(bits, left - round.paid())) {
    }
    return round.reached();
}

} // namespace rounds
