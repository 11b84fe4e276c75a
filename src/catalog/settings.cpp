#include "catalog/settings.hpp"

#include "catalog/decimals.hpp"
#include "catalog/suspension.hpp"

namespace dp::catalog {

// What one query needs of a view and its table, and the fingerprint: which versions of rows that is. A row of PostgreSQL never
// changes, it is replaced by a version with another xmin or at another place, so the same versions are the same settings,
// whatever their size; a change that is undone again counts as one. Suspensions are counted.
static border::Statement settings_statement(R"sql(
SELECT t.relation::oid, t.id, v.filter, t.bound, t.epsilon_total, t.delta_total,
  encode(sha256(convert_to(concat_ws('|', t.ctid, t.xmin, v.ctid, v.xmin,
    (SELECT concat_ws('|', 'b', count(*), string_agg(concat_ws('/', b.ctid, b.xmin), ',' ORDER BY b.ctid))
       FROM dp_rdr.column_bounds b WHERE b.relation = t.relation),
    (SELECT concat_ws('|', 'g', count(*), string_agg(concat_ws('/', g.ctid, g.xmin), ',' ORDER BY g.ctid))
       FROM dp_rdr.column_groups g WHERE g.relation = t.relation),
    (SELECT concat_ws('|', 's', count(*)) FROM dp_rdr.suspension s WHERE s.view = v.view)), 'UTF8')), 'hex')
FROM dp_rdr.restricted_view v JOIN dp_rdr.protected_table t ON t.relation = v.relation WHERE v.view::oid = $1)sql");

enum SettingsColumn {
    col_relation = 1,
    col_id,
    col_filter,
    col_bound,
    col_epsilon_total,
    col_delta_total,
    col_fingerprint
};

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

static void copy_identity(const Visit &visit, Settings *settings) {
    bool isnull;
    settings->relation = DatumGetObjectId(border::Spi::value(0, col_relation, &isnull));
    memcpy(&settings->id, DatumGetUUIDP(border::Spi::value(0, col_id, &isnull)), UUID_LEN);
    settings->id_text = visit.spi.text(0, col_id);
    settings->filter = visit.spi.text(0, col_filter);
    settings->fingerprint = visit.spi.text(0, col_fingerprint);
}

Settings *read_settings(const Reading &reading, Oid view) {
    auto *settings = static_cast<Settings *>(palloc0(sizeof(Settings)));
    Visit visit = Visit::read(reading);
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(view)};
    uint64 rows = visit.run(settings_statement, 1, types, values);
    if (rows == 1)
        copy_identity(visit, settings);
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
    static border::Statement statement("SELECT 1 FROM dp_rdr.restricted_view v JOIN dp_rdr.protected_table t "
                                       "ON t.relation = v.relation WHERE v.view::oid = $1 AND t.bound = 'dynamic'");
    Visit visit = Visit::read();
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(view)};
    uint64 rows = visit.run(statement, 1, types, values);
    visit.leave();
    return rows > 0;
}

const privacy::Bounds *column_bounds(const Reading &reading, Oid relation, const char *column_name, bool integer_type) {
    static border::Statement statement("SELECT b.lower, b.upper FROM dp_rdr.column_bounds b "
                                       "WHERE b.relation::oid = $1 AND b.column_name = $2");
    Visit visit = Visit::read(reading);
    Oid types[2] = {OIDOID, TEXTOID};
    Datum values[2] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column_name)};
    uint64 rows = visit.run(statement, 2, types, values);
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
    static border::Statement statement("SELECT g.groups FROM dp_rdr.column_groups g "
                                       "WHERE g.relation::oid = $1 AND g.column_name = $2");
    Visit visit = Visit::read(reading);
    Oid types[2] = {OIDOID, TEXTOID};
    Datum values[2] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column_name)};
    uint64 rows = visit.run(statement, 2, types, values);
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

// The policies that any of some roles has on a view; nobody else's, however many there are.
static border::Statement policies_statement(R"sql(
SELECT p.grantee::oid, p.tau, p.tau_var, p.selection, p.mechanism, p.delta, p.epsilon_max, p.epsilon_total, p.candidates,
  p.weight_min, p.weight_max, p.epsilon_svt, p.group_a, p.group_b, p.epsilon_min,
  concat_ws('/', p.grantee::oid, p.ctid, p.xmin)
FROM dp_rdr.policy p WHERE p.view::oid = $1 AND p.grantee::oid = ANY ($2) ORDER BY p.grantee::oid)sql");

// Its columns.
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
    col_epsilon_min,
    col_version
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

// Whether any of the roles owns the database: its owner is a member of pg_database_owner, which no catalog says.
static bool owns_database(Oid role) {
    HeapTuple tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
    bool owns = ((Form_pg_database)GETSTRUCT(tuple))->datdba == role;
    ReleaseSysCache(tuple);
    return owns;
}

