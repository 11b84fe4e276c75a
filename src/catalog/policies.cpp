#include "catalog/described_row.hpp"
#include "catalog/lookup.hpp"
#include "catalog/settings.hpp"

namespace dp::catalog {

// ---- whose queries failed while they read rows: the second wall (formulas.md, 4.1) -------------------------------------

// Failures under one policy after which nobody asks under it.
constexpr int suspended_members = 3;

[[noreturn]] static void refuse(const Settings &settings, const char *grantee, const char *whose) {
    refuse_state(psprintf("%s on %s are suspended", whose, settings.view_name),
                 psprintf("The owner of the table, \"%s\", lifts the suspension with dp_resume(%s, %s).",
                          GetUserNameFromId(settings.owner, false), quote_literal_cstr(settings.view_name),
                          quote_literal_cstr(grantee)),
                 "A query failed while it read rows, which might tell something about them.");
}

// The grantee, as it is quoted, of the policy under which one of these roles has failed; or null.
static const char *suspended_under(List *rows, const Asker &asker) {
    for (auto *row : border::each<const Row>(rows)) {
        for (const char *column : {"role", "session_role"})
            if (Oid role = DatumGetObjectId(row->value(column)); role == asker.role || role == asker.session_role)
                return DatumGetCString(DirectFunctionCall1(regroleout, row->value("grantee")));
    }
    return nullptr;
}

static int failures_under(List *rows, Oid grantee) {
    int failures = 0;
    for (auto *row : border::each<const Row>(rows))
        if (DatumGetObjectId(row->value("grantee")) == grantee)
            failures++;
    return failures;
}

// 55000 when the asker's role, that of his session, or the whole policy is suspended on the view.
static void check_not_suspended(const Reading &reading, const Settings &settings, const Policy &policy,
                                const Asker &asker) {
    Lookup lookup = Lookup::open("suspension", reading);
    List *rows = lookup.rows(ObjectIdGetDatum(settings.view));
    const char *grantee = suspended_under(rows, asker);
    int failures = failures_under(rows, policy.grantee);
    lookup.close();
    if (grantee != nullptr)
        refuse(settings, grantee, psprintf("queries of role \"%s\"", GetUserNameFromId(asker.role, false)));
    if (failures >= suspended_members)
        refuse(settings, quote_identifier(policy.grantee_name),
               psprintf("queries under the policy of \"%s\"", policy.grantee_name));
}

// ---- one policy ----------------------------------------------------------------------------------------------------

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
            refuse_value("candidates must not contain NULL");
        privacy::Epsilon candidate = checked_epsilon(elements[i], "a candidate of epsilon");
        border::core([&] { candidates->push_back(candidate); });
    }
    border::core([&] { *candidates = privacy::checked_candidates(std::move(*candidates)); });
    return candidates;
}

// Candidates from epsilon_min on. dp_grant lets no policy be without one.
static void cut_below_minimum(Policy *policy, std::optional<privacy::Epsilon> minimum) {
    policy->epsilon_min = minimum.value_or(policy->candidates->back());
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

const char *name_of(privacy::Mechanism mechanism) {
    return mechanism == privacy::Mechanism::laplace     ? "laplace"
           : mechanism == privacy::Mechanism::automatic ? "auto"
                                                        : "gaussian";
}

std::optional<privacy::Mechanism> mechanism_from_name(const std::string &name) {
    for (privacy::Mechanism mechanism :
         {privacy::Mechanism::laplace, privacy::Mechanism::gaussian, privacy::Mechanism::automatic})
        if (name == name_of(mechanism))
            return mechanism;
    return std::nullopt;
}

static std::optional<Selection> selection_from_name(const std::string &name) {
    static const char *const names[] = {"within_domain", "within_data", "released", "profile"};
    for (std::size_t i = 0; i < std::size(names); i++)
        if (name == names[i])
            return static_cast<Selection>(i);
    return std::nullopt;
}

// Names the options beside their columns: of one policy, to be read, or of two, to be compared.
template <class V, class... P> static void fields(V &visit, P &...policy) {
    visit("grantee", policy.grantee...);
    visit("tau", policy.tau...);
    visit("tau_var", policy.tau_var...);
    visit.word("selection", selection_from_name, policy.selection...);
    visit.word("mechanism", mechanism_from_name, policy.mechanism...);
    visit("delta", policy.delta...);
    visit("epsilon_max", policy.epsilon_max...);
    visit("epsilon_total", policy.share...);
    visit("epsilon_svt", policy.epsilon_svt...);
    visit("weight_min", policy.weight_min...);
    visit("weight_max", policy.weight_max...);
    visit("group_a", policy.group_a...);
    visit("group_b", policy.group_b...);
    visit("replay", policy.replay...);
    visit("on_request", policy.on_request...);
}

static void fill_policy(const Row &row, Policy *policy) {
    RowReader visit{row};
    ArrayType *candidates;
    std::optional<privacy::Epsilon> minimum;
    fields(visit, *policy);
    visit("candidates", candidates);
    visit("epsilon_min", minimum);
    policy->profile = allowed_by_profile(visit);
    policy->share = smaller(policy->share, policy->profile);
    policy->candidates = candidates_from_array(candidates);
    cut_below_minimum(policy, minimum);
}

// ---- whose policy --------------------------------------------------------------------------------------------------

// His policies and those of roles that he is in, Row *: nobody else's, however many there are. Should one be given to him or
// taken away after he was asked for, or a membership, then these differ (the writer looks again).
static List *find_policies(const Lookup &policies, Oid view, Oid role) {
    List *found = NIL;
    for (Oid oid : border::each_oid(roles_of(role)))
        found = list_concat(found, policies.rows(ObjectIdGetDatum(view), oid));
    return found;
}

static Oid grantee_of(const Row &policy) {
    Oid grantee;
    RowReader{policy}("grantee", grantee);
    return grantee;
}

// A superuser has the privileges of every role: only real membership counts here. A grantee that was dropped has no members.
static bool inherits(Oid role, Oid grantee) {
    return SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(grantee)) && is_member_of_role_nosuper(role, grantee) &&
           has_privs_of_role(role, grantee);
}

