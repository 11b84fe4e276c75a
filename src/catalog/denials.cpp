#include "catalog/denials.hpp"

#include "catalog/ledger_row.hpp"
#include "catalog/parameters.hpp"
#include "privacy/denial_words.hpp"

namespace dp::catalog {

namespace {
struct Denied {
    const char *relation, *view, *role, *session_role, *query, *reason, *account;
    int64 times;
};
} // namespace

// Nothing that the preference could permit is within epsilon_max.
static bool all_above_cap(const Charge &what) {
    for (privacy::Epsilon candidate : *what.candidates)
        if (!what.caps.epsilon_max || candidate <= *what.caps.epsilon_max)
            return false;
    return !what.candidates->empty();
}

static const char *reason_of(const Charge &what, const privacy::BoundSettings &bound, privacy::Denial denial,
                             bool pure) {
    if (denial == privacy::Denial::no_candidate && what.grantee != nullptr && all_above_cap(what))
        return "epsilon_max of the policy";
    return privacy::words_for(denial, bound, bound.basis_of(pure), what.caps.profile.has_value());
}

static bool same(const Denied &a, const Denied &b) {
    return strcmp(a.query, b.query) == 0 && strcmp(a.view, b.view) == 0 && strcmp(a.relation, b.relation) == 0 &&
           strcmp(a.role, b.role) == 0 && strcmp(a.session_role, b.session_role) == 0 &&
           strcmp(a.reason, b.reason) == 0 && strcmp(a.account, b.account) == 0;
}

void add_denial(Denials *denials, const Charge &what, const privacy::BoundSettings &bound, privacy::Denial denial,
                bool pure) {
    auto *denied = static_cast<Denied *>(palloc0(sizeof(Denied)));
    denied->relation = name_or(what.settings->relation, what.settings->relation_name);
    denied->view = name_or(what.settings->view, what.settings->view_name);
    denied->role = role_name(what.asker.role);
    denied->session_role = role_name(what.asker.session_role);
    denied->query = what.query == nullptr ? "" : kept_query(what.query);
    denied->reason = reason_of(what, bound, denial, pure);
    denied->account = privacy::name_of(what.account);
    denied->times = 1;
    for (auto *known : border::each<Denied>(denials->different)) {
        if (same(*known, *denied)) {
            known->times++;
            return;
        }
    }
    denials->different = lappend(denials->different, denied);
}

// A row that somebody has locked is left alone, and another one is written beside it.
static border::Statement count_again(R"sql(
UPDATE dp_rdr.denial d SET times = d.times + $8, last = greatest(d.last, $9)
WHERE d.ctid = ANY (ARRAY(
  SELECT k.ctid FROM dp_rdr.denial k
  WHERE k.table_id = $1 AND hashtextextended(k.query, 0) = hashtextextended($5, 0) AND k.query = $5 AND k.view = $2
    AND k.role_name = $3 AND k.session_role = $4 AND k.reason = $6 AND k.account = $7 AND k.relation = $10
  LIMIT 1 FOR UPDATE SKIP LOCKED)))sql");

static border::Statement insert_denial(R"sql(
INSERT INTO dp_rdr.denial (table_id, view, role_name, session_role, query, reason, account, times, first, last, relation)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10))sql");

static border::Statement forget_oldest(R"sql(
DELETE FROM dp_rdr.denial d WHERE d.ctid = ANY (ARRAY(
  SELECT k.ctid FROM dp_rdr.denial k WHERE k.ctid = ANY (ARRAY(
    SELECT o.ctid FROM dp_rdr.denial o WHERE o.table_id = $1 ORDER BY o.last DESC, o.first DESC OFFSET $2))
  FOR UPDATE SKIP LOCKED)))sql");

static void write_denied(const border::Spi &spi, const char *id, const Denied &denied, TimestampTz now) {
    Parameters parameters = Parameters::of(Uuid{id}, denied.view, denied.role, denied.session_role, denied.query,
                                           denied.reason, denied.account, denied.times, Moment{now}, denied.relation);
    if (run(spi, count_again, parameters) == 0)
        (void)run(spi, insert_denial, parameters);
}

// The latest so many are kept. Who is oldest is asked once for so many denials, as it means to look at all of them.
constexpr int64 kept_denials = 1000, denials_between = 100;

static void forget_some(const border::Spi &spi, const char *id, int64 before, int64 after) {
    if (before / denials_between == after / denials_between)
        return;
    (void)run(spi, forget_oldest, Uuid{id}, kept_denials);
}

void write_denials(const border::Spi &spi, const char *id, const Denials &denials) {
    if (denials.different == NIL)
        return;
    // VACUUM FULL or an administrator's LOCK TABLE: the list has gaps then, and the counts of the odometer do not.
    Oid table = get_relname_relid("denial", get_namespace_oid("dp_rdr", false));
    if (!OidIsValid(table) || !ConditionalLockRelationOid(table, RowExclusiveLock))
        return;
    const TimestampTz now = GetCurrentTimestamp();
    int64 after = denials.before;
    for (auto *denied : border::each<const Denied>(denials.different)) {
        write_denied(spi, id, *denied, now);
        after += denied->times;
    }
    forget_some(spi, id, denials.before, after);
}

} // namespace dp::catalog
