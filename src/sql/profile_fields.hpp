// What is given of a risk profile, by arguments or by JSON, before it is checked.
#pragma once

#include "sql/profile.hpp"

namespace dp::sql {

enum ProfileField { field_relative, field_absolute, field_prior, field_p, field_q, field_r, field_expression, nfields };

struct GivenArray {
    int n;
    double *values;
    bool *nulls;
};

struct GivenProfile {
    const char *kind; // or null
    int given;        // bits of fields
    double numbers[field_prior + 1];
    GivenArray arrays[3]; // p, q, r
    const char *expression;
    bool has(ProfileField field) const;
    void mark(ProfileField field);
};

Profile *checked_profile(const GivenProfile &given);

} // namespace dp::sql
