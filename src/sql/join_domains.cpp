// dp_join_domains: two domains of the same people become one (formulas.md 9.13). The keeper that does it looks at all of
// this again, under the locks.
#include "catalog/ledger.hpp"
#include "catalog/ledger_join.hpp"
#include "sql/call_arguments.hpp"
#include "sql/setter.hpp"

using dp::catalog::Visit;

namespace dp::sql {

using catalog::qualified_name;

namespace {
// Holds one of the two.
struct Side {
    Oid relation;
    const char *name, *id;
    const char *people; // about how many; null: nobody said
};
} // namespace

static Side read_side(const Visit &visit, Oid relation) {
    if (run(visit,
            "SELECT d.id, d.people FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain "
            "WHERE t.relation::oid = $1",
            relation) != 1)
        refuse_state(psprintf("the domain of %s is gone", qualified_name(relation)),
                     "Protect the table again with dp_protect(), for a further view: its totals are rebuilt.");
    return Side{relation, MemoryContextStrdup(visit.spi.caller, qualified_name(relation)), visit.spi.text(0, 1),
                visit.spi.text(0, 2)};
}

// ---- what is refused -----------------------------------------------------------------------------------------------

// $1, $2: the tables; f and i are the sides that go and stay. $3: something was told of the first. Later answers
// are told under the rule of the domain that stays, earlier ones under both: so rules of bounds are looked at only then. Tables that are gone
// have no owner. A total under the bound none is kept, and does not bind.
static constexpr char rules_sql[] = R"sql(
WITH side AS (
  SELECT t.relation::oid AS oid, t.relation::text AS name, d.*, d.unit_types::text AS types,
    CASE WHEN d.profile IS NOT NULL THEN format('%s has a risk profile', t.relation)
         ELSE (SELECT format('role %s has a risk profile on %s', p.grantee, p.view)
               FROM dp_rdr.protected_table o JOIN dp_rdr.restricted_view v ON v.relation = o.relation
               JOIN dp_rdr.policy p ON p.view = v.view WHERE o.domain = d.id AND p.profile IS NOT NULL
               ORDER BY 1 LIMIT 1) END AS profiled
  FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain),
owners AS (
  SELECT c.oid::regclass AS other, pg_get_userbyid(i.relowner) AS owner
  FROM pg_class i JOIN dp_rdr.protected_table t ON t.relation::oid IN ($1, $2)
  JOIN dp_rdr.protected_table o ON o.domain = t.domain JOIN pg_class c ON c.oid = o.relation
  WHERE i.oid = $2 AND c.relowner <> i.relowner ORDER BY c.oid LIMIT 1)
SELECT r.state, r.message, r.detail, r.hint
FROM side f CROSS JOIN side i LEFT JOIN owners o ON true, LATERAL (VALUES
  (o.other IS NOT NULL, '42501', format('%s belongs to another role than %s', o.other, i.name),
    'All tables with data of the same people have one owner.', format('ALTER TABLE %s OWNER TO %s;', o.other, quote_ident(o.owner))),
  (f.types IS NULL OR i.types IS NULL, '0A000',
    format('a row of %s is a unit: its domain is joined with none', CASE WHEN f.types IS NULL THEN f.name ELSE i.name END),
    'Nothing says whose row it is. What was told of rows was not told of people who may have several.',
    format('As long as nothing has named it dp_set_unit(%L, ...) gives it a unit, in the other domain at once.',
           CASE WHEN f.types IS NULL THEN f.name ELSE i.name END)),
  (f.types <> i.types, '0A000',
    format('the units of %s are of the types %s, and those of %s of %s', f.name, f.types, i.name, i.types),
    'The same person has the same values of the same types, in the same order, in all tables of a domain.',
    'Protect tables with a column of the other''s type, before anything is asked.'),
  ($3 AND f.bound <> i.bound, '55000', format('%s has the bound %s, and %s the bound %s', f.name, f.bound, i.name, i.bound), NULL,
    'Give both the same one with dp_set_odometer(), ''filter'' for instance.'),
  ($3 AND f.bound = 'zcdp', '0A000', 'domains with the bound zcdp are not joined',
    'Sums in rho would begin anew, and what they had come to would not count in the total.',
    format('Set the bound ''filter'' for both with dp_set_odometer(), which ends their epochs, join them, and set ''zcdp'' for %s again.',
           i.name)),
  ($3 AND f.bound <> 'none' AND num_nonnulls(f.epsilon_total, i.epsilon_total) = 1, '55000',
    format('%s has an epsilon_total, and %s has none', CASE WHEN f.epsilon_total IS NULL THEN i.name ELSE f.name END,
           CASE WHEN f.epsilon_total IS NULL THEN f.name ELSE i.name END), NULL,
    format('dp_set_odometer(..., epsilon_total => ...) sets one; ''Infinity'' takes it away. That of %s binds when they are joined.',
           i.name)),
  ($3 AND num_nonnulls(f.period, i.period) > 0, '0A000',
    format('%s has a period: what was charged in one is not added to what was charged in another',
           CASE WHEN f.period IS NULL THEN i.name ELSE f.name END), NULL,
    format('Take it away, dp_set_odometer(%L, period => ''''), and set it for both when they are joined: what was spent until '
           'then counts until it turns.', CASE WHEN f.period IS NULL THEN i.name ELSE f.name END)),
  ($3 AND num_nonnulls(f.profiled, i.profiled) > 0, '0A000', coalesce(f.profiled, i.profiled),
    'What it allows was computed for one domain.',
    'Take it away with profile => ''{}'', join, and set it again: what was told before is looked at then.'))
  r (broken, state, message, detail, hint)
WHERE f.oid = $1 AND i.oid = $2 AND r.broken LIMIT 1)sql";

// Refuses sums that do not follow from the rows: they would count for ever in another ledger.
static void check_whole(const Side &side) {
    refuse_by("SELECT '55000', format('the ledger of %s is not whole: %s', $2, f.fault), NULL, "
              "'Look at dp_audit() first: what is joined is joined for good.' "
              "FROM dp_rdr.ledger_fault($1::uuid, true) f (fault) WHERE f.fault IS NOT NULL",
              side.id, side.name);
}

// ---- what became of it ---------------------------------------------------------------------------------------------

[[noreturn]] static void refuse_beyond(const Side &from, const Side &into, const catalog::Reason &reason) {
    const bool delta = reason.denial == privacy::Denial::delta_total;
    const char *name = delta ? "delta_total" : "epsilon_total";
    const char *total = delta ? printed(reason.delta_total) : printed(reason.total);
    const char *of_from = delta ? printed(reason.delta_asked) : printed(reason.asked);
    const char *of_into = delta ? printed(reason.delta_spent) : printed(reason.spent);
    const char *both = delta ? printed(reason.delta_asked + reason.delta_spent) : printed(reason.asked + reason.spent);
    refuse_state(psprintf("%s %s of %s is less than the %s that both domains have spent", name, total, into.name, both),
                 psprintf("dp_set_odometer(%s, %s => %s), or more, admits that; nothing takes back what was told.",
                          quote_literal_cstr(into.name), name, both),
                 psprintf("That of %s has spent %s, that of %s %s. The same people were told of in both.", from.name,
                          of_from, into.name, of_into));
}

[[noreturn]] static void refuse_outcome(const Side &from, const Side &into, const catalog::Verdict &verdict,
                                        const char *hint) {
    switch (verdict.outcome) {
    case catalog::Outcome::denied:
        refuse_beyond(from, into, verdict.reason);
    case catalog::Outcome::busy:
    case catalog::Outcome::changing:
        refuse_with(verdict.outcome == catalog::Outcome::busy ? ERRCODE_LOCK_NOT_AVAILABLE
                                                              : ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    psprintf("the settings or the odometer of %s or %s are being changed", from.name, into.name),
                    "Try again after the transaction that changes them has ended; if it is this one, commit it first.",
                    "Nothing was joined.");
    case catalog::Outcome::ahead:
        refuse_state(
            psprintf("the odometer of %s or %s is ahead of its domain", from.name, into.name),
            "dp_audit() says which; SELECT dp_set_odometer('...') begins an epoch behind both.",
            "Its totals are of a later epoch than its settings, as after a restore of a part. Nothing was joined.");
    case catalog::Outcome::lost:
        refuse_with(ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN,
                    psprintf("it is not known whether %s and %s were joined", from.name, into.name),
                    psprintf("dp_domain(%s) shows it. %s", quote_literal_cstr(into.name), hint));
    default:
        refuse_state(psprintf("%s and %s were not joined", from.name, into.name), hint);
    }
}

// Warns of policies whose share is less than what their role has spent by now.
static void warn_of_shares(const Side &into) {
    tell_by(R"sql(
SELECT 'warning', format('role %s has spent epsilon %s, more than its share %s on %s: no query of it will be answered there',
                         p.grantee, s.public_epsilon, trim_scale(p.epsilon_total), p.view), NULL,
  format('Its charges in both domains count. dp_grant(%L, %L, epsilon_total => ...) sets the share.', p.view, p.grantee)
FROM dp_rdr.protected_table t JOIN dp_rdr.protected_table o ON o.domain = t.domain
JOIN dp_rdr.restricted_view v ON v.relation = o.relation JOIN dp_rdr.policy p ON p.view = v.view
JOIN dp_rdr.odometer_share s ON s.id = t.domain AND s.grantee = pg_get_userbyid(p.grantee)
WHERE t.relation::oid = $1 AND p.epsilon_total < s.public_epsilon ORDER BY p.grantee::text, p.view::text)sql",
            into.relation);
}

// Names the number of people that stays, where one was said.
static const char *people_that_stay(const Side &from, const Side &into) {
    const Side &side = into.people != nullptr ? into : from;
    return side.people == nullptr ? ""
                                  : psprintf(" The number of people is that of %s: about %s.", side.name, side.people);
}

static void tell_joined(const Side &from, const Side &into, bool untold, const catalog::Reason &reason) {
    const char *people = people_that_stay(from, into);
    ereport(NOTICE, (errmsg("the people of %s are those of %s from here on", from.name, into.name),
                     untold ? errdetail("Nothing was told of those of %s: nothing is added.%s", from.name, people)
                            : errdetail("Epsilon %s and delta %s are added to epsilon %s and delta %s.%s",
                                        printed(reason.asked), printed(reason.delta_asked), printed(reason.spent),
                                        printed(reason.delta_spent), people),
                     errhint("No rollback takes it back. dp_odometer(%s) shows the totals of both, and the bound.",
                             quote_literal_cstr(into.name))));
    warn_of_shares(into);
}

DP_CALL(dp_join_domains) {
    require_first(fcinfo, 2);
    Oid relations[2] = {protected_relation(PG_GETARG_OID(0)), protected_relation(PG_GETARG_OID(1))};
    Oid caller = GetUserId();
    catalog::check_writable(); // a keeper would do it all the same
    catalog::check_can_ask();
    Visit visit = Visit::read();
    Side from = read_side(visit, relations[0]), into = read_side(visit, relations[1]);
    if (strcmp(from.id, into.id) == 0)
        refuse_state(psprintf("%s and %s have one domain already", from.name, into.name),
                     psprintf("dp_domain(%s) shows its tables.", quote_literal_cstr(into.name)));
    for (const Side *side : {&from, &into})
        check_owns_domain(visit, side->relation, caller);
    for (const Side *side : {&from, &into})
        check_no_partition(visit, side->relation); // the cells of one are none of the other
    // Under the snapshot of all of this: what is different when the keeper looks is not what was looked at here.
    const catalog::Joining joining = {into.relation, into.id, into.name,
                                      catalog::versions_of_domains(visit.spi, true, from.id, into.id)};
    refuse_first(visit, rules_sql, from.relation, into.relation, !catalog::is_untold(joining.versions));
    visit.leave();
    for (const Side *side : {&from, &into})
        check_whole(*side);
    catalog::Settings settings = {};
    settings.id_text = from.id;
    settings.relation = from.relation;
    settings.relation_name = from.name;
    settings.owner = catalog::relation_owner(from.relation);
    const char *query =
        psprintf("dp_join_domains(%s, %s)", quote_literal_cstr(from.name), quote_literal_cstr(into.name));
    const char *hint;
    const catalog::Verdict verdict = catalog::join_domains(settings, joining, query, &hint);
    if (verdict.outcome != catalog::Outcome::committed)
        refuse_outcome(from, into, verdict, hint);
    tell_joined(from, into, catalog::is_untold(joining.versions), verdict.reason);
    PG_RETURN_VOID();
}

} // namespace dp::sql
