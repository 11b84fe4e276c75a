// Rounds of answers by accuracy as subjects of an audit: what an analyst sees is where a round ended, the value there, the one
// before it, and what was paid (formulas.md 6, 10).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../unit/rounds.hpp"
#include "audit.hpp"
#include "privacy/zcdp.hpp"
#include "system_bits.hpp"

namespace audit {

namespace privacy = dp::privacy;

// Where values of an outcome stand: of each round the last and the one before; then what all rounds together were paid.
constexpr std::size_t values_of_a_round = 2;

inline privacy::Wanted within(double relative) {
    privacy::Wanted wanted;
    wanted.within = relative;
    return wanted;
}

// Takes the next step of a round and notes what there is to see.
template <class Round, class Price> bool look(Round &round, privacy::BitSource &bits, Price left, double *values) {
    if (!round.step(bits, left))
        return false;
    values[1] = values[0];
    values[0] = round.seen().values[0];
    return true;
}

// What a planted mistake does otherwise.
struct RoundTampering {
    rounds::LaplaceRound::Noise noise;
    bool only_last_increment = false; // is charged
    bool decides_by_exact_sums = false;
    std::optional<std::int64_t> later; // what the count is from the second look on, if it is read again
};

// Rounds about the same count in turns, each as long as it goes on; the last one's end is what was selected.
inline Draw laplace_rounds(std::int64_t exact, const privacy::Wanted &wanted,
                           const std::vector<privacy::Epsilon> &ceilings, const RoundTampering &tampering = {}) {
    const auto unlimited = privacy::Epsilon::from_units(1000000000000);
    std::vector<privacy::LaplaceGrid> grids;
    for (privacy::Epsilon ceiling : ceilings)
        grids.emplace_back(ceiling, privacy::measured({1}));
    return [=](privacy::BitSource &bits, Outcome &outcome) {
        outcome = Outcome();
        outcome.values.assign(values_of_a_round * grids.size() + 1, std::numeric_limits<double>::quiet_NaN());
        std::vector<rounds::LaplaceRound> all;
        for (const privacy::LaplaceGrid &grid : grids)
            all.emplace_back(rounds::count(exact), wanted, grid, tampering.noise).decides_by_exact_sums =
                tampering.decides_by_exact_sums;
        std::vector<privacy::Epsilon> before(all.size());
        for (bool any = true; any;) {
            any = false;
            for (std::size_t k = 0; k < all.size(); ++k) {
                const privacy::Epsilon paid = all[k].paid();
                if (!look(all[k], bits, unlimited, &outcome.values[k * values_of_a_round]))
                    continue;
                any = true;
                before[k] = paid;
                if (tampering.later)
                    all[k].change_sums(rounds::count(*tampering.later));
            }
        }
        privacy::Epsilon paid;
        for (std::size_t k = 0; k < all.size(); ++k)
            paid = paid + all[k].paid() - (tampering.only_last_increment ? before[k] : privacy::Epsilon());
        outcome.values.back() = paid.value();
        outcome.selected = static_cast<int>(all.back().point());
    };
}

inline Draw gaussian_rounds(std::int64_t exact, const privacy::Wanted &wanted,
                            const std::vector<privacy::Rho> &ceilings, const RoundTampering &tampering = {}) {
    const auto unlimited = privacy::Rho::from_units(privacy::int128{1} << 62);
    return [=](privacy::BitSource &bits, Outcome &outcome) {
        outcome = Outcome();
        outcome.values.assign(values_of_a_round * ceilings.size() + 1, std::numeric_limits<double>::quiet_NaN());
        std::vector<rounds::GaussianRound> all;
        for (privacy::Rho ceiling : ceilings)
            all.emplace_back(rounds::count(exact), wanted, ceiling);
        std::vector<privacy::Rho> before(all.size());
        for (bool any = true; any;) {
            any = false;
            for (std::size_t k = 0; k < all.size(); ++k) {
                const privacy::Rho paid = all[k].paid();
                if (!look(all[k], bits, unlimited, &outcome.values[k * values_of_a_round]))
                    continue;
                any = true;
                before[k] = paid;
            }
        }
        privacy::Rho paid;
        for (std::size_t k = 0; k < all.size(); ++k)
            paid = paid + all[k].paid() - (tampering.only_last_increment ? before[k] : privacy::Rho());
        outcome.values.back() = paid.value();
        outcome.selected = all.back().steps();
    };
}

// NaN if one of them is.
inline double least(double a, double b) {
    return std::isnan(a) ? a : a < b ? a : b;
}

// Statistics of the values of `rounds` rounds, under one claim each.
inline std::vector<Statistic> round_statistics(std::size_t count, double x, double y, const Claim &claim) {
    std::vector<Statistic> result;
    std::vector<double> around;
    for (double centre : {x, y})
        for (int d = -4; d <= 4; ++d)
            around.push_back(centre + d);
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t last = k * values_of_a_round;
        result.push_back({"y" + std::to_string(k), [last](const Outcome &o) { return o.values[last]; }, around, claim});
        result.push_back({"change of y" + std::to_string(k),
                          [last](const Outcome &o) { return o.values[last] - o.values[last + 1]; },
                          {-2, -1, 0, 1, 2},
                          claim});
        result.push_back({"least of two looks at y" + std::to_string(k),
                          [last](const Outcome &o) { return least(o.values[last], o.values[last + 1]); }, around,
                          claim});
        result.push_back({"largest of two looks at y" + std::to_string(k),
                          [last](const Outcome &o) { return -least(-o.values[last], -o.values[last + 1]); }, around,
                          claim});
    }
    if (count > 1) {
        const auto each = [count](const Outcome &o, bool least) {
            double result = o.values[0];
            for (std::size_t k = 1; k < count; ++k)
                result = least ? std::min(result, o.values[k * values_of_a_round])
                               : std::max(result, o.values[k * values_of_a_round]);
            return result;
        };
        result.push_back({"all at least", [each](const Outcome &o) { return each(o, true); }, around, claim});
        result.push_back({"all at most", [each](const Outcome &o) { return each(o, false); }, around, claim});
        result.push_back({"sum of all",
                          [count](const Outcome &o) {
                              double sum = 0;
                              for (std::size_t k = 0; k < count; ++k)
                                  sum += o.values[k * values_of_a_round];
                              return sum;
                          },
                          {},
                          claim});
    }
    return result;
}

