// It has its own process and transaction, so nothing that the caller does or fails to do later takes a charge back.
#include "catalog/ledger_writer.hpp"

#include <algorithm>
#include <csignal>

#include "border/scope.hpp"
#include "border/spi.hpp"
#include "catalog/decimals.hpp"
#include "catalog/ledger_join.hpp"
#include "catalog/ledger_rebuild.hpp"
#include "catalog/ledger_row.hpp"
#include "catalog/ledger_sums.hpp"
#include "catalog/lookup.hpp"
#include "catalog/odometer.hpp"
#include "catalog/parameters.hpp"

namespace dp::catalog {

namespace {

using border::Spi;

// ---- what a request rests on ----

// What the requests of a batch rest on that one role asks on one view under one policy.
struct Basis {
    Oid view, role;
    OtherViews others;
    const char *grantee; // or null
    const Terms *terms;  // null: the view is not registered any more
    OpenShare *share;    // null without a grantee
};

// What a request is decided on: its basis, and the sums in the period in which the clock is, read once.
struct Standpoint {
    const Basis *basis;
    TimestampTz at;
    privacy::Standing sums;
};

bool same_text(const char *a, const char *b) {
    return a == nullptr || b == nullptr ? a == b : strcmp(a, b) == 0;
}

// The role, if it still has the name under which its share is counted.
Oid named_grantee(const Charge &what) {
    return what.grantee != nullptr && get_role_oid(what.grantee, true) == what.grantee_oid ? what.grantee_oid
                                                                                           : InvalidOid;
}

template <int Places> void say(StringInfo json, const char *name, privacy::Decimal<Places> value) {
    char text[64];
    border::core([&] { strlcpy(text, value.text().c_str(), sizeof text); });
    appendStringInfo(json, "\"%s\": %s, ", name, text);
}

// In every row that raises what its epoch promises: so that follows from the rows alone.
Datum describe_totals(const privacy::BoundSettings &bound) {
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfoString(&json, "{\"totals\": {");
    if (bound.epsilon_total) {
        say(&json, "epsilon_total", *bound.epsilon_total);
        say(&json, "rho_total", bound.rho_total);
    }
    say(&json, "rho_target", border::core([&] { return bound.anytime_target(); }));
    say(&json, "epsilon_pure", bound.epsilon_pure);
    say(&json, "delta_conversion", bound.delta_conversion);
    say(&json, "delta_mechanisms", bound.delta_mechanisms());
    appendStringInfo(&json, "\"cap\": \"%s\"}}", privacy::name_of(bound.cap));
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

// In every row of a charge where a period is set: which one it was decided in, and since when it counts.
Datum period_of(const privacy::BoundSettings &bound, const privacy::Standing &sums, privacy::Account account) {
    if (!bound.period)
        return Datum{0};
    const privacy::PeriodSums &now =
        account == privacy::Account::public_account ? sums.table.of_public.period : sums.table.of_conditional.period;
    char start[32], since[32];
    border::core([&] {
        strlcpy(start, privacy::text_of(now.start).c_str(), sizeof start);
        strlcpy(since, privacy::text_of(bound.period->since).c_str(), sizeof since);
    });
    return DirectFunctionCall1(
        jsonb_in, CStringGetDatum(psprintf("{\"period\": {\"kind\": \"%s\", \"start\": \"%s\", \"since\": \"%s\"}}",
                                           privacy::name_of(*now.kind), start, since)));
}

// One snapshot, taken while the lock is held: what it shows is what a charge rests on. The grantee is asked for by name among
// the committed policies, or a role renamed in an open transaction would start with a share of its own.
Basis *read_basis(const Charge &what, OpenOdometer *odometer) {
    auto *basis = static_cast<Basis *>(palloc0(sizeof(Basis)));
    basis->view = what.settings->view;
    basis->others = what.settings->others;
    basis->role = what.asker.role;
    basis->grantee = what.grantee;
    CommandCounterIncrement();
    Reading reading = Reading::open();
    basis->terms = read_terms(reading, basis->view, basis->role, named_grantee(what), &basis->others);
    if (what.grantee != nullptr)
        basis->share =
            known_share(odometer, what.grantee, read_share(reading, odometer->id, what.grantee, odometer->state.epoch));
    reading.close();
    return basis;
}

bool same_views(const OtherViews &a, const OtherViews &b) {
    return a.n == b.n && memcmp(a.views, b.views, sizeof(Oid) * a.n) == 0;
}

// Read once for all requests of the batch that rest on the same: nobody else can charge meanwhile.
const Basis *basis_of(const Charge &what, OpenOdometer *odometer) {
    ListCell *cell;
    foreach (cell, odometer->bases) {
        auto *basis = static_cast<Basis *>(lfirst(cell));
        if (basis->view == what.settings->view && same_views(basis->others, what.settings->others) &&
            basis->role == what.asker.role && same_text(basis->grantee, what.grantee))
            return basis;
    }
    Basis *basis = read_basis(what, odometer);
    odometer->bases = lappend(odometer->bases, basis);
    return basis;
}

// Whether they are what the caller has seen: false when they have changed meanwhile or are not committed yet.
bool agreed(const Basis &basis, const Charge &what) {
    const Terms *terms = basis.terms;
    const Settings &settings = *what.settings;
    if (terms == nullptr || terms->relation != settings.relation || strcmp(terms->id_text, settings.id_text) != 0)
        return false;
    if (what.grantee != nullptr && !terms->permitted)
        return false;
    return same_text(terms->fingerprint, settings.fingerprint) && same_text(terms->policies, settings.policies);
}

// ---- the decision ----

// Core region.
privacy::Rho zcdp_cost(const Charge &what, privacy::Epsilon charged) {
    if (what.measures == nullptr || what.measures->empty()) {
        if (what.mechanism != privacy::Mechanism::laplace)
            throw privacy::InvalidParameter("a Gaussian charge names no measures");
        return privacy::rho_of_pure(charged);
    }
    const std::vector<std::uint64_t> sensitivities(what.sensitivities->begin(), what.sensitivities->end());
    return privacy::plan_release(what.mechanism, *what.measures, sensitivities, what.thresholded, charged, what.delta)
        .rho();
}

// Core region.
void set_limits(const Charge &what, privacy::Limits *limits) {
    limits->candidates = *what.candidates;
    if (what.has_epsilon_max)
        limits->epsilon_max = what.epsilon_max;
    if (what.has_requested)
        limits->requested = what.requested;
    if (what.has_share)
        limits->share = what.share;
    if (what.has_profile)
        limits->profile = what.profile;
    limits->delta = what.delta;
    limits->groups = what.delta_groups;
    limits->pure = what.mechanism == privacy::Mechanism::laplace;
    limits->measures = what.measures == nullptr ? 1 : std::max<std::size_t>(what.measures->size(), 1);
    limits->rho_of = [&what](privacy::Epsilon epsilon) { return zcdp_cost(what, epsilon); };
}

// Whether it is the total over all periods that is in the way; of a selection without candidates, the one that leaves less.
bool is_for_life(const privacy::BoundSettings &bound, const privacy::Spent &spent, privacy::Denial denial) {
    if (denial == privacy::Denial::epsilon_lifetime || denial == privacy::Denial::delta_lifetime)
        return true;
    return denial == privacy::Denial::no_candidate && bound.period && bound.epsilon_lifetime &&
           *bound.epsilon_lifetime - spent.epsilon <
               bound.epsilon_total.value_or(privacy::Epsilon()) - spent.period.epsilon;
}

// Under bounds that count in epsilon.
void tell_of_epsilon(const privacy::BoundSettings &bound, const privacy::Spent &spent, privacy::Denial denial,
                     Reason *reason) {
    reason->has_period = bound.period.has_value();
    reason->lifetime = is_for_life(bound, spent, denial);
    const bool period = reason->has_period && !reason->lifetime;
    reason->spent = period ? spent.period.epsilon : spent.epsilon;
    reason->total = (reason->lifetime ? bound.epsilon_lifetime : bound.epsilon_total).value_or(privacy::Epsilon());
    reason->delta_spent = period ? spent.period.delta : spent.delta;
    reason->delta_total = reason->lifetime ? bound.delta_lifetime.value_or(privacy::Delta()) : bound.delta_total;
}

// What the controller may know, and nobody else: a policy's charge tells its analyst that it was denied, and no more.
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

// What is charged stays in *cost.
privacy::Denial decide(const Charge &what, const Standpoint &point, Verdict *verdict, privacy::Cost *cost) {
    return border::core([&] {
        privacy::ChargeRequest asked;
        set_limits(what, &asked);
        asked.account = what.account;
        asked.eps_star = what.eps_star;
        asked.slack = what.slack;
        const privacy::BoundSettings &bound = point.basis->terms->bound;
        privacy::Decision decision = privacy::decide(asked, bound, point.sums.table, point.sums.role);
        verdict->epsilon = decision.cost.epsilon;
        verdict->reason = reason_for(what, bound, point.sums.table, decision.denial, decision.cost);
        *cost = decision.cost;
        return decision.denial;
    });
}

// The price of a step is given: only what table and role may pay is decided here.
privacy::Denial afford_step(const Charge &what, const Standpoint &point, Verdict *verdict, privacy::Cost *cost) {
    return border::core([&] {
        const privacy::BoundSettings &bound = point.basis->terms->bound;
        *cost = privacy::cost_of_step(what.step, what.delta_groups);
        const std::optional<privacy::Epsilon> share =
            what.has_share ? std::optional<privacy::Epsilon>(what.share) : std::nullopt;
        const std::optional<privacy::Epsilon> profile =
            what.has_profile ? std::optional<privacy::Epsilon>(what.profile) : std::nullopt;
        const privacy::Denial denial =
            privacy::fit(*cost, what.account, bound, point.sums.table, point.sums.role, share, profile);
        verdict->epsilon = cost->epsilon;
        verdict->reason = reason_for(what, bound, point.sums.table, denial, *cost);
        return denial;
    });
}

// Core region.
privacy::Epsilon worst_case(const Charge &what, privacy::Epsilon charged) {
    privacy::Epsilon worst = charged;
    if (what.step.is_step)
        return std::max(what.worst, what.step.before + charged);
    if (strcmp(what.algorithm, "within_domain") == 0 || strcmp(what.algorithm, "profile") == 0)
        return worst;
    if (what.worst.units() > 0)
        return what.worst;
    for (privacy::Epsilon candidate : *what.candidates) {
        if (what.has_epsilon_max && candidate > what.epsilon_max)
            continue;
        if (what.has_requested && candidate > what.requested)
            candidate = what.requested;
        if (candidate > worst)
            worst = candidate;
    }
    return worst;
}

// What every row says of when and on what it was decided.
Price price_at(const Charge &what, const Standpoint &point) {
    Price price = {};
    price.epoch = point.basis->terms->epoch;
    price.period = period_of(point.basis->terms->bound, point.sums, what.account);
    price.at = point.at;
    return price;
}

Price price_of(const Charge &what, const Standpoint &point, privacy::Cost cost) {
    Price price = price_at(what, point);
    border::core([&] {
        if (cost.rho.units() == 0) // it decided nothing
            cost.rho = zcdp_cost(what, cost.epsilon);
        price.cost = cost;
        price.worst = worst_case(what, cost.epsilon);
        price.delta_noise = what.delta_noise;
        price.basis = point.basis->terms->bound.basis_of(cost.pure);
    });
    return price;
}

// Why nothing is left, or `none`.
privacy::Denial cut(const Entry &entry, const Standpoint &point, Verdict *verdict) {
    return border::core([&] {
        const Charge &what = *entry.what;
        privacy::SelectionRequest asked;
        set_limits(what, &asked);
        asked.tested = entry.tested;
        asked.epsilon_svt = entry.epsilon_svt;
        const privacy::BoundSettings &bound = point.basis->terms->bound;
        privacy::SelectionRange range = privacy::cut_candidates(asked, bound, point.sums.table, point.sums.role);
        verdict->first = range.first;
        verdict->last = range.last;
        verdict->epsilon = range.charged;
        privacy::Cost cost;
        cost.delta = what.delta;
        cost.groups = what.delta_groups;
        verdict->reason = reason_for(what, bound, point.sums.table, range.denial, cost);
        return range.cause;
    });
}

// A selection is pure, whatever noise its release will have: its row carries no delta.
Price price_of_selection(const Charge &what, const Standpoint &point, const Verdict &verdict) {
    Price price = price_at(what, point);
    border::core([&] {
        price.cost = privacy::cost_of_selection(verdict.epsilon);
        price.selection = verdict.epsilon;
        price.worst = verdict.epsilon + (*what.candidates)[verdict.first];
        price.basis = point.basis->terms->bound.basis_of(true);
    });
    return price;
}

void claim(const Charge &what, const privacy::BoundSettings &bound, OpenOdometer *odometer, Price *price) {
    if (bound.bound == privacy::Bound::zcdp && raise_claim(what.account, bound, odometer))
        price->totals = describe_totals(bound);
}

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
    return enter_epoch(spi, *what.settings, terms.epoch, odometer) ? Outcome::committed : Outcome::changing;
}

// The request that the charge pays for names its row: that the answer belongs to it is looked at when it is stored.
void mark(const Spi &spi, const Entry &entry, bool written, Verdict *verdict) {
    static border::Statement statement("SELECT currval('dp_rdr.ledger_row_id_seq')");
    if (entry.claim == nullptr)
        return;
    if (written) {
        (void)run(spi, statement);
        verdict->ledger_row = first_number();
    }
    mark_charged(spi, *entry.claim, verdict->epsilon, verdict->ledger_row);
}

// Taken under the lock, after all that another process could have charged before.
Standpoint standpoint_of(const Basis *basis, const OpenOdometer &odometer) {
    const TimestampTz at = GetCurrentTimestamp();
    return {basis, at, standing_of(odometer, basis->share, basis->terms->bound, at)};
}

// Of what is accepted.
void put_charge(const Spi &spi, const Entry &entry, const Standpoint &point, Price price, OpenOdometer *odometer) {
    const Charge &what = *entry.what;
    enter_period(point.sums, what.account, point.basis->share, odometer);
    claim(what, point.basis->terms->bound, odometer, &price);
    write(spi, entry, price, point.basis->share, odometer);
}

Outcome deny(const Charge &what, const Basis &basis, privacy::Denial denial, bool counts, OpenOdometer *odometer) {
    if (!counts)
        return Outcome::denied;
    odometer->counted(what.account).denials++;
    const bool pure =
        what.step.is_step ? what.step.basis == privacy::Basis::epsilon : what.mechanism == privacy::Mechanism::laplace;
    add_denial(&odometer->denials, what, reason_of_denial(what, basis.terms->bound, denial, pure));
    return Outcome::denied;
}

privacy::Day start_of_period(const Standpoint &point, privacy::Account account) {
    const privacy::Totals &table = point.sums.table;
    return account == privacy::Account::public_account ? table.of_public.period.start
                                                       : table.of_conditional.period.start;
}

bool is_cut_by_turn(const Standpoint &point, const Charge &what) {
    return border::core(
        [&] { return privacy::is_cut_by_turn(what.step, point.basis->terms->bound, point.sums, what.account); });
}

Outcome charge_table(const Spi &spi, const Entry &entry, OpenOdometer *odometer, Verdict *verdict) {
    const Charge &what = *entry.what;
    const Basis *basis = basis_of(what, odometer);
    if (const Outcome entered = enter(spi, *basis, what, odometer); entered != Outcome::committed)
        return entered;
    if (entry.claim != nullptr && !take_request(spi, *entry.claim))
        return Outcome::gone;
    const privacy::Step &step = what.step;
    const Standpoint point = standpoint_of(basis, *odometer);
    if (is_cut_by_turn(point, what))
        return Outcome::changing;
    privacy::Cost cost;
    const privacy::Denial denial = (step.is_step ? afford_step : decide)(what, point, verdict, &cost);
    if (denial != privacy::Denial::none) {
        verdict->epsilon = privacy::Epsilon();
        return deny(what, *basis, denial, !step.increment, odometer); // an increment's round is answered
    }
    put_charge(spi, entry, point, price_of(what, point, cost), odometer);
    verdict->period = start_of_period(point, what.account);
    mark(spi, entry, true, verdict);
    return Outcome::committed;
}

// Cuts the candidates by what the public account leaves, and charges their selection.
Outcome charge_selection_of(const Spi &spi, const Entry &entry, OpenOdometer *odometer, Verdict *verdict) {
    const Charge &what = *entry.what;
    const Basis *basis = basis_of(what, odometer);
    if (const Outcome entered = enter(spi, *basis, what, odometer); entered != Outcome::committed)
        return entered;
    if (entry.claim != nullptr && !take_request(spi, *entry.claim))
        return Outcome::gone;
    const Standpoint point = standpoint_of(basis, *odometer);
    const privacy::Denial denial = cut(entry, point, verdict);
    if (denial != privacy::Denial::none)
        return deny(what, *basis, denial, true, odometer);
    if (verdict->epsilon.units() > 0)
        put_charge(spi, entry, point, price_of_selection(what, point, *verdict), odometer);
    mark(spi, entry, verdict->epsilon.units() > 0, verdict);
    return Outcome::committed;
}

bool put_suspension_on(const Spi &spi, const Charge &what, Oid view) {
    static border::Statement statement(
        "INSERT INTO dp_rdr.suspension (view, grantee, role, session_role, at) "
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
    switch (entry.kind) {
    case RequestKind::charge:
        return charge_table(spi, entry, odometer, verdict);
    case RequestKind::selection:
        return charge_selection_of(spi, entry, odometer, verdict);
    case RequestKind::suspension:
        return suspend_role(spi, entry, odometer);
    default:
        elog(ERROR, "unknown request");
    }
}

bool needs_odometer(const Entry &entry) {
    return entry.kind != RequestKind::create_odometer && entry.kind != RequestKind::join &&
           entry.kind != RequestKind::bare_suspension && entry.kind != RequestKind::store &&
           entry.kind != RequestKind::settle;
}

// False: it is served under its odometer's lock. (A join locks two.)
bool serve_without_odometer(const Spi &spi, const Entry &entry, Verdict *verdict) {
    if (needs_odometer(entry))
        return false;
    if (entry.kind == RequestKind::join) {
        verdict->outcome = join_odometers(spi, entry, verdict);
        return true;
    }
    if (entry.kind == RequestKind::create_odometer)
        (void)create_odometer_row(spi, *entry.what->settings);
    else if (entry.kind == RequestKind::store)
        put_stored(spi, *entry.storing);
    else if (entry.kind == RequestKind::settle) {
        if (!settle_request(spi, *entry.settling)) {
            verdict->outcome = Outcome::gone;
            return true;
        }
    } else
        (void)put_suspension(spi, *entry.what);
    verdict->outcome = Outcome::committed;
    return true;
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
        move(spi, odometer);
}

// In the order of their ids, so that two writers never wait for each other in a ring.
void serve_all(const Spi &spi, Item *items, int n) {
    for (int i = 0; i < n;) {
        const Entry &entry = *items[i].entry;
        if (serve_without_odometer(spi, entry, &items[i].verdict)) {
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
// What does come waits for the caller's handler.
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
void run_transaction(Item *items, int n, volatile bool *durable) {
    SetCurrentStatementStartTimestamp();
    StartTransactionCommand();
    PushActiveSnapshot(GetTransactionSnapshot());
    // ALTER DATABASE ... SET role would otherwise make every charge fail.
    border::RoleScope role = border::RoleScope::enter(border::extension_owner());
    Spi spi = Spi::connect();
    serve_all(spi, items, n);
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
ErrorData *attempt_transaction(Item *items, int n, bool *durable) {
    MemoryContext memory = CurrentMemoryContext;
    ErrorData *volatile error = nullptr;
    volatile bool committed = false;
    sigset_t signals;
    sigprocmask(SIG_SETMASK, nullptr, &signals);
    PG_TRY();
    { run_transaction(items, n, &committed); }
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
    ErrorData *error = attempt_transaction(items, n, &durable);
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

// By odometer, and otherwise in the order in which they came.
void sort(Item *items, int n) {
    for (int i = 1; i < n; i++) {
        Item item = items[i];
        int place = i;
        for (; place > 0 &&
               strcmp(items[place - 1].entry->what->settings->id_text, item.entry->what->settings->id_text) > 0;
             place--)
            items[place] = items[place - 1];
        items[place] = item;
    }
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

} // namespace dp::catalog
