// One answer, from its price to its rows, as steps: what is charged next, and what may be read once that is durable. Who
// takes the steps (a keeper for analysts, the owner's own call) commits the charges in between.
#pragma once

#include "release/checked.hpp"
#include "release/steps.hpp"

namespace dp::release {

struct Round;

// Looks at public facts alone; under within_data and find_epsilon at the rows (choose). Lives in CurrentMemoryContext.
// checked: lives as long. One with a signal ends with that in the place of the answer: one charge, then the rows of the answer are
// read. refinable: the answer that it goes on from, or null.
Round *begin(const Checked &checked, const Refinable *refinable);
// The charge that comes next.
catalog::Entry *due(Round *round);
// It is committed. From here on the rows that it pays for may be read.
void charged(Round *round);
// Whether rows are read before the next charge, which they decide on; false: the answer can be written.
bool must_select(const Round *round);
bool is_paid(const Round *round);
void select(Round *round);
// An answer by accuracy (release/refinement_steps): whether a step is paid and not taken. step() reads the rows, the first time, and then
// either a charge is due or the answer is paid.
bool must_step(const Round *round);
void step(Round *round);
// The charge that is due was not committed: the answer is what the steps before it have made of it.
void stop_early(Round *round);
// Reads the rows, unless they have been, and writes the noisy answer.
Answer finish(Round *round);

struct Signalled;
Signalled finish_signal(Round *round);

// Returns an answer that needs no round: one that was paid before, or nothing private. Else rows = null. Reads no private row.
Answer uncharged(const rows::Question *question, const Terms &terms);

// Discards what was read and not answered. In a keeper a round that has selected must come to finish() or here.
void discard(Round *round);

// Hashes what is charged first: the resolved question and the whole entry. Whoever comes to another hash reads nothing for that
// charge.
Datum hash_of_charge(const Round *round);

// Continues what another process has charged: the round is where charged() would leave it.
void continue_charged(Round *round, privacy::Epsilon epsilon, privacy::Day period);

} // namespace dp::release
