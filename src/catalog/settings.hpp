// Reads what controllers declared: protected tables, restricted views, bounds, groups, policies (read half of the catalog).
// Backend region: plain structs in CurrentMemoryContext, errors by ereport.
#pragma once

#include <vector>

#include "privacy/accounting.hpp"
#include "privacy/lattice.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/risk.hpp"

#include "border/guard.hpp"
#include "border/postgres.hpp"
#include "catalog/access.hpp"
#include "catalog/domain.hpp"
#include "catalog/partition.hpp"
#include "catalog/relations.hpp"

namespace dp::catalog {

struct Asker {
    Oid role, session_role;
};

// That of this session. Only what serves its own session may ask.
inline Asker current_asker() {
    return Asker{GetUserId(), GetSessionUserId()};
}

enum class Selection { within_domain, within_data, released, profile };

struct Policy {
    Oid grantee;
    const char *grantee_name;
    std::optional<double> tau, tau_var;
    privacy::Epsilon epsilon_svt;
    Selection selection;
    privacy::Mechanism mechanism;
    privacy::Delta delta;
    privacy::Epsilon epsilon_max;
    std::optional<privacy::Epsilon> share;   // set, or by the profile: the smaller
    std::optional<privacy::Epsilon> profile; // what it allows, as it was computed when it was granted
    double weight_min, weight_max;
    const char *group_a, *group_b; // canonical conditions over the table; or null
    privacy::Epsilon epsilon_min;  // the least that an answer is charged
    bool on_request;               // asks by requests alone
    const Interval *replay;        // for how long the same question gets the same answer; null: not at all
    // Descending, from epsilon_min on; owned by the memory context (border::context_new).
    const std::vector<privacy::Epsilon> *candidates;
};

// The restricted views of a query beside its first, each once.
struct OtherViews {
    static constexpr int most = 7;
    int n;
    Oid views[most];
};

// A protected table as one query sees it: read once, under one snapshot (architecture.md, decision 9).
struct Settings {
    Oid view;
    Oid relation;
    const char *view_name;     // qualified and quoted
    const char *relation_name; // qualified and quoted
    Oid owner;                 // of the relation
    pg_uuid_t id;              // of the domain
    const char *id_text;
    const char *filter; // or null
    bool has_profile;   // the domain has a risk profile
    int64 people;       // about how many the domain has, by declaration; 0: nobody said
    UnitPath *unit;     // null: a row is a unit
    const Partition *partition; // of the domain's units; null: there is none
    // Which versions of the rows a charge depends on were read: the writer looks again under the odometer's lock and refuses
    // when they differ. `policies` are those that the asker might ask under (policy_of); null: the controller's own call.
    const char *fingerprint;
    const char *policies;
    OtherViews others; // of a join; the versions are those of all (join_settings, policy_of_all)
};

// Settings of a registered view. Null when `view` is not registered (then the caller says 55000).
Settings *read_settings(const Reading &reading, Oid view);

// Makes the versions of further views of the same query (Settings *) a part of the first one's, whatever order they stand in.
void join_settings(Settings *first, List *others);
// Whether the odometer of the table behind a restricted view has the bound `dynamic`.
bool has_dynamic_bound(Oid view);

constexpr size_t longest_total_text = 1000; // bytes of an expression that a total is declared of

// Declared bounds of a column, owned by the memory context; null if none.
const privacy::Bounds *column_bounds(const Reading &reading, Oid relation, const char *column_name, bool integer_type);
// Declared total of the sizes of one unit's values of an expression over the table (rows/totals), as a number; null if none.
const char *unit_total(const Reading &reading, Oid relation, const char *expression);
// Declared groups of a column (text[]); null if none.
ArrayType *column_groups(const Reading &reading, Oid relation, const char *column_name);

// Spells a mechanism as columns and JSON have it, and reads such a word.
const char *name_of(privacy::Mechanism mechanism);
std::optional<privacy::Mechanism> mechanism_from_name(const std::string &name);

// The policy of the asker's role on the view: its own, else that of the one role it inherits from.
// Errors: 42501 without any; 55000 when several are inherited and none is its own, and when it is suspended.
// Leaves in settings->policies which versions of policies that rests on.
Policy *policy_of(const Reading &reading, Settings *settings, const Asker &asker);

// Returns that of a query over several views: one on each, equal but for the view (55000 otherwise, naming the difference).
Policy *policy_of_all(const Reading &reading, Settings *settings, const Asker &asker);

// The bound of a protected table; null if it is none.
struct Bound {
    const char *id_text;
    privacy::BoundSettings settings;
    int epoch; // that the odometer is to be in
};
Bound *read_bound(const Reading &reading, Oid relation);

// Holds what the writer compares and decides on, read in one go.
struct Terms {
    Oid relation;
    const char *id_text;
    const char *fingerprint;
    const char *policies; // null without a grantee
    bool permitted;       // the grantee has a policy among them
    privacy::BoundSettings bound;
    int epoch; // that the odometer is to be in
    const Partition *partition; // whose cells the odometer is to have; null: none was ever declared
};
// Reads those of a view alone, without policies; null when it is not registered.
Terms *terms_of_view(const Reading &reading, Oid view);
// Reads the terms of a view for the role and, unless it is InvalidOid, the grantee whose policy it asks under. Null when the view is not
// registered.
Terms *read_terms(const Reading &reading, Oid view, Oid role, Oid grantee, const OtherViews *others = nullptr);

// The 37 candidates of the papers for a null array, else its elements, checked and sorted (22023 otherwise).
const std::vector<privacy::Epsilon> *candidates_from_array(ArrayType *array);

// Returns the SHA-256 of versions, of the same length however many there are.
char *hashed(const StringInfoData &versions);
// Appends the versions of rows (Row *).
void append_versions(StringInfo versions, const List *found);
// Returns a hash of two, in this order.
const char *joined_versions(const char *first, const char *other);

} // namespace dp::catalog
