#include "catalog/ledger_sums.hpp"

#include "privacy/standing.hpp"

#include "catalog/described_row.hpp"

namespace dp::catalog {

using border::Spi;

Lock lock_odometer(const Spi &spi, OpenOdometer *odometer) {
    static border::Statement lock("SELECT o.* FROM dp_rdr.odometer o WHERE o.id = $1 FOR UPDATE SKIP LOCKED");
    static border::Statement look("SELECT FROM dp_rdr.odometer o WHERE o.id = $1");
    const Uuid id{odometer->id};
    if (run(spi, lock, id) == 1) {
        Row row = {SPI_tuptable->vals[0], SPI_tuptable->tupdesc};
        odometer->state = odometer_of(row);
        odometer->found_epoch = odometer->state.epoch;
        odometer->head = row.value("head");
        RowReader visit{row};
        Counts before;
        visit("partition", odometer->partition);
        visit("begun", odometer->begun);
        most_of(visit, odometer->most);
        fields(visit, before);
        odometer->denials.before = before.of_public.denials + before.of_conditional.denials;
        return Lock::held;
    }
    return run(spi, look, id) == 1 ? Lock::busy : Lock::missing;
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
                       const privacy::Loss &most) {
    OpenShare *share = share_of(odometer, grantee);
    if (!share->known) {
        share->totals = {stored.of_public + share->added.of_public,
                         stored.of_conditional + share->added.of_conditional};
        share->most = most; // nothing is added to cells before the share is known
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

void write(const Spi &spi, const Entry &entry, const Price &price, OpenShare *share, OpenOdometer *odometer) {
    const Charge &what = *entry.what;
    odometer->head = write_ledger_row(spi, entry, price, odometer->head);
    odometer->names = what.settings;
    privacy::add(&odometer->state.totals.of(what.account), price.of_table(), price.basis);
    privacy::add(&odometer->added.of(what.account), price.of_table(), price.basis);
    // A selection is no release: nobody has been answered yet. Nor is a closing, nor what its round charges for the same answer.
    const bool releases = entry.kind == RequestKind::charge && !is_carried(what) && !what.step.increment;
    odometer->counted(what.account).releases += releases ? 1 : 0;
    if (share == nullptr)
        return;
    privacy::add(&share->totals.of(what.account), price.of_role(), price.basis);
    privacy::add(&share->added.of(what.account), price.of_role(), price.basis);
    share->moved = true;
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
    privacy::Loss most = odometer.most;
    visit("partition", int32{odometer.partition});
    visit("begun", odometer.begun);
    most_of(visit, most);
    visit.keep(&statement, psprintf("UPDATE dp_rdr.odometer o SET %s WHERE id = $1", visit.text.data));
    if (run(spi, statement, visit.values) != 1)
        elog(ERROR, "the charge moved no odometer");
}

static void move_share(const Spi &spi, const OpenOdometer &odometer, const OpenShare &share) {
    static border::Statement statements[] = {border::Statement(nullptr), border::Statement(nullptr)}; // by `turned`
    border::Statement &statement = statements[share.turned];
    privacy::Totals added = share.added, totals = share.totals;
    privacy::Loss most = share.most_added;
    Assignments visit = Assignments::begin(statement);
    visit("id", Uuid{odometer.id});
    visit("grantee", share.grantee);
    visit.rule = sets;
    visit("epoch", int32{odometer.state.epoch});
    visit.rule = adds;
    both(visit, added, sums_of);
    most_of(visit, most);
    visit.rule = adds_in_epoch;
    visit.rule_of_flags = is_set_in_epoch;
    both(visit, added, rho_of);
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
        share->most_added = privacy::Loss();
    }
}

void move(const Spi &spi, OpenOdometer *odometer) {
    move_odometer(spi, *odometer);
    move_shares(spi, odometer);
    write_denials(spi, odometer->id, odometer->denials);
}

} // namespace dp::catalog
