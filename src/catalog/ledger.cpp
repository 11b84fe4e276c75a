// The caller's side of a charge: entry, verdict, refusal. Nothing here writes to the ledger.
#include "catalog/ledger.hpp"

#include "catalog/decimals.hpp"

namespace dp::catalog {

// A worker asked for on a standby never starts, and the wait for it never ends.
static void check_not_in_recovery() {
    if (RecoveryInProgress())
        refuse_state("cannot charge a privacy loss during recovery",
                     "Restricted views are answered by the primary server.");
}

void check_can_ask() {
    check_not_in_recovery();
    if (IsInParallelMode() || IsParallelWorker())
        refuse_state("cannot charge a privacy loss during a parallel operation",
                     "Declare functions that query restricted views PARALLEL UNSAFE.");
#if PG_VERSION_NUM < 170000 // removed there
    // A snapshot that is too old fails at the first page that was changed since, as one row may have changed it.
    if (OldSnapshotThresholdActive())
        refuse_state("cannot query a restricted view while old_snapshot_threshold is set",
                     "Set old_snapshot_threshold = -1, the default, and restart the server.");
#endif
}

void check_can_charge() {
    check_can_ask();
    // Its predicate locks, shown to everyone in pg_locks, count the pages and rows that an answer has read.
    if (IsolationIsSerializable())
        refuse_state("cannot read a protected table in a serializable transaction",
                     "Use the isolation level READ COMMITTED or REPEATABLE READ.");
}

namespace {

template <class Number> const char *printed(Number number) {
    return numeric_text(to_numeric(number));
}

const char *in_period(const Reason &reason) {
    return reason.has_period && !reason.lifetime ? " in this period" : "";
}

// No candidate: by the rows or the preference, or (a selection) by what the bounds leave.
const char *lack_of_candidates(const Charge &what, const Reason &reason) {
    if (what.candidates->empty())
        return "No candidate of epsilon was accepted by the selection.";
    const char *least = printed(what.candidates->back());
    if (strcmp(what.kind, "selection") == 0 && reason.bound == privacy::Bound::zcdp && reason.total.units() > 0)
        return psprintf("Epsilon %s of epsilon_pure %s and rho %s of %s are spent: no candidate, from %s on, fits "
                        "beside epsilon_svt.",
                        printed(reason.spent), printed(reason.total), printed(reason.rho_spent),
                        printed(reason.rho_total), least);
    if (strcmp(what.kind, "selection") == 0 && reason.bound == privacy::Bound::zcdp)
        return psprintf("Rho %s of %s is spent: no candidate, from %s on, fits beside epsilon_svt.",
                        printed(reason.rho_spent), printed(reason.rho_total), least);
    if (strcmp(what.kind, "selection") == 0)
        return psprintf("Epsilon %s is spent of %s %s%s: no candidate, from %s on, fits beside epsilon_svt.",
                        printed(reason.spent), reason.lifetime ? "epsilon_lifetime" : "epsilon_total",
                        printed(reason.total), in_period(reason), least);
    if (!(what.eps_star > 0))
        return "No epsilon meets the preference.";
    return psprintf("The preference permits epsilon up to about %.6g, and the smallest candidate is %s.", what.eps_star,
                    least);
}

// Says what a charge would be, beside what is spent of a total.
template <class Number>
const char *compare(const char *unit, Number asked, Number spent, Number total, const char *name,
                    const char *when = "") {
    return psprintf("The charge would be %s %s; %s of %s %s is spent%s.", unit, printed(asked), printed(spent), name,
                    printed(total), when);
}

// Under zcdp: pure charges may have a total of their own, and only groups that nobody declared need a delta.
const char *explain_zcdp(const Reason &reason) {
    if (reason.denial == privacy::Denial::delta_total)
        return psprintf("The charge would be delta %s; %s of the %s that delta_total leaves beside delta_conversion is "
                        "spent.",
                        printed(reason.delta_asked), printed(reason.delta_spent), printed(reason.delta_total));
    return reason.basis == privacy::Basis::epsilon
               ? compare("epsilon", reason.asked, reason.spent, reason.total, "epsilon_pure")
               : compare("rho", reason.rho_asked, reason.rho_spent, reason.rho_total, "rho_total");
}

const char *explain_denial(const Charge &what, const Reason &reason) {
    switch (reason.denial) {
    case privacy::Denial::no_candidate:
        return lack_of_candidates(what, reason);
    case privacy::Denial::dynamic_bound:
        return psprintf("The charge would be epsilon %s; under the bound dynamic it must be above what is spent, %s.",
                        printed(reason.asked), printed(reason.spent));
    case privacy::Denial::epsilon_total:
    case privacy::Denial::epsilon_lifetime:
        return reason.bound == privacy::Bound::zcdp && !reason.lifetime
                   ? explain_zcdp(reason)
                   : compare("epsilon", reason.asked, reason.spent, reason.total,
                             reason.lifetime ? "epsilon_lifetime" : "epsilon_total", in_period(reason));
    case privacy::Denial::delta_total:
    case privacy::Denial::delta_lifetime:
        return reason.bound == privacy::Bound::zcdp && !reason.lifetime
                   ? explain_zcdp(reason)
                   : compare("delta", reason.delta_asked, reason.delta_spent, reason.delta_total,
                             reason.lifetime ? "delta_lifetime" : "delta_total", in_period(reason));
    default:
        return nullptr;
    }
}

// Names the cells that have nothing left, and what leaves them out. Where the view does not show the column nobody could name one.
void refuse_cells(const Charge &what, const DeniedCells &denied) {
    const Partition *partition = what.settings->partition;
    if (denied.n == 0 || partition == nullptr || what.touched == nullptr || !what.touched->shown)
        return;
    const char *condition = condition_without(*partition, *what.touched, denied);
    refuse_with(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED, "query denied",
                condition == nullptr ? nullptr : psprintf("\"AND %s\" leaves out what is used up.", condition),
                text_of_denied(*partition, denied));
}

// Whether the tables do not show which cells are read, and a view has the column.
static bool is_on_all_cells(const Charge &what) {
    return what.touched != nullptr && what.touched->shown && what.touched->partition == 0;
}

[[noreturn]] void refuse_denied(const Charge &what, const Verdict &verdict) {
    const Reason &reason = verdict.reason;
    refuse_cells(what, verdict.denied);
    // Analysts get no other detail, and one hint for every reason: what is left is the controller's business.
    const char *detail = what.grantee == nullptr ? explain_denial(what, reason) : nullptr;
    if (detail == nullptr)
        refuse_with(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED, "query denied",
                    "dp_explain() tells what a query would cost now, and whether it would be answered.",
                    is_on_all_cells(what) ? "Its tables do not show which cells it reads: it is charged to all, and to those to come."
                                          : nullptr);
    const bool total = reason.denial == privacy::Denial::epsilon_total ||
                       reason.denial == privacy::Denial::delta_total || reason.lifetime;
    refuse_with(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED, "query denied",
                total ? "dp_set_odometer() sets the total. A smaller epsilon, or candidates that are "
                        "smaller, cost less."
                      : nullptr,
                detail);
}

[[noreturn]] void refuse_gone(const Claim &claim) {
    refuse_state(psprintf("request " INT64_FORMAT " is not pending any more, or is being changed", claim.request),
                 "Look at dp_requests(NULL), and try again.", "Nothing was charged.");
}

const char *const log_tells =
    "The server log tells what stopped the background worker, for instance a lock on the ledger. Try again.";

const char *hint_for(const Entry &entry) {
    if (entry.verdict.outcome == Outcome::busy)
        return "Another transaction holds the odometer of the table. Try again.";
    return entry.hint != nullptr ? entry.hint : log_tells;
}

Deliver delivery;

} // namespace

// Tells whether it is the total over all periods that is in the way; of a selection without candidates, the one that leaves less.
static bool is_for_life(const privacy::BoundSettings &bound, const privacy::Spent &spent, privacy::Denial denial) {
    if (denial == privacy::Denial::epsilon_lifetime || denial == privacy::Denial::delta_lifetime)
        return true;
    return denial == privacy::Denial::no_candidate && bound.period && bound.epsilon_lifetime &&
           *bound.epsilon_lifetime - spent.epsilon <
               bound.epsilon_total.value_or(privacy::Epsilon()) - spent.period.epsilon;
}

// Sets the reason under bounds that count in epsilon.
static void tell_of_epsilon(const privacy::BoundSettings &bound, const privacy::Spent &spent, privacy::Denial denial,
                            Reason *reason) {
    reason->has_period = bound.period.has_value();
    reason->lifetime = is_for_life(bound, spent, denial);
    const bool period = reason->has_period && !reason->lifetime;
    reason->spent = period ? spent.period.epsilon : spent.epsilon;
    reason->total = (reason->lifetime ? bound.epsilon_lifetime : bound.epsilon_total).value_or(privacy::Epsilon());
    reason->delta_spent = period ? spent.period.delta : spent.delta;
    reason->delta_total = reason->lifetime ? bound.delta_lifetime.value_or(privacy::Delta()) : bound.delta_total;
}

Reason reason_for(const Charge &what, const privacy::BoundSettings &bound, const privacy::Totals &totals,
                  privacy::Denial denial, const privacy::Cost &cost) {
    Reason reason = {};
    if (what.grantee != nullptr)
        return reason;
    const privacy::Spent spent = totals.read_by(what.account);
    const bool zcdp = bound.bound == privacy::Bound::zcdp;
    reason.denial = denial;
    reason.bound = bound.bound;
    reason.basis = bound.basis_of(cost.pure);
    reason.asked = cost.epsilon;
    reason.rho_asked = cost.rho;
    reason.delta_asked = cost.charged(reason.basis);
    if (!zcdp) {
        tell_of_epsilon(bound, spent, denial, &reason);
        return reason;
    }
    reason.spent = spent.epsilon_of_epoch();
    reason.total = bound.epsilon_pure;
    reason.rho_spent = spent.rho;
    reason.rho_total = bound.rho_total;
    reason.delta_spent = spent.delta_of_epoch();
    reason.delta_total = bound.delta_mechanisms();
    return reason;
}

void deliver_by(Deliver deliver) {
    delivery = deliver;
}

void refuse_changing(const Settings &settings) {
    refuse_state(psprintf("the settings of %s are changing", settings.relation_name),
                 "Try again after the transaction that changes them has ended.");
}

void refuse_ahead(const Settings &settings) {
    refuse_state(
        psprintf("the odometer of %s is ahead of the table", settings.relation_name),
        psprintf("SELECT dp_set_odometer(%s) by the owner of the table begins an epoch behind both; he should look "
                 "at dp_audit(), and at the totals, before.",
                 quote_literal_cstr(settings.relation_name)),
        "Its totals are of a later epoch than its settings, as after a restore of a part.");
}

void refuse(const Entry &entry) {
    switch (entry.verdict.outcome) {
    case Outcome::denied:
        refuse_denied(*entry.what, entry.verdict);
    case Outcome::changing:
        refuse_changing(*entry.what->settings);
    case Outcome::ahead:
        refuse_ahead(*entry.what->settings);
    case Outcome::gone:
        refuse_gone(*entry.claim);
    case Outcome::lost:
        refuse_with(ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN, "no answer is released",
                    "The controller sees in the ledger whether it was. The server log tells the cause.",
                    "It is not known whether the charge was committed.");
    default:
        refuse_with(entry.verdict.outcome == Outcome::busy ? ERRCODE_LOCK_NOT_AVAILABLE
                                                           : ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "charge was not committed; no answer is released", hint_for(entry), "Nothing was charged.");
    }
}

Entry entry_for(const Charge &what, RequestKind kind) {
    Entry entry = {};
    entry.kind = kind;
    entry.what = &what;
    return entry;
}

Entry entry_for_selection(const Charge &what, privacy::Epsilon epsilon_svt, uint64 tested) {
    Entry entry = entry_for(what, RequestKind::selection);
    entry.epsilon_svt = epsilon_svt;
    entry.tested = tested;
    return entry;
}

bool attempt_commit(Entry *entry) {
    check_can_charge();
    delivery(entry);
    return entry->verdict.outcome == Outcome::committed;
}

void commit(Entry *entry) {
    if (!attempt_commit(entry))
        refuse(*entry);
}

privacy::Epsilon charge(const Charge &what) {
    Entry entry = entry_for(what);
    commit(&entry);
    return entry.verdict.epsilon;
}

// How exactly each number was reached that has been released so far is bounded by what was charged until then.
static const char *guarantee_of_step(const privacy::Step &step, bool thresholded) {
    if (step.basis == privacy::Basis::rho)
        return thresholded ? "zCDP but for an event of probability delta_groups" : "zCDP";
    return thresholded ? "ex-post; rho but for an event of probability delta_groups" : "ex-post";
}

Charge as_step(const Charge &what, const privacy::Step &step, privacy::Epsilon ceiling) {
    const bool pure = step.basis == privacy::Basis::epsilon;
    Charge charge = what;
    charge.step = step;
    charge.step.is_step = true;
    charge.algorithm = "accuracy";
    charge.kind = step.increment ? "increment" : pure ? "pure" : "gaussian";
    charge.mechanism = pure ? privacy::Mechanism::laplace : privacy::Mechanism::gaussian;
    if (step.increment) // groups have appeared with the first step
        charge.delta_groups = privacy::Delta();
    charge.delta = charge.delta_groups;
    charge.delta_noise = privacy::Delta();
    charge.guarantee = guarantee_of_step(step, charge.delta_groups.units() > 0);
    charge.worst = ceiling;
    return charge;
}

Charge suspension_of(const Settings &settings, const Asker &asker, const char *query, const char *grantee,
                     Oid grantee_oid) {
    Charge nothing = {};
    nothing.settings = &settings;
    nothing.asker = asker;
    nothing.query = query;
    nothing.grantee = grantee;
    nothing.grantee_oid = grantee_oid;
    nothing.algorithm = nothing.guarantee = "none";
    nothing.kind = "suspension";
    nothing.parameters = "{}";
    nothing.account = privacy::Account::public_account;
    return nothing;
}

void create_odometer(const char *id_text, const char *relation_name, Oid owner) {
    Settings settings = {};
    settings.id_text = id_text;
    settings.relation_name = relation_name;
    settings.owner = owner;
    Charge nothing = {};
    nothing.settings = &settings;
    nothing.asker = current_asker();
    Entry entry = entry_for(nothing, RequestKind::create_odometer);
    check_not_in_recovery();
    delivery(&entry);
    if (entry.verdict.outcome != Outcome::committed)
        refuse_state(psprintf("could not create the odometer of %s", relation_name),
                     entry.hint != nullptr ? entry.hint
                                           : "If CREATE EXTENSION dp_rdr ran in this transaction, commit it first; "
                                             "otherwise the server log tells the cause.");
}

Verdict join_domains(const Settings &from, const Joining &into, const char *query, const char **hint) {
    Charge nothing = {};
    nothing.settings = &from;
    nothing.asker = current_asker();
    nothing.query = query;
    Entry entry = entry_for(nothing, RequestKind::join);
    entry.joining = into;
    check_can_ask();
    delivery(&entry);
    *hint = entry.hint != nullptr ? entry.hint : log_tells;
    return entry.verdict;
}

} // namespace dp::catalog