// The same of outcomes that cost at most `most`: such transcripts lose no more than that.
inline void add_statistics_up_to(double most, const std::vector<Statistic> &statistics, std::vector<Statistic> *to) {
    for (const Statistic &s : statistics) {
        const auto of = s.of;
        to->push_back({s.name + " at a cost up to " + std::to_string(most),
                       [of, most](const Outcome &o) {
                           return o.values.back() <= most ? of(o) : std::numeric_limits<double>::quiet_NaN();
                       },
                       s.points, s.claim});
    }
}

// What the ends of rounds cost, as quantiles of draws of their own.
inline std::vector<double> usual_costs(const Draw &draw, int n) {
    SystemBits bits;
    Outcome outcome;
    std::vector<double> costs;
    constexpr int sample = 2000;
    for (int i = 0; i < sample; ++i) {
        draw(bits, outcome);
        costs.push_back(outcome.values.back());
    }
    std::sort(costs.begin(), costs.end());
    std::vector<double> result;
    for (int i = 1; i <= n; ++i)
        result.push_back(costs[static_cast<std::size_t>(i) * (sample - 1) / static_cast<std::size_t>(n)]);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

// The points of the grid at which one round ends more than rarely.
inline std::vector<int> usual_ends(const Draw &draw) {
    SystemBits bits;
    Outcome outcome;
    std::map<int, int> seen;
    constexpr int sample = 2000;
    for (int i = 0; i < sample; ++i) {
        draw(bits, outcome);
        ++seen[outcome.selected];
    }
    std::vector<int> result;
    for (const auto &[end, times] : seen)
        if (times > sample / 30)
            result.push_back(end);
    return result;
}

// Laplace rounds: each end against the epsilon paid there, and all that cost at most so much against that.
inline Subject laplace_subject(const std::string &name, std::int64_t x, std::int64_t y, const privacy::Wanted &wanted,
                               const std::vector<privacy::Epsilon> &ceilings, const RoundTampering &tampering = {}) {
    Subject s{name,
              {laplace_rounds(x, wanted, ceilings, tampering), {}},
              {laplace_rounds(y, wanted, ceilings, tampering), {}},
              {},
              {}};
    const auto statistics = [&](const Claim &claim) {
        std::vector<Statistic> result =
            round_statistics(ceilings.size(), static_cast<double>(x), static_cast<double>(y), claim);
        result.push_back({"end", [](const Outcome &o) { return static_cast<double>(o.selected); }, {}, claim});
        return result;
    };
    for (double cost : usual_costs(s.x.draw, 6))
        add_statistics_up_to(cost, statistics({cost, 0}), &s.statistics);
    if (ceilings.size() == 1 && !tampering.only_last_increment) {
        const privacy::LaplaceGrid grid(ceilings[0], privacy::measured({1}));
        for (int end : usual_ends(s.x.draw))
            for (const Statistic &one : statistics({grid.epsilon(static_cast<std::size_t>(end)).value(), 0}))
                s.statistics.push_back(given_selection(one, end, one.claim));
    }
    return s;
}

// Gaussian rounds: (eps(rho, d), d) for what was paid at most, and for the ceilings together.
inline Subject gaussian_subject(const std::string &name, std::int64_t x, std::int64_t y, const privacy::Wanted &wanted,
                                const std::vector<privacy::Rho> &ceilings, const RoundTampering &tampering = {}) {
    Subject s{name,
              {gaussian_rounds(x, wanted, ceilings, tampering), {}},
              {gaussian_rounds(y, wanted, ceilings, tampering), {}},
              {},
              {}};
    privacy::Rho whole;
    for (privacy::Rho ceiling : ceilings)
        whole = whole + ceiling;
    std::vector<double> costs = usual_costs(s.x.draw, 4);
    costs.back() = whole.value();
    for (double cost : costs)
        for (const char *d : {"0.001", "0.05"}) {
            const privacy::Delta delta = *privacy::Delta::parse(d);
            const Claim claim{
                privacy::eps_from_rho(privacy::Rho::from_double(cost, privacy::Rounding::up), delta).value(),
                delta.value()};
            std::vector<Statistic> statistics =
                round_statistics(ceilings.size(), static_cast<double>(x), static_cast<double>(y), claim);
            statistics.push_back(
                {"steps", [](const Outcome &o) { return static_cast<double>(o.selected); }, {}, claim});
            add_statistics_up_to(cost, statistics, &s.statistics);
        }
    return s;
}

} // namespace audit
