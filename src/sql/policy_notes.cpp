#include "sql/policy_notes.hpp"

#include "border/versions.hpp"
#include "catalog/decimals.hpp"
#include "sql/arguments.hpp"
extern "C" {
#include <commands/dbcommands.h>
}

using dp::catalog::Visit;

namespace dp::sql {

template <int Places> static const char *printed(privacy::Decimal<Places> value) {
    return catalog::numeric_text(catalog::to_numeric(value));
}

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

static void tell_about_auto(const catalog::Settings *settings) {
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, settings->relation);
    reading.close();
    if (bound != nullptr && (bound->settings.basis_of(false) != privacy::Basis::rho || bound->settings.splits_pure()))
        ereport(NOTICE, (errmsg("mechanism auto is Laplace noise under the bound \"%s\" of %s",
                                privacy::name_of(bound->settings.bound), settings->relation_name),
                         errhint("It is Gaussian where that is more accurate under dp_set_odometer('%s', 'zcdp', ...) "
                                 "without an epsilon_pure.",
                                 settings->relation_name)));
}

// Warns only: a policy that denies everything is granted all the same, as more may be set later.
void tell_about_policy(const catalog::Settings *settings, const Row &policy) {
    if (policy.is(policy_mechanism, "auto"))
        tell_about_auto(settings);
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

// ---- other ways to the rows ----------------------------------------------------------------------------------------

// Policies of other roles under which this one may ask as well; and one that is granted all the same, as the unit may be declared anew.
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
SELECT 'warning', format('queries of %s will be refused: epsilon cannot be selected by tau_var where a person may have several rows', $6),
  NULL, 'Grant tau instead.'
FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 AND $4 = 'released' AND t.max_rows IS NOT NULL)sql";

Reports reports_on_policy(const Visit &visit, const catalog::Settings *settings, const Row &policy, bool profiled) {
    return reports_of(visit, reports_sql,
                      {settings->relation, DatumGetObjectId(policy.values[policy_grantee]), profiled,
                       policy.text_of(policy_selection), settings->relation_name, settings->view_name});
}

// Returns what lets a role read the table itself; null when nothing does.
static const char *reads_table(Oid role, Oid relation) {
    if (superuser_arg(role))
        return "it is a superuser";
    Oid owner = catalog::relation_owner(relation);
    if (has_privs_of_role(role, owner))
        return psprintf("it may act for %s, the owner", quote_identifier(GetUserNameFromId(owner, false)));
    if (pg_class_aclcheck(relation, role, ACL_SELECT) == ACLCHECK_OK)
        return has_privs_of_role(role, ROLE_PG_READ_ALL_DATA) ? "it has the privileges of pg_read_all_data"
                                                              : "it has SELECT on the table";
    if (pg_attribute_aclcheck_all(relation, role, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK)
        return "it has SELECT on columns of the table";
    return nullptr;
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

// A role that cannot log in is there for its members, who connect with rights of their own.
static void warn_of_database(Oid role, const char *grantee) {
    HeapTuple tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role));
    const bool logs_in = HeapTupleIsValid(tuple) && ((Form_pg_authid)GETSTRUCT(tuple))->rolcanlogin;
    if (HeapTupleIsValid(tuple))
        ReleaseSysCache(tuple);
    if (!logs_in || border::may_connect(MyDatabaseId, role))
        return;
    const char *database = quote_identifier(get_database_name(MyDatabaseId));
    ereport(WARNING, (errmsg("role %s may not connect to the database %s", grantee, database),
                      errhint("GRANT CONNECT ON DATABASE %s TO %s;", database, grantee)));
}

void warn_of_grantee(const catalog::Settings *settings, const Row &policy) {
    const Oid role = DatumGetObjectId(policy.values[policy_grantee]);
    const char *grantee = quote_identifier(GetUserNameFromId(role, false));
    if (policy.is(policy_selection, "within_data"))
        ereport(WARNING,
                (errmsg("answers to role %s will not be differentially private", grantee),
                 errdetail("Under within_data epsilon is chosen from the private rows: an answer, its noise and a "
                           "denial can tell whether one person is there. What is shown to %s is outside the guarantee "
                           "that other roles' answers carry.",
                           grantee),
                 errhint("selection => 'within_domain' is differentially private.")));
    const char *reason = reads_table(role, settings->relation);
    if (reason != nullptr)
        ereport(WARNING, (errmsg("role %s can read %s itself: %s", grantee, settings->relation_name, reason),
                          errdetail("No answer's noise hides anything from who can read the rows."),
                          errhint("dp_audit() lists what to revoke.")));
    warn_of_schema(role, settings->view, "restricted view");
    warn_of_database(role, grantee);
}

} // namespace dp::sql
