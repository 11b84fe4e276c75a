// A risk profile as it is passed and stored: a definition as JSON, and the epsilon that it allows (doc/formulas.md 7).
#pragma once

#include "privacy/disclosure.hpp"

#include "border/guard.hpp"
#include "sql/profile_expression.hpp"

namespace dp::sql {

// A definition that was checked. The numbers of a JSON are never trusted: the epsilon in it is computed anew.
struct Profile {
    privacy::ProfileKind kind;
    const privacy::RiskProfile *risk; // of every kind but `expression`
    const char *text;                 // of an expression, or null
    const ProfileExpression *expression;
    const char *json; // the definition, then the epsilon
    bool constrains;
    privacy::Binding binding;
    privacy::Epsilon epsilon; // of one that constrains
};

// Errors: 22023 for what is no profile, or one that allows no epsilon; those of expressions.
Profile *read_profile(Datum json);
// Whether it takes the profile away: '{}'.
bool is_no_profile(Datum json);
Datum profile_json(const Profile *profile);
// Of a setter: null for NULL, which keeps what is set, and for '{}'. 22023 for one that constrains nothing.
const Profile *profile_argument(FunctionCallInfo fcinfo, int argument);
// After a setter: what an expression allows is found by looking. Null is nothing to tell.
void tell_about_search(const Profile *profile);
// r* of one adversary.
double allowed_by(const Profile *profile, privacy::Prior prior);

} // namespace dp::sql
