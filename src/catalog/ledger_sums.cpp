#include "catalog/ledger_sums.hpp"

#include "privacy/standing.hpp"

#include "catalog/described_row.hpp"

namespace dp::catalog {

using border::Spi;

static bool read_row(const Spi &spi, border::Statement &statement, OpenOdometer *odometer) {
    if (run(spi, statement, Uuid{odometer->id}) != 1)
        return false;
    Row row = {SPI_tuptable->vals[0], SPI_tuptable->tupdesc};
    odometer->state = odometer_of(row);
    odometer->found_epoch = odometer->state.epoch;
    odometer->head = row.value("head");
    RowReader visit{row};
    Counts before;
    visit("partition", odometer->partition);
    visit("begun", odometer->begun);
    visit("founded", odometer->founded);
    odometer->spread = read_spread(visit);
    fields(visit, before);
    odometer->denials.before = before.of_public.denials + before.of_conditional.denials;
    return true;
}

bool look_at_odometer(const Spi &spi, OpenOdometer *odometer) {
    static border::Statement look("SELECT o.* FROM dp_rdr.odometer o WHERE o.id = $1");
    return read_row(spi, look, odometer);
}

Lock lock_odometer(const Spi &spi, OpenOdometer *odometer) {
    static border::Statement lock("SELECT o.* FROM dp_rdr.odometer o WHERE o.id = $1 FOR UPDATE SKIP LOCKED");
    if (read_row(spi, lock, odometer))
        return Lock::held;
    return look_at_odometer(spi, odometer) ? Lock::busy : Lock::missing;
}

OpenShare *share_of(OpenOdometer *odometer, const char *grantee) {
    for (auto *share : border::each<OpenShare>(odometer->shares)) {
        if (strcmp(share->grantee, grantee) == 0)
            return share;
    }
    auto *share = static_cast<OpenShare *>(palloc0(sizeof(OpenShare)));
    share->grantee = grantee;
    odometer->shares = lappend(odometer->shares, share);
    return share;
}

OpenShare *known_share(OpenOdometer *odometer, const char *grantee, const privacy::Totals &stored,
                       const privacy::Spread &spread) {
    OpenShare *share = share_of(odometer, grantee);
    if (!share->known) {
        share->totals = {stored.of_public + share->added.of_public,
                         stored.of_conditional + share->added.of_conditional};
        share->spread = spread; // nothing is added to it before the share is known
    }
    share->known = true;
    return share;
}

// ---- periods -------------------------------------------------------------------------------------------------------

privacy::Standing standing_of(const OpenOdometer &odometer, const OpenShare *share, const privacy::BoundSettings &bound,
                              TimestampTz at) {
    const privacy::Totals role = share == nullptr ? privacy::Totals() : share->totals;
    return bound.period ? privacy::standing(odometer.state.totals, role, bound, to_day(at))
                        : privacy::Standing::without_period(odometer.state.totals, role);
}

void enter_period(const privacy::Standing &standing, privacy::Account account, OpenShare *share,
                  OpenOdometer *odometer) {
    privacy::Standing now = standing;
    odometer->state.totals.of(account).period = now.table.of(account).period;
    if (share == nullptr)
        return;
    privacy::PeriodSums &sums = share->totals.of(account).period;
    share->turned = share->turned || now.role.of(account).period.kind || sums.kind;
    sums = now.role.of(account).period;
}

// ---- charges -------------------------------------------------------------------------------------------------------

// A charge on some cells moves the sums of an account by how much it raises the largest ones.
static void add_price(const Price &price, const privacy::CellSums &raised, privacy::Spent *spent) {
    if (price.by_cells)
        privacy::add(spent, raised);
    else
        privacy::add(spent, price.cost, price.basis);
}

static void spread_price(const Charge &what, const Price &price, const privacy::CellSums &raised,
                         privacy::Spread *spread) {
    if (what.account != privacy::Account::public_account)
        return;
    privacy::CellSums &part = price.by_cells ? spread->most : spread->all;
    part = part + (price.by_cells ? raised : privacy::added_by(price.cost, price.basis));
}

void write(const Spi &spi, const Entry &entry, const Price &price, OpenShare *share, OpenOdometer *odometer) {
    const Charge &what = *entry.what;
    odometer->head = write_ledger_row(spi, entry, price, odometer->head);
    odometer->names = what.settings;
    for (privacy::Totals *totals : {&odometer->state.totals, &odometer->added})
        add_price(price, price.raised, &totals->of(what.account));
    spread_price(what, price, price.raised, &odometer->spread);
    // A selection is no release: nobody has been answered yet. Nor is a closing, nor what its round charges for the same answer.
    const bool releases = entry.kind == RequestKind::charge && !is_carried(what) && !what.step.increment;
    odometer->counted(what.account).releases += releases ? 1 : 0;
    if (share == nullptr)
        return;
    for (privacy::Totals *totals : {&share->totals, &share->added})
        add_price(price, price.raised_role, &totals->of(what.account));
    for (privacy::Spread *spread : {&share->spread, &share->spread_added})
        spread_price(what, price, price.raised_role, spread);
    share->moved = true;
}

// No release, and nobody's charge but the owner's: the table's own name stands for a view.
void write_carried(const Spi &spi, const Settings &settings, privacy::Account account, const Carrying &carrying,
                   Price price, OpenOdometer *odometer) {
    auto *closed = static_cast<Settings *>(palloc(sizeof(Settings)));
    *closed = settings;
    closed->view = settings.relation;
    closed->view_name = settings.relation_name;
    Charge what = {};
    what.settings = closed;
    what.asker.role = what.asker.session_role = settings.owner;
    what.query = carrying.query;
    what.algorithm = "none";
    what.guarantee = carrying.guarantee;
    what.kind = carrying.kind;
    what.account = account;
    what.parameters = "{}";
    Entry entry = entry_for(what);
    price.worst = price.cost.epsilon;
    price.epoch = odometer->state.epoch;
    price.at = GetCurrentTimestamp();
    write(spi, entry, price, nullptr, odometer);
}

// ---- rows ----------------------------------------------------------------------------------------------------------

// Names a column (%1$s) and the number of its value (%2$d): what a charge adds to, keeps where the value is NULL, or sets.
static const char *const adds = "%1$s = trim_scale(o.%1$s + $%2$d)";
static const char *const keeps = "%1$s = coalesce($%2$d, o.%1$s)";
static const char *const sets = "%1$s = $%2$d";
// Forgets what a share has of another epoch than $3.
static const char *const adds_in_epoch = "%1$s = trim_scale(CASE o.epoch WHEN $3 THEN o.%1$s ELSE 0 END + $%2$d)";
static const char *const is_set_in_epoch = "%1$s = o.epoch = $3 AND o.%1$s OR $%2$d";

namespace {
// Collects the columns of a row with what becomes of them.
struct Assignments {
    static constexpr bool reads = false;
    bool known; // the text of the statement is there
    Parameters values = {};
    StringInfoData names, numbers, text;
    const char *prefix = "", *rule = nullptr, *rule_of_flags = sets; // null: nothing becomes of it

