#include "catalog/settings.hpp"

#include "catalog/decimals.hpp"
#include "catalog/lookup.hpp"
#include "catalog/suspension.hpp"

namespace dp::catalog {

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

// ---- fingerprints ----

// Versions of rows are the same in every process; their SHA-256 has the same length however many there are.
static char *hashed(const StringInfoData &versions) {
    Datum hash =
        DirectFunctionCall1(sha256_bytea, PointerGetDatum(cstring_to_text_with_len(versions.data, versions.len)));
    bytea *bytes = DatumGetByteaPP(hash);
    char *hex = static_cast<char *>(palloc0(2 * VARSIZE_ANY_EXHDR(bytes) + 1));
    (void)hex_encode(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), hex);
    return hex;
}

// The order in which they lie: a session that ignores indexes finds them in another one than the keeper that compares.
static int compare_places(const ListCell *a, const ListCell *b) {
    return ItemPointerCompare(&static_cast<const Row *>(lfirst(a))->tuple->t_self,
                              &static_cast<const Row *>(lfirst(b))->tuple->t_self);
}

static void append_versions(StringInfo versions, const List *found) {
    List *rows = list_copy(found);
    list_sort(rows, compare_places);
    ListCell *cell;
    foreach (cell, rows)
        static_cast<const Row *>(lfirst(cell))->append_version(versions);
    appendStringInfoString(versions, "| ");
}

// Of all rows of one table whose key begins with this.
static void append_table(StringInfo versions, const Reading &reading, const char *table, Datum first) {
    Lookup lookup = Lookup::open(table, reading);
    append_versions(versions, lookup.rows(first));
    lookup.close();
}

// ---- tables and views ----

// What one row each says of a view and of its table, and the fingerprint of all that a charge on it depends on but policies.
struct View {
    bool registered; // with a table that is protected
    Oid relation;
    pg_uuid_t id;
    const char *filter;
    const char *bound_name;
    privacy::BoundSettings bound;
    int epoch;
    const char *fingerprint;
    bool has_profile; // the domain
    int64 people;     // of the domain
    UnitPath *unit;
};

// Half of delta_total, unless it was set.
static privacy::Delta conversion_of(const Row &row, privacy::Delta delta_total) {
    bool isnull;
    Datum conversion = row.value("delta_conversion", &isnull);
    return isnull ? privacy::default_conversion(delta_total) : to_delta(conversion, "delta_conversion");
}

static privacy::Rho rho_of(const Row &row, const char *column) {
    bool isnull;
    Datum rho = row.value(column, &isnull);
    return isnull ? privacy::Rho() : to_rho(rho, column);
}

// What a risk profile allows: computed when it was set, from its definition, which stands beside it. False: there is none.
static bool read_profile(const Row &row, privacy::Epsilon *epsilon) {
    bool isnull;
    Datum profile = row.value("profile", &isnull);
    if (isnull)
        return false;
    JsonbValue value;
    const JsonbValue *found = getKeyJsonValueFromContainer(&DatumGetJsonbP(profile)->root, "epsilon",
                                                           static_cast<int>(strlen("epsilon")), &value);
    if (found == nullptr || found->type != jbvNumeric)
        elog(ERROR, "a risk profile is stored without its epsilon");
    *epsilon = to_epsilon(NumericGetDatum(found->val.numeric), "the epsilon of a risk profile");
    return true;
}

// Days that can be printed and read again; what was set earlier was set for as long.
constexpr privacy::Day first_since = 0, last_since = 100000000;

// A name, and the day on which it was set. Nobody wrote down when: it does not turn before a charge.
static std::optional<privacy::Period> period_of(const Row &row) {
    const char *name = row.string("period");
    if (name == nullptr)
        return std::nullopt;
    bool isnull;
    Datum since = row.value("period_since", &isnull);
    const privacy::Day day = isnull ? last_since : DatumGetDateADT(since);
    const std::optional<privacy::PeriodKind> kind = border::core([&] { return privacy::period_from_name(name); });
    if (!kind)
        elog(ERROR, "unknown period \"%s\"", name);
    return privacy::Period{*kind, Min(Max(day, first_since), last_since)};
}

