// It has its own process and transaction, so nothing that the caller does or fails to do later takes a charge back.
#include "catalog/ledger_writer.hpp"

#include <algorithm>

#include <csignal>

#include "border/scope.hpp"
#include "border/spi.hpp"
#include "catalog/ledger_cells.hpp"
#include "catalog/ledger_epochs.hpp"
#include "catalog/ledger_join.hpp"
#include "catalog/ledger_rebuild.hpp"
#include "catalog/ledger_weigh.hpp"
#include "catalog/parameters.hpp"

namespace dp::catalog {

namespace {

using border::Spi;

// ---- the requests ----

// `committed`: the request can be decided, and the odometer is in the epoch that it rests on.
Outcome enter(const Spi &spi, const Basis &basis, const Charge &what, OpenOdometer *odometer) {
    if (!agreed(basis, what))
        return Outcome::changing;
    const Terms &terms = *basis.terms;
    if (terms.epoch < odometer->found_epoch)
        return Outcome::ahead;
    const privacy::Step &step = what.step;
    if (what.mechanism == privacy::Mechanism::automatic && terms.bound.basis_of(false) != privacy::Basis::rho)
        return Outcome::changing; // its noise has no epsilon
    if (step.is_step && !border::core([&] { return privacy::takes_steps(terms.bound, step.basis); }))
        return Outcome::changing;
    if (terms.epoch < odometer->state.epoch) // a request of this batch has met a newer one than this has read
        return Outcome::changing;
    if (terms.epoch > odometer->state.epoch)
        enter_epoch(spi, *what.settings, terms.epoch, odometer);
    enter_cells(spi, *what.settings, terms.partition, what.touched, odometer);
    return Outcome::committed;
}

// The request that the charge pays for names its row: that the answer belongs to it is looked at when it is stored.
void mark(const Spi &spi, const Entry &entry, bool written, Verdict *verdict) {
    static border::Statement statement("SELECT currval('dp_rdr.ledger_row_id_seq')");
    if (entry.claim == nullptr)
        return;
    if (written) {
        (void)run(spi, statement);
        verdict->ledger_row = value_at<int64>(0, 1);
    }
    mark_charged(spi, *entry.claim, verdict->epsilon, verdict->ledger_row);
}

// Writes what is accepted.
void put_charge(const Spi &spi, const Entry &entry, const Standpoint &point, Price price, OpenOdometer *odometer) {
    const Charge &what = *entry.what;
    enter_period(point.sums, what.account, point.basis->share, odometer);
    if (point.basis->terms->bound.bound == privacy::Bound::zcdp)
        price.totals = raise_claim(what.account, point.basis->terms->bound, odometer);
    charge_cells(spi, what, *point.basis, odometer, &price);
    write(spi, entry, price, point.basis->share, odometer);
}

// An increment's round is answered, so it counts as no denial.
Outcome deny(const Charge &what, const Basis &basis, privacy::Denial denial, OpenOdometer *odometer) {
    const privacy::Step &step = what.step;
    if (step.increment)
        return Outcome::denied;
    odometer->counted(what.account).denials++;
    const bool pure =
        step.is_step ? step.basis == privacy::Basis::epsilon : what.mechanism == privacy::Mechanism::laplace;
    add_denial(&odometer->denials, what, basis.terms->bound, denial, pure);
    return Outcome::denied;
}

bool is_cut_by_turn(const Standpoint &point, const Charge &what) {
    return border::core(
        [&] { return privacy::is_cut_by_turn(what.step, point.basis->terms->bound, point.sums, what.account); });
}

// Charges what is due, or the selection of it. (A selection may cost nothing.)
Outcome charge_table(const Spi &spi, const Entry &entry, const Basis *basis, OpenOdometer *odometer,
                     Verdict *verdict) {
    const Charge &what = *entry.what;
    Standpoint point = standpoint_of(basis, *odometer);
    if (is_cut_by_turn(point, what))
        return Outcome::changing;
    privacy::Cost cost;
    privacy::Denial denial = entry.denial;
    if (denial != privacy::Denial::none)
        *verdict = entry.seen;
    else if (!weigh(spi, entry, odometer, &point, verdict, &cost, &denial))
        return Outcome::unlooked;
    if (denial != privacy::Denial::none) {
        verdict->epsilon = privacy::Epsilon();
        return deny(what, *basis, denial, odometer);
    }
    const bool pays = entry.kind == RequestKind::charge || verdict->epsilon.units() > 0;
    if (pays)
        put_charge(spi, entry, point, price_of(entry, point, *verdict, cost), odometer);
    verdict->period = point.sums.table.of(what.account).period.start;
    mark(spi, entry, pays, verdict);
    return Outcome::committed;
}

bool put_suspension_on(const Spi &spi, const Charge &what, Oid view) {
    static border::Statement statement("INSERT INTO dp_rdr.suspension (view, grantee, role, session_role, at) "
                                       "VALUES ($1::regclass, $2, $3, $4, clock_timestamp()) ON CONFLICT DO NOTHING");
    return run(spi, statement, view, what.grantee_oid, what.asker.role, what.asker.session_role) == 1;
}

// The role that asked and that of its session ask no more on the view, nor on those that it was joined with. False: they did not before.
bool put_suspension(const Spi &spi, const Charge &what) {
    bool put = put_suspension_on(spi, what, what.settings->view);
    for (int i = 0; i < what.settings->others.n; i++)
        put |= put_suspension_on(spi, what, what.settings->others.views[i]);
    return put;
}

// Nothing is charged: what failed was charged before, and its row stays. The settings may have changed meanwhile; that is no
// way around it.
Outcome suspend_role(const Spi &spi, const Entry &entry, OpenOdometer *odometer) {
    if (!put_suspension(spi, *entry.what))
        return Outcome::committed;
    Price nothing = {};
    nothing.epoch = odometer->state.epoch;
    nothing.at = GetCurrentTimestamp();
    write(spi, entry, nothing, share_of(odometer, entry.what->grantee), odometer);
    odometer->bases = NIL; // suspensions are among them: who asks on this view is told that they are changing
    return Outcome::committed;
}

// ---- a batch ----

// Entries with the verdicts that they will have if the transaction commits, in the order of their odometers.
struct Item {
    Entry *entry;
    Verdict verdict;
};

Outcome serve(const Spi &spi, const Entry &entry, OpenOdometer *odometer, Verdict *verdict) {
    if (entry.kind == RequestKind::suspension)
        return suspend_role(spi, entry, odometer);
    const Basis *basis = basis_of(*entry.what, odometer);
    if (const Outcome entered = enter(spi, *basis, *entry.what, odometer); entered != Outcome::committed)
        return entered;
    if (entry.claim != nullptr && !take_request(spi, *entry.claim))
        return Outcome::gone;
    return charge_table(spi, entry, basis, odometer, verdict);
}

bool needs_odometer(const Entry &entry) {
    return entry.kind == RequestKind::charge || entry.kind == RequestKind::selection ||
           entry.kind == RequestKind::suspension;
}

// Serves what needs no odometer's lock. (A join locks two.)
Outcome serve_alone(const Spi &spi, const Entry &entry, Verdict *verdict) {
    switch (entry.kind) {
    case RequestKind::join:
        return join_odometers(spi, entry, verdict);
    case RequestKind::create_odometer:
        create_odometer_row(spi, *entry.what->settings);
        break;
    case RequestKind::store:
        put_stored(spi, *entry.storing);
        break;
    case RequestKind::settle:
        return settle_request(spi, *entry.settling) ? Outcome::committed : Outcome::gone;
    case RequestKind::bare_suspension:
        (void)put_suspension(spi, *entry.what);
        break;
    default:
        elog(ERROR, "unknown request");
    }
    return Outcome::committed;
}

void say_missing(const Entry &entry) {
    ereport(LOG, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("%s has no odometer", entry.what->settings->relation_name),
                  errhint("Its totals may have been left out of a restore; dp_protect() on the table rebuilds them "
                          "from the ledger.")));
}

// The requests of one odometer, in the order in which they came.
void serve_odometer(const Spi &spi, Item *items, int n) {
    OpenOdometer odometer = {};
    odometer.id = items->entry->what->settings->id_text;
    Lock lock = lock_odometer(spi, &odometer);
    for (int i = 0; i < n; i++)
        odometer.charges = lappend(odometer.charges, const_cast<Charge *>(items[i].entry->what));
    for (int i = 0; i < n; i++) {
        Item &item = items[i];
        if (lock == Lock::held)
            item.verdict.outcome = serve(spi, *item.entry, &odometer, &item.verdict);
        else if (lock == Lock::busy)
            item.verdict.outcome = Outcome::busy;
        else
            say_missing(*item.entry);
    }
    if (lock == Lock::held)
        move(spi, &odometer);
}

// In the order of their ids, so that two writers never wait for each other in a ring.
void serve_all(const Spi &spi, Item *items, int n) {
    for (int i = 0; i < n;) {
        const Entry &entry = *items[i].entry;
        if (!needs_odometer(entry)) {
            items[i].verdict.outcome = serve_alone(spi, entry, &items[i].verdict);
            i++;
            continue;
        }
        int end = i + 1;
        while (end < n && needs_odometer(*items[end].entry) &&
               strcmp(items[end].entry->what->settings->id_text, entry.what->settings->id_text) == 0)
            end++;
        serve_odometer(spi, items + i, end - i);
        i = end;
    }
}

// A cancel of the wait for synchronous standbys would look like success, so none can come while the transaction commits.
// One that does come waits for the caller's handler.
struct CancelsHeld {
    sigset_t saved;
    static CancelsHeld enter() {
        CancelsHeld held;
        sigset_t cancels;
        sigemptyset(&cancels);
        sigaddset(&cancels, SIGINT);
        sigprocmask(SIG_BLOCK, &cancels, &held.saved);
        return held;
    }
    void leave() const { sigprocmask(SIG_SETMASK, &saved, nullptr); }
};

// `durable` tells whether an error came before the commit or behind it.
template <class Work> void run_transaction(Work &&work, volatile bool *durable) {
    SetCurrentStatementStartTimestamp();
    StartTransactionCommand();
    PushActiveSnapshot(GetTransactionSnapshot());
    // ALTER DATABASE ... SET role would otherwise make every charge fail.
    border::RoleScope role = border::RoleScope::enter(border::extension_owner());
    Spi spi = Spi::connect();
    work(spi);
    spi.finish();
    role.leave();
    PopActiveSnapshot();
    CancelsHeld held = CancelsHeld::enter();
    CHECK_FOR_INTERRUPTS();
    CommitTransactionCommand();
    *durable = true;
    // Termination ends that wait as well, and is noticed here: the process goes, the verdicts stay `pending`.
    CHECK_FOR_INTERRUPTS();
    held.leave();
}

// Null when the transaction is committed; else its error, and nothing of it stands unless it is durable.
template <class Work> ErrorData *attempt_transaction(Work &&work, bool *durable) {
    MemoryContext memory = CurrentMemoryContext;
    ErrorData *volatile error = nullptr;
    volatile bool committed = false;
    sigset_t signals;
    sigprocmask(SIG_SETMASK, nullptr, &signals);
    PG_TRY();
    { run_transaction(work, &committed); }
    PG_CATCH();
    {
        HOLD_INTERRUPTS();
        MemoryContextSwitchTo(memory);
        error = CopyErrorData();
        FlushErrorState();
        AbortCurrentTransaction();
        sigprocmask(SIG_SETMASK, &signals, nullptr);
        RESUME_INTERRUPTS();
    }
    PG_END_TRY();
    MemoryContextSwitchTo(memory);
    *durable = committed;
    return error;
}

// Its message holds no private value: what is written here is public.
void log_failure(const Entry &entry, const ErrorData *error) {
    ereport(LOG,
            (errcode(error->sqlerrcode),
             errmsg(entry.kind == RequestKind::store || entry.kind == RequestKind::settle
                        ? "an answer about %s was not stored: %s"
                        : "a charge of %s was not committed: %s",
                    entry.what->settings->relation_name == nullptr ? "a table" : entry.what->settings->relation_name,
                    error->message),
             error->hint == nullptr ? 0 : errhint("%s", error->hint)));
}

// Returns true when nothing is left to try: all is committed, or it is known why not.
bool try_items(Item *items, int n) {
    for (int i = 0; i < n; i++)
        items[i].verdict = Verdict{};
    bool durable;
    ErrorData *error = attempt_transaction([&](const Spi &spi) { serve_all(spi, items, n); }, &durable);
    if (error == nullptr) {
        for (int i = 0; i < n; i++)
            items[i].entry->verdict = items[i].verdict;
        return true;
    }
    // Two seconds for a lock are two seconds for everybody in the batch: they are not spent again, one by one.
    bool locked = error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE;
    bool over = durable || locked || n == 1;
    for (int i = 0; over && i < n; i++) {
        if (durable)
            items[i].entry->verdict.outcome = Outcome::lost;
        else if (locked)
            items[i].entry->verdict.outcome = Outcome::busy;
        if (i == 0)
            log_failure(*items[i].entry, error);
    }
    FreeErrorData(error);
    return over;
}

// Another epoch than the odometer has, or other cells, only the lock can tell.
void look_into_cells_of(const Spi &spi, Entry *entry) {
    const Charge &what = *entry->what;
    OpenOdometer odometer = {};
    odometer.id = what.settings->id_text;
    if (!look_at_odometer(spi, &odometer) || what.touched->partition != odometer.partition ||
        what.touched->begun > odometer.begun)
        return;
    const Basis *basis = basis_of(what, &odometer);
    if (!agreed(*basis, what) || basis->terms->epoch != odometer.state.epoch)
        return;
    Standpoint point = standpoint_of(basis, odometer);
    privacy::Cost cost;
    privacy::Denial denial;
    (void)weigh(spi, *entry, &odometer, &point, &entry->seen, &cost, &denial);
    entry->denial = denial;
}

// Sorts by odometer, and otherwise in the order in which they came.
void sort(Item *items, int n) {
    const auto id = [](const Item &item) { return item.entry->what->settings->id_text; };
    for (int i = 1; i < n; i++)
        std::rotate(std::upper_bound(items, items + i, items[i],
                                     [&](const Item &a, const Item &b) { return strcmp(id(a), id(b)) < 0; }),
                    items + i, items + i + 1);
}

} // namespace

void commit_charges(Entry **entries, int n) {
    if (n == 0)
        return;
    auto *items = static_cast<Item *>(palloc0(n * sizeof(Item)));
    for (int i = 0; i < n; i++) {
        items[i].entry = entries[i];
        entries[i]->verdict = Verdict{};
    }
    sort(items, n);
    if (!try_items(items, n))
        for (int i = 0; i < n; i++)
            (void)try_items(items + i, 1);
    pfree(items);
    (void)pgstat_report_stat(false); // or autovacuum never learns how often the odometer is written
}

bool look_into_many(Entry *entry) {
    bool durable;
    entry->looked = true; // as weigh() asks
    ErrorData *error = attempt_transaction([&](const Spi &spi) { look_into_cells_of(spi, entry); }, &durable);
    entry->looked = error == nullptr;
    if (error == nullptr)
        return true;
    entry->verdict.outcome = error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ? Outcome::busy : Outcome::pending;
    log_failure(*entry, error);
    FreeErrorData(error);
    return false;
}

} // namespace dp::catalog