    static Assignments begin(const border::Statement &statement) {
        Assignments assignments = {};
        assignments.known = statement.text != nullptr;
        initStringInfo(&assignments.names);
        initStringInfo(&assignments.numbers);
        initStringInfo(&assignments.text);
        return assignments;
    }
    template <class T> void operator()(const char *column, const T &value) {
        values.add(value);
        if (known)
            return;
        const char *name = psprintf("%s%s", prefix, column);
        appendStringInfo(&names, "%s%s", names.len == 0 ? "" : ", ", name);
        appendStringInfo(&numbers, "%s$%d", numbers.len == 0 ? "" : ", ", values.n);
        if (rule == nullptr)
            return;
        appendStringInfoString(&text, text.len == 0 ? "" : ", ");
        appendStringInfo(&text, std::is_same_v<T, bool> ? rule_of_flags : rule, name, values.n);
    }
    void keep(border::Statement *statement, const char *made) const {
        if (!known)
            statement->text = MemoryContextStrdup(TopMemoryContext, made);
    }
    template <class Enum, class FromName>
    void word(const char *column, FromName &&, const std::optional<Enum> &member) {
        (*this)(column, member ? privacy::name_of(*member) : static_cast<const char *>(nullptr));
    }
};
} // namespace

// Sums that go on for ever are added to; head and names stay what they are when nothing but denials was counted.
static void assign_always(const OpenOdometer &odometer, Assignments *visit) {
    privacy::Totals added = odometer.added;
    Counts counts = odometer.counts;
    const Settings *names = odometer.names;
    (*visit)("id", Uuid{odometer.id});
    visit->rule = adds;
    both(*visit, added, sums_of);
    visit->rule = "%1$s = o.%1$s + $%2$d";
    fields(*visit, counts);
    visit->rule = keeps;
    (*visit)("head", Typed{BYTEAOID, names == nullptr ? Datum{0} : odometer.head});
    (*visit)("relation_name", names == nullptr ? nullptr : name_or(names->relation, names->relation_name));
    (*visit)("owner", names == nullptr ? std::optional<Oid>() : names->owner);
}

static void move_odometer(const Spi &spi, const OpenOdometer &odometer) {
    static border::Statement statement(nullptr);
    if (odometer.names == nullptr && odometer.counts.of_public.denials + odometer.counts.of_conditional.denials == 0 &&
        !odometer.has_turned)
        return;
    Assignments visit = Assignments::begin(statement);
    assign_always(odometer, &visit);
    visit.rule = sets;
    privacy::Odometer state = odometer.state;
    both(visit, state.totals, rho_of);
    both(visit, state.totals, before_of);
    both(visit, state.totals, delta_before_of);
    both(visit, state.totals, period_of);
    visit("epoch", state.epoch);
    claim_of(visit, state);
    privacy::Spread spread = odometer.spread;
    visit("partition", int32{odometer.partition});
    visit("begun", odometer.begun);
    visit("founded", odometer.founded);
    most_of(visit, spread);
    spread_of_epoch(visit, spread);
    visit.keep(&statement, psprintf("UPDATE dp_rdr.odometer o SET %s WHERE id = $1", visit.text.data));
    if (run(spi, statement, visit.values) != 1)
        elog(ERROR, "the charge moved no odometer");
}

static void move_share(const Spi &spi, const OpenOdometer &odometer, const OpenShare &share) {
    static border::Statement statements[] = {border::Statement(nullptr), border::Statement(nullptr)}; // by `turned`
    border::Statement &statement = statements[share.turned];
    privacy::Totals added = share.added, totals = share.totals;
    privacy::Spread spread = share.spread_added;
    Assignments visit = Assignments::begin(statement);
    visit("id", Uuid{odometer.id});
    visit("grantee", share.grantee);
    visit.rule = sets;
    visit("epoch", int32{odometer.state.epoch});
    visit.rule = adds;
    both(visit, added, sums_of);
    most_of(visit, spread);
    visit.rule = adds_in_epoch;
    visit.rule_of_flags = is_set_in_epoch;
    both(visit, added, rho_of);
    spread_of_epoch(visit, spread);
    visit.rule = sets;
    if (share.turned)
        both(visit, totals, period_of);
    visit.keep(&statement, psprintf(R"sql(
INSERT INTO dp_rdr.odometer_share AS o (%s) VALUES (%s) ON CONFLICT (id, grantee) DO UPDATE SET %s,
  public_epsilon_before = CASE o.epoch WHEN $3 THEN o.public_epsilon_before ELSE o.public_epsilon END,
  conditional_epsilon_before = CASE o.epoch WHEN $3 THEN o.conditional_epsilon_before ELSE o.conditional_epsilon END)sql",
                                    visit.names.data, visit.numbers.data, visit.text.data));
    if (run(spi, statement, visit.values) != 1)
        elog(ERROR, "the charge moved no share");
}

void move_shares(const Spi &spi, OpenOdometer *odometer) {
    for (auto *share : border::each<OpenShare>(odometer->shares)) {
        if (share->moved)
            move_share(spi, *odometer, *share);
        share->moved = share->turned = false;
        share->added = privacy::Totals();
        share->spread_added = privacy::Spread();
    }
}

void move(const Spi &spi, OpenOdometer *odometer) {
    odometer->cells.write(spi, odometer->id);
    move_odometer(spi, *odometer);
    move_shares(spi, odometer);
    write_denials(spi, odometer->id, odometer->denials);
}

} // namespace dp::catalog
