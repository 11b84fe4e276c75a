// It has its own process and transaction, so nothing that the caller does or fails to do later takes a charge back.
#include "catalog/ledger_writer.hpp"

#include <csignal>

#include "border/scope.hpp"
#include "border/spi.hpp"
#include "catalog/decimals.hpp"
#include "catalog/ledger_row.hpp"
#include "catalog/lookup.hpp"
#include "catalog/parameters.hpp"

namespace dp::catalog {

namespace {

using border::Spi;

// Column of the only row of the last result; nothing for NULL.
privacy::Epsilon epsilon_at(int column, bool *isnull) {
    Datum value = Spi::value(0, column, isnull);
    return *isnull ? privacy::Epsilon() : to_epsilon(value, "a total of epsilon");
}

privacy::Delta delta_at(int column, bool *isnull) {
    Datum value = Spi::value(0, column, isnull);
    return *isnull ? privacy::Delta() : to_delta(value, "a total of delta");
}

privacy::Totals totals_at(int first_column) {
    bool isnull;
    privacy::Totals totals;
    totals.public_epsilon = epsilon_at(first_column, &isnull);
    totals.public_delta = delta_at(first_column + 1, &isnull);
    totals.conditional_epsilon = epsilon_at(first_column + 2, &isnull);
    totals.conditional_delta = delta_at(first_column + 3, &isnull);
    return totals;
}

// ---- one odometer of a batch ----

// Under one policy: its sums as they stand, and what of them this batch has added.
struct Share {
    const char *grantee;
    privacy::Totals totals, added;
    bool known; // totals are those of its row
    bool moved;
};

// What the requests of a batch rest on that one role asks on one view under one policy.
struct Basis {
    Oid view, role;
    const char *grantee; // or null
    const Terms *terms;  // null: the view is not registered any more
    Share *share;        // null without a grantee
};

// Entries and releases that the odometer counts, by account.
struct Counts {
    int64 releases, denials;
};

struct Odometer {
    const char *id;
    privacy::Totals totals, added;
    Counts of_public, of_conditional;
    Datum head;            // of the chain, as the rows written so far leave it
    const Settings *names; // of the last row written; null: none was
    List *bases;           // Basis *
    List *shares;          // Share *
    Counts &counts(privacy::Account account) {
        return account == privacy::Account::public_account ? of_public : of_conditional;
    }
};

enum class Lock { held, busy, missing };

// From here on this process is the only one that charges this table.
Lock lock_odometer(const Spi &spi, Odometer *odometer) {
    static border::Statement lock(
        "SELECT o.public_epsilon, o.public_delta, o.conditional_epsilon, o.conditional_delta, o.head "
        "FROM dp_rdr.odometer o WHERE o.id = $1 FOR UPDATE SKIP LOCKED");
    static border::Statement look("SELECT FROM dp_rdr.odometer o WHERE o.id = $1");
    Parameters parameters;
    parameters.add_uuid(odometer->id);
    if (run(spi, lock, parameters) == 1) {
        bool isnull;
        odometer->totals = totals_at(1);
        odometer->head = Spi::value(0, 5, &isnull);
        return Lock::held;
    }
    return run(spi, look, parameters) == 1 ? Lock::busy : Lock::missing;
}

bool same_text(const char *a, const char *b) {
    return a == nullptr || b == nullptr ? a == b : strcmp(a, b) == 0;
}

Share *share_of(Odometer *odometer, const char *grantee) {
    ListCell *cell;
    foreach (cell, odometer->shares) {
        auto *share = static_cast<Share *>(lfirst(cell));
        if (strcmp(share->grantee, grantee) == 0)
            return share;
    }
    auto *share = static_cast<Share *>(palloc0(sizeof(Share)));
    share->grantee = grantee;
    odometer->shares = lappend(odometer->shares, share);
    return share;
}

privacy::Totals sum_of(const privacy::Totals &a, const privacy::Totals &b) {
    privacy::Totals sum;
    sum.public_epsilon = a.public_epsilon + b.public_epsilon;
    sum.public_delta = a.public_delta + b.public_delta;
    sum.conditional_epsilon = a.conditional_epsilon + b.conditional_epsilon;
    sum.conditional_delta = a.conditional_delta + b.conditional_delta;
    return sum;
}

// Its row does not have what this batch has added.
Share *known_share(Odometer *odometer, const char *grantee, const privacy::Totals &stored) {
    Share *share = share_of(odometer, grantee);
    if (!share->known)
        share->totals = sum_of(stored, share->added);
    share->known = true;
    return share;
}

Oid grantee_of(const Charge &what) {
    return what.grantee == nullptr ? InvalidOid : get_role_oid(what.grantee, true);
}

privacy::Totals read_share(const Reading &reading, const char *id, const char *grantee) {
    privacy::Totals totals;
    Lookup shares = Lookup::open("odometer_share", reading);
    const Row *row = only(shares.rows(DirectFunctionCall1(uuid_in, CStringGetDatum(id)), grantee));
    if (row != nullptr) {
        totals.public_epsilon = to_epsilon(row->value("public_epsilon"), "a total of epsilon");
        totals.public_delta = to_delta(row->value("public_delta"), "a total of delta");
        totals.conditional_epsilon = to_epsilon(row->value("conditional_epsilon"), "a total of epsilon");
        totals.conditional_delta = to_delta(row->value("conditional_delta"), "a total of delta");
    }
    shares.close();
    return totals;
}

// One snapshot, taken while the lock is held: what it shows is what a charge rests on. The grantee is asked for by name among
// the committed policies, or a role renamed in an open transaction would start with a share of its own.
Basis *read_basis(const Charge &what, Odometer *odometer) {
    auto *basis = static_cast<Basis *>(palloc0(sizeof(Basis)));
    basis->view = what.settings->view;
    basis->role = what.asker.role;
    basis->grantee = what.grantee;
    CommandCounterIncrement();
    Reading reading = Reading::open();
    basis->terms = read_terms(reading, basis->view, basis->role, grantee_of(what));
    if (what.grantee != nullptr)
        basis->share = known_share(odometer, what.grantee, read_share(reading, odometer->id, what.grantee));
    reading.close();
    return basis;
}

// Read once for all requests of the batch that rest on the same: nobody else can charge meanwhile.
const Basis *basis_of(const Charge &what, Odometer *odometer) {
    ListCell *cell;
    foreach (cell, odometer->bases) {
        auto *basis = static_cast<Basis *>(lfirst(cell));
        if (basis->view == what.settings->view && basis->role == what.asker.role &&
            same_text(basis->grantee, what.grantee))
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
void set_limits(const Charge &what, privacy::Limits *limits) {
    limits->candidates = *what.candidates;
    if (what.has_epsilon_max)
        limits->epsilon_max = what.epsilon_max;
    if (what.has_requested)
        limits->requested = what.requested;
    if (what.has_share)
        limits->share = what.share;
    limits->delta = what.delta;
}

// What the controller may know, and nobody else: a policy's charge tells its analyst that it was denied, and no more.
Reason reason_for(const Charge &what, const Basis &basis, const privacy::Totals &totals, privacy::Denial denial,
                  privacy::Epsilon asked) {
    if (what.grantee != nullptr)
        return Reason{};
    return Reason{denial,
                  asked,
                  totals.epsilon(what.account),
                  basis.terms->bound.epsilon_total.value_or(privacy::Epsilon()),
                  totals.delta(what.account),
                  basis.terms->bound.delta_total};
}

// The sums of the role; none of the controller's own call.
privacy::Totals role_totals(const Basis &basis) {
    return basis.share == nullptr ? privacy::Totals() : basis.share->totals;
}

bool decide(const Charge &what, const Basis &basis, const Odometer &odometer, Verdict *verdict) {
    return border::core([&] {
        privacy::ChargeRequest asked;
        set_limits(what, &asked);
        asked.account = what.account;
        asked.eps_star = what.eps_star;
        asked.slack = what.slack;
        asked.selection = what.selection;
        privacy::Decision decision = privacy::decide(asked, basis.terms->bound, odometer.totals, role_totals(basis));
        verdict->epsilon = decision.epsilon;
        verdict->reason = reason_for(what, basis, odometer.totals, decision.denial, decision.epsilon);
        return decision.denial == privacy::Denial::none;
    });
}

// Core region.
privacy::Epsilon worst_case(const Charge &what, privacy::Epsilon charged) {
    privacy::Epsilon worst = charged;
    if (strcmp(what.algorithm, "within_domain") == 0)
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

// Core region.
privacy::Rho zcdp_cost(const Charge &what, privacy::Epsilon charged) {
    if (what.measures == nullptr || what.measures->empty()) {
        if (what.mechanism != privacy::Mechanism::laplace)
            throw privacy::InvalidParameter("a Gaussian charge names no measures");
        return privacy::Rho::from_double(privacy::rho_from_pure_eps(charged.value()), privacy::Rounding::up);
    }
    const std::vector<std::uint64_t> sensitivities(what.sensitivities->begin(), what.sensitivities->end());
    return privacy::plan_release(what.mechanism, *what.measures, sensitivities, what.thresholded, charged, what.delta)
        .rho;
}

Price price_of(const Charge &what, privacy::Epsilon charged) {
    return border::core([&] {
        return Price{charged,    privacy::Epsilon(), worst_case(what, charged), zcdp_cost(what, charged),
                     what.delta, what.delta_noise,   what.delta_groups};
    });
}

bool cut(const Entry &entry, const Basis &basis, const Odometer &odometer, Verdict *verdict) {
    return border::core([&] {
        const Charge &what = *entry.what;
        privacy::SelectionRequest asked;
        set_limits(what, &asked);
        asked.tested = entry.tested;
        asked.epsilon_svt = entry.epsilon_svt;
        privacy::SelectionRange range =
            privacy::cut_candidates(asked, basis.terms->bound, odometer.totals, role_totals(basis));
        verdict->first = range.first;
        verdict->last = range.last;
        verdict->epsilon = range.charged;
        verdict->reason = reason_for(what, basis, odometer.totals, range.denial, {});
        return range.denial == privacy::Denial::none;
    });
}

// A selection is pure, whatever noise its release will have: its row carries no delta.
Price price_of_selection(const Charge &what, const Verdict &verdict) {
    return border::core([&] {
        privacy::Epsilon charged = verdict.epsilon;
        Price price = {};
        price.epsilon = price.selection = charged;
        price.worst = charged + (*what.candidates)[verdict.first];
        price.rho = privacy::Rho::from_double(privacy::rho_from_pure_eps(charged.value()), privacy::Rounding::up);
        return price;
    });
}

// ---- what is written ----

// Core region in all but name: nothing here can fail.
void add_to(privacy::Totals *totals, privacy::Account account, const Price &price) {
    if (account == privacy::Account::public_account) {
        totals->public_epsilon = totals->public_epsilon + price.epsilon;
        totals->public_delta = totals->public_delta + price.delta;
    } else {
        totals->conditional_epsilon = totals->conditional_epsilon + price.epsilon;
        totals->conditional_delta = totals->conditional_delta + price.delta;
    }
}

// The row at once, the sums in memory: those that come after it in the batch are decided on them.
void write(const Spi &spi, const Entry &entry, const Price &price, Share *share, Odometer *odometer) {
    const Charge &what = *entry.what;
    odometer->head = write_ledger_row(spi, entry, price, odometer->head);
    odometer->names = what.settings;
    add_to(&odometer->totals, what.account, price);
    add_to(&odometer->added, what.account, price);
    // A selection is no release: nobody has been answered yet.
    odometer->counts(what.account).releases += entry.kind == RequestKind::charge ? 1 : 0;
    if (share == nullptr)
        return;
    add_to(&share->totals, what.account, price);
    add_to(&share->added, what.account, price);
    share->moved = true;
}

void add_totals(Parameters *parameters, const privacy::Totals &totals) {
    parameters->add_numeric(totals.public_epsilon);
    parameters->add_numeric(totals.public_delta);
    parameters->add_numeric(totals.conditional_epsilon);
    parameters->add_numeric(totals.conditional_delta);
}

// Head and names stay what they are when nothing but denials was counted.
border::Statement move_odometer_statement(R"sql(
UPDATE dp_rdr.odometer SET
  public_epsilon = trim_scale(public_epsilon + $2), public_delta = trim_scale(public_delta + $3),
  conditional_epsilon = trim_scale(conditional_epsilon + $4), conditional_delta = trim_scale(conditional_delta + $5),
  public_releases = public_releases + $6, public_denials = public_denials + $7,
  conditional_releases = conditional_releases + $8, conditional_denials = conditional_denials + $9,
  head = coalesce($10, head), relation_name = coalesce($11, relation_name), owner = coalesce($12, owner)
WHERE id = $1)sql");

void move_odometer(const Spi &spi, const Odometer &odometer) {
    const Counts &of_public = odometer.of_public, &of_conditional = odometer.of_conditional;
    const Settings *names = odometer.names;
    if (names == nullptr && of_public.denials + of_conditional.denials == 0)
        return;
    Parameters parameters;
    parameters.add_uuid(odometer.id);
    add_totals(&parameters, odometer.added);
    parameters.add_count(of_public.releases);
    parameters.add_count(of_public.denials);
    parameters.add_count(of_conditional.releases);
    parameters.add_count(of_conditional.denials);
    parameters.add(BYTEAOID, odometer.head, names == nullptr);
    parameters.add_text(names == nullptr ? nullptr : name_or(names->relation, names->relation_name));
    parameters.add_text(names == nullptr ? nullptr : names->owner_name);
    if (run(spi, move_odometer_statement, parameters) != 1)
        elog(ERROR, "the charge moved no odometer");
}

border::Statement move_share_statement(R"sql(
INSERT INTO dp_rdr.odometer_share AS s
  (id, grantee, public_epsilon, public_delta, conditional_epsilon, conditional_delta)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id, grantee) DO UPDATE SET
  public_epsilon = trim_scale(s.public_epsilon + $3), public_delta = trim_scale(s.public_delta + $4),
  conditional_epsilon = trim_scale(s.conditional_epsilon + $5), conditional_delta = trim_scale(s.conditional_delta + $6))sql");

void move_share(const Spi &spi, const Odometer &odometer, const Share &share) {
    Parameters parameters;
    parameters.add_uuid(odometer.id);
    parameters.add_text(share.grantee);
    add_totals(&parameters, share.added);
    if (run(spi, move_share_statement, parameters) != 1)
        elog(ERROR, "the charge moved no share");
}

// ---- the requests ----

Outcome charge_table(const Spi &spi, const Entry &entry, Odometer *odometer, Verdict *verdict) {
    const Charge &what = *entry.what;
    const Basis *basis = basis_of(what, odometer);
    if (!agreed(*basis, what))
        return Outcome::changing;
    if (!decide(what, *basis, *odometer, verdict)) {
        odometer->counts(what.account).denials++;
        verdict->epsilon = privacy::Epsilon();
        return Outcome::denied;
    }
    write(spi, entry, price_of(what, verdict->epsilon), basis->share, odometer);
    return Outcome::committed;
}

// Cuts the candidates by what the public account leaves, and charges their selection.
Outcome charge_selection_of(const Spi &spi, const Entry &entry, Odometer *odometer, Verdict *verdict) {
    const Charge &what = *entry.what;
    const Basis *basis = basis_of(what, odometer);
    if (!agreed(*basis, what))
        return Outcome::changing;
    if (!cut(entry, *basis, *odometer, verdict)) {
        odometer->counts(what.account).denials++;
        return Outcome::denied;
    }
    if (verdict->epsilon.units() > 0)
        write(spi, entry, price_of_selection(what, *verdict), basis->share, odometer);
    return Outcome::committed;
}

// The role that asked and that of its session ask no more on the view. False: they did not before.
bool put_suspension(const Spi &spi, const Charge &what) {
    static border::Statement statement(
        "INSERT INTO dp_rdr.suspension (view, grantee, role_name, session_role, at) "
        "VALUES ($1::regclass, $2::regrole, $3, $4, clock_timestamp()) ON CONFLICT DO NOTHING");
    Parameters parameters;
    parameters.add_oid(what.settings->view);
    parameters.add_oid(grantee_of(what));
    parameters.add_text(role_name(what.asker.role));
    parameters.add_text(role_name(what.asker.session_role));
    return run(spi, statement, parameters) == 1;
}

// Nothing is charged: what failed was charged before, and its row stays. The settings may have changed meanwhile; that is no
// way around it.
Outcome suspend_role(const Spi &spi, const Entry &entry, Odometer *odometer) {
    if (!put_suspension(spi, *entry.what))
        return Outcome::committed;
    write(spi, entry, Price{}, share_of(odometer, entry.what->grantee), odometer);
    odometer->bases = NIL; // suspensions are among them: who asks on this view is told that they are changing
    return Outcome::committed;
}

// A ledger whose totals are gone, after a restore of a part, gets them back from its rows.
border::Statement create_statement(R"sql(
INSERT INTO dp_rdr.odometer AS o (id, relation_name, owner, public_epsilon, public_delta, public_releases,
  conditional_epsilon, conditional_delta, conditional_releases, head)
SELECT $1, $2, $3,
  coalesce(trim_scale(sum(l.epsilon) FILTER (WHERE l.account = 'public')), 0),
  coalesce(trim_scale(sum(l.delta) FILTER (WHERE l.account = 'public')), 0),
  count(*) FILTER (WHERE l.account = 'public' AND l.kind NOT IN ('selection', 'suspension')),
  coalesce(trim_scale(sum(l.epsilon) FILTER (WHERE l.account = 'conditional')), 0),
  coalesce(trim_scale(sum(l.delta) FILTER (WHERE l.account = 'conditional')), 0),
  count(*) FILTER (WHERE l.account = 'conditional' AND l.kind NOT IN ('selection', 'suspension')),
  coalesce((SELECT h.hash FROM dp_rdr.ledger_row h WHERE h.table_id = $1 ORDER BY h.id DESC LIMIT 1), '\x')
FROM dp_rdr.ledger_row l WHERE l.table_id = $1
ON CONFLICT (id) DO NOTHING)sql");

border::Statement create_shares_statement(R"sql(
INSERT INTO dp_rdr.odometer_share AS s (id, grantee, public_epsilon, public_delta, conditional_epsilon, conditional_delta)
SELECT $1, l.grantee,
  coalesce(trim_scale(sum(l.epsilon) FILTER (WHERE l.account = 'public')), 0),
  coalesce(trim_scale(sum(l.delta) FILTER (WHERE l.account = 'public')), 0),
  coalesce(trim_scale(sum(l.epsilon) FILTER (WHERE l.account = 'conditional')), 0),
  coalesce(trim_scale(sum(l.delta) FILTER (WHERE l.account = 'conditional')), 0)
FROM dp_rdr.ledger_row l WHERE l.table_id = $1 AND l.grantee IS NOT NULL GROUP BY l.grantee
ON CONFLICT (id, grantee) DO UPDATE SET (public_epsilon, public_delta, conditional_epsilon, conditional_delta) =
  (EXCLUDED.public_epsilon, EXCLUDED.public_delta, EXCLUDED.conditional_epsilon, EXCLUDED.conditional_delta))sql");

Outcome create_odometer_row(const Spi &spi, const Settings &settings) {
    Parameters parameters;
    parameters.add_uuid(settings.id_text);
    parameters.add_text(settings.relation_name);
    parameters.add_text(settings.owner_name);
    if (run(spi, create_statement, parameters) == 1) {
        Parameters id;
        id.add_uuid(settings.id_text);
        run(spi, create_shares_statement, id);
    }
    return Outcome::committed;
}

// ---- a batch ----

// Entries with the verdicts that they will have if the transaction commits, in the order of their odometers.
struct Item {
    Entry *entry;
    Verdict verdict;
};

Outcome serve(const Spi &spi, const Entry &entry, Odometer *odometer, Verdict *verdict) {
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

// False: it is served under its odometer's lock.
bool serve_without_odometer(const Spi &spi, const Entry &entry, Verdict *verdict) {
    if (entry.kind != RequestKind::create_odometer && entry.kind != RequestKind::bare_suspension)
        return false;
    if (entry.kind == RequestKind::create_odometer)
        (void)create_odometer_row(spi, *entry.what->settings);
    else
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
    Odometer odometer = {};
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
    if (lock != Lock::held)
        return;
    move_odometer(spi, odometer);
    ListCell *cell;
    foreach (cell, odometer.shares) {
        auto *share = static_cast<Share *>(lfirst(cell));
        if (share->moved)
            move_share(spi, odometer, *share);
    }
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
        while (end < n && items[end].entry->kind != RequestKind::create_odometer &&
               items[end].entry->kind != RequestKind::bare_suspension &&
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
             errmsg("a charge of %s was not committed: %s",
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
        if (locked && !durable)
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