// They go with a period, and a period with the bound filter. What a risk profile of the table allows is for ever.
static void read_lifetime(const Row &row, bool has_profile, privacy::Epsilon allowed, privacy::BoundSettings *bound) {
    bound->period = period_of(row);
    if (!bound->period)
        return;
    bool isnull;
    Datum epsilon = row.value("epsilon_lifetime", &isnull);
    if (!isnull)
        bound->epsilon_lifetime = to_epsilon(epsilon, "epsilon_lifetime");
    if (has_profile)
        bound->epsilon_lifetime = isnull ? allowed : Min(*bound->epsilon_lifetime, allowed);
    Datum delta = row.value("delta_lifetime", &isnull);
    if (!isnull)
        bound->delta_lifetime = to_delta(delta, "delta_lifetime");
}

static void read_bound(const Row &row, View *view) {
    view->bound_name = row.string("bound");
    const char *cap = row.string("cap");
    bool known = border::core([&] {
        auto bound = privacy::bound_from_name(view->bound_name);
        auto parsed = privacy::cap_from_name(cap);
        view->bound.bound = bound.value_or(privacy::Bound::filter);
        view->bound.cap = parsed.value_or(privacy::Cap::classic);
        return bound.has_value() && parsed.has_value();
    });
    if (!known)
        elog(ERROR, "unknown bound \"%s\", or cap \"%s\"", view->bound_name, cap);
    bool isnull;
    Datum total = row.value("epsilon_total", &isnull);
    if (!isnull)
        view->bound.epsilon_total = to_epsilon(total, "a total of epsilon");
    privacy::Epsilon allowed;
    const bool has_profile = read_profile(row, &allowed);
    if (has_profile)
        view->bound.epsilon_total = isnull ? allowed : Min(*view->bound.epsilon_total, allowed);
    view->has_profile = has_profile;
    view->bound.delta_total = to_delta(row.value("delta_total"), "a total of delta");
    view->epoch = DatumGetInt32(row.value("epoch"));
    if (view->bound.bound == privacy::Bound::filter)
        read_lifetime(row, has_profile, allowed, &view->bound);
    if (view->bound.bound != privacy::Bound::zcdp)
        return;
    view->bound.delta_conversion = conversion_of(row, view->bound.delta_total);
    view->bound.epsilon_pure = to_epsilon(row.value("epsilon_pure"), "epsilon_pure");
    view->bound.rho_total = rho_of(row, "rho_total");
    view->bound.rho_target = rho_of(row, "rho_target");
}

// The bound and the odometer are the domain's. A table without one, after a restore of a part, is as good as not protected.
static void read_domain(const Reading &reading, View *view, StringInfo versions) {
    Lookup domains = Lookup::open("privacy_domain", reading);
    const Row *row = only(domains.rows(UUIDPGetDatum(&view->id)));
    view->registered = row != nullptr;
    if (row != nullptr) {
        read_bound(*row, view);
        bool isnull;
        Datum people = row->value("people", &isnull);
        view->people = isnull ? 0 : DatumGetInt64(people);
        row->append_version(versions);
        append_table(versions, reading, "public_table", UUIDPGetDatum(&view->id));
    }
    domains.close();
}

static void read_table(const Reading &reading, View *view, StringInfo versions) {
    Lookup tables = Lookup::open("protected_table", reading);
    const Row *row = only(tables.rows(ObjectIdGetDatum(view->relation)));
    if (row != nullptr)
        memcpy(&view->id, DatumGetUUIDP(row->value("domain")), UUID_LEN);
    view->registered = row != nullptr;
    tables.close();
    if (!view->registered)
        return;
    view->unit = read_unit_path(reading, view->relation, versions); // appends the table's row as well
    read_domain(reading, view, versions);
}