// The role and all that it is a member of, directly or not, whether it inherits from them or not.
static Datum roles_of(Oid role) {
    HASHCTL control = {};
    control.keysize = control.entrysize = sizeof(Oid);
    control.hcxt = CurrentMemoryContext;
    HTAB *met = hash_create("roles", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    StringInfoData roles; // as an array that grows
    initStringInfo(&roles);
    auto meet = [&](Oid other) {
        bool known;
        (void)hash_search(met, &other, HASH_ENTER, &known);
        if (!known)
            appendBinaryStringInfo(&roles, reinterpret_cast<const char *>(&other), sizeof other);
    };
    meet(role);
    for (int i = 0; i < roles.len / static_cast<int>(sizeof(Oid)); i++) {
        CHECK_FOR_INTERRUPTS();
        Oid member = reinterpret_cast<Oid *>(roles.data)[i];
        CatCList *memberships = SearchSysCacheList1(AUTHMEMMEMROLE, ObjectIdGetDatum(member));
        for (int j = 0; j < memberships->n_members; j++)
            meet(((Form_pg_auth_members)GETSTRUCT(&memberships->members[j]->tuple))->roleid);
        ReleaseSysCacheList(memberships);
        if (owns_database(member))
            meet(ROLE_PG_DATABASE_OWNER);
    }
    hash_destroy(met);
    oidvector *vector = buildoidvector(reinterpret_cast<Oid *>(roles.data), roles.len / sizeof(Oid));
    return PointerGetDatum(vector);
}

// Runs policies_statement for the role: only his policies and those of roles that he is in, which is how a policy given to him
// or taken away since, or a membership, is noticed as well. Returns the number of rows.
static uint64 find_policies(const border::Spi &spi, Oid view, Oid role) {
    Oid types[2] = {OIDOID, OIDARRAYOID};
    Datum values[2] = {ObjectIdGetDatum(view), roles_of(role)};
    return spi.run(policies_statement, true, 2, types, values);
}

// Their versions, of the last result.
static const char *versions_of(const border::Spi &spi, uint64 rows) {
    StringInfoData versions;
    initStringInfo(&versions);
    for (uint64 i = 0; i < rows; i++)
        appendStringInfo(&versions, "%s ", SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, col_version));
    Datum hash = DirectFunctionCall1(sha256_bytea, CStringGetTextDatum(versions.data));
    const char *text = DatumGetCString(DirectFunctionCall1(byteaout, hash));
    return MemoryContextStrdup(spi.caller, text);
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

Policy *policy_of(const Reading &reading, Settings *settings, const Asker &asker) {
    auto *policy = static_cast<Policy *>(palloc0(sizeof(Policy)));
    Visit visit = Visit::read(reading);
    uint64 rows = find_policies(visit.spi, settings->view, asker.role);
    settings->policies = versions_of(visit.spi, rows);
    int64 row = matching_policy(rows, asker.role);
    if (row >= 0)
        fill_policy(visit, row, policy);
    visit.leave();
    const char *role_name = GetUserNameFromId(asker.role, false);
    if (row == -1)
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("role \"%s\" has no policy on restricted view %s", role_name, settings->view_name),
                        errhint("The controller permits a role with dp_grant(view, grantee, tau => ...).")));
    if (row == -2)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("role \"%s\" inherits several policies on restricted view %s", role_name, settings->view_name),
                 errhint("The controller should grant one to this role with dp_grant().")));
    policy->grantee_name = GetUserNameFromId(policy->grantee, false);
    check_not_suspended(reading, *settings, *policy, asker);
    return policy;
}

// ---- the writer's look ----

static privacy::BoundSettings bound_of(const border::Spi &spi) {
    privacy::BoundSettings bound;
    const char *name = spi.text(0, col_bound);
    bool isnull;
    Datum epsilon_total = border::Spi::value(0, col_epsilon_total, &isnull);
    if (!isnull)
        bound.epsilon_total = to_epsilon(epsilon_total, "a total of epsilon");
    bound.delta_total = to_delta(border::Spi::value(0, col_delta_total, &isnull), "a total of delta");
    bool known = border::core([&] {
        auto parsed = privacy::bound_from_name(name);
        bound.bound = parsed.value_or(privacy::Bound::filter);
        return parsed.has_value();
    });
    if (!known)
        elog(ERROR, "unknown bound \"%s\"", name);
    return bound;
}

Terms *read_terms(const border::Spi &spi, Oid view, Oid role, Oid grantee) {
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(view)};
    if (spi.run(settings_statement, true, 1, types, values) != 1)
        return nullptr;
    auto *terms = static_cast<Terms *>(MemoryContextAllocZero(spi.caller, sizeof(Terms)));
    bool isnull;
    terms->relation = DatumGetObjectId(border::Spi::value(0, col_relation, &isnull));
    terms->id_text = spi.text(0, col_id);
    terms->fingerprint = spi.text(0, col_fingerprint);
    terms->bound = bound_of(spi);
    if (!OidIsValid(grantee))
        return terms;
    uint64 rows = find_policies(spi, view, role);
    terms->policies = versions_of(spi, rows);
    for (uint64 i = 0; i < rows; i++)
        terms->permitted |= DatumGetObjectId(border::Spi::value(i, col_grantee, &isnull)) == grantee;
    return terms;
}

} // namespace dp::catalog
