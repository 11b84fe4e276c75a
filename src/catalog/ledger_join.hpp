// Two domains that turn out to be of the same people: one odometer for both (formulas.md 9.13).
#pragma once

#include "border/spi.hpp"
#include "catalog/ledger.hpp"

namespace dp::catalog {

// A hash of what a join rests on beside the totals: both domains, their tables, views, policies, and who owns the tables. Whoever asks
// for a join has looked at these; the writer looks again under the locks.
const char *versions_of_domains(const border::Spi &spi, bool read_only, const char *id, const char *other);

// Tells whether they say that nothing was ever charged, answered or denied in the first of the two, and that nobody has a policy on its
// views. It joins under any rule.
bool is_untold(const char *versions);

// In the writer's transaction: locks both domains and both odometers, ends their epochs, adds the sums of the entry's domain to those
// of entry.joining (but of one that was told of nothing), and moves its tables there. Waits for no lock on these: `busy`. `denied`: the sums would be beyond the bound.
Outcome join_odometers(const border::Spi &spi, const Entry &entry, Verdict *verdict);

} // namespace dp::catalog
