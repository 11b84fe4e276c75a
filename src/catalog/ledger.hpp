// The write half of the catalog as its callers see it: what is to be charged, and the verdict (architecture.md, 7).
//
// A charge made in the caller's transaction would die with its rollback. So whoever charges hands an entry to a process
// that commits it in a transaction of its own (ledger_writer); how it gets there and back is set once per process
// (deliver_by). Only "committed" lets the caller go on. A writer that dies, a timeout, a cancel: an error and no answer,
// the charge may stand.
#pragma once

#include "privacy/accounting.hpp"
#include "privacy/charged_steps.hpp"

#include "border/guard.hpp"
#include "catalog/requests.hpp"
#include "catalog/settings.hpp"
#include "catalog/stored.hpp"

namespace dp::catalog {

// Says what is to be charged. Texts live in the caller's memory.
struct Charge {
    const Settings *settings;
    Asker asker;
    const char *query;     // the analyst's or controller's query (as the ledger shows it)
    const char *grantee;   // of the policy, or null: the controller's own call
    Oid grantee_oid;       // whoever has its name by now; InvalidOid without one
    const char *algorithm; // within_domain, profile, released, within_data, find_epsilon, find_and_release ...
    const char *guarantee;
    const char *kind; // pure, gaussian, selection, increment
    privacy::Mechanism mechanism;
    privacy::Account account;
    // For privacy::decide
    double eps_star;
    double slack;
    const std::vector<privacy::Epsilon> *candidates;
    privacy::Caps caps;
    privacy::Delta delta, delta_noise, delta_groups;
    const char *parameters; // JSON object: public facts only
    // Names what will be released, for the zCDP cost of the noise that the chosen epsilon means (plan_release).
    const std::vector<privacy::Measure> *measures;
    bool thresholded;
    // For a charge that ends a sparse vector round: what its selection was charged, and the most that the round could have
    // come to. Otherwise 0.
    privacy::Epsilon selection, worst;
    // Gives the price of a step of a round (as_step); none of the others are looked at then but settings, share and deltas.
    privacy::Step step;
    // Says which cells are read, under a partition. Null: nobody says, and all are charged, also those to come.
    const Touched *touched;
};

// bare_suspension: without a row in the ledger, when somebody holds the odometer. store: an answer, to be given again; like the
// one before it never travels. settle: the answer to a request, likewise.
enum class RequestKind : uint32 {
    charge,
    selection,
    create_odometer,
    join,
    suspension,
    bare_suspension,
    store,
    settle
};

// Only `committed` lets the caller go on; whatever fails before the commit leaves `pending`. lost: it is not known whether it is
// committed, or something failed behind the commit. busy: somebody else holds the odometer, nothing was
// done, and it may be tried again. ahead: the odometer is in an epoch that its table has not come to. gone: the request that it pays for
// is not pending, or somebody is changing it; nothing was done. unlooked: its cells are too many to look into under the odometer's lock.
enum class Outcome : uint32 { pending, committed, denied, changing, busy, ahead, gone, lost, unlooked };

// Why a controller's own call was denied. Of an analyst's request it stays empty.
struct Reason {
    privacy::Denial denial;
    privacy::Bound bound;
    privacy::Basis basis; // of what was asked
    privacy::Epsilon asked, spent, total;
    privacy::Rho rho_asked, rho_spent, rho_total;
    privacy::Delta delta_asked, delta_spent, delta_total;
    bool has_period, lifetime; // spent and total are those of a period; of all periods together
};

// Tells the controller why, and nobody else: a policy's charge tells its analyst that it was denied, and no more. Core region.
Reason reason_for(const Charge &what, const privacy::BoundSettings &bound, const privacy::Totals &totals,
                  privacy::Denial denial, const privacy::Cost &cost);

// Tells what became of a request. Flat bytes, so that it can stand in shared memory.
struct Verdict {
    Outcome outcome;
    privacy::Epsilon epsilon; // what was charged
    uint64 first, last;       // of a selection: candidates [first, last) are left
    int64 ledger_row;         // of a charge with a claim; 0: none was written
    privacy::Day period;      // of a charge, where a period is set: the first day of the one it is in
    DeniedCells denied;       // of a denial under a partition
    Reason reason;
};

// The domain that stays when two are joined; the entry's settings name a table of the other one.
struct Joining {
    Oid relation; // a table of it
    const char *id_text, *relation_name;
    const char *versions; // of what both had declared when it was looked at (versions_of_domains)
};

// One request on its way to the ledger.
struct Entry {
    RequestKind kind;
    const Charge *what;
    privacy::Epsilon epsilon_svt; // of a selection: what it costs,
    uint64 tested;                // and how many candidates the data decide on
    const Storing *storing;       // of a store, which needs no more of `what` than its settings
    const Settling *settling;     // of a settle, likewise
    const Claim *claim;           // the request that a charge or a selection pays for; or null. Neither travels
    Joining joining;              // of a join
    bool looked;                  // into its cells, without the lock (look_into_many)
    privacy::Denial denial;       // why it was denied then; sums only grow
    Verdict seen;                 // what was found then
    Verdict verdict;
    const char *hint; // when it stays pending: the remedy, if the one who delivers knows it; or null
};

Entry entry_for(const Charge &what, RequestKind kind = RequestKind::charge);
Entry entry_for_selection(const Charge &what, privacy::Epsilon epsilon_svt, uint64 tested);

// Runs one entry to its end and leaves its verdict, or raises.
using Deliver = void (*)(Entry *entry);
// Set when the library is loaded, or at the start of a process that commits its charges itself.
void deliver_by(Deliver deliver);

// The error for an entry that was not committed:
//   53400 "query denied"                                  a bound or the preference does not allow it (a denial is counted);
//                                                        with the reason for the controller's own call, and for it alone
//   55000 "the settings are changing"                     nothing charged
//   55000 "the odometer of ... is ahead of the table"     nothing charged
//   55000 "request ... is not pending any more ..."       nothing charged
//   55000 "charge was not committed; no answer is released"  with the cause in the hint (no worker slot, lock, crash)
[[noreturn]] void refuse(const Entry &entry);

// Runs the entry to its end. Returns whether it is committed.
bool attempt_commit(Entry *entry);
// Does so, and raises refuse() when it is not committed.
void commit(Entry *entry);
// 55000: somebody is changing what the charge rests on.
[[noreturn]] void refuse_changing(const Settings &settings);
// 55000: totals of another time than the settings, as a restore of a part leaves them.
[[noreturn]] void refuse_ahead(const Settings &settings);

// Runs the charge to its end and returns the epsilon that was charged. Errors: refuse(), check_can_charge().
privacy::Epsilon charge(const Charge &what);

// Returns the charge as a step of a round: algorithm `accuracy`. ceiling: the most that the round can come to in epsilon, 0 on the
// basis rho. The writer does not choose: it charges the step if table and role may pay it. A later step that is `denied` (it counts
// as no denial) or `changing` ends the round with what is paid; nothing was charged for it.
Charge as_step(const Charge &what, const privacy::Step &step, privacy::Epsilon ceiling);

// The charge of nothing with which the ledger says that the asker's roles are suspended on the view.
Charge suspension_of(const Settings &settings, const Asker &asker, const char *query, const char *grantee,
                     Oid grantee_oid);

// Creates the odometer row of a newly protected table (idempotent), in the writer as well: a rolled back dp_protect then
// leaves an unused row and nothing else.
void create_odometer(const char *id_text, const char *relation_name, Oid owner);

// Joins the domain of from's table into another, in the writer and in one transaction of its own: no rollback of the caller's takes
// it back. Whatever is not `committed` has joined nothing; hint: as an entry's.
Verdict join_domains(const Settings &from, const Joining &into, const char *query, const char **hint);

// Refuses where nothing can be asked: recovery, parallel workers (55000, with hint).
void check_can_ask();
// Refuses these, and SERIALIZABLE: for calls that charge, and read rows in their own process.
void check_can_charge();

} // namespace dp::catalog