Bound *read_bound(const Reading &reading, Oid relation) {
    View view = {};
    StringInfoData versions;
    initStringInfo(&versions);
    view.relation = relation;
    read_table(reading, &view, &versions);
    if (!view.registered)
        return nullptr;
    auto *bound = static_cast<Bound *>(palloc0(sizeof(Bound)));
    bound->id_text = DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&view.id)));
    bound->settings = view.bound;
    bound->epoch = view.epoch;
    return bound;
}

static View read_view(const Reading &reading, Oid oid) {
    border::UncountedScope uncounted = border::UncountedScope::enter(); // once for all look-ups
    View view = {};
    StringInfoData versions;
    initStringInfo(&versions);
    Lookup views = Lookup::open("restricted_view", reading);
    const Row *row = only(views.rows(ObjectIdGetDatum(oid)));
    if (row != nullptr) {
        view.relation = DatumGetObjectId(row->value("relation"));
        view.filter = row->string("filter");
        row->append_version(&versions);
    }
    views.close();
    if (row != nullptr) {
        read_table(reading, &view, &versions);
        append_table(&versions, reading, "column_bounds", ObjectIdGetDatum(view.relation));
        append_table(&versions, reading, "column_groups", ObjectIdGetDatum(view.relation));
        append_table(&versions, reading, "unit_limit", ObjectIdGetDatum(view.relation));
        append_table(&versions, reading, "suspension", ObjectIdGetDatum(oid));
        view.fingerprint = hashed(versions);
    }
    uncounted.leave();
    return view;
}

Settings *read_settings(const Reading &reading, Oid oid) {
    View view = read_view(reading, oid);
    // A dangling row (its table is gone, or the view, by DROP VIEW) is as good as none.
    if (!view.registered || get_rel_name(view.relation) == nullptr || get_rel_name(oid) == nullptr)
        return nullptr;
    auto *settings = static_cast<Settings *>(palloc0(sizeof(Settings)));
    settings->relation = view.relation;
    settings->id = view.id;
    settings->id_text = DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&view.id)));
    settings->filter = view.filter;
    settings->has_profile = view.has_profile;
    settings->people = view.people;
    settings->unit = view.unit;
    settings->fingerprint = view.fingerprint;
    settings->view = oid;
    settings->view_name = qualified_name(oid);
    settings->relation_name = qualified_name(settings->relation);
    settings->owner = relation_owner(settings->relation);
    return settings;
}

// Versions of two, in this order.
static const char *joined_versions(const char *first, const char *other) {
    StringInfoData versions;
    initStringInfo(&versions);
    appendStringInfo(&versions, "%s,%s", first, other);
    return hashed(versions);
}

// A view that is joined with itself changes nothing.
static bool is_known(const Settings *first, Oid view) {
    for (int i = 0; i < first->others.n; i++)
        if (first->others.views[i] == view)
            return true;
    return first->view == view;
}

void join_settings(Settings *first, const Settings *other) {
    if (is_known(first, other->view))
        return;
    if (first->others.n == OtherViews::most)
        elog(ERROR, "a query has too many restricted views");
    first->others.views[first->others.n++] = other->view;
    first->fingerprint = joined_versions(first->fingerprint, other->fingerprint);
}

bool has_dynamic_bound(Oid oid) {
    Reading reading = Reading::open();
    View view = read_view(reading, oid);
    reading.close();
    return view.registered && view.bound.bound == privacy::Bound::dynamic;
}

const privacy::Bounds *column_bounds(const Reading &reading, Oid relation, const char *column_name, bool integer_type) {
    Lookup lookup = Lookup::open("column_bounds", reading);
    const Row *row = only(lookup.rows(ObjectIdGetDatum(relation), column_name));
    const char *lower = row == nullptr ? nullptr : numeric_text(row->value("lower"));
    const char *upper = row == nullptr ? nullptr : numeric_text(row->value("upper"));
    lookup.close();
    if (row == nullptr)
        return nullptr;
    auto *bounds = border::context_new<privacy::Bounds>();
    border::core([&] { *bounds = privacy::make_bounds(lower, upper, integer_type); });
    return bounds;
}

