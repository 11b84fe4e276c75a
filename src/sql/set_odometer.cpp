// The bound of a table's odometer (doc/reference.md).
#include "sql/set_odometer.hpp"

#include "sql/call_arguments.hpp"
#include "sql/carry_over.hpp"
#include "sql/domain_members.hpp"
#include "sql/had.hpp"

using dp::catalog::Visit;

namespace dp::sql {

// ---- options -------------------------------------------------------------------------------------------------------

namespace {
// Columns of a domain that are its bound: arguments of dp_set_odometer(), then those that follow from them.
enum BoundOption {
    bound_relation,
    bound_name,
    bound_epsilon_total,
    bound_delta_total,
    bound_delta_conversion, // with zcdp alone, to rho_target
    bound_cap,
    bound_epsilon_pure,
    bound_rho_target,
    bound_profile,
    bound_period,
    bound_epsilon_lifetime, // with a period alone
    bound_delta_lifetime,
    bound_rho_total,
    bound_epoch,
    bound_period_since,
    nbound_options
};
} // namespace

void check_epsilon_total(Datum total) {
    if (catalog::to_epsilon(total, "epsilon_total").units() < 0)
        refuse_value("epsilon_total must not be negative", "0 closes the table, 'Infinity' takes the total away.");
}

static const char *const bounds[] = {"filter", "dynamic", "zcdp", "none", nullptr};
static const char *const caps[] = {"tight", "classic", nullptr};
static const char *const periods[] = {"day", "week", "month", "quarter", "year", nullptr};

static const Option option_list[] = {
    {"relation", REGCLASSOID},
    {"bound", TEXTOID, nullptr, nullptr, nullptr, bounds},
    {"epsilon_total", NUMERICOID, nullptr, takes_away, [](Datum total, const char *) { check_epsilon_total(total); }},
    {"delta_total", NUMERICOID, nullptr, nullptr, checks<catalog::checked_delta>},
    {"delta_conversion", NUMERICOID, nullptr, nullptr, checks<catalog::to_delta>},
    {"cap", TEXTOID, nullptr, nullptr, nullptr, caps},
    {"epsilon_pure", NUMERICOID, nullptr, nullptr, checks<catalog::to_epsilon>},
    {"rho_target", NUMERICOID, nullptr, nullptr, checks<catalog::to_rho>},
    {"profile", JSONBOID, nullptr, is_no_profile},
    {"period", TEXTOID, nullptr, is_empty_text, nullptr, periods},
    {"epsilon_lifetime", NUMERICOID, nullptr, takes_away, checks<catalog::to_epsilon>},
    {"delta_lifetime", NUMERICOID, nullptr, takes_away, checks<catalog::checked_delta>},
    {"rho_total", NUMERICOID},
    {"epoch", INT4OID},
    {"period_since", DATEOID},
};
static const Options options = {option_list, bound_name, bound_rho_total, nbound_options};
static_assert(lengthof(option_list) == nbound_options);

// The lock makes setters of one table wait for each other: none undoes what another has just set.
static Row lock_bound(Oid relation) {
    const Oid caller = GetUserId();
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    Row row = read_row(visit, options, {relation},
                       "dp_rdr.protected_table t JOIN dp_rdr.privacy_domain p ON p.id = t.domain "
                       "WHERE t.relation::oid = $1 FOR UPDATE OF p");
    check_owns_domain(visit, relation, caller);
    visit.leave();
    return row;
}

// Returns the profile of the row that is a promise about attacks; null: it has none.
static const Profile *attacks_of(const Row &row) {
    const Profile *profile = row.has(bound_profile) ? read_profile(row.values[bound_profile]) : nullptr;
    return profile != nullptr && profile->risk->kind == privacy::ProfileKind::attack ? profile : nullptr;
}

static bool has_total(const Row &row) {
    return row.has(bound_epsilon_total) || row.has(bound_profile);
}

// ---- what goes with what -------------------------------------------------------------------------------------------

// Ends options that go with something alone, where there is none of it. 22023 where one of them is passed.
static void end_options(FunctionCallInfo fcinfo, Row *row, int first, int last, const char *with, const char *hint) {
    for (int i = first; i <= last; i++) {
        if (!PG_ARGISNULL(i) && row->has(i))
            refuse_value(psprintf("%s goes with %s", option_list[i].name, with), hint);
        row->clear(i);
    }
}

// The day on which a period is set counts until it turns: what was spent before belongs to it. A clock that was ahead then would keep it
// from turning.
static void set_since(Row *row, const char *period_before) {
    const auto today = static_cast<DateADT>(catalog::today());
    if (!row->has(bound_period))
        row->clear(bound_period_since);
    else if (period_before == nullptr || !row->is(bound_period, period_before) || !row->has(bound_period_since) ||
             DatumGetDateADT(row->values[bound_period_since]) > today)
        row->set(bound_period_since, DateADTGetDatum(today));
}

// A target goes with the lack of a total, which a profile makes as well. Without a period the total binds over everything, and was never more.
static void merge(FunctionCallInfo fcinfo, const Profile *profile, Row *row) {
    const bool had_total = has_total(*row);
    const char *period_before = row->text_of(bound_period);
    merge_arguments(fcinfo, row);
    if (profile != nullptr)
        row->set(bound_profile, profile_json(profile));
    check_values(*row);
    if (has_total(*row) && !had_total && PG_ARGISNULL(bound_rho_target))
        row->clear(bound_rho_target);
    set_since(row, period_before);
    if (!row->has(bound_period))
        end_options(fcinfo, row, bound_epsilon_lifetime, bound_delta_lifetime, "a period",
                    "Pass period => 'month' as well; without a period the totals bind over everything.");
    if (row->is(bound_name, "zcdp"))
        return;
    end_options(fcinfo, row, bound_delta_conversion, bound_rho_target, "the bound zcdp",
                "Pass bound => 'zcdp' as well, or leave it out.");
    row->set(bound_cap, CStringGetTextDatum("tight"));
    row->set(bound_epsilon_pure, catalog::text_numeric("0"));
}

// A lifetime binds over all periods, where there is no less than in one. A total under zcdp is added to the sums at the end of its epoch:
// many must fit. Columns: whether it is broken, message, detail, hint.
static constexpr char rules[] = R"sql(
(p.bound = 'filter' AND num_nonnulls(p.epsilon_total, p.profile) = 0, 'bound filter needs an epsilon_total', NULL,
  'Pass epsilon_total => 1, or use the bound ''none''.'),
(p.profile ->> 'kind' <> 'attack' AND p.bound NOT IN ('filter', 'dynamic'),
  format('a risk profile does not go with the bound %s', p.bound), NULL,
  'Use ''filter'' or ''dynamic'', or take the profile away with profile => ''{}''.'),
(p.profile ->> 'kind' = 'attack' AND (p.bound NOT IN ('filter', 'zcdp') OR p.period IS NOT NULL),
  CASE WHEN p.period IS NULL THEN format('a promise about attacks does not go with the bound %s', p.bound)
       ELSE 'a promise about attacks does not go with a period' END, NULL,
  'Use ''filter'' or ''zcdp'' without a period, or take the profile away with profile => ''{}''.'),
(p.profile ->> 'kind' <> 'attack' AND trunc(p.delta_total, 30) > 0, 'a risk profile does not go with a delta_total', NULL,
  'Pass delta_total => 0, or take the profile away with profile => ''{}''.'),
(p.period IS NOT NULL AND p.bound <> 'filter', format('a period does not go with the bound %s', p.bound), NULL,
  'Use the bound ''filter'', or take the period away with period => ''''.'),
((p.period IS NOT NULL OR p.bound = 'dynamic') AND EXISTS (
    SELECT FROM dp_rdr.protected_table t JOIN dp_rdr.partition c ON c.domain = t.domain
    WHERE t.relation::oid = p.relation AND c.column_name IS NOT NULL),
  CASE WHEN p.period IS NOT NULL THEN 'a period does not go with a partition'
       ELSE format('the bound %s does not go with a partition', p.bound) END, NULL,
  format('SELECT dp_unset_partition(%L); takes it away.', p.relation::regclass)),
(p.epsilon_lifetime < coalesce(p.epsilon_total, 0), 'epsilon_lifetime must be at least epsilon_total',
  format('epsilon_lifetime would be %s, and epsilon_total %s.', trim_scale(p.epsilon_lifetime), trim_scale(coalesce(p.epsilon_total, 0))),
  'It binds over all periods, and epsilon_total within each; ''Infinity'' takes it away.'),
(p.delta_lifetime < p.delta_total, 'delta_lifetime must be at least delta_total',
  format('delta_lifetime would be %s, and delta_total %s.', trim_scale(p.delta_lifetime), trim_scale(p.delta_total)),
  'It binds over all periods, and delta_total within each; ''Infinity'' takes it away.'),
(p.bound = 'zcdp' AND p.epsilon_total > 100000, 'epsilon_total under zcdp must be at most 100000', NULL,
  'Without any, epsilon_total => ''Infinity'', everything is answered and counted.'),
(p.bound = 'zcdp' AND trunc(p.delta_total, 30) = 0, 'bound zcdp needs a delta_total above 0', NULL,
  'Pass delta_total => 1e-6, for instance.'),
(p.bound = 'zcdp' AND (trunc(coalesce(p.delta_conversion, p.delta_total * 0.5), 30) <= 0 OR p.delta_conversion > p.delta_total),
  'delta_conversion must be above 0, and at most delta_total', NULL,
  'Half of delta_total leaves as much for groups that nobody declared; all of it leaves nothing for them.'),
(p.epsilon_pure < 0, 'epsilon_pure must not be negative', NULL, '0 charges Laplace noise in rho, as everything else.'),
(p.epsilon_pure > 0 AND (p.epsilon_pure < p.epsilon_total) IS NOT TRUE AND (p.epsilon_total IS NOT NULL OR p.profile IS NULL), 'epsilon_pure must be below epsilon_total', NULL,
  'It is the part of the total that Laplace noise may use; pass epsilon_pure => 0 for none.'),
(trunc(p.rho_target, 15) <= 0, 'rho_target must be above 0', NULL,
  'The bound that holds at all times is smallest near it: 0.03, for instance.'))sql";

// Only a bound without a total needs a target: it is fixed in advance, and never follows another setting.
static void check_target(FunctionCallInfo fcinfo, Row *row) {
    if (!has_total(*row))
        return;
    if (!PG_ARGISNULL(bound_rho_target))
        refuse_value("rho_target goes with a bound that has no total",
                     "Leave it out, or take the total away with epsilon_total => 'Infinity'.");
    row->clear(bound_rho_target);
}

// ---- storing it ----------------------------------------------------------------------------------------------------

// Returns whether the sums must begin anew, as what an epoch promises would not hold.
static bool begins_epoch(const privacy::BoundSettings &was, const privacy::BoundSettings &now) {
    constexpr auto zcdp = privacy::Bound::zcdp;
    if (was.bound != zcdp || now.bound != zcdp)
        return (was.bound == zcdp) != (now.bound == zcdp);
    if (was.epsilon_pure != now.epsilon_pure || was.epsilon_total.has_value() != now.epsilon_total.has_value())
        return true;
    return !now.epsilon_total && (was.rho_target != now.rho_target || was.delta_conversion != now.delta_conversion);
}

// Sets what follows from the others, whose numbers are those that decisions are made on. A promise about attacks has its epsilon from
// the largest rho by the tight conversion: that is its claim, whatever the cap is.
static void set_rho(Row *row, privacy::BoundSettings *settings) {
    row->clear(bound_rho_total);
    privacy::Rho allowed;
    const Profile *attacks = attacks_of(*row);
    if (attacks != nullptr)
        row->set(bound_profile, attack_profile(attacks, *settings, &allowed));
    if (settings->bound != privacy::Bound::zcdp)
        return;
    row->set(bound_epsilon_pure, catalog::to_numeric(settings->epsilon_pure));
    if (row->has(bound_epsilon_total)) {
        const privacy::Epsilon total = catalog::to_epsilon(row->values[bound_epsilon_total], "epsilon_total");
        settings->rho_total = border::core([&] {
            return privacy::rho_cap(total - settings->epsilon_pure, settings->delta_conversion, settings->cap);
        });
    }
    if (attacks != nullptr)
        settings->rho_total = row->has(bound_epsilon_total) ? Min(settings->rho_total, allowed) : allowed;
    if (has_total(*row)) {
        row->set(bound_rho_total, catalog::to_numeric(settings->rho_total));
        return;
    }
    if (!row->has(bound_rho_target))
        settings->rho_target = border::core([&] {
            return privacy::rho_cap(*privacy::Epsilon::parse("1"), settings->delta_conversion, privacy::Cap::tight);
        });
    row->set(bound_rho_target, catalog::to_numeric(settings->rho_target));
}

// Reads what the keepers read: under this transaction's own snapshot, so with what it has just set.
static BoundState state_of(Oid relation) {
    BoundState state = {};
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, relation);
    if (bound == nullptr)
        elog(ERROR, "%s is not protected any more", catalog::qualified_name(relation));
    state.bound = bound->settings;
    state.epoch = bound->epoch;
    state.has_odometer = catalog::read_odometer(reading, bound->id_text, &state.odometer);
    reading.close();
    return state;
}

// Stores it twice, as what follows from the settings follows from them as they are read. (An odometer that is ahead of its table comes
// from a restore of a part.) promised: there was a promise about attacks, which is one about an epoch.
static void store(const Visit &visit, Oid relation, Row *row, const BoundState &was, bool promised) {
    const char *sql = psprintf("UPDATE dp_rdr.privacy_domain d SET %s FROM dp_rdr.protected_table t "
                               "WHERE t.domain = d.id AND t.relation::oid = $1",
                               assignments(options));
    run_with_row(visit, sql, row);
    privacy::BoundSettings settings = state_of(relation).bound;
    MemoryContextSwitchTo(visit.spi.caller); // what is told of it outlives the visit, whose statements leave a context of their own
    set_rho(row, &settings);
    const int last = was.has_odometer ? Max(was.epoch, was.odometer.epoch) : was.epoch;
    const bool begins = begins_epoch(was.bound, settings) || last > was.epoch;
    if (begins && promised && attacks_of(*row) != nullptr)
        refuse_value("the sums would begin anew, and with them what the table's promise about attacks bounds",
                     "Take it away first, with dp_set_odometer(profile => '{}'); set again, it holds from then on.");
    if (begins)
        row->set(bound_epoch, Int32GetDatum(last + 1));
    run_with_row(visit, sql, row);
}

// ---- shares and profiles -------------------------------------------------------------------------------------------

// Counts what the role has used already in this epoch as a policy that would use it.
static constexpr char shares_sql[] = R"sql(
SELECT '55000', format('role %s would have its share of the total twice', p.grantee),
  'With an epsilon_pure Laplace noise and selections are charged in epsilon, Gaussian noise in rho, and its policies on the '
  'table use both, or one of them and its charges since the bound began the other.',
  'Grant it one mechanism without tau_var, or no share (epsilon_total => ''Infinity''); or set epsilon_pure => 0 with '
  'dp_set_odometer().'
FROM dp_rdr.protected_table t
JOIN dp_rdr.privacy_domain d ON d.id = t.domain JOIN dp_rdr.protected_table o ON o.domain = d.id
JOIN dp_rdr.restricted_view v ON v.relation = o.relation JOIN dp_rdr.policy p ON p.view = v.view
LEFT JOIN LATERAL (SELECT bool_or(l.basis = 'rho') AS rho, bool_or(l.basis = 'epsilon') AS epsilon
  FROM dp_rdr.ledger_row l WHERE l.table_id = d.id AND l.epoch = d.epoch
  AND l.kind <> 'suspension' AND l.grantee = pg_get_userbyid(p.grantee)) used ON true
WHERE t.relation::oid = $1 AND d.bound = 'zcdp' AND d.epsilon_pure > 0 GROUP BY p.grantee
HAVING count(p.epsilon_total) + count(p.profile) > 0 AND bool_or(p.mechanism = 'gaussian' OR used.rho)
  AND bool_or(p.mechanism = 'laplace' OR p.selection = 'released' OR used.epsilon)
ORDER BY p.grantee LIMIT 1)sql";

void check_shares(const Visit &visit, Oid relation) {
    refuse_first(visit, shares_sql, relation);
}

// Finds a total that is a profile's, beside answers that the total of DP modes does not count.
static constexpr char table_profile_sql[] = R"sql(
SELECT '55000', format('%s has a risk profile, and the policy of role %s on %s the selection within_data', t.relation, p.grantee, v.view),
  'Nothing bounds what answers tell whose epsilon is chosen from the private rows.',
  'Grant selection => ''within_domain'', or take the table''s profile away with dp_set_odometer(profile => ''{}'').'
FROM dp_rdr.protected_table t
JOIN dp_rdr.privacy_domain d ON d.id = t.domain JOIN dp_rdr.protected_table o ON o.domain = d.id
JOIN dp_rdr.restricted_view v ON v.relation = o.relation JOIN dp_rdr.policy p ON p.view = v.view
WHERE t.relation::oid = $1 AND d.profile IS NOT NULL AND p.selection = 'within_data'
ORDER BY v.view, p.grantee LIMIT 1)sql";

// Finds a role with a profile whose answers are not all of pure epsilon, and says why.
static constexpr char profiles_sql[] = DP_HAD R"sql(
SELECT '55000', format('role %s has a risk profile, and %s', p.grantee, CASE
    WHEN d.bound = 'zcdp' AND d.epsilon_pure = 0 THEN 'the bound zcdp of the table charges its answers in rho'
    WHEN p.mechanism <> 'laplace' THEN format('its policy on %s has the mechanism %s', v.view, p.mechanism)
    WHEN p.delta > 0 THEN format('its policy on %s has a delta', v.view)
    WHEN p.selection = 'within_data' THEN format('its policy on %s has the selection within_data', v.view)
    ELSE 'it can have had answers with a delta, in rho, or with an epsilon chosen from the data' END),
  'A profile is about all that the role''s answers on the table tell, and holds under pure epsilon alone.',
  'Take the profile away with profile => ''{}''; or grant Laplace noise without delta on all views of the table; under zcdp '
  'set an epsilon_pure with dp_set_odometer().'
FROM dp_rdr.protected_table t
JOIN dp_rdr.privacy_domain d ON d.id = t.domain JOIN dp_rdr.protected_table o ON o.domain = d.id
JOIN dp_rdr.restricted_view v ON v.relation = o.relation JOIN dp_rdr.policy p ON p.view = v.view
WHERE t.relation::oid = $1 AND CASE WHEN EXISTS (
      SELECT FROM dp_rdr.protected_table q JOIN dp_rdr.restricted_view w ON w.relation = q.relation
      JOIN dp_rdr.policy s ON s.view = w.view WHERE q.domain = d.id AND s.grantee = p.grantee AND s.profile IS NOT NULL)
  THEN ((d.bound = 'zcdp' AND d.epsilon_pure = 0) OR p.mechanism <> 'laplace' OR p.delta > 0
       OR p.selection = 'within_data'
       OR EXISTS (SELECT FROM dp_rdr.ledger_row l
                  WHERE l.table_id = ANY (ARRAY(SELECT j.id FROM dp_rdr.privacy_domain j WHERE d.id IN (j.id, j.joined_into)))
                    AND (l.grantee = pg_get_userbyid(p.grantee) OR l.grantee_oid = p.grantee
                         OR (p.grantee::oid = $2 AND )sql" DP_HAS_HAD R"sql())
                    AND (l.delta > 0 OR l.basis = 'rho' OR l.account = 'conditional'))) END
ORDER BY p.grantee, v.view LIMIT 1)sql";

// All that a role can have had is looked at when it gets a profile. Later only what its own policies charge is, which is its share's.
void check_profiles(const Visit &visit, Oid relation, Oid profiled) {
    refuse_first(visit, table_profile_sql, relation);
    refuse_first(visit, profiles_sql, relation, profiled);
}

// History counts in the total, and none of it may be of another kind: neither charges so far nor what the end of an epoch under
// zcdp will come to.
static void check_spent(Oid relation, const BoundState &now) {
    if (!now.has_odometer)
        return;
    const privacy::Odometer odometer = entered(now);
    if (odometer.totals.of_public.delta.units() > 0)
        refuse_state(psprintf("%s has spent a delta of %s, under which no risk profile holds",
                              catalog::qualified_name(relation),
                              printed(odometer.totals.of_public.delta)),
                     "A profile is for a table whose answers were all of pure epsilon.");
}

static void tell_about_profile(FunctionCallInfo fcinfo, Oid relation, const Row &row, const BoundState &now) {
    if (!row.has(bound_epsilon_total) || (PG_ARGISNULL(bound_profile) && PG_ARGISNULL(bound_epsilon_total)))
        return;
    privacy::Epsilon total = catalog::to_epsilon(row.values[bound_epsilon_total], "epsilon_total");
    if (total <= *now.bound.epsilon_total)
        ereport(NOTICE, (errmsg("epsilon_total %s of %s is no more than its risk profile allows, and binds",
                                printed(total), catalog::qualified_name(relation)),
                         errhint("epsilon_total => 'Infinity' leaves the profile's alone.")));
}

DP_CALL(dp_set_odometer) {
    require_first(fcinfo, 1);
    Oid relation = protected_relation(PG_GETARG_OID(bound_relation));
    const Profile *profile = profile_argument(fcinfo, bound_profile);
    Row row = lock_bound(relation);
    BoundState was = state_of(relation);
    const bool promised = attacks_of(row) != nullptr;
    merge(fcinfo, profile, &row);
    check_rules(row, rules);
    check_target(fcinfo, &row);
    Visit visit = Visit::write();
    store(visit, relation, &row, was, promised);
    check_shares(visit, relation);
    check_profiles(visit, relation, InvalidOid);
    visit.leave();
    BoundState now = state_of(relation);
    if (row.has(bound_profile)) {
        const Profile *attacks = attacks_of(row);
        if (attacks == nullptr)
            check_spent(relation, now);
        else if (!PG_ARGISNULL(bound_profile))
            tell_about_attacks(relation, *attacks, now);
        tell_about_profile(fcinfo, relation, row, now);
    }
    tell_about_totals(relation, was, now);
    warn_of_price(relation);
    refresh_owner(relation);
    PG_RETURN_VOID();
}

} // namespace dp::sql
