// Sets who may ask, under which privacy preference (doc/reference.md).
#include "query/grammar.hpp"
#include "sql/call_arguments.hpp"
#include "sql/domain_members.hpp"
#include "sql/policy_notes.hpp"
#include "sql/role_type.hpp"

using dp::catalog::Visit;

namespace dp::sql {

// ---- options -------------------------------------------------------------------------------------------------------

static bool is_empty_array(Datum array) {
    return ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(array)), ARR_DIMS(DatumGetArrayTypeP(array))) == 0;
}

static bool is_no_time(Datum interval) {
    const Interval *span = DatumGetIntervalP(interval);
    return span->month == 0 && span->day == 0 && span->time == 0;
}

// A thousand years, three times at most: no clock of the server's comes to an end before them.
constexpr int most_months = 12000, most_days = 365250;

// Refuses a part below 0, as a month less a few days is a time or none by the calendar. PostgreSQL 17 has infinite ones.
static void check_replay(Datum interval, const char *) {
    const Interval *span = DatumGetIntervalP(interval);
    const bool negative = span->month < 0 || span->day < 0 || span->time < 0;
    if (negative || span->month > most_months || span->day > most_days || span->time / USECS_PER_DAY > most_days)
        refuse_value(psprintf("replay must not be %s, not %s",
                              negative ? "negative" : "infinite or longer than a thousand years",
                              DatumGetCString(DirectFunctionCall1(interval_out, interval))),
                     "Pass replay => '1 month', for instance; '0' takes it away.");
}

static void check_candidates(Datum candidates, const char *) {
    (void)catalog::candidates_from_array(DatumGetArrayTypeP(candidates));
}

static const char *const mechanisms[] = {"laplace", "gaussian", "auto", nullptr};

// A new policy has the profile that the role has on other views of the table.
static constexpr char profile_of_role[] =
    "(SELECT s.profile FROM dp_rdr.restricted_view v JOIN dp_rdr.protected_table t ON t.relation = v.relation "
    "JOIN dp_rdr.protected_table o ON o.domain = t.domain JOIN dp_rdr.restricted_view w ON w.relation = o.relation "
    "JOIN dp_rdr.policy s ON s.view = w.view "
    "WHERE v.view::oid = $1 AND s.grantee::oid = $2 AND s.profile IS NOT NULL LIMIT 1)";

static const Option option_list[] = {
    {"view", REGCLASSOID},
    {"grantee", REGROLEOID},
    {"tau", FLOAT8OID, nullptr, nullptr, [](Datum tau, const char *) { checked_tau(DatumGetFloat8(tau)); }},
    {"tau_var", FLOAT8OID, nullptr, nullptr, [](Datum tau, const char *) { checked_tau_var(DatumGetFloat8(tau)); }},
    {"selection", TEXTOID, nullptr, is_empty_text},
    {"mechanism", TEXTOID, "'laplace'", is_empty_text, nullptr, mechanisms},
    {"delta", NUMERICOID, "0", nullptr, checks<catalog::checked_delta>},
    {"epsilon_max", NUMERICOID, nullptr, nullptr, checks<catalog::checked_epsilon>},
    {"epsilon_total", NUMERICOID, nullptr, takes_away, [](Datum total, const char *) { check_epsilon_total(total); }},
    {"epsilon_svt", NUMERICOID, "0.1", nullptr, [](Datum epsilon, const char *) { checked_epsilon_svt(epsilon); }},
    {"candidates", NUMERICARRAYOID, nullptr, is_empty_array, check_candidates},
    {"weight_min", FLOAT8OID, "1", nullptr,
     [](Datum weight, const char *name) { checked_weight(DatumGetFloat8(weight), name); }},
    {"weight_max", FLOAT8OID, "1", nullptr,
     [](Datum weight, const char *name) { checked_weight(DatumGetFloat8(weight), name); }},
    {"group_a", TEXTOID, nullptr, is_empty_text},
    {"group_b", TEXTOID, nullptr, is_empty_text},
    {"epsilon_min", NUMERICOID, nullptr, nullptr, checks<catalog::checked_epsilon>},
    {"profile", JSONBOID, profile_of_role, is_no_profile},
    {"replay", INTERVALOID, nullptr, is_no_time, check_replay},
    {"on_request", BOOLOID, "false"},
};
static const Options options = {option_list, policy_tau, npolicy_options, npolicy_options};
static_assert(lengthof(option_list) == npolicy_options);