const char *unit_total(const Reading &reading, Oid relation, const char *expression) {
    if (strlen(expression) > longest_total_text)
        return nullptr;
    Lookup lookup = Lookup::open("unit_limit", reading);
    const Row *row = only(lookup.rows(ObjectIdGetDatum(relation), expression));
    const char *total = row == nullptr ? nullptr : numeric_text(row->value("total"));
    lookup.close();
    return total;
}

ArrayType *column_groups(const Reading &reading, Oid relation, const char *column_name) {
    Lookup lookup = Lookup::open("column_groups", reading);
    const Row *row = only(lookup.rows(ObjectIdGetDatum(relation), column_name));
    ArrayType *groups = row == nullptr ? nullptr : DatumGetArrayTypePCopy(row->value("groups"));
    lookup.close();
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

static Selection selection_named(const char *name) {
    if (strcmp(name, "within_domain") == 0)
        return Selection::within_domain;
    if (strcmp(name, "profile") == 0)
        return Selection::profile;
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

static void fill_policy(const Row &row, Policy *policy) {
    bool isnull;
    policy->grantee = DatumGetObjectId(row.value("grantee"));
    row.value("tau", &isnull);
    policy->has_tau = !isnull;
    policy->tau = row.number("tau", 1);
    policy->tau_var = row.number("tau_var", 0);
    policy->selection = selection_named(row.string("selection"));
    const char *mechanism = row.string("mechanism");
    policy->mechanism = strcmp(mechanism, "auto") == 0       ? privacy::Mechanism::automatic
                        : strcmp(mechanism, "gaussian") == 0 ? privacy::Mechanism::gaussian
                                                             : privacy::Mechanism::laplace;
    policy->delta = to_delta(row.value("delta"), "delta");
    policy->epsilon_max = to_epsilon(row.value("epsilon_max"), "epsilon_max");
    Datum share = row.value("epsilon_total", &isnull);
    policy->has_share = !isnull;
    if (policy->has_share)
        policy->share = to_epsilon(share, "epsilon_total");
    policy->has_profile = read_profile(row, &policy->profile);
    if (policy->has_profile) {
        policy->share = policy->has_share ? Min(policy->share, policy->profile) : policy->profile;
        policy->has_share = true;
    }
    policy->weight_min = row.number("weight_min", 1);
    policy->weight_max = row.number("weight_max", 1);
    policy->epsilon_svt = to_epsilon(row.value("epsilon_svt"), "epsilon_svt");
    policy->group_a = row.string("group_a");
    policy->group_b = row.string("group_b");
    policy->on_request = DatumGetBool(row.value("on_request"));
    Datum replay = row.value("replay", &isnull);
    if (!isnull)
        policy->replay = DatumGetIntervalP(datumCopy(replay, false, sizeof(Interval)));
    Datum candidates = row.value("candidates", &isnull);
    policy->candidates = candidates_from_array(isnull ? nullptr : DatumGetArrayTypeP(candidates));
    Datum minimum = row.value("epsilon_min", &isnull);
    cut_below_minimum(policy, !isnull, isnull ? privacy::Epsilon() : to_epsilon(minimum, "epsilon_min"));
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
List *roles_of(Oid role) {
    HASHCTL control = {};
    control.keysize = control.entrysize = sizeof(Oid);
    control.hcxt = CurrentMemoryContext;
    HTAB *met = hash_create("roles", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    List *roles = NIL;
    auto meet = [&](Oid other) {
        bool known;
        (void)hash_search(met, &other, HASH_ENTER, &known);
        if (!known)
            roles = lappend_oid(roles, other);
    };
    meet(role);
    for (int i = 0; i < list_length(roles); i++) { // grows while it is read
        CHECK_FOR_INTERRUPTS();
        Oid member = list_nth_oid(roles, i);
        CatCList *memberships = SearchSysCacheList1(AUTHMEMMEMROLE, ObjectIdGetDatum(member));
        for (int j = 0; j < memberships->n_members; j++)
            meet(((Form_pg_auth_members)GETSTRUCT(&memberships->members[j]->tuple))->roleid);
        ReleaseSysCacheList(memberships);
        if (owns_database(member))
            meet(ROLE_PG_DATABASE_OWNER);
    }
    hash_destroy(met);
    list_sort(roles, list_oid_cmp);
    return roles;
}

// His policies and those of roles that he is in, Row *: nobody else's, however many there are. Should one be given to him or
// taken away after he was asked for, or a membership, then these differ (the writer looks again).
static List *find_policies(const Lookup &policies, Oid view, Oid role) {
    List *found = NIL;
    ListCell *cell;
    foreach (cell, roles_of(role))
        found = list_concat(found, policies.rows(ObjectIdGetDatum(view), lfirst_oid(cell)));
    return found;
}

static Oid grantee_of(const Row &policy) {
    return DatumGetObjectId(policy.value("grantee"));
}

// A superuser has the privileges of every role: only real membership counts here. A grantee that was dropped has no members.
static bool inherits(Oid role, Oid grantee) {
    return SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(grantee)) && is_member_of_role_nosuper(role, grantee) &&
           has_privs_of_role(role, grantee);
}

// The role's own policy, else the inherited ones.
static List *matching_policies(List *policies, Oid role) {
    List *inherited = NIL;
    ListCell *cell;
    foreach (cell, policies) {
        auto *policy = static_cast<Row *>(lfirst(cell));
        if (grantee_of(*policy) == role)
            return list_make1(policy);
        if (inherits(role, grantee_of(*policy)))
            inherited = lappend(inherited, policy);
    }
    return inherited;
}

static char *versions_of(List *policies) {
    StringInfoData versions;
    initStringInfo(&versions);
    append_versions(&versions, policies);
    return hashed(versions);
}

Policy *policy_of(const Reading &reading, Settings *settings, const Asker &asker) {
    auto *policy = static_cast<Policy *>(palloc0(sizeof(Policy)));
    Lookup policies = Lookup::open("policy", reading);
    List *found = find_policies(policies, settings->view, asker.role);
    settings->policies = versions_of(found);
    List *matching = matching_policies(found, asker.role);
    if (list_length(matching) == 1)
        fill_policy(*only(matching), policy);
    policies.close();
    const char *role_name = GetUserNameFromId(asker.role, false);
    if (matching == NIL)
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("role \"%s\" has no policy on restricted view %s", role_name, settings->view_name),
                        errhint("The controller permits a role with dp_grant(view, grantee, tau => ...).")));
    if (list_length(matching) > 1)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("role \"%s\" inherits several policies on restricted view %s", role_name, settings->view_name),
                 errhint("The controller should grant one to this role with dp_grant().")));
    policy->grantee_name = GetUserNameFromId(policy->grantee, false);
    check_not_suspended(reading, *settings, *policy, asker);
    return policy;
}

