#include "sql/policy_notes.hpp"

#include "border/versions.hpp"
#include "sql/call_arguments.hpp"

using dp::catalog::Visit;

namespace dp::sql {

// ---- candidates ----------------------------------------------------------------------------------------------------

const std::vector<privacy::Epsilon> *candidates_of(const Row &policy) {
    return catalog::candidates_from_array(
        policy.has(policy_candidates) ? DatumGetArrayTypeP(policy.values[policy_candidates]) : nullptr);
}

privacy::Epsilon smallest_candidate(const Row &policy) {
    privacy::Epsilon smallest;
    for (privacy::Epsilon candidate : *candidates_of(policy))
        if (smallest.units() == 0 || candidate < smallest)
            smallest = candidate;
    return smallest;
}

privacy::Epsilon share_of(const Row &policy) {
    Datum field =
        DirectFunctionCall2(jsonb_object_field_text, policy.values[policy_profile], CStringGetTextDatum("epsilon"));
    privacy::Epsilon share = catalog::to_epsilon(catalog::text_numeric(TextDatumGetCString(field)), "epsilon");
    return policy.has(policy_epsilon_total)
               ? Min(share, catalog::to_epsilon(policy.values[policy_epsilon_total], "epsilon_total"))
               : share;
}

// A profile that stands alone chooses the largest candidate up to epsilon_max: one above the share denies every query.
static void warn_of_share(const Row &policy, privacy::Epsilon most) {
    const privacy::Epsilon share = share_of(policy);
    privacy::Epsilon largest, affordable;
    for (privacy::Epsilon candidate : *candidates_of(policy)) {
        if (candidate <= most && candidate > largest)
            largest = candidate;
        if (candidate <= most && candidate <= share && candidate > affordable)
            affordable = candidate;
    }
    if (largest > share)
        ereport(WARNING, (errmsg("every query that does not ask for an epsilon of its own will be denied"),
                          errdetail("It is charged the largest candidate up to epsilon_max, %s, and the share is %s.",
                                    printed(largest), printed(share)),
                          affordable.units() > 0 ? errhint("Pass epsilon_max => %s, or less.", printed(affordable))
                                                 : errhint("Pass candidates of at most %s.", printed(share))));
}

// A count of one group is what costs least. With Gaussian noise the price is at most what is said.
static void warn_of_tau(const Row &policy, privacy::Epsilon smallest) {
    const double tau = DatumGetFloat8(policy.values[policy_tau]);
    const double weight = DatumGetFloat8(policy.values[policy_weight_max]);
    const bool gaussian = policy.is(policy_mechanism, "gaussian");
    privacy::Delta delta = catalog::to_delta(policy.values[policy_delta], "delta");
    const double price = border::core([&] {
        return gaussian ? privacy::within_domain_eps_star_gaussian(tau, weight, 1, 1, delta.value())
                        : privacy::within_domain_eps_star(tau, weight, 1, 1);
    });
    if (smallest.value() > price * (1 + privacy::price_slack))
        ereport(
            WARNING,
            (errmsg("a plain count will be denied: no candidate is small enough for tau %s", float8out_internal(tau)),
             errdetail("It may cost epsilon %.3g at most, and the smallest candidate is %s.", price, printed(smallest)),
             errhint("Pass a smaller tau, or smaller candidates.")));
}

// Warns only: a policy that denies everything is granted all the same, as more may be set later.
void warn_of_candidates(const Row &policy) {
    const privacy::Epsilon most = catalog::to_epsilon(policy.values[policy_epsilon_max], "epsilon_max");
    const privacy::Epsilon smallest = smallest_candidate(policy);
    if (smallest > most)
        ereport(WARNING,
                (errmsg("every query will be denied: no candidate is within epsilon_max"),
                 errdetail("The smallest candidate is %s, and epsilon_max is %s.", printed(smallest), printed(most)),
                 errhint("Pass epsilon_max => %s or more, or smaller candidates.", printed(smallest))));
    else if (policy.is(policy_selection, "within_domain"))
        warn_of_tau(policy, smallest);
    if (policy.is(policy_selection, "profile"))
        warn_of_share(policy, most);
}

// ---- what a policy is beside -----------------------------------------------------------------------------------------

// $1: the table, $2: the role, $3: whether a profile was passed, $4: mechanism, $5: the table's name. Finds policies of other roles under which
// this one may ask as well.
static constexpr char reports_sql[] = R"sql(
SELECT 'warning', format('role %s may also ask under policies of other roles on views of %s: %s', $2::regrole, $5,
    string_agg(p.grantee::text || ' on ' || p.view::text, ', ' ORDER BY p.grantee::text COLLATE "C", p.view::text COLLATE "C")),
  'Answers under them are not counted in its risk profile.',
  'Revoke the membership, or the policies; or set a profile for the table with dp_set_odometer(), which counts everybody''s answers.'
FROM dp_rdr.protected_table t JOIN dp_rdr.protected_table o ON o.domain = t.domain
JOIN dp_rdr.restricted_view v ON v.relation = o.relation JOIN dp_rdr.policy p ON p.view = v.view
WHERE $3 AND t.relation::oid = $1 AND p.grantee::oid <> $2 AND pg_has_role($2, p.grantee::oid, 'MEMBER')
  AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = $2 AND r.rolsuper) HAVING count(*) > 0
