// How often the same charges could be made again, one round of them after the other, until a bound denies one (formulas.md 5.2). Decided
// by the same test as each charge, on sums as they would be then; the number is found by doubling and bisection.
#pragma once

#include <cstdint>
#include <vector>

#include "privacy/accounting.hpp"

namespace dp::privacy {

// One charge of a round: what it costs every time, and what it meets. All of the public account: no amount that was chosen from the data
// moves the result.
struct Repeated {
    Cost cost;
    BoundSettings bound;
    Totals totals, role; // of standing(): as they are in the periods of now
    std::optional<Epsilon> share, profile;
    int table = 0, grantee = 0; // equal numbers: the same sums
};

struct Remaining {
    bool bounded = true;
    std::int64_t rounds = 0;      // that would all be answered
    Denial denial = Denial::none; // of the first charge behind them that is not,
    std::size_t denied = 0;       // and which of the round it is
};

// The round is not empty.
Remaining remaining(const std::vector<Repeated> &round);

} // namespace dp::privacy