// ---- policies of joins ----

static bool same_text(const char *a, const char *b) {
    return a == nullptr || b == nullptr ? a == b : strcmp(a, b) == 0;
}

static bool same_interval(const Interval *a, const Interval *b) {
    return a == nullptr || b == nullptr ? a == b : memcmp(a, b, sizeof(Interval)) == 0;
}

// The first option in which they differ; null: none.
static const char *difference(const Policy &a, const Policy &b) {
    const struct {
        const char *option;
        bool same;
    } options[] = {
        {"grantee", a.grantee == b.grantee},
        {"tau", a.has_tau == b.has_tau && a.tau == b.tau},
        {"tau_var", a.tau_var == b.tau_var},
        {"selection", a.selection == b.selection},
        {"mechanism", a.mechanism == b.mechanism},
        {"delta", a.delta == b.delta},
        {"epsilon_max", a.epsilon_max == b.epsilon_max},
        {"epsilon_total", a.has_share == b.has_share && (!a.has_share || a.share == b.share)},
        {"profile", a.has_profile == b.has_profile && (!a.has_profile || a.profile == b.profile)},
        {"epsilon_svt", a.epsilon_svt == b.epsilon_svt},
        {"candidates", *a.candidates == *b.candidates},
        {"weight_min", a.weight_min == b.weight_min},
        {"weight_max", a.weight_max == b.weight_max},
        {"group_a", same_text(a.group_a, b.group_a)},
        {"group_b", same_text(a.group_b, b.group_b)},
        {"epsilon_min", a.epsilon_min == b.epsilon_min},
        {"replay", same_interval(a.replay, b.replay)},
        {"on_request", a.on_request == b.on_request},
    };
    for (const auto &option : options)
        if (!option.same)
            return option.option;
    return nullptr;
}

