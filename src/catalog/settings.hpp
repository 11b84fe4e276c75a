// What controllers declared: protected tables, restricted views, bounds, groups, policies (read half of the catalog).
// Backend region: plain structs in CurrentMemoryContext, errors by ereport.
#pragma once

#include <vector>

#include "privacy/accounting.hpp"
#include "privacy/lattice.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/risk.hpp"

#include "border/guard.hpp"
#include "catalog/access.hpp"
#include "catalog/asker.hpp"

namespace dp::catalog {

enum class Selection { within_domain, within_data, released };

struct Policy {
    Oid grantee;
    const char *grantee_name;
    bool has_tau;
    double tau;
    double tau_var;
    privacy::Epsilon epsilon_svt;
    Selection selection;
    privacy::Mechanism mechanism;
    privacy::Delta delta;
    privacy::Epsilon epsilon_max;
    bool has_share;
    privacy::Epsilon share;
    double weight_min, weight_max;
    const char *group_a, *group_b; // canonical conditions over the table; or null
    privacy::Epsilon epsilon_min;  // the least that an answer is charged
    // Descending, from epsilon_min on; owned by the memory context (border::context_new).
    const std::vector<privacy::Epsilon> *candidates;
};

// A protected table as one query sees it: read once, under one snapshot (architecture.md, decision 9).
struct Settings {
    Oid view;
    Oid relation;
    const char *view_name;     // qualified and quoted
    const char *relation_name; // qualified and quoted
    Oid owner;                 // of the relation
    const char *owner_name;
    pg_uuid_t id;
    const char *id_text;
    const char *filter; // or null
    // SHA-256 (hex) over everything above and below that a charge depends on; the writer computes it again under the
    // odometer's lock and refuses when it differs.
    const char *fingerprint;
};

// Settings of a registered view. Null when `view` is not registered (then the caller says 55000).
Settings *read_settings(const Reading &reading, Oid view);

// Whether the odometer of the table behind a restricted view has the bound `dynamic`.
bool has_dynamic_bound(Oid view);

// Declared bounds of a column, owned by the memory context; null if none.
const privacy::Bounds *column_bounds(const Reading &reading, Oid relation, const char *column_name, bool integer_type);
// Declared groups of a column (text[]); null if none.
ArrayType *column_groups(const Reading &reading, Oid relation, const char *column_name);

// The policy of the asker's role on the view: its own, else that of the one role it inherits from.
// Errors: 42501 without any; 55000 when several are inherited and none is its own, and when it is suspended.
Policy *policy_of(const Reading &reading, const Settings &settings, const Asker &asker);

// The SQL text that computes the fingerprint for ($1 = relation oid, $2 = view oid); used here and by the writer.
extern const char *const fingerprint_sql;

// The 37 candidates of the papers for a null array, else its elements, checked and sorted (22023 otherwise).
const std::vector<privacy::Epsilon> *candidates_from_array(ArrayType *array);

const char *qualified_name(Oid relation);
Oid relation_owner(Oid relation);

} // namespace dp::catalog
