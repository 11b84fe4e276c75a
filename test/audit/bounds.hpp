// Clopper-Pearson bounds of an event's probability on two neighbouring tables, and the privacy loss that they certify
// (formulas.md 10).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace audit {

// What a mechanism promises of an event: P(event) <= e^epsilon P'(event) + delta.
struct Claim {
    double epsilon = 0, delta = 0;
    bool operator==(const Claim &o) const { return epsilon == o.epsilon && delta == o.delta; }
};

struct Verdict {
    double p_lower = 0, p_upper = 1;
    std::optional<double> certified_loss; // ln((p_lower - delta) / p_upper); none where p_lower <= delta
    bool fail = false;
};

// Both bounds hold together with probability 1 - alpha, for every n. The event must be fixed before the draws.
double probability_lower(std::uint64_t hits, std::uint64_t n, double alpha);
double probability_upper(std::uint64_t hits, std::uint64_t n, double alpha);
Verdict judge(double p_lower, double p_upper, const Claim &claim);
Verdict audit_bounds(std::uint64_t hits, std::uint64_t hits_other, std::uint64_t n, const Claim &claim, double alpha);

// The same for many events on the same n: each bound is computed once.
class BoundsTable {
  public:
    BoundsTable(std::uint64_t n, double alpha);
    Verdict of(std::uint64_t hits, std::uint64_t hits_other, const Claim &claim);

  private:
    std::uint64_t n_;
    double alpha_;
    std::vector<double> lower_, upper_; // negative: not computed yet
};

} // namespace audit
