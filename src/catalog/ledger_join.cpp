// Makes what was charged to one domain a charge of another: rows of kind `join`.
#include "catalog/ledger_join.hpp"

#include "catalog/ledger_epochs.hpp"
#include "catalog/parameters.hpp"

namespace dp::catalog {

using border::Spi;

// ---- what it rests on ----------------------------------------------------------------------------------------------

// Denials and charges from the data count as well: whether they are one or the other may be decided by rows.
static const char *const untold_sql = R"sql(NOT EXISTS (SELECT FROM dp_rdr.ledger_row l WHERE l.table_id = $1::uuid)
  AND NOT EXISTS (SELECT FROM dp_rdr.odometer o WHERE o.id = $1::uuid AND o.public_epsilon + o.conditional_epsilon + o.public_rho
    + o.conditional_rho + o.public_releases + o.conditional_releases + o.public_denials + o.conditional_denials > 0)
  AND NOT EXISTS (SELECT FROM dp_rdr.protected_table t JOIN dp_rdr.restricted_view v ON v.relation = t.relation
    JOIN dp_rdr.policy p ON p.view = v.view WHERE t.domain = $1::uuid))sql";

// (Whether a table was protected, a policy granted or an owner changed meanwhile shows as another version of a row.)
static const char *const versions_sql = R"sql(
WITH own AS (SELECT * FROM (VALUES ($1::uuid), ($2::uuid)) v (id)),
tables AS (SELECT t.relation::oid AS oid, t.ctid, t.xmin FROM dp_rdr.protected_table t JOIN own ON own.id = t.domain),
views AS (SELECT v.view::oid AS oid, v.ctid, v.xmin FROM dp_rdr.restricted_view v JOIN tables t ON t.oid = v.relation::oid)
SELECT encode(sha256(convert_to(string_agg(x.version, ' ' ORDER BY x.version COLLATE "C"), 'UTF8')), 'hex')
  || CASE WHEN %s THEN '%s' ELSE '' END FROM (
  SELECT format('domain %%s %%s', d.ctid, d.xmin) FROM dp_rdr.privacy_domain d JOIN own ON own.id = d.id
  UNION ALL SELECT format('partition %%s %%s', c.ctid, c.xmin) FROM dp_rdr.partition c JOIN own ON own.id = c.domain
  UNION ALL SELECT format('table %%s %%s', t.ctid, t.xmin) FROM tables t
  UNION ALL SELECT format('view %%s %%s', v.ctid, v.xmin) FROM views v
  UNION ALL SELECT format('policy %%s %%s', p.ctid, p.xmin) FROM dp_rdr.policy p JOIN views v ON v.oid = p.view::oid
  UNION ALL SELECT format('owner %%s %%s', c.oid, c.relowner) FROM pg_class c JOIN tables t ON t.oid = c.oid) x (version))sql";

static const char untold_mark[] = " untold";

const char *versions_of_domains(const Spi &spi, bool read_only, const char *id, const char *other) {
    Parameters ids = Parameters::of(id, other);
    spi.run(psprintf(versions_sql, untold_sql, untold_mark), read_only, ids.n, ids.types, ids.values, ids.nulls);
    return spi.text(0, 1);
}

bool is_untold(const char *versions) {
    return versions != nullptr && strstr(versions, untold_mark) != nullptr;
}