UNION ALL
SELECT 'notice', format('mechanism auto is Laplace noise under the bound "%s" of %s', d.bound, $5), NULL,
  format('It is Gaussian where that is more accurate under dp_set_odometer(%L, ''zcdp'', ...) without an epsilon_pure.', $5)
FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain
WHERE t.relation::oid = $1 AND $4 = 'auto' AND (d.bound <> 'zcdp' OR d.epsilon_pure > 0))sql";

Reports reports_on_policy(const Visit &visit, const catalog::Settings *settings, const Row &policy, bool profiled) {
    return reports_of(visit, reports_sql, settings->relation, DatumGetObjectId(policy.values[policy_grantee]), profiled,
                      policy.text_of(policy_mechanism), settings->relation_name);
}

void warn_of_schema(Oid role, Oid relation, const char *kind) {
    const Oid schema = get_rel_namespace(relation);
    if (border::may_use_schema(schema, role))
        return;
    const char *name = quote_identifier(get_namespace_name(schema));
    const char *grantee = quote_identifier(GetUserNameFromId(role, false));
    ereport(WARNING, (errmsg("role %s may not use the schema %s, where the %s is", grantee, name, kind),
                      errhint("GRANT USAGE ON SCHEMA %s TO %s;", name, grantee)));
}

// $1: the table, $2: the role, $3: selection, $4: the table's name. A role that cannot log in is there for its members, who connect with
// rights of their own.
static constexpr char grantee_sql[] = R"sql(
SELECT 'warning', w.message, w.detail, w.hint
FROM pg_roles r JOIN pg_class c ON c.oid = $1, LATERAL (SELECT r.oid::regrole AS name,
  CASE WHEN r.rolsuper THEN 'it is a superuser'
       WHEN pg_has_role(r.oid, c.relowner, 'USAGE') THEN format('it may act for %s, the owner', c.relowner::regrole)
       WHEN has_table_privilege(r.oid, c.oid, 'SELECT') THEN
         CASE WHEN pg_has_role(r.oid, 'pg_read_all_data', 'USAGE') THEN 'it has the privileges of pg_read_all_data'
              ELSE 'it has SELECT on the table' END
       WHEN has_any_column_privilege(r.oid, c.oid, 'SELECT') THEN 'it has SELECT on columns of the table' END AS reads) x,
LATERAL (VALUES
  ($3 = 'within_data', format('answers to role %s will not be differentially private', x.name),
   format('Under within_data epsilon is chosen from the private rows: an answer, its noise and a denial can tell whether one person '
          'is there. What is shown to %s is outside the guarantee that other roles'' answers carry.', x.name),
   'selection => ''within_domain'' is differentially private.'),
  (x.reads IS NOT NULL, format('role %s can read %s itself: %s', x.name, $4, x.reads),
   'No answer''s noise hides anything from who can read the rows.', 'dp_audit() lists what to revoke.'),
  (r.rolcanlogin AND NOT has_database_privilege(r.oid, current_database(), 'CONNECT'),
   format('role %s may not connect to the database %I', x.name, current_database()), NULL,
   format('GRANT CONNECT ON DATABASE %I TO %s;', current_database(), x.name))) w (found, message, detail, hint)
WHERE r.oid = $2 AND w.found)sql";

void warn_of_grantee(const catalog::Settings *settings, const Row &policy) {
    const Oid role = DatumGetObjectId(policy.values[policy_grantee]);
    tell_by(grantee_sql, settings->relation, role, policy.text_of(policy_selection), settings->relation_name);
    warn_of_schema(role, settings->view, "restricted view");
}

} // namespace dp::sql