// The role's own policy, else the inherited ones.
static List *matching_policies(List *policies, Oid role) {
    List *inherited = NIL;
    for (auto *policy : border::each<Row>(policies)) {
        if (grantee_of(*policy) == role)
            return list_make1(policy);
        if (inherits(role, grantee_of(*policy)))
            inherited = lappend(inherited, policy);
    }
    return inherited;
}

static char *versions_of(List *policies) {
    StringInfo versions = makeStringInfo();
    append_versions(versions, policies);
    return hashed(*versions);
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
        refuse_right(psprintf("role \"%s\" has no policy on restricted view %s", role_name, settings->view_name),
                     "The controller permits a role with dp_grant(view, grantee, tau => ...).");
    if (list_length(matching) > 1)
        refuse_state(
            psprintf("role \"%s\" inherits several policies on restricted view %s", role_name, settings->view_name),
            "The controller should grant one to this role with dp_grant().");
    policy->grantee_name = GetUserNameFromId(policy->grantee, false);
    check_not_suspended(reading, *settings, *policy, asker);
    return policy;
}

// ---- policies of joins ----------------------------------------------------------------------------------------------

namespace {
// Finds the first option in which two differ. Core region.
struct Difference {
    const char *option = nullptr;

    template <class T> void operator()(const char *name, const T &a, const T &b) { note(name, a == b); }
    void operator()(const char *name, const char *a, const char *b) {
        note(name, a == nullptr || b == nullptr ? a == b : strcmp(a, b) == 0);
    }
    void operator()(const char *name, const Interval *a, const Interval *b) {
        note(name, a == nullptr || b == nullptr ? a == b : memcmp(a, b, sizeof(Interval)) == 0);
    }
    template <class FromName, class Enum> void word(const char *name, FromName &&, Enum a, Enum b) {
        note(name, a == b);
    }

  private:
    void note(const char *name, bool same) { option = option == nullptr && !same ? name : option; }
};
} // namespace

static const char *difference(const Policy &a, const Policy &b) {
    Difference different;
    fields(different, a, b);
    different("profile", a.profile, b.profile);
    different("candidates", *a.candidates, *b.candidates);
    different("epsilon_min", a.epsilon_min, b.epsilon_min);
    return different.option;
}

static void check_same(const Policy &policy, const Settings &settings, const Policy &of_other, const Settings &other) {
    const char *option = border::core([&] { return difference(policy, of_other); });
    if (option == nullptr)
        return;
    if (policy.grantee != of_other.grantee)
        refuse_state(
            psprintf("%s and %s would be asked under policies of different roles", settings.view_name, other.view_name),
            "The controller grants both views to one role, with equal options.",
            psprintf("Role \"%s\", and role \"%s\".", policy.grantee_name, of_other.grantee_name));
    refuse_state(
        psprintf("the policies of role \"%s\" on %s and %s differ in %s", policy.grantee_name, settings.view_name,
                 other.view_name, option),
        psprintf("Views are joined under equal policies: the controller sets the same %s with dp_grant() for both.",
                 option));
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

// ---- the writer's look ---------------------------------------------------------------------------------------------

static Terms *read_terms_of(const Reading &reading, Oid view, Oid role, Oid grantee) {
    Terms *terms = terms_of_view(reading, view);
    if (terms == nullptr || !OidIsValid(grantee))
        return terms;
    Lookup policies = Lookup::open("policy", reading);
    List *found = find_policies(policies, view, role);
    terms->policies = versions_of(found);
    for (auto *item : border::each<const Row>(found))
        terms->permitted |= grantee_of(*item) == grantee;
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