namespace {

// One of the two, under its locks.
struct Side {
    const Settings *settings; // of a table of it, which stands for its views
    const Bound *bound;
    OpenOdometer odometer;
};

// Both ids, in one order for all.
Parameters ids_of(const Side &from, const Side &into) {
    return Parameters::of(Uuid{from.odometer.id}, Uuid{into.odometer.id});
}

// Setters hold these, for as long as their transactions like.
bool lock_domains(const Spi &spi, const Side &from, const Side &into) {
    static border::Statement statement(
        "SELECT FROM dp_rdr.privacy_domain d WHERE d.id IN ($1, $2) ORDER BY d.id FOR UPDATE SKIP LOCKED");
    Parameters ids = ids_of(from, into);
    return run(spi, statement, ids) == 2;
}

// In the order of their ids, as every writer does.
Lock lock_odometers(const Spi &spi, Side *from, Side *into) {
    const bool ascending = strcmp(from->odometer.id, into->odometer.id) < 0;
    Side *const order[2] = {ascending ? from : into, ascending ? into : from};
    for (Side *side : order)
        if (const Lock lock = lock_odometer(spi, &side->odometer); lock != Lock::held)
            return lock;
    return Lock::held;
}

const Settings *settings_for(const char *id, Oid relation, const char *relation_name, Oid owner) {
    auto *settings = static_cast<Settings *>(palloc0(sizeof(Settings)));
    settings->id_text = id;
    settings->relation = settings->view = relation;
    settings->relation_name = settings->view_name = relation_name;
    settings->owner = owner;
    return settings;
}

// ---- whether it fits -----------------------------------------------------------------------------------------------

// The public account alone: what was chosen from rows decides nothing that anybody sees, and that two domains are one is seen.
bool exceeds(const privacy::BoundSettings &bound, const privacy::Spent &from, const privacy::Spent &into,
             Reason *reason) {
    reason->bound = bound.bound;
    reason->asked = from.epsilon;
    reason->spent = into.epsilon;
    reason->delta_asked = from.delta;
    reason->delta_spent = into.delta;
    if (bound.bound == privacy::Bound::none)
        return false;
    reason->delta_total = bound.delta_total;
    if (from.delta + into.delta > bound.delta_total)
        reason->denial = privacy::Denial::delta_total;
    if (!bound.epsilon_total)
        return reason->denial != privacy::Denial::none;
    reason->total = *bound.epsilon_total;
    if (from.epsilon + into.epsilon > *bound.epsilon_total)
        reason->denial = privacy::Denial::epsilon_total;
    return reason->denial != privacy::Denial::none;
}

// ---- the rows ------------------------------------------------------------------------------------------------------

struct Carried {
    privacy::Account account;
    const char *grantee; // or null: what no role's share counts
    privacy::Epsilon epsilon;
    privacy::Delta delta;
    int64 releases; // of the account, in the row without a role
};

void write_join(const Spi &spi, const Entry &join, const Carried &carried, const char *parameters,
                const char *guarantee, Side *side) {
    Charge what = {};
    what.settings = side->settings;
    what.asker = join.what->asker;
    what.query = join.what->query;
    what.grantee = carried.grantee;
    what.grantee_oid = carried.grantee == nullptr ? InvalidOid : get_role_oid(carried.grantee, true);
    what.algorithm = "none";
    what.guarantee = guarantee;
    what.kind = "join";
    what.account = carried.account;
    what.parameters = parameters;
    Price price = {};
    price.cost.epsilon = price.worst = carried.epsilon;
    price.cost.delta = carried.delta;
    price.epoch = side->odometer.state.epoch;
    price.at = GetCurrentTimestamp();
    OpenShare *share = nullptr;
    if (carried.grantee != nullptr) {
        Reading reading = Reading::open();
        share = known_share(&side->odometer, carried.grantee,
                            read_share(reading, side->odometer.id, carried.grantee, side->odometer.state.epoch));
        reading.close();
    }
    // Like a charge while no period is set: it is in none, and leaves none.
    enter_period(standing_of(side->odometer, share, side->bound->settings, price.at), carried.account, share,
                 &side->odometer);
    write(spi, entry_for(what), price, share, &side->odometer);
}

// The last row of a chain: which one goes on from here.
void write_end(const Spi &spi, const Entry &join, const Side &into, Side *from) {
    const Carried nothing = {privacy::Account::public_account, nullptr, {}, {}, 0};
    write_join(spi, join, nothing, psprintf("{\"into\": \"%s\"}", into.odometer.id),
               "counted in another domain from here on", from);
}

// Where the sums come from: the domain, and the last row of its chain.
const char *source_of(const Side &from, const Carried &carried) {
    bytea *head = DatumGetByteaPP(from.odometer.head);
    char *hex = static_cast<char *>(palloc0(2 * VARSIZE_ANY_EXHDR(head) + 1));
    (void)hex_encode(VARDATA_ANY(head), VARSIZE_ANY_EXHDR(head), hex);
    const JsonText json = JsonText::object();
    json("from", from.odometer.id);
    json("head", static_cast<const char *>(hex));
    json("releases", carried.releases);
    json("relation", from.settings->relation_name);
    return json.closed();
}

// Lists what roles have of an account, each, and last what is nobody's share. Both sums are carried as they are.
List *parts_of(const Spi &spi, const Side &from, privacy::Account account, int64 releases) {
    static border::Statement statement(
        "SELECT s.grantee, s.epsilon, s.delta FROM (SELECT grantee, CASE WHEN $2 THEN public_epsilon ELSE conditional_epsilon END "
        "AS epsilon, CASE WHEN $2 THEN public_delta ELSE conditional_delta END AS delta FROM dp_rdr.odometer_share "
        "WHERE id = $1) s WHERE s.epsilon > 0 OR s.delta > 0 ORDER BY s.grantee COLLATE \"C\"");
    const bool open = account == privacy::Account::public_account;
    privacy::Totals totals = from.odometer.state.totals;
    auto *rest = static_cast<Carried *>(palloc(sizeof(Carried)));
    *rest = {account, nullptr, totals.of(account).epsilon, totals.of(account).delta, releases};
    List *parts = NIL;
    const uint64 n = run(spi, statement, Uuid{from.odometer.id}, open);
    for (uint64 i = 0; i < n; i++) {
        auto *carried = static_cast<Carried *>(palloc(sizeof(Carried)));
        bool isnull;
        *carried = {account, spi.text(i, 1), to_epsilon_sum(Spi::value(i, 2, &isnull), "epsilon"),
                    to_delta(Spi::value(i, 3, &isnull), "delta"), 0};
        rest->epsilon = rest->epsilon - carried->epsilon;
        rest->delta = rest->delta - carried->delta;
        parts = lappend(parts, carried);
    }
    if (rest->epsilon.units() < 0 || rest->delta.units() < 0)
        elog(ERROR, "the shares of roles on %s are more than its totals", from.settings->relation_name);
    // One of the public account there is always: it says where the other chain has ended.
    const bool is_needed = open || releases > 0;
    return is_needed || rest->epsilon.units() > 0 || rest->delta.units() > 0 ? lappend(parts, rest) : parts;
}

void carry(const Spi &spi, const Entry &join, const Side &from, Side *into) {
    privacy::Odometer odometer;
    Counts counts = {};
    Reading reading = Reading::open();
    (void)read_odometer(reading, from.odometer.id, &odometer, &counts);
    for (privacy::Account account : {privacy::Account::public_account, privacy::Account::conditional}) {
        const bool open = account == privacy::Account::public_account;
        const Counted &counted = open ? counts.of_public : counts.of_conditional;
        for (auto *carried : border::each<const Carried>(parts_of(spi, from, account, counted.releases))) {
            write_join(spi, join, *carried, source_of(from, *carried), "the sum of what the joined domain was charged",
                       into);
        }
        into->odometer.counted(account).releases += counted.releases;
        into->odometer.counted(account).denials += counted.denials;
    }
    reading.close();
}

// ---- the declarations ----------------------------------------------------------------------------------------------

// Leaves its ledger under the old id, and the odometer that this ends with. Answers that were stored under it are not given again;
// denials and requests are those of the tables. (A version of its own for the domain that stays: what was prepared before is asked again.)
void move_declarations(const Spi &spi, const Side &from, const Side &into) {
    static border::Statement statements[] = {
        border::Statement("UPDATE dp_rdr.protected_table SET domain = $2 WHERE domain = $1"),
        border::Statement("UPDATE dp_rdr.privacy_domain d SET unit_names = "
                          "(SELECT array_agg(DISTINCT n.name ORDER BY n.name) FROM dp_rdr.privacy_domain o, "
                          "unnest(o.unit_names) n (name) WHERE o.id IN ($1, $2)), people = coalesce(d.people, "
                          "(SELECT o.people FROM dp_rdr.privacy_domain o WHERE o.id = $1)) WHERE d.id = $2"),
        border::Statement(
            "UPDATE dp_rdr.privacy_domain SET joined_into = $2, unit_names = NULL WHERE $1 IN (id, joined_into)"),
        border::Statement(
            "INSERT INTO dp_rdr.public_table (domain, relation) "
            "SELECT $2, p.relation FROM dp_rdr.public_table p WHERE p.domain = $1 ON CONFLICT DO NOTHING"),
        border::Statement("DELETE FROM dp_rdr.public_table WHERE domain = $1 AND $2 IS NOT NULL"),
        border::Statement("UPDATE dp_rdr.denial SET table_id = $2 WHERE table_id = $1"),
        border::Statement("UPDATE dp_rdr.request SET table_id = $2 WHERE id IN (SELECT r.id FROM dp_rdr.request r "
                          "WHERE r.table_id = $1 FOR UPDATE SKIP LOCKED)"), // roles that ask do not hold it up
        border::Statement("DELETE FROM dp_rdr.stored_answer WHERE table_id = $1 AND $2 IS NOT NULL"),
        border::Statement("DELETE FROM dp_rdr.forgotten WHERE table_id = $1 AND $2 IS NOT NULL")};
    for (border::Statement &statement : statements) {
        Parameters ids = ids_of(from, into);
        (void)run(spi, statement, ids);
    }
}

// Null where one of them is protected no more.
const Bound *bound_of(const Reading &reading, const Side &side) {
    const Bound *bound = read_bound(reading, side.settings->relation);
    return bound == nullptr || strcmp(bound->id_text, side.odometer.id) != 0 ? nullptr : bound;
}

// Under all locks.
Outcome look_again(const Spi &spi, const Entry &entry, Side *from, Side *into) {
    const char *versions = versions_of_domains(spi, false, from->odometer.id, into->odometer.id);
    if (versions == nullptr || strcmp(versions, entry.joining.versions) != 0)
        return Outcome::changing;
    Reading reading = Reading::open();
    from->bound = bound_of(reading, *from);
    into->bound = bound_of(reading, *into);
    reading.close();
    for (const Side *side : {from, into}) {
        if (side->bound == nullptr)
            return Outcome::changing;
        if (side->bound->epoch < side->odometer.state.epoch)
            return Outcome::ahead;
    }
    return Outcome::committed;
}

// Counts what was told in one domain in the other. Its epochs end with it, also where the sum does not fit.
Outcome count_together(const Spi &spi, const Entry &entry, Side *from, Side *into, Reason *reason) {
    for (Side *side : {from, into})
        if (side->bound->epoch > side->odometer.state.epoch)
            enter_epoch(spi, *side->settings, side->bound->epoch, &side->odometer);
    const privacy::Totals &of_from = from->odometer.state.totals, &of_into = into->odometer.state.totals;
    const bool fits = !exceeds(into->bound->settings, of_from.of_public, of_into.of_public, reason);
    if (fits) {
        write_end(spi, entry, *into, from);
        carry(spi, entry, *from, into);
    }
    move(spi, &from->odometer);
    move(spi, &into->odometer);
    return fits ? Outcome::committed : Outcome::denied;
}

} // namespace

Outcome join_odometers(const Spi &spi, const Entry &entry, Verdict *verdict) {
    const Settings &named = *entry.what->settings;
    const Joining &joining = entry.joining;
    Side from = {}, into = {};
    from.settings = settings_for(named.id_text, named.relation, named.relation_name, named.owner);
    into.settings = settings_for(joining.id_text, joining.relation, joining.relation_name, named.owner);
    from.odometer.id = named.id_text;
    into.odometer.id = joining.id_text;
    if (!lock_domains(spi, from, into))
        return Outcome::busy;
    if (const Lock lock = lock_odometers(spi, &from, &into); lock != Lock::held)
        return lock == Lock::busy ? Outcome::busy : Outcome::pending;
    if (const Outcome outcome = look_again(spi, entry, &from, &into); outcome != Outcome::committed)
        return outcome;
    if (!is_untold(joining.versions)) // they are still those
        if (const Outcome outcome = count_together(spi, entry, &from, &into, &verdict->reason);
            outcome != Outcome::committed)
            return outcome;
    move_declarations(spi, from, into);
    return Outcome::committed;
}

} // namespace dp::catalog