static void check_same(const Policy &policy, const Settings &settings, const Policy &of_other, const Settings &other) {
    const char *option = border::core([&] { return difference(policy, of_other); });
    if (option == nullptr)
        return;
    if (policy.grantee != of_other.grantee)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s and %s would be asked under policies of different roles", settings.view_name,
                               other.view_name),
                        errdetail("Role \"%s\", and role \"%s\".", policy.grantee_name, of_other.grantee_name),
                        errhint("The controller grants both views to one role, with equal options.")));
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("the policies of role \"%s\" on %s and %s differ in %s", policy.grantee_name, settings.view_name,
                    other.view_name, option),
             errhint("Views are joined under equal policies: the controller sets the same %s with dp_grant() for both.",
                     option)));
}

Policy *policy_of_all(const Reading &reading, Settings *settings, const Asker &asker) {
    Policy *policy = policy_of(reading, settings, asker);
    for (int i = 0; i < settings->others.n; i++) {
        Settings *other = read_settings(reading, settings->others.views[i]);
        if (other == nullptr)
            elog(ERROR, "a restricted view of the query is gone");
        check_same(*policy, *settings, *policy_of(reading, other, asker), *other);
        settings->policies = joined_versions(settings->policies, other->policies);
    }
    return policy;
}

// ---- the writer's look ----

static Terms *read_terms_of(const Reading &reading, Oid oid, Oid role, Oid grantee) {
    View view = read_view(reading, oid);
    if (!view.registered)
        return nullptr;
    auto *terms = static_cast<Terms *>(palloc0(sizeof(Terms)));
    terms->relation = view.relation;
    terms->id_text = DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&view.id)));
    terms->fingerprint = view.fingerprint;
    terms->bound = view.bound;
    terms->epoch = view.epoch;
    if (!OidIsValid(grantee))
        return terms;
    Lookup policies = Lookup::open("policy", reading);
    List *found = find_policies(policies, oid, role);
    terms->policies = versions_of(found);
    ListCell *cell;
    foreach (cell, found)
        terms->permitted |= grantee_of(*static_cast<const Row *>(lfirst(cell))) == grantee;
    policies.close();
    return terms;
}

Terms *read_terms(const Reading &reading, Oid view, Oid role, Oid grantee, const OtherViews *others) {
    Terms *terms = read_terms_of(reading, view, role, grantee);
    for (int i = 0; terms != nullptr && others != nullptr && i < others->n; i++) {
        const Terms *other = read_terms_of(reading, others->views[i], role, grantee);
        if (other == nullptr || strcmp(other->id_text, terms->id_text) != 0)
            return nullptr;
        terms->fingerprint = joined_versions(terms->fingerprint, other->fingerprint);
        if (!OidIsValid(grantee))
            continue;
        terms->policies = joined_versions(terms->policies, other->policies);
        terms->permitted = terms->permitted && other->permitted;
    }
    return terms;
}

} // namespace dp::catalog
