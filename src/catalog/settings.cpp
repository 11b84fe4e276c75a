#include "catalog/settings.hpp"

#include "catalog/decimals.hpp"
#include "catalog/suspension.hpp"

namespace dp::catalog {

// jsonb keeps numerics and texts exactly; float8 goes in as its bytes, which no setting formats, and an array as its
// text: jsonb_agg() takes the square of the time for one with many elements.
const char *const fingerprint_sql = R"sql(
SELECT encode(sha256(convert_to(jsonb_build_array(
  (SELECT jsonb_agg(jsonb_build_array(t.id, t.unit, t.bound, t.epsilon_total::text, t.delta_total::text))
     FROM dp_rdr.protected_table t WHERE t.relation::oid = $1),
  (SELECT jsonb_agg(jsonb_build_array(v.relation::oid, v.filter))
     FROM dp_rdr.restricted_view v WHERE v.view::oid = $2),
  (SELECT jsonb_agg(jsonb_build_array(b.column_name, b.lower::text, b.upper::text) ORDER BY b.column_name COLLATE "C")
     FROM dp_rdr.column_bounds b WHERE b.relation::oid = $1),
  (SELECT jsonb_agg(jsonb_build_array(g.column_name, g.groups::text) ORDER BY g.column_name COLLATE "C")
     FROM dp_rdr.column_groups g WHERE g.relation::oid = $1),
  (SELECT jsonb_agg(jsonb_build_array(p.grantee::oid, encode(float8send(p.tau), 'hex'),
            encode(float8send(p.tau_var), 'hex'), p.selection, p.mechanism, p.delta::text, p.epsilon_max::text,
            p.epsilon_total::text, p.epsilon_svt::text, p.candidates::text, encode(float8send(p.weight_min), 'hex'),
            encode(float8send(p.weight_max), 'hex'), p.group_a, p.group_b, p.epsilon_min::text) ORDER BY p.grantee::oid)
     FROM dp_rdr.policy p WHERE p.view::oid = $2),
  (SELECT count(*) FROM dp_rdr.suspension s WHERE s.view::oid = $2)
)::text, 'UTF8')), 'hex'))sql";

const char *qualified_name(Oid relation) {
    return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation));
}

Oid relation_owner(Oid relation) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for relation %u", relation);
    Oid owner = ((Form_pg_class)GETSTRUCT(tuple))->relowner;
    ReleaseSysCache(tuple);
    return owner;
}

static char *fingerprint_of(const Visit &visit, Oid relation, Oid view) {
    Oid types[2] = {OIDOID, OIDOID};
    Datum values[2] = {ObjectIdGetDatum(relation), ObjectIdGetDatum(view)};
    visit.run(fingerprint_sql, 2, types, values);
    return visit.spi.text(0, 1);
}

static void copy_identity(const Visit &visit, Settings *settings) {
    bool isnull;
    settings->relation = DatumGetObjectId(border::Spi::value(0, 1, &isnull));
    memcpy(&settings->id, DatumGetUUIDP(border::Spi::value(0, 2, &isnull)), UUID_LEN);
    settings->id_text = visit.spi.text(0, 2);
    settings->filter = visit.spi.text(0, 3);
}

Settings *read_settings(const Reading &reading, Oid view) {
    auto *settings = static_cast<Settings *>(palloc0(sizeof(Settings)));
    Visit visit = Visit::read(reading);
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(view)};
    uint64 rows = visit.run("SELECT v.relation::oid, t.id, v.filter FROM dp_rdr.restricted_view v "
                            "JOIN dp_rdr.protected_table t ON t.relation = v.relation WHERE v.view::oid = $1",
                            1, types, values);
    if (rows == 1) {
        copy_identity(visit, settings);
        settings->fingerprint = fingerprint_of(visit, settings->relation, view);
    }
    visit.leave();
    // A dangling row (its table is gone) is as good as none.
    if (rows != 1 || get_rel_name(settings->relation) == nullptr)
        return nullptr;
    settings->view = view;
    settings->view_name = qualified_name(view);
    settings->relation_name = qualified_name(settings->relation);
    settings->owner = relation_owner(settings->relation);
    settings->owner_name = GetUserNameFromId(settings->owner, false);
    return settings;
}