// Giving tau ends tau_var and the reverse, and either begins with the selection that goes with it. A profile stays beside either;
// selection => 'profile' makes it stand alone.
static void merge(FunctionCallInfo fcinfo, Row *row) {
    const char *passed = text_argument(fcinfo, policy_selection);
    if (passed != nullptr && strcmp(passed, "profile") == 0) {
        row->clear(policy_tau);
        row->clear(policy_tau_var);
    }
    for (int given : {policy_tau, policy_tau_var}) {
        const int other = policy_tau + policy_tau_var - given;
        if (PG_ARGISNULL(given) || (!row->has(other) && !row->is(policy_selection, "profile")))
            continue;
        row->clear(other);
        row->clear(policy_selection);
    }
    merge_arguments(fcinfo, row);
    if (!row->has(policy_mechanism))
        row->set(policy_mechanism, CStringGetTextDatum("laplace"));
}

// ---- checks --------------------------------------------------------------------------------------------------------

// Columns: whether it is broken, message, detail, hint.
static constexpr char rules[] = R"sql(
(p.selection = 'profile' AND num_nonnulls(p.tau, p.tau_var) > 0,
  format('selection "profile" does not go with %s', CASE WHEN p.tau IS NULL THEN 'tau_var' ELSE 'tau' END), NULL,
  'Leave one of them out: a profile may also stand beside tau or tau_var.'),
(p.selection = 'profile' AND p.profile IS NULL, 'selection "profile" needs a profile', NULL,
  'Pass profile => dp_profile(''inclusion'', relative => 3), for instance.'),
(p.profile IS NOT NULL AND p.selection <> 'profile' AND num_nonnulls(p.tau, p.tau_var) = 0,
  format('selection "%s" needs tau or tau_var', p.selection), NULL,
  'Pass tau => 0.95, for instance; or leave the selection out, and the profile stands alone.'),
(num_nonnulls(p.tau, p.tau_var) <> 1 AND (p.profile IS NULL OR p.tau IS NOT NULL),
  'exactly one of tau and tau_var must be given', NULL,
  'Pass tau => 0.95, for instance, or a profile that stands alone.'),
(p.tau_var IS NOT NULL AND p.selection <> 'released', format('selection "%s" does not go with tau_var', p.selection), NULL,
  'Leave it out: with tau_var epsilon is selected by the sparse vector technique. Or pass tau.'),
(p.tau IS NOT NULL AND p.selection NOT IN ('within_domain', 'within_data'),
  format('selection "%s" does not go with tau', p.selection), NULL,
  'Use ''within_domain'' (differentially private) or ''within_data'' (not).'),
(p.mechanism = 'gaussian' AND trunc(p.delta, 30) = 0, 'mechanism gaussian needs a delta above 0', NULL,
  'Pass delta => 1e-6, for instance.'),
(p.weight_min > p.weight_max, format('weight_min %s is larger than weight_max %s', p.weight_min, p.weight_max), NULL,
  'Pass weight_min => 0.25, weight_max => 4, for instance.'),
(p.mechanism = 'auto' AND p.selection = 'within_data', 'mechanism auto does not go with the selection "within_data"',
  'Which noise is drawn would show the rows.', 'Pass mechanism => ''laplace'' or ''gaussian''.'),
(p.profile IS NOT NULL AND (p.mechanism = 'gaussian' OR trunc(p.delta, 30) > 0 OR p.selection = 'within_data'),
  CASE WHEN p.mechanism = 'gaussian' THEN 'a risk profile needs the mechanism laplace'
       WHEN p.delta > 0 THEN 'a risk profile does not go with a delta'
       ELSE 'a risk profile does not go with the selection "within_data"' END, NULL,
  'Take the profile away with profile => ''{}'', or grant mechanism => ''laplace'', delta => 0 and '
  'a selection that is differentially private.'),
(p.replay IS NOT NULL AND p.selection = 'within_data', 'replay does not go with within_data',
  'What such an answer was charged depends on the rows, and so would its being given again.',
  'Take replay away with replay => ''0'', or grant a selection that is differentially private.'),
(num_nonnulls(p.group_a, p.group_b) = 1, 'group_a and group_b go together', NULL,
  'Pass two conditions, group_a => $$sex = ''Female''$$, group_b => $$sex = ''Male''$$, or none.'),
(p.group_a IS NOT NULL AND p.selection <> 'within_data',
  format('group_a and group_b do not go with the selection "%s"', p.selection), NULL,
  'Leave them out, or take them away with group_a => '''', group_b => ''''; or use ''within_data'', which is not '
  'differentially private.'))sql";

// Fills in the selection that goes with what is given.
static void set_selection(Row *row) {
    const char *selection = row->has(policy_tau_var)   ? "released"
                            : row->has(policy_tau)     ? "within_domain"
                            : row->has(policy_profile) ? "profile"
                                                       : nullptr;
    if (!row->has(policy_selection) && selection != nullptr)
        row->set(policy_selection, CStringGetTextDatum(selection));
}

