#include "catalog/ledger_sums.hpp"

#include <algorithm>

#include "catalog/parameters.hpp"

namespace dp::catalog {

using border::Spi;

Lock lock_odometer(const Spi &spi, OpenOdometer *odometer) {
    static border::Statement lock("SELECT o.* FROM dp_rdr.odometer o WHERE o.id = $1 FOR UPDATE SKIP LOCKED");
    static border::Statement look("SELECT FROM dp_rdr.odometer o WHERE o.id = $1");
    Parameters parameters;
    parameters.add_uuid(odometer->id);
    if (run(spi, lock, parameters) == 1) {
        Row row = {SPI_tuptable->vals[0], SPI_tuptable->tupdesc};
        odometer->state = odometer_of(row);
        odometer->found_epoch = odometer->state.epoch;
        odometer->head = row.value("head");
        odometer->denials.before =
            DatumGetInt64(row.value("public_denials")) + DatumGetInt64(row.value("conditional_denials"));
        return Lock::held;
    }
    return run(spi, look, parameters) == 1 ? Lock::busy : Lock::missing;
}

OpenShare *share_of(OpenOdometer *odometer, const char *grantee) {
    ListCell *cell;
    foreach (cell, odometer->shares) {
        auto *share = static_cast<OpenShare *>(lfirst(cell));
        if (strcmp(share->grantee, grantee) == 0)
            return share;
    }
    auto *share = static_cast<OpenShare *>(palloc0(sizeof(OpenShare)));
    share->grantee = grantee;
    odometer->shares = lappend(odometer->shares, share);
    return share;
}

OpenShare *known_share(OpenOdometer *odometer, const char *grantee, const privacy::Totals &stored) {
    OpenShare *share = share_of(odometer, grantee);
    if (!share->known)
        share->totals = {stored.of_public + share->added.of_public,
                         stored.of_conditional + share->added.of_conditional};
    share->known = true;
    return share;
}

// ---- periods -------------------------------------------------------------------------------------------------------

privacy::Standing standing_of(const OpenOdometer &odometer, const OpenShare *share, const privacy::BoundSettings &bound,
                              TimestampTz at) {
    return privacy::standing(odometer.state.totals, share == nullptr ? privacy::Totals() : share->totals, bound,
                             to_day(at));
}

// With the one it is in, or out of the one it was in: true if there is something to write.
static bool enter(const privacy::PeriodSums &now, privacy::PeriodSums *sums) {
    const bool has_moved = now.kind || sums->kind;
    *sums = now;
    return has_moved;
}

void enter_period(const privacy::Standing &standing, privacy::Account account, OpenShare *share,
                  OpenOdometer *odometer) {
    privacy::Standing now = standing;
    if (enter(now.table.of(account).period, &odometer->state.totals.of(account).period))
        odometer->moved = std::max(odometer->moved, odometer->moved == Moved::rho ? Moved::all : Moved::period);
    if (share != nullptr && enter(now.role.of(account).period, &share->totals.of(account).period))
        share->turned = true;
}

// ---- charges -------------------------------------------------------------------------------------------------------

void write(const Spi &spi, const Entry &entry, const Price &price, OpenShare *share, OpenOdometer *odometer) {
    const Charge &what = *entry.what;
    odometer->head = write_ledger_row(spi, entry, price, odometer->head);
    odometer->names = what.settings;
    privacy::add(&odometer->state.totals.of(what.account), price.cost, price.basis);
    privacy::add(&odometer->added.of(what.account), price.cost, price.basis);
    // A selection is no release: nobody has been answered yet. Nor is a closing, nor what its round charges for the same answer.
    const bool releases = entry.kind == RequestKind::charge && !is_carried(what) && !what.step.increment;
    odometer->counted(what.account).releases += releases ? 1 : 0;
    if (share == nullptr)
        return;
    privacy::add(&share->totals.of(what.account), price.cost, price.basis);
    privacy::add(&share->added.of(what.account), price.cost, price.basis);
    share->moved = true;
}

bool raise_claim(privacy::Account account, const privacy::BoundSettings &bound, OpenOdometer *odometer) {
    privacy::Claim &claim = odometer->state.claim;
    std::optional<privacy::Delta> &conversion = odometer->state.conditional_conversion;
    const privacy::Claim claimed = claim;
    const std::optional<privacy::Delta> converted = conversion;
    if (account == privacy::Account::public_account)
        border::core([&] { claim.raise(bound); });
    else
        conversion = std::max(conversion.value_or(privacy::Delta()), bound.delta_conversion);
    const bool raised = conversion != converted || !(claim == claimed);
    const bool period = odometer->moved == Moved::period;
    odometer->moved = std::max(odometer->moved, raised || period ? Moved::all : Moved::rho);
    return raised;
}

static void add_sums(Parameters *parameters, const privacy::Totals &totals) {
    parameters->add_numeric(totals.of_public.epsilon);
    parameters->add_numeric(totals.of_public.delta);
    parameters->add_numeric(totals.of_conditional.epsilon);
    parameters->add_numeric(totals.of_conditional.delta);
}

static void add_rho(Parameters *parameters, const privacy::Spent &spent) {
    parameters->add_numeric(spent.rho);
    parameters->add_numeric(spent.pure);
    parameters->add_bool(spent.rho_only);
}

static void add_before(Parameters *parameters, const privacy::Spent &spent) {
    parameters->add_numeric(spent.epsilon_before);
    parameters->add_numeric(spent.delta_before);
}

static void add_period(Parameters *parameters, const privacy::PeriodSums &sums) {
    parameters->add_text(sums.kind ? privacy::name_of(*sums.kind) : nullptr);
    parameters->add(TIMESTAMPTZOID, sums.kind ? TimestampTzGetDatum(to_moment(sums.start)) : Datum{0}, !sums.kind);
    parameters->add_numeric(sums.epsilon);
    parameters->add_numeric(sums.delta);
}

static void add_periods(Parameters *parameters, const privacy::Totals &totals) {
    add_period(parameters, totals.of_public.period);
    add_period(parameters, totals.of_conditional.period);
}

static void add_claim(Parameters *parameters, const privacy::Odometer &state) {
    const privacy::Claim &claim = state.claim;
    parameters->add_numeric_or_null(claim.total.value_or(privacy::Epsilon()), !claim.total);
    parameters->add_numeric_or_null(claim.conversion, !claim.charged);
    parameters->add_numeric_or_null(claim.mechanisms, !claim.charged);
    parameters->add_numeric_or_null(claim.target, claim.target.units() == 0);
    parameters->add_numeric_or_null(state.conditional_conversion.value_or(privacy::Delta()),
                                    !state.conditional_conversion);
}

// Head and names stay what they are when nothing but denials was counted.
static border::Statement move_odometer_statement(R"sql(
UPDATE dp_rdr.odometer SET
  public_epsilon = trim_scale(public_epsilon + $2), public_delta = trim_scale(public_delta + $3),
  conditional_epsilon = trim_scale(conditional_epsilon + $4), conditional_delta = trim_scale(conditional_delta + $5),
  public_releases = public_releases + $6, public_denials = public_denials + $7,
  conditional_releases = conditional_releases + $8, conditional_denials = conditional_denials + $9,
  head = coalesce($10, head), relation_name = coalesce($11, relation_name), owner = coalesce($12, owner)
WHERE id = $1)sql");

// The same, and the sums of its periods, as they are now.
static border::Statement move_period_statement(R"sql(
UPDATE dp_rdr.odometer SET
  public_epsilon = trim_scale(public_epsilon + $2), public_delta = trim_scale(public_delta + $3),
  conditional_epsilon = trim_scale(conditional_epsilon + $4), conditional_delta = trim_scale(conditional_delta + $5),
  public_releases = public_releases + $6, public_denials = public_denials + $7,
  conditional_releases = conditional_releases + $8, conditional_denials = conditional_denials + $9,
  head = coalesce($10, head), relation_name = coalesce($11, relation_name), owner = coalesce($12, owner),
  public_period_kind = $13, public_period_start = $14, public_period_epsilon = $15, public_period_delta = $16,
  conditional_period_kind = $17, conditional_period_start = $18, conditional_period_epsilon = $19,
  conditional_period_delta = $20
WHERE id = $1)sql");

// The same, and the sums in rho, as they are now.
static border::Statement move_rho_statement(R"sql(
UPDATE dp_rdr.odometer SET
  public_epsilon = trim_scale(public_epsilon + $2), public_delta = trim_scale(public_delta + $3),
  conditional_epsilon = trim_scale(conditional_epsilon + $4), conditional_delta = trim_scale(conditional_delta + $5),
  public_releases = public_releases + $6, public_denials = public_denials + $7,
  conditional_releases = conditional_releases + $8, conditional_denials = conditional_denials + $9,
  head = coalesce($10, head), relation_name = coalesce($11, relation_name), owner = coalesce($12, owner),
  public_rho = $13, public_pure = $14, public_rho_only = $15,
  conditional_rho = $16, conditional_pure = $17, conditional_rho_only = $18
WHERE id = $1)sql");

// The same, and all else that belongs to the epoch, and to periods.
static border::Statement move_epoch_statement(R"sql(
UPDATE dp_rdr.odometer SET
  public_epsilon = trim_scale(public_epsilon + $2), public_delta = trim_scale(public_delta + $3),
  conditional_epsilon = trim_scale(conditional_epsilon + $4), conditional_delta = trim_scale(conditional_delta + $5),
  public_releases = public_releases + $6, public_denials = public_denials + $7,
  conditional_releases = conditional_releases + $8, conditional_denials = conditional_denials + $9,
  head = coalesce($10, head), relation_name = coalesce($11, relation_name), owner = coalesce($12, owner),
  public_rho = $13, public_pure = $14, public_rho_only = $15,
  conditional_rho = $16, conditional_pure = $17, conditional_rho_only = $18,
  public_epsilon_before = $19, public_delta_before = $20,
  conditional_epsilon_before = $21, conditional_delta_before = $22,
  epoch = $23, claim_epsilon = $24, claim_conversion = $25, claim_mechanisms = $26, claim_target = $27,
  conditional_conversion = $28,
  public_period_kind = $29, public_period_start = $30, public_period_epsilon = $31, public_period_delta = $32,
  conditional_period_kind = $33, conditional_period_start = $34, conditional_period_epsilon = $35,
  conditional_period_delta = $36
WHERE id = $1)sql");

static void add_epoch(Parameters *parameters, const privacy::Odometer &state) {
    add_before(parameters, state.totals.of_public);
    add_before(parameters, state.totals.of_conditional);
    parameters->add_number(state.epoch);
    add_claim(parameters, state);
}

static border::Statement &statement_for(Moved moved) {
    switch (moved) {
    case Moved::nothing:
        return move_odometer_statement;
    case Moved::period:
        return move_period_statement;
    case Moved::rho:
        return move_rho_statement;
    case Moved::all:
        break;
    }
    return move_epoch_statement;
}

static void move_odometer(const Spi &spi, const OpenOdometer &odometer) {
    const Counted &of_public = odometer.counts.of_public, &of_conditional = odometer.counts.of_conditional;
    const Settings *names = odometer.names;
    if (names == nullptr && of_public.denials + of_conditional.denials == 0 && odometer.moved == Moved::nothing)
        return;
    Parameters parameters;
    parameters.add_uuid(odometer.id);
    add_sums(&parameters, odometer.added);
    parameters.add_count(of_public.releases);
    parameters.add_count(of_public.denials);
    parameters.add_count(of_conditional.releases);
    parameters.add_count(of_conditional.denials);
    parameters.add(BYTEAOID, odometer.head, names == nullptr);
    parameters.add_text(names == nullptr ? nullptr : name_or(names->relation, names->relation_name));
    parameters.add(OIDOID, names == nullptr ? Datum{0} : ObjectIdGetDatum(names->owner), names == nullptr);
    if (odometer.moved == Moved::rho || odometer.moved == Moved::all) {
        add_rho(&parameters, odometer.state.totals.of_public);
        add_rho(&parameters, odometer.state.totals.of_conditional);
    }
    if (odometer.moved == Moved::all)
        add_epoch(&parameters, odometer.state);
    if (odometer.moved == Moved::period || odometer.moved == Moved::all)
        add_periods(&parameters, odometer.state.totals);
    if (run(spi, statement_for(odometer.moved), parameters) != 1)
        elog(ERROR, "the charge moved no odometer");
}

// What it has of another epoch is forgotten.
static border::Statement move_share_statement(R"sql(
INSERT INTO dp_rdr.odometer_share AS s
  (id, grantee, public_epsilon, public_delta, conditional_epsilon, conditional_delta, public_rho, public_pure,
   public_rho_only, conditional_rho, conditional_pure, conditional_rho_only, epoch)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (id, grantee) DO UPDATE SET
  public_epsilon = trim_scale(s.public_epsilon + $3), public_delta = trim_scale(s.public_delta + $4),
  conditional_epsilon = trim_scale(s.conditional_epsilon + $5), conditional_delta = trim_scale(s.conditional_delta + $6),
  public_rho = trim_scale(CASE s.epoch WHEN $13 THEN s.public_rho ELSE 0 END + $7),
  public_pure = trim_scale(CASE s.epoch WHEN $13 THEN s.public_pure ELSE 0 END + $8),
  public_rho_only = s.epoch = $13 AND s.public_rho_only OR $9,
  conditional_rho = trim_scale(CASE s.epoch WHEN $13 THEN s.conditional_rho ELSE 0 END + $10),
  conditional_pure = trim_scale(CASE s.epoch WHEN $13 THEN s.conditional_pure ELSE 0 END + $11),
  conditional_rho_only = s.epoch = $13 AND s.conditional_rho_only OR $12,
  public_epsilon_before = CASE s.epoch WHEN $13 THEN s.public_epsilon_before ELSE s.public_epsilon END,
  conditional_epsilon_before = CASE s.epoch WHEN $13 THEN s.conditional_epsilon_before ELSE s.conditional_epsilon END,
  epoch = $13)sql");

// The same, and its periods as they are now.
static border::Statement turn_share_statement(R"sql(
INSERT INTO dp_rdr.odometer_share AS s
  (id, grantee, public_epsilon, public_delta, conditional_epsilon, conditional_delta, public_rho, public_pure,
   public_rho_only, conditional_rho, conditional_pure, conditional_rho_only, epoch,
   public_period_kind, public_period_start, public_period_epsilon, public_period_delta,
   conditional_period_kind, conditional_period_start, conditional_period_epsilon, conditional_period_delta)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
ON CONFLICT (id, grantee) DO UPDATE SET
  public_epsilon = trim_scale(s.public_epsilon + $3), public_delta = trim_scale(s.public_delta + $4),
  conditional_epsilon = trim_scale(s.conditional_epsilon + $5), conditional_delta = trim_scale(s.conditional_delta + $6),
  public_rho = trim_scale(CASE s.epoch WHEN $13 THEN s.public_rho ELSE 0 END + $7),
  public_pure = trim_scale(CASE s.epoch WHEN $13 THEN s.public_pure ELSE 0 END + $8),
  public_rho_only = s.epoch = $13 AND s.public_rho_only OR $9,
  conditional_rho = trim_scale(CASE s.epoch WHEN $13 THEN s.conditional_rho ELSE 0 END + $10),
  conditional_pure = trim_scale(CASE s.epoch WHEN $13 THEN s.conditional_pure ELSE 0 END + $11),
  conditional_rho_only = s.epoch = $13 AND s.conditional_rho_only OR $12,
  public_epsilon_before = CASE s.epoch WHEN $13 THEN s.public_epsilon_before ELSE s.public_epsilon END,
  conditional_epsilon_before = CASE s.epoch WHEN $13 THEN s.conditional_epsilon_before ELSE s.conditional_epsilon END,
  epoch = $13,
  public_period_kind = $14, public_period_start = $15, public_period_epsilon = $16, public_period_delta = $17,
  conditional_period_kind = $18, conditional_period_start = $19, conditional_period_epsilon = $20,
  conditional_period_delta = $21)sql");

static void move_share(const Spi &spi, const OpenOdometer &odometer, const OpenShare &share) {
    Parameters parameters;
    parameters.add_uuid(odometer.id);
    parameters.add_text(share.grantee);
    add_sums(&parameters, share.added);
    add_rho(&parameters, share.added.of_public);
    add_rho(&parameters, share.added.of_conditional);
    parameters.add_number(odometer.state.epoch);
    if (share.turned)
        add_periods(&parameters, share.totals);
    if (run(spi, share.turned ? turn_share_statement : move_share_statement, parameters) != 1)
        elog(ERROR, "the charge moved no share");
}

// ---- epochs ----

// No release, and nobody's charge but the owner's, who has begun another epoch: the table's own name stands for a view.
static void write_closing(const Spi &spi, const Settings &settings, privacy::Account account, privacy::Loss loss,
                          OpenOdometer *odometer) {
    auto *closed = static_cast<Settings *>(palloc(sizeof(Settings)));
    *closed = settings;
    closed->view = settings.relation;
    closed->view_name = settings.relation_name;
    Charge what = {};
    what.settings = closed;
    what.asker.role = what.asker.session_role = settings.owner;
    what.query = psprintf("end of epoch %d", odometer->state.epoch);
    what.algorithm = "none";
    what.guarantee = "what the epoch promised, less what its charges have added";
    what.kind = "closing";
    what.account = account;
    what.parameters = "{}";
    Entry entry = entry_for(what);
    Price price = {};
    price.cost.epsilon = price.worst = loss.epsilon;
    price.cost.delta = loss.delta;
    price.epoch = odometer->state.epoch;
    price.at = GetCurrentTimestamp();
    write(spi, entry, price, nullptr, odometer);
}

// What this batch has added to shares belongs to the epoch that ends: it is written with its number.
static void end_shares(const Spi &spi, OpenOdometer *odometer) {
    ListCell *cell;
    foreach (cell, odometer->shares) {
        auto *share = static_cast<OpenShare *>(lfirst(cell));
        if (share->moved)
            move_share(spi, *odometer, *share);
        share->moved = share->turned = false;
        share->added = privacy::Totals();
        share->totals.of_public.begin_epoch();
        share->totals.of_conditional.begin_epoch();
    }
}

bool enter_epoch(const Spi &spi, const Settings &settings, int epoch, OpenOdometer *odometer) {
    if (epoch <= odometer->state.epoch)
        return epoch == odometer->state.epoch;
    for (privacy::Account account : {privacy::Account::public_account, privacy::Account::conditional}) {
        privacy::Loss loss = {};
        bool charged = border::core([&] {
            const std::optional<privacy::Loss> closing = privacy::closing(odometer->state, account);
            loss = closing.value_or(privacy::Loss());
            return closing.has_value();
        });
        if (charged)
            write_closing(spi, settings, account, loss, odometer);
    }
    end_shares(spi, odometer);
    privacy::begin_epoch(&odometer->state, epoch);
    odometer->moved = Moved::all;
    return true;
}

void move(const Spi &spi, const OpenOdometer &odometer) {
    move_odometer(spi, odometer);
    ListCell *cell;
    foreach (cell, odometer.shares) {
        auto *share = static_cast<const OpenShare *>(lfirst(cell));
        if (share->moved)
            move_share(spi, odometer, *share);
    }
    write_denials(spi, odometer.id, odometer.denials);
}

} // namespace dp::catalog