bool has_dynamic_bound(Oid view) {
    Visit visit = Visit::read();
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(view)};
    uint64 rows = visit.run("SELECT 1 FROM dp_rdr.restricted_view v JOIN dp_rdr.protected_table t "
                            "ON t.relation = v.relation WHERE v.view::oid = $1 AND t.bound = 'dynamic'",
                            1, types, values);
    visit.leave();
    return rows > 0;
}

const privacy::Bounds *column_bounds(const Reading &reading, Oid relation, const char *column_name, bool integer_type) {
    Visit visit = Visit::read(reading);
    Oid types[2] = {OIDOID, TEXTOID};
    Datum values[2] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column_name)};
    uint64 rows = visit.run("SELECT b.lower, b.upper FROM dp_rdr.column_bounds b "
                            "WHERE b.relation::oid = $1 AND b.column_name = $2",
                            2, types, values);
    const char *lower = rows == 1 ? visit.spi.text(0, 1) : nullptr;
    const char *upper = rows == 1 ? visit.spi.text(0, 2) : nullptr;
    visit.leave();
    if (rows != 1)
        return nullptr;
    auto *bounds = border::context_new<privacy::Bounds>();
    border::core([&] { *bounds = privacy::make_bounds(lower, upper, integer_type); });
    return bounds;
}

ArrayType *column_groups(const Reading &reading, Oid relation, const char *column_name) {
    Visit visit = Visit::read(reading);
    Oid types[2] = {OIDOID, TEXTOID};
    Datum values[2] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column_name)};
    uint64 rows = visit.run("SELECT g.groups FROM dp_rdr.column_groups g "
                            "WHERE g.relation::oid = $1 AND g.column_name = $2",
                            2, types, values);
    ArrayType *groups = nullptr;
    if (rows == 1) {
        bool isnull;
        MemoryContext old = MemoryContextSwitchTo(visit.spi.caller);
        groups = DatumGetArrayTypePCopy(border::Spi::value(0, 1, &isnull));
        MemoryContextSwitchTo(old);
    }
    visit.leave();
    return groups;
}

// ---- policies ----

const std::vector<privacy::Epsilon> *candidates_from_array(ArrayType *array) {
    auto *candidates = border::context_new<std::vector<privacy::Epsilon>>();
    if (array == nullptr) {
        border::core([&] { *candidates = privacy::paper_candidates(); });
        return candidates;
    }
    Datum *elements;
    bool *nulls;
    int n;
    deconstruct_array(array, NUMERICOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
    for (int i = 0; i < n; i++) {
        if (nulls[i])
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("candidates must not contain NULL")));
        privacy::Epsilon candidate = checked_epsilon(elements[i], "a candidate of epsilon");
        border::core([&] { candidates->push_back(candidate); });
    }
    border::core([&] { *candidates = privacy::checked_candidates(std::move(*candidates)); });
    return candidates;
}

// Columns of the query in policy_of, in this order.
enum PolicyColumn {
    col_grantee = 1,
    col_tau,
    col_tau_var,
    col_selection,
    col_mechanism,
    col_delta,
    col_epsilon_max,
    col_share,
    col_candidates,
    col_weight_min,
    col_weight_max,
    col_epsilon_svt,
    col_group_a,
    col_group_b,
    col_epsilon_min
};

static double float_or(uint64 row, int column, double otherwise) {
    bool isnull;
    Datum value = border::Spi::value(row, column, &isnull);
    return isnull ? otherwise : DatumGetFloat8(value);
}

static Selection selection_named(const char *name) {
    if (strcmp(name, "within_domain") == 0)
        return Selection::within_domain;
    return strcmp(name, "within_data") == 0 ? Selection::within_data : Selection::released;
}

// Candidates from epsilon_min on. dp_grant lets no policy be without one.
static void cut_below_minimum(Policy *policy, bool has_minimum, privacy::Epsilon minimum) {
    policy->epsilon_min = has_minimum ? minimum : policy->candidates->back();
    auto *kept = border::context_new<std::vector<privacy::Epsilon>>();
    border::core([&] {
        for (privacy::Epsilon candidate : *policy->candidates)
            if (candidate >= policy->epsilon_min)
                kept->push_back(candidate);
    });
    if (kept->empty())
        elog(ERROR, "no candidate of a policy reaches its epsilon_min");
    policy->candidates = kept;
}