// Sets 1 where a new policy says nothing. A profile that stands alone charges up to it, so there it is a tenth of what that allows, or the
// smallest candidate.
static void set_epsilon_max(Row *row) {
    if (row->has(policy_epsilon_max))
        return;
    privacy::Epsilon most = privacy::Epsilon::from_units(1000000000);
    if (row->is(policy_selection, "profile")) {
        const privacy::Epsilon tenth = privacy::Epsilon::from_units(share_of(*row).units() / 10);
        most = Min(most, Max(tenth, smallest_candidate(*row)));
    }
    row->set(policy_epsilon_max, catalog::to_numeric(most));
}

// An epsilon_min that leaves no candidate would deny every query.
static void check_some_candidate(const Row &row) {
    if (!row.has(policy_epsilon_min))
        return;
    const privacy::Epsilon most = catalog::to_epsilon(row.values[policy_epsilon_max], "epsilon_max");
    const privacy::Epsilon least = catalog::to_epsilon(row.values[policy_epsilon_min], "epsilon_min");
    for (privacy::Epsilon candidate : *candidates_of(row))
        if (least <= candidate && candidate <= most)
            return;
    refuse_value(psprintf("no candidate of epsilon is between epsilon_min %s and epsilon_max %s",
                          catalog::numeric_text(row.values[policy_epsilon_min]),
                          catalog::numeric_text(row.values[policy_epsilon_max])),
                 "An answer is charged a candidate between the two, or what is asked for below it.");
}

// Conditions that are passed are read now, under the caller's settings; those that are kept were read before.
static void canonical_groups(FunctionCallInfo fcinfo, Row *row, Oid relation) {
    for (int i : {policy_group_a, policy_group_b})
        if (!PG_ARGISNULL(i) && row->has(i))
            row->set(i,
                     CStringGetTextDatum(query::canonical_condition(row->text_of(i), relation, option_list[i].name)));
}

// A delta that no answer could ever pay is a mistake of the policy, not of the analyst. Under zcdp only groups that nobody declared need
// it, and with Laplace noise it is for nothing else; under a period it may be paid in a later one.
static constexpr char delta_sql[] = R"sql(
SELECT '55000', 'delta exceeds what is left of the table''s delta_total',
  CASE d.bound WHEN 'zcdp' THEN 'Under zcdp a part of delta_total is for the conversion of rho: half of it, or delta_conversion. '
    'Groups that nobody declared have the rest.' END,
  format('Raise it with dp_set_odometer(%L, delta_total => ...), or grant a smaller delta.', $5)
FROM dp_rdr.privacy_domain d JOIN dp_rdr.odometer o ON o.id = d.id, LATERAL (SELECT
  o.public_delta + CASE WHEN $3 THEN o.conditional_delta ELSE 0 END AS ever,
  o.public_delta_before + CASE WHEN $3 THEN o.conditional_delta_before ELSE 0 END AS before) spent
WHERE d.id = $1::uuid AND $2 > 0 AND (d.bound <> 'zcdp' OR $4) AND d.bound <> 'none'
  AND $2 > CASE WHEN d.bound = 'zcdp' THEN d.delta_total - coalesce(d.delta_conversion, trunc(d.delta_total * 0.5, 30))
                  - CASE WHEN o.epoch = d.epoch THEN spent.ever - spent.before ELSE 0 END
                WHEN d.period IS NULL THEN d.delta_total - spent.ever
                ELSE least(d.delta_total, d.delta_lifetime - spent.ever) END)sql";

static void check_delta_left(const Visit &visit, const catalog::Settings *settings, const Row &row) {
    refuse_first(visit, delta_sql, settings->id_text, Typed{NUMERICOID, row.values[policy_delta]},
                 row.is(policy_selection, "within_data"), !row.is(policy_mechanism, "gaussian"),
                 settings->relation_name);
}

// ---- storing it ----------------------------------------------------------------------------------------------------

static void store_policy(const Visit &visit, Row *row) {
    run_with_row(
        visit,
        psprintf("INSERT INTO dp_rdr.policy AS p (%s) VALUES (%s) ON CONFLICT (view, grantee) DO UPDATE SET %s",
                 column_names(options), parameters(options), assignments(options)),
        row);
}

