// Reads risk profiles, from arguments or from JSON, and writes them as JSON: a definition and the epsilon that it allows
// (doc/formulas.md 7).
#pragma once

#include "privacy/account.hpp"
#include "privacy/disclosure.hpp"

#include "border/guard.hpp"

namespace dp::sql {

enum ProfileField {
    field_relative,
    field_absolute,
    field_prior,
    field_advantage,
    field_tpr,
    field_fpr,
    field_p,
    field_q,
    field_r,
    nfields
};

struct GivenArray {
    int n;
    double *values;
    bool *nulls;
};

// Holds what arguments or JSON give of a risk profile, before it is checked.
struct GivenProfile {
    const char *kind; // or null
    int given;        // bits of fields
    double numbers[field_p];
    GivenArray arrays[3]; // p, q, r
    bool has(ProfileField field) const { return (given & 1 << field) != 0; }
    void mark(ProfileField field) { given |= 1 << field; }
};

// Holds a definition that was checked. The epsilon of a JSON is never trusted: it is computed anew.
struct Profile {
    const privacy::RiskProfile *risk;
    const char *json; // the definition, then the epsilon
    bool constrains;
    privacy::Binding binding;
    privacy::Epsilon epsilon; // of one that constrains
};

// Checks what was given. Errors: 22023 for what is no profile, or one that allows no epsilon; 54000 for too many adversaries.
Profile *checked_profile(const GivenProfile &given);
// Checks a JSON, with the same errors.
Profile *read_profile(Datum json);
// Returns whether the JSON takes a profile away: '{}'.
bool is_no_profile(Datum json);
Datum profile_json(const Profile *profile);
// Returns the JSON of a promise about attacks with the epsilon that it comes to under a table's bound. The largest rho that it allows
// goes to `rho` under zcdp. Errors: 22023 where the deltas alone tell as much.
Datum attack_profile(const Profile *profile, const privacy::BoundSettings &bound, privacy::Rho *rho);
// Reads a setter's argument: null for NULL, which keeps what is set, and for '{}'. Errors: 22023 for one that constrains nothing.
const Profile *profile_argument(FunctionCallInfo fcinfo, int argument);

} // namespace dp::sql