static void fill_policy(const Visit &visit, uint64 row, Policy *policy) {
    bool isnull;
    policy->grantee = DatumGetObjectId(border::Spi::value(row, col_grantee, &isnull));
    border::Spi::value(row, col_tau, &isnull);
    policy->has_tau = !isnull;
    policy->tau = float_or(row, col_tau, 1);
    policy->tau_var = float_or(row, col_tau_var, 0);
    policy->selection = selection_named(visit.spi.text(row, col_selection));
    policy->mechanism = strcmp(visit.spi.text(row, col_mechanism), "gaussian") == 0 ? privacy::Mechanism::gaussian
                                                                                    : privacy::Mechanism::laplace;
    policy->delta = to_delta(border::Spi::value(row, col_delta, &isnull), "delta");
    policy->epsilon_max = to_epsilon(border::Spi::value(row, col_epsilon_max, &isnull), "epsilon_max");
    Datum share = border::Spi::value(row, col_share, &isnull);
    policy->has_share = !isnull;
    if (policy->has_share)
        policy->share = to_epsilon(share, "epsilon_total");
    policy->weight_min = float_or(row, col_weight_min, 1);
    policy->weight_max = float_or(row, col_weight_max, 1);
    policy->epsilon_svt = to_epsilon(border::Spi::value(row, col_epsilon_svt, &isnull), "epsilon_svt");
    policy->group_a = visit.spi.text(row, col_group_a);
    policy->group_b = visit.spi.text(row, col_group_b);
    Datum candidates = border::Spi::value(row, col_candidates, &isnull);
    MemoryContext old = MemoryContextSwitchTo(visit.spi.caller);
    policy->candidates = candidates_from_array(isnull ? nullptr : DatumGetArrayTypeP(candidates));
    Datum minimum = border::Spi::value(row, col_epsilon_min, &isnull);
    cut_below_minimum(policy, !isnull, isnull ? privacy::Epsilon() : to_epsilon(minimum, "epsilon_min"));
    MemoryContextSwitchTo(old);
}

// The row of the role's own policy, else of the only inherited one; -1 none, -2 several.
static int64 matching_policy(uint64 rows, Oid role) {
    int64 inherited = -1;
    for (uint64 i = 0; i < rows; i++) {
        bool isnull;
        Oid grantee = DatumGetObjectId(border::Spi::value(i, col_grantee, &isnull));
        if (grantee == role)
            return i;
        // A superuser has the privileges of every role: only real membership counts here. A grantee that was dropped
        // has no members.
        if (SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(grantee)) && is_member_of_role_nosuper(role, grantee) &&
            has_privs_of_role(role, grantee))
            inherited = inherited == -1 ? static_cast<int64>(i) : -2;
    }
    return inherited;
}

Policy *policy_of(const Reading &reading, const Settings &settings, const Asker &asker) {
    auto *policy = static_cast<Policy *>(palloc0(sizeof(Policy)));
    Visit visit = Visit::read(reading);
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(settings.view)};
    uint64 rows = visit.run(
        "SELECT p.grantee::oid, p.tau, p.tau_var, p.selection, p.mechanism, p.delta, p.epsilon_max, "
        "p.epsilon_total, p.candidates, p.weight_min, p.weight_max, p.epsilon_svt, p.group_a, p.group_b, p.epsilon_min "
        "FROM dp_rdr.policy p WHERE p.view::oid = $1 ORDER BY 1",
        1, types, values);
    int64 row = matching_policy(rows, asker.role);
    if (row >= 0)
        fill_policy(visit, row, policy);
    visit.leave();
    const char *role_name = GetUserNameFromId(asker.role, false);
    if (row == -1)
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("role \"%s\" has no policy on restricted view %s", role_name, settings.view_name),
                        errhint("The controller permits a role with dp_grant(view, grantee, tau => ...).")));
    if (row == -2)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("role \"%s\" inherits several policies on restricted view %s", role_name, settings.view_name),
                 errhint("The controller should grant one to this role with dp_grant().")));
    policy->grantee_name = GetUserNameFromId(policy->grantee, false);
    check_not_suspended(reading, settings, *policy, asker);
    return policy;
}

} // namespace dp::catalog