// A profile is about all that a role's answers on the table tell: it goes for all its policies there, whose charges have one sum.
static Reports spread_profile(const Visit &visit, const catalog::Settings *settings, const Row &row,
                              const char *grantee) {
    const Typed profile = {JSONBOID, row.values[policy_profile]};
    const char *others = "dp_rdr.restricted_view v JOIN dp_rdr.protected_table t ON t.relation = v.relation "
                         "WHERE v.view = p.view AND t.domain = $4::uuid AND p.view::oid <> $1 "
                         "AND p.grantee::oid = $2 AND p.profile IS DISTINCT FROM $3";
    const Oid role = DatumGetObjectId(row.values[policy_grantee]);
    refuse_first(visit,
                 psprintf("SELECT '55000', format('the policy of the role on %%s is its risk profile', p.view), "
                          "'A profile goes for all policies of a role on a table, and is taken away from all.', "
                          "'Grant it a tau there first, or revoke it with dp_revoke().' "
                          "FROM dp_rdr.policy p, %s AND $3 IS NULL AND p.selection = 'profile' LIMIT 1",
                          others),
                 settings->view, role, profile, settings->id_text);
    return reports_of(visit,
                      psprintf(R"sql(
WITH moved AS (UPDATE dp_rdr.policy p SET profile = $3 FROM %s RETURNING p.view::text)
SELECT 'notice', format('the risk profile of role %%s was %%s its policies on other views of %%s, too: %%s', $5,
    CASE WHEN $3 IS NULL THEN 'taken from' ELSE 'set for' END, $6, string_agg(view, ', ' ORDER BY view COLLATE "C")),
  'It is about all that the role''s answers on the table tell.', NULL FROM moved HAVING count(*) > 0)sql",
                               others),
                      settings->view, role, profile, settings->id_text, grantee, settings->relation_name);
}

// A view that was refreshed or dropped while this call waited is another one, or none.
static Visit write_policies(const catalog::Settings *settings) {
    Visit visit = Visit::write();
    lock_declarations(visit, settings->relation);
    if (run(visit, "SELECT 1 FROM dp_rdr.restricted_view v WHERE v.view::oid = $1", settings->view) != 1)
        refuse_with(ERRCODE_LOCK_NOT_AVAILABLE, psprintf("%s is being changed by another call", settings->view_name),
                    "Try again.");
    return visit;
}

DP_CALL(dp_grant) {
    require_first(fcinfo, 2);
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(policy_view));
    const Oid role = PG_GETARG_OID(policy_grantee);
    const char *grantee = quote_identifier(GetUserNameFromId(role, false));
    const Profile *profile = profile_argument(fcinfo, policy_profile);
    Visit visit = write_policies(settings);
    Row row = read_row(visit, options, {settings->view, role},
                       "(SELECT) one LEFT JOIN dp_rdr.policy p ON p.view::oid = $1 AND p.grantee::oid = $2");
    visit.leave();
    merge(fcinfo, &row);
    if (profile != nullptr)
        row.set(policy_profile, profile_json(profile));
    check_values(row);
    set_selection(&row);
    check_rules(row, rules);
    set_epsilon_max(&row);
    check_some_candidate(row);
    canonical_groups(fcinfo, &row, settings->relation);

    visit = Visit::write();
    forget_dropped_roles(visit);
    check_delta_left(visit, settings, row);
    store_policy(visit, &row);
    const Reports of_views = spread_profile(visit, settings, row, grantee);
    check_shares(visit, settings->relation);
    check_profiles(visit, settings->relation, profile == nullptr ? InvalidOid : role);
    const Reports of_others = reports_on_policy(visit, settings, row, profile != nullptr);
    visit.leave();
    run_as(catalog::relation_owner(settings->view), psprintf("GRANT SELECT ON %s TO %s", settings->view_name, grantee));
    tell(of_views);
    tell(of_others);
    warn_of_candidates(row);
    warn_of_price(settings->relation, settings->view, role);
    warn_of_grantee(settings, row);
    PG_RETURN_VOID();
}

DP_CALL(dp_revoke) {
    require_first(fcinfo, 2);
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    const char *grantee = quote_identifier(GetUserNameFromId(PG_GETARG_OID(1), false));
    Visit visit = write_policies(settings);
    const uint64 n = run(visit, "DELETE FROM dp_rdr.policy p WHERE p.view::oid = $1 AND p.grantee::oid = $2",
                         settings->view, PG_GETARG_OID(1));
    visit.leave();
    run_as(catalog::relation_owner(settings->view),
           psprintf("REVOKE SELECT ON %s FROM %s", settings->view_name, grantee));
    if (n == 0)
        ereport(WARNING, (errmsg("role %s had no policy on %s", grantee, settings->view_name)));
    PG_RETURN_VOID();
}

// Lifts all suspensions under the policy of a role, and those of the role itself under whichever policy.
DP_CALL(dp_resume) {
    require_first(fcinfo, 2);
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    const char *name = GetUserNameFromId(PG_GETARG_OID(1), false);
    Visit visit = Visit::write();
    const uint64 n = run(visit,
                         "DELETE FROM dp_rdr.suspension s WHERE s.view::oid = $1 AND "
                         "$2 IN (s.grantee::oid, s.role::oid, s.session_role::oid)",
                         settings->view, PG_GETARG_OID(1));
    visit.leave();
    if (n == 0)
        ereport(WARNING,
                (errmsg("nobody was suspended on %s as role %s", settings->view_name, quote_identifier(name))));
    PG_RETURN_VOID();
}

} // namespace dp::sql
